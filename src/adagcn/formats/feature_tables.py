"""From a table to a matrix of features: wide or long, with text, gaps and dates.

A *wide* table has one row per node and one column per feature. A *long* one has one row per entry:
a node, a feature and its value (1 where there is no third column); what is not listed is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.changes import Changes
from adagcn.formats.columns import GAPS, arrow_to_numpy, as_array
from adagcn.formats.node_ids import IdColumn
from adagcn.formats.tables import Table

Missing: TypeAlias = Literal["error", "mean", "neighbors"]

_MOST_CATEGORIES = 100  # different values of a column that is one-hot encoded
_DATE = r"^\d{4}-\d{2}-\d{2}([t ].*)?$"  # as ISO 8601 has them
_TRUTH = {"true": 1.0, "false": 0.0}


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
        + f": {counted(shape[0], 'node')} with {counted(shape[1], 'feature')}"
    )
    keys = ids.codes.astype(np.int64) * shape[1] + columns
    kept = _once(keys, values, lambda row: (names[columns[row]], _plain(ids, row)), changes)
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


def numeric_column(table: Table, name: str, ids: IdColumn | None = None) -> NDArray[Any]:
    """Return a column of numbers, NaN where one is missing.

    Raises
    ------
    InputError
        If it is not numeric.
    """
    kind, values = _classified(table, name)
    if kind in ("numbers", "truth values"):
        return values
    raise _not_numeric(table, name, ids, kind, values)


def filled(
    values: Any, missing: Missing, neighbors: Callable[[Any, Any], Any], changes: Changes
) -> Any:
    """Return features without gaps.

    Parameters
    ----------
    values : ndarray or csr_array
        NaN where a value is missing.
    missing : {"mean", "neighbors"}
        What to fill in: the mean of the column, or first the mean of the neighbors that have it.
    neighbors : callable
        Gives, from values (zero where missing) and which are known, the mean over the neighbors of
        each node and which are known then.
    changes : Changes
        Told how many were filled in.
    """
    n_missing = int(np.isnan(values.data if sparse.issparse(values) else values).sum())
    if not n_missing:
        return values
    dense = values.toarray() if sparse.issparse(values) else np.array(values)
    known = ~np.isnan(dense)
    if not known.any(axis=0).all():
        problem = "features has columns without any value, which nothing can be filled in from"
        got = np.flatnonzero(~known.any(axis=0))[:5].tolist()
        raise InputError("AGC-I1135", problem, got=f"columns {got}", fix="leave them out")
    means = np.where(known, dense, 0.0).sum(axis=0) / known.sum(axis=0)
    dense[~known] = 0.0
    from_neighbors = 0
    if missing == "neighbors":
        given, known = neighbors(dense, known)
        from_neighbors = n_missing - int((~known).sum())
        dense = given
    gaps = np.nonzero(~known)
    dense[gaps] = means[gaps[1]]
    how = "the mean of the column"
    if missing == "neighbors":
        how = f"neighbors ({from_neighbors:,}) or the mean of the column ({len(gaps[0]):,})"
    changes.note(f"{counted(n_missing, 'missing value')} of features filled in from {how}")
    return sparse.csr_array(dense) if sparse.issparse(values) else dense


def _named(rules: FeatureRules) -> Sequence[str]:
    return () if rules.one_hot is None or rules.one_hot == "all" else rules.one_hot


def _encoded_column(
    table: Table, name: str, ids: IdColumn, rules: FeatureRules, changes: Changes
) -> tuple[NDArray[Any], list[str]]:
    """Return a column as one or several columns of numbers, and their names."""
    if _is_vectors(table.columns[name]):
        return _vectors(table, name)
    kind, values = _classified(table, name)
    if rules.is_named(name) or (kind == "text" and rules.encodes(name)):
        return _one_hot(table, name, changes)
    if kind not in ("numbers", "truth values"):
        raise _not_numeric(table, name, ids, kind, values)
    return values[:, None], [name]


def _classified(table: Table, name: str) -> tuple[str, NDArray[Any]]:
    """Return what a column holds, in a word, and its values: numbers if it holds numbers."""
    column = table.columns[name]
    if isinstance(column, pa.ChunkedArray):
        kind = column.type
        if pa.types.is_temporal(kind):
            return ("durations" if pa.types.is_duration(kind) else "dates"), arrow_to_numpy(column)
        if pa.types.is_decimal(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
            column = column.cast(pa.float64())
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            return "numbers", np.asarray(column.to_numpy())  # Arrow turns gaps into NaN
        if table.untyped and pa.types.is_string(kind):
            return _classified_text(column)
    values = as_array(column, f"column {name!r} of {table.argument}")
    if values.dtype.kind in "biuf":
        return "numbers", values
    if values.dtype.kind in "mM":
        return "dates", values
    return _classified_objects(values)


def _classified_text(column: pa.ChunkedArray) -> tuple[str, NDArray[Any]]:
    """Return what a column of a text file holds: numbers, truth values or text."""
    trimmed = pc.utf8_trim_whitespace(column)
    lower = pc.utf8_lower(trimmed)
    gap = pc.or_kleene(pc.is_null(lower), pc.is_in(lower, pa.array(sorted({*GAPS, ""}))))
    known = pc.if_else(gap, pa.scalar(None, pa.string()), trimmed)
    try:
        return "numbers", np.asarray(known.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        pass
    different = {value for value in pc.unique(lower.filter(pc.invert(gap))).to_pylist()}
    if different <= set(_TRUTH):
        values = [None if v is None else _TRUTH[v.lower()] for v in known.to_pylist()]
        return "truth values", np.array(values, dtype=float)
    dated = pc.all(pc.match_substring_regex(lower.filter(pc.invert(gap)), _DATE)).as_py()
    return ("dates" if dated else "text"), as_array(trimmed, "features")


def _classified_objects(values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return what a column of Python objects holds."""
    found = [value for value in values.tolist() if value is not None]
    if all(isinstance(value, bool | int | float | np.number | np.bool_) for value in found):
        return "numbers", np.array(
            [np.nan if v is None else float(v) for v in values.tolist()], dtype=float
        )
    if all(isinstance(value, str) for value in found):
        return "text", values
    kinds = sorted({type(value).__name__ for value in found})
    return ("dates" if kinds[0] in ("date", "datetime", "Timestamp") else "objects"), values


