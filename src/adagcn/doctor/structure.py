"""Degrees and components: what a graph looks like before anybody looks at labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from adagcn.graph import Graph


@dataclass(frozen=True)
class Structure:
    """The shape of a graph.

    Parameters
    ----------
    n_nodes, n_edges : int
        Sizes; an undirected edge counts once.
    directed, weighted : bool
        Whether the adjacency is not symmetric, and whether an edge has a weight other than one.
    smallest_weight, largest_weight : float or None
        Range of the weights; None without edges.
    self_loops : int
        Edges from a node to itself. They count in no degree below.
    degree_min, degree_median, degree_mean, degree_max : float
        Number of other nodes that a node gathers from.
    isolated : int
        Nodes without an edge to or from another node.
    components : int
        Number of connected components, whatever the direction of edges.
    largest_share : float
        Share of the nodes in the largest component.
    reading : tuple of str
        What was read, changed and left out, such as duplicate edges, in phrases.
    """

    n_nodes: int
    n_edges: int
    directed: bool
    weighted: bool
    smallest_weight: float | None
    largest_weight: float | None
    self_loops: int
    degree_min: float
    degree_median: float
    degree_mean: float
    degree_max: float
    isolated: int
    components: int
    largest_share: float
    reading: tuple[str, ...]


def structure_of(graph: Graph) -> Structure:
    """Return the shape of a graph."""
    adjacency = graph.adjacency
    weights = adjacency.data
    own = adjacency.diagonal() != 0.0
    degrees = np.diff(adjacency.indptr) - own
    n_components, component = connected_components(adjacency, directed=False)
    return Structure(
        n_nodes=graph.n_nodes,
        n_edges=graph.n_edges,
        directed=graph.is_directed,
        weighted=bool((weights != 1.0).any()),
        smallest_weight=float(weights.min()) if weights.size else None,
        largest_weight=float(weights.max()) if weights.size else None,
        self_loops=int(own.sum()),
        degree_min=float(degrees.min()),
        degree_median=float(np.median(degrees)),
        degree_mean=float(degrees.mean()),
        degree_max=float(degrees.max()),
        isolated=int((degrees + _others_that_point_at(adjacency, own) == 0).sum()),
        components=int(n_components),
        largest_share=float(np.bincount(component).max() / graph.n_nodes),
        reading=graph.changes,
    )


def _others_that_point_at(adjacency: sparse.csr_array, own: NDArray[np.bool_]) -> NDArray[np.int64]:
    counts = np.bincount(adjacency.indices, minlength=adjacency.shape[0])
    return np.asarray(counts - own, dtype=np.int64)
