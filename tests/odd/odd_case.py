"""What a named odd input must lead to: an error of ours, or the documented result and a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UNSET = object()


@dataclass(frozen=True)
class Case:
    """One odd input.

    Parameters
    ----------
    name : str
        What is odd about it, in a few words; no two cases have the same cause.
    call : callable
        Gets an empty folder, hands the input in and returns what is compared with ``gives``.
    raises : str or None
        The code of the error that refuses it.
    says : str or None
        A pattern in the message of the error, or in what is said of an input that is accepted: a
        warning, or a phrase in ``Graph.changes``.
    gives : object
        What the call returns if the input is accepted.
    silent_because : str or None
        Why nothing has to be said of an input that is accepted.
    """

    name: str
    call: Callable[[Path], Any]
    raises: str | None = None
    says: str | None = None
    gives: Any = UNSET
    silent_because: str | None = None

    def __post_init__(self) -> None:
        refused = self.raises is not None
        accepted = self.gives is not UNSET
        if refused == accepted:
            raise ValueError(f"{self.name}: either raises a code or gives a result")
        if refused and self.says is None:
            raise ValueError(f"{self.name}: says what the message must tell")
        if accepted and (self.says is None) == (self.silent_because is None):
            raise ValueError(f"{self.name}: something is said, or there is a reason for silence")
