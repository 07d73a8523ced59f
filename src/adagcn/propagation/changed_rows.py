"""Which rows of the hops of a graph differ from those of an earlier graph.

Row i of X^(l+1) = (1 − γ) Â X^(l) + γ X changes only if row i of Â has changed, or if a row of
X^(l) has changed that it gathers from, its own among them; with γ > 0, also if row i of X has. Row
i of Â changes with its own edges, and under the symmetric normalization with the degree of any node
that it gathers from. Sums of floats depend on their order: where nodes stand in another order, a
row whose neighbors do counts as changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.formats.node_index import NodeIndex
from adagcn.graph import Features
from adagcn.propagation.normalize import Normalization

Mask = NDArray[np.bool_]
Degrees = tuple[NDArray[np.float64], NDArray[np.float64]]

_STORED_AT_ONCE = 2**20


@dataclass(frozen=True)
class EarlierNodes:
    """Where each node of a graph was in an earlier one.

    Parameters
    ----------
    positions : ndarray of shape (n_nodes,), int64
        The position in the earlier graph, −1 for a node that is new.
    is_start : bool
        Whether the nodes of the earlier graph are the first ones, in the same order.
    in_order : bool
        Whether the nodes that are in both graphs stand in the same order.
    """

    positions: NDArray[np.int64]
    is_start: bool
    in_order: bool

    @classmethod
    def found(cls, before: NodeIndex, node_ids: NDArray[Any]) -> EarlierNodes:
        """Return where the nodes with these ids were."""
        ids = before.node_ids
        n_before, n_nodes = len(ids), len(node_ids)
        if n_before <= n_nodes and np.array_equal(ids, node_ids[:n_before]):
            return cls.appended(n_before, n_nodes)
        if (ids.dtype.kind == "U") != (node_ids.dtype.kind == "U"):
            return cls(np.full(n_nodes, -1, dtype=np.int64), False, True)
        positions = before.find(node_ids).astype(np.int64)
        known = positions[positions >= 0]
        return cls(positions, False, bool((np.diff(known) > 0).all()))

    @classmethod
    def appended(cls, n_before: int, n_nodes: int) -> EarlierNodes:
        """Return that of a graph to which nodes were added at the end."""
        positions = np.arange(n_nodes, dtype=np.int64)
        positions[n_before:] = -1
        return cls(positions, True, True)

    @property
    def known(self) -> Mask:
        """Which nodes were there."""
        return self.positions >= 0


def changed_features(before: Features, after: Features, earlier: EarlierNodes) -> Mask:
    """Return which nodes have other features than before; those that are new have."""
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        changed = ~earlier.known
        width = max(after.shape[1], 1)
        for rows in _slices(after.shape[0], max(_STORED_AT_ONCE // width, 1)):
            there = np.maximum(earlier.positions[rows], 0)
            old = before[_as_slice(there)] if len(before) else np.zeros_like(after[rows])
            changed[rows] |= (after[rows] != old).any(axis=1)
        return changed
    assert not isinstance(before, np.ndarray)
    assert not isinstance(after, np.ndarray)
    columns = np.arange(max(before.shape[1], after.shape[1]))
    return _changed_sparse_rows(before, after, earlier, EarlierNodes(columns, True, True))


def changed_edges(before: sparse.csr_array, after: sparse.csr_array, earlier: EarlierNodes) -> Mask:
    """Return which rows of the adjacency differ: in what they gather from, or in which order."""
    return _changed_sparse_rows(before, after, earlier, earlier)


def _changed_sparse_rows(
    before: sparse.csr_array,
    after: sparse.csr_array,
    earlier: EarlierNodes,
    columns: EarlierNodes,
) -> Mask:
    """Return which rows store other columns, other values or the same ones in another order."""
    n_before = np.diff(before.indptr)
    places = np.maximum(earlier.positions, 0)
    n_old = n_before[places] if len(n_before) else np.zeros_like(places)
    alike = earlier.known & (np.diff(after.indptr) == n_old)
    changed: Mask = ~alike
    for some in _row_slices(after.indptr):
        rows = some.start + np.flatnonzero(alike[some])
        if not len(rows):
            continue
        was = earlier.positions[rows]
        new, old = _stored_at(after.indptr, rows), _stored_at(before.indptr, was)
        now, then = after.indices[new], before.indices[old]
        differs = (now if columns.is_start else columns.positions[now]) != then
        differs |= after.data[new] != before.data[old]
        if differs.any() or not columns.in_order:
            row_of = np.repeat(np.arange(len(rows)), np.diff(after.indptr)[rows])
            if not columns.in_order:  # the self-loop of A + I may stand elsewhere in the row
                differs |= (now < rows[row_of]) != (then < was[row_of])
            changed[rows[row_of[differs]]] = True
    return changed


def changed_propagator(
    adjacency: sparse.csr_array,
    edges: Mask,
    degrees: tuple[Degrees, Degrees] | None,
    earlier: EarlierNodes,
) -> Mask:
    """Return which rows of Â differ.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A, as it is now.
    edges : ndarray of shape (n_nodes,)
        Which rows of it differ.
    degrees : pair of (ndarray, ndarray) or None
        Row and column sums of A + I, now and earlier; None for the random walk, whose rows rest on
        their own edges alone.
    earlier : EarlierNodes
        Where the nodes were.
    """
    if degrees is None:
        return edges
    now, then = (column_sums for _, column_sums in degrees)
    there = np.maximum(earlier.positions, 0)
    other = ~earlier.known
    if len(then):
        other |= now != then[there]
    return edges | gathering_from(adjacency, other)


def gathering_from(adjacency: sparse.csr_array, nodes: Mask) -> Mask:
    """Return which rows of A + I gather from any of some nodes."""
    reached = nodes.copy()
    if nodes.all() or not nodes.any():
        return reached
    indptr = adjacency.indptr
    for rows in _row_slices(indptr):
        first = int(indptr[rows.start])
        hit = nodes[adjacency.indices[first : int(indptr[rows.stop])]]
        if not hit.any():
            continue
        filled = rows.start + np.flatnonzero(np.diff(indptr[rows.start : rows.stop + 1]))
        reached[filled] |= np.logical_or.reduceat(hit, indptr[filled] - first)
    return reached


@dataclass(frozen=True)
class Reach:
    """What a change of a graph reaches, hop by hop.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A, as it is now.
    features : ndarray of shape (n_nodes,)
        Which rows of X differ.
    propagator : ndarray of shape (n_nodes,)
        Which rows of Â differ.
    teleport : float
        γ.
    """

    adjacency: sparse.csr_array
    features: Mask
    propagator: Mask
    teleport: float

    def next(self, changed: Mask) -> Mask:
        """Return which rows of the next hop differ, if these ones of a hop do."""
        reached = self.propagator | gathering_from(self.adjacency, changed)
        return reached | self.features if self.teleport else reached

    def share_of_edges(self, rows: Mask) -> float:
        """Return which share of the stored values of A + I is in some rows: what they cost."""
        stored = np.diff(self.adjacency.indptr) + 1
        return float(stored[rows].sum() / max(stored.sum(), 1))


@dataclass(frozen=True)
class HopCosts:
    """What hops 1, 2, … cost, for each stored value of A + I; in any unit.

    Parameters
    ----------
    patched : tuple of float
        By hop: of a value in a row that is computed for itself.
    whole : tuple of float
        By hop: of a value where all rows are computed.
    once : float
        Of a value, before the first hop that is computed whole.
    """

    patched: tuple[float, ...]
    whole: tuple[float, ...]
    once: float

    def hops_to_patch(self, shares: Sequence[float]) -> int:
        """Return how many hops to patch before all others are computed whole: what is cheapest.

        >>> costs = HopCosts(patched=(3.0, 3.0), whole=(1.0, 1.0), once=2.0)
        >>> [costs.hops_to_patch(shares) for shares in ([0.1, 0.6], [0.1, 1.0], [0.9, 1.0])]
        [2, 1, 0]
        """
        patched = np.cumsum([0.0, *np.multiply(self.patched, shares)])
        whole = np.cumsum([0.0, *self.whole[::-1]])[::-1]
        whole[:-1] += self.once
        return int(np.argmin(patched + whole))


@dataclass(frozen=True)
class UpdatePlan:
    """Of which hops some rows are computed, and which rows; later hops are computed whole.

    Parameters
    ----------
    changed : tuple of ndarray of shape (n_nodes,)
        Which rows differ, by hop from hop 0 on; of patched hops at least.
    n_patched : int
        Hops 1 to this one are patched.
    reason : str or None
        Why those after it are computed whole; None if there are none.
    """

    changed: tuple[Mask, ...]
    n_patched: int
    reason: str | None

    @classmethod
    def cheapest(cls, reach: Reach, costs: HopCosts) -> UpdatePlan:
        """Return the cheapest plan for the hops that have costs.

        A hop reaches at least as far as the one before it. So no further hop is looked at when
        patching would not pay even if the change spread no more.
        """
        n_hops, n_patched = len(costs.whole), len(costs.whole)
        changed, shares = [reach.features], list[float]()
        while len(shares) < n_hops:
            changed.append(reach.next(changed[-1]))
            shares.append(reach.share_of_edges(changed[-1]))
            at_least = shares + shares[-1:] * (n_hops - len(shares))
            n_patched = costs.hops_to_patch(at_least)
            if n_patched <= len(shares):
                break
        reason = None
        if n_patched < n_hops:
            share = f"{changed[-1].mean():.0%} of the rows of hop {len(shares)}"
            reason = f"patching would cost more, since {share} are within reach of the change"
        return cls(tuple(changed), n_patched, reason)


@dataclass(frozen=True)
class HopUpdate:
    """What an update of kept hops computed.

    Parameters
    ----------
    n_nodes : int
        Nodes of the graph.
    rows : tuple of int
        Rows that were computed, by hop; hop 0 are the features, where rows that differ count.
    whole : str or None
        Why hops after these were computed whole; None if there were none.
    """

    n_nodes: int
    rows: tuple[int, ...]
    whole: str | None = None

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the rows that were computed, by hop."""
        return tuple(n_rows / max(self.n_nodes, 1) for n_rows in self.rows)

    def __str__(self) -> str:
        """Return it in a sentence."""
        if self.whole is not None and len(self.rows) <= 1:  # hop 0 is never computed
            return f"computed anew: {self.whole}"
        hops = [f"{share:.1%} of hop {hop}" for hop, share in enumerate(self.shares)]
        said = f"of {self.n_nodes:,} rows: {', '.join(hops)}"
        return said if self.whole is None else f"{said}; later hops computed anew: {self.whole}"


