"""From sorted pairs of nodes to the rows of the adjacency, by the rules of :class:`EdgeRules`.

Every listed edge from i to j comes twice: under its own place (i, j) and, marked as reversed, under
(j, i). Sorted by place, both directions of a pair of nodes meet, so that one pass settles repeated
edges, self-loops and direction, and sees whether the result is symmetric. What it computes and says
is what :mod:`adagcn.formats.adjacency` does in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from adagcn.formats.adjacency import (
    EdgeRules,
    merged_weights,
    tell_of_direction,
    tell_of_duplicates,
    tell_of_loops,
    tell_of_no_edges,
    tell_of_zeros,
)
from adagcn.formats.changes import Changes

# Keys 2 (i · n_nodes + j) + (1 if reversed), sorted, and the weights, if there are any.
SortedPart: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64] | None]"
# Rows, columns and weights of the adjacency.
Entries: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]"

_SHOWN = 5


@dataclass
class EdgeCounts:
    """What was found on the way.

    Parameters
    ----------
    listed : int
        Edges and reversed edges whose ends are nodes.
    zeros : int
        Edges of weight zero.
    again : int
        Edges that are listed again.
    loops : int
        Self-loops.
    looped : list of int
        Some of their nodes.
    one_way, unequal : int
        Edges without a reverse, and entries whose reverse has another weight.
    stored : int
        Entries of the adjacency.
    is_directed : bool
        Whether the adjacency is not symmetric.
    """

    listed: int = 0
    zeros: int = 0
    again: int = 0
    loops: int = 0
    looped: list[int] = field(default_factory=list)
    one_way: int = 0
    unequal: int = 0
    stored: int = 0
    is_directed: bool = False

    def tell(self, rules: EdgeRules, changes: Changes) -> None:
        """Tell what was changed, or refuse it, as the rules say."""
        tell_of_zeros(self.zeros, changes)
        tell_of_duplicates(self.again, rules.duplicates, changes)
        tell_of_loops(self.loops, self.looped, rules.self_loops, changes)
        if rules.directed in ("ignore", "error"):
            pairs = self.unequal // 2  # each was met from both ends
            tell_of_direction(self.one_way, pairs, rules.directed, changes, False)
        tell_of_no_edges(self.stored, changes)


def adjacency_entries(
    parts: Iterator[SortedPart], n_nodes: int, rules: EdgeRules, counts: EdgeCounts
) -> Iterator[Entries]:
    """Yield the entries of the adjacency in their order.

    Parameters
    ----------
    parts : iterator
        The sorted pairs.
    n_nodes : int
        Number of nodes.
    rules : EdgeRules
        What to do with edges that are not simple.
    counts : EdgeCounts
        Gets what was found.

    Yields
    ------
    rows, columns : ndarray of shape (n,), int64
        Places.
    weights : ndarray of shape (n,), float32
        Their weights.
    """
    for keys, weights in _whole_pairs(parts):
        places, forward, backward = _directions(keys, weights, rules, counts)
        rows = places // n_nodes
        columns = places - rows * n_nodes  # NumPy's remainder takes several times as long
        kept = _without_loops(rows, columns, rules, counts)
        rows, columns = rows[kept], columns[kept]
        values = _settled(forward[kept], backward[kept], rules, counts)
        used = values > 0
        counts.stored += int(np.count_nonzero(used))
        yield rows[used], columns[used], values[used]


def _whole_pairs(parts: Iterator[SortedPart]) -> Iterator[SortedPart]:
    """Yield the same keys in parts that end where a pair of nodes ends."""
    held: list[SortedPart] = []
    for keys, weights in parts:
        if not len(keys):
            continue
        end = int(np.searchsorted(keys, keys[-1] >> 1 << 1))  # where the last pair begins
        if end:
            yield _joined([*held, _cut(keys, weights, slice(end))])
            held = []
        held.append(_cut(keys, weights, slice(end, None)))
        if len(held) > 1 and held[0][0][0] >> 1 != held[-1][0][0] >> 1:
            yield _joined(held[:-1])
            held = held[-1:]
    if held:
        yield _joined(held)


def _cut(keys: NDArray[np.int64], weights: NDArray[np.float64] | None, rows: slice) -> SortedPart:
    return keys[rows], None if weights is None else weights[rows]


def _joined(parts: list[SortedPart]) -> SortedPart:
    weights = [each for _, each in parts if each is not None]
    keys = np.concatenate([keys for keys, _ in parts])
    return keys, np.concatenate(weights) if weights else None


def _directions(
    keys: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    rules: EdgeRules,
    counts: EdgeCounts,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the different places, and the weights there of edges and of reversed edges, or 0."""
    starts = np.flatnonzero(_begins(keys))
    distinct = keys[starts]
    if weights is not None:
        merged = merged_weights(weights, starts, rules.duplicates)
    elif rules.duplicates == "sum":
        merged = np.diff(starts, append=len(keys)).astype(np.float64)
    else:
        merged = np.ones(len(starts))
    is_reversed = (distinct & 1).astype(bool)
    n_forward = len(keys) - int(np.count_nonzero(keys & 1))
    counts.again += n_forward - (len(distinct) - int(np.count_nonzero(is_reversed)))
    # At a place are an edge, a reversed edge, or one after the other.
    places = distinct >> 1
    firsts = np.flatnonzero(_begins(places))
    lasts = np.append(firsts[1:], len(places)) - 1
    forward = np.where(is_reversed[firsts], 0.0, merged[firsts])
    backward = np.where(is_reversed[lasts], merged[lasts], 0.0)
    return places[firsts], forward, backward


def _begins(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where a run of equal keys begins."""
    begins = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return begins


def _without_loops(
    rows: NDArray[np.int64], columns: NDArray[np.int64], rules: EdgeRules, counts: EdgeCounts
) -> NDArray[np.bool_]:
    """Return which places to keep."""
    is_loop = rows == columns
    counts.loops += int(np.count_nonzero(is_loop))
    if len(counts.looped) < _SHOWN:
        counts.looped += rows[is_loop][: _SHOWN - len(counts.looped)].tolist()
    return ~is_loop if rules.self_loops == "drop" else np.ones(len(rows), dtype=bool)


def _settled(
    forward: NDArray[np.float64],
    backward: NDArray[np.float64],
    rules: EdgeRules,
    counts: EdgeCounts,
) -> NDArray[np.float32]:
    """Return the weights of the adjacency, 0 where it has no entry."""
    differs = forward != backward
    counts.one_way += int(np.count_nonzero(differs & (backward == 0)))
    counts.unequal += int(np.count_nonzero(differs & (forward > 0) & (backward > 0)))
    if rules.directed in ("keep", "reverse"):
        values = forward if rules.directed == "keep" else backward
        other = backward if rules.directed == "keep" else forward
        settled = values.astype(np.float32)
        counts.is_directed |= bool((settled != other.astype(np.float32)).any())
        return settled
    return np.maximum(forward, backward).astype(np.float32)
