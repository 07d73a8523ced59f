"""Arrays as values: read-only views, and the digest of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_BYTES_AT_ONCE = 2**22
_TEXTS_AT_ONCE = 2**16


def read_only(array: Any) -> Any:
    """Return a read-only view of an array or CSR matrix; the original stays writable.

    A matrix whose columns are not sorted or that has duplicates is copied into order first, since
    SciPy would later try to do so in place.
    """
    if not sparse.issparse(array):
        view = np.asarray(array).view()
        view.flags.writeable = False
        return view
    parts = (array.data, array.indices, array.indptr)
    matrix = sparse.csr_array(parts, shape=array.shape, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    for name in ("data", "indices", "indptr"):
        setattr(matrix, name, read_only(getattr(matrix, name)))
    return matrix


def content_digest(values: Iterable[Any]) -> str:
    """Return the SHA-256 of type, shape and content of arrays, CSR matrices and texts.

    It is the same in every process and on every machine: bytes are taken in little-endian order,
    strings and big integers by their text, and indices as 64-bit whatever SciPy stores. Large
    arrays are read part by part, never copied whole.
    """
    total = hashlib.sha256()
    for value in values:
        for array, kind in _arrays(value):
            for piece in _pieces(array, kind):
                total.update(piece)
    return total.hexdigest()


def _arrays(value: Any) -> list[tuple[NDArray[Any], np.dtype[Any]]]:
    """Return the arrays that a value consists of, each with the type that it counts as.

    Arrays in files (:class:`adagcn.formats.array_files.ArrayFile`), and matrices made of them, are
    taken as they are: parts of them are read when their turn comes.
    """
    if not hasattr(value, "indptr"):
        array = value if hasattr(value, "read_rows") else np.asarray(value)
        return [(array, array.dtype)]
    index = np.dtype(np.int64)
    shape = np.array(value.shape, dtype=index)
    values, indices, indptr = value.data, value.indices, value.indptr
    return [(shape, index), (values, values.dtype), (indices, index), (indptr, index)]


def _pieces(array: NDArray[Any], kind: np.dtype[Any]) -> Iterator[Any]:
    if array.dtype.kind in "OU":
        word = "text" if array.dtype.kind == "U" else "integers"
        yield f"{word}{array.shape}".encode()
        # All lengths come before all texts: two passes, so that few texts are held at a time.
        yield from (np.array([*map(len, t)], dtype="<i8").tobytes() for t in _texts(array))
        yield from (b"".join(texts) for texts in _texts(array))
        return
    little = kind.newbyteorder("<")
    yield f"{little.str}{array.shape}".encode()
    if array.ndim == 0:
        yield array.astype(little).tobytes()
        return
    n_rows = max(_BYTES_AT_ONCE // max(array[:1].size * little.itemsize, 1), 1)
    for start in range(0, len(array), n_rows):
        yield np.ascontiguousarray(array[start : start + n_rows], dtype=little).tobytes()


def _texts(array: NDArray[Any]) -> Iterator[list[bytes]]:
    """Yield the values of an array as bytes of text, some at a time."""
    if array.ndim == 0:
        array = np.reshape(array, 1)
    for start in range(0, len(array), _TEXTS_AT_ONCE):
        part = array[start : start + _TEXTS_AT_ONCE].ravel().tolist()
        yield [str(value).encode("utf-8", "surrogatepass") for value in part]
