"""Commands of adagcn that a benchmark runs as a user would start them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from adagcn.errors import ResourceError


def command(words: list[Any]) -> list[str]:
    """Return what starts a command of adagcn."""
    return [sys.executable, "-m", "adagcn.cli", *map(str, words)]


def run(
    name: str,
    words: list[Any],
    *,
    around: Callable[[list[str]], list[str]] = list,
    env: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a command of adagcn; return its name and its seconds.

    Parameters
    ----------
    name : str
        What the table calls it.
    words : list
        The command and its options.
    around : callable
        Turns the command into one that runs it elsewhere.
    env : mapping, optional
        Its environment.
    """
    start = time.perf_counter()
    done = subprocess.run(around(command(words)), capture_output=True, check=False, env=env)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise failed(words, done.stderr)
    return {"name": name, "seconds": seconds}


def failed(words: list[Any], said: bytes) -> ResourceError:
    """Return the error that tells of a command that failed."""
    lines = said.decode(errors="replace").strip().splitlines()
    return ResourceError(
        "AGC-R2102",
        f"the command adagcn {' '.join(map(str, words[:2]))} of this benchmark failed",
        got=lines[-1] if lines else "no message: perhaps the system ended it for want of memory",
        fix="run it by itself to see why, or measure smaller sizes",
    )
