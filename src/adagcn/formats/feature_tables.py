"""From a table to a matrix of features: wide or long, with text, gaps and dates.

A *wide* table has one row per node and one column per feature. A *long* one has one row per entry:
a node, a feature and its value (1 where there is no third column); what is not listed is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.changes import Changes
from adagcn.formats.column_values import (
    MOST_CATEGORIES,
    classified,
    not_numeric,
    numeric_column,
)
from adagcn.formats.columns import as_array
from adagcn.formats.gaps import Missing
from adagcn.formats.node_ids import IdColumn
from adagcn.formats.tables import Table


@dataclass(frozen=True)
class FeatureRules:
    """How columns become numbers; :meth:`adagcn.Graph.from_edges` explains each."""

    one_hot: Sequence[str] | Literal["all"] | None = None
    drop: Sequence[str] = ()
    missing: Missing = "error"

    def __post_init__(self) -> None:
        """Refuse values that are not one of the choices."""
        if self.missing not in get_args(Missing):
            problem = f"missing must be one of {', '.join(map(repr, get_args(Missing)))}"
            raise InputError("AGC-I1130", problem, got=self.missing)
        for name in ("one_hot", "drop"):
            value = getattr(self, name)
            if name == "one_hot" and (value is None or (isinstance(value, str) and value == "all")):
                continue
            if isinstance(value, str) or not isinstance(value, Iterable):
                problem = f"{name} must be a list of column names"
                fix = f"write {name}=[{value!r}]" if isinstance(value, str) else None
                raise InputError("AGC-I1131", problem, got=value, fix=fix)

    def encodes(self, name: str) -> bool:
        """Return whether a column is to be one-hot encoded."""
        return self.one_hot is not None and (self.one_hot == "all" or name in self.one_hot)

    def is_named(self, name: str) -> bool:
        """Return whether the user named this column to be one-hot encoded."""
        return self.one_hot not in (None, "all") and self.encodes(name)


@dataclass(frozen=True)
class FeatureMatrix:
    """Features with the names of their columns.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_rows, n_features)
        The values, NaN where one is missing.
    names : list of str or None
        The names of the columns, if they have any.
    ids : IdColumn or None
        The node of each row; each node once.
    is_open : bool
        Whether nodes that are not listed have no features, rather than unknown ones.
    """

    values: Any
    names: list[str] | None
    ids: IdColumn | None
    is_open: bool = False


def is_long(table: Table, ids: IdColumn, id_name: str) -> bool:
    """Return whether a table has a row per entry rather than a row per node.

    It does if it has two or three columns and nodes occur more than once, or if the other columns
    are called so. Decimal fractions are never names of features.
    """
    others = [name for name in table.names if name != id_name]
    if table.unread or not 1 <= len(others) <= 2 or not _can_be_names(table.columns[others[0]]):
        return False
    called = len(others) == 2 and "feature" in others[0].lower() and "value" in others[1].lower()
    return called or len(ids.distinct) < len(ids.codes)


def _can_be_names(column: Any) -> bool:
    if not isinstance(column, pa.ChunkedArray) or pa.types.is_floating(column.type):
        return False
    if not pa.types.is_string(column.type):
        return True
    return not pc.any(pc.match_substring_regex(column, r"^\s*[-+]?\d*\.\d*(e.*)?$")).as_py()


def long_features(table: Table, ids: IdColumn, id_name: str, changes: Changes) -> FeatureMatrix:
    """Return the matrix of a long table; entries that are listed twice are refused.

    Raises
    ------
    InputError
        If a feature has no name, a value is not a number, or an entry is listed twice.
    """
    feature, *value = [name for name in table.names if name != id_name]
    names, columns = _feature_names(table, feature)
    n_rows = table.n_rows
    values = np.ones(n_rows) if not value else _numbers(table, value[0], ids)
    shape = (len(ids.distinct), len(names))
    changes.note(
        f"features: {counted(n_rows, 'row')} of a long table (node {id_name!r}, feature {feature!r}"
        + (f", value {value[0]!r})" if value else ", each 1)")
        + f": {counted(shape[0], 'node')} with {counted(shape[1], 'feature')}",
        # Numbers beside ids that repeat may also be a wide table with rows twice.
        surprising=not value and all(name.isdecimal() for name in names),
    )
    keys = ids.codes.astype(np.int64) * shape[1] + columns
    kept = _once(keys, values, lambda row: (names[columns[row]], ids.plain(row)), changes)
    codes, columns, values = ids.codes[kept], columns[kept], values[kept]
    matrix = sparse.csr_array((values, (codes, columns)), shape=shape)
    once = IdColumn(ids.distinct, np.arange(shape[0]), ids.argument, ids.untyped)
    return FeatureMatrix(matrix, names, once, is_open=True)


def _once(
    keys: NDArray[np.int64],
    values: NDArray[Any],
    entry: Callable[[int], tuple[str, Any]],
    changes: Changes,
) -> NDArray[np.intp]:
    """Return the rows of a long table without those that repeat an entry with the same value."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(np.diff(keys[order]) == 0) + 1
    differ = again[values[order[again]] != values[order[again - 1]]]
    if len(differ):
        row = int(order[differ[0]])
        feature, node = entry(row)
        raise InputError(
            "AGC-I1132",
            f"features lists entries again with another value in {counted(len(differ), 'row')}, "
            f"the first for feature {feature!r} of node {node!r}",
            got=[float(values[order[differ[0] - 1]]), float(values[row])],
            fix="keep one row per node and feature",
        )
    if len(again):
        phrase = f"{counted(len(again), 'repeated row')} of features merged (same node, same value)"
        changes.note(phrase, surprising=True)
    return np.sort(np.delete(order, again))


