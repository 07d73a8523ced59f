"""The feature columns of another graph, matched with those that a model was fitted on.

Columns with names are matched by name, columns without by number and order. Where every node of the
graph is a column, the stand-in for no features, columns are matched by the ids of the nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, OtherGraphWarning, counted, shown
from adagcn.formats.frozen import content_digest
from adagcn.graph import Graph


def remember_columns(estimator: Any, graph: Graph) -> None:
    """Keep of a graph what tells its columns from those of another one."""
    estimator.n_features_in_ = graph.n_features
    estimator.node_columns_ = node_columns(graph)
    vars(estimator).pop("feature_names_in_", None)
    if graph.feature_names is not None:
        estimator.feature_names_in_ = graph.feature_names.astype(object)


def columns_as_fitted(estimator: Any, graph: Graph) -> Graph:
    """Return a graph with the feature columns that a model was fitted on, in the same order.

    Raises
    ------
    InputError
        If columns are missing, or there are others of the same number without names.
    """
    if estimator.node_columns_ is not None and graph.has_node_columns:
        graph = _with_the_same_node_columns(estimator, graph)
    elif (estimator.node_columns_ is not None) != graph.has_node_columns and (
        graph.input_digest != estimator.input_digest_
    ):
        raise other_node_columns(graph)
    graph = matched_by_name(getattr(estimator, "feature_names_in_", None), graph)
    if graph.n_features != estimator.n_features_in_:
        raise InputError(
            "AGC-I634",
            f"the model was fitted on {estimator.n_features_in_} features per node",
            got=f"a graph with {graph.n_features}",
            fix="pass a graph whose feature columns are those of the fit, in the same order",
        )
    return graph


def matched_by_name(names: Sequence[str] | NDArray[Any] | None, graph: Graph) -> Graph:
    """Return the graph with its columns in the order of ``names``, and say what was changed.

    A sparse table lists only what is not zero: a column that it lacks is zero for all nodes.

    Raises
    ------
    InputError
        If a column is missing, unless the features are sparse and have at least one of them.
    """
    if names is None or graph.feature_names is None or np.array_equal(names, graph.feature_names):
        return graph
    wanted = [str(name) for name in names]
    place = {name: i for i, name in enumerate(graph.feature_names.tolist())}
    missing = [name for name in wanted if name not in place]
    is_sparse = sparse.issparse(graph.features)
    if missing and (not is_sparse or len(missing) == len(wanted)):
        raise InputError(
            "AGC-I647",
            f"the graph lacks {counted(len(missing), 'feature column')} that the model was fitted "
            f"on: {shown(missing[:5])}",
            got=graph.feature_names[:5].tolist(),
            fix="give the table with the column names of the fit",
        )
    known = set(wanted)
    extra = [name for name in place if name not in known]
    _tell(wanted, graph.feature_names.tolist(), missing, extra)
    features = graph.features
    if missing:
        column = sparse.csr_array((graph.n_nodes, 1), dtype=features.dtype)
        features = sparse.csr_array(sparse.hstack([features, column], format="csr"))
    order = np.array([place.get(name, graph.n_features) for name in wanted])
    return replace(graph, features=features[:, order], feature_names=np.array(wanted, dtype=str))


def _tell(wanted: list[str], there: list[str], missing: list[str], extra: list[str]) -> None:
    """Warn of what is done to the columns."""
    done = []
    shared = set(wanted) & set(there)
    if [name for name in wanted if name in shared] != [name for name in there if name in shared]:
        done.append("feature columns were put in the order of the fit, by name")
    if extra:
        done.append(f"{counted(len(extra), 'column')} that the model does not know left out: ")
        done[-1] += shown(extra[:5])
    if missing:
        done.append(f"{counted(len(missing), 'column')} that no node has are zero: ")
        done[-1] += shown(missing[:5])
    warnings.warn("; ".join(done), OtherGraphWarning, stacklevel=6)


def node_columns(graph: Graph | None) -> str | None:
    """Return the digest of the nodes whose columns stand in for features; None if none do."""
    if graph is None or isinstance(graph.features, np.ndarray) or not graph.has_node_columns:
        return None
    return content_digest([graph.node_ids, graph.features.indices])


def other_node_columns(graph: Graph) -> InputError:
    """Return the error for a graph whose columns are other nodes than those of the fit."""
    return InputError(
        "AGC-I646",
        "without features each node of a graph is a column, and the columns of this graph are not "
        "those that the model was fitted on",
        got=graph,
        fix="give features, or in Python load the model with the graph that it was fitted on and "
        "pass this one to predict",
    )


def _with_the_same_node_columns(estimator: Any, graph: Graph) -> Graph:
    """Return another graph with the columns of the nodes that a model was fitted on.

    A node that is new has no column of its own: it is known by its neighbors alone.
    """
    if node_columns(graph) == estimator.node_columns_:
        return graph
    fitted_on = estimator.graph
    if node_columns(fitted_on) != estimator.node_columns_:
        raise other_node_columns(graph)
    known = np.flatnonzero(np.isin(graph.node_ids, fitted_on.node_ids))
    columns = fitted_on.features.indices[fitted_on.positions(graph.node_ids[known])]
    ones = np.ones(len(known), dtype=graph.features.dtype)
    shape = (graph.n_nodes, fitted_on.n_features)
    return replace(graph, features=sparse.csr_array((ones, (known, columns)), shape=shape))
