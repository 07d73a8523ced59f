"""What the user hands to ``fit`` and ``predict``, checked, as features and row positions.

With a graph, X is node ids: rows of the graph's features, propagated by its adjacency. Without one,
X is a feature matrix: its own rows, every hop the same, with a column of ones for a bias. Behind
this file the two are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from adagcn.boosting.fit_state import LabeledNodes
from adagcn.boosting.pseudo_labels import NO_PSEUDO_LABELS, PseudoLabels, draw_nodes
from adagcn.engines.memory import usable_memory
from adagcn.errors import InputError, IntegrityError, shown
from adagcn.formats.frozen import content_digest
from adagcn.formats.row_norms import hellinger_rows, normalize_rows_l1
from adagcn.graph import Features, Graph
from adagcn.models.support.boosted_settings import BoostedSettings
from adagcn.models.support.column_scale import column_scale, needs_scaling, scaled_columns
from adagcn.models.support.feature_columns import columns_as_fitted
from adagcn.models.support.labels import FitCall, labeled_nodes, node_positions
from adagcn.propagation.blocks import ROOM_OF_A_HOP
from adagcn.propagation.coordinates import spectral_coordinates
from adagcn.propagation.hops import blocks_of
from adagcn.propagation.scaling import check_magnitude
from adagcn.propagation.screening import strongest_columns
from adagcn.propagation.source import HopSource, MemorySource

if TYPE_CHECKING:
    from adagcn.propagation.stored_hops import StoredSource


@dataclass(frozen=True)
class FitData:
    """What a fit reads: features of all rows, and which of them are labeled.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_rows, n_features)
        Rows divided as the model wants them.
    feature_norm : str
        What they were divided by.
    digest : str
        SHA-256 of graph and features.
    nodes : LabeledNodes
        As they were given.
    classes : ndarray of shape (n_classes,)
        Label values.
    node_ids : callable
        Gives the user's ids of rows at some positions.
    """

    features: Features
    feature_norm: str
    digest: str
    nodes: LabeledNodes
    classes: NDArray[Any]
    node_ids: Callable[[NDArray[Any]], NDArray[Any]]


def fit_data(
    estimator: Any, feature_norm: str, call: FitCall, *, row_by_row: bool = False
) -> FitData:
    """Return the checked data behind a call of ``fit``.

    With ``row_by_row``, features of a stored graph stay in their files until rows are asked for.
    """
    graph = estimator.graph
    if graph is None:
        return _matrix_data(estimator, feature_norm, call)
    train, stop = node_positions(graph, call.X, call.X_val)
    norm = resolved_norm(feature_norm, graph)
    features = normalized_features(graph, norm) if not row_by_row else feature_rows(graph, norm)
    nodes, classes = labeled_nodes(train, stop, call, estimator.class_weight)
    return FitData(features, norm, graph.input_digest, nodes, classes, graph.node_ids.__getitem__)


def _matrix_data(estimator: Any, feature_norm: str, call: FitCall) -> FitData:
    """Return training and stopping samples as one matrix, with the rows of each."""
    if feature_norm in ("l1", "hellinger", "standard"):
        before = "StandardScaler()" if feature_norm == "standard" else "Normalizer('l1')"
        raise InputError(
            "AGC-I636",
            "feature_norm needs a graph; a feature matrix is used as it is",
            got=feature_norm,
            fix=f"put sklearn.preprocessing.{before} in front of the model",
        )
    features, y = _validated(estimator, call.X, y=call.y)
    check_magnitude(features)
    train, stop = np.arange(features.shape[0]), None
    if call.X_val is not None:
        more = _validated(estimator, call.X_val, reset=False)
        if sparse.issparse(features) or sparse.issparse(more):
            features = sparse.vstack([features, more], format="csr")
        else:
            features = np.vstack([features, more])
        stop = np.arange(len(train), features.shape[0])
    checked = replace(call, y=y)
    nodes, classes = labeled_nodes(train, stop, checked, estimator.class_weight)
    return FitData(features, "none", content_digest([features]), nodes, classes, np.asarray)


def _validated(estimator: Any, X: ArrayLike, **how: Any) -> Any:
    """Return a feature matrix as scikit-learn checks it, its refusals as errors of ours."""
    try:
        return validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, **how)
    except ValueError as error:
        problem, *rest = str(error).splitlines()
        gaps = "fill them in first, for example with sklearn.impute.SimpleImputer"
        fix = gaps if "NaN" in problem else rest[-1].rstrip(".") if rest else None
        raise InputError("AGC-I650", problem.rstrip(".:"), fix=fix) from None


def kept_columns(
    features: Features, graph: Graph | None, settings: BoostedSettings
) -> NDArray[np.int64] | None:
    """Return the feature columns that a boosted model looks at; None for all.

    Columns that stand for the nodes themselves are equally strong: to keep some of them would be to
    keep the first nodes.
    """
    if graph is not None and graph.has_node_columns:
        return None
    assert settings.max_features != "auto"
    return strongest_columns(blocks_of(features), features.shape[1], settings.max_features)


def node_coordinates(graph: Graph | None, settings: BoostedSettings) -> NDArray[np.float32] | None:
    """Return what stands for each column of a graph without features; None if columns stay.

    They stay if ``max_features`` allows as many, or the graph is not of one piece.
    """
    if graph is None or isinstance(graph.features, np.ndarray) or not graph.has_node_columns:
        return None
    assert settings.max_features != "auto"
    if settings.max_features == "all" or settings.max_features >= graph.n_nodes:
        return None
    coordinates = spectral_coordinates(graph.adjacency)
    if coordinates is None:
        return None
    by_column = np.empty_like(coordinates)
    by_column[graph.features.indices] = coordinates
    return by_column


def hop_source(
    features: Features,
    columns: NDArray[np.int64] | None,
    coordinates: NDArray[np.float32] | None,
    graph: Graph | None,
    settings: BoostedSettings,
) -> MemorySource:
    """Return the hops of the columns that a model looks at, or of what stands for them."""
    kept = features if columns is None else features[:, columns]
    if coordinates is not None:
        kept = np.asarray(features @ coordinates)  # a row has a single 1: a node's coordinates
    if graph is None:
        kept = _with_constant(kept)
    adjacency = None if graph is None else graph.adjacency
    assert settings.teleport != "auto"
    return MemorySource(kept, adjacency, settings.variant.normalization, settings.teleport)


def stored_source(
    graph: Graph | None,
    columns: NDArray[np.int64] | None,
    settings: BoostedSettings,
    scale: NDArray[np.float64] | None = None,
) -> StoredSource | None:
    """Return hops that are computed in files; None if the graph is in memory."""
    if graph is None or graph.store is None:
        return None
    from adagcn.formats.graph_store import read_manifest
    from adagcn.propagation.stored_hops import StoredSource

    if read_manifest(graph.store).input_digest != graph.input_digest:
        raise IntegrityError(
            "AGC-G1432",
            f"the store {str(graph.store)!r} holds another graph than when it was opened",
            got=repr(graph),
            fix="open it again with Graph.from_store",
        )
    prepare = row_preparation(graph, settings.feature_norm, scale)
    named: str = settings.feature_norm
    if isinstance(prepare, partial):
        named += content_digest(prepare.keywords.values())
    assert settings.teleport != "auto"
    normalization = settings.variant.normalization
    return StoredSource(graph.store, prepare, named, columns, normalization, settings.teleport)


def rows_to_score(
    estimator: Any, X: ArrayLike, graph: Graph | None, settings: BoostedSettings
) -> tuple[HopSource, NDArray[np.intp]]:
    """Return the hops and the rows of them behind a call of ``predict`` of a boosted model."""
    if estimator.on_graph_:
        graph = graph_to_score(estimator, graph)
        stored = source_to_score(estimator, graph, settings)
        if stored is not None:
            return stored, graph.positions(X, "X")
        source: HopSource = graph_source(estimator, graph, settings)
        kept = vars(estimator).get("kept_hops_")
        if kept is not None:
            source = kept.updated(source, graph.node_ids)
        return source, graph.positions(X, "X")
    return matrix_rows(estimator, X, graph, settings)


def source_to_score(estimator: Any, graph: Graph, settings: BoostedSettings) -> StoredSource | None:
    """Return the hops in files that a graph is predicted with; None if it is in memory."""
    if estimator.coordinates_ is not None:
        return None
    return stored_source(graph, estimator.columns_, settings, estimator.column_scale_)


def matrix_rows(
    estimator: Any, X: ArrayLike, graph: Graph | None, settings: BoostedSettings
) -> tuple[MemorySource, NDArray[np.intp]]:
    """Return the same of a model that was fitted on a feature matrix."""
    if graph is not None:
        raise InputError(
            "AGC-I632",
            "this model was fitted on a feature matrix; graph cannot be used with it",
            got=graph,
            fix="fit with AdaGCNClassifier(graph) to classify nodes of a graph",
        )
    features = _validated(estimator, X, reset=False)
    source = hop_source(features, estimator.columns_, None, None, settings)
    return source, np.arange(features.shape[0])


def graph_source(estimator: Any, graph: Graph, settings: BoostedSettings) -> MemorySource:
    """Return the hops of a graph whose columns are those of the fit."""
    features = normalized_features(graph, settings.feature_norm, estimator.column_scale_)
    return hop_source(features, estimator.columns_, estimator.coordinates_, graph, settings)


def pseudo_labels_of(
    graph: Graph | None, settings: BoostedSettings, nodes: LabeledNodes, seed: int
) -> PseudoLabels:
    """Return the unlabeled nodes to learn from; a feature matrix has no rows without a label."""
    variant, n_nodes = settings.variant, settings.pseudo_labels
    if graph is None or n_nodes in (0, "auto") or _never_matter(settings):
        return NO_PSEUDO_LABELS
    parts = (nodes.train_nodes, nodes.stop_nodes)
    labeled = np.concatenate([part for part in parts if part is not None])
    return PseudoLabels(
        draw_nodes(graph.n_nodes, labeled, int(n_nodes), seed),
        variant.pseudo_label_from,
        variant.pseudo_label_weight,
        variant.pseudo_label_sharpness,
    )


def _never_matter(settings: BoostedSettings) -> bool:
    """Return whether a fit is too shallow for pseudo-labels, and so would a longer one be so far.

    Where node weights move, the rows of unlabeled nodes are asked about from the first layer on all
    the same: they stand in one product with the training rows, whose last bits depend on it, and a
    fit that goes on later must be the fit in one go.
    """
    deep = settings.n_layers == "auto" or settings.n_layers > settings.variant.pseudo_label_from
    return not deep and settings.reweight_rate == 0.0 and settings.combine != "samme"


def checked_graph(graph: Any) -> Graph | None:
    """Return the graph, or say what is one."""
    if graph is not None and not isinstance(graph, Graph):
        raise InputError(
            "AGC-I645",
            "graph must be a Graph",
            got=graph,
            fix="use load_dataset('cora') for a named data set, Graph.from_networkx(g) or another "
            "Graph.from_… constructor for your own",
        )
    return graph


def graph_to_score(estimator: Any, graph: Graph | None) -> Graph:
    """Return the graph to look nodes up in, one that the model can read."""
    graph = checked_graph(estimator.graph if graph is None else graph)
    if graph is None:
        raise InputError(
            "AGC-I633",
            "the model needs a graph to look nodes up in",
            got=None,
            fix="load it with load(path, graph=graph), or call predict(ids, graph=graph)",
        )
    return columns_as_fitted(estimator, graph)


def resolved_norm(feature_norm: str, graph: Graph) -> str:
    """Return what is done to the features, "graph" made explicit.

    It leaves the features as they are, unless their columns differ so much in size that a network
    could not learn.
    """
    if feature_norm != "graph":
        return feature_norm
    if graph.feature_norm is None:
        check_magnitude(graph.features)  # past that, they are no measurements
        if needs_scaling(graph):
            return "standard"
    return graph.feature_norm or "none"


def fitted_scale(graph: Graph | None, feature_norm: str) -> NDArray[np.float64] | None:
    """Return by what the columns of the graph of a fit are scaled; None if they are not."""
    return (
        column_scale(graph.features) if graph is not None and feature_norm == "standard" else None
    )


def feature_rows(graph: Graph, feature_norm: str) -> Any:
    """Return the graph's features as the model wants them; of a store, made when asked for."""
    if graph.store is None:
        return normalized_features(graph, feature_norm)
    prepare = row_preparation(graph, feature_norm, None)
    if prepare is None:
        return normalized_features(graph, feature_norm)  # as they are
    from adagcn.propagation.hop_steps import InputRows

    return InputRows(graph.store, prepare, None, sparse.issparse(graph.features))