def check_known_columns(table: Table, rules: FeatureRules) -> None:
    """Refuse rules for columns that the table does not have."""
    unknown = [name for name in (*rules.drop, *_named(rules)) if name not in table.columns]
    if unknown:
        problem = f"{table.argument} has no column {unknown[0]!r} to drop or to encode"
        raise InputError("AGC-I1133", problem, got=table.names, fix="use one of these")


def wide_features(
    table: Table, ids: IdColumn, skip: set[str], rules: FeatureRules, changes: Changes
) -> FeatureMatrix:
    """Return the columns of a table other than ``skip`` as a matrix.

    Raises
    ------
    InputError
        If a column holds text, dates or anything else that is not a number, and the rules do not
        say what to do with it.
    """
    parts: list[NDArray[Any]] = []
    names: list[str] = []
    for name in table.names:
        if name in skip or name in rules.drop:
            continue
        values, labels = _encoded_column(table, name, ids, rules, changes)
        parts.append(values)
        names += labels
    if not parts:
        problem = f"{table.argument} has no column but the id and the label"
        fix = "add columns of numbers, or leave features out"
        raise InputError("AGC-I1134", problem, got=table.names, fix=fix)
    if rules.drop:
        changes.note(f"features: columns left out as asked: {_listed(rules.drop)}")
    n_columns = sum(part.shape[1] for part in parts)
    matrix = np.empty((table.n_rows, n_columns), dtype=np.float32)
    start = 0
    with np.errstate(over="ignore"):  # what overflows is found as infinite later
        for part in parts:
            matrix[:, start : start + part.shape[1]] = part
            start += part.shape[1]
    return FeatureMatrix(matrix, names if table.has_names else None, ids)


def _named(rules: FeatureRules) -> Sequence[str]:
    return () if rules.one_hot is None or rules.one_hot == "all" else rules.one_hot


def _encoded_column(
    table: Table, name: str, ids: IdColumn, rules: FeatureRules, changes: Changes
) -> tuple[NDArray[Any], list[str]]:
    """Return a column as one or several columns of numbers, and their names."""
    if _is_vectors(table.columns[name]):
        return _vectors(table, name)
    kind, values = classified(table, name)
    if rules.is_named(name) or (kind == "text" and rules.encodes(name)):
        return _one_hot(table, name, changes)
    if kind not in ("numbers", "truth values"):
        raise not_numeric(table, name, ids, kind, values)
    return values[:, None], [name]