def needs_degrees(normalization: Normalization) -> bool:
    """Return whether rows of Â rest on the degrees of other nodes."""
    return normalization == "symmetric"


def _slices(n_rows: int, n_some: int) -> Iterator[slice]:
    return (slice(start, min(start + n_some, n_rows)) for start in range(0, n_rows, n_some))


def _row_slices(indptr: NDArray[Any]) -> Iterator[slice]:
    """Yield all rows, so many at a time that they store few values, and at least one row."""
    n_rows, start = len(indptr) - 1, 0
    while start < n_rows:
        limit = int(indptr[start]) + _STORED_AT_ONCE
        stop = max(int(np.searchsorted(indptr, limit, "right")) - 1, start + 1)
        yield slice(start, min(stop, n_rows))
        start = stop


def _stored_at(indptr: NDArray[Any], rows: NDArray[Any]) -> slice | NDArray[np.int64]:
    """Return where the values of rows are stored, as a slice if they follow each other."""
    if rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
        return slice(int(indptr[rows[0]]), int(indptr[rows[-1] + 1]))
    starts = np.asarray(indptr[rows], dtype=np.int64)
    counts = np.asarray(indptr[rows + 1], dtype=np.int64) - starts
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(int(ends[-1]))


def _as_slice(rows: NDArray[Any]) -> Any:
    """Return consecutive rows as a slice, which copies nothing."""
    consecutive = len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all()
    return slice(int(rows[0]), int(rows[-1]) + 1) if consecutive else rows
