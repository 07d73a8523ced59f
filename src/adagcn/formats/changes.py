"""What was read, changed and left out while a graph was read, in words."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

from adagcn.errors import GraphNotice


@dataclass
class Changes:
    """Phrases about the reading of a graph, and which of them a user would not expect.

    Parameters
    ----------
    phrases : list of str
        One for each thing that was read, changed or left out.
    surprises : list of str
        Those that nobody asked for; the graph warns of them.
    """

    phrases: list[str] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)

    def note(self, phrase: str, *, surprising: bool = False) -> None:
        """Remember a phrase."""
        self.phrases.append(phrase)
        if surprising:
            self.surprises.append(phrase)

    def extend(self, more: Changes) -> None:
        """Remember the phrases of another part of the reading."""
        self.phrases += more.phrases
        self.surprises += more.surprises

    def warn(self, name: str | None, stacklevel: int) -> None:
        """Warn once of what nobody asked for, in the name of a caller so many levels up."""
        if self.surprises:
            which = f"graph {name!r}" if name else "graph"
            message = f"while reading the {which}: {'; '.join(self.surprises)}"
            warnings.warn(message, GraphNotice, stacklevel=stacklevel + 1)
