"""A map of a part of a graph: which nodes it shows, and where they stand.

A picture of thousands of nodes shows nothing. The map therefore grows from the nodes that one
wants to see, by the neighbors that hang together with them most, up to a few hundred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

MOST_NODES = 260
MOST_EDGES = 1200
_ROUND = 0.12  # share of the map that one round of growth adds
_OF_A_SEED = 4  # neighbors that every seed brings along
_STEPS = 160  # of the forces
_BACKGROUND = 0.02  # weight of a link between any two nodes: it joins separate parts
_GRAVITY = 0.06  # pull to the middle, in units of the ideal distance
_EVEN = 0.4  # how far places give way to ranks, which fill the square evenly
_APART = 0.03  # least distance of two nodes on the unit square
_APART_STEPS = 40


@dataclass(frozen=True)
class GraphMap:
    """Nodes on the unit square and the edges between them.

    Attributes
    ----------
    nodes : ndarray of shape (n,)
        Positions in the graph, in ascending order.
    places : ndarray of shape (n, 2)
        Where they stand, between 0 and 1.
    edges : ndarray of shape (m, 2)
        Pairs of indices into ``nodes``, each pair once.
    n_hidden : int
        Edges between these nodes that are left out, since there are too many to see.
    """

    nodes: NDArray[np.intp]
    places: NDArray[np.float64]
    edges: NDArray[np.intp]
    n_hidden: int = 0


def map_around(
    adjacency: sparse.csr_array, seeds: NDArray[np.intp], *, most: int = MOST_NODES
) -> GraphMap:
    """Return a map that grows from some nodes; the same nodes always give the same map.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        Edge weights; directions do not matter here.
    seeds : ndarray
        Positions of the nodes to show, at most ``most`` of them.
    most : int
        Nodes on the map.
    """
    links = _links(adjacency)
    nodes = grown(links, seeds, most)
    inside = sparse.csr_array(links[nodes][:, nodes])
    upper = sparse.triu(inside, k=1).tocoo()
    edges = np.stack([upper.row, upper.col], axis=1).astype(np.intp)
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    drawn = edges
    if len(edges) > MOST_EDGES:
        drawn = edges[np.linspace(0, len(edges) - 1, MOST_EDGES).astype(int)]
    return GraphMap(nodes, layout(inside.toarray()), drawn, len(edges) - len(drawn))


def grown(links: sparse.csr_array, seeds: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the seeds, a few neighbors of each, and the nodes that hang together with these most.

    Each round adds the neighbors with the largest number of links into the map, relative to the
    square root of their degree: hubs know everybody and tell little.

    Parameters
    ----------
    links : csr_array of shape (n_nodes, n_nodes)
        One where two nodes are neighbors; symmetric, without loops.
    seeds : ndarray
        Where to start.
    most : int
        Nodes at the end.
    """
    chosen = np.zeros(links.shape[0], dtype=bool)
    chosen[seeds[:most]] = True
    degree = np.maximum(np.diff(links.indptr), 1)
    for seed in seeds[:most].tolist():
        near = links.indices[links.indptr[seed] : links.indptr[seed + 1]]
        quiet_first = near[np.argsort(degree[near], kind="stable")][:_OF_A_SEED]
        chosen[quiet_first[: most - int(chosen.sum())]] = True
    while (room := most - int(chosen.sum())) > 0:
        into = links @ chosen.astype(np.float32)
        score = np.where(chosen, 0.0, into / np.sqrt(degree))
        candidates = np.flatnonzero(score)
        if not len(candidates):
            break
        order = candidates[np.argsort(-score[candidates], kind="stable")]
        chosen[order[: min(room, max(1, int(_ROUND * most)))]] = True
    return np.flatnonzero(chosen)


def layout(links: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return places on the unit square where neighbors stand close and others apart.

    The start is spectral: the two smoothest vectors over the edges. Then neighbors attract each
    other and all nodes repel each other, as Fruchterman and Reingold (1991) have it, and nodes
    that still overlap are pushed apart.

    Parameters
    ----------
    links : ndarray of shape (n, n)
        One where two nodes are neighbors; symmetric.

    Returns
    -------
    ndarray of shape (n, 2)
    """
    n_nodes = len(links)
    if n_nodes == 1:
        return np.full((1, 2), 0.5)
    places = _spectral(np.asarray(links, dtype=np.float64))
    ideal = 1.0 / np.sqrt(n_nodes)
    for heat in np.linspace(0.12, 0.004, _STEPS):
        force = _forces(places, links, ideal) - _GRAVITY * places / ideal * np.abs(places)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        places = places + force / length * np.minimum(length, heat)
    ranks = places.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / (n_nodes - 1)
    return _apart((1.0 - _EVEN) * _on_unit_square(places) + _EVEN * ranks)


def _links(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return who is a neighbor of whom, in both directions and without loops."""
    both = sparse.csr_array(adjacency + adjacency.T)
    both.data[:] = 1.0
    both.setdiag(0.0)
    both.eliminate_zeros()
    return both


def _spectral(links: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the second and third eigenvectors of the normalized adjacency, spread evenly.

    Their ranks are used, not their values: these crowd most nodes into one point.
    """
    joined = links + _BACKGROUND / len(links)
    root = np.sqrt(joined.sum(axis=1))
    vectors = np.linalg.eigh(joined / np.outer(root, root))[1][:, ::-1][:, 1:3]
    if vectors.shape[1] < 2:  # two nodes have no third vector
        vectors = np.column_stack([vectors, np.zeros(len(links))])
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, [0, 1]] < 0, -1.0, 1.0)
    ranks = np.round(vectors, 9).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.asarray(ranks / max(len(links) - 1, 1) - 0.5)


def _forces(
    places: NDArray[np.float64], links: NDArray[np.floating], ideal: float
) -> NDArray[np.float64]:
    """Return the sum over others of k²/d away from them, and over neighbors of d²/k to them."""
    apart = places[:, None, :] - places[None, :, :]
    distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-4)
    strength = (ideal / distance) ** 2 - links * distance / ideal
    return np.asarray((apart * strength[:, :, None]).sum(axis=1))


def _on_unit_square(places: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.maximum(high - low, 1e-9))


def _apart(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push nodes apart until no two are closer than they are drawn."""
    for _ in range(_APART_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        distance = np.sqrt((apart**2).sum(axis=2))
        np.fill_diagonal(distance, 1.0)
        missing = np.maximum(_APART - distance, 0.0)
        if not missing.any():
            break
        # Nodes on the very same place part along the diagonal, the first one upward.
        order = np.arange(len(places))
        nudge = np.where(distance < 1e-9, np.sign(np.subtract.outer(order, order)), 0.0)
        direction = apart / np.maximum(distance, 1e-9)[:, :, None] + nudge[:, :, None]
        places = places + 0.5 * (direction * missing[:, :, None]).sum(axis=1)
    return _on_unit_square(places)
