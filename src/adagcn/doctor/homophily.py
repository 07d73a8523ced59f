"""Whether neighbors have the same label more often than chance would have it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adagcn.doctor.intervals import Estimate
from adagcn.graph import Graph

N_BOOTSTRAPS = 200
MOST_EDGES = 200_000  # of a bootstrap; the estimates themselves take all edges


@dataclass(frozen=True)
class Homophily:
    """How labels mix along the edges between labeled nodes; self-loops do not count.

    An undirected edge counts once and a directed one as it is, whatever their weights. With m such
    edges, M_kl of them from class k to class l (each half for k, l and half for l, k if
    undirected), row sums r and column sums s:

    Parameters
    ----------
    n_edges : int
        m.
    edge : Estimate
        h = Σ_k M_kk / m, the share of edges within a class.
    chance : float
        What h would be on average if the same labels were dealt to the labeled nodes at random:
        Σ_k n_k (n_k − 1) / n (n − 1), with n_k labels of class k. Exact for any graph.
    degree_chance : float
        What it would be if every node kept its label and degree and the edges were rewired at
        random: e = Σ_k r_k s_k / m². Above ``chance`` where one class has most of the edges.
    adjusted : Estimate or None
        (h − e) / (1 − e): 0 is chance and 1 perfect homophily, whatever the class sizes. O.
        Platonov et al., "Characterizing graph datasets for node classification:
        homophily-heterophily dichotomy and beyond", NeurIPS 2023. None where all edges lie
        within one class.
    class_insensitive : float or None
        Σ_k max(0, M_kk / r_k − n_k / n) / (C − 1). D. Lim et al., "Large scale learning on
        non-homophilous graphs", NeurIPS 2021. None with a single class.
    bootstrap_edges : int
        Edges behind the intervals: all, or so many drawn ones. Nodes are resampled, and an edge
        counts as often as both its ends were drawn (T. Snijders and S. Borgatti, "Non-parametric
        standard errors and tests for network statistics", Connections 22, 1999), since edges that
        share a node are not independent.
    """

    n_edges: int
    edge: Estimate
    chance: float
    degree_chance: float
    adjusted: Estimate | None
    class_insensitive: float | None
    bootstrap_edges: int


@dataclass(frozen=True)
class _LabeledEdges:
    """The ends of the edges between labeled nodes, and their classes."""

    ends: NDArray[np.intp]
    classes: NDArray[np.int64]
    n_classes: int
    directed: bool

    def mixing(self, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return M, with a weight for each edge."""
        cells = self.classes[0] * self.n_classes + self.classes[1]
        counts = np.bincount(cells, weights=weight, minlength=self.n_classes**2)
        table = counts.reshape(self.n_classes, self.n_classes).astype(np.float64)
        return table if self.directed else (table + table.T) / 2


def homophily_of(graph: Graph, *, rng: np.random.Generator) -> Homophily | None:
    """Return how labels mix along edges; None if no edge joins two labeled nodes."""
    edges = _labeled_edges(graph)
    n_edges = edges.ends.shape[1]
    if not n_edges:
        return None
    sizes = np.bincount(graph.labels[graph.labeled_nodes], minlength=graph.n_classes)
    table = edges.mixing()
    home, chance = _home_and_chance(table)
    draws, n_drawn = _resampled(edges, graph.n_nodes, rng)
    return Homophily(
        n_edges=n_edges,
        edge=_with_interval(home, draws[:, 0]),
        chance=chance_of_dealt_labels(sizes),
        degree_chance=chance,
        adjusted=None if chance >= 1.0 else _with_interval(_adjusted(home, chance), draws[:, 1]),
        class_insensitive=_class_insensitive(table, sizes),
        bootstrap_edges=n_drawn,
    )


def chance_of_dealt_labels(sizes: NDArray[np.int64]) -> float:
    """Return the chance that two of the labeled nodes, drawn at random, have the same label."""
    n = float(sizes.sum())
    return float((sizes * (sizes - 1.0)).sum() / (n * (n - 1.0)))


def _labeled_edges(graph: Graph) -> _LabeledEdges:
    entries = graph.adjacency.tocoo()
    sources, targets = entries.row, entries.col
    once = sources != targets if graph.is_directed else sources < targets
    kept = once & (graph.labels[sources] >= 0) & (graph.labels[targets] >= 0)
    ends = np.stack([sources[kept], targets[kept]]).astype(np.intp)
    return _LabeledEdges(ends, graph.labels[ends], graph.n_classes, graph.is_directed)


def _home_and_chance(table: NDArray[np.float64]) -> tuple[float, float]:
    """Return h and e of a table of mixing."""
    total = table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    return float(np.trace(table) / total), float((rows * columns).sum() / total**2)


def _adjusted(home: float, chance: float) -> float:
    return (home - chance) / (1.0 - chance)


def _class_insensitive(table: NDArray[np.float64], sizes: NDArray[np.int64]) -> float | None:
    n_classes = int((sizes > 0).sum())
    if n_classes < 2:
        return None
    rows = table.sum(axis=1)
    own = np.divide(table.diagonal(), rows, out=np.zeros(len(rows)), where=rows > 0)
    excess = np.maximum(0.0, own - sizes / sizes.sum())
    return float(excess[rows > 0].sum() / (n_classes - 1))


def _resampled(
    edges: _LabeledEdges, n_nodes: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], int]:
    """Return h and adjusted h of each bootstrap draw, and how many edges stand behind them."""
    n_edges = edges.ends.shape[1]
    if n_edges > MOST_EDGES:
        some = np.sort(rng.choice(n_edges, MOST_EDGES, replace=False))
        edges = _LabeledEdges(
            edges.ends[:, some], edges.classes[:, some], edges.n_classes, edges.directed
        )
    nodes, places = np.unique(edges.ends, return_inverse=True)
    places = places.reshape(edges.ends.shape)
    found = []
    for _ in range(N_BOOTSTRAPS):
        drawn = np.bincount(rng.integers(len(nodes), size=len(nodes)), minlength=len(nodes))
        weight = (drawn[places[0]] * drawn[places[1]]).astype(np.float64)
        if weight.any():
            home, chance = _home_and_chance(edges.mixing(weight))
            found.append((home, _adjusted(home, chance) if chance < 1.0 else np.nan))
    return np.array(found).reshape(-1, 2), edges.ends.shape[1]


def _with_interval(value: float, draws: NDArray[np.float64]) -> Estimate:
    """Return an estimate with the percentiles of its bootstrap draws."""
    draws = draws[np.isfinite(draws)]
    if not len(draws):
        return Estimate(value, value, value)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(value, float(min(low, value)), float(max(high, value)))
