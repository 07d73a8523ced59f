"""From edges to the adjacency: how direction, weights, self-loops and duplicates are treated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.changes import Changes

Directed: TypeAlias = Literal["ignore", "keep", "reverse", "error"]
SelfLoops: TypeAlias = Literal["keep", "drop", "error"]
Duplicates: TypeAlias = Literal["max", "sum", "error"]

_LARGEST_WEIGHT = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class EdgeRules:
    """What to do with edges that are not simple; :meth:`adagcn.Graph.from_edges` explains each."""

    directed: Directed = "ignore"
    self_loops: SelfLoops = "keep"
    duplicates: Duplicates = "max"
    weighted: bool = True

    @property
    def is_plain(self) -> bool:
        """Whether edges run both ways and everything else is kept, which is the default."""
        return self == EdgeRules()

    def __post_init__(self) -> None:
        """Refuse a value that is not one of the choices."""
        choices = {"directed": Directed, "self_loops": SelfLoops, "duplicates": Duplicates}
        for name, choice in choices.items():
            if getattr(self, name) not in get_args(choice):
                problem = f"{name} must be one of {', '.join(map(repr, get_args(choice)))}"
                raise InputError("AGC-I160", problem, got=getattr(self, name))


def adjacency_from_edges(
    ends: tuple[NDArray[np.intp], NDArray[np.intp]],
    weights: NDArray[Any] | None,
    n_nodes: int,
    rules: EdgeRules,
    changes: Changes,
    *,
    both_ways_expected: bool = False,
) -> sparse.csr_array:
    """Return the adjacency of a list of edges.

    Parameters
    ----------
    ends : pair of ndarray of shape (n_edges,)
        Positions of the sources and of the targets.
    weights : ndarray of shape (n_edges,) or None
        Weight of each edge; 1 by default.
    n_nodes : int
        Number of nodes.
    rules : EdgeRules
        What to do with edges that are not simple.
    changes : Changes
        Collects what was changed.
    both_ways_expected : bool
        Whether an undirected graph would list each edge in both directions, so that making one-way
        edges two-way is a change worth reporting.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes), float32
        Sorted, without duplicates or stored zeros.

    Raises
    ------
    InputError
        If a weight is negative or not finite, or a rule forbids what the edges hold.
    """
    sources, targets = ends
    if weights is None and rules.is_plain and not both_ways_expected:
        return _plain_adjacency(sources, targets, n_nodes, changes)
    values = np.ones(len(sources)) if weights is None else _checked_weights(weights)
    used = _is_used(values, changes)
    keys = sources[used].astype(np.int64) * n_nodes + targets[used]
    keys, merged = _merged(keys, values[used], rules.duplicates, changes)
    counts = np.bincount(keys // n_nodes, minlength=n_nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    matrix = sparse.csr_array((merged, keys % n_nodes, indptr), shape=(n_nodes, n_nodes))
    return _finished(matrix, rules, changes, both_ways_expected)


def _plain_adjacency(
    sources: NDArray[np.intp], targets: NDArray[np.intp], n_nodes: int, changes: Changes
) -> sparse.csr_array:
    """Return the adjacency of edges that all weigh 1 and run both ways.

    The same matrix as by the steps for weighted edges, for a third of their work: the pairs are
    sorted as single numbers, once.
    """
    n_edges = len(sources)
    keys = np.empty(2 * n_edges, dtype=np.int64)  # row · n_nodes + column, for both directions
    there, back = keys[:n_edges], keys[n_edges:]
    for part, rows, columns in ((there, sources, targets), (back, targets, sources)):
        np.multiply(rows, n_nodes, out=part, casting="unsafe", dtype=np.int64)
        part += columns
    there.sort()
    n_again = int(np.count_nonzero(there[1:] == there[:-1]))
    tell_of_duplicates(n_again, "max", changes)
    keys.sort()
    is_new = np.empty(len(keys), dtype=bool)
    is_new[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    keys = keys[is_new]
    tell_of_no_edges(len(keys), changes)
    indptr = np.searchsorted(keys, np.arange(n_nodes + 1) * n_nodes)
    keys %= max(n_nodes, 1)
    index_type = sparse.get_index_dtype(maxval=max(len(keys), n_nodes))
    indices = keys.astype(index_type)
    del keys, there, back, part, is_new  # a third of the peak, before the weights are made
    ones = np.ones(len(indices), dtype=np.float32)
    arrays = (ones, indices, indptr.astype(index_type))
    return sparse.csr_array(arrays, shape=(n_nodes, n_nodes))


def adjacency_from_matrix(
    matrix: sparse.csr_array, rules: EdgeRules, changes: Changes
) -> sparse.csr_array:
    """Return the adjacency that a matrix stands for: entry (i, j) is an edge from i to j.

    Parameters and errors are those of :func:`adjacency_from_edges`; ``matrix`` has sorted columns
    and no duplicates.
    """
    n_rows, n_columns = matrix.shape
    if n_rows != n_columns:
        problem = "the adjacency must be a square matrix"
        raise InputError("AGC-I161", problem, got=matrix.shape)
    rows = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))
    values = _checked_weights(matrix.data, places=(rows, matrix.indices))
    matrix = sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    if not _is_used(values, changes).all():
        matrix = matrix.copy()  # the index arrays may be the caller's
        matrix.eliminate_zeros()
    return _finished(matrix, rules, changes, both_ways_expected=True)


def symmetrized(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return max(A, Aᵀ): every edge joins both its ends, with the larger weight."""
    return sparse.csr_array(matrix.maximum(matrix.T.tocsr()))


