"""What the user hands to ``fit`` and ``predict``, checked, as features and row positions.

With a graph, X is node ids: rows of the graph's features, propagated by its adjacency. Without
one, X is a feature matrix: its own rows, every hop the same, with a
column of ones for a bias. Behind this file the two are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from adagcn.boosting.hop_boosting import LabeledNodes
from adagcn.data.cleaning import normalize_rows_l1
from adagcn.errors import InputError, shown
from adagcn.estimators import labels
from adagcn.estimators.settings import Settings
from adagcn.graph import Features, Graph
from adagcn.propagation.normalize import make_propagator


@dataclass(frozen=True)
class Rows:
    """Rows of a feature matrix, and what spreads features from row to row (``None``: nothing)."""

    features: Features
    propagator: sparse.csr_array | None
    positions: NDArray[np.intp]


@dataclass(frozen=True)
class FitProblem:
    """Everything that a fit needs."""

    features: Features
    propagator: sparse.csr_array | None
    nodes: LabeledNodes
    stop_labels: NDArray[np.int64] | None
    classes: NDArray[Any]
    feature_norm: str


def make_problem(  # noqa: PLR0913
    estimator: Any,
    settings: Settings,
    seed: int,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    X_val: ArrayLike | None,
    y_val: ArrayLike | None,
) -> FitProblem:
    """Return the checked problem behind a call of ``fit``."""
    if (X_val is None) != (y_val is None):
        raise InputError(
            "AGC-I631",
            "X_val and y_val go together",
            got="X_val alone" if y_val is None else "y_val alone",
            fix="pass the stopping nodes and their labels, or neither",
        )
    if estimator.graph is None:
        features, y, train, stop = _matrix_rows(estimator, X, y, X_val)
        propagator, norm = None, _matrix_norm(settings)
    else:
        train = _distinct(estimator.graph, X, "X")
        stop = None if X_val is None else _distinct(estimator.graph, X_val, "X_val")
        _refuse_overlap(estimator.graph, train, stop)
        norm = _resolved_norm(settings.feature_norm, estimator.graph)
        features = _normalized_features(estimator.graph, norm)
        propagator = _propagator(estimator.graph, settings, features)
    classes, encoded = labels.encode(labels.label_array(y, len(train), "y"))
    labels.check_classes(classes)
    weights = labels.starting_weights(sample_weight, estimator.class_weight, classes, encoded)
    nodes = LabeledNodes(train, encoded, weights, stop)
    if stop is not None and y_val is not None:
        stop_labels = labels.indices_of(
            labels.label_array(y_val, len(stop), "y_val"), classes, "y_val"
        )
        return FitProblem(features, propagator, nodes, stop_labels, classes, norm)
    nodes, held_out = _hold_out(nodes, settings.validation_fraction, seed)
    return FitProblem(features, propagator, nodes, held_out, classes, norm)


def rows_to_score(estimator: Any, X: ArrayLike, graph: Graph | None) -> Rows:
    """Return the checked rows behind a call of ``predict``."""
    if not estimator.on_graph_:
        if graph is not None:
            raise InputError(
                "AGC-I632",
                "this model was fitted on a feature matrix; graph cannot be used with it",
                got=graph,
                fix="fit with AdaGCNClassifier(graph) to classify nodes of a graph",
            )
        features = validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return Rows(_with_constant(features), None, np.arange(features.shape[0]))
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
    settings = Settings(**{k: v for k, v in estimator.params_.items() if k != "preset"})
    features = _normalized_features(graph, settings.feature_norm)
    return Rows(features, _propagator(graph, settings, features), graph.positions(X))


def seed_of(random_state: Any) -> int:
    """Return the number that all randomness of a fit comes from.

    An integer is itself; ``None`` is fresh from the operating system; a generator gives a draw.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise _bad_random_state(random_state)
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise _bad_random_state(random_state) from None


def _bad_random_state(random_state: Any) -> InputError:
    return InputError(
        "AGC-I635",
        "random_state must be a non-negative integer, a NumPy generator or None",
        got=random_state,
        fix="random_state=0 makes a fit repeatable",
    )


