"""One block of rows of the next hop: the step that any worker can do, again and again.

Row block i of X^(l+1) = (1 − γ) Â X^(l) + γ X needs the rows of Â for these nodes, and the rows of
X^(l) that they refer to: their halo. Columns of Â are renumbered within the halo in ascending
order, so that every sum adds up as in the whole product, and a block has the bits of the hop in
memory. What is written depends on nothing else: whoever dies, a step can be done again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from adagcn.engines.threads import spread, torch_callers
from adagcn.formats.graph_store import (
    RUN_AGAIN,
    ArrayParts,
    StoredFile,
    file_digest,
    mapped,
    write_array,
)
from adagcn.graph import Features
from adagcn.propagation.blocks import WORK_OF_A_THREAD
from adagcn.propagation.mapped_rows import some_rows, take_rows
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.sparse_tensors import multiplied, readable_tensor, row_parts

HALO_BYTES = 2**28  # of gathered rows at once; columns are cut where all would be more
_MOST_MAPPED = 64  # blocks of a hop: each file takes one of a process's 1,024, usually
_SPAN = 16  # marks for a stored value, up to which marking is faster than sorting


@dataclass(frozen=True)
class RowBlocks:
    """How the nodes of a graph are cut into blocks of consecutive rows.

    Parameters
    ----------
    ends : ndarray of shape (n_blocks + 1,)
        Block i holds the nodes from ``ends[i]`` to ``ends[i + 1]``.
    """

    ends: NDArray[np.int64]

    @classmethod
    def cut(cls, indptr: NDArray[Any], row_bytes: int, most_bytes: int) -> RowBlocks:
        """Return blocks whose rows of a hop and whose stored values each fit into some bytes.

        Parameters
        ----------
        indptr : ndarray of shape (n_nodes + 1,)
            Of the adjacency.
        row_bytes : int
            Bytes of a row of a hop.
        most_bytes : int
            What a block may take, at least one row.
        """
        n_nodes = len(indptr) - 1
        # A stored value of Â takes a column of 8 bytes while it is renumbered, and 4 of a value.
        cost = np.arange(n_nodes + 1, dtype=np.int64) * row_bytes + 12 * np.asarray(indptr)
        ends = [0]
        while ends[-1] < n_nodes:
            limit = cost[ends[-1]] + most_bytes
            ends.append(max(int(np.searchsorted(cost, limit, "right")) - 1, ends[-1] + 1))
        return cls(np.array(ends, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def rows(self, block: int) -> slice:
        """Return the nodes of a block."""
        return slice(int(self.ends[block]), int(self.ends[block + 1]))

    def groups(self, nodes: NDArray[Any]) -> list[tuple[int, NDArray[np.intp], NDArray[Any]]]:
        """Return nodes by block: the block, which of the nodes, and their rows in the block."""
        blocks = np.searchsorted(self.ends, nodes, "right") - 1
        order = np.argsort(blocks, kind="stable")
        starts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
        groups = np.split(order, starts[1:]) if len(order) else []
        return [
            (int(blocks[each[0]]), each, nodes[each] - self.ends[blocks[each[0]]])
            for each in groups
        ]


@dataclass(frozen=True)
class HopFiles:
    """The files of one hop, a block each: dense, or sparse as three arrays."""

    folder: Path
    blocks: RowBlocks
    n_columns: int
    is_sparse: bool

    def names(self, block: int) -> list[str]:
        """Return the names of the files of a block."""
        stem = f"block-{block:06d}"
        if not self.is_sparse:
            return [f"{stem}.npy"]
        return [f"{stem}.{part}.npy" for part in ("indptr", "indices", "values")]

    @cached_property
    def _open(self) -> dict[int, Features]:
        """Blocks that stay mapped: the first that were read.

        Mapped anew, they would cost their pages once more: for each block of the next hop, all.
        """
        return {}

    def read(self, block: int) -> Features:
        """Return a block, mapped into memory."""
        found = self._open.get(block)
        if found is None:
            found = self._mapped(block)
            if len(self._open) < _MOST_MAPPED:
                self._open[block] = found
        return found

    def _mapped(self, block: int) -> Features:
        arrays = [mapped(self.folder / name, fix=RUN_AGAIN) for name in self.names(block)]
        if not self.is_sparse:
            return arrays[0]
        indptr, indices, values = arrays
        shape = (len(indptr) - 1, self.n_columns)
        return sparse.csr_array((values, indices, indptr), shape=shape, copy=False)

    def write(self, block: int, rows: Features) -> dict[str, StoredFile]:
        """Write a block, each file whole or not at all; return their sizes and digests."""
        arrays = [rows] if isinstance(rows, np.ndarray) else [rows.indptr, rows.indices, rows.data]
        return {
            name: write_array(self.folder / name, ArrayParts.of(array))
            for name, array in zip(self.names(block), arrays, strict=True)
        }

    def gathered(self, nodes: NDArray[Any]) -> Features:
        """Return the rows of some nodes, read from the blocks that hold them."""
        if self.is_sparse:
            found = self.blocks.groups(nodes)
            order = np.concatenate([which for _, which, _ in found]) if found else np.array([], int)
            parts = [some_rows(self.read(block), rows) for block, _, rows in found]
            if not parts:
                return sparse.csr_array((0, self.n_columns), dtype=np.float32)
            stacked = sparse.vstack(parts, format="csr") if len(parts) > 1 else parts[0]
            return stacked[np.argsort(order, kind="stable")]
        rows = np.empty((len(nodes), self.n_columns), dtype=self.read(0).dtype)
        for block, which, places in self.blocks.groups(nodes):
            rows[which] = some_rows(self.read(block), places)
        return rows

    def halo_rows(
        self, halo: NDArray[Any], columns: slice = slice(None), room: Room | None = None
    ) -> Features:
        """Return the rows of nodes in ascending order: each block fills a slice of the result.

        Dense rows stand in the room, if there is one, until others are asked for.
        """
        if self.is_sparse:
            return self.gathered(halo)
        cuts = np.searchsorted(halo, self.blocks.ends)
        touched = np.flatnonzero(np.diff(cuts)).tolist()
        if len(touched) == 1 and int(halo[-1]) - int(halo[0]) + 1 == len(halo):  # as they stand
            start = int(halo[0] - self.blocks.ends[touched[0]])
            return self.read(touched[0])[start : start + len(halo), columns]
        width = len(range(*columns.indices(self.n_columns)))
        room = Room() if room is None else room
        rows = room.array((len(halo), width), self.read(0).dtype)

        def fill(block: int) -> None:
            some = slice(cuts[block], cuts[block + 1])
            places = halo[some] - self.blocks.ends[block]
            take_rows(self.read(block), places, columns, rows[some])

        if touched:
            spread(fill, touched)
        return rows

    def is_whole(self, block: int, files: dict[str, StoredFile]) -> bool:
        """Return whether the files of a block are what was written."""
        if set(files) != set(self.names(block)):
            return False
        paths = {name: self.folder / name for name in files}
        return all(
            path.is_file()
            and path.stat().st_size == files[name].bytes
            and file_digest(path) == files[name].sha256
            for name, path in paths.items()
        )


class Room:
    """Memory for one array after the other: the system would clear new memory for each."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, dtype=np.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array of any content in the place of the one before it."""
        n_bytes = math.prod(shape) * dtype.itemsize
        if n_bytes > len(self._bytes):
            self._bytes = np.empty(0, dtype=np.uint8)  # gone before there is more
            self._bytes = np.empty(n_bytes, dtype=np.uint8)
        return self._bytes[:n_bytes].view(dtype).reshape(shape)


