"""The matrix that features are multiplied by: Â = D̃^−½ (A + I) D̃^−½ and its relatives."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from adagcn.errors import InputError

Normalization = Literal["symmetric", "random_walk"]


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
    out_degree = with_self_loops.sum(axis=1)
    arcs = with_self_loops.tocoo()
    if normalization == "random_walk":
        values = arcs.data / out_degree[arcs.row]
    else:
        # Sums over rows of the transpose, not over columns: they add up in the same order, so that
        # the result is symmetric to the last bit wherever the adjacency is.
        in_degree = with_self_loops.T.tocsr().sum(axis=1)
        values = arcs.data / np.sqrt(out_degree[arcs.row] * in_degree[arcs.col])
    result = sparse.csr_array((values.astype(dtype), (arcs.row, arcs.col)), shape=arcs.shape)
    result.sort_indices()
    return result
