"""A constant sparse matrix times dense columns, on as many threads as torch has.

torch multiplies by rows, and scipy by columns where the matrix is transposed. Every sum adds up in
the order of the stored values: the bits are those of scipy's plain product, with any number of
threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from adagcn.propagation.sparse_tensors import torch_csr

# Multiplications that are worth a thread of their own: about ten milliseconds of one core.
WORK_OF_A_THREAD = 2**24


def product(matrix: sparse.csr_array, values: Tensor) -> Tensor:
    """Return S V, of shape (n_rows, n_columns)."""
    return torch_csr(matrix) @ values


def transposed_product(matrix: sparse.csr_array, values: Tensor) -> Tensor:
    """Return Sᵀ V, of shape (n_features, n_columns).

    A transposed copy of S for torch would cost as much as a product, and dropout needs a new one in
    every epoch. scipy needs none, but uses one thread for a product: so threads share the columns.
    """
    work = matrix.nnz * values.shape[1]
    n_threads = min(torch.get_num_threads(), 1 + work // WORK_OF_A_THREAD)
    blocks = [block.contiguous().numpy() for block in values.tensor_split(n_threads, dim=1)]
    if n_threads == 1:
        return torch.from_numpy(matrix.T @ blocks[0])
    with ThreadPoolExecutor(n_threads) as threads:
        return torch.from_numpy(np.hstack(list(threads.map(matrix.T.__matmul__, blocks))))
