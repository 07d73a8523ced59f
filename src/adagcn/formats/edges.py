"""Edge lists in every supported form: file, frame, array, pair of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.changes import Changes
from adagcn.formats.column_values import numeric_column
from adagcn.formats.columns import as_array, is_missing, is_tensor, tensor_to_numpy
from adagcn.formats.json_files import is_records, json_edges, read_json
from adagcn.formats.node_ids import IdColumn, as_id_column, as_id_columns
from adagcn.formats.tables import Columns, Table, file_kind, is_path, is_table, read_table
from adagcn.formats.text_files import TextRules

# What people call a column of weights; one that is not used deserves a warning.
_LIKE_WEIGHTS = frozenset(("weight", "weights", "w", "value", "strength", "count"))


@dataclass(frozen=True)
class EdgeList:
    """Edges, given by the ids of their ends.

    Parameters
    ----------
    sources, targets : IdColumn
        The ends, one row per edge.
    weights : ndarray of shape (n_edges,) or None
        The weights, if there are any.
    both_ways_expected : bool
        Whether an undirected graph lists each edge in both directions in this form.
    nodes : IdColumn or None
        All nodes, where the file lists them.
    unread : tuple of str
        What else a graph of another library says of its edges.
    """

    sources: IdColumn
    targets: IdColumn
    weights: NDArray[Any] | None
    both_ways_expected: bool = False
    nodes: IdColumn | None = None
    unread: tuple[str, ...] = ()


def read_edges(
    edges: Any,
    changes: Changes,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: Any = None,
    rules: TextRules | None = None,
) -> EdgeList:
    """Read a list of edges; :meth:`adagcn.Graph.from_edges` lists the supported forms.

    Raises
    ------
    InputError
        If the form is not supported, or the numbers of ends and weights differ.
    FormatError
        If a file cannot be read.
    """
    rules = rules or TextRules()
    if is_path(edges) and file_kind(Path(edges), "edges") == "json":
        value = read_json(Path(edges), "edges")
        if not is_records(value):
            _refuse_columns(source, target, rules.header)
            return _from_json(value, weight, changes)
    if is_table(edges):
        return _from_table(edges, (source, target), weight, rules, changes)
    _refuse_columns(source, target, rules.header)
    if isinstance(edges, tuple) and len(edges) == 2 and all(_is_pair(each) for each in edges):
        phrase = "two pairs in a tuple are (sources, targets), not two edges; a list holds edges"
        changes.note(phrase, surprising=True)
    sources, targets = _two_columns(edges)
    weights = None if weight is None else _weights(weight, len(sources.codes))
    return EdgeList(sources, targets, weights)


def _refuse_columns(source: str | None, target: str | None, header: bool | None) -> None:
    """Refuse what is said of columns where there are none."""
    for name, value in {"source": source, "target": target, "header": header}.items():
        if value is not None:
            problem = f"{name} is for edges in a table: a file with columns, or a frame"
            raise InputError("AGC-I170", problem, got=value, fix=f"leave {name} out")


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _from_table(
    edges: Any,
    ends: tuple[str | None, str | None],
    weight: Any,
    rules: TextRules,
    changes: Changes,
) -> EdgeList:
    also = (weight,) if isinstance(weight, str) else ()
    table, names = read_table(edges, "edges", Columns(ends, also), rules)
    arguments = [f"column {name!r} of edges" for name in names]
    columns = [table.columns.pop(name) for name in names]
    sources, targets = as_id_columns(columns, arguments, untyped=table.untyped)
    first_line = _first_line(sources.distinct, table) if set(ends) == {None} else None
    if first_line is not None:  # an edge, not names
        sources, targets = (
            replace(column, codes=np.insert(column.codes, 0, place))
            for column, place in zip((sources, targets), first_line, strict=True)
        )
    counts = len(sources.codes), sources.n_stripped
    tell_of_table(table, counts, [] if first_line is not None else names, changes)
    if set(ends) == {None}:
        places = _places(sources.distinct, table.names_line[:2])
        known = [place is not None for place in places]
        tell_of_first_line(table, known, first_line is not None, changes)
    if table.untyped:
        _tell_of_comments(sources, changes)
    if isinstance(weight, str):
        return EdgeList(sources, targets, numeric_column(table, weight))
    weights = None if weight is None else _weights(weight, len(sources.codes))
    return EdgeList(sources, targets, weights)


def _places(distinct: NDArray[Any], names: Sequence[str]) -> list[int | None]:
    """Return where in sorted ids each name stands, None if it is none of them."""
    if distinct.dtype.kind != "U":
        return [None for _ in names]
    places = np.searchsorted(distinct, names)
    there = [
        place < len(distinct) and distinct[place] == name
        for place, name in zip(places, names, strict=True)
    ]
    return [int(place) if found else None for place, found in zip(places, there, strict=True)]


def _first_line(distinct: NDArray[Any], table: Table) -> list[int] | None:
    """Return the ends of the first line of a file as places, if both names in it are nodes."""
    if len(table.names_line) != 2 or table.columns:
        return None
    places = [place for place in _places(distinct, table.names_line) if place is not None]
    return places if len(places) == 2 else None


def tell_of_first_line(
    table: Table, known: Sequence[bool], is_edge: bool, changes: Changes
) -> None:
    """Tell of a first line whose names are nodes.

    Parameters
    ----------
    table : Table
        The table of edges.
    known : sequence of bool
        Whether each of the first two names occurs as a node.
    is_edge : bool
        Whether the line was taken for an edge.
    changes : Changes
        Told of it.
    """
    names = table.names_line[:2]
    if is_edge:
        words = ", ".join(map(repr, names))
        phrase = f"the first line of edges ({words}) is an edge and no column names, since both"
        changes.note(f"{phrase} occur as nodes", surprising=True)
        return
    nodes = [name for name, is_node in zip(names, known, strict=True) if is_node]
    if nodes:
        changes.note(
            f"the first line of edges was taken for column names, but {nodes[0]!r} is also a node; "
            "header=False reads it as an edge",
            surprising=True,
        )


def tell_of_table(
    table: Table, counts: tuple[int, int], names: Sequence[str], changes: Changes
) -> None:
    """Say what was read of a file and what was not; counts are of rows and of ids with spaces."""
    n_rows, n_stripped = counts
    if table.form:
        ends = f", columns {names[0]!r} and {names[1]!r}" if names else ""
        changes.note(f"edges: {counted(n_rows, 'row')} of {table.form}{ends}")
    n_columns = len(names) + len(table.unread)
    if not table.has_names and n_rows == n_columns > 3:
        changes.note(
            f"edges has {n_rows:,} rows and as many columns: an adjacency matrix is read as edges "
            "only if it is written as a list of them (Graph.from_scipy takes it as an array)",
            surprising=True,
        )
    if n_stripped:
        changes.note(f"spaces around {counted(n_stripped, 'id')} of edges removed")
    if table.unread:
        odd = [name for name in table.unread if name.lower() in _LIKE_WEIGHTS]
        hint = f"; weight={odd[0]!r} makes it count" if odd else ""
        listed = ", ".join(repr(name) for name in table.unread[:8])
        more = f" and {len(table.unread) - 8} more" if len(table.unread) > 8 else ""
        changes.note(f"columns of edges not used: {listed}{more}{hint}", surprising=bool(odd))


def _tell_of_comments(sources: IdColumn, changes: Changes) -> None:
    """Warn of a few lines that start as comments do, in a file that does not start with one."""
    names = sources.distinct
    if not names.size:
        return
    first, last = np.searchsorted(names, ["#", "$"])  # sorted: all that start with # lie between
    marked = names[first:last].tolist()
    if marked:
        tell_of_marked(len(marked), marked[0], len(names), changes)


def tell_of_marked(n_marked: int, first: str, n_names: int, changes: Changes) -> None:
    """Warn of ids that start with #, if they are few."""
    if n_marked < n_names // 2:
        changes.note(
            f"{counted(n_marked, 'id')} of edges starting with #, such as {first!r}: lines "
            "are comments only in a file that starts with one",
            surprising=True,
        )


