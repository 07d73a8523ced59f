"""What ``fit`` and ``predict`` of a system on a graph hand on: its problem, or nodes to score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adagcn.baselines.settings import SystemSettings
from adagcn.baselines.system import GraphInput, NodeProblem
from adagcn.boosting.hop_boosting import LabeledNodes
from adagcn.data.cleaning import normalize_rows_l1
from adagcn.errors import InputError, shown
from adagcn.estimators.node_labels import (
    GivenLabels,
    check_pair,
    checked_labels,
    node_positions,
)
from adagcn.graph import Features, Graph


@dataclass(frozen=True)
class GraphFit:
    """The problem of a system on a graph, and what the estimator remembers of it."""

    problem: NodeProblem
    classes: NDArray[Any]
    feature_norm: str


def make_graph_fit(  # noqa: PLR0913
    estimator: Any,
    settings: SystemSettings,
    seed: int,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    X_val: ArrayLike | None,
    y_val: ArrayLike | None,
) -> GraphFit:
    """Return the checked problem behind a call of ``fit`` of a system of ``baselines``."""
    check_pair(X_val, y_val)
    graph = estimator.graph
    if graph is None:
        name = type(estimator).__name__
        raise InputError(
            "AGC-I1020",
            f"{name} needs a graph: X is ids of its nodes",
            got="graph=None",
            fix=f"{name}(graph).fit(ids, labels)",
        )
    train, stop = node_positions(graph, X, X_val)
    norm = resolved_norm(settings.feature_norm, graph)
    inputs = _graph_input(graph, norm)
    given = GivenLabels(y, y_val, sample_weight, estimator.class_weight)
    fraction = settings.validation_fraction
    found = checked_labels(train, stop, given, validation_fraction=fraction, seed=seed)
    n_classes = len(found.classes)
    problem = NodeProblem(inputs, _weighted_only(found.nodes), found.stop_labels, n_classes)
    return GraphFit(problem, found.classes, norm)


def nodes_to_score(
    estimator: Any, X: ArrayLike, graph: Graph | None
) -> tuple[GraphInput, NDArray[np.intp]]:
    """Return the graph and the positions behind a call of ``predict`` of a system."""
    graph = graph_to_score(estimator, graph)
    positions = graph.positions(X)
    return _graph_input(graph, estimator.params_["feature_norm"]), positions


def graph_to_score(estimator: Any, graph: Graph | None) -> Graph:
    """Return the graph to look nodes up in, one that the model can read."""
    graph = estimator.graph if graph is None else graph
    if graph is None:
        raise InputError(
            "AGC-I633",
            "the model needs a graph to look nodes up in",
            got=None,
            fix="load it with load(path, graph=graph), or call predict(ids, graph=graph)",
        )
    if graph.n_features != estimator.n_features_in_:
        raise InputError(
            "AGC-I634",
            f"the model was fitted on {estimator.n_features_in_} features per node",
            got=f"a graph with {graph.n_features}",
            fix="pass a graph whose feature columns are those of the fit, in the same order",
        )
    return graph


def resolved_norm(feature_norm: str, graph: Graph) -> str:
    """Return what the rows of features are to be divided by, "graph" made explicit."""
    return (graph.feature_norm or "none") if feature_norm == "graph" else feature_norm


def normalized_features(graph: Graph, feature_norm: str) -> Features:
    """Return the graph's features with rows divided as the model wants them."""
    if feature_norm == (graph.feature_norm or "none"):
        return graph.features
    if feature_norm == "l1":
        return normalize_rows_l1(graph.features)
    raise InputError(
        "AGC-I640",
        "feature_norm='none' wants features as they were measured",
        got=f"a graph whose rows were divided by their {shown(graph.feature_norm)} norm",
        fix="use feature_norm='l1', or load the graph without cleaning",
    )


def _weighted_only(nodes: LabeledNodes) -> LabeledNodes:
    """Return the nodes without those of weight zero, the other weights summing to one."""
    kept = nodes.sample_weight > 0.0
    weights = nodes.sample_weight[kept]
    return LabeledNodes(
        nodes.train_nodes[kept], nodes.labels[kept], weights / weights.sum(), nodes.stop_nodes
    )


def _graph_input(graph: Graph, feature_norm: str) -> GraphInput:
    return GraphInput(normalized_features(graph, feature_norm), graph.adjacency, graph.node_ids)
