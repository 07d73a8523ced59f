"""Graphs of other libraries, recognized by their attributes; nothing is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.columns import as_objects, is_tensor, tensor_to_numpy
from adagcn.formats.edges import EdgeList
from adagcn.formats.node_ids import as_id_column
from adagcn.formats.nodes import NodeSource

_PYG_WEIGHTS = ("edge_weight", "edge_attr")


def is_networkx(value: Any) -> bool:
    """Return whether ``value`` is a graph of networkx."""
    return all(hasattr(value, name) for name in ("nodes", "edges", "adj", "is_multigraph"))


def is_pyg(value: Any) -> bool:
    """Return whether ``value`` is a ``Data`` object of PyTorch Geometric."""
    return hasattr(value, "edge_index") and hasattr(value, "num_nodes")


def check_networkx(value: Any) -> None:
    """Refuse what is no graph of networkx."""
    if not is_networkx(value):
        problem = "graph must be a networkx graph"
        raise InputError("AGC-I185", problem, got=type(value).__name__, fix="use Graph.from_edges")


def check_pyg(value: Any) -> None:
    """Refuse what is no ``Data`` object of PyTorch Geometric."""
    if not is_pyg(value):
        problem = "data must be a Data object of PyTorch Geometric"
        raise InputError("AGC-I186", problem, got=type(value).__name__, fix="use Graph.from_edges")


def networkx_edges(graph: Any, weight: str | None) -> EdgeList:
    """Return the edges of a networkx graph; those without the attribute ``weight`` weigh 1."""
    ends = list(graph.edges())
    argument = "the networkx graph"
    weights = None
    if weight is not None:
        weights = np.array([1 if w is None else w for *_, w in graph.edges(data=weight)])
    return EdgeList(
        as_id_column(as_objects([source for source, _ in ends]), argument),
        as_id_column(as_objects([target for _, target in ends]), argument),
        weights,
        both_ways_expected=graph.is_directed(),
    )


def networkx_ids(graph: Any) -> NDArray[Any]:
    """Return the nodes of a networkx graph, in its order."""
    return as_objects(list(graph.nodes))


def networkx_features(graph: Any, names: Sequence[str]) -> NDArray[Any]:
    """Return one row per node from its attributes, numbers or vectors, side by side.

    Raises
    ------
    InputError
        If a node lacks an attribute or its length differs from the others'.
    """
    return np.hstack([_attribute_matrix(graph, name) for name in names])


def networkx_labels(graph: Any, name: str) -> NDArray[Any]:
    """Return an attribute of each node, ``None`` where it is missing.

    Raises
    ------
    InputError
        If no node has it.
    """
    labels = as_objects([attributes.get(name) for _, attributes in graph.nodes(data=True)])
    if all(value is None for value in labels):
        problem = f"no node of the networkx graph has the attribute {name!r}"
        raise InputError("AGC-I180", problem, fix="give the attribute that holds the labels")
    return labels


def pyg_edges(data: Any) -> EdgeList:
    """Return the edges of a PyTorch Geometric ``Data``, weighted by ``edge_weight`` if present.

    An ``edge_attr`` of one column counts as weights; a wider one does not.

    Raises
    ------
    InputError
        If it has no ``edge_index``.
    """
    if data.edge_index is None:
        problem = "the PyTorch Geometric data has no edge_index"
        raise InputError("AGC-I181", problem, fix="convert its adjacency to edge_index first")
    if data.edge_index.ndim != 2 or data.edge_index.shape[0] != 2:
        problem = "edge_index must have two rows, sources and targets"
        raise InputError("AGC-I184", problem, got=tuple(data.edge_index.shape))
    sources, targets = tensor_to_numpy(data.edge_index)
    given = {name: getattr(data, name, None) for name in _PYG_WEIGHTS}
    weights = next(filter(_is_weights, given.values()), None)
    return EdgeList(
        as_id_column(sources, "edge_index"),
        as_id_column(targets, "edge_index"),
        None if weights is None else tensor_to_numpy(weights).reshape(-1),
        both_ways_expected=True,
        unread=tuple(n for n, value in given.items() if value is not None and value is not weights),
    )


def pyg_nodes(data: Any, given: NodeSource) -> NodeSource:
    """Return the nodes of a ``Data``: its ``x``, ``y`` and 0 to n − 1 where nothing is given."""
    own = {"features": getattr(data, "x", None), "labels": getattr(data, "y", None)}
    own["node_ids"] = np.arange(int(data.num_nodes))
    missing: dict[str, Any] = {k: v for k, v in own.items() if getattr(given, k) is None}
    return replace(given, **missing)


def _is_weights(value: Any) -> bool:
    return is_tensor(value) and (value.ndim == 1 or (value.ndim == 2 and value.shape[1] == 1))


def _attribute_matrix(graph: Any, name: str) -> NDArray[Any]:
    missing = [node for node, attributes in graph.nodes(data=True) if name not in attributes]
    if missing:
        problem = (
            f"{counted(len(missing), 'node')} of the networkx graph without attribute {name!r}"
        )
        fix = "give every node the attribute"
        raise InputError("AGC-I182", problem, got=missing[:5], fix=fix)
    rows = [np.ravel(np.asarray(a[name])) for _, a in graph.nodes(data=True)]
    if len({len(row) for row in rows}) > 1:
        problem = f"the attribute {name!r} must have the same length at every node"
        raise InputError("AGC-I183", problem, got=sorted({len(row) for row in rows}))
    return np.array(rows)