def propagator_rows(
    adjacency: sparse.csr_array,
    rows: slice | NDArray[np.int64],
    degrees: tuple[NDArray[np.float64], NDArray[np.float64]],
    normalization: Normalization,
    dtype: Any,
) -> tuple[sparse.csr_array, NDArray[Any]]:
    """Return some rows of Â with columns numbered within their halo, and the halo in order.

    The values are those of :func:`adagcn.propagation.normalize.make_propagator`, to the bit.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A; only these rows are read.
    rows : slice or ndarray of shape (n_rows,)
        Which.
    degrees : (ndarray, ndarray) of shape (n_nodes,)
        Row and column sums of A + I.
    normalization : {"symmetric", "random_walk"}
        How A becomes Â.
    dtype : dtype
        Type of the values.
    """
    own = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
    n_rows = len(own)
    loops = sparse.csr_array(
        (np.ones(n_rows), own, np.arange(n_rows + 1)), shape=(n_rows, adjacency.shape[1])
    )
    block = adjacency[rows].astype(np.float64) + loops
    block.sort_indices()
    out_degree, in_degree = degrees
    of_row = np.repeat(out_degree[rows], np.diff(block.indptr))
    divisor = (
        of_row if normalization == "random_walk" else np.sqrt(of_row * in_degree[block.indices])
    )
    halo, local = _renumbered(block.indices)
    values = (block.data / divisor).astype(dtype)
    kind = np.int32 if max(adjacency.shape[1], block.nnz) < 2**31 else np.int64
    parts = (values, local.astype(kind, copy=False), block.indptr.astype(kind))
    return sparse.csr_array(parts, shape=(n_rows, len(halo))), halo.astype(kind)


