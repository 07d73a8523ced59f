"""Sparse matrices of scipy as torch's."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
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


def _tensor(values: NDArray[Any]) -> Tensor:
    """Return an array as a tensor; torch wants memory that it could write to."""
    return torch.from_numpy(np.require(values, requirements="W"))


def csr_tensor(pointers: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return torch's sparse matrix of these parts, without its word about being new."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            pointers, columns, values, list(shape), check_invariants=False
        )