def fits_into_memory(graph: Graph) -> bool:
    """Return whether a fit on a stored graph could be done in half of the machine's memory."""
    n_values = graph.n_nodes * graph.n_features
    return look_fits(n_values * graph.features.dtype.itemsize, graph.adjacency.nnz)


def look_fits(hop_bytes: float, n_stored: int) -> bool:
    """Return the same, from the bytes of a dense hop and the stored values of the adjacency."""
    there_is = usable_memory()
    return there_is is None or ROOM_OF_A_HOP * hop_bytes + 12.0 * n_stored <= there_is / 2


def row_preparation(
    graph: Graph, feature_norm: str, scale: NDArray[np.float64] | None
) -> Callable[[Features], Features] | None:
    """Return what :func:`normalized_features` does to rows, each for itself; None for nothing."""
    if feature_norm == "standard" and graph.feature_norm is None:
        found = column_scale(graph.features) if scale is None else scale
        scaled: Callable[[Features], Features] = partial(scaled_columns, scale=found)
        return scaled
    if feature_norm == (graph.feature_norm or "none"):
        return None
    if feature_norm in ("l1", "hellinger"):
        return normalize_rows_l1 if feature_norm == "l1" else hellinger_rows
    raise _wants_measured(graph, feature_norm)


def normalized_features(
    graph: Graph, feature_norm: str, scale: NDArray[np.float64] | None = None
) -> Features:
    """Return the graph's features as the model wants them.

    ``scale`` is that of the fit; without one, the graph is the one of the fit.
    """
    if feature_norm == "standard" and graph.feature_norm is None:
        scaled = scaled_columns(
            graph.features, column_scale(graph.features) if scale is None else scale
        )
        check_magnitude(scaled)
        return scaled
    if feature_norm == (graph.feature_norm or "none"):
        check_magnitude(graph.features)
        return graph.features
    if feature_norm in ("l1", "hellinger"):
        divide = normalize_rows_l1 if feature_norm == "l1" else hellinger_rows
        with np.errstate(over="ignore", invalid="ignore"):  # the check says what is wrong
            divided: Features = divide(graph.features)
        check_magnitude(divided)
        return divided
    raise _wants_measured(graph, feature_norm)


