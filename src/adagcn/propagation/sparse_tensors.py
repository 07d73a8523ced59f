"""Sparse matrices of scipy as torch's."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor


def torch_csr(matrix: sparse.csr_array, *, bits: int | None = None) -> Tensor:
    """Return the matrix as torch's, with indices of 32 or 64 bits, or as wide as they are.

    It shares the memory of the matrix where it can.
    """
    kind = matrix.indices.dtype if bits is None else {32: np.int32, 64: np.int64}[bits]
    return csr_tensor(
        _tensor(matrix.indptr.astype(kind, copy=False)),
        _tensor(matrix.indices.astype(kind, copy=False)),
        _tensor(matrix.data),
        matrix.shape,
    )


def row_parts(matrix: sparse.csr_array, n_parts: int) -> list[tuple[slice, Tensor]]:
    """Return the rows in parts with about as many stored values each, as torch's matrices.

    Each part comes with its rows, and shares the memory of the matrix.
    """
    n_rows, n_columns = matrix.shape
    if n_parts == 1:
        return [(slice(0, n_rows), torch_csr(matrix))]
    ends = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, n_parts + 1)[1:-1])
    parts = []
    for start, end in pairwise([0, *ends.tolist(), n_rows]):
        first, last = matrix.indptr[start], matrix.indptr[end]
        stored = slice(first, last)
        values = (
            matrix.data[stored],
            matrix.indices[stored],
            matrix.indptr[start : end + 1] - first,
        )
        part = sparse.csr_array(values, shape=(end - start, n_columns))
        parts.append((slice(start, end), torch_csr(part)))
    return parts


def index_type(matrix: sparse.csr_array) -> type[np.signedinteger[Any]]:
    """Return the type of 32 bits for indices where it will do; torch copies wider ones each time.

    >>> index_type(sparse.eye_array(3, format="csr"))
    <class 'numpy.int32'>
    """
    kind: type[np.signedinteger[Any]] = sparse.get_index_dtype(
        maxval=max(matrix.nnz, *matrix.shape)
    )
    return kind


def with_index_type(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with indices of that type; it shares its memory where it can."""
    kind = index_type(matrix)
    columns, ends = (part.astype(kind, copy=False) for part in (matrix.indices, matrix.indptr))
    return sparse.csr_array((matrix.data, columns, ends), shape=matrix.shape)


def _tensor(values: NDArray[Any]) -> Tensor:
    """Return an array as a tensor; torch wants memory that it could write to."""
    return torch.from_numpy(np.require(values, requirements="W"))


def readable_tensor(values: NDArray[Any]) -> Tensor:
    """Return an array as a tensor that nobody writes to, without a copy.

    torch warns of memory that it could not write to, such as that of a mapped file.
    """
    if values.flags.writeable:
        return torch.from_numpy(values)
    return torch.from_numpy(np.asarray(_Writable(values)))


class _Writable:
    """The memory of a read-only array, described to NumPy as any other."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values  # keeps the memory
        described = values.__array_interface__
        self.__array_interface__ = {**described, "data": (described["data"][0], False)}


def csr_tensor(pointers: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return torch's sparse matrix of these parts, without its word about being new."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            pointers, columns, values, list(shape), check_invariants=False
        )
