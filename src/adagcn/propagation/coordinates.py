"""Coordinates of nodes from the edges alone, for a graph without features.

Without features every node is a column of its own, and a hop of n columns is a dense n × n matrix.
Nearly all that such hops tell of a node's place lies in the leading eigenvectors v_i of Â, weighted
as personalized PageRank weighs them::

    Π = γ (I − (1 − γ) Â)⁻¹ = Σ_i  γ / (1 − (1 − γ) λ_i) · v_i v_iᵀ

The coordinates of node u are v_i(u) · γ / (1 − (1 − γ) λ_i) for the largest λ_i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from adagcn.formats.adjacency import symmetrized
from adagcn.propagation.normalize import make_propagator

N_COORDINATES = 128
_TELEPORT = 0.02  # γ: how far a coordinate reaches
# How exact the eigenvalues are. Those that stand out are found first, and only they tell
# communities apart: on large graphs the others, which lie close together, would take most time.
_TOLERANCE, _COARSE_TOLERANCE = 1e-4, 0.05
_MANY_NODES = 25_000


def spectral_coordinates(
    adjacency: sparse.csr_array, n_coordinates: int = N_COORDINATES
) -> NDArray[np.float32] | None:
    """Return the coordinates of all nodes, or ``None`` if the graph is not of one piece.

    Nodes outside the largest component have no place in it: their coordinates are zero.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        Non-negative weights; directed edges count both ways.
    n_coordinates : int
        How many eigenvectors to use.

    Returns
    -------
    ndarray of shape (n_nodes, n_coordinates) or None
        Scaled so that the mean square of a row is one. ``None`` where the largest component has
        less than half of the nodes, or too few for as many eigenvectors.
    """
    _, component = connected_components(adjacency, directed=False)
    sizes = np.bincount(component)
    nodes = np.flatnonzero(component == np.argmax(sizes))
    if len(nodes) < adjacency.shape[0] / 2 or len(nodes) <= 2 * n_coordinates:
        return None
    propagator = make_propagator(symmetrized(adjacency[nodes][:, nodes]), dtype=np.float64)
    # From a constant start instead of a random one: the same graph, the same coordinates.
    start = np.ones(len(nodes))
    tolerance = _TOLERANCE if len(nodes) <= _MANY_NODES else _COARSE_TOLERANCE
    values, vectors = eigsh(propagator, n_coordinates, which="LA", v0=start, tol=tolerance)
    weighted = vectors * (_TELEPORT / (1 - (1 - _TELEPORT) * values))
    weighted *= np.sqrt(len(nodes) / np.square(weighted).sum())
    coordinates = np.zeros((adjacency.shape[0], n_coordinates), dtype=np.float32)
    coordinates[nodes] = weighted
    return coordinates
