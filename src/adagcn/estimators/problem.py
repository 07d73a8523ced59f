"""What the user hands to ``fit`` and ``predict``, checked, as features and row positions.

With a graph, X is node ids: rows of the graph's features, propagated by its adjacency. Without
one, X is a feature matrix: its own rows, every hop the same, with a
column of ones for a bias. Behind this file the two are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from adagcn.boosting.adoption import NONE_ADOPTED, Adoption, draw_nodes
from adagcn.boosting.hop_boosting import LabeledNodes
from adagcn.errors import InputError
from adagcn.estimators.graph_problem import (
    graph_to_score,
    normalized_features,
    resolved_norm,
)
from adagcn.estimators.node_labels import (
    GivenLabels,
    check_pair,
    checked_labels,
    node_positions,
)
from adagcn.estimators.settings import Settings, fitted_settings
from adagcn.graph import Features, Graph
from adagcn.propagation.hops import HopFeatures, hop_stream
from adagcn.propagation.normalize import Normalization, make_propagator
from adagcn.propagation.screening import strongest_columns


@dataclass(frozen=True)
class HopSource:
    """Features of all rows, and what spreads them from row to row (``None``: nothing)."""

    features: Features
    adjacency: sparse.csr_array | None
    normalization: Normalization
    teleport: float

    def hops(self) -> Iterator[HopFeatures]:
        """Stream the hops. Â belongs to the stream alone, which lets go of it when it can."""
        if self.adjacency is None:
            return hop_stream(None, self.features, teleport=self.teleport)
        return hop_stream(
            make_propagator(self.adjacency, self.normalization, dtype=self.features.dtype),
            self.features,
            teleport=self.teleport,
        )


@dataclass(frozen=True)
class Rows:
    """Rows to score."""

    source: HopSource
    positions: NDArray[np.intp]


@dataclass(frozen=True)
class FitProblem:
    """Everything that a fit needs."""

    source: HopSource
    nodes: LabeledNodes
    stop_labels: NDArray[np.int64] | None
    classes: NDArray[Any]
    feature_norm: str
    columns: NDArray[np.int64] | None
    adoption: Adoption


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
    """Return the checked problem behind a call of ``fit`` of a boosted model."""
    check_pair(X_val, y_val)
    if estimator.graph is None:
        features, y, train, stop = _matrix_rows(estimator, X, y, X_val)
        norm = _matrix_norm(settings)
    else:
        train, stop = node_positions(estimator.graph, X, X_val)
        norm = resolved_norm(settings.feature_norm, estimator.graph)
        features = normalized_features(estimator.graph, norm)
    columns = strongest_columns(features, settings.max_features)
    features = _kept(features, columns, with_constant=estimator.graph is None)
    given = GivenLabels(y, y_val, sample_weight, estimator.class_weight)
    fraction = settings.validation_fraction
    found = checked_labels(train, stop, given, validation_fraction=fraction, seed=seed)
    return FitProblem(
        source=_source(features, estimator.graph, settings),
        nodes=found.nodes,
        stop_labels=found.stop_labels,
        classes=found.classes,
        feature_norm=norm,
        columns=columns,
        adoption=_adoption(estimator.graph, settings, found.nodes, seed),
    )


def rows_to_score(estimator: Any, X: ArrayLike, graph: Graph | None) -> Rows:
    """Return the checked rows behind a call of ``predict`` of a boosted model."""
    settings = fitted_settings(estimator.params_)
    if not estimator.on_graph_:
        if graph is not None:
            raise InputError(
                "AGC-I632",
                "this model was fitted on a feature matrix; graph cannot be used with it",
                got=graph,
                fix="fit with AdaGCNClassifier(graph) to classify nodes of a graph",
            )
        features = validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=np.float64)
        features = _kept(features, estimator.columns_, with_constant=True)
        return Rows(_source(features, None, settings), np.arange(features.shape[0]))
    graph = graph_to_score(estimator, graph)
    features = normalized_features(graph, settings.feature_norm)
    features = _kept(features, estimator.columns_, with_constant=False)
    return Rows(_source(features, graph, settings), graph.positions(X))


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
        return features, labels, np.arange(n_train), None
    more = validate_data(estimator, X_val, reset=False, accept_sparse="csr", dtype=np.float64)
    stack = sparse.vstack if sparse.issparse(features) or sparse.issparse(more) else np.vstack
    both = stack([features, more])
    return both, labels, np.arange(n_train), np.arange(n_train, both.shape[0])


def _kept(
    features: Features, columns: NDArray[np.int64] | None, *, with_constant: bool
) -> Features:
    """Return the columns that the model looks at, and behind them, if asked, a column of ones."""
    kept = features if columns is None else features[:, columns]
    return _with_constant(kept) if with_constant else kept


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


def _adoption(graph: Graph | None, settings: Settings, nodes: LabeledNodes, seed: int) -> Adoption:
    """Return the unlabeled nodes to learn from; a feature matrix has no rows without a label."""
    too_shallow = settings.n_layers != "auto" and settings.n_layers <= settings.adopted_from
    if graph is None or settings.adopted_nodes == 0 or too_shallow:
        return NONE_ADOPTED
    parts = (
        [nodes.train_nodes] if nodes.stop_nodes is None else [nodes.train_nodes, nodes.stop_nodes]
    )
    return Adoption(
        draw_nodes(graph.n_nodes, np.concatenate(parts), settings.adopted_nodes, seed),
        settings.adopted_from,
        settings.adopted_weight,
        settings.adopted_sharpness,
    )


def _source(features: Features, graph: Graph | None, settings: Settings) -> HopSource:
    adjacency = None if graph is None else graph.adjacency
    return HopSource(features, adjacency, settings.normalization, settings.teleport)
