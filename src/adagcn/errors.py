"""One family of errors: each names what is wrong, shows the value and says what to do.

Every error is an :class:`AdaGCNError` and also a standard Python error, so that ``except
ValueError`` keeps working. ``code`` is stable across releases; ``exit_code`` is what the command
line ends with.
"""

from __future__ import annotations

from typing import Any, ClassVar

_LONGEST_VALUE = 200


class AdaGCNError(Exception):
    """Base of every error that this library raises on purpose.

    Parameters
    ----------
    code : str
        Stable identifier such as ``"AGC-I101"``; the letter is the family's.
    problem : str
        What is wrong, naming the argument, file or row, without a full stop.
    got : object, optional
        The offending value; shown shortened after ``got``.
    fix : str, optional
        What the user can do, one sentence without a full stop.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, problem: str, *, got: Any = ..., fix: str | None = None) -> None:
        self.code = code
        self.problem = problem
        self.got = got
        self.fix = fix
        super().__init__(code, problem)

    def __str__(self) -> str:
        """Return the whole message on one line."""
        value = "" if self.got is ... else f"; got {shown(self.got)}"
        remedy = "" if self.fix is None else f". {self.fix[0].upper()}{self.fix[1:]}"
        return " ".join(f"{self.problem}{value}{remedy} [{self.code}]".split())

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive the trip back from a worker process with every field."""
        return _rebuild, (type(self), self.code, self.problem, self.got, self.fix)


def _rebuild(
    family: type[AdaGCNError], code: str, problem: str, got: Any, fix: str | None
) -> AdaGCNError:
    return family(code, problem, got=got, fix=fix)


def shown(value: Any) -> str:
    """Return ``value`` as short text on one line, control characters escaped."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    text = repr(text) if isinstance(value, str) else text
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


class InputError(AdaGCNError, ValueError):
    """An argument, a table or a setting that cannot be used."""

    exit_code = 3


class FormatError(AdaGCNError, ValueError):
    """A file that is not in the form it should have."""

    exit_code = 3


class IntegrityError(AdaGCNError, ValueError):
    """A file whose bytes are not the ones that were written or promised."""

    exit_code = 4


class UnsafeFileError(AdaGCNError, ValueError):
    """A file that would run code, escape its folder or fill the memory."""

    exit_code = 4


class ResourceError(AdaGCNError, OSError):
    """Memory, disk, network or an optional package that is not there."""

    exit_code = 5


class NumericalError(AdaGCNError, ArithmeticError):
    """A computation that left the finite numbers or cannot go on."""

    exit_code = 7


class AdaGCNWarning(UserWarning):
    """Base of the warnings: the result stands, but the user should know."""


class GraphNotice(AdaGCNWarning):
    """Something about the graph was changed while it was read; said once per graph."""


class PresetNotice(AdaGCNWarning):
    """A preset stood in for one that does not exist for this graph."""


class WeightCollapseWarning(AdaGCNWarning):
    """The boosting weights rest on very few nodes."""


class LayerWarning(AdaGCNWarning):
    """A boosted layer was perfect, too weak, or mute."""


class OtherGraphWarning(AdaGCNWarning):
    """A model was loaded with another graph than it was fitted on."""
