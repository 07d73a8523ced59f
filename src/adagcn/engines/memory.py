"""Memory that a computation would need, refused before it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adagcn.errors import ResourceError

_GIB = 2**30
_NO_LIMIT = 2**60  # more than any machine has: what version 1 says where nobody set one
# Of the group that a container or a batch system puts a process into, versions 2 and 1.
_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
# How PyTorch begins to say that there is no memory, on the CPU and on other devices.
_REFUSALS = ("can't allocate memory", "not enough memory", "out of memory")


def physical_memory() -> int | None:
    """Return the bytes of memory that the machine has; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def usable_memory() -> int | None:
    """Return the bytes that this process may use: the machine's, or its control group's limit."""
    limits = [physical_memory()]
    for path in _GROUP_LIMITS:
        with suppress(OSError, ValueError):  # no such group, or "max"
            limits.append(int(path.read_text()))
    known = [limit for limit in limits if limit is not None and limit < _NO_LIMIT]
    return min(known) if known else None


def check_memory(n_bytes: float, what: str, *, got: Any, fix: str) -> None:
    """Refuse what would not fit into the machine's memory.

    Parameters
    ----------
    n_bytes : float
        What it takes.
    what : str
        What takes it, the subject of a sentence in the singular.
    got : object
        The values that ask for it.
    fix : str
        What to do instead.
    """
    there_is = usable_memory()
    if there_is is not None and n_bytes > there_is:
        raise ResourceError(
            "AGC-R911",
            f"{what} would take {n_bytes / _GIB:,.1f} GiB, and this machine has "
            f"{there_is / _GIB:,.1f} GiB of memory",
            got=got,
            fix=fix,
        )


@dataclass
class ParameterCount:
    """Counts the parameters of a network while it is planned, and refuses one that is too large.

    Parameters
    ----------
    itemsize : int
        Bytes of a parameter.
    widths : mapping
        The settings that decide about its size, by name; the errors show them.
    n_parameters : int
        Counted so far.
    """

    itemsize: int
    widths: Mapping[str, Any]
    n_parameters: int = 0

    def add(self, n_parameters: int) -> None:
        """Count some more; Python's own numbers never overflow."""
        self.n_parameters += n_parameters
        parts = f"{self.n_parameters:,} parameters with their gradients and Adam's two moments"
        check_memory(
            4.0 * self.itemsize * self.n_parameters,
            f"a network of {parts}",
            got=dict(self.widths),
            fix=f"lower {' or '.join(self.widths)}",
        )


@contextmanager
def typed_memory_errors() -> Iterator[None]:
    """Turn what Python, NumPy and PyTorch say of too little memory into our own error."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        said = str(error)
        if not isinstance(error, MemoryError) and not any(each in said for each in _REFUSALS):
            raise
        raise ResourceError(
            "AGC-R912",
            "there is not enough memory for this computation",
            got=said.partition("\n")[0] or "MemoryError",
            fix="lower hidden_units or max_features, or use a machine with more memory",
        ) from error