def _renumbered(columns: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct columns in ascending order, and the place of every column among them."""
    first, last = (int(columns.min()), int(columns.max())) if len(columns) else (0, -1)
    span = last + 1 - first
    if span > _SPAN * len(columns):
        halo, places = np.unique(columns, return_inverse=True)
        return halo, places
    # Marks for all columns from the first to the last: several times as fast as sorting.
    shifted = columns - first
    marks = np.zeros(span, dtype=bool)
    marks[shifted] = True
    halo = np.flatnonzero(marks)
    numbers = np.empty(span, dtype=np.int64 if span >= 2**31 else np.int32)
    numbers[halo] = np.arange(len(halo))
    return halo + first, numbers[shifted]


def next_rows(
    propagator: sparse.csr_array,
    gather: Callable[[slice], Features],
    n_columns: int,
    own_input: Features | None,
    teleport: float,
) -> Features:
    """Return a block of the next hop.

    Parameters
    ----------
    propagator : csr_array of shape (n_rows, n_halo)
        Rows of Â.
    gather : callable
        Gives some columns of the rows of the halo.
    n_columns : int
        Columns of the hop.
    own_input : csr_array or ndarray of shape (n_rows, n_columns) or None
        These rows of X; needed with a teleport.
    teleport : float
        γ.
    """
    n_halo = propagator.shape[1]
    parts = _columns_at_once(n_columns, n_halo * propagator.dtype.itemsize)
    values = gather(parts[0])
    if not isinstance(values, np.ndarray):
        moved = propagator @ values
        if not teleport:
            return moved
        assert own_input is not None
        return (1.0 - teleport) * moved + teleport * own_input
    # Zeros: without MKL, torch's product multiplies with 0 what it replaces.
    result = np.zeros((propagator.shape[0], n_columns), dtype=values.dtype)
    rows_of_threads = _threads_parts(propagator, n_columns)
    _multiply(rows_of_threads, values, result[:, parts[0]])
    for columns in parts[1:]:
        del values  # before the next columns take as much memory
        values = gather(columns)
        assert isinstance(values, np.ndarray)
        _multiply(rows_of_threads, values, result[:, columns])
    if teleport:
        result *= 1.0 - teleport
        _add_input(result, own_input, teleport)
    return result


def _columns_at_once(n_columns: int, column_bytes: int) -> list[slice]:
    """Return columns in as few parts as memory allows, all about as wide as each other."""
    most = max(HALO_BYTES // max(column_bytes, 1), 1)
    n_parts = max(math.ceil(n_columns / most), 1)
    ends = np.linspace(0, n_columns, n_parts + 1).astype(int).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def _threads_parts(propagator: sparse.csr_array, n_columns: int) -> list[tuple[slice, Tensor]]:
    """Return rows of Â in as many parts as threads share the product."""
    work = propagator.nnz * n_columns
    return row_parts(propagator, min(torch_callers(), 1 + work // WORK_OF_A_THREAD))


def _multiply(
    parts: list[tuple[slice, Tensor]], values: NDArray[Any], result: NDArray[Any]
) -> None:
    """Write the product of Â and some columns; sums are those of a product on one thread."""
    dense = readable_tensor(np.ascontiguousarray(values))

    def fill_rows(part: tuple[slice, Tensor]) -> None:
        rows, matrix = part
        multiplied(matrix, dense, out=torch.from_numpy(result[rows]))

    spread(fill_rows, parts)


def _add_input(result: NDArray[Any], own_input: Features | None, teleport: float) -> None:
    """Add γX in place, each value once."""
    if isinstance(own_input, np.ndarray):
        result += teleport * own_input
        return
    assert own_input is not None
    stored = own_input.tocoo()
    result[stored.row, stored.col] += teleport * stored.data


def degrees_of(
    adjacency: sparse.csr_array, blocks: RowBlocks, *, is_symmetric: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the row and column sums of A + I, each added up in the order of the rows.

    Of a symmetric A, a column has the values of its row in the same order: one sum is enough.
    """
    counts = _counted_degrees(adjacency, blocks, is_symmetric=is_symmetric)
    if counts is not None:
        return counts
    n_nodes = adjacency.shape[0]
    out_degree, in_degree = np.empty(n_nodes), np.zeros(n_nodes)
    for number in range(len(blocks)):
        rows = blocks.rows(number)
        size = rows.stop - rows.start
        loops = sparse.csr_array(
            (np.ones(size), np.arange(rows.start, rows.stop), np.arange(size + 1)),
            shape=(size, n_nodes),
        )
        block = adjacency[rows].astype(np.float64) + loops
        block.sort_indices()
        out_degree[rows] = block @ np.ones(n_nodes)
        if not is_symmetric:
            np.add.at(in_degree, block.indices, block.data)
    return out_degree, out_degree if is_symmetric else in_degree


def _counted_degrees(
    adjacency: sparse.csr_array, blocks: RowBlocks, *, is_symmetric: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the same sums if all weights are 1: counts, which are exact in any order."""
    indptr, in_degree = adjacency.indptr, np.ones(adjacency.shape[0])
    for number in range(len(blocks)):
        rows = blocks.rows(number)
        stored = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
        if not (adjacency.data[stored] == 1).all():
            return None
        if not is_symmetric:
            np.add.at(in_degree, adjacency.indices[stored], 1.0)
    out_degree = np.diff(indptr) + 1.0
    return out_degree, out_degree if is_symmetric else in_degree
