"""What one run of the command line remembers: what it may show, what it said, where it writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class CommandState:
    """The state of one run of the command line.

    Parameters
    ----------
    debug : bool
        Whether traces and other libraries' warnings are shown.
    quiet : bool
        Whether notes and progress bars are left out.
    notes : list of str
        The notes that were shown.
    out : Path or None
        The file that the command writes at its end.
    """

    debug: bool = False
    quiet: bool = False
    notes: list[str] = field(default_factory=list)
    out: Path | None = None


_CURRENT: ContextVar[CommandState | None] = ContextVar("command", default=None)


def current_state() -> CommandState:
    """Return the state of the command that runs, or a new one outside of any command."""
    return _CURRENT.get() or CommandState()


@contextmanager
def running(state: CommandState) -> Iterator[None]:
    """Let ``state`` be that of the command that runs."""
    token = _CURRENT.set(state)
    try:
        yield
    finally:
        _CURRENT.reset(token)
