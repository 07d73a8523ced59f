"""The folder that a stream of hops in files is at work in, and when it goes."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO

from adagcn.engines.memory import asked_disk
from adagcn.formats.atomic import writing
from adagcn.formats.build_folder import COPY_STORE, KEPT_HOPS, is_held, make_folder
from adagcn.propagation.hop_refill import Refill

SPARE_HOPS = 3  # that must fit on the disk besides, for one more to stay


@dataclass
class SharedHops:
    """Folders whose hops later streams of a command may use."""

    folders: set[Path] = field(default_factory=set)
    is_over: bool = False  # a stream that outlives the block leaves nothing


_shared: ContextVar[SharedHops | None] = ContextVar("shared_hops", default=None)


@contextmanager
def hops_shared() -> Iterator[None]:
    """Let streams in this block leave their hops to later ones, as far as the disk has room.

    All go with the block. If it is interrupted they stay, and the next stream with the same
    settings goes on with them.
    """
    shared = SharedHops()
    before = _shared.set(shared)
    try:
        yield
    except Exception:
        _remove(shared)
        raise
    else:
        _remove(shared)
    finally:
        _shared.reset(before)


def _remove(shared: SharedHops) -> None:
    """Remove the hops that streams have left, unless somebody else is at work on them by now."""
    shared.is_over = True
    for folder in shared.folders:
        lock = _locked(folder / "lock")
        if lock is not None:
            _leave(folder, lock, None, 0)


class Workplace:
    """The folder of one stream of hops, which no other stream may use at the same time.

    It is removed when the last hop of the stream is gone, unless its hops are kept or shared. A
    process that is killed leaves it, and the next stream with the same settings goes on with what
    is finished.

    Parameters
    ----------
    folder : Path
        The folder, or the start of its name if another stream is at work there.
    hop_bytes : int, optional
        What a hop takes on the disk, if later streams may use it.
    """

    def __init__(self, folder: Path, hop_bytes: int | None = None) -> None:
        self.refill: Refill | None = None
        self.folder, self._lock = _claimed(folder)
        self._shared = None if hop_bytes is None else _shared.get()
        self._hop_bytes = hop_bytes or 0
        self._end = weakref.finalize(
            self, _leave, self.folder, self._lock, self._shared, self._hop_bytes
        )
        self._end.atexit = False

    def keep(self) -> None:
        """Leave what is finished to the next stream, as a process that is killed does."""
        if self._end.detach() is not None:
            if self._shared is not None:
                self._shared.folders.discard(self.folder)
            self._lock.close()

    @property
    def keeps_hops(self) -> bool:
        """Whether a hop stays when the next one is complete."""
        return is_kept(self.folder) or _has_room(self.folder, self._shared, self._hop_bytes)


def _claimed(folder: Path) -> tuple[Path, IO[bytes]]:
    """Return a folder that nobody else is at work in, and what keeps it so."""
    for number in count():
        mine = folder if number == 0 else folder.with_name(f"{folder.name}-{number}")
        for _ in range(3):  # it may be removed by its owner just now
            make_folder(mine, fix=COPY_STORE)
            lock = _locked(mine / "lock")
            if lock is not None:
                return mine, lock
    raise AssertionError("numbers do not end")


def _locked(path: Path) -> IO[bytes] | None:
    """Return an open file that this process alone holds; None if another one does or did."""
    with writing(path):
        try:
            handle = path.open("ab")
        except FileNotFoundError:  # its folder is gone
            return None
    if is_held(handle) and os.fstat(handle.fileno()).st_nlink:  # else removed since it was opened
        return handle
    handle.close()
    return None


def _leave(folder: Path, lock: IO[bytes], shared: SharedHops | None, hop_bytes: int) -> None:
    with lock:
        if not folder.is_dir():  # the store is gone
            return
        if shared is not None and _has_room(folder, shared, hop_bytes):
            shared.folders.add(folder)
        elif not is_kept(folder):
            _remove_folder(folder)


def _remove_folder(folder: Path) -> None:
    """Remove a folder, its lock last: whoever takes the folder over finds nothing in it."""
    for path in list(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != "lock":
            with suppress(OSError):
                path.unlink()
    with suppress(OSError):  # it has a new owner
        (folder / "lock").unlink()
        folder.rmdir()


def _has_room(folder: Path, shared: SharedHops | None, hop_bytes: int) -> bool:
    """Return whether hops are shared, and the disk has room for them.

    What a user lets a fit write has room for what it needs, as its estimate says, and no more.
    """
    if shared is None or shared.is_over or isinstance(asked_disk(), int):
        return False
    return shutil.disk_usage(folder).free >= SPARE_HOPS * hop_bytes


def is_kept(folder: Path) -> bool:
    """Return whether the hops of a folder stay when their stream is gone."""
    return (folder / KEPT_HOPS).is_file()
