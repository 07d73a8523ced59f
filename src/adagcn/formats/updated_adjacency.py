"""The adjacency of a store after an update: a merge of sorted rows that holds few of them.

Edges that are removed go first, then new ones come: an edge that is in both has a new weight. Of an
edge that is there already, the larger weight stays, which is what a build of all tables together
would keep. The sum of weights cannot be had from a store, which does not know what was added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.adjacency import Duplicates
from adagcn.formats.node_ids import first_few
from adagcn.formats.updated_nodes import UpdatedNodes

_STORED_AT_ONCE = 2**20
_ROWS_AT_ONCE = 2**11


@dataclass
class MergeCounts:
    """What was found on the way.

    Parameters
    ----------
    again : int
        Entries that were there already.
    added, removed : int
        Entries that are new, and entries that are gone.
    loops_again, loops_added, loops_removed : int
        How many of these are self-loops.
    """

    again: int = 0
    added: int = 0
    removed: int = 0
    loops_again: int = 0
    loops_added: int = 0
    loops_removed: int = 0

    def edges(self, *, directed: bool) -> tuple[int, int]:
        """Return how many edges are new and gone; without directions a pair counts once."""
        return (
            _edges(self.added, self.loops_added, directed=directed),
            _edges(self.removed, self.loops_removed, directed=directed),
        )

    def edges_again(self, *, directed: bool) -> int:
        """Return how many edges were there already."""
        return _edges(self.again, self.loops_again, directed=directed)


def _edges(n_entries: int, n_loops: int, *, directed: bool) -> int:
    return n_entries if directed else (n_entries - n_loops) // 2 + n_loops


def merged_rows(
    stored: sparse.csr_array,
    nodes: UpdatedNodes,
    new: sparse.csr_array,
    gone: NDArray[np.int64],
    duplicates: Duplicates,
    counts: MergeCounts,
) -> Iterator[sparse.csr_array]:
    """Yield the rows of the adjacency afterwards, some at a time.

    Parameters
    ----------
    stored : csr_array of shape (n_before, n_before)
        The adjacency before, mapped into memory.
    nodes : UpdatedNodes
        Where the nodes stand.
    new : csr_array of shape (n_nodes, n_nodes)
        New edges.
    gone : ndarray
        Places row · n_nodes + column of the edges that are removed, sorted.
    duplicates : {"max", "sum", "error"}
        What to do with new edges that are there already.
    counts : MergeCounts
        Gets what was found.

    Raises
    ------
    InputError
        If an edge is there already and its weight cannot be known.
    """
    earlier = nodes.earlier()
    per_row = np.zeros(nodes.n_nodes + 1, dtype=np.int64)
    per_row[1:][earlier >= 0] = np.diff(stored.indptr)
    ends = np.cumsum(per_row)
    start = 0
    while start < nodes.n_nodes:
        limit = int(np.searchsorted(ends, ends[start] + _STORED_AT_ONCE, "right")) - 1
        stop = min(max(limit, start + 1), nodes.n_nodes)
        rows = slice(start, stop)
        known = earlier[rows][earlier[rows] >= 0]
        first = int(stored.indptr[known[0]]) if len(known) else 0
        taken = slice(first, first + int(ends[stop] - ends[start]))
        columns = np.asarray(stored.indices[taken])
        columns = columns if nodes.moved is None else nodes.moved[columns]
        parts = (np.asarray(stored.data[taken]), columns, ends[start : stop + 1] - ends[start])
        block = sparse.csr_array(parts, shape=(stop - start, nodes.n_nodes))
        block.has_canonical_format = True  # positions keep their order
        block = _without(block, start, gone, counts)
        yield _with(block, start, new[rows], duplicates, counts)
        start = stop


def _places(block: sparse.csr_array, start: int) -> NDArray[np.int64]:
    rows = np.repeat(np.arange(start, start + block.shape[0]), np.diff(block.indptr))
    places: NDArray[np.int64] = rows * block.shape[1] + block.indices.astype(np.int64)
    return places


def _without(
    block: sparse.csr_array, start: int, gone: NDArray[np.int64], counts: MergeCounts
) -> sparse.csr_array:
    """Return rows without the entries that are removed."""
    n_nodes = block.shape[1]
    first, last = np.searchsorted(gone, [start * n_nodes, (start + block.shape[0]) * n_nodes])
    some = gone[first:last]
    if not len(some):
        return block
    left = ~np.isin(_places(block, start), some, assume_unique=True)
    counts.removed += int(np.count_nonzero(~left))
    counts.loops_removed += _n_loops(some, n_nodes)
    ends = np.concatenate([[0], np.cumsum(left)])[block.indptr]
    kept = sparse.csr_array((block.data[left], block.indices[left], ends), shape=block.shape)
    kept.has_canonical_format = True
    return kept


def _with(
    block: sparse.csr_array,
    start: int,
    new: sparse.csr_array,
    duplicates: Duplicates,
    counts: MergeCounts,
) -> sparse.csr_array:
    """Return rows with new entries, the larger weight where there was one."""
    if not new.nnz:
        return block
    n_nodes = block.shape[1]
    wanted = _places(new, start)
    there = np.isin(wanted, _places(block, start), assume_unique=True)
    again = wanted[there]
    if len(again) and duplicates != "max":
        pairs = np.column_stack([again // n_nodes, again % n_nodes])
        raise _already_there(len(again), first_few(pairs), duplicates)
    counts.again += len(again)
    counts.loops_again += _n_loops(again, n_nodes)
    fresh = wanted[~there]
    counts.added += len(fresh)
    counts.loops_added += _n_loops(fresh, n_nodes)
    return sparse.csr_array(block.maximum(new))


def _n_loops(places: NDArray[np.int64], n_nodes: int) -> int:
    return int(np.count_nonzero(places // n_nodes == places % n_nodes))


def _already_there(n_again: int, pairs: list[list[int]], duplicates: str) -> InputError:
    said = "a store does not know which weights were added up"
    problem = f"{counted(n_again, 'new edge')} are in the store already, at these positions"
    if duplicates == "error":
        return InputError(
            "AGC-I1907", f"{problem}, but duplicates='error'", got=pairs, fix="leave them out"
        )
    return InputError(
        "AGC-I1907",
        f"{problem}: {said}, so that duplicates='sum' cannot be had",
        got=pairs,
        fix="give the sums as weights and list these edges in remove_edges as well, or choose "
        "duplicates='max'",
    )


def removed_places(
    ends: tuple[NDArray[np.intp], NDArray[np.intp]],
    n_nodes: int,
    *,
    both_ways: bool,
) -> NDArray[np.int64]:
    """Return the places row · n_nodes + column of edges, sorted, each once."""
    sources, targets = (each.astype(np.int64) for each in ends)
    there = sources * n_nodes + targets
    back = [targets * n_nodes + sources] if both_ways else []
    return np.unique(np.concatenate([there, *back]))


def is_symmetric(matrix: sparse.csr_array, only: NDArray[np.int64] | None = None) -> bool:
    """Return whether every entry has its reverse, with the same weight.

    Parameters
    ----------
    matrix : csr_array of shape (n_nodes, n_nodes)
        Sorted columns; mapped into memory, it is read some rows at a time.
    only : ndarray, optional
        Look at these rows alone, where all others are known to be as their reverses.
    """
    n_nodes = matrix.shape[0]
    rows = np.arange(n_nodes) if only is None else only
    is_some = np.zeros(n_nodes, dtype=bool)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[start : start + _ROWS_AT_ONCE]
        block = matrix[some].tocoo()
        touched = np.unique(block.col)
        back = matrix[touched].tocoo()  # the rows that these point to: which point back?
        is_some[some] = True
        keep = is_some[back.col]
        is_some[some] = False
        there = some[block.row] * n_nodes + block.col
        here = back.col[keep].astype(np.int64) * n_nodes + touched[back.row[keep]]
        order, other = np.argsort(there), np.argsort(here)
        if not np.array_equal(there[order], here[other]):
            return False
        if not np.array_equal(block.data[order], back.data[keep][other]):
            return False
    return True
