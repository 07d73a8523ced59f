"""Graphs of other libraries, by their shape and without importing them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError
from adagcn.formats.columns import is_tensor, tensor_to_numpy
from adagcn.formats.edges import EdgeList
from adagcn.formats.node_ids import as_id_column


def is_networkx(value: Any) -> bool:
    """Return whether ``value`` is a graph of networkx."""
    return all(hasattr(value, name) for name in ("nodes", "edges", "adj", "is_multigraph"))


def is_pyg(value: Any) -> bool:
    """Return whether ``value`` is a ``Data`` object of PyTorch Geometric."""
    return hasattr(value, "edge_index") and hasattr(value, "num_nodes")


def networkx_edges(graph: Any, weight: str | None) -> EdgeList:
    """Return the edges of a networkx graph; those without the attribute ``weight`` weigh 1."""
    triples = [(u, v, data.get(weight, 1)) for u, v, data in graph.edges(data=True)]
    sources, targets, weights = ([edge[i] for edge in triples] for i in range(3))
    return EdgeList(
        as_id_column(sources, "the nodes of the networkx graph"),
        as_id_column(targets, "the nodes of the networkx graph"),
        np.array(weights) if weight is not None else None,
    )


def networkx_features(graph: Any, features: str | list[str]) -> NDArray[Any]:
    """Return one row per node from its attributes, numbers or vectors, side by side.

    Raises
    ------
    InputError
        If a node lacks an attribute or its length differs from the others'.
    """
    names = [features] if isinstance(features, str) else list(features)
    return np.hstack([_attribute_matrix(graph, name) for name in names])


def networkx_labels(graph: Any, label: str) -> NDArray[Any]:
    """Return the attribute ``label`` of each node, ``None`` where it is missing."""
    labels = np.empty(graph.number_of_nodes(), dtype=object)
    labels[:] = [attributes.get(label) for _, attributes in graph.nodes(data=True)]
    if all(value is None for value in labels):
        problem = f"no node of the networkx graph has the attribute {label!r}"
        raise InputError("AGC-I180", problem, fix="name the attribute that holds the labels")
    return labels


def pyg_edges(data: Any) -> EdgeList:
    """Return the edges of a PyTorch Geometric ``Data``, weighted by ``edge_weight`` if it has it.

    A one-dimensional ``edge_attr`` counts as weights; a wider one does not.
    """
    if data.edge_index is None:
        problem = "the PyTorch Geometric data has no edge_index"
        raise InputError("AGC-I181", problem, fix="convert its adjacency to edge_index first")
    sources, targets = tensor_to_numpy(data.edge_index)
    weights = next(filter(_is_weights, (getattr(data, n, None) for n in _PYG_WEIGHTS)), None)
    return EdgeList(
        as_id_column(sources, "edge_index"),
        as_id_column(targets, "edge_index"),
        None if weights is None else tensor_to_numpy(weights).reshape(-1),
        both_ways_expected=True,
    )


def pyg_labels(data: Any) -> NDArray[Any] | None:
    """Return the labels ``y``, one per node, or ``None``."""
    y = getattr(data, "y", None)
    return None if y is None else tensor_to_numpy(y)


_PYG_WEIGHTS = ("edge_weight", "edge_attr")


def _is_weights(value: Any) -> bool:
    return is_tensor(value) and (value.ndim == 1 or (value.ndim == 2 and value.shape[1] == 1))


def _attribute_matrix(graph: Any, name: str) -> NDArray[Any]:
    missing = [node for node, attributes in graph.nodes(data=True) if name not in attributes]
    if missing:
        problem = f"{len(missing):,} nodes of the networkx graph lack the attribute {name!r}"
        raise InputError("AGC-I182", problem, got=missing[:5])
    rows = [np.ravel(np.asarray(a[name])) for _, a in graph.nodes(data=True)]
    if len({len(row) for row in rows}) > 1:
        lengths = sorted({len(row) for row in rows})
        problem = f"the attribute {name!r} must have the same length at every node"
        raise InputError("AGC-I183", problem, got=lengths)
    return np.array(rows)
