"""The folder of a store while it is built or updated: nobody else writes to it, no scraps stay.

``store.json`` is written last. A folder without it is unfinished: what a build that was killed has
left there is removed by the next one, and by nothing else.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from adagcn.errors import InputError, ResourceError

MANIFEST = "store.json"
KEPT_HOPS = "kept.json"  # of a folder in hops/ that stays there when nothing computes
SPLITS = "splits"  # a folder of files, where a data set comes with splits
# What to do about a folder that cannot be made; inside of a store, it can be nowhere else.
NAME_ANOTHER = "name a folder that you may write to"
COPY_STORE = "make the store writable, or copy it to a folder that you may write to"
_SCRATCH = ".building"
_LOCK = "lock"
_UPDATE_LOCK = ".update.lock"
# What a build writes: arrays under their names, and drafts of them and of the manifest.
_ARRAY = (
    r"(adjacency|features|node_ids|labels|classes|feature_names)(\.(indptr|indices|values))?"
    r"(\.[0-9]+)?"  # the update that wrote it
)
_OURS = re.compile(
    rf"{_ARRAY}\.npy|\.({_ARRAY}\.npy|{MANIFEST})\.[0-9a-f]+\.tmp|{_SCRATCH}|{SPLITS}"
)


@contextmanager
def building(folder: Path) -> Iterator[Path]:
    """Keep a folder for the building of one store.

    Parameters
    ----------
    folder : Path
        A folder that is empty, new, or holds nothing but what an unfinished build left there.

    Yields
    ------
    Path
        A folder inside for temporary files, which is removed at the end. If the building fails,
        everything that it wrote is removed as well.

    Raises
    ------
    InputError
        If the folder holds other files.
    ResourceError
        If it cannot be made, or another process builds a store in it.
    """
    is_new = not folder.exists()
    _check_free(folder)
    scratch = folder / _SCRATCH
    make_folder(scratch)
    with _locked(scratch / _LOCK, "building a store in", folder):
        _remove(path for path in folder.iterdir() if path.name != _SCRATCH)
        _remove(path for path in scratch.iterdir() if path.name != _LOCK)
        try:
            yield scratch
        except BaseException:
            _remove(folder.iterdir())
            if is_new and not any(folder.iterdir()):
                folder.rmdir()
            raise
        shutil.rmtree(scratch, ignore_errors=True)


def make_folder(folder: Path, *, fix: str = NAME_ANOTHER) -> None:
    """Make a folder and those above it, or say why that cannot be and what to do."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResourceError(
            "AGC-R1402",
            f"the folder {str(folder)!r} could not be made: {error.strerror or error}",
            fix=fix,
        ) from error


def _check_free(folder: Path) -> None:
    if not folder.exists():
        return
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else [MANIFEST]
    if not all(_OURS.fullmatch(name) for name in names):
        raise InputError(
            "AGC-I1401",
            "a store is made in a folder that is empty or new",
            got=str(folder),
            fix="name another folder, or remove this one",
        )


@contextmanager
def updating(folder: Path) -> Iterator[None]:
    """Keep the folder of a finished store for one update of it.

    Raises
    ------
    ResourceError
        If it cannot be written to, or another process updates the store.
    """
    with _locked(folder / _UPDATE_LOCK, "updating the store", folder):
        yield


def remove_strays(folder: Path, names: Iterable[str]) -> None:
    """Remove arrays that the manifest does not name: of an update that was killed, or replaced."""
    kept = {*names, MANIFEST, _SCRATCH, SPLITS}
    _remove(path for path in folder.iterdir() if path.name not in kept)


@contextmanager
def _locked(path: Path, doing: str, folder: Path) -> Iterator[None]:
    """Hold a file that only one process can hold."""
    try:
        handle = path.open("ab")
    except OSError as error:
        raise ResourceError(
            "AGC-R1411",
            f"the folder {str(folder)!r} cannot be written to: {error.strerror or error}",
            fix="name a folder that you may write to",
        ) from error
    with handle:
        if not is_held(handle):
            raise ResourceError(
                "AGC-R1412",
                f"another process is {doing} {str(folder)!r}",
                fix="wait for it, or name another folder",
            )
        yield


def is_held(handle: IO[bytes]) -> bool:
    """Return whether no other process holds an open file; from now on, this one does.

    Where there are no such locks (Windows, some network file systems) nobody is kept out.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def _remove(paths: Iterable[Path]) -> None:
    """Remove files and folders of a build, and no others."""
    for path in [*paths]:
        is_ours = _OURS.fullmatch(path.name) or path.parent.name == _SCRATCH
        if is_ours and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif is_ours:
            path.unlink(missing_ok=True)
