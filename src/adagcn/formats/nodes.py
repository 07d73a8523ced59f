"""What a user gives about the nodes: features, labels and ids, each in several forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adagcn.errors import InputError
from adagcn.formats.labels import Encoded, encode_labels, encode_text_labels
from adagcn.formats.matrices import Matrix, as_features, table_features
from adagcn.formats.node_ids import IdColumn, as_id_column
from adagcn.formats.tables import Table, is_table, read_table


@dataclass(frozen=True)
class NodeSource:
    """What the user gave; :meth:`adagcn.Graph.from_edges` lists the supported forms."""

    features: Any = None
    labels: Any = None
    node_ids: Any = None
    id_column: str | None = None
    label_column: str | None = None
    dtype: Any = np.float32


@dataclass(frozen=True)
class Nodes:
    """The same, read and checked, each piece still in its own order.

    Parameters
    ----------
    features : ndarray or csr_array, optional
        One row per node.
    labels : pair of ndarray, optional
        Indices and classes.
    id_columns : dict of str to IdColumn
        The ids of the rows of ``"features"`` and ``"labels"`` where they came with ids, and
        ``"node_ids"`` where they were given.
    """

    features: Matrix | None
    labels: Encoded | None
    id_columns: dict[str, IdColumn]

    @property
    def n_rows(self) -> int | None:
        """Number of rows of what came without ids, ``None`` if nothing did."""
        if self.features is not None and "features" not in self.id_columns:
            return int(self.features.shape[0])
        if self.labels is not None and "labels" not in self.id_columns:
            return len(self.labels[0])
        return None


def read_nodes(source: NodeSource) -> Nodes:
    """Read what the user gave about the nodes.

    Raises
    ------
    InputError
        If a form is not supported, or a column is named although there is no table.
    """
    _check_columns_used(source)
    nodes = Nodes(None, None, {})
    if source.node_ids is not None:
        nodes = _with_ids(nodes, node_ids=as_id_column(source.node_ids, "node_ids"))
    if is_table(source.features):
        nodes = _with_feature_table(nodes, source)
    elif source.features is not None:
        nodes = replace(nodes, features=as_features(source.features, dtype=source.dtype))
    return nodes if source.labels is None else _with_labels(nodes, source)


def _check_columns_used(source: NodeSource) -> None:
    tables = is_table(source.features) or is_table(source.labels)
    for name in ("id_column", "label_column"):
        if getattr(source, name) is not None and not tables:
            problem = f"{name} is for features or labels in a file or a frame"
            fix = f"leave {name} out"
            raise InputError("AGC-I196", problem, got=getattr(source, name), fix=fix)


def _with_ids(nodes: Nodes, **columns: IdColumn) -> Nodes:
    return replace(nodes, id_columns={**nodes.id_columns, **columns})


def _with_feature_table(nodes: Nodes, source: NodeSource) -> Nodes:
    labels_inside = source.labels is None and source.label_column is not None
    text = [source.id_column, source.label_column] if labels_inside else [source.id_column]
    table, names = read_table(source.features, "features", text=text)
    ids = _ids(table, names[0])
    nodes = replace(nodes, features=as_features(table_features(table, skip=set(names))))
    if labels_inside:
        nodes = _with_ids(replace(nodes, labels=_encoded(table, names[1])), labels=ids)
    return _with_ids(nodes, features=ids)


def _with_labels(nodes: Nodes, source: NodeSource) -> Nodes:
    labels = source.labels
    if isinstance(labels, Mapping):
        ids = as_id_column(list(labels), "labels")
        return _with_ids(replace(nodes, labels=encode_labels(list(labels.values()))), labels=ids)
    if is_table(labels):
        text = [source.id_column, source.label_column]
        table, names = read_table(labels, "labels", text=text, only_text=True)
        encoded = _encoded(table, names[1])
        return _with_ids(replace(nodes, labels=encoded), labels=_ids(table, names[0]))
    return replace(nodes, labels=encode_labels(labels))


def _ids(table: Table, name: str) -> IdColumn:
    argument = f"column {name!r} of {table.argument}"
    return as_id_column(table.columns[name], argument, untyped=table.untyped)


def _encoded(table: Table, name: str) -> Encoded:
    encode = encode_text_labels if table.untyped else encode_labels
    return encode(table.columns[name], f"column {name!r} of {table.argument}")
