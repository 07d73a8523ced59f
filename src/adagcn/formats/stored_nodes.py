"""The nodes of a store that is being built: their order, and the positions of ids in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adagcn.errors import InputError
from adagcn.formats.array_files import ArrayFile
from adagcn.formats.graph_store import ArrayParts, StoredFile, write_array
from adagcn.formats.node_ids import IdKind
from adagcn.formats.node_index import repeated_ids, unknown_ids
from adagcn.formats.scratch_database import ScratchDatabase
from adagcn.formats.table_streams import not_out_of_core

_IDS_AT_ONCE = 2**20
_MOST_NODES = 2**31 - 1  # 2 n² must fit into 63 bits, since pairs of nodes are sorted as one number
_MOST_GAPS = 8  # ids lie close together if one number in so many is an id
_MOST_PLACES = 2**26
_ENDS = "(SELECT s AS id FROM ends UNION ALL SELECT t AS id FROM ends)"


@dataclass(frozen=True)
class StoredNodes:
    """The nodes in their order, and where each id is in it.

    Parameters
    ----------
    base : ScratchDatabase
        Holds the table ``nodes`` of ids and positions, unless the ids are a range.
    n_nodes : int
        Number of nodes.
    kind : {"integers", "strings"}
        What the ids are.
    is_range : bool
        Whether the ids are 0 to n − 1, so that an id is its position.
    node_ids : ArrayFile or None
        The file of the ids, once it is written.
    places : ndarray or None
        For sorted integers that lie close together: the position of ``first`` + i at place i.
        Edges can then be sorted by their ids, and be numbered afterwards without a join.
    first : int
        The smallest of these ids.
    """

    base: ScratchDatabase
    n_nodes: int
    kind: IdKind
    is_range: bool
    node_ids: Any = None
    places: NDArray[np.int32] | None = None
    first: int = 0

    @property
    def span(self) -> int:
        """How many numbers the ends of ``pairs`` may be."""
        return self.n_nodes if self.places is None else len(self.places)

    def find(self, ids: NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of each id, −1 where there is none."""
        if not len(ids):
            return np.empty(0, dtype=np.intp)
        if self.kind == "integers" and ids.dtype != np.int64:
            raise not_out_of_core("labels hold integer ids past 64 bits", got=ids[:3].tolist())
        if self.is_range:
            known = (ids >= 0) & (ids < self.n_nodes)
            return np.where(known, ids, -1).astype(np.intp, copy=False)
        given = pa.table({"id": pa.array(ids), "number": np.arange(len(ids))})
        query = (
            "SELECT coalesce(position, -1)::BIGINT AS position FROM given LEFT JOIN nodes "
            "USING (id) ORDER BY number"
        )
        return np.asarray(self.base.column(query, given).to_numpy()).astype(np.intp, copy=False)

    def write(self, folder: Path) -> tuple[StoredNodes, StoredFile]:
        """Write the ids to their file; return the nodes with it."""
        path = folder / "node_ids.npy"
        file = write_array(path, ArrayParts((self.n_nodes,), self._dtype(), self._parts()))
        return replace(self, node_ids=ArrayFile.of(path)), file

    def _dtype(self) -> np.dtype[Any]:
        if self.kind == "integers":
            return np.dtype(np.int64)
        longest = self.base.row("SELECT max(length(id)) FROM nodes")[0]
        return np.dtype(f"U{max(longest, 1)}")

    def _parts(self) -> Iterator[NDArray[Any]]:
        if self.is_range:
            for start in range(0, self.n_nodes, _IDS_AT_ONCE):
                yield np.arange(start, min(start + _IDS_AT_ONCE, self.n_nodes), dtype=np.int64)
            return
        dtype = self._dtype()
        for batch in self.base.batches("SELECT id FROM nodes ORDER BY position"):
            ids = batch.column(0)
            yield np.array(ids.to_pylist(), dtype) if dtype.kind == "U" else ids.to_numpy()


def nodes_of_features(
    base: ScratchDatabase, kind: IdKind, n_nodes: int, *, is_range: bool, may_be_long: bool
) -> StoredNodes:
    """Return the nodes that the table ``nodes`` lists, each once.

    Raises
    ------
    InputError
        If some are listed more than once.
    """
    if not is_range and base.row("SELECT count(DISTINCT id) FROM nodes")[0] < n_nodes:
        if may_be_long:
            raise not_out_of_core("features lists nodes more than once, as a long table does")
        twice = "SELECT id FROM nodes GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 5"
        raise repeated_ids([row[0] for row in base.rows(twice)])
    return _checked(StoredNodes(base, n_nodes, kind, is_range))


