"""What a user gives about the nodes: features, labels and ids, each in several forms."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import FormatError, InputError, counted
from adagcn.formats.changes import Changes
from adagcn.formats.feature_tables import (
    FeatureMatrix,
    FeatureRules,
    check_known_columns,
    is_long,
    long_features,
    wide_features,
)
from adagcn.formats.json_files import is_records, json_features, json_labels, read_json
from adagcn.formats.labels import Encoded, encode_labels
from adagcn.formats.matrices import Matrix, Places, as_features
from adagcn.formats.node_ids import IdColumn, as_id_column
from adagcn.formats.tables import (
    Columns,
    Table,
    file_kind,
    is_path,
    is_table,
    read_table,
    with_index_as_column,
)
from adagcn.formats.text_files import TextRules, read_bytes


@dataclass(frozen=True)
class NodeSource:
    """What the user gave; :meth:`adagcn.Graph.from_edges` lists the supported forms."""

    features: Any = None
    labels: Any = None
    node_ids: Any = None
    id_column: str | None = None
    label_column: str | None = None
    dtype: Any = np.float32
    feature_names: Sequence[str] | NDArray[Any] | None = None
    rules: FeatureRules = field(default_factory=FeatureRules)
    unlabeled: Any = None
    text: TextRules = field(default_factory=TextRules)


@dataclass(frozen=True)
class Nodes:
    """The same, read and checked, each piece still in its own order.

    Parameters
    ----------
    features : ndarray or csr_array, optional
        One row per node; NaN where a value is missing and is to be filled in.
    labels : pair of ndarray, optional
        Indices and classes.
    id_columns : dict of str to IdColumn
        The ids of the rows of ``"features"`` and ``"labels"`` where they came with ids, and
        ``"node_ids"`` where they were given.
    feature_names : list of str, optional
        The names of the columns of ``features``.
    is_open : bool
        Whether nodes that ``features`` does not list have none, rather than unknown ones.
    first_lines : dict of str to tuple of str
        The first lines of text files that were taken for column names, by argument.
    """

    features: Matrix | None = None
    labels: Encoded | None = None
    id_columns: dict[str, IdColumn] = field(default_factory=dict)
    feature_names: list[str] | None = None
    is_open: bool = False
    first_lines: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int | None:
        """Number of rows of what came without ids, ``None`` if nothing did."""
        if self.features is not None and "features" not in self.id_columns:
            return int(self.features.shape[0])
        if self.labels is not None and "labels" not in self.id_columns:
            return len(self.labels[0])
        return None


def read_nodes(source: NodeSource, changes: Changes) -> Nodes:
    """Read what the user gave about the nodes.

    Raises
    ------
    InputError
        If a form is not supported, or a column is named although there is no table.
    """
    check_columns_used(source)
    nodes = Nodes()
    if source.node_ids is not None:
        nodes = _with_ids(nodes, node_ids=as_id_column(source.node_ids, "node_ids"))
    if source.features is not None:
        nodes = _with_features(nodes, source, changes)
    return nodes if source.labels is None else _with_labels(nodes, source, changes)


def check_columns_used(source: NodeSource) -> None:
    """Refuse what is said of tables that are not there."""
    tables = is_table(source.features) or is_table(source.labels)
    for name in ("id_column", "label_column"):
        if getattr(source, name) is not None and not tables:
            problem = f"{name} is for features or labels in a file or a frame"
            fix = f"leave {name} out"
            raise InputError("AGC-I196", problem, got=getattr(source, name), fix=fix)
    if source.feature_names is not None and is_table(source.features):
        problem = "feature_names is for features in an array; a table has names of its own"
        given = list(source.feature_names)
        raise InputError("AGC-I1144", problem, got=given[:5], fix="leave feature_names out")
    ignored = {
        "unlabeled": source.labels is None and source.features is None and source.unlabeled,
        "missing": source.features is None and source.rules.missing != "error",
    }
    for name, is_ignored in ignored.items():
        if is_ignored:
            what = {"unlabeled": "labels", "missing": "features"}[name]
            problem = f"{name} has no effect without {what}"
            raise InputError("AGC-I1149", problem, fix=f"give {what}, or leave {name} out")
    if not is_table(source.features):
        _refuse_column_rules(source.rules)


def _refuse_column_rules(rules: FeatureRules) -> None:
    """Refuse what is said of columns where features are no table."""
    for name, value in {"one_hot": rules.one_hot, "drop": rules.drop}.items():
        if value:
            problem = f"{name} is for features in a table: a file with columns, or a frame"
            raise InputError("AGC-I1140", problem, got=value, fix=f"leave {name} out")


def _with_ids(nodes: Nodes, **columns: IdColumn) -> Nodes:
    return replace(nodes, id_columns={**nodes.id_columns, **columns})


# Features


def _with_features(nodes: Nodes, source: NodeSource, changes: Changes) -> Nodes:
    kind = None
    if is_path(source.features):
        kind = file_kind(Path(source.features), "features")
    if kind == "svmlight":
        _refuse_column_rules(source.rules)
        return _with_svmlight(nodes, source, changes)
    if kind == "json":
        value = read_json(Path(source.features), "features")
        if not is_records(value):
            _refuse_column_rules(source.rules)
            return _with_json_features(nodes, source, value, changes)
    if is_table(source.features):
        return _with_feature_table(nodes, source, changes)
    names = _given_names(source.feature_names)
    ids = nodes.id_columns.get("node_ids")
    matrix = FeatureMatrix(source.features, names, ids)
    nodes = _with_matrix(nodes, matrix, source)
    if names is not None and len(names) != nodes.features.shape[1]:  # type: ignore[union-attr]
        problem = "feature_names must have one name for each column of features"
        raise InputError("AGC-I1141", problem, got=len(names))
    if names is not None and len(set(names)) < len(names):
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        problem = "feature_names must all be different"
        raise InputError("AGC-I1145", problem, got=twice[:5], fix="rename them")
    return nodes


def _given_names(names: Any) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        problem = "feature_names must be a list of names"
        raise InputError("AGC-I1147", problem, got=names)
    return [str(name) for name in names]


def _with_matrix(nodes: Nodes, matrix: FeatureMatrix, source: NodeSource) -> Nodes:
    """Return the nodes with a matrix of features that is checked."""
    ids = None if matrix.ids is None else matrix.ids.ids
    features = as_features(
        matrix.values,
        dtype=source.dtype,
        places=Places(ids, matrix.names),
        gaps=source.rules.missing != "error",
    )
    nodes = replace(nodes, features=features, feature_names=matrix.names, is_open=matrix.is_open)
    listed = matrix.ids is not None and matrix.ids is not nodes.id_columns.get("node_ids")
    return _with_ids(nodes, features=matrix.ids) if listed else nodes  # type: ignore[arg-type]


def _with_feature_table(nodes: Nodes, source: NodeSource, changes: Changes) -> Nodes:
    labels_inside = source.labels is None and source.label_column is not None
    text = [source.id_column, source.label_column] if labels_inside else [source.id_column]
    frame = source.features
    if source.id_column is None:
        frame = with_index_as_column(frame)
    wanted = Columns(text, text_if_few=not labels_inside)
    table, names = read_table(frame, "features", wanted, source.text)
    if not table.n_rows:
        raise no_rows(table.names)
    ids = table_ids(table, names[0])
    check_known_columns(table, source.rules)
    rest = {k: v for k, v in table.columns.items() if k not in source.rules.drop}
    kept = replace(table, columns=rest)
    if not labels_inside and not source.rules.one_hot and is_long(kept, ids, names[0]):
        matrix = long_features(kept, ids, names[0], changes)
    else:
        matrix = wide_features(table, ids, set(names), source.rules, changes)
        if table.form:
            tell_of_features(table, names[0], (table.n_rows, matrix.values.shape[1]), changes)
    nodes = _with_matrix(_with_first_line(nodes, table), matrix, source)
    if labels_inside:
        encoded = encoded_column(table, names[1], source, changes)
        nodes = _with_ids(replace(nodes, labels=encoded), labels=ids)
    return nodes


def no_rows(names: list[str]) -> InputError:
    """Return the error for a feature table without rows."""
    problem = "features is a table without rows"
    return InputError("AGC-I1146", problem, got=names, fix="give a row for each node")


def tell_of_features(table: Table, id_name: str, shape: tuple[int, int], changes: Changes) -> None:
    """Say what was read of a wide table of features."""
    changes.note(
        f"features: {counted(shape[0], 'row')} of {table.form}, id {id_name!r}, "
        f"{counted(shape[1], 'column')}"
    )


def _with_json_features(nodes: Nodes, source: NodeSource, value: Any, changes: Changes) -> Nodes:
    found = json_features(value)
    ids = None
    if found.ids is not None:
        ids = _text_ids(found.ids, "keys of features")
    n_columns = counted(found.matrix.shape[1], "column")
    changes.note(f"features: {counted(found.matrix.shape[0], 'row')} of {found.form}, {n_columns}")
    is_open = sparse.issparse(found.matrix)
    matrix = FeatureMatrix(found.matrix, found.names, ids, is_open=is_open and ids is not None)
    return _with_matrix(nodes, matrix, source)


def _with_svmlight(nodes: Nodes, source: NodeSource, changes: Changes) -> Nodes:
    """Return the nodes with the features of an svmlight file, and its labels if it has any."""
    from sklearn.datasets import load_svmlight_file

    path = Path(source.features)
    content = io.BytesIO(read_bytes(path, "features"))
    try:
        matrix, targets = load_svmlight_file(content, dtype=np.float64)
    except ValueError as error:
        problem = f"features {str(path)!r} is not readable svmlight: {str(error).rstrip('.')}"
        raise FormatError("AGC-F1142", problem, fix="write the file again") from error
    changes.note(
        f"features: {counted(matrix.shape[0], 'row')} of svmlight, one for each node from 0, "
        f"{counted(matrix.shape[1], 'column')}"
    )
    nodes = _with_matrix(nodes, FeatureMatrix(matrix, None, None), source)
    if source.labels is not None or len(np.unique(targets)) < 2:
        return nodes
    changes.note("labels: the first number of each line of the svmlight file")
    return replace(
        nodes, labels=encode_labels(targets, unlabeled=source.unlabeled, changes=changes)
    )


# Labels


def _with_labels(nodes: Nodes, source: NodeSource, changes: Changes) -> Nodes:
    labels = source.labels
    if isinstance(labels, Mapping):
        ids = as_id_column(list(labels), "labels")
        return _labeled(nodes, ids, list(labels.values()), source, changes)
    if is_path(labels) and file_kind(Path(labels), "labels") == "json":
        value = read_json(Path(labels), "labels")
        if not is_records(value):
            found = json_labels(value)
            changes.note(f"labels: {len(found):,} of a JSON object by id")
            ids = _text_ids(list(found), "keys of labels")
            return _labeled(nodes, ids, list(found.values()), source, changes)
    if is_table(labels):
        return with_label_table(nodes, source, changes)
    index = getattr(labels, "index", None)
    if hasattr(labels, "to_frame") and index is not None and hasattr(index, "to_list"):
        frame = with_index_as_column(labels.to_frame("label"))
        if frame.shape[1] == 2:  # a pandas column whose index holds ids
            changes.note("labels: matched with nodes by their index")
            ids = as_id_column(frame.iloc[:, 0], "index of labels")
            return _labeled(nodes, ids, frame["label"], source, changes)
        if not np.array_equal(index, np.arange(len(index))):
            changes.note(
                "labels: taken in the order of the nodes, though their index is not 0 to n − 1; an "
                "index with a name is matched with the ids",
                surprising=True,
            )
    encoded = encode_labels(labels, unlabeled=source.unlabeled, changes=changes)
    return replace(nodes, labels=encoded)


def _labeled(
    nodes: Nodes, ids: IdColumn, labels: Any, source: NodeSource, changes: Changes
) -> Nodes:
    encoded = encode_labels(labels, unlabeled=source.unlabeled, changes=changes)
    return _with_ids(replace(nodes, labels=encoded), labels=ids)


def with_label_table(nodes: Nodes, source: NodeSource, changes: Changes) -> Nodes:
    """Return the nodes with the labels of a table."""
    frame = source.labels
    if source.id_column is None:
        frame = with_index_as_column(frame)
    wanted = Columns([source.id_column, source.label_column], also=())
    table, names = read_table(frame, "labels", wanted, source.text)
    encoded = encoded_column(table, names[1], source, changes)
    if table.form:
        unread = ""
        if table.unread:
            unread = f"; not used: {', '.join(map(repr, table.unread[:8]))}"
        changes.note(
            f"labels: {counted(table.n_rows, 'row')} of {table.form}, id {names[0]!r}, "
            f"label {names[1]!r}{unread}"
        )
    nodes = _with_first_line(replace(nodes, labels=encoded), table)
    return _with_ids(nodes, labels=table_ids(table, names[0]))


def _with_first_line(nodes: Nodes, table: Table) -> Nodes:
    if not table.names_line:
        return nodes
    return replace(nodes, first_lines={**nodes.first_lines, table.argument: table.names_line})


def table_ids(table: Table, name: str) -> IdColumn:
    """Return a column of a table as ids."""
    argument = f"column {name!r} of {table.argument}"
    return as_id_column(table.columns[name], argument, untyped=table.untyped)


def _text_ids(ids: list[str], argument: str) -> IdColumn:
    return as_id_column(pa.chunked_array([pa.array(ids, pa.string())]), argument, untyped=True)


def encoded_column(table: Table, name: str, source: NodeSource, changes: Changes) -> Encoded:
    """Return a column of a table as labels."""
    return encode_labels(
        table.columns[name],
        f"column {name!r} of {table.argument}",
        untyped=table.untyped,
        unlabeled=source.unlabeled,
        changes=changes,
    )
