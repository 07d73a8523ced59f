"""Brings edges, features and labels into one order of nodes: the fields of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.adjacency import EdgeRules, adjacency_from_edges, adjacency_from_matrix
from adagcn.formats.changes import Changes
from adagcn.formats.edges import EdgeList
from adagcn.formats.gaps import filled
from adagcn.formats.labels import UNKNOWN, Encoded
from adagcn.formats.matrices import Matrix, as_csr, as_dense
from adagcn.formats.node_ids import (
    IdColumn,
    alike_but_for_spaces,
    as_id_column,
    first_few,
    of_one_kind,
    union,
)
from adagcn.formats.node_index import NodeIndex
from adagcn.formats.nodes import Nodes, NodeSource, read_nodes

NO_FEATURES = "no features given: each node stands for itself (identity matrix)"


class Index(Protocol):
    """Finds the positions of ids, in memory or in files."""

    @property
    def node_ids(self) -> Any:
        """The ids: an array, or what has its length, its type and slices of it."""

    def find(self, ids: NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of each id, −1 where there is none."""


@dataclass(frozen=True)
class Parts:
    """The checked fields of a graph, and what was changed while reading them."""

    adjacency: sparse.csr_array
    features: Matrix
    node_ids: NDArray[Any]
    labels: NDArray[np.int64]
    classes: NDArray[Any]
    changes: Changes = field(default_factory=Changes)
    feature_names: NDArray[Any] | None = None


def parts_from_edges(
    edges: EdgeList, source: NodeSource, rules: EdgeRules, changes: Changes | None = None
) -> Parts:
    """Return the parts of a graph given by its edges.

    The order of the nodes is that of ``node_ids``, else of the feature table, else of the rows of
    an array (ids 0 to n − 1), else of the sorted ids in the edges.

    Raises
    ------
    InputError
        If the pieces do not fit together.
    """
    changes = Changes() if changes is None else changes
    if edges.unread:
        changes.note(f"not used of the edges: {', '.join(edges.unread)}")
    nodes = read_nodes(source, changes)
    listed = {} if edges.nodes is None else {"nodes": edges.nodes}
    ends = {"sources": edges.sources, "targets": edges.targets}
    ids = _settled({**ends, **listed, **nodes.id_columns})
    index = _node_index(ids, nodes, changes)
    adjacency = adjacency_from_edges(
        (_ends(index, ids["sources"]), _ends(index, ids["targets"])),
        edges.weights,
        len(index.node_ids),
        rules,
        changes,
        both_ways_expected=edges.both_ways_expected,
    )
    return _completed(adjacency, index, nodes, ids, source, changes)


def parts_from_matrix(adjacency: Any, source: NodeSource, rules: EdgeRules) -> Parts:
    """Return the parts of a graph given by its adjacency matrix; ids are 0 to n − 1 by default.

    Raises
    ------
    InputError
        If the pieces do not fit together.
    """
    changes = Changes()
    nodes = read_nodes(source, changes)
    if not sparse.issparse(adjacency):
        adjacency = _dense_adjacency(adjacency)
    matrix = adjacency_from_matrix(as_csr(adjacency, "adjacency"), rules, changes)
    rows = as_id_column(np.arange(matrix.shape[0]), "adjacency")
    ids = _settled({"node_ids": rows, **nodes.id_columns})
    node_ids = ids["node_ids"].ids
    _check_length("node_ids", len(node_ids), matrix.shape[0])
    return _completed(matrix, NodeIndex(node_ids), nodes, ids, source, changes)


def _settled(columns: dict[str, IdColumn]) -> dict[str, IdColumn]:
    return dict(zip(columns, of_one_kind(list(columns.values())), strict=True))


