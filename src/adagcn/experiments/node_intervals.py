"""Intervals over splits and nodes together, from which nodes each run got right.

Splits of one graph score many of the same nodes. An interval that resamples splits alone therefore
says what other training nodes would give, scored on these nodes; a node that is hard for one model
is hard in every split, and does not average out. The intervals here also say what other nodes would
give: a bootstrap that resamples splits and, independently, nodes (Owen's pigeonhole bootstrap,
Annals of Applied Statistics 1, 2007). It errs on the wide side: in simulated comparisons on 400
nodes that 20 splits share, it contained the difference on all nodes in about 99 % of cases, the
interval over splits in about 66 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError
from adagcn.experiments.statistics import BOOTSTRAP_SEED, N_RESAMPLES, Interval, rounded

_BLOCK_BYTES = 1 << 21
_KEPT_BLOCKS = 32  # all of them for 60,000 nodes: the cells of a table share their draws
_EXACT_FLOAT32 = 1 << 24  # below this, whole numbers and their sums are exact

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SplitNodes:
    """The scored nodes of one split and what the runs on it did there.

    Attributes
    ----------
    nodes : ndarray of int64
        Positions in the graph, each once.
    total : ndarray of int64
        For each node, the sum over runs: of 1 for right and 0 for wrong, or of the difference of
        that between two models.
    n_runs : int
        How many runs were summed.
    """

    nodes: NDArray[np.int64]
    total: NDArray[np.int64]
    n_runs: int


def node_interval(
    splits: Sequence[SplitNodes],
    minus: Sequence[SplitNodes] | None = None,
    *,
    seed: int = BOOTSTRAP_SEED,
) -> Interval | None:
    """Return the 95 % interval of a mean over splits and nodes, resampling both.

    Every resample draws splits with replacement, and as many nodes with replacement as any split
    scores; a node that was drawn twice counts twice in every split that scores it.

    Parameters
    ----------
    splits : sequence of SplitNodes
        One for each split. Runs of a split are averaged; a split with fewer runs counts for fewer,
        as in the mean itself.
    minus : sequence of SplitNodes, optional
        The same splits of another mean, which is subtracted: both use the same draws.
    seed : int
        Seed of the bootstrap. Its draws of splits are those of the interval over splits.

    Returns
    -------
    (float, float) or None
        None with one split.

    Raises
    ------
    InputError
        If ``minus`` has another number of splits.
    """
    terms = [splits] if minus is None else [splits, minus]
    if len(terms[-1]) != len(splits):
        raise InputError(
            "AGC-I958",
            f"minus must have the {len(splits)} splits that it is subtracted on",
            got=len(terms[-1]),
            fix="leave out the splits that only one of the two has",
        )
    if len(splits) < 2:
        return None
    nodes = np.unique(np.concatenate([split.nodes for term in terms for split in term]))
    drawn = _draws(len(splits), seed)
    first, *others = (_means(term, nodes, drawn, seed) for term in terms)
    low, high = np.nanpercentile(first - sum(others), [2.5, 97.5])
    return rounded(low), rounded(high)


def _draws(n_splits: int, seed: int) -> Array:
    """Return how often each resample has each split."""
    drawn = np.random.default_rng(seed).integers(n_splits, size=(N_RESAMPLES, n_splits))
    return np.stack([np.bincount(row, minlength=n_splits) for row in drawn])


def _means(splits: Sequence[SplitNodes], nodes: Array, drawn: Array, seed: int) -> Array:
    """Return the mean of every resample; NaN for one that drew no scored node."""
    n_splits = len(splits)
    largest = len(nodes) * max(split.n_runs for split in splits)
    # Sums of whole numbers are exact, hence the same on every machine, in float32 as well.
    dtype = np.float32 if largest < _EXACT_FLOAT32 else np.float64
    table = np.zeros((len(nodes), 2 * n_splits), dtype)
    for column, split in enumerate(splits):
        places = np.searchsorted(nodes, split.nodes)
        table[places, column] = split.total
        table[places, n_splits + column] = 1
    sums = np.concatenate([block.astype(dtype) @ table for block in _blocks(len(nodes), seed)])
    totals, counts = np.hsplit(sums.astype(np.float64), 2)
    size = np.array([len(split.nodes) for split in splits])
    n_runs = np.array([split.n_runs for split in splits])
    top = (drawn / size * totals).sum(axis=1)
    bottom = (drawn / size * n_runs * counts).sum(axis=1)
    means: Array = np.divide(top, bottom, out=np.full(N_RESAMPLES, np.nan), where=bottom > 0)
    return means


def _blocks(n_nodes: int, seed: int) -> Iterator[Array]:
    """Yield how often each resample has each node, some resamples at a time."""
    n_rows = max(1, _BLOCK_BYTES // n_nodes)
    for first in range(0, N_RESAMPLES, n_rows):
        yield _block(n_nodes, first, min(n_rows, N_RESAMPLES - first), seed)


@lru_cache(maxsize=_KEPT_BLOCKS)
def _block(n_nodes: int, first: int, n_rows: int, seed: int) -> Array:
    rng = np.random.default_rng([seed, 1 + first])  # with 0 it would be the stream of the splits
    block = np.empty(
        (n_rows, n_nodes), np.uint8
    )  # a node is drawn once on average, never 256 times
    for row in block:
        row[:] = np.bincount(rng.integers(n_nodes, size=n_nodes), minlength=n_nodes)
    block.setflags(write=False)
    return block