def _matrix_rows(
    estimator: Any, X: ArrayLike, y: ArrayLike, X_val: ArrayLike | None
) -> tuple[Features, NDArray[Any], NDArray[np.intp], NDArray[np.intp] | None]:
    """Return training and stopping samples as one matrix, with the rows of each."""
    features, labels = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64)
    n_train = features.shape[0]
    if X_val is None:
        return _with_constant(features), labels, np.arange(n_train), None
    more = validate_data(estimator, X_val, reset=False, accept_sparse="csr", dtype=np.float64)
    stack = sparse.vstack if sparse.issparse(features) or sparse.issparse(more) else np.vstack
    both = stack([features, more])
    return _with_constant(both), labels, np.arange(n_train), np.arange(n_train, both.shape[0])


def _with_constant(features: Any) -> Features:
    """Return the matrix with a column of ones behind it.

    The learners have no biases, which suits normalized features of a graph; samples of a plain
    table may lie anywhere.
    """
    ones = np.ones((features.shape[0], 1))
    if sparse.issparse(features):
        return sparse.csr_array(sparse.hstack([features, ones], format="csr"))
    return np.hstack([features, ones])


def _matrix_norm(settings: Settings) -> str:
    if settings.feature_norm == "l1":
        raise InputError(
            "AGC-I636",
            "feature_norm needs a graph; a feature matrix is used as it is",
            got="l1",
            fix="put sklearn.preprocessing.Normalizer('l1') in front of the model",
        )
    return "none"


def _distinct(graph: Graph, ids: ArrayLike, argument: str) -> NDArray[np.intp]:
    """Return the positions of node ids of which none stands twice."""
    positions = graph.positions(ids)
    if len(positions) == 0:
        raise InputError(
            "AGC-I637",
            f"{argument} holds no nodes: 0 samples, and a minimum of 1 is required",
            got=ids,
            fix="pass the ids of labeled nodes",
        )
    values, counts = np.unique(positions, return_counts=True)
    if counts.max() > 1:
        raise InputError(
            "AGC-I638",
            f"{argument} holds {np.count_nonzero(counts > 1)} nodes more than once",
            got=graph.node_ids[values[counts > 1][:5]].tolist(),
            fix="pass every node once; sample_weight makes a node count for more",
        )
    return positions


def _refuse_overlap(graph: Graph, train: NDArray[np.intp], stop: NDArray[np.intp] | None) -> None:
    both = np.empty(0, dtype=np.intp) if stop is None else np.intersect1d(train, stop)
    if len(both):
        raise InputError(
            "AGC-I639",
            f"X and X_val share {len(both)} nodes",
            got=graph.node_ids[both[:5]].tolist(),
            fix="a node either trains or decides when to stop, not both",
        )


def _resolved_norm(feature_norm: str, graph: Graph) -> str:
    return (graph.feature_norm or "none") if feature_norm == "graph" else feature_norm


def _normalized_features(graph: Graph, feature_norm: str) -> Features:
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


def _propagator(graph: Graph, settings: Settings, features: Features) -> sparse.csr_array:
    return make_propagator(graph.adjacency, settings.normalization, dtype=features.dtype)


def _hold_out(
    nodes: LabeledNodes, fraction: float, seed: int
) -> tuple[LabeledNodes, NDArray[np.int64] | None]:
    """Set a share of the labeled nodes aside for stopping, the classes in proportion."""
    if fraction == 0.0:
        return nodes, None
    try:
        kept, held = train_test_split(
            np.arange(len(nodes.labels)),
            test_size=fraction,
            stratify=nodes.labels,
            random_state=np.random.RandomState(seed % 2**32),
        )
    except ValueError as error:
        raise InputError(
            "AGC-I641",
            f"validation_fraction cannot be set aside from {len(nodes.labels)} labeled nodes: "
            f"{error}",
            got=fraction,
            fix="pass X_val and y_val, or validation_fraction=0",
        ) from None
    remaining = LabeledNodes(
        nodes.train_nodes[kept],
        nodes.labels[kept],
        nodes.sample_weight[kept],
        nodes.train_nodes[held],
    )
    return remaining, nodes.labels[held]
