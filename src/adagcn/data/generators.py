"""Random graphs of any size, for tests and measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError
from adagcn.graph import Features, Graph


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
    return _generated(adjacency, features, labels, "planted_partition")


def rare_columns(seed: int = 0) -> Graph:
    """Make a graph whose classes show in many rare columns, under frequent columns of noise.

    2,000 nodes in 4 classes. Each of 4,000 columns is on in 6 nodes of one class; each of 1,000
    others is on in 20 nodes of any class, and so has three times the squares. A model that keeps
    the 1,000 strongest columns keeps noise alone. 60 % of the 4,000 edges stay within a class.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Graph
        An undirected graph with sparse features.
    """
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(2000) % 4)
    adjacency = _draw_edges(rng, labels, 4000, homophily=0.6)
    signal = [rng.choice(np.flatnonzero(labels == column % 4), 6, False) for column in range(4000)]
    noise = [rng.choice(len(labels), 20, False) for _ in range(1000)]
    rows = np.concatenate(signal + noise)
    columns = np.repeat(np.arange(5000), [6] * 4000 + [20] * 1000)
    features = sparse.csr_array(
        (np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(2000, 5000)
    )
    return _generated(adjacency, features, labels, "rare_columns")


def weak_dense(seed: int = 0) -> Graph:
    """Make a graph whose features say next to nothing about one node, and much about many.

    3,000 nodes in 4 classes; 32 features drawn from N(μ, 1), where the means μ of the classes have
    a standard deviation of 0.05. 90 % of the 30,000 edges stay within a class: the mean over many
    hops shows the class, and whatever of a node's own features stays in every hop hides it.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Graph
        An undirected graph with dense features.
    """
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(3000) % 4)
    adjacency = _draw_edges(rng, labels, 30_000, homophily=0.9)
    means = 0.05 * rng.standard_normal((4, 32), dtype=np.float32)
    features = means[labels] + rng.standard_normal((3000, 32), dtype=np.float32)
    return _generated(adjacency, features, labels, "weak_dense")


GENERATED: Mapping[str, Callable[[], Graph]] = MappingProxyType(
    {"rare_columns": rare_columns, "weak_dense": weak_dense}
)


def _generated(
    adjacency: sparse.csr_array, features: Features, labels: NDArray[np.int64], name: str
) -> Graph:
    """Return a graph whose node ids are positions and whose classes are numbers."""
    return Graph(
        adjacency=adjacency,
        features=features,
        node_ids=np.arange(len(labels)),
        labels=labels,
        classes=np.unique(labels),
        name=name,
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
