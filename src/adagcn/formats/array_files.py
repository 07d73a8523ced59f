"""``.npy`` files that are read and written part by part with plain reads, not mapped into memory.

Pages of a mapped file count as memory of the process that looked at them; a store that is built
within a memory limit must not look larger than it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from adagcn.formats.atomic import atomic_file
from adagcn.formats.graph_store import StoredFile, file_digest, npy_header


@dataclass(frozen=True)
class ArrayFile:
    """An array in a ``.npy`` file; slices of its rows are read from the disk.

    Parameters
    ----------
    path : Path
        The file.
    shape : tuple of int
        The shape of the array.
    dtype : dtype
        The type of its values.
    offset : int
        Where in the file its values start.
    """

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @classmethod
    def of(cls, path: Path) -> ArrayFile:
        """Return the array of a file that this library has written."""
        with path.open("rb") as handle:
            npy.read_magic(handle)
            shape, _, dtype = npy.read_array_header_1_0(handle)
            return cls(path, shape, dtype, handle.tell())

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Read some rows."""
        start, stop, _ = rows.indices(len(self))
        return self.read_rows(start, max(stop, start))

    def read_rows(self, start: int, stop: int) -> NDArray[Any]:
        """Read the rows from ``start`` to ``stop``."""
        width = int(np.prod(self.shape[1:], dtype=np.int64))
        at = self.offset + start * width * self.dtype.itemsize
        flat = np.fromfile(self.path, self.dtype, (stop - start) * width, offset=at)
        return flat.reshape(stop - start, *self.shape[1:])


@dataclass(frozen=True)
class MatrixFiles:
    """A CSR matrix whose three arrays are files; what a digest asks of a sparse matrix."""

    shape: tuple[int, int]
    data: ArrayFile
    indices: ArrayFile
    indptr: ArrayFile


class GrowingArray:
    """An array that is written before anybody knows how many rows it will have.

    Parameters
    ----------
    handle : file
        The new file.
    dtype : dtype
        The type of its values.
    row_shape : tuple of int
        The shape of a row.
    """

    def __init__(self, handle: BinaryIO, dtype: Any, row_shape: tuple[int, ...] = ()) -> None:
        self._handle, self._dtype, self._row_shape = handle, np.dtype(dtype), row_shape
        self.n_rows = 0
        handle.write(self._header())

    def append(self, part: NDArray[Any]) -> None:
        """Write further rows."""
        if part.dtype != self._dtype or part.shape[1:] != self._row_shape:
            raise ValueError(f"rows of {part.dtype} {part.shape[1:]} in {self._dtype}")
        self._handle.write(np.ascontiguousarray(part).data)
        self.n_rows += len(part)

    def finish(self) -> None:
        """Write how many rows there are, in the place that NumPy leaves for it."""
        self._handle.seek(0)
        self._handle.write(self._header())
        self._handle.seek(0, os.SEEK_END)

    def _header(self) -> bytes:
        return npy_header((self.n_rows, *self._row_shape), self._dtype)


@contextmanager
def growing_array(
    path: Path, dtype: Any, row_shape: tuple[int, ...] = ()
) -> Iterator[GrowingArray]:
    """Open a new file for an array that grows; it appears under its name once it is complete."""
    with atomic_file(path) as handle:
        array = GrowingArray(handle, dtype, row_shape)
        yield array
        array.finish()


def stored_file(path: Path) -> StoredFile:
    """Return the size and the SHA-256 of a finished file."""
    return StoredFile(bytes=path.stat().st_size, sha256=file_digest(path))
