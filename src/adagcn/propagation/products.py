"""A constant sparse matrix times dense columns, on several threads.

Rows are multiplied by torch where it adds up as scipy does
(:func:`adagcn.propagation.sparse_tensors.multiplied`), and by scipy where the matrix is transposed.
Dense columns that are past the caches are multiplied a few at a time, as hops are
(:mod:`adagcn.propagation.blocks`). Every sum adds up in the order of the stored values: the bits
are those of scipy's plain product, with any number of threads.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from adagcn.engines.threads import pool_threads, spread, torch_callers
from adagcn.propagation.blocks import WORK_OF_A_THREAD, column_blocks
from adagcn.propagation.sparse_tensors import multiplied, row_parts

# Bytes of dense columns: below this, cutting them into blocks takes longer than it saves.
PAST_CACHE = 2**24


def product(matrix: sparse.csr_array, values: Tensor) -> Tensor:
    """Return S V, of shape (n_rows, n_columns)."""
    work = matrix.nnz * values.shape[1]
    parts = row_parts(matrix, min(torch_callers(), 1 + work // WORK_OF_A_THREAD))
    blocks = _column_blocks(matrix, values.detach())

    def rows_of_product(part: tuple[slice, Tensor]) -> Tensor:
        found = [multiplied(part[1], block) for block in blocks]
        return found[0] if len(found) == 1 else torch.cat(found, dim=1)

    found = spread(rows_of_product, parts)
    return found[0] if len(found) == 1 else torch.cat(found)


def transposed_product(matrix: sparse.csr_array, values: Tensor) -> Tensor:
    """Return Sᵀ V, of shape (n_features, n_columns).

    A transposed copy of S for torch would cost as much as a product, and dropout needs a new one in
    every epoch. scipy needs none, but uses one thread for a product: so threads share the columns.
    """
    work = matrix.nnz * values.shape[1]
    n_threads = min(pool_threads(), 1 + work // WORK_OF_A_THREAD)
    blocks = [block.numpy() for block in _column_blocks(matrix, values, at_least=n_threads)]
    return torch.from_numpy(np.hstack(spread(matrix.T.__matmul__, blocks)))


def _column_blocks(matrix: sparse.csr_array, values: Tensor, *, at_least: int = 1) -> list[Tensor]:
    """Return columns that are multiplied together, by what of them is read or written at random."""
    shape = matrix.shape[1], values.shape[1]
    n_blocks = at_least
    if math.prod(shape) * values.itemsize > PAST_CACHE:
        n_blocks = max(at_least, len(column_blocks(*shape, itemsize=values.itemsize)))
    return [block.contiguous() for block in values.tensor_split(n_blocks, dim=1)]
