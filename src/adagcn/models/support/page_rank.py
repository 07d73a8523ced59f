"""Exact personalized PageRank of a few columns or rows: Π = γ (I − (1 − γ) Â)^−1 without Π.

For an undirected graph the system is symmetric, and positive definite with all eigenvalues in
[γ, 2 − γ]: conjugate gradients need about ½ √((2 − γ)/γ) ln(2/ε) products with Â for an error ε,
whatever the size of the graph. Π is symmetric too, so its adjoint is the same solve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse
from torch import Tensor

from adagcn.errors import NumericalError
from adagcn.learners.inputs import SparseRows
from adagcn.models.support.field_of_view import Step, spread

MOST_PRODUCTS = 10_000
# Columns that are solved for together: enough to keep the processor busy, few enough for its cache.
COLUMNS_AT_ONCE = 64
# Up to this size a dense Cholesky solve is faster than conjugate gradients.
DENSE_UP_TO = 600


@dataclass(frozen=True)
class PageRank:
    """Multiplication with Π, where ``step`` is Â (symmetric) and ``teleport`` is γ.

    A column is solved for until its residual, relative to the right-hand side, is at most
    ``tolerance``.
    """

    step: Step
    teleport: float
    tolerance: float

    def __call__(self, signal: Tensor) -> Tensor:
        """Return Π times a signal of shape (n_nodes, n_columns), differentiable."""
        product: Tensor = _Product.apply(signal, self._solved)  # type: ignore[no-untyped-call]
        return product

    def _solved(self, signal: Tensor) -> Tensor:
        return conjugate_gradients(self._system, self.teleport * signal, self.tolerance)

    def _system(self, values: Tensor) -> Tensor:
        return values - (1.0 - self.teleport) * spread(self.step, values)


class _Product(torch.autograd.Function):
    """Π H forward, Π G backward: Π is symmetric."""

    @staticmethod
    def forward(ctx: Any, signal: Tensor, solve: Callable[[Tensor], Tensor]) -> Tensor:
        ctx.solve = solve
        return solve(signal)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return ctx.solve(gradients[0].contiguous()), None


@torch.no_grad()
def conjugate_gradients(
    system: Callable[[Tensor], Tensor], right_side: Tensor, tolerance: float
) -> Tensor:
    """Solve a symmetric positive definite system for all columns side by side.

    Every column has its own step lengths, so each is solved as if it were alone; they only share
    the products. A column that is done rests.
    """
    solution = torch.zeros_like(right_side)
    residual = right_side.clone()
    direction = residual.clone()
    energy = residual.square().sum(dim=0)
    goal = tolerance**2 * energy
    for _ in range(MOST_PRODUCTS):
        active = energy > goal
        if not active.any():
            return solution
        product = system(direction)
        length = _ratio(energy, (direction * product).sum(dim=0), active)
        solution += length * direction
        residual -= length * product
        before, energy = energy, residual.square().sum(dim=0)
        direction = residual + _ratio(energy, before, active) * direction
    raise NumericalError(
        "AGC-N1006",
        f"conjugate gradients did not converge in {MOST_PRODUCTS} products",
        got=f"tolerance={tolerance}",
        fix="raise tolerance; 1e-6 is usual",
    )


def _ratio(above: Tensor, below: Tensor, active: Tensor) -> Tensor:
    """Return the quotients of the active columns, zero for the others."""
    return torch.where(active, above / torch.where(active, below, 1.0), 0.0)


def page_rank_rows(
    propagator: sparse.csr_array, nodes: NDArray[np.intp], teleport: float, tolerance: float
) -> NDArray[Any]:
    """Return the rows of Π of some nodes, of shape (n_asked, n_nodes).

    Π is symmetric: a row is the solution for a unit column. Small graphs are solved directly.
    """
    n_nodes = propagator.shape[0]
    if n_nodes <= DENSE_UP_TO:
        system = np.eye(n_nodes) - (1.0 - teleport) * propagator.toarray().astype(np.float64)
        units = np.eye(n_nodes)[:, nodes]
        solution = linalg.solve(system, teleport * units, assume_a="pos")
        return np.ascontiguousarray(solution.T, dtype=propagator.dtype)
    rank = PageRank(SparseRows(propagator), teleport, tolerance)
    rows = np.empty((len(nodes), n_nodes), dtype=propagator.dtype)
    for start in range(0, len(nodes), COLUMNS_AT_ONCE):
        block = nodes[start : start + COLUMNS_AT_ONCE]
        units = np.zeros((n_nodes, len(block)), dtype=propagator.dtype)
        units[block, np.arange(len(block))] = 1.0
        rows[start : start + len(block)] = rank(torch.from_numpy(units)).numpy().T
    return rows
