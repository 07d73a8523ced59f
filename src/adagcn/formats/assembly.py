"""Brings edges, features and labels into one order of nodes: the fields of a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.adjacency import (
    Changes,
    EdgeRules,
    adjacency_from_edges,
    adjacency_from_matrix,
)
from adagcn.formats.columns import is_tensor, tensor_to_numpy
from adagcn.formats.edges import EdgeList
from adagcn.formats.labels import UNKNOWN, Encoded
from adagcn.formats.matrices import Matrix, as_csr
from adagcn.formats.node_ids import IdColumn, as_id_column, of_one_kind, union
from adagcn.formats.node_index import NodeIndex
from adagcn.formats.nodes import Nodes, NodeSource, read_nodes


@dataclass(frozen=True)
class Parts:
    """The checked fields of a graph, and what was changed while reading them."""

    adjacency: sparse.csr_array
    features: Matrix
    node_ids: NDArray[Any]
    labels: NDArray[np.int64]
    classes: NDArray[Any]
    changes: Changes = field(default_factory=Changes)


def parts_from_edges(edges: EdgeList, source: NodeSource, rules: EdgeRules) -> Parts:
    """Return the parts of a graph given by its edges.

    The order of the nodes is that of ``node_ids``, else of the feature table, else of the rows of
    an array (ids 0 to n − 1), else of the sorted ids in the edges.

    Raises
    ------
    InputError
        If the pieces do not fit together.
    """
    nodes = read_nodes(source)
    ids = _settled({"sources": edges.sources, "targets": edges.targets, **nodes.id_columns})
    index = NodeIndex(_node_order(ids, nodes))
    ends = _ends(index, ids["sources"]), _ends(index, ids["targets"])
    changes = Changes()
    n_nodes = len(index.node_ids)
    adjacency = adjacency_from_edges(
        ends,
        edges.weights,
        n_nodes,
        rules,
        changes,
        both_ways_expected=edges.both_ways_expected,
    )
    return _completed(adjacency, index, nodes, ids, changes)


def parts_from_matrix(adjacency: Any, source: NodeSource, rules: EdgeRules) -> Parts:
    """Return the parts of a graph given by its adjacency matrix; ids are 0 to n − 1 by default.

    Raises
    ------
    InputError
        If the pieces do not fit together.
    """
    nodes = read_nodes(source)
    changes = Changes()
    if not sparse.issparse(adjacency):
        adjacency = _dense_adjacency(adjacency)
    matrix = adjacency_from_matrix(as_csr(adjacency, "adjacency"), rules, changes)
    rows = as_id_column(np.arange(matrix.shape[0]), "adjacency")
    ids = _settled({"node_ids": rows, **nodes.id_columns})
    node_ids = ids["node_ids"].ids
    _check_length("node_ids", len(node_ids), matrix.shape[0])
    return _completed(matrix, NodeIndex(node_ids), nodes, ids, changes)


def _settled(columns: dict[str, IdColumn]) -> dict[str, IdColumn]:
    return dict(zip(columns, of_one_kind(list(columns.values())), strict=True))


def _node_order(ids: dict[str, IdColumn], nodes: Nodes) -> NDArray[Any]:
    given = ids.get("node_ids", ids.get("features"))
    if given is not None:
        return given.ids
    ends = union([ids["sources"], ids["targets"]])
    if nodes.n_rows is None:
        return ends
    if ends.size and (ends.dtype != np.int64 or ends[0] < 0 or ends[-1] >= nodes.n_rows):
        raise InputError(
            "AGC-I190",
            f"features or labels have {counted(nodes.n_rows, 'row')} without ids, but the ids in "
            f"the edges are not all between 0 and {nodes.n_rows - 1:,}",
            got=[*ends[:2].tolist(), *ends[2:][-2:].tolist()],
            fix="pass node_ids, the id of each row in order",
        )
    return np.arange(nodes.n_rows)


def _ends(index: NodeIndex, column: IdColumn) -> NDArray[np.intp]:
    return index.locate(column, column.argument)


def _completed(
    adjacency: sparse.csr_array,
    index: NodeIndex,
    nodes: Nodes,
    ids: dict[str, IdColumn],
    changes: Changes,
) -> Parts:
    if not len(index.node_ids):
        problem = "the graph has no nodes"
        raise InputError("AGC-I191", problem, got=0, fix="give at least one edge or node id")
    features = _aligned_features(nodes.features, ids.get("features"), index)
    if features is None:
        changes.note("no features given: each node is its own feature (identity matrix)")
        features = sparse.eye_array(len(index.node_ids), dtype=np.float32, format="csr")
    labels, classes = _aligned_labels(nodes.labels, ids.get("labels"), index)
    return Parts(adjacency, features, index.node_ids, labels, classes, changes)


def _aligned_features(
    features: Matrix | None, ids: IdColumn | None, index: NodeIndex
) -> Matrix | None:
    n_nodes = len(index.node_ids)
    if features is None:
        return None
    if ids is None:
        _check_length("features", features.shape[0], n_nodes)
        return features
    rows = np.full(n_nodes, -1, dtype=np.intp)
    rows[_rows_of(ids, index)] = np.arange(len(ids.codes))
    if (rows < 0).any():
        without = index.node_ids[rows < 0]
        problem = f"the feature table has no row for {counted(len(without), 'node')}"
        raise InputError("AGC-I192", problem, got=without[:5].tolist(), fix="add their rows")
    return features if np.array_equal(rows, np.arange(n_nodes)) else features[rows]


def _aligned_labels(encoded: Encoded | None, ids: IdColumn | None, index: NodeIndex) -> Encoded:
    labels = np.full(len(index.node_ids), UNKNOWN, dtype=np.int64)
    if encoded is None:
        return labels, np.empty(0, dtype=np.int64)
    values, classes = encoded
    if ids is None:
        _check_length("labels", len(values), len(labels))
        return values, classes
    labels[_rows_of(ids, index)] = values
    return labels, classes


def _rows_of(ids: IdColumn, index: NodeIndex) -> NDArray[np.intp]:
    positions = index.locate(ids, ids.argument)
    if len(ids.distinct) < len(ids.codes):
        counts = np.bincount(ids.codes)
        problem = f"{ids.argument} lists some nodes more than once"
        got = ids.distinct[counts > 1][:5].tolist()
        raise InputError("AGC-I193", problem, got=got, fix="keep one row per node")
    return positions


def _dense_adjacency(adjacency: Any) -> sparse.csr_array:
    dense = tensor_to_numpy(adjacency) if is_tensor(adjacency) else np.asarray(adjacency)
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        problem = "adjacency must be a sparse matrix or a square array of numbers"
        raise InputError("AGC-I194", problem, got=(type(adjacency).__name__, dense.shape))
    return sparse.csr_array(dense.astype(np.float64))  # SciPy has no matrices of float16


def _check_length(argument: str, length: int, n_nodes: int) -> None:
    if length != n_nodes:
        problem = f"{argument} must have one row for each of the {counted(n_nodes, 'node')}"
        raise InputError("AGC-I195", problem, got=length, fix="check that they belong together")
