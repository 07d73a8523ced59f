"""What an update of a store is given, read and put in place beside what the store has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.changes import Changes
from adagcn.formats.edges import EdgeList, read_edges
from adagcn.formats.graph_store import StoredArrays
from adagcn.formats.node_ids import IdColumn, first_few, of_one_kind
from adagcn.formats.nodes import Nodes, NodeSource, read_nodes
from adagcn.formats.text_files import TextRules
from adagcn.formats.updated_nodes import UpdatedNodes, placed_nodes


@dataclass(frozen=True)
class UpdateTables:
    """What is new; :meth:`adagcn.GraphStore.update` explains each field.

    Parameters
    ----------
    edges, remove_edges : path, frame, array or pair, optional
        New edges, and edges that are gone.
    source, target, weight : str, optional
        Columns of the edges.
    nodes : NodeSource
        New and changed features and labels.
    rules : EdgeRules or None
        What to do with edges that are not simple; None: as of a store without directions.
    text : TextRules
        What the user says of text files.
    """

    edges: Any = None
    remove_edges: Any = None
    source: str | None = None
    target: str | None = None
    weight: Any = None
    nodes: NodeSource = field(default_factory=NodeSource)
    rules: EdgeRules | None = None
    text: TextRules = field(default_factory=TextRules)

    def check_used(self) -> None:
        """Refuse an update with nothing, and what is said of edges that are not there."""
        given = (self.edges, self.remove_edges, self.nodes.features, self.nodes.labels)
        if all(each is None for each in given):
            problem = "there is nothing to update with"
            fix = "give edges, remove_edges, features or labels"
            raise InputError("AGC-I1906", problem, fix=fix)
        has_any = self.edges is not None or self.remove_edges is not None
        said = {
            "source": (self.source, has_any),
            "target": (self.target, has_any),
            "header": (self.text.header, has_any),
            "weight": (self.weight, self.edges is not None),
        }
        for name, (value, is_used) in said.items():
            if value is not None and not is_used:
                problem = f"{name} is for new edges, and there are none"
                raise InputError("AGC-I1911", problem, got=value, fix=f"leave {name} out")


class ReadUpdate:
    """The tables of an update as they were read.

    Parameters
    ----------
    stored : StoredArrays
        What the store has.
    tables : UpdateTables
        What is new.

    Attributes
    ----------
    changes : Changes
        What a user might not expect of the tables.
    rules : EdgeRules
        What to do with edges that are not simple.
    edges, gone : EdgeList or None
        New edges, and those that are gone.
    given : Nodes
        New and changed features and labels.
    ids : dict
        All columns of ids, in the kind of those of the store.
    nodes : UpdatedNodes
        Where all nodes stand.
    """

    def __init__(self, stored: StoredArrays, tables: UpdateTables) -> None:
        self.stored, self.tables, self.changes = stored, tables, Changes()
        self.rules = self._checked_rules()
        self.edges = self._read_edges(tables.edges, self.changes)
        self.gone = self._read_edges(tables.remove_edges, Changes(), is_new=False)
        dtype = np.dtype(stored.features.dtype)
        source = NodeSource(**{**vars(tables.nodes), "dtype": dtype})
        self.given: Nodes = read_nodes(source, self.changes)
        self.ids = self._ids()
        self.nodes = self._placed()

    def _checked_rules(self) -> EdgeRules:
        is_directed = self.stored.manifest.directed
        rules = self.tables.rules or EdgeRules()
        needed = self.tables.edges is not None or self.tables.remove_edges is not None
        if needed and is_directed and rules.directed not in ("keep", "reverse"):
            raise InputError(
                "AGC-I1905",
                "edges of this store have a direction, and the new ones need one",
                got=f"directed={rules.directed!r}",
                fix="say directed='keep' or 'reverse', as when the store was built",
            )
        return rules

    def _read_edges(self, edges: Any, changes: Changes, *, is_new: bool = True) -> EdgeList | None:
        if edges is None:
            return None
        tables = self.tables
        weight = tables.weight if is_new else None
        columns = {"source": tables.source, "target": tables.target}
        return read_edges(edges, changes, **columns, weight=weight, rules=tables.text)

    def _ids(self) -> dict[str, IdColumn]:
        """Return all columns of ids, in the kind of those of the store."""
        columns = {"store": _column(self.stored.node_ids[:1], "the store"), **self._given_ids()}
        for name, listed in {"edges": self.edges, "remove_edges": self.gone}.items():
            if listed is not None:
                columns[f"sources of {name}"] = listed.sources
                columns[f"targets of {name}"] = listed.targets
                if listed.nodes is not None:
                    columns[f"nodes of {name}"] = listed.nodes
        settled = dict(zip(columns, of_one_kind([*columns.values()]), strict=True))
        for column in settled.values():
            if column.distinct.dtype.kind not in "U" and column.distinct.dtype != np.int64:
                raise InputError(
                    "AGC-I1430",
                    "node ids in a store must be text or integers of 64 bits",
                    got=first_few(column.distinct),
                    fix="write the ids as text",
                )
        return settled

    def _given_ids(self) -> dict[str, IdColumn]:
        """Return the ids of the features and labels."""
        columns, found = self.given.id_columns, {}
        for name in ("features", "labels"):
            if getattr(self.given, name) is None:
                continue
            ids = columns.get(name) or columns.get("node_ids")
            if ids is None or len(ids.codes) != len(_rows_of(getattr(self.given, name))):
                raise InputError(
                    "AGC-I1908",
                    f"the rows of {name} need ids: an update lists some of the nodes",
                    got=f"{counted(len(_rows_of(getattr(self.given, name))), 'row')} without ids",
                    fix=f"give {name} as a table with an id column, or the ids as node_ids",
                )
            found[name] = ids
        return found

    def _placed(self) -> UpdatedNodes:
        """Return where all nodes stand."""
        columns = [column for name, column in self.ids.items() if name != "store"]
        distinct = [column.distinct for column in columns if len(column.distinct)]
        named = np.unique(np.concatenate(distinct)) if distinct else self.stored.node_ids[:0]
        is_open = self.stored.manifest.sparse_features
        # As a build orders nodes: a table of features lists them, or else their ids are sorted.
        in_order = is_open and _is_sorted(self.stored.node_ids)
        may_be_new = ["features", "nodes of edges", "sources of edges", "targets of edges"]
        names = [name for name in may_be_new[: None if is_open else 1] if name in self.ids]
        new = [self.ids[name].ids for name in names]
        listed = np.concatenate(new) if new else named[:0]
        _, first = np.unique(listed, return_index=True)
        return placed_nodes(self.stored, named, listed[np.sort(first)], in_order=in_order)


def _column(ids: NDArray[Any], argument: str) -> IdColumn:
    return IdColumn(np.asarray(ids), np.arange(len(ids)), argument)


def _rows_of(given: Any) -> range:
    """Return the numbers of the rows of features, or of labels with their classes."""
    return range(len(given[0]) if isinstance(given, tuple) else given.shape[0])


def _is_sorted(ids: NDArray[Any]) -> bool:
    return all(bool((part[1:] > part[:-1]).all()) for part in _overlapping(ids))


def _overlapping(ids: NDArray[Any], n_some: int = 2**20) -> Iterator[NDArray[Any]]:
    """Yield the ids in parts, each with the last one of the part before."""
    return (np.asarray(ids[max(s - 1, 0) : s + n_some]) for s in range(0, len(ids), n_some))