def _from_json(value: Any, weight: Any, changes: Changes) -> EdgeList:
    if weight is not None and not isinstance(weight, str):
        problem = "weight must name a key of the JSON file"
        raise InputError("AGC-I1122", problem, got=type(weight).__name__)
    found = json_edges(value, weight)
    columns = [
        pa.chunked_array([pa.array(ends, pa.string())]) for ends in (found.sources, found.targets)
    ]
    arguments = ["sources of edges", "targets of edges"]
    sources, targets = as_id_columns(columns, arguments, untyped=True)
    changes.note(f"edges: {len(found.sources):,} of {found.form}")
    if found.unread:
        listed = ", ".join(repr(name) for name in found.unread[:8])
        changes.note(f"keys of edges not used: {listed}", surprising="weight" in found.unread)
    weights = None if found.weights is None else _weights(found.weights, len(found.sources))
    nodes = None
    if found.nodes is not None:
        nodes = as_id_column(
            pa.chunked_array([pa.array(found.nodes, pa.string())]), "nodes of edges", untyped=True
        )
    return EdgeList(sources, targets, weights, nodes=nodes)


def _two_columns(edges: Any) -> tuple[IdColumn, IdColumn]:
    if isinstance(edges, tuple) and len(edges) == 2:
        sources, targets = edges
    else:
        rows = _rows(edges)
        sources, targets = rows[:, 0], rows[:, 1]
    columns = as_id_column(sources, "sources of edges"), as_id_column(targets, "targets of edges")
    n_sources, n_targets = (len(column.codes) for column in columns)
    if n_sources != n_targets:
        problem = "edges must have as many sources as targets"
        raise InputError("AGC-I171", problem, got=(n_sources, n_targets))
    return columns


