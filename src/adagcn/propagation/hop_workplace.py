"""The folder that a stream of hops in files is at work in, and when it goes."""

from __future__ import annotations

import shutil
import weakref
from itertools import count
from pathlib import Path
from typing import IO

from adagcn.formats.build_folder import is_held, make_folder
from adagcn.propagation.hop_refill import Refill
from adagcn.propagation.kept_files import RECORD


class Workplace:
    """The folder of one stream of hops, which no other stream may use at the same time.

    It is removed when the last hop of the stream is gone, unless its hops are kept. A process that
    is killed leaves it, and the next stream with the same settings goes on with what is finished.
    """

    def __init__(self, folder: Path) -> None:
        self.refill: Refill | None = None
        self.folder, self._lock = _claimed(folder)
        self._end = weakref.finalize(self, _leave, self.folder, self._lock)
        self._end.atexit = False

    def keep(self) -> None:
        """Leave what is finished to the next stream, as a process that is killed does."""
        if self._end.detach() is not None:
            self._lock.close()


def _claimed(folder: Path) -> tuple[Path, IO[bytes]]:
    """Return a folder that nobody else is at work in, and what keeps it so."""
    for number in count():
        mine = folder if number == 0 else folder.with_name(f"{folder.name}-{number}")
        make_folder(mine)
        lock = _locked(mine / "lock")
        if lock is not None:
            return mine, lock
    raise AssertionError("numbers do not end")


def _locked(path: Path) -> IO[bytes] | None:
    """Return an open file that this process alone holds; None if another one does."""
    handle = path.open("ab")
    if is_held(handle):
        return handle
    handle.close()
    return None


def _leave(folder: Path, lock: IO[bytes]) -> None:
    if not is_kept(folder):
        shutil.rmtree(folder, ignore_errors=True)
    lock.close()


def is_kept(folder: Path) -> bool:
    """Return whether the hops of a folder stay when their stream is gone."""
    return (folder / RECORD).is_file()
