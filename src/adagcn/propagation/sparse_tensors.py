"""Sparse matrices of scipy as torch's."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


def torch_csr(matrix: sparse.csr_array, *, bits: int | None = None) -> Tensor:
    """Return the matrix as torch's, with indices of 32 or 64 bits, or as wide as they are."""
    kind = matrix.indices.dtype if bits is None else {32: np.int32, 64: np.int64}[bits]
    return csr_tensor(
        torch.from_numpy(matrix.indptr.astype(kind)),
        torch.from_numpy(matrix.indices.astype(kind)),
        torch.from_numpy(matrix.data.copy()),
        matrix.shape,
    )


def csr_tensor(pointers: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return torch's sparse matrix of these parts, without its word about being new."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            pointers, columns, values, list(shape), check_invariants=False
        )