def _node_index(ids: dict[str, IdColumn], nodes: Nodes, changes: Changes) -> NodeIndex:
    """Return the nodes in their order."""
    given = ids.get("node_ids") or (None if nodes.is_open else ids.get("features"))
    if given is not None:
        return NodeIndex(given.ids)
    if nodes.n_rows is None and "nodes" in ids and not nodes.is_open:
        return NodeIndex(ids["nodes"].ids)
    ends = union([ids[name] for name in ("sources", "targets", "nodes") if name in ids])
    if nodes.is_open:
        _check_overlap(ends, ids["features"], changes)
        return NodeIndex(union([ids[name] for name in ids if name != "labels"]), is_sorted=True)
    if nodes.n_rows is None:
        return NodeIndex(ends, is_sorted=True)
    if ends.size and (ends.dtype != np.int64 or ends[0] < 0 or ends[-1] >= nodes.n_rows):
        raise InputError(
            "AGC-I190",
            f"features or labels have {counted(nodes.n_rows, 'row')} without ids, but the ids in "
            f"the edges are not all between 0 and {nodes.n_rows - 1:,}",
            got=[*ends[:2].tolist(), *ends[2:][-2:].tolist()],
            fix="pass node_ids, the id of each row in order",
        )
    return NodeIndex(np.arange(nodes.n_rows))


def _check_overlap(ends: NDArray[Any], features: IdColumn, changes: Changes) -> None:
    """Refuse features of other nodes than those of the edges, and count those without edges."""
    alone = features.distinct[~np.isin(features.distinct, ends)]
    if len(ends) and len(alone) == len(features.distinct):
        problem = f"no id in {features.argument} occurs in the edges"
        got = f"{first_few(alone)} and {first_few(ends)}"
        raise InputError("AGC-I1148", problem, got=got, fix="use the same ids in both")
    if len(alone):
        changes.note(f"{counted(len(alone), 'node')} of features without any edge")


def _ends(index: NodeIndex, column: IdColumn) -> NDArray[np.intp]:
    return index.locate(column, column.argument)


def _completed(
    adjacency: sparse.csr_array,
    index: NodeIndex,
    nodes: Nodes,
    ids: dict[str, IdColumn],
    source: NodeSource,
    changes: Changes,
) -> Parts:
    if not len(index.node_ids):
        problem = "the graph has no nodes"
        raise InputError("AGC-I191", problem, got=0, fix="give at least one edge or node id")
    _tell_of_odd_ids(index, nodes, changes)
    features = _aligned_features(nodes, ids.get("features"), index, changes)
    if features is None:
        features = sparse.eye_array(len(index.node_ids), dtype=np.float32, format="csr")
        if source.feature_names is not None:
            changes.note("feature_names not used, since there are no features", surprising=True)
        changes.note(NO_FEATURES)
    elif source.rules.missing != "error":
        features = filled(features, source.rules.missing, adjacency, changes).astype(features.dtype)
    labels, classes = aligned_labels(nodes.labels, ids.get("labels"), index, changes)
    names = None if nodes.feature_names is None else np.array(nodes.feature_names, dtype=str)
    return Parts(adjacency, features, index.node_ids, labels, classes, changes, names)


def _tell_of_odd_ids(index: NodeIndex, nodes: Nodes, changes: Changes) -> None:
    """Tell of ids that differ by spaces only, and of column names that are nodes."""
    tell_of_spaces(alike_but_for_spaces(index.node_ids), changes)
    tell_of_first_lines(index, nodes.first_lines, changes)


def tell_of_spaces(alike: Sequence[str], changes: Changes) -> None:
    """Tell of two ids that differ by spaces only, if there are any."""
    if alike:
        changes.note(f"ids differ by spaces only: {alike[0]!r} and {alike[1]!r}", surprising=True)


def tell_of_first_lines(
    index: Index, first_lines: dict[str, tuple[str, ...]], changes: Changes
) -> None:
    """Tell of column names that are nodes."""
    for argument, line in first_lines.items():
        if index.node_ids.dtype.kind == "U" and index.find(np.array(line[:1]))[0] >= 0:
            changes.note(
                f"the first line of {argument} was taken for column names, but {line[0]!r} is a "
                "node: if it is data, put a line of column names in front of it",
                surprising=True,
            )


