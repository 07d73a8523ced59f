"""What was read, changed and left out while a graph was read, in words."""

from __future__ import annotations

from dataclasses import dataclass, field


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
