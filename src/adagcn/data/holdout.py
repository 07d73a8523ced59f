"""The split of a user's own labels: most are trained on, a share is scored, however few there are.

Of each class, in random order, a share is scored, a share of the rest is stopped on, and everything
else is trained on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adagcn.data.nodesets import Nodes, Split, check_count, check_labeled, checked_labels
from adagcn.errors import InputError

STOP_SHARE = 0.2
SCORE_SHARE = 0.2

Sizes = NDArray[np.int64]


def holdout_split(
    labels: ArrayLike,
    seed: int,
    *,
    stop: float = STOP_SHARE,
    score: float = SCORE_SHARE,
    train_per_class: int | None = None,
) -> Split:
    """Split labeled nodes at random, class by class, so that every label has a use.

    No class is too small. One with a single label is trained on; of two, one is trained on and
    the other scored (stopped on, if nothing is scored); of three or more, at least one is in each
    of the three sets. A set that gets no label is empty.

    Parameters
    ----------
    labels : array-like of int, shape (n_nodes,)
        Class of each node, −1 where unknown.
    seed : int
        Seed of the random draw.
    stop : float or int
        Below 1: the share of each class's labels that is stopped on, of those that are not scored.
        From 1: their number in all, spread over the classes in proportion. 0 stops on nothing.
    score : float
        Share of each class's labels that is scored; 0 scores nothing.
    train_per_class : int, optional
        Train on this many labels of each class at most, and score all that are neither trained nor
        stopped on; ``score`` is not used.

    Returns
    -------
    Split
        Every labeled node is in one of the three sets, each in ascending order.

    Examples
    --------
    >>> holdout_split([0] * 10 + [1] * 3, 0).sizes
    {'train': 7, 'stop': 3, 'score': 3}
    """
    labels = checked_labels(labels)
    name = f"holdout:{seed}"
    check_labeled(labels, name)
    _check_shares(stop, score)
    rng = np.random.default_rng(seed)
    members = [rng.permutation(np.flatnonzero(labels == k)) for k in np.unique(labels[labels >= 0])]
    sizes = np.array([len(each) for each in members])
    if train_per_class is None:
        n_score = _part(sizes, score)
        n_stop = _stop_sizes(stop, sizes - n_score)
    else:
        check_count("train_per_class", train_per_class)
        n_others = sizes - np.minimum(train_per_class, np.maximum(sizes - 2, 1))
        n_stop = _stop_sizes(stop, n_others)
        n_score = n_others - n_stop
    places = [
        np.split(each, [a, a + b]) for each, a, b in zip(members, n_score, n_stop, strict=True)
    ]
    score_nodes, stop_nodes, train_nodes = (_joined(parts) for parts in zip(*places, strict=True))
    return Split(name, train_nodes, stop_nodes, score_nodes)


def _check_shares(stop: float, score: float) -> None:
    if not 0 <= score < 1:
        raise InputError(
            "AGC-I238", "score must be at least 0 and below 1", got=score, fix="use for example 0.2"
        )
    if not 0 <= stop < np.inf or (stop >= 1 and stop % 1):
        raise InputError(
            "AGC-I239",
            "stop must be a share below 1 or a whole number of nodes",
            got=stop,
            fix="use for example 0.2 or 500",
        )


def _part(sizes: Sizes, share: float) -> Sizes:
    """Return a share of each size, rounded: at least one, and at most all but one."""
    if share == 0:
        return np.zeros_like(sizes)
    rounded: Sizes = np.rint(share * sizes).astype(np.int64)
    return np.clip(rounded, 1, _all_but_one(sizes))


def _stop_sizes(stop: float, sizes: Sizes) -> Sizes:
    """Return how many nodes of each class are stopped on, of which each class keeps one."""
    if stop < 1:
        return _part(sizes, stop)
    rooms, total = _all_but_one(sizes), int(stop)
    if total > rooms.sum():
        raise InputError(
            "AGC-I242",
            f"stop is more than the {rooms.sum():,} labels that can be set aside for stopping",
            got=total,
            fix="lower it, or give a share such as 0.2",
        )
    counts, rest = np.divmod(total * rooms, rooms.sum())
    # The largest remainders get what is left, the first of equal ones first.
    counts[np.argsort(-rest, kind="stable")[: total - counts.sum()]] += 1
    return np.asarray(counts)


def _all_but_one(sizes: Sizes) -> Sizes:
    return np.maximum(sizes - 1, 0)


def _joined(parts: Any) -> Nodes:
    return np.sort(np.concatenate(parts))
