"""The nodes that a prediction depends on, and the rows of Â that lead to them.

After L products with Â, the rows of a few nodes depend on the nodes within L steps of them and on
no others. So the products are cut to those rows once, before training: the numbers stay the same,
and no epoch spends time on nodes that do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from adagcn.graph import Features
from adagcn.learners.inputs import Input, SparseRows, as_input, dropout, times
from adagcn.models.support.system import GraphInput
from adagcn.propagation.hops import in_cheaper_form
from adagcn.propagation.sparse_tensors import csr_tensor, torch_csr

Step = SparseRows | Tensor

# A view of almost all nodes becomes one of all: then its farther steps are one and the same matrix.
WHOLE_ABOVE = 0.9
# Columns from which on a product takes longer with dropped entries than to take these out before.
MANY = 32
# With fewer entries than this, a product of a few rows with a weight is faster sparse, in any case
# with dropout before it. (Products of whole hops become dense sooner: see in_cheaper_form.)
SPARSE_BELOW = 0.25


@dataclass(frozen=True)
class FieldOfView:
    """What a network of L steps needs for some nodes.

    Parameters
    ----------
    rows : Input
        Features of the farthest nodes, of shape (n_0, n_features).
    steps : tuple of L matrices
        Step k has shape (n_{k+1}, n_k) and leads one step nearer; n_L is the number of nodes asked.
    inner : tuple of L (Tensor or None)
        Where the nodes of stage k + 1 stand among those of stage k; None: they are the same.
    """

    rows: Input
    steps: tuple[Step, ...]
    inner: tuple[Tensor | None, ...]

    def nearer(self, values: Tensor, stage: int) -> Tensor:
        """Return values of the nodes at a stage for those of them at the next stage."""
        positions = self.inner[stage]
        return values if positions is None else values.index_select(0, positions)

    def brought(self, values: Tensor, stage: int, end: int) -> Tensor:
        """Return values of the nodes at a stage for those of them at a later one."""
        for each in range(stage, end):
            values = self.nearer(values, each)
        return values


def field_of_view(
    inputs: GraphInput,
    nodes: NDArray[np.intp],
    n_steps: int,
    like: Tensor,
    *,
    propagator: sparse.csr_array | None = None,
) -> FieldOfView:
    """Return the field of view of some nodes over some steps.

    Parameters
    ----------
    inputs : GraphInput
        The graph.
    nodes : ndarray of shape (n_asked,)
        Positions of the nodes, each once, in the order that the logits should have.
    n_steps : int
        L.
    like : Tensor
        A parameter; the result has its type and is where it is.
    propagator : csr_array, optional
        The matrix of the steps; Â by default.
    """
    matrix = inputs.propagator if propagator is None else propagator
    nearest_first: list[tuple[Step, Tensor | None]] = []
    while len(nearest_first) < n_steps:
        step, inner, farther = _step_to(nodes, matrix)
        pair: tuple[Step, Tensor | None]
        if np.array_equal(farther, nodes):  # nothing new comes into view from here on
            pair = as_step(step, like), None
            nearest_first += [pair] * (n_steps - len(nearest_first))
        else:
            pair = as_step(step, like), torch.from_numpy(inner).to(like.device)
            nearest_first.append(pair)
        nodes = farther
    steps, positions = zip(*reversed(nearest_first), strict=True) if nearest_first else ((), ())
    return FieldOfView(as_input(inputs.features[nodes], like), tuple(steps), tuple(positions))


def as_step(matrix: sparse.csr_array, like: Tensor) -> Step:
    """Return a sparse matrix that dense tensors can be multiplied with, where ``like`` is.

    On the CPU it stays scipy's (:func:`adagcn.learners.inputs.times`), elsewhere it is torch's.
    """
    if like.device.type == "cpu":
        step = as_input(matrix, like)
        assert isinstance(step, SparseRows)
        return step
    return torch_csr(matrix).to(like.device, like.dtype)


def spread(
    step: Step, values: Tensor, rate: float = 0.0, generator: torch.Generator | None = None
) -> Tensor:
    """Return the step times values of shape (n_k, n_columns).

    With a generator, the entries of the step are dropped at ``rate``, anew at every call.
    """
    if generator is None or rate == 0.0:
        return times(step, values)
    if isinstance(step, Tensor):
        kept = dropout(step.values(), rate, generator)
        return csr_tensor(step.crow_indices(), step.col_indices(), kept, step.shape) @ values
    dropped = step.dropped(rate, generator)
    return times(dropped.without_zeros() if values.shape[1] >= MANY else dropped, values)


def nodes_behind(rows: sparse.csr_array, nodes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which nodes stand behind others: those that their rows lead from, and they too."""
    is_behind = np.zeros(rows.shape[1], dtype=bool)
    is_behind[rows.indices] = True
    is_behind[nodes] = True
    return is_behind


def _step_to(
    nodes: NDArray[np.intp], matrix: sparse.csr_array
) -> tuple[sparse.csr_array, NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows that lead to the nodes, where these stand among the nodes behind, and those.

    A node always stands among the nodes behind it, also where the matrix has no diagonal.
    """
    rows = matrix[nodes]
    is_behind = nodes_behind(rows, nodes)
    if np.count_nonzero(is_behind) > WHOLE_ABOVE * len(is_behind):
        is_behind[:] = True
    places = np.cumsum(is_behind, dtype=rows.indices.dtype) - 1
    farther = np.flatnonzero(is_behind)
    parts = (rows.data, places[rows.indices], rows.indptr)
    step = sparse.csr_array(parts, shape=(len(nodes), len(farther)))
    return step, places[nodes].astype(np.intp), farther


# Rows of hops, computed before training where many epochs reuse them


def neighborhoods(
    matrix: sparse.csr_array, nodes: NDArray[np.intp], n_steps: int
) -> list[NDArray[np.intp]]:
    """Return the nodes within 0, 1, … n_steps steps: first those asked for, then sorted ones."""
    found = [nodes]
    for _ in range(n_steps):
        found.append(np.flatnonzero(nodes_behind(matrix[found[-1]], nodes)))
    return found


def hop_rows(inputs: GraphInput, nodes: NDArray[np.intp], n_hops: int) -> list[Features]:
    """Return the rows of some nodes of X, ÂX, … Â^n_hops X.

    Only rows that the nodes depend on are computed. Each hop is in the form, sparse or dense, that
    is faster to train on.
    """
    matrix = inputs.propagator
    fields = neighborhoods(matrix, nodes, n_hops)[::-1]
    values = inputs.features[fields[0]]
    rows = [_fit_to_train(values[places(nodes, fields[0])])]
    for far, near in pairwise(fields):
        values = in_cheaper_form(matrix[near][:, far] @ values)
        rows.append(_fit_to_train(values[places(nodes, near)]))
    return rows


def places(nodes: NDArray[np.intp], field: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where nodes stand in one of their neighborhoods."""
    return np.arange(len(nodes)) if field is nodes else np.searchsorted(field, nodes)


def _fit_to_train(rows: Features) -> Features:
    """Return rows sparse if fewer than ``SPARSE_BELOW`` of their entries are not zero."""
    n_filled = np.count_nonzero(rows) if isinstance(rows, np.ndarray) else rows.nnz
    if n_filled < SPARSE_BELOW * rows.shape[0] * rows.shape[1]:
        return sparse.csr_array(rows)
    return rows if isinstance(rows, np.ndarray) else rows.toarray()