def nodes_of_edges(base: ScratchDatabase, kind: IdKind) -> StoredNodes:
    """Return the different ids of the table ``ends``, sorted.

    Strings are sorted by their bytes, which is the order of their code points and so NumPy's.
    """
    if kind == "integers":
        nodes = _close_integers(base)
        if nodes is not None:
            return nodes
    base.run(
        "CREATE TABLE nodes AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS position "
        "FROM (SELECT DISTINCT s AS id FROM ends UNION SELECT DISTINCT t FROM ends)"
    )
    n_nodes, first, last = base.row("SELECT count(*), min(id), max(id) FROM nodes")
    is_range = kind == "integers" and n_nodes > 0 and (first, last) == (0, n_nodes - 1)
    return _checked(StoredNodes(base, n_nodes, kind, is_range))


def _close_integers(base: ScratchDatabase) -> StoredNodes | None:
    """Return sorted integer ids if they lie close together: a mark for each number finds them.

    That takes a third of what the database needs to find and sort them.
    """
    n_ends, *bounds = base.row("SELECT 2 * count(*), min(s), min(t), max(s), max(t) FROM ends")
    if not n_ends:
        return None
    first, last = min(bounds[:2]), max(bounds[2:])
    if last - first >= min(_MOST_GAPS * n_ends, _MOST_PLACES):
        return None
    is_node = np.zeros(last - first + 1, dtype=bool)
    for batch in base.batches("SELECT s, t FROM ends"):
        for column in batch.columns:
            is_node[column.to_numpy() - first] = True
    n_nodes = int(np.count_nonzero(is_node))
    if last - first >= _MOST_GAPS * n_nodes:
        return None
    nodes = _checked(StoredNodes(base, n_nodes, "integers", (first, last) == (0, n_nodes - 1)))
    return nodes if nodes.is_range else _with_places(nodes, is_node, first)


def _with_places(nodes: StoredNodes, is_node: NDArray[np.bool_], first: int) -> StoredNodes:
    nodes.base.run("CREATE TABLE nodes (id BIGINT, position BIGINT)")
    places = np.cumsum(is_node, dtype=np.int32)
    places -= 1
    for start in range(0, len(is_node), _IDS_AT_ONCE):
        some = start + np.flatnonzero(is_node[start : start + _IDS_AT_ONCE])
        nodes.base.insert("nodes", pa.table({"id": first + some, "position": places[some]}))
    return replace(nodes, places=places, first=first)


def _checked(nodes: StoredNodes) -> StoredNodes:
    if not nodes.n_nodes:
        problem = "the graph has no nodes"
        raise InputError("AGC-I191", problem, got=0, fix="give at least one edge or node id")
    if nodes.n_nodes > _MOST_NODES:
        raise not_out_of_core(f"the graph has more than {_MOST_NODES:,} nodes", got=nodes.n_nodes)
    return nodes


def make_pairs(nodes: StoredNodes, more: str = "") -> None:
    """Make ``pairs`` of the table ``ends``: the same edges by the positions of their ends.

    Where the nodes have ``places``, the ends are numbers of places. An edge with an id that is no
    node is not among the pairs.

    Parameters
    ----------
    nodes : StoredNodes
        The nodes.
    more : str
        Further columns, each after a comma.
    """
    if nodes.places is not None:
        query = f"SELECT s - {nodes.first} AS s, t - {nodes.first} AS t{more} FROM ends"
    elif nodes.is_range:
        inside = f"least(s, t) >= 0 AND greatest(s, t) < {nodes.n_nodes}"
        query = f"SELECT s, t{more} FROM ends WHERE {inside}"
    else:
        query = (
            f"SELECT a.position AS s, b.position AS t{more} FROM ends "
            "JOIN nodes a ON ends.s = a.id JOIN nodes b ON ends.t = b.id"
        )
    nodes.base.run(f"CREATE VIEW pairs AS {query}")


def unknown_ends(nodes: StoredNodes, arguments: tuple[str, str], *, shared: bool) -> InputError:
    """Return the error for edges with ids that are no nodes.

    Parameters
    ----------
    nodes : StoredNodes
        The nodes.
    arguments : pair of str
        What to call the two columns in messages.
    shared : bool
        Whether such ids are counted over both columns, as in text files.
    """
    known = f"range({nodes.n_nodes}) AS nodes(id)" if nodes.is_range else "nodes"
    columns = [_ENDS] if shared else ["(SELECT s AS id FROM ends)", "(SELECT t AS id FROM ends)"]
    for column, argument in zip(columns, arguments, strict=False):
        distinct = f"(SELECT DISTINCT id FROM {column} AS named ANTI JOIN {known} USING (id))"
        n_ids = nodes.base.row(f"SELECT count(*) FROM {distinct}")[0]
        if n_ids:
            few = nodes.base.rows(f"SELECT id FROM {distinct} ORDER BY id LIMIT 5")
            return unknown_ids(np.array([row[0] for row in few]), argument, n_ids)
    raise AssertionError("every id is a node")