def _one_hot(table: Table, name: str, changes: Changes) -> tuple[NDArray[Any], list[str]]:
    values = as_array(table.columns[name], f"column {name!r} of {table.argument}")
    texts = np.array(["" if v is None or v != v else str(v).strip() for v in values.tolist()])
    categories = [value for value in np.unique(texts).tolist() if value]
    if not 1 <= len(categories) <= MOST_CATEGORIES:
        problem = f"column {name!r} of {table.argument} has too many different values to encode"
        fix = f"merge them to at most {MOST_CATEGORIES}, or leave it out with drop=[{name!r}]"
        if not categories:
            problem = f"column {name!r} of {table.argument} has no value to encode"
            fix = f"leave it out with drop=[{name!r}]"
        raise InputError("AGC-I1136", problem, got=len(categories), fix=fix)
    n_gaps = int((texts == "").sum())
    gaps = f"; zeros in {counted(n_gaps, 'row')} without a value" if n_gaps else ""
    changes.note(f"features: {name!r} one-hot encoded, {counted(len(categories), 'column')}{gaps}")
    encoded = (texts[:, None] == np.array(categories)[None, :]).astype(np.float32)
    return encoded, [f"{name}={value}" for value in categories]


def _is_vectors(column: Any) -> bool:
    return isinstance(column, pa.ChunkedArray) and (
        pa.types.is_list(column.type)
        or pa.types.is_large_list(column.type)
        or pa.types.is_fixed_size_list(column.type)
    )


def _vectors(table: Table, name: str) -> tuple[NDArray[Any], list[str]]:
    """Return a column of vectors, such as embeddings, as columns."""
    column = table.columns[name].combine_chunks()
    lengths = set(pc.list_value_length(column).to_pylist())
    try:
        flat = np.asarray(pc.list_flatten(column).cast(pa.float64()).to_numpy(zero_copy_only=False))
    except (pa.ArrowException, ValueError):
        flat = np.empty(0)
    if len(lengths) != 1 or None in lengths or len(flat) != len(column) * max(lengths):
        problem = f"column {name!r} of {table.argument} must hold lists of numbers of one length"
        got = f"lengths {sorted(map(str, lengths))[:5]}"
        raise InputError("AGC-I1137", problem, got=got, fix=f"or drop=[{name!r}]")
    width = max(lengths)
    return flat.reshape(len(column), width), [f"{name}[{i}]" for i in range(width)]


def _feature_names(table: Table, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different features of a long table in order, and the feature of each row.

    Numbers are ordered as numbers.
    """
    values = as_array(table.columns[name], f"column {name!r} of {table.argument}")
    texts = [None if v is None else str(v).strip() for v in values.tolist()]
    if None in texts or "" in texts:
        problem = f"column {name!r} of {table.argument} has rows without a feature"
        got = sum(text in (None, "") for text in texts)
        raise InputError("AGC-I1138", problem, got=counted(got, "row"), fix="remove these rows")
    found = np.array(texts, dtype=str)
    distinct, codes = np.unique(found, return_inverse=True)
    if all(text.isdecimal() and len(text) < 19 for text in distinct.tolist()):
        order = np.argsort(distinct.astype(np.int64), kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        distinct, codes = distinct[order], rank[codes]
    return distinct.tolist(), codes.astype(np.int64)


def _numbers(table: Table, name: str, ids: IdColumn) -> NDArray[Any]:
    values = numeric_column(table, name, ids).astype(np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        problem = (
            f"column {name!r} of {table.argument} has {counted(int(bad.sum()), 'value')} that "
            f"cannot be used, the first at node {ids.plain(row)!r}"
        )
        raise InputError("AGC-I1139", problem, got=float(values[row]), fix="remove these rows")
    return values


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5:,} more"
