"""Random graphs of any size, for tests and measurements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError
from adagcn.graph import Graph


def planted_partition(  # noqa: PLR0913
    n_nodes: int,
    n_classes: int,
    n_features: int,
    *,
    seed: int,
    homophily: float = 0.8,
    mean_degree: float = 4.0,
    feature_signal: float = 1.0,
) -> Graph:
    """Make a random graph whose edges and features both depend on the classes.

    Time and memory grow with the number of edges and feature values, not with pairs of nodes.

    Parameters
    ----------
    n_nodes, n_classes, n_features : int
        Sizes; classes are as equal in size as possible and in random order.
    seed : int
        Seed of the random numbers.
    homophily : float
        Probability that an edge joins two nodes of one class, 0 to 1.
    mean_degree : float
        Mean degree as drawn; a pair drawn twice counts once, so the graph's is slightly lower.
    feature_signal : float
        Distance of each class's mean from the origin, in standard deviations of the noise.

    Returns
    -------
    Graph
        An undirected, unweighted graph without self-loops; node ids are positions.

    Examples
    --------
    >>> planted_partition(100, 3, 5, seed=0)  # doctest: +ELLIPSIS
    Graph('planted_partition', 100 nodes, ... edges, 5 features, 3 classes)
    """
    _check_sizes(n_nodes, n_classes, n_features)
    if not 0 <= homophily <= 1 or not 0 <= mean_degree < n_nodes:
        raise InputError(
            "AGC-I290",
            "homophily must be between 0 and 1, and mean_degree below n_nodes",
            got=(homophily, mean_degree),
        )
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_nodes) % n_classes)
    adjacency = _draw_edges(rng, labels, round(n_nodes * mean_degree / 2), homophily)
    centers = rng.standard_normal((n_classes, n_features), dtype=np.float32)
    centers *= feature_signal / np.linalg.norm(centers, axis=1, keepdims=True)
    features = rng.standard_normal((n_nodes, n_features), dtype=np.float32)
    for label, center in enumerate(centers):
        features[labels == label] += center
    return Graph(
        adjacency=adjacency,
        features=features,
        node_ids=np.arange(n_nodes),
        labels=labels,
        classes=np.arange(n_classes),
        name="planted_partition",
    )


def _draw_edges(
    rng: np.random.Generator, labels: NDArray[np.int64], n_edges: int, homophily: float
) -> sparse.csr_array:
    """Draw pairs of nodes, each within a class with chance ``homophily`` and across otherwise."""
    n_nodes = len(labels)
    by_class = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    sources = rng.integers(n_nodes, size=n_edges)
    size, start = sizes[labels[sources]], starts[labels[sources]]
    within = start + rng.integers(size)
    # Others are counted around the block of the source's own class.
    across = rng.integers(np.maximum(n_nodes - size, 1))
    across = np.minimum(across + np.where(across >= start, size, 0), n_nodes - 1)
    stays = rng.random(n_edges) < homophily
    targets = by_class[np.where(stays, within, across)]
    kept = sources != targets
    ends = np.stack([sources[kept], targets[kept]])
    ends = np.concatenate([ends, ends[::-1]], axis=1)
    ones = np.ones(ends.shape[1], dtype=np.float32)
    adjacency = sparse.csr_array((ones, tuple(ends)), shape=(n_nodes, n_nodes))
    adjacency.sum_duplicates()
    adjacency.data.fill(1)
    return adjacency


def _check_sizes(n_nodes: int, n_classes: int, n_features: int) -> None:
    if n_features < 1 or n_classes < 1 or n_nodes < n_classes:
        raise InputError(
            "AGC-I291",
            "n_nodes must be at least n_classes, and n_classes and n_features at least 1",
            got=(n_nodes, n_classes, n_features),
        )
