"""Sets of labels that hold the true one with a chance that the user names: split conformal sets.

The score of a labeled node is 1 − p_y, one minus the probability that the model gives its label
(Sadinle, Lei and Wasserman, JASA 2019: the score with the smallest sets on average). With n
calibration nodes and a wanted coverage c, a set holds every label with 1 − p_k ≤ q, where q is the
⌈(n + 1) c⌉-th smallest of the n scores (Vovk, Gammerman and Shafer, 2005).

What is promised: over draws of calibration nodes and of a node to predict, the set holds the true
label with a probability of at least c, and of at most c + 1/(n + 1) where no two scores are equal,
whatever the model and the labels are like. One draw of n nodes can be lucky or not: with 250 of
them and c = 0.9, coverage is between 0.86 and 0.93 in 19 cases of 20.

What it rests on: calibration nodes and predicted nodes are *exchangeable*, as if drawn at random
from one bowl. In a graph that holds if calibration nodes were drawn at random among the nodes that
the fit treats alike: not trained on, not stopped on. Edges between nodes do no harm then, since the
model sees both kinds of nodes without their labels. It fails if the labels that are known are not a
random part (only old or only popular nodes), for nodes of another graph, and for nodes that came
later: coverage may then be higher or lower than c, and nothing here can tell by how much.

What is not promised: the same coverage for every class or every kind of node. Sets can be empty:
where c is below the model's accuracy, a node of which the model is very unsure gets none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError, counted

_ROUNDING = 1e-9  # (n + 1) c may miss a whole number by the last bits


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """One set of labels for each node: a sequence of arrays of labels.

    Attributes
    ----------
    members : ndarray of bool, shape (n_nodes, n_classes)
        Whether a label is in the set of a node; columns are ordered as ``classes``.
    classes : ndarray of shape (n_classes,)
        The label values.
    coverage : float
        The share of nodes whose set is to hold the true label.
    threshold : float
        The least probability of a label in a set.

    Examples
    --------
    >>> sets = PredictionSets(
    ...     np.array([[True, False], [True, True]]), np.array(["ham", "spam"]), 0.9, 0.2
    ... )
    >>> [labels.tolist() for labels in sets]
    [['ham'], ['ham', 'spam']]
    >>> sets.sizes.tolist(), sets.covers(np.array(["spam", "spam"])).tolist()
    ([1, 2], [False, True])
    """

    members: NDArray[np.bool_]
    classes: NDArray[Any]
    coverage: float
    threshold: float

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of labels in each set, of shape (n_nodes,)."""
        return np.asarray(self.members.sum(axis=1, dtype=np.int64))

    def covers(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each set holds the label at its place, of shape (n_nodes,)."""
        return np.asarray((self.members & (labels[:, None] == self.classes)).any(axis=1))

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.members)

    def __getitem__(self, place: int) -> NDArray[Any]:
        """Return the labels in the set of the node at a place, in the order of ``classes``."""
        return np.asarray(self.classes[self.members[place]])

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the labels in each set."""
        return (self[place] for place in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return ``members``."""
        return np.array(self.members, dtype=dtype, copy=True if copy is None else copy)


def conformity_scores(
    log_proba: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return 1 − p_y of calibration nodes in ascending order, of shape (n_nodes,)."""
    scores = 1.0 - np.exp(log_proba[np.arange(len(labels)), labels])
    return np.sort(np.clip(scores, 0.0, 1.0))


def checked_coverage(coverage: Any) -> float:
    """Return a coverage if it is a number between 0 and 1."""
    number = isinstance(coverage, Real) and not isinstance(coverage, bool | np.bool_)
    if not number or not 0.0 < float(coverage) < 1.0:
        raise InputError(
            "AGC-I1352",
            "coverage must be a number above 0 and below 1",
            got=coverage,
            fix="0.9 asks for sets that hold the true label of nine nodes in ten",
        )
    return float(coverage)


def nodes_needed(coverage: float) -> int:
    """Return the least n with ⌈(n + 1) c⌉ ≤ n: c/(1 − c), rounded up.

    >>> nodes_needed(0.9), nodes_needed(0.95)
    (9, 19)
    """
    return max(1, math.ceil(coverage / (1.0 - coverage) - _ROUNDING))


def score_limit(scores: NDArray[np.float64], coverage: float) -> float:
    """Return q, the ⌈(n + 1) c⌉-th smallest score, or refuse a coverage that needs more nodes.

    Parameters
    ----------
    scores : ndarray of shape (n_nodes,)
        Conformity scores in ascending order.
    coverage : float
        c, between 0 and 1.

    Examples
    --------
    >>> score_limit(np.arange(1.0, 10.0) / 10, 0.5)
    0.5
    """
    rank = max(1, math.ceil((len(scores) + 1) * coverage - _ROUNDING))
    if rank > len(scores):
        most = len(scores) / (len(scores) + 1)
        needed = counted(nodes_needed(coverage), "calibration node")
        raise InputError(
            "AGC-I1353",
            f"coverage={coverage:g} needs at least {needed}",
            got=counted(len(scores), "calibration node"),
            fix=f"fit with more of them in X_cal, or ask for at most coverage={_floor(most):g}",
        )
    return float(scores[rank - 1])


def _floor(share: float) -> float:
    """Return a share below 1 with four digits, never rounded up."""
    return math.floor(share * 10_000 + _ROUNDING) / 10_000


def prediction_sets(
    proba: NDArray[np.float64], classes: NDArray[Any], scores: NDArray[np.float64], coverage: Any
) -> PredictionSets:
    """Return the set of labels of each node.

    Parameters
    ----------
    proba : ndarray of shape (n_nodes, n_classes)
        Probabilities of the nodes to predict.
    classes : ndarray of shape (n_classes,)
        The label values of the columns.
    scores : ndarray of shape (n_calibration,)
        Conformity scores of the calibration nodes, ascending.
    coverage : float
        Between 0 and 1.
    """
    wanted = checked_coverage(coverage)
    limit = score_limit(scores, wanted)
    return PredictionSets(1.0 - proba <= limit, classes, wanted, 1.0 - limit)
