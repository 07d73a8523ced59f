"""Rows of a hop as a network takes them: a dense tensor, or sparse rows with their own product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from adagcn.graph import Features
from adagcn.learners.dense_products import dense_product, n_blocks
from adagcn.propagation.products import product, transposed_product
from adagcn.propagation.sparse_tensors import with_index_type


@dataclass(frozen=True)
class SparseRows:
    """Sparse rows that stay in scipy's form; see :func:`times` for the product."""

    matrix: sparse.csr_array

    def dropped(self, rate: float, generator: torch.Generator) -> SparseRows:
        """Return the rows with each *stored* value zeroed at ``rate``, the others scaled up."""
        stored = torch.from_numpy(self.matrix.data)
        values = dropout_mask(stored, rate, generator).mul_(stored).numpy()
        return self._with(values, self.matrix.indices, self.matrix.indptr)

    def without_zeros(self) -> SparseRows:
        """Return the rows without stored zeros, for which a product takes its time as well."""
        kept = np.flatnonzero(self.matrix.data != 0.0)
        ends = np.searchsorted(kept, self.matrix.indptr).astype(self.matrix.indptr.dtype)
        return self._with(self.matrix.data[kept], self.matrix.indices[kept], ends)

    def _with(self, values: NDArray[Any], columns: NDArray[Any], ends: NDArray[Any]) -> SparseRows:
        return SparseRows(sparse.csr_array((values, columns, ends), shape=self.matrix.shape))


Input = Tensor | SparseRows


def as_input(rows: Features, like: Tensor) -> Input:
    """Return rows of a hop in the form, type and place that ``like``, a parameter, has.

    Sparse rows stay sparse on the CPU; elsewhere they become dense.
    """
    dtype = torch.empty(0, dtype=like.dtype).numpy().dtype
    if not isinstance(rows, np.ndarray):
        if like.device.type == "cpu":
            return SparseRows(with_index_type(sparse.csr_array(rows, dtype=dtype)))
        rows = rows.toarray()
    return torch.from_numpy(np.require(rows, dtype, ["C", "W"])).to(like.device)


def times(inputs: Input, weight: Tensor) -> Tensor:
    """Return the product of the input rows with a weight of shape (n_features, n_units)."""
    if isinstance(inputs, Tensor) and (inputs.requires_grad or n_blocks(inputs, weight) == 1):
        return inputs @ weight
    result: Tensor = _Product.apply(weight, inputs)  # type: ignore[no-untyped-call]
    return result


def transposed_times(inputs: Input, gradient: Tensor) -> Tensor:
    """Return the product of the transposed rows with a gradient of shape (n_rows, n_units)."""
    if isinstance(inputs, SparseRows):
        return transposed_product(inputs.matrix, gradient)
    return dense_product(inputs.t(), gradient)


def drop(inputs: Input, rate: float, generator: torch.Generator | None) -> Input:
    """Return the input rows after dropout; ``generator=None`` means evaluation, no dropout."""
    if generator is None or rate == 0.0:
        return inputs
    if isinstance(inputs, SparseRows):
        return inputs.dropped(rate, generator).without_zeros()
    return dropout(inputs, rate, generator)


def dropout(values: Tensor, rate: float, generator: torch.Generator | None) -> Tensor:
    """Return values dropped at ``rate`` by an own generator, the kept ones divided by 1 − rate."""
    if generator is None or rate == 0.0:
        return values
    return values * dropout_mask(values, rate, generator)


def dropout_mask(values: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    """Return what dropout multiplies values with: 0 at ``rate``, else 1 / (1 − rate)."""
    draws = torch.rand(values.shape, generator=generator, dtype=values.dtype, device=values.device)
    return draws.ge_(rate).div_(1.0 - rate)  # in place: fresh memory costs more than the numbers


class _Product(torch.autograd.Function):
    """Constant rows times a weight: B W forward, Bᵀ G backward."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, inputs: Input) -> Tensor:
        ctx.inputs = inputs
        if isinstance(inputs, SparseRows):
            return product(inputs.matrix, weight.detach())
        return dense_product(inputs, weight.detach())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return transposed_times(ctx.inputs, gradients[0]), None
