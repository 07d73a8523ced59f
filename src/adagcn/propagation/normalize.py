"""The matrix that features are multiplied by: Â = D̃^−½ (A + I) D̃^−½ and its relatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from adagcn.errors import InputError

Normalization = Literal["symmetric", "random_walk"]

_N_ROWS = 4096  # divided at once


def make_propagator(
    adjacency: sparse.csr_array,
    normalization: Normalization = "symmetric",
    *,
    dtype: DTypeLike = np.float32,
) -> sparse.csr_array:
    """Return the normalized adjacency with self-loops.

    With Ã = A + I, its row sums D̃ and column sums D̃′ (equal in an undirected graph):

    - ``"symmetric"``: D̃^−½ Ã D̃′^−½, the paper's Â; symmetric for an undirected graph, with
      spectrum in (−1, 1];
    - ``"random_walk"``: D̃^−1 Ã, whose rows sum to one.

    An isolated node keeps its own features: its row is that of the identity.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        Non-negative weights. An edge of the graph to itself counts beside the added self-loop.
    normalization : {"symmetric", "random_walk"}
        Which of the two.
    dtype : dtype
        Type of the result; the sums and roots are computed in float64.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        The propagator, with sorted columns.
    """
    if normalization not in get_args(Normalization):
        raise InputError(
            "AGC-I401",
            f"normalization must be one of {', '.join(get_args(Normalization))}",
            got=normalization,
            fix="use 'symmetric' for the paper's Â",
        )
    n_nodes = adjacency.shape[0]
    with_self_loops = adjacency.astype(np.float64) + sparse.eye_array(n_nodes, format="csr")
    with_self_loops.sort_indices()
    # Products with ones, not sums: both add up one after the other, row by row, so that the result
    # is symmetric to the last bit wherever the adjacency is.
    out_degree = with_self_loops @ np.ones(n_nodes)
    in_degree = with_self_loops.T @ np.ones(n_nodes)
    values = np.empty(with_self_loops.nnz, dtype=dtype)
    for rows, stored in _rows_at_once(with_self_loops):
        if normalization == "random_walk":
            divisor = out_degree[rows]
        else:
            divisor = np.sqrt(out_degree[rows] * in_degree[with_self_loops.indices[stored]])
        values[stored] = with_self_loops.data[stored] / divisor
    parts = (values, with_self_loops.indices, with_self_loops.indptr)
    return sparse.csr_array(parts, shape=with_self_loops.shape)


def _rows_at_once(matrix: sparse.csr_array) -> Iterator[tuple[NDArray[np.intp], slice]]:
    """Yield the row of every stored value, part by part, and which part of the values that is.

    Whole, they and what is computed with them would take several times the memory of the graph.
    """
    counts = np.diff(matrix.indptr)
    for first in range(0, len(counts), _N_ROWS):
        rows = np.arange(first, min(first + _N_ROWS, len(counts)))
        stored = slice(int(matrix.indptr[first]), int(matrix.indptr[rows[-1] + 1]))
        yield np.repeat(rows, counts[rows]), stored