def without_self_loops(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with an empty diagonal."""
    entries = matrix.tocoo()
    keep = entries.row != entries.col
    kept = (entries.data[keep], (entries.row[keep], entries.col[keep]))
    return sparse.coo_array(kept, shape=matrix.shape).tocsr()


def _checked_weights(
    weights: NDArray[Any], places: tuple[NDArray[Any], NDArray[Any]] | None = None
) -> NDArray[np.float64]:
    if weights.dtype.kind not in "biuf":
        problem = "edge weights must be real numbers"
        raise InputError("AGC-I162", problem, got=weights[:3].tolist())
    values = weights.astype(np.float64)
    bad = bad_weights(values)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        where = f"in row {first}"
        if places is not None:
            where = f"at ({places[0][first]}, {places[1][first]})"
        raise wrong_weights(int(np.count_nonzero(bad)), where, float(values[first]))
    return values


def bad_weights(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which weights are negative, not finite or too large."""
    return np.asarray(~((values >= 0) & (values <= _LARGEST_WEIGHT)))  # true for NaN as well


def wrong_weights(n_bad: int, where: str, first: float) -> InputError:
    """Return the error for weights that cannot be used."""
    return InputError(
        "AGC-I163",
        f"edge weights must be finite and not negative; {n_bad:,} are not, the first {where}",
        got=first,
        fix="correct or remove these edges",
    )


def _is_used(values: NDArray[np.float64], changes: Changes) -> NDArray[np.bool_]:
    with np.errstate(under="ignore"):
        used = values.astype(np.float32) > 0
    tell_of_zeros(len(values) - int(np.count_nonzero(used)), changes)
    values[~used] = 0.0
    return used


def tell_of_zeros(n_zero: int, changes: Changes) -> None:
    """Tell of edges of weight zero."""
    if n_zero:
        changes.note(f"{counted(n_zero, 'edge')} of weight zero dropped", surprising=True)


def tell_of_no_edges(n_stored: int, changes: Changes) -> None:
    """Tell of a graph without edges."""
    if not n_stored:
        changes.note("the graph has no edges", surprising=True)


def _merged(
    keys: NDArray[np.int64], values: NDArray[np.float64], duplicates: Duplicates, changes: Changes
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the different keys, sorted, each with the weight of all its occurrences."""
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    n_again = len(keys) - len(starts)
    if not n_again:
        return keys, values
    tell_of_duplicates(n_again, duplicates, changes)
    return keys[starts], merged_weights(values, starts, duplicates)


def merged_weights(
    values: NDArray[np.float64], starts: NDArray[np.intp], duplicates: Duplicates
) -> NDArray[np.float64]:
    """Return one weight for each run of equal edges; the runs begin at ``starts``."""
    combine = np.add if duplicates == "sum" else np.maximum
    merged: NDArray[np.float64] = combine.reduceat(values, starts)
    if merged.max() > _LARGEST_WEIGHT:
        problem = "the weights of a repeated edge add up to more than can be stored"
        raise InputError("AGC-I167", problem, got=float(merged.max()), fix="scale the weights down")
    return merged


def tell_of_duplicates(n_again: int, duplicates: Duplicates, changes: Changes) -> None:
    """Tell of edges that are listed again, or refuse them."""
    if not n_again:
        return
    if duplicates == "error":
        problem = f"{counted(n_again, 'repeated edge')}, but duplicates='error'"
        fix = "remove them, or choose duplicates='max' or 'sum'"
        raise InputError("AGC-I164", problem, fix=fix)
    kept = "their weights added" if duplicates == "sum" else "the largest weight kept"
    phrase = f"{counted(n_again, 'duplicate edge')} merged, {kept}"
    changes.note(phrase, surprising=duplicates == "max")


def _finished(
    matrix: sparse.csr_array, rules: EdgeRules, changes: Changes, both_ways_expected: bool
) -> sparse.csr_array:
    """Return the adjacency after weights, self-loops and direction, in this order."""
    if not rules.weighted and (matrix.data != 1).any():
        changes.note(f"{counted(int((matrix.data != 1).sum()), 'edge weight')} set to 1")
        matrix = sparse.csr_array(
            (np.ones(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape
        )
    matrix = _loops_settled(matrix, rules.self_loops, changes)
    matrix = _direction_settled(matrix, rules.directed, changes, both_ways_expected)
    tell_of_no_edges(int(matrix.nnz), changes)
    return matrix.astype(np.float32)


def _loops_settled(
    matrix: sparse.csr_array, self_loops: SelfLoops, changes: Changes
) -> sparse.csr_array:
    looped = np.flatnonzero(matrix.diagonal())
    if self_loops == "keep" or not len(looped):
        return matrix
    tell_of_loops(len(looped), looped[:5].tolist(), self_loops, changes)
    return without_self_loops(matrix)


def tell_of_loops(n_loops: int, first: list[int], self_loops: SelfLoops, changes: Changes) -> None:
    """Tell of self-loops that are dropped, or refuse them; ``first`` are some of their nodes."""
    if self_loops == "keep" or not n_loops:
        return
    if self_loops == "error":
        problem = f"{counted(n_loops, 'self-loop')}, but self_loops='error'"
        fix = "remove them, or choose self_loops='keep' or 'drop'"
        raise InputError("AGC-I165", problem, got=first, fix=fix)
    changes.note(f"{counted(n_loops, 'self-loop')} dropped")


def _direction_settled(
    matrix: sparse.csr_array, directed: Directed, changes: Changes, both_ways_expected: bool
) -> sparse.csr_array:
    if directed == "keep":
        return matrix
    reverse = matrix.T.tocsr()
    if directed == "reverse":
        return reverse
    tell_of_direction(*_asymmetry(matrix, reverse), directed, changes, both_ways_expected)
    return symmetrized(matrix)


def tell_of_direction(
    one_way: int, unequal: int, directed: Directed, changes: Changes, both_ways_expected: bool
) -> None:
    """Tell of edges that are made equal both ways, or refuse them.

    Parameters
    ----------
    one_way, unequal : int
        Edges without a reverse, and pairs with two different weights.
    directed, changes, both_ways_expected
        As of :func:`adjacency_from_edges`.
    """
    if directed == "error" and (one_way or unequal):
        problem = f"the graph is directed, but directed='error': {counted(one_way, 'one-way edge')}"
        problem += f", {counted(unequal, 'pair')} of unequal weight" if unequal else ""
        fix = "choose directed='ignore' to make every edge two-way, 'keep' or 'reverse'"
        raise InputError("AGC-I166", problem, fix=fix)
    if one_way and both_ways_expected:
        changes.note(f"{counted(one_way, 'one-way edge')} made two-way", surprising=True)
    if unequal:
        phrase = f"{counted(unequal, 'edge')} with a different weight each way, the larger kept"
        changes.note(phrase, surprising=True)


def _asymmetry(matrix: sparse.csr_array, reverse: sparse.csr_array) -> tuple[int, int]:
    """Return how many edges have no reverse, and how many pairs have two different weights."""
    shared = int((matrix.astype(bool).multiply(reverse.astype(bool))).nnz)
    one_way = int(matrix.nnz) - shared
    differing = int((matrix != reverse).nnz)  # a one-way edge differs in two places, a pair too
    return one_way, (differing - 2 * one_way) // 2
