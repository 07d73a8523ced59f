"""JSON files: edges, features and labels in the layouts that people have.

Keys of an object are always text, so ids count as text that may stand for integers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from adagcn.errors import FormatError, InputError, counted, shown
from adagcn.formats.text_files import read_bytes

_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"))


@dataclass(frozen=True)
class JsonEdges:
    """Edges of a JSON file.

    Parameters
    ----------
    sources, targets : list of str
        The ends.
    weights : list or None
        A weight for each edge, if there is any.
    nodes : list of str or None
        All nodes, if the file lists them.
    form : str
        What the file was taken for.
    unread : tuple of str
        What else the file says of its nodes and edges.
    """

    sources: list[str]
    targets: list[str]
    weights: list[Any] | None
    nodes: list[str] | None
    form: str
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class JsonFeatures:
    """Features of a JSON file: one row for each id, or for each place where there are no ids."""

    ids: list[str] | None
    matrix: Any
    names: list[str] | None
    form: str


def read_json(path: Path, argument: str) -> Any:
    """Read a JSON file, or one of JSON lines as a list.

    Raises
    ------
    FormatError
        If it is not JSON, or an object has a key twice.
    """
    try:
        text = read_bytes(path, argument).decode("utf-8-sig")
        try:
            return json.loads(text, object_pairs_hook=_different_keys)
        except json.JSONDecodeError as error:
            if error.msg != "Extra data" or "\n" not in text.strip():
                raise
        return [_json_line(*line) for line in enumerate(text.split("\n"), 1) if line[1].strip()]
    except (ValueError, RecursionError) as error:
        problem = f"{argument} {str(path)!r} is not readable JSON: {error}"
        raise FormatError("AGC-F1110", problem, fix="write the file again") from error


def _json_line(number: int, line: str) -> Any:
    try:
        return json.loads(line, object_pairs_hook=_different_keys)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}: {error.msg}") from error


def is_records(value: Any) -> bool:
    """Return whether a JSON value is a list of objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def json_edges(value: Any, weight: str | None) -> JsonEdges:
    """Return the edges in a node-link object, an adjacency list or a list of pairs.

    Parameters
    ----------
    value : object
        What :func:`read_json` gives.
    weight : str or None
        The key of an edge's weight in a node-link object.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if isinstance(value, dict):
        links = value.get("links", value.get("edges"))
        if isinstance(links, list):
            return _node_link(value, links, weight)
        if value and all(isinstance(v, list | dict) for v in value.values()):
            return _adjacency_lists(value)
    elif isinstance(value, list) and value and all(isinstance(v, list) for v in value):
        return _pairs(value)
    raise InputError(
        "AGC-I1111",
        "edges is JSON, but neither node-link (nodes and links), nor adjacency lists "
        '({"a": ["b", "c"]}), nor a list of pairs or records',
        got=_outline(value),
        fix="write the edges in one of these forms, or as CSV",
    )


def json_features(value: Any) -> JsonFeatures:
    """Return the features in an object of lists or objects by id, or in a list of rows.

    Lists of one length are rows of values. Lists of several lengths name the features that a node
    has, as numbers or words.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if isinstance(value, dict) and value:
        rows = list(value.values())
        if all(isinstance(row, dict) for row in rows):
            return _named(list(value), rows, "JSON objects of named values, by id")
        if all(isinstance(row, list) for row in rows):
            return _lists(list(value), rows)
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return _lists(None, value)
    raise InputError(
        "AGC-I1112",
        'features is JSON, but neither {"id": [values]}, nor {"id": {"name": value}}, nor a list '
        "of rows or records",
        got=_outline(value),
        fix="write the features in one of these forms, or as CSV",
    )


def json_labels(value: Any) -> dict[str, Any]:
    """Return the labels in an object of labels by id.

    Raises
    ------
    InputError
        If it is something else.
    """
    if isinstance(value, dict) and not any(isinstance(v, list | dict) for v in value.values()):
        return value
    raise InputError(
        "AGC-I1113",
        'labels is JSON, but neither {"id": label} nor a list of records',
        got=_outline(value),
        fix="write the labels in one of these forms, or as CSV",
    )


