"""Sparse matrices of scipy as torch's, and their products with dense columns.

The bits of a product must not depend on how many columns or rows are multiplied at once, or blocks
and threads would show. scipy adds up in the order of the stored values. torch does so, faster, on
some processors; on others MKL rounds once for a multiplication and an addition, and adds up 4, 8 or
16 columns in another order than 32. There, scipy multiplies.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

_WIDEST = 33  # columns: past the widths that have kernels of their own


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


def multiplied(matrix: Tensor, values: Tensor, out: Tensor | None = None) -> Tensor:
    """Return a sparse matrix times dense columns, with the bits of scipy's product.

    Parameters
    ----------
    matrix : Tensor
        As :func:`torch_csr` makes it.
    values : Tensor of shape (n_columns of the matrix, width)
        The dense columns.
    out : Tensor, optional
        Where the product goes; finite values.
    """
    if not torch_adds_in_order():
        found = torch.from_numpy(_as_scipy(matrix) @ values.numpy())
        return found if out is None else out.copy_(found)
    if out is None:
        return matrix @ values
    # torch.mm would fill one more block with zeros first
    return torch.addmm(out, matrix, values, beta=0, out=out)


@cache
def torch_adds_in_order() -> bool:
    """Return whether torch's products have the bits of scipy's on this processor, at any width."""
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64):
        matrix = sparse.random_array((16, 64), density=0.5, dtype=kind, format="csr", rng=rng)
        values = rng.standard_normal((64, _WIDEST)).astype(kind)
        expected, same = matrix @ values, torch_csr(matrix, bits=32)
        for width in range(1, _WIDEST + 1):
            found = same @ torch.from_numpy(np.ascontiguousarray(values[:, :width]))
            if not np.array_equal(found.numpy(), expected[:, :width]):
                return False
    return True


def _as_scipy(matrix: Tensor) -> sparse.csr_array:
    parts = (matrix.values(), matrix.col_indices(), matrix.crow_indices())
    return sparse.csr_array(tuple(part.numpy() for part in parts), shape=tuple(matrix.shape))


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
