"""One family of errors: each names the problem, shows the offending value and says what to do.

Every error is an :class:`AdaGCNError` and also a standard Python error, so that ``except
ValueError`` keeps working. ``code`` is stable across releases; ``exit_code`` is the exit
status of the command line.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, ClassVar

_LONGEST_VALUE = 200


class AdaGCNError(Exception):
    """Base of every error that this library raises on purpose.

    Parameters
    ----------
    code : str
        Stable identifier such as ``"AGC-I101"``; the letter names the family.
    problem : str
        What is wrong, naming the argument, file or row, without a final period.
    got : object, optional
        The offending value, shown (shortened) after ``got``.
    fix : str, optional
        What the user can do, one sentence without a final period.
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
        remedy = "" if self.fix is None else f". {_as_sentence(self.fix)}"
        return " ".join(f"{self.problem}{value}{remedy} [{self.code}]".split())

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep every field when the error comes back from a worker process."""
        return _rebuild, (type(self), self.code, self.problem, self.got, self.fix)


def _rebuild(
    family: type[AdaGCNError], code: str, problem: str, got: Any, fix: str | None
) -> AdaGCNError:
    return family(code, problem, got=got, fix=fix)


def _as_sentence(fix: str) -> str:
    """Return a remedy with a capital letter, unless it starts with a name of the code."""
    first = fix.split(" ", 1)[0].rstrip(",:;").replace("-", "").replace("'", "")
    return f"{fix[0].upper()}{fix[1:]}" if first.isalpha() else fix


def shown(value: Any) -> str:
    r"""Return ``value`` as short text on one line, control characters escaped.

    >>> shown("two\nlines"), shown({"ids": [3, "a"]})
    ("'two lines'", "{'ids': [3, 'a']}")
    """
    plain_text = isinstance(value, str)
    text = " ".join((str(value) if plain_text else _written(value)).split())
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    text = repr(text) if plain_text else text
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _written(value: Any) -> str:
    """Return what ``repr`` gives, with NumPy's scalars as the plain values they stand for."""
    if type(value) is dict:
        pairs = islice(value.items(), _LONGEST_VALUE)
        return f"{{{', '.join(f'{_written(key)}: {_written(each)}' for key, each in pairs)}}}"
    if type(value) in (list, tuple):
        # Each takes a letter or more, so the rest would be cut off anyway.
        inside = ", ".join(map(_written, value[:_LONGEST_VALUE]))
        return f"[{inside}]" if type(value) is list else f"({inside}{',' * (len(value) == 1)})"
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        plain = value.item()
        return repr(plain) if isinstance(plain, str | bytes) else str(value)
    if str(getattr(value, "dtype", "")) == "object" and hasattr(value, "tolist"):
        return _written(value[:_LONGEST_VALUE].tolist())
    return repr(value)


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, in the singular or plural.

    >>> counted(1, "epoch"), counted(12000, "node")
    ('1 epoch', '12,000 nodes')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class InputError(AdaGCNError, ValueError):
    """An argument, a table or a setting that cannot be used."""

    exit_code = 3


class FormatError(AdaGCNError, ValueError):
    """A file that is not in the expected format."""

    exit_code = 3


class IntegrityError(AdaGCNError, ValueError):
    """A file or result that does not match its recorded digest."""

    exit_code = 4


class UnsafeFileError(AdaGCNError, ValueError):
    """A file that would run code, escape its folder or exhaust memory."""

    exit_code = 4


class ResourceError(AdaGCNError, OSError):
    """Too little memory or disk, no network, or a missing optional package."""

    exit_code = 5


class NumericalError(AdaGCNError, ArithmeticError):
    """A computation that gave non-finite numbers or cannot continue."""

    exit_code = 7


class AdaGCNWarning(UserWarning):
    """Base of the warnings: the result stands, but the user should know."""


class GraphNotice(AdaGCNWarning):
    """The graph was changed while it was read; issued once per graph."""


class ScaleNotice(AdaGCNWarning):
    """Feature columns of very different size were divided by their standard deviations."""


class PresetNotice(AdaGCNWarning):
    """The preset has no values for this graph, so others were used."""


class CalibrationNotice(AdaGCNWarning):
    """The held-out nodes do not tell how sure the model may be."""


class CheckpointNotice(AdaGCNWarning):
    """A fit goes on with the finished layers of an interrupted one, or cannot."""


class WeightCollapseWarning(AdaGCNWarning):
    """The boosting weights are concentrated on very few nodes."""


class LayerWarning(AdaGCNWarning):
    """A boosted layer was perfect or too weak, or node weights cannot change."""


class OtherGraphWarning(AdaGCNWarning):
    """A model was loaded with a graph other than the one it was fitted on."""
