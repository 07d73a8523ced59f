"""Arrays as values: read-only views, and the digest of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


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
    strings and big integers by their text, and indices as 64-bit whatever SciPy stores.
    """
    total = hashlib.sha256()
    for value in values:
        for part in _arrays(value):
            for piece in _pieces(part):
                total.update(piece)
    return total.hexdigest()


def _arrays(value: Any) -> list[NDArray[Any]]:
    if not sparse.issparse(value):
        return [np.asarray(value)]
    indices, indptr = (part.astype(np.int64) for part in (value.indices, value.indptr))
    return [np.array(value.shape, dtype=np.int64), value.data, indices, indptr]


def _pieces(array: NDArray[Any]) -> Iterable[Any]:
    if array.dtype.kind in "OU":
        texts = [str(value).encode("utf-8", "surrogatepass") for value in array.ravel()]
        kind = "text" if array.dtype.kind == "U" else "integers"
        lengths = np.array([len(text) for text in texts], dtype="<i8")
        return [f"{kind}{array.shape}".encode(), lengths.tobytes(), b"".join(texts)]
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return [f"{little.dtype.str}{array.shape}".encode(), little.tobytes()]
