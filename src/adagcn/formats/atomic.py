"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from adagcn.errors import AdaGCNError, ResourceError


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only once it is complete.

    The bytes go to a temporary name in the same folder, are flushed to the disk, and replace
    ``path`` in one step. If anything fails, an older file at ``path`` stays as it was and the
    temporary file is removed.

    Parameters
    ----------
    path : str or path-like
        The final name.

    Yields
    ------
    BinaryIO
        The open temporary file.

    Raises
    ------
    ResourceError
        If the disk is full, or the folder is missing or not writable.
    """
    final = Path(path)
    # A hidden name with a random part: two writers of one file never share a temporary file.
    draft = final.with_name(f".{final.name}.{secrets.token_hex(6)}.tmp")
    try:
        with writing(final):
            with draft.open("xb") as handle:
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
            draft.replace(final)
            _sync_folder(final.parent)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say which file could not be written where the system refuses.

    Raises
    ------
    ResourceError
        If the disk is full, or the folder is missing or not writable.
    """
    try:
        yield
    except AdaGCNError:
        raise
    except OSError as error:
        raise ResourceError(
            "AGC-R200",
            f"the file {str(path)!r} could not be written: {error.strerror or error}",
            fix="check that its folder exists, is writable and has free space",
        ) from error


def write_bytes(path: str | os.PathLike[str], payload: bytes) -> None:
    """Write ``payload`` to ``path``, completely or not at all.

    Parameters
    ----------
    path : str or path-like
        The final name; an older file there is replaced.
    payload : bytes
        The content.
    """
    with atomic_file(path) as handle:
        handle.write(payload)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut, where the system can open folders."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
