"""The nodes of a store after an update: where they stand, their features and their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted, shown
from adagcn.formats.assembly import aligned_labels
from adagcn.formats.changes import Changes
from adagcn.formats.graph_store import ArrayParts, StoredArrays
from adagcn.formats.labels import UNKNOWN, Encoded
from adagcn.formats.node_ids import IdColumn
from adagcn.formats.node_index import unknown_ids

_IDS_AT_ONCE = 2**20
_VALUES_AT_ONCE = 2**22


@dataclass(frozen=True)
class UpdatedNodes:
    """Where the nodes of a store stand after an update.

    Parameters
    ----------
    node_ids : ndarray of shape (n_before,)
        The ids before, mapped into memory.
    named : ndarray of shape (n_named,)
        The ids that the update names, sorted.
    places : ndarray of shape (n_named,)
        Where each of them stands afterwards, −1 if it is no node.
    added : ndarray of shape (n_added,)
        The new ids, in their order.
    moved : ndarray of shape (n_before,) or None
        Where the nodes before stand afterwards; None if they stay where they are.
    """

    node_ids: NDArray[Any]
    named: NDArray[Any]
    places: NDArray[np.int64]
    added: NDArray[Any]
    moved: NDArray[np.int64] | None

    @property
    def n_before(self) -> int:
        """Number of nodes before."""
        return len(self.node_ids)

    @property
    def n_nodes(self) -> int:
        """Number of nodes afterwards."""
        return self.n_before + len(self.added)

    def earlier(self) -> NDArray[np.int64]:
        """Return where each node stood before, −1 for a new one."""
        positions = np.full(self.n_nodes, -1, dtype=np.int64)
        now = slice(0, self.n_before) if self.moved is None else self.moved
        positions[now] = np.arange(self.n_before)
        return positions

    def find(self, ids: NDArray[Any]) -> NDArray[np.intp]:
        """Return where ids that the update names stand, −1 where there is no such node."""
        return self.places[np.searchsorted(self.named, ids)].astype(np.intp)

    def locate(self, column: IdColumn) -> NDArray[np.intp]:
        """Return where the nodes of a column stand.

        Raises
        ------
        InputError
            If an id is no node.
        """
        found = self.find(column.distinct) if len(column.distinct) else np.empty(0, np.intp)
        if (found < 0).any():
            raise unknown_ids(column.distinct[found < 0], column.argument)
        return found[column.codes]

    def locate_known(self, column: IdColumn) -> NDArray[np.intp]:
        """Return where the nodes of a column stand, without rows whose ids are no nodes."""
        found = self.find(column.distinct)[column.codes]
        return found[found >= 0]

    def id_parts(self) -> ArrayParts:
        """Return the ids afterwards."""
        before = self.node_ids.dtype
        dtype = np.promote_types(before, self.added.dtype) if before.kind == "U" else before
        return ArrayParts((self.n_nodes,), dtype, self._ids(dtype))

    def _ids(self, dtype: Any) -> Iterator[NDArray[Any]]:
        left = self.added.astype(dtype)
        for start in range(0, self.n_before, _IDS_AT_ONCE):
            ids = np.asarray(self.node_ids[start : start + _IDS_AT_ONCE]).astype(dtype)
            if self.moved is not None:
                n_between = int(np.searchsorted(left, ids[-1]))
                between, left = left[:n_between], left[n_between:]
                ids = np.insert(ids, np.searchsorted(ids, between), between)
            yield ids
        yield left


def placed_nodes(
    stored: StoredArrays, named: NDArray[Any], new: NDArray[Any], *, in_order: bool
) -> UpdatedNodes:
    """Return where nodes stand after an update.

    Parameters
    ----------
    stored : StoredArrays
        The store.
    named : ndarray
        The ids that the update names, sorted, each once.
    new : ndarray
        Those that may be new nodes, in the order of the tables; others that are no nodes stay so.
    in_order : bool
        Whether the ids of the store are sorted and new ones take their places among them, as in a
        build without a table of features; else they come last.
    """
    node_ids = stored.node_ids
    places = _positions(node_ids, named)
    unknown = places[np.searchsorted(named, new)] < 0
    added = np.unique(new[unknown]) if in_order else new[unknown]
    moved = None
    own = len(node_ids) + np.arange(len(added))
    if in_order and len(added) and len(node_ids) and added[0] < node_ids[-1]:
        moved = np.arange(len(node_ids), dtype=np.int64)
        for start in range(0, len(node_ids), _IDS_AT_ONCE):
            some = slice(start, start + _IDS_AT_ONCE)
            moved[some] += np.searchsorted(added, node_ids[some])
        is_new = np.ones(len(node_ids) + len(added), dtype=bool)
        is_new[moved] = False
        own = np.flatnonzero(is_new)
        places[places >= 0] = moved[places[places >= 0]]
    places[np.searchsorted(named, added)] = own
    return UpdatedNodes(node_ids, named, places, added, moved)


def _positions(node_ids: NDArray[Any], named: NDArray[Any]) -> NDArray[np.int64]:
    """Return where sorted ids are among those of a store, read some at a time."""
    found = np.full(len(named), -1, dtype=np.int64)
    if not len(named):
        return found
    for start in range(0, len(node_ids), _IDS_AT_ONCE):
        ids = np.asarray(node_ids[start : start + _IDS_AT_ONCE])
        near = np.minimum(np.searchsorted(named, ids), len(named) - 1)
        hit = named[near] == ids
        found[near[hit]] = start + np.flatnonzero(hit)
    return found


# Features


def matched_columns(
    given: Any, names: Sequence[str] | None, stored: StoredArrays
) -> NDArray[Any] | sparse.csr_array:
    """Return new rows of features with the columns, the form and the type of the stored ones.

    Raises
    ------
    InputError
        If they have other columns.
    """
    n_columns, is_sparse = stored.manifest.n_features, stored.manifest.sparse_features
    rows = sparse.csr_array(given)
    if names is not None and stored.feature_names is not None:
        rows = _by_name(rows, names, stored.feature_names.tolist(), is_sparse)
    elif is_sparse and rows.shape[1] < n_columns:  # columns without names that no row has
        rows = sparse.csr_array((rows.data, rows.indices, rows.indptr), (rows.shape[0], n_columns))
    if rows.shape[1] != n_columns:
        raise _other_columns(f"the store has {counted(n_columns, 'feature column')}", rows.shape[1])
    rows = rows.astype(stored.features.dtype)
    if is_sparse:
        rows.eliminate_zeros()
        rows.sort_indices()
        return rows
    return np.asarray(rows.toarray())


def _by_name(
    rows: sparse.csr_array, names: Sequence[str], wanted: list[str], is_sparse: bool
) -> sparse.csr_array:
    place = {name: i for i, name in enumerate(names)}
    extra = [name for name in names if name not in set(wanted)]
    missing = [name for name in wanted if name not in place]
    if extra:
        raise _other_columns("the store has no such feature column", shown(extra[:5]))
    if missing and not is_sparse:
        problem = f"{counted(len(missing), 'feature column')} of the store are missing"
        raise _other_columns(f"{problem}: {shown(missing[:5])}", list(names)[:5])
    empty = sparse.csr_array((rows.shape[0], 1), dtype=rows.dtype)
    padded = sparse.csr_array(sparse.hstack([rows, empty], format="csr"))
    return padded[:, np.array([place.get(name, rows.shape[1]) for name in wanted])]


def _other_columns(problem: str, got: Any) -> InputError:
    return InputError(
        "AGC-I1903",
        problem,
        got=got,
        fix="give the columns that the store was built with; a store with other columns is made "
        "by adagcn store build",
    )


def dense_parts(
    stored: NDArray[Any], n_nodes: int, places: NDArray[np.intp], rows: NDArray[Any]
) -> ArrayParts:
    """Return dense features with some rows replaced and others added at the end."""
    n_before, n_columns = stored.shape
    order = np.argsort(places)
    n_old = int(np.searchsorted(places[order], n_before))
    old, new = order[:n_old], order[n_old:]
    step = max(_VALUES_AT_ONCE // max(n_columns, 1), 1)

    def parts() -> Iterator[NDArray[Any]]:
        for start in range(0, n_before, step):
            part = np.array(stored[start : start + step])
            some = old[slice(*np.searchsorted(places[old], [start, start + step]))]
            part[places[some] - start] = rows[some]
            yield part
        yield rows[new]

    return ArrayParts((n_nodes, n_columns), stored.dtype, parts())


def sparse_parts(
    stored: sparse.csr_array,
    nodes: UpdatedNodes,
    places: NDArray[np.intp],
    rows: sparse.csr_array,
) -> Iterator[sparse.csr_array]:
    """Yield sparse features afterwards, some rows at a time; new nodes without any have none."""
    earlier, replaced = nodes.earlier(), np.full(nodes.n_nodes, -1, dtype=np.int64)
    replaced[places] = np.arange(len(places))
    counts = np.zeros(nodes.n_nodes, dtype=np.int64)
    counts[earlier >= 0] = np.diff(stored.indptr)
    ends = np.cumsum(counts)
    start = 0
    empty = sparse.csr_array((1, stored.shape[1]), dtype=stored.dtype)
    while start < nodes.n_nodes:
        limit = (ends[start - 1] if start else 0) + _VALUES_AT_ONCE
        stop = min(max(int(np.searchsorted(ends, limit, "right")), start + 1), nodes.n_nodes)
        was, new = earlier[start:stop], replaced[start:stop]
        known = was[was >= 0]
        first, last = (int(known[0]), int(known[-1]) + 1) if len(known) else (0, 0)
        given = new[new >= 0]
        source = sparse.vstack([stored[first:last], rows[given], empty], format="csr")
        n_old = last - first
        take = np.full(stop - start, source.shape[0] - 1)
        take[was >= 0] = known - first
        take[new >= 0] = n_old + np.arange(len(given))
        yield sparse.csr_array(source)[take]
        start = stop


# Labels


def updated_labels(
    stored: StoredArrays, nodes: UpdatedNodes, given: Encoded, ids: IdColumn, changes: Changes
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.intp]]:
    """Return the labels afterwards, their classes, and the nodes whose label is another one.

    A class that no node has any more is gone, as in a build. Sorted classes stay sorted; where
    they are in an order of their own, new ones come last.

    Raises
    ------
    InputError
        If the labels are of another kind than those of the store.
    """
    new, new_classes = aligned_labels(given, ids, _Named(nodes), changes)
    listed = nodes.locate_known(ids) if len(ids.codes) else np.empty(0, dtype=np.intp)
    classes = _united(np.asarray(stored.classes), new_classes)
    labels = np.full(nodes.n_nodes, UNKNOWN, dtype=np.int64)
    now = slice(0, nodes.n_before) if nodes.moved is None else nodes.moved
    labels[now] = _recoded(np.asarray(stored.labels), np.asarray(stored.classes), classes)
    before = labels[listed]
    labels[listed] = _recoded(new[listed], new_classes, classes)
    changed = listed[before != labels[listed]]
    gone = np.setdiff1d(np.unique(before), np.unique(labels))
    left = ~np.isin(np.arange(len(classes)), gone)
    renumbered = np.append(np.where(left, np.cumsum(left) - 1, UNKNOWN), UNKNOWN)
    return renumbered[labels], classes[left], changed


def _united(before: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    if not len(before) or not len(new):
        return before if len(before) else new
    if (before.dtype.kind, new.dtype.kind) not in {("i", "i"), ("U", "U"), ("b", "b")}:
        raise InputError(
            "AGC-I1904",
            "the labels are of another kind than those of the store",
            got=[new.tolist()[0], before.tolist()[0]],
            fix="write them as the store has them, all numbers or all text",
        )
    united = np.unique(np.concatenate([before, new]))
    if np.array_equal(before, np.unique(before)):
        return united
    return np.concatenate([before, new[~np.isin(new, before)]])


def _recoded(
    labels: NDArray[np.int64], classes: NDArray[Any], others: NDArray[Any]
) -> NDArray[np.int64]:
    """Return labels as indices into other classes, which hold all of these."""
    order = np.argsort(others, kind="stable")
    places = order[np.searchsorted(others[order], classes)] if len(classes) else np.empty(0, int)
    renumbered = np.append(places, UNKNOWN).astype(np.int64)
    return renumbered[labels]


@dataclass(frozen=True)
class _Named:
    """The nodes afterwards, as :func:`aligned_labels` asks for them."""

    nodes: UpdatedNodes

    @property
    def node_ids(self) -> Any:
        """What has the length and the type of the ids, and a few of them."""
        return _Ids(self.nodes)

    def find(self, ids: NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of each id, −1 where there is none."""
        return self.nodes.find(ids)


@dataclass(frozen=True)
class _Ids:
    nodes: UpdatedNodes

    def __len__(self) -> int:
        return self.nodes.n_nodes

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return np.asarray(self.nodes.node_ids[rows])