def _aligned_features(
    nodes: Nodes, ids: IdColumn | None, index: NodeIndex, changes: Changes
) -> Matrix | None:
    features, n_nodes = nodes.features, len(index.node_ids)
    if features is None:
        return None
    if ids is None:
        _check_length("features", features.shape[0], n_nodes)
        return features
    rows = np.full(n_nodes, -1, dtype=np.intp)
    rows[_rows_of(ids, index)] = np.arange(len(ids.codes))
    without = index.node_ids[rows < 0]
    if len(without) and not nodes.is_open:
        problem = f"the feature table has no row for {counted(len(without), 'node')}"
        raise InputError("AGC-I192", problem, got=first_few(without), fix="add their rows")
    if len(without):
        changes.note(f"{counted(len(without), 'node')} without any feature: a row of zeros")
        empty = sparse.csr_array((1, features.shape[1]), dtype=features.dtype)
        features = sparse.csr_array(sparse.vstack([features, empty], format="csr"))
        rows[rows < 0] = features.shape[0] - 1
    return features if np.array_equal(rows, np.arange(n_nodes)) else features[rows]


def aligned_labels(
    encoded: Encoded | None, ids: IdColumn | None, index: Index, changes: Changes
) -> Encoded:
    """Return the labels in the order of the nodes, and the classes.

    Raises
    ------
    InputError
        If there are more or fewer of them than nodes, or none is of a node.
    """
    labels = np.full(len(index.node_ids), UNKNOWN, dtype=np.int64)
    if encoded is None:
        return labels, np.empty(0, dtype=np.int64)
    values, classes = encoded
    if ids is None:
        _check_length("labels", len(values), len(labels))
        return values, classes
    _check_once(ids)
    known = index.find(ids.distinct)[ids.codes]
    if len(known) and (known < 0).all():
        problem = f"no id in {ids.argument} is a node of the graph"
        got = f"{first_few(ids.distinct)} and {first_few(index.node_ids)}"
        raise InputError("AGC-I1143", problem, got=got, fix="name the id column with id_column=")
    absent = ids.ids[known < 0]
    if len(absent):
        phrase = f"{counted(len(absent), 'label')} left out, since the graph has no such node"
        changes.note(f"{phrase}: {first_few(absent)}", surprising=True)
    labels[known[known >= 0]] = values[known >= 0]
    return _without_empty_classes(labels, classes) if len(absent) else (labels, classes)


def _without_empty_classes(labels: NDArray[np.int64], classes: NDArray[Any]) -> Encoded:
    """Return labels and classes without those that only nodes outside the graph had."""
    used = np.unique(labels[labels >= 0])
    renumbered = np.full(len(classes) + 1, UNKNOWN, dtype=np.int64)
    renumbered[used] = np.arange(len(used))
    return renumbered[labels], classes[used]


def _rows_of(ids: IdColumn, index: NodeIndex) -> NDArray[np.intp]:
    positions = index.locate(ids, ids.argument)
    _check_once(ids)
    return positions


def _check_once(ids: IdColumn) -> None:
    counts = np.bincount(ids.codes, minlength=len(ids.distinct))
    if len(counts) and counts.max() > 1:
        problem = f"{ids.argument} lists some nodes more than once"
        got = first_few(ids.distinct[counts > 1])
        raise InputError("AGC-I193", problem, got=got, fix="keep one row per node")


def _dense_adjacency(adjacency: Any) -> sparse.csr_array:
    if hasattr(adjacency, "columns"):
        problem = "adjacency is a data frame, whose names would be lost"
        fix = "pass frame.to_numpy(), and its names as node_ids"
        raise InputError("AGC-I189", problem, got=type(adjacency).__name__, fix=fix)
    dense = as_dense(adjacency, "adjacency")
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        problem = "adjacency must be a sparse matrix or a square array of numbers"
        raise InputError("AGC-I194", problem, got=(type(adjacency).__name__, dense.shape))
    return sparse.csr_array(dense.astype(np.float64))  # SciPy has no matrices of float16


def _check_length(argument: str, length: int, n_nodes: int) -> None:
    if length != n_nodes:
        problem = f"{argument} must have one row for each of the {counted(n_nodes, 'node')}"
        raise InputError("AGC-I195", problem, got=length, fix="check that they belong together")