def _different_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in value if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return value


def _node_link(value: Mapping[str, Any], links: list[Any], weight: str | None) -> JsonEdges:
    if links and all(isinstance(link, list) for link in links):
        pairs = _pairs(links)
        sources: list[Any] = [*pairs.sources]
        targets: list[Any] = [*pairs.targets]
        weights, keys = pairs.weights, set[str]()
    else:
        source, target = _end_names(links)
        sources = [link[source] for link in links]
        targets = [link[target] for link in links]
        weights = None if weight is None else _weights(links, weight)
        keys = {key for link in links for key in link} - {source, target, weight, "key"}
    nodes = value.get("nodes")
    form = "JSON, nodes and links"
    if not isinstance(nodes, list) or not nodes:
        return JsonEdges(_ids(sources), _ids(targets), weights, None, form, tuple(sorted(keys)))
    ids, more = _node_ids(nodes)
    sources, targets = (_ends(ends, ids) for ends in (sources, targets))
    return JsonEdges(sources, targets, weights, ids, form, tuple(sorted(keys | more)))


def _end_names(links: list[Any]) -> tuple[str, str]:
    for source, target in _ENDS:
        if all(isinstance(link, dict) and source in link and target in link for link in links):
            return source, target
    raise InputError(
        "AGC-I1114",
        "every link of the JSON file needs source and target",
        got=next((link for link in links if not isinstance(link, dict) or len(link) < 2), links[0]),
        fix='write {"source": "a", "target": "b"}',
    )


def _weights(links: list[Any], weight: str) -> list[Any]:
    if not any(weight in link for link in links):
        problem = f"no link of the JSON file has {weight!r}"
        raise InputError("AGC-I1115", problem, got=sorted(links[0])[:10], fix="use one of these")
    return [link.get(weight, 1) for link in links]


def _node_ids(nodes: list[Any]) -> tuple[list[str], set[str]]:
    """Return the ids of the nodes, and what else is said of them."""
    if not all(isinstance(node, dict) for node in nodes):
        return _ids(nodes), set()
    for key in ("id", "name", "key"):
        if all(key in node for node in nodes):
            return _ids([n[key] for n in nodes]), {k for n in nodes for k in n} - {key}
    return [str(i) for i in range(len(nodes))], {key for node in nodes for key in node}


def _ends(ends: list[Any], ids: list[str]) -> list[str]:
    """Return the ends of links as ids; some writers count the nodes instead."""
    texts, known = _ids(ends), set(ids)
    if set(texts) <= known:
        return texts
    if all(isinstance(end, int) and 0 <= end < len(ids) for end in ends):
        return [ids[end] for end in ends]
    unknown = sorted(set(texts) - known)
    problem = f"the links name {counted(len(unknown), 'node')} that nodes does not list"
    raise InputError("AGC-I1116", problem, got=unknown[:5], fix="list every node")


def _adjacency_lists(value: Mapping[str, Any]) -> JsonEdges:
    sources = [node for node, others in value.items() for _ in others]
    targets = _ids([other for others in value.values() for other in others])
    weights = None
    if any(isinstance(others, dict) for others in value.values()):
        found = [
            o for others in value.values() if isinstance(others, dict) for o in others.values()
        ]
        weights = [o.get("weight", 1) if isinstance(o, dict) else o for o in found]
        if len(weights) != len(sources):
            problem = "the JSON file has both lists and objects of neighbors"
            raise InputError("AGC-I1117", problem, fix="use one of the two")
    nodes = list(dict.fromkeys([*value, *targets]))
    return JsonEdges(sources, targets, weights, nodes, "JSON, adjacency lists")


