"""A fitted model, what it was asked about for its page, and what it answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.data.nodesets import Split
from adagcn.graph import Graph
from adagcn.report.graph_map import GraphMap, map_around
from adagcn.report.scored_nodes import ScoredNodes, score_nodes, staged_labels

N_HARDEST = 12
_N_SEEDS = 36  # of the map: the hardest nodes, and the least sure among the others


@dataclass(frozen=True)
class Examined:
    """A fitted model and its answers.

    Attributes
    ----------
    model : NodeClassifier
        The fitted model.
    graph : Graph
        The graph that it was asked about.
    split : Split
        Which nodes are scored, and which it was trained on. One named ``none`` scores every labeled
        node, and does not tell which of them the model was trained on.
    scored : ScoredNodes
        What it says of the scored nodes.
    map : GraphMap
        A part of the graph around nodes that are hard for it.
    staged : ndarray of shape (n_depths, n_scored + n_map)
        Labels after each layer: of the scored nodes, then of those on the map.
    staged_confidence : ndarray of shape (n_depths, n_scored + n_map)
        Their probabilities.
    """

    model: Any
    graph: Graph
    split: Split
    scored: ScoredNodes
    map: GraphMap
    staged: NDArray[np.intp]
    staged_confidence: NDArray[np.float64]

    @property
    def trained(self) -> NDArray[np.int64]:
        """Positions of the nodes that the model was trained on, as far as the split tells."""
        return self.split.train_nodes[:0] if self.split.name == "none" else self.split.train_nodes

    @property
    def n_stopped_on(self) -> int:
        """Number of nodes that the model was stopped on, as far as the split tells."""
        return 0 if self.split.name == "none" else len(self.split.stop_nodes)

    @property
    def n_scored(self) -> int:
        """Number of scored nodes."""
        return len(self.scored.nodes)


def examine(model: Any, graph: Graph, split: Split) -> Examined:
    """Ask a model about the scored nodes and about those on the map.

    Parameters
    ----------
    model : NodeClassifier
        Fitted.
    graph : Graph
        The graph to look the nodes up in.
    split : Split
        With at least one scored node, or with the name ``none``: every labeled node is scored.
    """
    nodes = graph.labeled_nodes if split.name == "none" else split.score_nodes
    scored = score_nodes(model, graph, nodes)
    surroundings = map_around(graph.adjacency, scored.nodes[_seeds(scored)])
    asked = np.concatenate([scored.nodes, surroundings.nodes])
    staged, confidence = staged_labels(model, graph, asked, scored.columns)
    return Examined(model, graph, split, scored, surroundings, staged, confidence)


def label_names(seen: Examined) -> dict[Any, str]:
    """Return the name of every label value that the model knows or a scored node has, in order."""
    labels = seen.graph.ids_and_labels(seen.scored.nodes)[1]
    values = np.union1d(labels, seen.model.classes_).tolist()
    return dict(zip(values, seen.scored.names, strict=True))


def _seeds(scored: ScoredNodes) -> NDArray[np.intp]:
    """Return the rows of the hardest nodes, and of the least sure ones among the others."""
    hardest = scored.hardest(N_HARDEST)
    by_margin = np.argsort(scored.margin, kind="stable")
    others = by_margin[~np.isin(by_margin, hardest)]
    return np.concatenate([hardest, others[: _N_SEEDS - len(hardest)]])
