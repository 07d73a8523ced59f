"""Dense features in blocks of columns, laid out for products with Â.

A product ÂX reads one row of X for every stored value of Â, from all over X. It is bound by memory,
and two things make it two to four times as fast (``adagcn bench propagation``): the nodes in the
order of Reverse Cuthill–McKee, so that rows that are read together stand together, and only so many
columns at once that they stay in the cache, however few. Every sum adds up in the order of the
plain product, so that the result is the same to the last bit, with any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

from adagcn.engines.memory import check_memory
from adagcn.engines.threads import spread, torch_callers
from adagcn.errors import InputError
from adagcn.graph import Features
from adagcn.propagation.sparse_tensors import index_type, multiplied, row_parts

BLOCK_BYTES = 2**22  # of a block: what the caches of one core hold
LEAST_COLUMNS = 8  # or one less; with fewer, the work per stored value outweighs the bytes
ROWS_AT_ONCE = 2**13
ROOM_OF_A_HOP = 2.5  # times its bytes: what it is made of, itself, and rows that are gathered
# Multiplications of a sparse product that are worth a thread: about two milliseconds of one core.
WORK_OF_A_THREAD = 2**22

Block = NDArray[Any]


class ColumnBlocks:
    """A hop in blocks of columns; a :class:`~adagcn.propagation.hops.Hop`.

    Parameters
    ----------
    columns : list of ndarray of shape (n_nodes, width)
        The columns from left to right; rows stand in the order of the layout.
    places : ndarray of shape (n_nodes,)
        In which row of the blocks a node stands.
    propagator : BlockedPropagator
        What made the hop, and makes the next one of it.
    """

    def __init__(
        self, columns: list[Block], places: NDArray[np.int64], propagator: BlockedPropagator
    ) -> None:
        self._held: list[Block] | None = columns
        self._places = places
        self._propagator = propagator

    @property
    def _columns(self) -> list[Block]:
        """The blocks, unless the stream of hops has gone on."""
        if self._held is None:
            raise used_up()
        return self._held

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of features."""
        return len(self._places), sum(block.shape[1] for block in self._columns)

    def rows(self, nodes: Any) -> NDArray[Any]:
        """Return the rows of some nodes as an ordinary array."""
        places = self._places[nodes]
        rows = np.empty((len(places), self.shape[1]), dtype=self._columns[0].dtype)
        ends = np.cumsum([0, *(block.shape[1] for block in self._columns)]).tolist()
        for some in row_blocks(len(places)):
            for block, (start, end) in zip(self._columns, pairwise(ends), strict=True):
                rows[some, start:end] = block[places[some]]
        return rows

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield all rows in the order of the nodes, some at a time."""
        row_bytes = self.shape[1] * self._columns[0].itemsize
        return (self.rows(some) for some in row_blocks(len(self._places), row_bytes))

    def size(self) -> float:
        """Return the root of the mean squared Euclidean norm of the rows."""
        return root_mean_square(self._columns, len(self._places))

    def next(self) -> ColumnBlocks:
        """Return the next hop, in the memory of this one, which is gone then."""
        columns, self._held = self._columns, None
        return self._propagator.step_on(columns)


class BlockedPropagator:
    """Â in its layout: takes features one hop further, block by block.

    A block of the next hop takes the place of the one before it, which has been used by then:
    besides the input, a stream of hops needs the memory of one hop and one block. It is one piece,
    which the system gets back whole; many small ones would leave holes.

    Parameters
    ----------
    propagator : csr_array of shape (n_nodes, n_nodes)
        Â.
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X, to which hops teleport.
    teleport : float in [0, 1)
        γ.
    """

    def __init__(
        self, propagator: sparse.csr_array, features: Features, *, teleport: float
    ) -> None:
        dtype = np.result_type(propagator.dtype, features.dtype)
        check_hop_fits(features.shape, ROOM_OF_A_HOP * dtype.itemsize)
        self._order = near_order(propagator)
        self._places = np.empty(len(self._order), dtype=np.int64)
        self._places[self._order] = np.arange(len(self._order))
        self._columns = column_blocks(*features.shape, itemsize=dtype.itemsize)
        self._dtype = dtype
        self._room: list[NDArray[Any]] = []  # of every block, in their order, and of one more
        matrix = in_order(propagator, self._order, self._places, dtype)
        work = matrix.nnz * max((each.stop - each.start for each in self._columns), default=0)
        self._parts = row_parts(matrix, min(torch_callers(), 1 + work // WORK_OF_A_THREAD))
        self._teleport = teleport
        self._shares = list(self._input_shares(features)) if teleport else []

    def step(self, hop: Features) -> ColumnBlocks:
        """Return (1 − γ) Â hop + γ X for a hop that is one matrix."""
        self._room = list(self._new_room())
        return self._stepped(self._cut(hop))

    def step_on(self, columns: list[Block]) -> ColumnBlocks:
        """Return the same for the blocks of our last hop, which are used up."""
        self._room = [self._room[-1], *self._room[:-1]]
        return self._stepped(columns)

    def _stepped(self, columns: Iterable[Block]) -> ColumnBlocks:
        moved = [self._step(i, block) for i, block in enumerate(columns)]
        return ColumnBlocks(moved, self._places, self)

    def _new_room(self) -> NDArray[Any]:
        """Return zeros: without MKL, torch's product multiplies with 0 what it replaces."""
        width = max((columns.stop - columns.start for columns in self._columns), default=0)
        return np.zeros((len(self._columns) + 1, len(self._places) * width), dtype=self._dtype)

    def _step(self, i: int, block: Block) -> Block:
        result = _shaped(self._room[i], block.shape)
        values = torch.from_numpy(block)

        def fill_rows(part: tuple[slice, Tensor]) -> None:
            multiplied(part[1], values, out=torch.from_numpy(result[part[0]]))

        spread(fill_rows, self._parts)
        if self._teleport:
            result *= 1.0 - self._teleport
            self._shares[i].add_to(result)
        return result

    def _cut(self, features: Features) -> Iterator[Block]:
        """Yield blocks of features that are not in blocks."""
        if isinstance(features, np.ndarray):
            for columns in self._columns:
                block = _shaped(self._room[-1], (len(self._places), columns.stop - columns.start))
                for rows in row_blocks(len(block)):
                    block[rows] = features[self._order[rows], columns]
                yield block
            return
        by_columns = features[self._order].tocsc()
        for columns in self._columns:
            yield by_columns[:, columns].toarray(order="C").astype(self._dtype, copy=False)

    def _input_shares(self, features: Features) -> Iterator[_DenseShare | _SparseShare]:
        """Yield γX, block by block."""
        if isinstance(features, np.ndarray):
            for columns in self._columns:
                yield _DenseShare(features[:, columns], self._order, self._teleport)
            return
        by_columns = features[self._order].tocsc()
        for columns in self._columns:
            yield _SparseShare(by_columns[:, columns], self._teleport)


