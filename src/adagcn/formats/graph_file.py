"""Graphs in ``.npz`` files, in the layout of the PPNP authors' data sets.

``adj_matrix`` and ``attr_matrix`` are raw CSR arrays (``.data``, ``.indices``, ``.indptr``,
``.shape``); the second may also be one dense array. ``labels`` index ``class_names``. In addition
to that layout, a file may hold ``node_ids`` (or ``node_ids.decimal`` for integers past 64 bits),
``feature_norm`` and ``feature_dtype``.
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
from adagcn.formats.assembly import Parts, parts_from_matrix
from adagcn.formats.columns import are_decimals, exact_integers
from adagcn.formats.labels import UNKNOWN, Encoded
from adagcn.formats.matrices import csr_from_members
from adagcn.formats.nodes import NodeSource
from adagcn.formats.npz import read_npz, write_npz

_CSR = ("data", "indices", "indptr", "shape")
_KEYS = {
    *(f"{matrix}.{part}" for matrix in ("adj_matrix", "attr_matrix") for part in _CSR),
    *("attr_matrix", "labels", "node_ids", "node_ids.decimal"),
    *("feature_norm", "feature_dtype"),
}


def read_graph(
    path: str | os.PathLike[str], max_bytes: int | None = None
) -> tuple[Parts, Literal["l1"] | None]:
    """Read the parts of a graph as stored in the file, and the norm that divided its features.

    Errors are those of :meth:`adagcn.graph.Graph.from_npz`.
    """
    # Class names as Python objects stay unread: the labels then stand for themselves.
    members = read_npz(path, keys=_KEYS, dispensable={"class_names"}, max_bytes=max_bytes)
    adjacency = csr_from_members(members, "adj_matrix")
    norm = _feature_norm(members)
    try:
        parts = parts_from_matrix(adjacency, _nodes(members), EdgeRules(directed="keep"))
    except InputError as error:
        problem = f"the graph in {str(path)!r} cannot be used: {error.problem}"
        raise FormatError("AGC-F116", problem, got=error.got, fix=error.fix) from error
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


def _nodes(members: dict[str, NDArray[Any]]) -> NodeSource:
    features = members.get("attr_matrix")
    if "attr_matrix.data" in members:
        features = csr_from_members(members, "attr_matrix")
    double = str(members.get("feature_dtype", "float32")) == "float64"
    labels = None if "class_names" in members else members.get("labels")
    return NodeSource(
        features,
        labels,
        _node_ids(members),
        dtype=np.float64 if double else np.float32,
        unlabeled=UNKNOWN,
    )


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
    return {f"{key}.{part}": array for part, array in zip(_CSR, arrays, strict=True)}
