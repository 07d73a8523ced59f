"""Hops of a graph that stay in memory, and those of a changed graph made from them.

Only rows within reach of a change are computed again (:mod:`adagcn.propagation.changed_rows`), by
the product of :mod:`adagcn.propagation.row_blocks`: every row has the bits of a new computation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.engines.memory import check_memory
from adagcn.errors import counted
from adagcn.formats.node_index import NodeIndex
from adagcn.graph import Features
from adagcn.propagation.blocks import (
    BlockedPropagator,
    check_hop_fits,
    root_mean_square,
    row_blocks,
    used_up,
)
from adagcn.propagation.changed_rows import (
    Degrees,
    EarlierNodes,
    HopCosts,
    HopUpdate,
    Mask,
    Reach,
    UpdatePlan,
    changed_edges,
    changed_features,
    changed_propagator,
    needs_degrees,
)
from adagcn.propagation.hops import DENSE_ABOVE, Hop, in_cheaper_form, stream_from
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.row_blocks import RowBlocks, degrees_of, next_rows, propagator_rows
from adagcn.propagation.source import MemorySource

# Costs for each value of A + I, in multiplications of a hop that is computed whole: it takes one
# for each column. Measured with 0.6 to 4 million values and 16 to 256 columns, on one thread.
_PATCHED = 3.5  # in a row that is computed for itself, for each column: nothing is laid out for it
_PATCHED_VALUE = 60.0  # and once: its row of Â is made
_PROPAGATOR = 60.0  # making Â,
_LAYOUT = 200.0  # laying it out,
_LAYOUT_COLUMN = 3.0  # and cutting the hop before the first whole one into blocks, for each column
_SPARSE_VALUE = 20.0  # of a sparse hop, over an entry of a dense one (see DENSE_ABOVE)
_PART_BYTES = 2**26


@dataclass(eq=False)
class KeptHops:
    """The hops of one graph, all of them in memory.

    Parameters
    ----------
    source : MemorySource
        Where they start.
    node_ids : ndarray of shape (n_nodes,)
        The ids of the nodes.
    hops : list of csr_array or ndarray of shape (n_nodes, n_features)
        X, ÂX, … in their cheaper form.
    last_update : HopUpdate or None
        What the last use of them for a graph had to compute.
    """

    source: MemorySource
    node_ids: NDArray[Any]
    hops: list[Features]
    last_update: HopUpdate | None = field(default=None)

    @classmethod
    def of(cls, source: MemorySource, node_ids: NDArray[Any], n_hops: int) -> KeptHops:
        """Compute the first hops of a graph and keep them."""
        return cls._streamed(source, source.first(), node_ids, n_hops)

    @classmethod
    def _streamed(
        cls, source: MemorySource, first: Hop, node_ids: NDArray[Any], n_hops: int
    ) -> KeptHops:
        n_nodes, n_columns = first.shape
        check_memory(
            float(n_hops) * n_nodes * n_columns * source.dtype.itemsize,
            f"{n_hops} kept hops",
            got=f"{n_hops} × {n_nodes:,} × {n_columns:,} values",
            fix="do without keep_hops, lower max_features, or keep the graph in a store, whose "
            "hops are kept in files",
        )
        later = islice(stream_from(first), 1, n_hops)
        hops = [in_cheaper_form(source.features), *(hop.rows(np.arange(n_nodes)) for hop in later)]
        return cls(source, node_ids, hops)

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the hops take, the features not counted."""
        return sum(
            each.nbytes
            if isinstance(each, np.ndarray)
            else each.data.nbytes + each.indices.nbytes + each.indptr.nbytes
            for each in self.hops[1:]
        )

    def __repr__(self) -> str:
        """Return what is kept in one line."""
        n_nodes, n_columns = self.hops[0].shape
        hops = f"{len(self.hops)} hops of {n_nodes:,} nodes, {n_columns:,} columns"
        return f"KeptHops({hops}, {self.n_bytes / 2**20:,.1f} MiB)"

    def updated(self, source: MemorySource, node_ids: NDArray[Any]) -> UpdatedSource:
        """Return the hops of another graph, of which only what differs is computed."""
        return UpdatedSource(self, source, node_ids)

    def moved_to(self, source: MemorySource, node_ids: NDArray[Any], n_hops: int) -> KeptHops:
        """Return the kept hops of another graph, made from these."""
        updated = self.updated(source, node_ids)
        kept = self._streamed(source, updated.first(), node_ids, n_hops)
        kept.last_update = self.last_update
        return kept

    @property
    def costs(self) -> HopCosts:
        """What it costs to compute each hop after the first."""
        n_nodes, n_columns = self.hops[0].shape
        before = self.hops[:-1]
        widths = [
            float(n_columns)
            if isinstance(hop, np.ndarray)
            else _SPARSE_VALUE * hop.nnz / max(n_nodes, 1)
            for hop in before
        ]
        once = _PROPAGATOR
        if any(isinstance(hop, np.ndarray) for hop in before):
            once += _LAYOUT + _LAYOUT_COLUMN * n_columns
        patched = tuple(_PATCHED_VALUE + _PATCHED * width for width in widths)
        return HopCosts(patched, tuple(widths), once)

    @cached_property
    def index(self) -> NodeIndex:
        """Finds the nodes by their ids."""
        return NodeIndex(self.node_ids)

    @cached_property
    def degrees(self) -> Degrees:
        """Row and column sums of A + I."""
        return _degrees(self.source.adjacency)

    def stored_in_rows(self, hop: int) -> NDArray[np.int64]:
        """Return how many values each row of a hop holds; of a dense one, those that are not 0."""
        rows = self.hops[hop]
        if isinstance(rows, np.ndarray):
            return np.concatenate(
                [np.count_nonzero(rows[some], axis=1) for some in row_blocks(len(rows))]
            )
        return np.asarray(np.diff(rows.indptr), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class UpdatedSource:
    """Hops of a graph that resembles one whose hops are kept; a ``HopSource``.

    Parameters
    ----------
    kept : KeptHops
        What is kept. Reading these hops does not change it, but for ``last_update``.
    source : MemorySource
        Where the hops of the graph start.
    node_ids : ndarray of shape (n_nodes,)
        The ids of its nodes.
    """

    kept: KeptHops
    source: MemorySource
    node_ids: NDArray[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the features."""
        return self.source.dtype

    def first(self) -> Hop:
        """Return hop 0."""
        features = in_cheaper_form(self.source.features)
        reason = self._incomparable(features)
        n_nodes = features.shape[0]
        if reason is not None:
            self.kept.last_update = HopUpdate(n_nodes, (), reason)
            return self.source.first()
        change = _Change(self.kept, self.source, self.node_ids, features)
        n_changed, plan = int(change.reach.features.sum()), change.plan
        if plan.reason is not None and not plan.n_patched:
            self.kept.last_update = HopUpdate(n_nodes, (n_changed,), plan.reason)
            return self.source.first()
        self.kept.last_update = HopUpdate(n_nodes, (n_changed,))
        return UpdatedHop(change, 0, features)

    def _incomparable(self, features: Features) -> str | None:
        """Return why no row of the kept hops can be used; None if some may."""
        was, now = self.kept.source, self.source
        if (was.normalization, was.teleport) != (now.normalization, now.teleport):
            return "they are normalized otherwise, or have another teleport"
        if (was.adjacency is None) or (now.adjacency is None):
            return "there is no graph"
        kept = self.kept.hops[0]
        alike = kept.dtype == features.dtype and kept.shape[1] == features.shape[1]
        if not alike or isinstance(kept, np.ndarray) != isinstance(features, np.ndarray):
            return "the features have other columns, or another form"
        return None


class _Change:
    """How a graph differs from the one whose hops are kept; found once for all hops."""

    def __init__(
        self, kept: KeptHops, source: MemorySource, node_ids: NDArray[Any], features: Features
    ) -> None:
        self.kept, self.source, self.features = kept, source, features
        self.adjacency: sparse.csr_array = source.adjacency
        self.earlier = EarlierNodes.found(kept.index, node_ids)
        before = kept.source.adjacency
        edges = changed_edges(before, self.adjacency, self.earlier)
        degrees = (self.degrees, kept.degrees) if needs_degrees(source.normalization) else None
        propagator = changed_propagator(self.adjacency, edges, degrees, self.earlier)
        different = changed_features(kept.hops[0], features, self.earlier)
        self.reach = Reach(self.adjacency, different, propagator, source.teleport)
        self.plan = UpdatePlan.cheapest(self.reach, kept.costs)

    @cached_property
    def degrees(self) -> Degrees:
        """Row and column sums of A + I, as it is now."""
        return _degrees(self.adjacency)

    def rows_after(self, hop: UpdatedHop, rows: NDArray[np.int64]) -> Features:
        """Return some rows of the hop after one."""
        if hop.is_sparse:
            parts = [self._part_after(hop, some) for some in self._parts(rows)]
            return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
        shape = (len(rows), self.features.shape[1])
        check_hop_fits(shape, self.source.dtype.itemsize)
        made, start = np.empty(shape, dtype=self.source.dtype), 0
        for some in self._parts(rows):
            made[start : start + len(some)] = self._part_after(hop, some)
            start += len(some)
        return made

    def _parts(self, rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield rows in parts whose values of Â and whose results take little memory."""
        stored = np.diff(self.adjacency.indptr)[rows] + 1
        cost = np.cumsum(stored * 24 + self.features.shape[1] * self.source.dtype.itemsize)
        ends = np.searchsorted(cost, np.arange(1, int(cost[-1] // _PART_BYTES) + 1) * _PART_BYTES)
        return (part for part in np.split(rows, np.unique(ends)) if len(part))

    def _part_after(self, hop: UpdatedHop, rows: NDArray[np.int64]) -> Features:
        source = self.source
        propagator, halo = propagator_rows(
            self.adjacency, rows, self.degrees, source.normalization, source.dtype
        )
        own = self.features[rows] if source.teleport else None

        def gather(columns: slice) -> Features:
            found = hop.rows(halo)
            return found[:, columns] if isinstance(found, np.ndarray) else found

        return next_rows(propagator, gather, self.features.shape[1], own, source.teleport)

    def dense_after(self, hop: NDArray[Any]) -> Hop:
        """Return the hop after a dense one, computed whole; so are those after it."""
        blocked = BlockedPropagator(
            self._propagator(), self.features, teleport=self.source.teleport
        )
        return blocked.step(hop)

    def sparse_after(self, hop: sparse.csr_array) -> Features:
        """Return the hop after a sparse one, computed whole, in its cheaper form."""
        n_columns, teleport = self.features.shape[1], self.source.teleport
        moved = next_rows(self._propagator(), lambda _: hop, n_columns, self.features, teleport)
        return in_cheaper_form(moved)

    def _propagator(self) -> sparse.csr_array:
        return make_propagator(self.adjacency, self.source.normalization, dtype=self.source.dtype)


@dataclass(frozen=True)
class _PatchedRows:
    """Rows of a kept hop, some of them replaced.

    Parameters
    ----------
    kept : csr_array or ndarray of shape (n_before, n_columns)
        The kept hop.
    earlier : ndarray of shape (n_nodes,)
        In which of its rows a node stands.
    changed : ndarray of shape (n_changed,)
        Nodes, in order, whose rows are others.
    rows : csr_array or ndarray of shape (n_changed, n_columns)
        Those.
    """

    kept: Features
    earlier: NDArray[np.int64]
    changed: NDArray[np.int64]
    rows: Features

    def __getitem__(self, nodes: NDArray[Any]) -> Features:
        """Return the rows of some nodes."""
        if not len(self.changed):
            return self.kept[self.earlier[nodes]]
        places = np.minimum(np.searchsorted(self.changed, nodes), len(self.changed) - 1)
        is_new = self.changed[places] == nodes
        if not is_new.any():
            return self.kept[self.earlier[nodes]]
        if isinstance(self.kept, np.ndarray):
            found = self.kept[np.maximum(self.earlier[nodes], 0)]
            found[is_new] = self.rows[places[is_new]]
            return found
        parts = [self.kept[self.earlier[nodes[~is_new]]], self.rows[places[is_new]]]
        stacked = sparse.vstack(parts, format="csr")
        order = np.concatenate([np.flatnonzero(~is_new), np.flatnonzero(is_new)])
        return stacked[np.argsort(order)]


class UpdatedHop:
    """A hop of which some rows were computed and the others were kept; a ``Hop``.

    Parameters
    ----------
    change : _Change
        How the graph differs.
    number : int
        Which hop.
    rows : csr_array, ndarray or _PatchedRows
        Gives rows by their numbers.
    reason : str, optional
        Why it was computed whole, as are those after it.
    """

    def __init__(
        self,
        change: _Change,
        number: int,
        rows: Features | _PatchedRows,
        reason: str | None = None,
    ) -> None:
        self._change, self._number = change, number
        self._rows, self._reason = rows, reason
        self._used_up = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of features."""
        n_nodes, n_features = self._change.features.shape
        return n_nodes, n_features

    @property
    def is_sparse(self) -> bool:
        """Whether rows are given as a sparse matrix."""
        held = self._rows.kept if isinstance(self._rows, _PatchedRows) else self._rows
        return not isinstance(held, np.ndarray)

    def rows(self, nodes: Any) -> Features:
        """Return the rows of some nodes."""
        if self._used_up:
            raise used_up()
        places = np.arange(self.shape[0])[nodes]
        return self._rows[places]

    def blocks(self) -> Iterator[Features]:
        """Yield all rows in the order of the nodes, some at a time."""
        n_nodes, n_columns = self.shape
        row_bytes = n_columns * self._change.source.dtype.itemsize
        return (self.rows(some) for some in row_blocks(n_nodes, row_bytes))

    def size(self) -> float:
        """Return the root of the mean squared Euclidean norm of the rows."""
        rows = self.rows(slice(None))
        values = rows if isinstance(rows, np.ndarray) else rows.data
        return root_mean_square([values], self.shape[0])

    def next(self) -> Hop:
        """Return the next hop: changed rows computed, or all, where that is cheaper."""
        if self._used_up:
            raise used_up()
        change, number = self._change, self._number + 1
        if self._reason is not None:
            return self._plainly(self._reason)
        if number >= len(change.kept.hops):
            return self._plainly(f"only {counted(len(change.kept.hops), 'hop')} kept")
        if number > change.plan.n_patched:
            return self._plainly(str(change.plan.reason))
        made = self._made(number, change.plan.changed[number])
        if made is None:
            return self._plainly("the hop is of another form, sparse or dense, than the kept one")
        self._used_up = True
        n_rows = self.shape[0] if not isinstance(made, _PatchedRows) else len(made.changed)
        self._tell(n_rows)
        return UpdatedHop(change, number, made)

    def _made(self, number: int, changed: Mask) -> Features | _PatchedRows | None:
        """Return the rows of the next hop; None if all must be computed to know their form."""
        change = self._change
        kept = change.kept.hops[number]
        stays_sparse = not isinstance(kept, np.ndarray)
        if stays_sparse and not self.is_sparse:
            return None
        if stays_sparse and change.source.teleport:
            # In which order SciPy stores the columns of a sum depends on all rows together.
            return change.sparse_after(self.rows(slice(None)))
        nodes = np.flatnonzero(changed)
        rows = change.rows_after(self, nodes) if len(nodes) else kept[:0]
        if self.is_sparse:
            if not self._has_form(number, changed, rows, stays_sparse):
                return None
            if not stays_sparse and not isinstance(rows, np.ndarray):
                rows = rows.toarray()
        return _PatchedRows(kept, change.earlier.positions, nodes, rows)

    def _has_form(self, number: int, changed: Mask, rows: Features, is_sparse: bool) -> bool:
        """Return whether a hop in one piece would for certain be of the form of the kept one."""
        unchanged = self._change.earlier.positions[~changed]
        stored = int(self._change.kept.stored_in_rows(number)[unchanged].sum())
        stored += int(np.count_nonzero(rows) if isinstance(rows, np.ndarray) else rows.nnz)
        n_nodes, n_columns = self.shape
        return (stored <= DENSE_ABOVE * n_nodes * n_columns) == is_sparse

    def _plainly(self, reason: str) -> Hop:
        change, kept = self._change, self._change.kept
        whole = self.rows(slice(None))
        self._used_up = True
        assert kept.last_update is not None
        kept.last_update = HopUpdate(self.shape[0], kept.last_update.rows, reason)
        if isinstance(whole, np.ndarray):
            return change.dense_after(whole)
        return UpdatedHop(change, self._number + 1, change.sparse_after(whole), reason)

    def _tell(self, n_rows: int) -> None:
        kept = self._change.kept
        assert kept.last_update is not None
        kept.last_update = HopUpdate(self.shape[0], (*kept.last_update.rows, n_rows))


def _degrees(adjacency: sparse.csr_array) -> Degrees:
    return degrees_of(adjacency, RowBlocks.cut(adjacency.indptr, 0, _PART_BYTES))
