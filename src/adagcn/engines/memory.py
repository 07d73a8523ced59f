"""Memory that a computation would need, refused before it is asked for; limits that users set."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from adagcn.errors import InputError, ResourceError

_GIB = 2**30
_NO_LIMIT = 2**60  # more than any machine has: what version 1 says where nobody set one
# Where control groups are mounted, and the files of one: its limit, and what its processes hold.
_GROUPS_V2, _GROUPS_V1 = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")
_FILES_V2, _FILES_V1 = ("memory.max", "anon"), ("memory.limit_in_bytes", "total_rss")
_OWN_GROUPS = Path("/proc/self/cgroup")
_OWN_STATUS = Path("/proc/self/status")
ASKED_LIMIT = "ADAGCN_MEMORY_LIMIT"  # a variable of the environment
ASKED_DISK = "ADAGCN_DISK_LIMIT"  # and another one
_UNITS = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}
# How PyTorch begins to say that there is no memory, on the CPU and on other devices.
_REFUSALS = ("can't allocate memory", "not enough memory", "out of memory")


@dataclass(frozen=True)
class MemoryLimit:
    """One of the limits on the memory of this process.

    Parameters
    ----------
    n_bytes : int
        The limit.
    held : int
        What counts against it already and stays: pages of files do not, since they can be dropped.
    words : str
        The limit as the end of a sentence; ``{size}`` stands for its size.
    """

    n_bytes: int
    held: int
    words: str

    @property
    def room(self) -> int:
        """Bytes that can still be taken."""
        return max(self.n_bytes - self.held, 0)

    def __str__(self) -> str:
        """Return the limit in words, such as ``this machine has 8.0 GiB of memory``."""
        return self.words.format(size=in_gib(self.n_bytes))


def in_gib(n_bytes: float) -> str:
    """Return a number of bytes in GiB, with as many digits as it is worth.

    >>> in_gib(3 * 2**30), in_gib(2**24)
    ('3.0 GiB', '0.02 GiB')
    """
    size = n_bytes / _GIB
    return f"{size:,.1f} GiB" if size >= 0.95 else f"{size:,.2f} GiB"


def bytes_of(size: str | None, option: str = "--max-size") -> int | None:
    """Return a size in bytes; None for none.

    >>> bytes_of("8GB"), bytes_of("1.5 mb"), bytes_of(None)
    (8589934592, 1572864, None)
    """
    if size is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", size.lower())
    if match is None or match[2].replace("i", "") not in _UNITS:
        problem = f"{option} is not a size"
        raise InputError("AGC-I821", problem, got=size, fix="write 8GB or 500MB")
    return int(float(match[1]) * _UNITS[match[2].replace("i", "")])


def asked_disk() -> int | Literal["none"] | None:
    """Return the bytes that ``ADAGCN_DISK_LIMIT`` lets a fit write to a disk; None if it is unset.

    It stands in for what the system says, which knows nothing of many quotas: a size such as
    ``50GB``, or ``none``.
    """
    asked = os.environ.get(ASKED_DISK)
    if asked and asked.lower() == "none":
        return "none"
    return bytes_of(asked or None, ASKED_DISK)


def physical_memory() -> int | None:
    """Return the bytes of memory that the machine has; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def memory_limits() -> list[MemoryLimit]:
    """Return every limit on this process: the machine's, its control groups', its own.

    ``ADAGCN_MEMORY_LIMIT`` in the environment stands in for all of them: a size such as ``8GB``,
    or ``none``.
    """
    asked = os.environ.get(ASKED_LIMIT)
    held = own_memory()
    if asked and asked.lower() == "none":
        return []
    if asked:
        n_bytes = bytes_of(asked, ASKED_LIMIT)
        assert n_bytes is not None
        return [MemoryLimit(n_bytes, held["RssAnon"], ASKED_LIMIT + " allows {size}")]
    limits = [*_group_limits(held["RssAnon"]), *_process_limits(held)]
    machine = physical_memory()
    if machine is not None:
        limits.append(MemoryLimit(machine, held["RssAnon"], "this machine has {size} of memory"))
    return limits