def _pairs(rows: list[Any]) -> JsonEdges:
    if {len(row) for row in rows} - {2} and {len(row) for row in rows} != {3}:
        problem = "every edge of the JSON file must be [source, target] or [source, target, weight]"
        got = next(row for row in rows if len(row) != 2)
        raise InputError("AGC-I1118", problem, got=got, fix="write one of these")
    weights = [row[2] for row in rows] if len(rows[0]) == 3 else None
    form = "JSON, a list of pairs" + ("" if weights is None else " with weights")
    return JsonEdges(
        _ids(row[0] for row in rows), _ids(row[1] for row in rows), weights, None, form
    )


def _ids(values: Iterable[Any]) -> list[str]:
    """Return ids as text."""
    found = list(values)
    for value in found:
        if isinstance(value, bool) or not isinstance(value, str | int):
            problem = "node ids in JSON must be strings or integers"
            raise InputError("AGC-I1119", problem, got=value, fix="write them as strings")
    return [str(value) for value in found]


def _lists(ids: list[str] | None, rows: list[list[Any]]) -> JsonFeatures:
    lengths = {len(row) for row in rows}
    if len(lengths) == 1 and lengths != {0} and all(_are_numbers(row) for row in rows):
        nan = float("nan")
        values = np.array([[nan if v is None else v for v in row] for row in rows], dtype=float)
        n_values = counted(values.shape[1], "value")
        return JsonFeatures(ids, values, None, f"JSON, a list of {n_values} for each node")
    if all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for r in rows for v in r):
        places, kind = [[*row] for row in rows], "numbers"
        n_columns = 1 + max((v for row in rows for v in row), default=0)
        names = [str(i) for i in range(n_columns)]
        return _present(ids, places, names, f"JSON, lists of the {kind} of a node's features")
    if all(isinstance(v, str) for row in rows for v in row):
        names = sorted({v for row in rows for v in row})
        place = {name: i for i, name in enumerate(names)}
        places = [[place[v] for v in row] for row in rows]
        return _present(ids, places, names, "JSON, lists of the names of a node's features")
    problem = (
        "lists of features in JSON must be all of one length and hold numbers, or name the "
        "features that a node has"
    )
    got = f"lengths {sorted(lengths)[:5]}"
    raise InputError("AGC-I1120", problem, got=got, fix="use one of the two")


def _are_numbers(row: Sequence[Any]) -> bool:
    return all(v is None or isinstance(v, int | float) for v in row)


def _present(
    ids: list[str] | None, places: list[list[int]], names: list[str], form: str
) -> JsonFeatures:
    """Return 0 and 1: which features a node has; one that is listed twice counts once."""
    counts = [len(set(row)) for row in places]
    columns = np.array([c for row in places for c in sorted(set(row))], dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    shape = (len(places), max(len(names), 1))
    ones = np.ones(len(columns), dtype=np.float32)
    return JsonFeatures(ids, sparse.csr_array((ones, columns, indptr), shape=shape), names, form)


def _named(ids: list[str], rows: list[Mapping[str, Any]], form: str) -> JsonFeatures:
    names = sorted({name for row in rows for name in row})
    place = {name: i for i, name in enumerate(names)}
    found = [
        (i, place[name], _checked_number(node, name, value))
        for i, (node, row) in enumerate(zip(ids, rows, strict=True))
        for name, value in row.items()
    ]
    at, columns, values = (
        (np.array(part) for part in zip(*found, strict=True))
        if found
        else 3 * (np.empty(0, dtype=np.int64),)
    )
    shape = (len(rows), max(len(names), 1))
    return JsonFeatures(ids, sparse.csr_array((values, (at, columns)), shape=shape), names, form)


def _checked_number(node: str, name: str, value: Any) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool | int | float):
        return float(value)
    problem = f"feature {name!r} of node {node!r} is not a number"
    raise InputError("AGC-I1121", problem, got=value, fix="encode it as numbers, or leave it out")


def _outline(value: Any) -> str:
    """Return the shape of a JSON value in a few words."""
    if isinstance(value, dict):
        return f"an object with the keys {shown(list(value)[:5])}"
    return f"a list of {len(value)}" if isinstance(value, list) else shown(value)
