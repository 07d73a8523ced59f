"""A control group of Linux with a limit on memory, for commands that must do with less."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 10.0  # seconds for killed processes to be gone
_V1 = Path("/sys/fs/cgroup/memory")
_V2 = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))


@dataclass(frozen=True)
class MemoryGroup:
    """A control group; pages of files that its processes read count as well as their own memory.

    Parameters
    ----------
    folder : Path
        Of the group.
    is_first : bool
        Whether the system has version 1 of control groups.
    """

    folder: Path
    is_first: bool

    def command(self, words: list[str]) -> list[str]:
        """Return a command that enters the group before it runs another."""
        enter = 'echo $$ > "$0" && exec "$@"'
        return ["sh", "-c", enter, str(self.folder / "cgroup.procs"), *words]

    def peak(self) -> int | None:
        """Return the most that the group has held."""
        name = "memory.max_usage_in_bytes" if self.is_first else "memory.peak"
        with suppress(OSError, ValueError):
            return int((self.folder / name).read_text())
        return None


@contextmanager
def memory_group(limit: int) -> Iterator[MemoryGroup | None]:
    """Make a control group with a limit; None where that cannot be had."""
    group = _made(limit)
    try:
        yield group
    finally:
        if group is not None:
            _remove(group)


def _remove(group: MemoryGroup) -> None:
    """End what still runs in a group and remove it: it stays as long as it has processes."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for process in (group.folder / "cgroup.procs").read_text("ascii").split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        with suppress(OSError):
            group.folder.rmdir()
            return
        time.sleep(0.05)


def _made(limit: int) -> MemoryGroup | None:
    name = f"adagcn-bench-{os.getpid()}"
    places = [(_V1 / name, "memory.limit_in_bytes", True)]
    places += [(root / name, "memory.max", False) for root in _V2]
    for folder, file, is_first in places:
        if not folder.parent.is_dir():
            continue
        try:
            folder.mkdir()
            if not (folder / file).exists():  # this hierarchy does not limit memory
                folder.rmdir()
                continue
            (folder / file).write_text(str(limit))
        except OSError:
            with suppress(OSError):
                folder.rmdir()
            continue
        return MemoryGroup(folder, is_first)
    return None