def _rows(edges: Any) -> NDArray[Any]:
    if is_tensor(edges):
        rows = tensor_to_numpy(edges)
    elif isinstance(edges, np.ndarray):
        rows = edges
    else:
        rows = _objects(edges)
    if rows.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InputError(
            "AGC-I172",
            "edges must be a file, a frame, rows of two ids, or a pair (sources, targets)",
            got=rows.shape,
            fix="for an array of shape (2, n_edges) pass tuple(array)",
        )
    return rows


def _objects(edges: Any) -> NDArray[Any]:
    problem = "edges must be a file, a frame, rows of two ids, or a pair (sources, targets)"
    if isinstance(edges, Mapping):
        fix = "pass networkx.Graph(edges), or a list of pairs"
        raise InputError("AGC-I176", problem, got=edges, fix=fix)
    try:
        rows = list(edges)
        if any(isinstance(row, str | bytes | Mapping) for row in rows):
            raise TypeError("a word is no pair of letters, a record no pair of keys")
        return np.array([tuple(row) for row in rows], dtype=object)
    except (TypeError, ValueError) as error:
        fix = "pass records as pandas.DataFrame(edges)"
        raise InputError("AGC-I173", problem, got=edges, fix=fix) from error


def _weights(weight: Any, n_edges: int) -> NDArray[Any]:
    if isinstance(weight, str):
        problem = "weight names a column, but edges is not a table"
        raise InputError("AGC-I174", problem, got=weight, fix="give the weights as an array")
    weights = as_array(weight, "weight")
    if weights.dtype == object:
        weights = np.array([np.nan if is_missing(w) else w for w in weights])
    if len(weights) != n_edges:
        problem = f"weight must have one value for each of the {counted(n_edges, 'edge')}"
        raise InputError("AGC-I175", problem, got=len(weights))
    return weights
