"""The log of a command (``--log``), read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def log_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield what a command has told so far; the last line may lack its end after a kill."""
    if not path.is_file():  # the command was killed before it began
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if "event" in said:
            yield said