def _wants_measured(graph: Graph, feature_norm: str) -> InputError:
    return InputError(
        "AGC-I640",
        f"feature_norm={feature_norm!r} wants features as they were measured",
        got=f"a graph whose rows were divided by their {shown(graph.feature_norm)} norm",
        fix="use feature_norm='l1', or load the graph without cleaning",
    )


def seed_of(random_state: Any) -> int:
    """Return the number that all randomness of a fit comes from.

    An integer is itself; ``None`` is fresh from the operating system; a generator gives a draw.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        if isinstance(random_state, bool | np.bool_):
            raise ValueError("a truth value is no seed")
        if isinstance(random_state, int | np.integer):
            np.random.SeedSequence(int(random_state))  # refuses a negative number
            return int(random_state)
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise InputError(
            "AGC-I635",
            "random_state must be a non-negative integer, a NumPy generator or None",
            got=random_state,
            fix="random_state=0 makes a fit repeatable",
        ) from None


def _with_constant(features: Any) -> Features:
    """Return the matrix with a column of ones behind it.

    The learners have no biases, which suits normalized features of a graph; samples of a plain
    table may lie anywhere.
    """
    ones = np.ones((features.shape[0], 1))
    if sparse.issparse(features):
        return sparse.csr_array(sparse.hstack([features, ones], format="csr"))
    return np.hstack([features, ones])


def torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    """Return float64 for float64 features and float32 for any other."""
    return torch.float64 if dtype == np.float64 else torch.float32


def checked_device(device: str) -> str:
    """Return the device if torch can use it here."""
    try:
        # Of None torch would make a device of its own choice; "meta" has no values.
        torch.empty(0, device=torch.device(device)).tolist()
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(
            "AGC-I642",
            f"device cannot be used here: {str(error).splitlines()[0]}",
            got=device,
            fix="use device='cpu'",
        ) from None
    return str(device)
