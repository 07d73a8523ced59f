"""Arrays that can be made again: one file that knows whether it is what was written.

The file starts with the SHA-256 of what follows, arrays one after the other as ``.npy`` has them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from adagcn.formats.atomic import atomic_file
from adagcn.formats.graph_store import npy_header, octets

_DIGEST_BYTES = hashlib.sha256().digest_size


def write_sealed(path: Path, arrays: Sequence[NDArray[Any]]) -> None:
    """Write arrays as one file, whole or not at all.

    Parameters
    ----------
    path : Path
        The file.
    arrays : sequence of ndarray
        Numbers.
    """
    pieces = [each for array in arrays for each in (_header(array), octets(array))]
    total = hashlib.sha256()
    for piece in pieces:
        total.update(piece)
    with atomic_file(path) as handle:
        handle.write(total.digest())
        for piece in pieces:
            handle.write(piece)


def read_sealed(path: Path) -> list[NDArray[Any]] | None:
    """Return the arrays of a file; None if it is missing or damaged."""
    try:
        with path.open("rb") as handle:
            digest = handle.read(_DIGEST_BYTES)
            if hashlib.file_digest(handle, "sha256").digest() != digest:
                return None
            handle.seek(_DIGEST_BYTES)
            end, arrays = os.fstat(handle.fileno()).st_size, []
            while handle.tell() < end:
                arrays.append(npy.read_array(handle, allow_pickle=False))
            return arrays
    except FileNotFoundError:
        return None


def _header(array: NDArray[Any]) -> bytes:
    return npy_header(array.shape, np.dtype(array.dtype))
