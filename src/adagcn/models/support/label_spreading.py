"""Spreading labels, or errors, over the edges: what label propagation and its relatives share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Probabilities are kept above this, so that their logarithms are numbers.
SMALLEST = 1e-12


def normalized_adjacency(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return S = D^−½ A D^−½ in float64; rows and columns of isolated nodes are zero."""
    weights = sparse.csr_array(adjacency, dtype=np.float64)
    out, into = (_inverse_root(each.sum(axis=1)) for each in (weights, weights.T.tocsr()))
    return sparse.csr_array(sparse.diags_array(out) @ weights @ sparse.diags_array(into))


def _inverse_root(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    roots = np.zeros_like(degrees)
    return np.power(degrees, -0.5, out=roots, where=degrees > 0.0)


def spread_labels(
    matrix: sparse.csr_array,
    start: NDArray[np.float64],
    teleport: float,
    n_steps: int,
    after: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """Return T times Y ← (1 − γ) S Y + γ Y^(0), each followed by ``after`` if there is one."""
    values, restart = start, teleport * start
    for _ in range(n_steps):
        values = (1.0 - teleport) * (matrix @ values) + restart
        values = values if after is None else after(values)
    return values


def log_shares(scores: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of scores divided by their sum; rows without any are ``otherwise``."""
    total = scores.sum(axis=1, keepdims=True)
    shares = np.where(total > 0.0, scores / np.where(total > 0.0, total, 1.0), otherwise)
    shares = np.maximum(shares, SMALLEST)
    return np.asarray(np.log(shares / shares.sum(axis=1, keepdims=True)))