def tightest_limit() -> MemoryLimit | None:
    """Return the limit that leaves the least room; None where nothing is known."""
    return min(memory_limits(), key=lambda limit: limit.room, default=None)


def usable_memory() -> int | None:
    """Return the bytes that this process may use by all of its limits; None where none is known."""
    return min((limit.n_bytes for limit in memory_limits()), default=None)


def own_memory() -> dict[str, int]:
    """Return what this process holds, in bytes, by the names of Linux; zeros elsewhere.

    ``RssAnon`` is memory of its own, ``VmHWM`` the most that was resident, files included,
    ``VmSize`` the address space, ``VmData`` the private part of it.
    """
    names = ("RssAnon", "VmRSS", "VmHWM", "VmSize", "VmData")
    found = dict.fromkeys(names, 0)
    with suppress(OSError, ValueError):  # only Linux has it
        for line in _OWN_STATUS.read_text("ascii", "replace").splitlines():
            name, _, value = line.partition(":")
            if name in found:
                found[name] = int(value.split()[0]) * 1024
    return found


def _group_limits(own: int) -> list[MemoryLimit]:
    """Return the limits of the control groups around this process, versions 2 and 1.

    A group inside of a group has the limits of both. In a container the path of a group may be the
    host's, which does not exist there: its root then is the container's own group.
    """
    limits = []
    for folder, (limit_name, held_name) in _own_groups():
        with suppress(OSError, ValueError):  # no such group, or "max"
            n_bytes = int((folder / limit_name).read_text())
            if n_bytes < _NO_LIMIT:
                held = max(_group_holds(folder, held_name), own)
                words = "the control group of this process allows {size} of memory"
                limits.append(MemoryLimit(n_bytes, held, words))
    return limits


def _own_groups() -> Iterator[tuple[Path, tuple[str, str]]]:
    paths = {"v1": "/", "v2": "/"}
    with suppress(OSError, ValueError):
        for line in _OWN_GROUPS.read_text("utf-8", "replace").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "" or "memory" in controllers.split(","):
                paths["v1" if controllers else "v2"] = path
    for kind, root, files in (("v2", _GROUPS_V2, _FILES_V2), ("v1", _GROUPS_V1, _FILES_V1)):
        inner = Path(paths[kind].lstrip("/"))
        yield from ((root / each, files) for each in (inner, *inner.parents))


def _group_holds(folder: Path, name: str) -> int:
    """Return what all processes of a group hold besides pages of files; 0 if it does not tell."""
    with suppress(OSError, ValueError):
        for line in (folder / "memory.stat").read_text("ascii", "replace").splitlines():
            if line.split(" ")[0] == name:
                return int(line.split(" ")[1])
    return 0


def _process_limits(held: Mapping[str, int]) -> list[MemoryLimit]:
    """Return the limits that ``ulimit`` sets."""
    try:
        import resource
    except ImportError:  # not on Windows
        return []
    kinds = (
        (resource.RLIMIT_AS, "VmSize", "the address space of this process is limited to {size}"),
        (resource.RLIMIT_DATA, "VmData", "the data of this process are limited to {size}"),
    )
    found = [(resource.getrlimit(kind)[0], held[name], words) for kind, name, words in kinds]
    return [MemoryLimit(*each) for each in found if 0 <= each[0] < _NO_LIMIT]


def check_memory(n_bytes: float, what: str, *, got: Any, fix: str) -> None:
    """Refuse a single thing that would not fit even if nothing else were in memory.

    Whole fits are refused by :func:`adagcn.models.estimates.refusal.check_fit` before they start.

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
    limit = min(memory_limits(), key=lambda each: each.n_bytes, default=None)
    if limit is not None and n_bytes > limit.n_bytes:
        raise ResourceError(
            "AGC-R911",
            f"{what} would take {in_gib(n_bytes)}, and {limit}",
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
