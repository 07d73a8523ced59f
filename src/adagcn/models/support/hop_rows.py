"""Rows of X, ÂX, Â²X, … for a few nodes, computed before training where many epochs reuse them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.graph import Features
from adagcn.models.support.field_of_view import nodes_behind
from adagcn.models.support.system import GraphInput
from adagcn.propagation.hops import in_cheaper_form

# With fewer entries than this, a product of a few rows with a weight is faster sparse, in any case
# with dropout before it. (Products of whole hops become dense sooner: see in_cheaper_form.)
SPARSE_BELOW = 0.25


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
