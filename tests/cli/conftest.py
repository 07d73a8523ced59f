"""What the tests of the command line share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from adagcn.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def facts(self) -> dict[str, Any]:
        """The one JSON object on standard output; fails if there is anything else."""
        parsed = json.loads(self.stdout)
        assert isinstance(parsed, dict)
        return parsed


@pytest.fixture
def run_cli(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run ``adagcn`` in this process, through its real entry point."""
    monkeypatch.delenv("ADAGCN_DEBUG", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Outcome:
        capfd.readouterr()
        code = main([str(word) for word in words])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