def _not_numeric(
    table: Table, name: str, ids: IdColumn | None, kind: str, values: NDArray[Any]
) -> InputError:
    """Return the error for a column that is not numeric, with a value and whose it is."""
    odd = _not_numbers(values) or [0]
    where = "" if ids is None else f", the first at node {_plain(ids, odd[0])!r}"
    n_different = len({str(value) for value in values.tolist() if value is not None})
    if len(odd) < len(values) / 2:
        said = f"has {counted(len(odd), 'value')} that are not numbers{where}"
        fixes = ["correct them"]
    else:
        said = f"is not numeric but holds {kind} ({n_different:,} different){where}"
        few = kind == "text" and n_different <= _MOST_CATEGORIES
        fixes = [f"one_hot=[{name!r}] makes a column of each value"] if few else []
    fix = ", or ".join([*fixes, f"drop=[{name!r}] leaves it out"])
    if table.argument == "edges":
        fix = "correct it, or name another column"
    problem = f"column {name!r} of {table.argument} {said}"
    return InputError("AGC-I147", problem, got=values[odd[0]], fix=fix)


def _not_numbers(values: NDArray[Any]) -> list[int]:
    """Return the places of values that are there and are not numbers."""
    places = []
    for place, value in enumerate(values.tolist()):
        try:
            float(value)
        except (TypeError, ValueError):
            if value is not None and str(value).strip().lower() not in GAPS:
                places.append(place)
    return places


def _one_hot(table: Table, name: str, changes: Changes) -> tuple[NDArray[Any], list[str]]:
    values = as_array(table.columns[name], f"column {name!r} of {table.argument}")
    texts = np.array(["" if v is None or v != v else str(v).strip() for v in values.tolist()])
    categories = [value for value in np.unique(texts).tolist() if value]
    if not 1 <= len(categories) <= _MOST_CATEGORIES:
        problem = f"column {name!r} of {table.argument} has too many different values to encode"
        fix = f"merge them to at most {_MOST_CATEGORIES}, or leave it out with drop=[{name!r}]"
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
            f"cannot be used, the first at node {_plain(ids, row)!r}"
        )
        raise InputError("AGC-I1139", problem, got=float(values[row]), fix="remove these rows")
    return values


def _plain(ids: IdColumn, row: int) -> Any:
    """Return the id of a row as a plain value."""
    return ids.distinct[[ids.codes[row]]].tolist()[0]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5:,} more"
