"""A short look before a fit: which features, which columns, how far and how strongly to smooth.

A ridge is fitted on the labeled rows of each candidate and judged by its loss on the stopping
nodes. It has no epochs and no luck, and all candidates share their products with Â, so that a
look costs about as much as a few layers. What it sees holds for the perceptron as well: both fail
where the class has been smoothed away, or was never in the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_softmax

from adagcn.boosting.fit_state import LabeledNodes
from adagcn.graph import Features
from adagcn.learners.ridge import STRENGTHS, RidgePath, lowest_loss, ridge_rows, scores_of
from adagcn.propagation.hops import stream_from
from adagcn.propagation.source import MemorySource
from adagcn.training.hop_fitter import HopTask
from adagcn.training.random_streams import numpy_stream

COLUMN_COUNTS = (1000, 2000, 4000)
TELEPORTS = (0.0, 0.05, 0.1, 0.2, 0.4)
PLAIN_HOPS = (0, 1, 2, 4, 8, 12)  # steps without teleport; with teleport there are always 12
N_HOPS = 12
TOLERANCE = 0.01  # a cheaper choice may have this much more loss
# A lone ridge likes more smoothing than a fit of many hops does: the usual teleport stands unless
# another has this much less loss.
USUAL_TELEPORT, TELEPORT_MARGIN = 0.2, 0.05
# L2 of the perceptron: the first of these stands unless another has this much less loss.
PENALTIES = {
    "few labels": (0.005, 0.015, 0.05),
    "few labels, square roots": (0.015, 0.005, 0.05),
    "many labels": (0.0005, 0.005, 0.0),
}
PENALTY_MARGIN = 0.015
TEMPERATURES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5)
MOST_ROWS = {"train": 2000, "stop": 1000}  # that a look reads; of more it draws so many

# What a look may cost on a large graph: entries of rows of Â², and numbers multiplied for its hops.
MOST_ENTRIES, MOST_WORK, FEWEST_HOPS = 50_000_000, 1e11, 4

# What decides about a choice, as a run's key holds it. Constants that it does not name decide as
# well, here, in ``models/support/adapting.py``, ``learners/ridge.py`` and ``learners/blend.py``:
# a test pins them all, since whoever changes one must change this text, and with it the keys.
RULE = (
    f"ridge by stopping loss; columns {COLUMN_COUNTS} or all within {TOLERANCE}; "
    f"teleports {TELEPORTS} with {N_HOPS} hops, {USUAL_TELEPORT} within {TELEPORT_MARGIN}; "
    f"plain hops {PLAIN_HOPS}; L2 {PENALTIES} beyond {PENALTY_MARGIN}; rows {MOST_ROWS}"
)


@dataclass(frozen=True)
class Tried:
    """One candidate of a look: what was varied, its value, and its loss on the stopping nodes."""

    setting: str
    value: Any
    loss: float


@dataclass(frozen=True)
class LookedAt:
    """The nodes of a look, the labeled ones first.

    Parameters
    ----------
    nodes : ndarray of shape (n_train + n_stop,)
        Their positions.
    labels, stop_labels : ndarray
        Classes of the two kinds.
    weight : ndarray of shape (n_train,)
        Weights of the labeled ones.
    n_classes : int
        Number of classes.
    """

    nodes: NDArray[np.intp]
    labels: NDArray[np.int64]
    stop_labels: NDArray[np.int64]
    weight: NDArray[np.float64]
    n_classes: int

    @classmethod
    def drawn(cls, nodes: LabeledNodes, n_classes: int, seed: int) -> LookedAt:
        """Return all labeled and stopping nodes, or as many of each as a look reads."""
        assert nodes.stop_nodes is not None
        assert nodes.stop_labels is not None
        weighted = np.flatnonzero(nodes.sample_weight > 0.0)
        train = weighted[_some(len(weighted), MOST_ROWS["train"], seed, 0)]
        stop = _some(len(nodes.stop_nodes), MOST_ROWS["stop"], seed, 1)
        return cls(
            np.concatenate([nodes.train_nodes[train], nodes.stop_nodes[stop]]),
            nodes.labels[train],
            nodes.stop_labels[stop],
            nodes.sample_weight[train] * (len(train) / nodes.sample_weight[train].sum()),
            n_classes,
        )

    def path(self, rows: Features) -> RidgePath:
        """Return the ridge fits on the labeled rows."""
        n_train = len(self.labels)
        return RidgePath(
            ridge_rows(rows[:n_train]), np.eye(self.n_classes)[self.labels], self.weight
        )

    def loss(self, rows: Features) -> float:
        """Return the lowest loss of a ridge on the stopping rows, over strengths."""
        path, judged = self.path(rows), ridge_rows(rows[len(self.labels) :])
        said = (scores_of(judged, each) for each in path.coefficients(STRENGTHS))
        even = np.ones(len(self.stop_labels))
        return lowest_loss(zip(STRENGTHS, said, strict=True), self.stop_labels, even).loss


def _some(n: int, most: int, seed: int, place: int) -> NDArray[np.intp]:
    if n <= most:
        return np.arange(n)
    return np.sort(numpy_stream(seed, "look", place).choice(n, most, replace=False))


def near_rows(
    features: Features, propagator: sparse.csr_array | None, nodes: NDArray[np.intp]
) -> Features:
    """Return (X + ÂX + Â²X)/3 of some nodes, for all columns: a few rows of Â² are sparse.

    Where they would not be, in a large graph of many edges, it is (X + ÂX)/2.
    """
    rows = features[nodes]
    if propagator is None:
        return rows
    once = propagator[nodes]
    if np.diff(propagator.indptr)[once.indices].sum(dtype=np.int64) > MOST_ENTRIES:
        return (rows + once @ features) * np.asarray(0.5, dtype=features.dtype)
    return (rows + once @ features + (once @ propagator) @ features) * np.asarray(
        1 / 3, dtype=features.dtype
    )


def choose_norm(
    looked: LookedAt, candidates: Mapping[str, Features], propagator: sparse.csr_array | None
) -> tuple[str, list[Tried]]:
    """Return what to do to the features before they are propagated."""
    tried = [
        Tried("feature_norm", name, looked.loss(near_rows(features, propagator, looked.nodes)))
        for name, features in candidates.items()
    ]
    return str(_best(tried).value), tried


def choose_columns(
    looked: LookedAt, features: Features, propagator: sparse.csr_array | None
) -> tuple[NDArray[np.int64] | None, list[Tried]]:
    """Return the columns that a quick fit leans on, as many as pay; None for all.

    They are ranked by what they add to the scores of the looked-at rows, ‖W_j‖² Σ_i F_ij², in a fit
    on all columns. The fewest are kept whose loss is within one percent of the lowest.
    """
    n_columns = features.shape[1]
    rows = near_rows(features, propagator, looked.nodes)
    tried = [Tried("max_features", "all", looked.loss(rows))]
    counts = [count for count in COLUMN_COUNTS if count < n_columns]
    if not counts:
        return None, tried
    normed = ridge_rows(rows)
    weights = looked.path(rows).coefficients([1.0])[0][:-1]
    energy = _squares(normed)
    order = np.argsort(-np.square(weights).sum(axis=1) * energy, kind="stable")
    for count in counts:
        kept = np.sort(order[:count])
        tried.append(Tried("max_features", count, looked.loss(rows[:, kept])))
    lowest = min(each.loss for each in tried)
    enough = [each.value for each in tried[1:] if each.loss <= (1.0 + TOLERANCE) * lowest]
    if not enough:
        return None, tried
    return np.sort(order[: enough[0]]).astype(np.int64), tried


@dataclass(frozen=True)
class Operator:
    """How features are smoothed: H ← (1 − γ) Â H + γ X, so many times."""

    teleport: float
    n_hops: int

    def shares(self) -> NDArray[np.float64]:
        """Return what each of X, ÂX, …, Â^n X counts."""
        steps = np.arange(self.n_hops + 1)
        shares = self.teleport * (1.0 - self.teleport) ** steps
        shares[-1] = (1.0 - self.teleport) ** self.n_hops
        return np.asarray(shares)


def affordable_hops(n_edges: int, n_columns: int) -> int:
    """Return how many hops a look follows: twelve, and four where a hop is a lot of work.

    >>> affordable_hops(200_000, 2000), affordable_hops(100_000_000, 600)
    (12, 4)
    """
    return N_HOPS if N_HOPS * n_edges * n_columns <= MOST_WORK else FEWEST_HOPS


def operators(
    teleports: Iterable[float], plain_hops: Iterable[int], n_hops: int = N_HOPS
) -> list[Operator]:
    """Return the candidates: plain hops where teleport may be zero, ``n_hops`` with the others."""
    found = []
    for teleport in teleports:
        hops = [each for each in plain_hops if each <= n_hops] if teleport == 0.0 else [n_hops]
        found += [Operator(teleport, each) for each in hops]
    return found


def choose_operator(
    looked: LookedAt, source: MemorySource, candidates: Sequence[Operator]
) -> tuple[Operator, NDArray[Any], list[Tried]]:
    """Return how to smooth the features, and the looked-at rows smoothed that way.

    Parameters
    ----------
    looked : LookedAt
        The nodes.
    source : MemorySource
        Where plain hops come from: one without teleport.
    candidates : sequence of Operator
        What to choose from.
    """
    deepest = max(each.n_hops for each in candidates)
    hops = [
        _dense_rows(hop.rows(looked.nodes))
        for hop in islice(stream_from(source.first()), deepest + 1)
    ]
    tried = [Tried("teleport", each, looked.loss(_smoothed(each, hops))) for each in candidates]
    best = _best(tried)
    usual = [each for each in tried if each.value.teleport == USUAL_TELEPORT]
    if best.value.teleport and usual and usual[0].loss <= (1.0 + TELEPORT_MARGIN) * best.loss:
        best = usual[0]
    return best.value, _smoothed(best.value, hops), tried


def _smoothed(operator: Operator, hops: Sequence[NDArray[Any]]) -> NDArray[Any]:
    rows = np.zeros_like(hops[0])
    for share, hop in zip(operator.shares(), hops, strict=False):
        if share > 0.0:
            rows += share.astype(rows.dtype) * hop
    return rows


def choose_penalty(
    looked: LookedAt,
    rows: NDArray[Any],
    fit: Callable[[float, HopTask], Any],
    penalties: Sequence[float],
) -> tuple[float, list[Tried]]:
    """Return the L2 of the perceptron, by one fit on the smoothed rows for each candidate.

    A strong penalty makes a network less sure than it could be, which says nothing of how well it
    tells classes apart: the loss is that at the best temperature.

    Parameters
    ----------
    looked : LookedAt
        The nodes.
    rows : ndarray of shape (n_train + n_stop, n_features)
        Their rows.
    fit : callable
        Fits the perceptron with an L2 on a task.
    penalties : sequence of float
        The candidates; the first is the usual one.
    """
    n_train, stop_labels = len(looked.labels), looked.stop_labels
    share = looked.weight / looked.weight.sum()
    task = HopTask(0, rows[:n_train], looked.labels, share, rows[n_train:], stop_labels)
    tried = []
    for penalty in penalties:
        said = fit(penalty, task).log_proba(task.stop_rows)
        cooled = (log_softmax(said / each, axis=1) for each in TEMPERATURES)
        loss = min(-each[np.arange(len(stop_labels)), stop_labels].mean() for each in cooled)
        tried.append(Tried("first_layer_l2", penalty, float(loss)))
    best = _best(tried)
    better = best.loss < (1.0 - PENALTY_MARGIN) * tried[0].loss
    return (best if better else tried[0]).value, tried


def _dense_rows(rows: Features) -> NDArray[Any]:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def _squares(rows: Features) -> NDArray[np.float64]:
    """Return the sum of squares of every column."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.square(rows, dtype=np.float64).sum(axis=0))
    squares = np.square(rows.data, dtype=np.float64)
    return np.bincount(rows.indices, weights=squares, minlength=rows.shape[1]).astype(float)


def _best(tried: Sequence[Tried]) -> Tried:
    return min(tried, key=lambda each: each.loss)