class _DenseShare:
    """γX of one block, taken from X anew each time: a copy would cost as much memory as a hop."""

    def __init__(self, columns: NDArray[Any], order: NDArray[Any], teleport: float) -> None:
        self._columns = columns
        self._order = order
        self._teleport = teleport

    def add_to(self, block: Block) -> None:
        """Add it in place."""
        for rows in row_blocks(len(block)):
            block[rows] += self._teleport * self._columns[self._order[rows]]


class _SparseShare:
    """γX of one block as the stored values and where they go; each goes to another place."""

    def __init__(self, columns: sparse.csc_array, teleport: float) -> None:
        stored = columns.tocoo()
        self._places = stored.row.astype(np.int64) * columns.shape[1] + stored.col
        self._values = teleport * stored.data

    def add_to(self, block: Block) -> None:
        """Add it in place."""
        block.reshape(-1)[self._places] += self._values


def root_mean_square(parts: Sequence[NDArray[Any]], n_rows: int) -> float:
    """Return the root of the mean squared Euclidean norm of rows, from all of their values."""
    norms = [np.linalg.norm(part) for part in parts]
    return float((norms[0] if len(norms) == 1 else np.hypot.reduce(norms)) / np.sqrt(n_rows))


def check_hop_fits(shape: tuple[int, ...], bytes_of_a_value: float) -> None:
    """Refuse a dense hop that the machine has no memory for, before any of it is taken."""
    n_nodes, n_columns = shape
    check_memory(
        bytes_of_a_value * n_nodes * n_columns,
        f"a hop with {n_columns:,} feature columns of {n_nodes:,} nodes",
        got=f"{n_nodes:,} × {n_columns:,} values",
        fix="lower max_features; of a graph without features, AdaGCN then uses coordinates of the "
        "nodes instead of a column for each",
    )


def as_dense_hop(features: sparse.csr_array) -> NDArray[Any]:
    """Return sparse features as a dense array, if the machine has the memory."""
    check_hop_fits(features.shape, features.dtype.itemsize)
    return np.asarray(features.toarray())


def used_up() -> InputError:
    """Return the error of a hop that the stream has gone past."""
    return InputError(
        "AGC-I403",
        "a hop can be read only until the next one is asked for",
        got="a hop that the stream has gone past",
        fix="copy what you need of it in time: rows = hop.rows(nodes)",
    )


def _shaped(room: NDArray[Any], shape: tuple[int, ...]) -> Block:
    """Return the start of some room as a block."""
    return room[: math.prod(shape)].reshape(shape)


def row_blocks(n_rows: int, row_bytes: int = 1) -> Iterator[slice]:
    """Yield all rows, some at a time: no more than a block's bytes, and at least one row.

    What is copied together is never a whole block: such copies would leave holes in memory.
    """
    n_some = min(max(BLOCK_BYTES // max(row_bytes, 1), 1), ROWS_AT_ONCE)
    return (slice(start, start + n_some) for start in range(0, n_rows, n_some))


def column_blocks(n_nodes: int, n_columns: int, *, itemsize: int) -> list[slice]:
    """Return the columns of each block, all blocks as wide as each other or one column less.

    A narrow rest would save nothing.

    >>> column_blocks(200_000, 20, itemsize=4)
    [slice(0, 6, None), slice(6, 13, None), slice(13, 20, None)]
    """
    width = max(LEAST_COLUMNS, BLOCK_BYTES // max(n_nodes * itemsize, 1))
    ends = np.linspace(0, n_columns, math.ceil(n_columns / width) + 1).astype(int).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def near_order(matrix: sparse.csr_array) -> NDArray[np.int32]:
    """Return nodes in an order that puts neighbors near each other (Reverse Cuthill–McKee)."""
    order: NDArray[np.int32] = reverse_cuthill_mckee(sparse.csr_matrix(matrix))
    return order


def in_order(
    matrix: sparse.csr_array, order: NDArray[Any], places: NDArray[Any], dtype: Any
) -> sparse.csr_array:
    """Return the matrix with its nodes in another order, each row's values in their old order."""
    rows = matrix[order]
    kind = index_type(rows)
    columns = places.astype(kind)[rows.indices]
    parts = (rows.data.astype(dtype, copy=False), columns, rows.indptr.astype(kind, copy=False))
    return sparse.csr_array(parts, shape=matrix.shape)
