"""Graphs in ``.npz`` files: written in our own layout, read from those in use.

Our layout is that of the PPNP authors' data sets. ``adj_matrix`` and ``attr_matrix`` are raw CSR
arrays (``.data``, ``.indices``, ``.indptr``, ``.shape``); the second may also be one dense array.
``labels`` index ``class_names``. In addition to that, a file may hold ``node_ids`` (or
``node_ids.decimal`` for integers past 64 bits), ``feature_names``, ``feature_norm`` and
``feature_dtype``. The others are in :mod:`adagcn.formats.graph_layouts`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import FormatError, InputError, counted
from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.assembly import Parts, parts_from_edges, parts_from_matrix
from adagcn.formats.changes import Changes
from adagcn.formats.columns import are_decimals, exact_integers
from adagcn.formats.edges import EdgeList
from adagcn.formats.graph_layouts import CSR, find_layout
from adagcn.formats.labels import UNKNOWN, Encoded
from adagcn.formats.matrices import csr_from_members
from adagcn.formats.node_ids import as_id_column
from adagcn.formats.nodes import NodeSource
from adagcn.formats.npz import list_arrays, read_npz, write_npz


def read_graph(
    path: str | os.PathLike[str], max_bytes: int | None = None
) -> tuple[Parts, Literal["l1"] | None]:
    """Read the parts of a graph as stored in the file, and the norm that divided its features.

    Errors are those of :meth:`adagcn.graph.Graph.from_npz`.
    """
    layout = find_layout(list_arrays(path), str(path))
    names = layout.names
    beside = layout.dispensable
    needed = set(names.values()) - set(beside)
    arrays = read_npz(path, keys=needed, dispensable=beside, max_bytes=max_bytes)
    members = {key: arrays[name] for key, name in names.items() if name in arrays}
    changes = Changes()
    if not layout.is_ours:
        changes.note(layout.in_words())
        _drop_unusable_names(members, names, changes)
    objects = [name for name in beside if name not in arrays]
    if objects:
        changes.note(f"not read, since they hold Python objects: {', '.join(objects)}")
    if layout.unread:
        changes.note(f"not read: {', '.join(layout.unread)}")
    norm = _feature_norm(members)
    try:
        parts = _parts(members)
    except InputError as error:
        problem = f"the graph in {str(path)!r} cannot be used: {error.problem}"
        # A file is read as it is: what from_edges could fill in, its writer has to.
        fix = (
            "correct the arrays and write the file again" if error.code == "AGC-I145" else error.fix
        )
        raise FormatError("AGC-F116", problem, got=error.got, fix=fix) from error
    changes.phrases += parts.changes.phrases
    changes.surprises += parts.changes.surprises
    parts = replace(parts, changes=changes)
    if "labels" not in members or "class_names" not in members:
        return parts, norm
    labels, classes = _indexed(members["labels"], members["class_names"], len(parts.labels))
    return replace(parts, labels=labels, classes=classes), norm


def write_graph(path: str | os.PathLike[str], parts: Parts, feature_norm: str | None) -> None:
    """Write the parts of a graph to an ``.npz`` file; the same parts give the same bytes."""
    members = {**_csr_members(parts.adjacency, "adj_matrix")}
    if sparse.issparse(parts.features):
        members |= _csr_members(parts.features, "attr_matrix")
    else:
        members["attr_matrix"] = np.asarray(parts.features)
    members |= {"labels": parts.labels, "class_names": parts.classes}
    if parts.node_ids.dtype == object:
        members["node_ids.decimal"] = np.array([str(value) for value in parts.node_ids])
    else:
        members["node_ids"] = parts.node_ids
    if parts.feature_names is not None:
        members["feature_names"] = np.asarray(parts.feature_names, dtype=str)
    if feature_norm is not None:
        members["feature_norm"] = np.array(feature_norm)
    if parts.features.dtype != np.float32:
        members["feature_dtype"] = np.array(parts.features.dtype.name)
    write_npz(path, members)


def _feature_norm(members: dict[str, NDArray[Any]]) -> Literal["l1"] | None:
    if "feature_norm" not in members:
        return None
    norm = str(members["feature_norm"])
    if norm != "l1":
        problem = "feature_norm of the graph file must be 'l1'"
        raise FormatError("AGC-F115", problem, got=norm, fix="use a newer release of adagcn")
    return "l1"


def _parts(members: dict[str, NDArray[Any]]) -> Parts:
    """Return the parts of a graph from arrays under the names of our own layout."""
    edges = _edges(members)
    if edges is not None:
        return parts_from_edges(edges, _nodes(members), EdgeRules())
    if "adj_matrix" in members:
        return parts_from_matrix(members["adj_matrix"], _nodes(members), EdgeRules("keep"))
    adjacency = csr_from_members(members, "adj_matrix")
    return parts_from_matrix(adjacency, _nodes(members), EdgeRules("keep"))


def _edges(members: dict[str, NDArray[Any]]) -> EdgeList | None:
    """Return the edges of a file that lists them, one or both ways."""
    key = next((key for key in ("edges", "edge_index") if key in members), None)
    if key is None:
        return None
    array = members[key] if key == "edges" else members[key].T
    if array.ndim == 2 and array.shape[1] != 2 and array.shape[0] == 2:
        array = array.T  # the other way round, which only two edges could leave open
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        problem = f"{key} must be two rows or two columns of node positions"
        raise FormatError("AGC-F214", problem, got=f"{array.dtype} {members[key].shape}")
    sources, targets = (as_id_column(array[:, end], key) for end in (0, 1))
    weights = members.get("edge_weight")
    if weights is not None and weights.size != len(array):
        problem = f"edge_weight must have one value for each of the {counted(len(array), 'edge')}"
        raise FormatError("AGC-F215", problem, got=weights.shape)
    weights = None if weights is None else weights.reshape(-1)
    return EdgeList(sources, targets, weights, both_ways_expected=key == "edge_index")


def _nodes(members: dict[str, NDArray[Any]]) -> NodeSource:
    features = members.get("attr_matrix")
    if "attr_matrix.data" in members:
        features = csr_from_members(members, "attr_matrix")
    double = str(members.get("feature_dtype", "float32")) == "float64"
    labels = None if "class_names" in members else members.get("labels")
    return NodeSource(
        features,
        None if labels is None else _without_unknown(labels),
        _node_ids(members),
        dtype=np.float64 if double else np.float32,
        feature_names=members.get("feature_names"),
    )


def _without_unknown(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels with NaN for −1, which in a file means that the label is unknown."""
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    unknown = labels == UNKNOWN if labels.dtype.kind in "if" else np.zeros(0, dtype=bool)
    return np.where(unknown, np.nan, labels) if unknown.any() else labels


