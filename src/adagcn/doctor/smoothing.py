"""How much of the features is left after some hops: energy, distance and rank.

Repeated propagation makes all nodes alike. Three measures of a hop H = Â^l X say how far that has
gone; all are taken on a sample of nodes where the graph is large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]


def dirichlet_energy(rows: Rows, propagated: Rows) -> float:
    """Return tr(Hᵀ(I − Â)H) / ‖H‖², between 0 (smooth) and 2.

    For an undirected graph that is ½ Σ_ij ã_ij ‖h_i/√d̃_i − h_j/√d̃_j‖² / ‖H‖², with self-loops in ã
    and d̃. C. Cai and Y. Wang, "A note on over-smoothing for graph neural networks", 2020. Of drawn
    nodes, it is the ratio of the two sums over these nodes. 0 where all rows are zero.

    Parameters
    ----------
    rows, propagated : ndarray of shape (n_rows, n_features)
        H and ÂH of the same nodes.
    """
    total = float(np.vdot(rows, rows))
    return 1.0 - float(np.vdot(rows, propagated)) / total if total > 0.0 else 0.0


def mean_average_distance(rows: Rows, pairs: NDArray[np.intp]) -> float | None:
    """Return the mean cosine distance 1 − h_i·h_j / ‖h_i‖‖h_j‖ over pairs of rows.

    D. Chen et al., "Measuring and relieving the over-smoothing problem for graph neural networks
    from the topological view", AAAI 2020 (MAD over pairs of any two nodes).

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        H of some nodes.
    pairs : ndarray of shape (2, n_pairs)
        Which rows to compare. Pairs with a zero row do not count; None if no other pair is left.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    kept = pairs[:, (norms[pairs] > 0.0).all(axis=0)]
    if not kept.shape[1]:
        return None
    unit = rows / np.where(norms > 0.0, norms, 1.0)[:, None]
    cosines = np.concatenate(
        [
            np.einsum("ij,ij->i", unit[some[0]], unit[some[1]])
            for some in np.array_split(kept, max(1, kept.shape[1] // 500), axis=1)
        ]
    )
    return float(1.0 - cosines.mean())


def effective_rank(rows: Rows) -> float:
    """Return exp(−Σ p_i log p_i) with p the singular values over their sum.

    The number of equally strong directions that would have the same entropy: from 1 (all rows
    alike) to the smaller side. O. Roy and M. Vetterli, "The effective rank: a measure of effective
    dimensionality", EUSIPCO 2007. Rows are divided by their norms first, as the ridge sees them; 0
    where all are zero.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    unit = rows[norms > 0.0] / norms[norms > 0.0][:, None]
    if not len(unit):
        return 0.0
    products = unit @ unit.T if unit.shape[0] <= unit.shape[1] else unit.T @ unit
    singular = np.sqrt(np.maximum(np.linalg.eigvalsh(products), 0.0))
    shares = singular[singular > 1e-9 * singular.max()] / singular.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))