def _drop_unusable_names(
    members: dict[str, NDArray[Any]], names: dict[str, str], changes: Changes
) -> None:
    """Drop names of nodes and features that are not text, or not all different."""
    for key in ("node_ids", "feature_names"):
        array = members.get(key)
        if array is None or names[key] == key:
            continue
        if array.ndim != 1 or array.dtype.kind != "U" or len(np.unique(array)) < len(array):
            del members[key]
            changes.note(f"not used, since they are not different names: {names[key]}")


def _node_ids(members: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
    texts = members.get("node_ids.decimal")
    if texts is None:
        return members.get("node_ids")
    if texts.dtype.kind != "U" or not are_decimals(texts).all():
        problem = "node_ids.decimal must hold integers as decimal text"
        raise FormatError("AGC-F117", problem, got=texts[:3].tolist())
    return exact_integers(texts.tolist())


def _indexed(labels: NDArray[Any], classes: NDArray[Any], n_nodes: int) -> Encoded:
    """Return labels that already are indices into their classes."""
    if len(np.unique(classes)) < classes.size:
        problem = "class_names must all be different"
        raise FormatError("AGC-F113", problem, got=classes.tolist())
    if labels.shape != (n_nodes,):
        problem = f"labels must have one row for each of the {counted(n_nodes, 'node')}"
        raise FormatError("AGC-F114", problem, got=labels.shape)
    if labels.dtype.kind not in "iu" or classes.ndim != 1 or classes.dtype.kind not in "biuU":
        problem = "labels must be integers, and class_names one column of names or integers"
        raise FormatError("AGC-F118", problem, got=(str(labels.dtype), str(classes.dtype)))
    labels = labels.astype(np.int64)
    if labels.size and (labels.min() < UNKNOWN or labels.max() >= len(classes)):
        problem = f"labels must be between -1 and {len(classes) - 1:,}, the last of class_names"
        raise FormatError("AGC-F119", problem, got=(int(labels.min()), int(labels.max())))
    return labels, classes


def _csr_members(matrix: Any, key: str) -> dict[str, NDArray[Any]]:
    arrays = (matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape, dtype=np.int64))
    return {f"{key}.{part}": array for part, array in zip(CSR, arrays, strict=True)}
