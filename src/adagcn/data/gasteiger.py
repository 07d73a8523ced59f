"""The paper's split protocol, node for node, and the same with other known nodes every time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from adagcn.data.catalog import CATALOG
from adagcn.data.nodesets import (
    Nodes,
    Regime,
    Split,
    check_class_size,
    check_count,
    checked_labels,
)
from adagcn.errors import InputError
from adagcn.graph import Graph

# The protocol of Gasteiger et al. (PPNP, ICLR 2019), which the paper takes over: one constant seed
# sets the test nodes apart for ever; these seeds draw training and stopping nodes from the rest.
_KNOWN_SEED = 4143496719
_SEEDS = {
    "test": (
        2144199730, 794209841, 2985733717, 2282690970, 1901557222, 2009332812, 2266730407,
        635625077, 3538425002, 960893189, 497096336, 3940842554, 3594628340, 948012117,
        3305901371, 3644534211, 2297033685, 4092258879, 2590091101, 1694925034,
    ),
    "val": (
        2413340114, 3258769933, 1789234713, 2222151463, 2813247115, 1920426428, 4272044734,
        2092442742, 841404887, 2188879532, 646784207, 1633698412, 2256863076, 374355442,
        289680769, 4281139389, 4263036964, 900418539, 119332950, 1628837138,
    ),
}  # fmt: skip
N_SPLITS = 20
KINDS = ("val", "test", "fresh")
FINAL_KINDS = ("test", "fresh")  # for final tables: nothing is chosen or checked on these
_N_KNOWN = 1500  # unless the catalog has another number
_TRAIN_PER_CLASS = 20
_Draw = Callable[[Nodes, int], Nodes]


def gasteiger_split(  # noqa: PLR0913
    labels: ArrayLike,
    kind: Literal["val", "test", "fresh"],
    index: int,
    *,
    n_known: int = _N_KNOWN,
    train_per_class: int = _TRAIN_PER_CLASS,
    n_stop: int = 500,
    classes: ArrayLike | None = None,
    regime: Regime | None = None,
) -> Split:
    """Make one of the splits of the paper's protocol, with exactly the same nodes, or a fresh one.

    A fixed seed draws ``n_known`` nodes. From these, the split's own seed draws ``train_per_class``
    nodes of each class and ``n_stop`` others. ``"test"`` scores all nodes outside the known set;
    ``"val"`` scores the remaining known nodes. So all test splits score the same nodes.

    ``"fresh"`` is ``"test"`` with known nodes, and therefore scored nodes, of its own: one stream
    of random numbers, seeded as :func:`fresh_seed` says, draws the known nodes, then the training
    nodes and then the stopping nodes.

    Parameters
    ----------
    labels : array-like of int, shape (n_nodes,)
        Class of each node, −1 where unknown.
    kind : {"val", "test", "fresh"}
        Which seeds, and what is scored.
    index : int
        Which split, 0 to 19.
    n_known, train_per_class, n_stop : int
        Sizes; the paper uses 1,500 (5,000 for MS Academic), 20 and 500.
    classes : array-like, optional
        Names of the classes, for messages.
    regime : Regime, optional
        Another number of training nodes; ``label_noise`` is not for this function.

    Returns
    -------
    Split
        Nodes in the order drawn; the scored nodes of ``"test"`` and ``"fresh"`` in ascending
        order.
    """
    if kind not in KINDS or not 0 <= index < N_SPLITS:
        raise InputError(
            "AGC-I223",
            'kind must be "val", "test" or "fresh" and index 0 to 19',
            got=(kind, index),
            fix='use for example kind="val", index=0',
        )
    labels = checked_labels(labels)
    for name, count in (("train_per_class", train_per_class), ("n_stop", n_stop)):
        check_count(name, count)
    labeled = _labeled(labels, n_known, f"{kind}:{index}")
    if kind == "fresh":
        draw = _legacy_draw(fresh_seed(index))
        known = draw(labeled, n_known)
    else:
        draw = _legacy_draw(_SEEDS[kind][index])
        known = _legacy_draw(_KNOWN_SEED)(labeled, n_known)
    if regime is not None and regime.n_train is not None:
        _check_n_train(regime.n_train, n_known)
        train_nodes = _train_as_they_fall(labels, known, regime.n_train, draw)
    else:
        train = []
        present = np.unique(labels[labeled])
        for place, label in enumerate(present):
            members = known[labels[known] == label]
            n_train = _n_of_class(train_per_class, regime, place, len(present), len(members))
            check_class_size(members, n_train, label, classes, f"{kind}:{index}")
            train.append(draw(members, n_train))
        train_nodes = np.concatenate(train)
    rest = known[~np.isin(known, train_nodes)]
    if len(rest) <= n_stop:
        raise InputError(
            "AGC-I225",
            f"n_stop={n_stop:,} leaves no known node to score after {len(train_nodes):,} training "
            "nodes are drawn",
            got=len(rest),
            fix="lower n_stop or train_per_class, or use holdout:0",
        )
    stop_nodes = draw(rest, n_stop)
    unknown = np.setdiff1d(labeled, known)
    score_nodes = unknown if kind in FINAL_KINDS else rest[~np.isin(rest, stop_nodes)]
    return Split(f"{kind}:{index}", train_nodes, stop_nodes, score_nodes)


def _n_of_class(
    train_per_class: int, regime: Regime | None, place: int, n_classes: int, n_members: int
) -> int:
    """Return how many training nodes the class at one place among all classes has."""
    if regime is not None and regime.imbalance is not None:
        return regime.imbalance[place >= (n_classes + 1) // 2]
    if regime is not None and regime.at_most and n_members < train_per_class:
        return max(n_members // 2, 1)
    return train_per_class


def _train_as_they_fall(labels: Nodes, known: Nodes, n_train: int, draw: _Draw) -> Nodes:
    """Return training nodes whatever their classes, and one of every known class that got none."""
    drawn = draw(known, n_train)
    absent = np.setdiff1d(labels[known], labels[drawn])
    return np.concatenate([drawn, *(draw(known[labels[known] == k], 1) for k in absent)])


def _check_n_train(n_train: int, n_known: int) -> None:
    if n_train > n_known:
        raise InputError(
            "AGC-I265",
            f"n_train is more than the {n_known:,} known nodes",
            got=n_train,
            fix="lower it or raise n_known",
        )


def fresh_seed(index: int) -> int:
    """Return the seed of a fresh split: the first 32 bits of the SHA-256 of its name.

    The rule was fixed before any fresh split was run, and leaves nothing to choose.

    >>> fresh_seed(7) == int(hashlib.sha256(b"adagcn fresh:7").hexdigest()[:8], 16)
    True
    """
    return int(hashlib.sha256(f"adagcn fresh:{index}".encode()).hexdigest()[:8], 16)


def n_known_of(graph: Graph) -> int:
    """Return how many nodes the protocol draws from: as the catalog says, otherwise 1,500."""
    entry = CATALOG.get(graph.name or "")
    return _N_KNOWN if entry is None else entry.n_known


def known_nodes(graph: Graph) -> Nodes:
    """Return the nodes that all ``val`` and ``test`` splits of the paper's protocol draw from.

    Parameters
    ----------
    graph : Graph
        A graph with labels.

    Returns
    -------
    ndarray of int64
        Positions in ascending order. Every choice was made on validation splits, so these are the
        nodes whose labels a choice may have seen; ``test`` splits score all others.
    """
    n_known = n_known_of(graph)
    labeled = _labeled(checked_labels(graph.labels), n_known, "the paper's protocol")
    return np.sort(_legacy_draw(_KNOWN_SEED)(labeled, n_known))


def share_seen(graph: Graph, split: Split) -> float:
    """Return the share of a split's scored nodes whose labels validation splits may have seen.

    Parameters
    ----------
    graph : Graph
        A graph with labels.
    split : Split
        A split of it that scores something. The share is 0 for ``test`` and 1 for ``val``.

    Returns
    -------
    float
        The share of ``split.score_nodes`` that is in :func:`known_nodes`.
    """
    return float(np.isin(split.score_nodes, known_nodes(graph)).mean())


def fresh_share_seen(graph: Graph) -> float:
    """Return the mean of :func:`share_seen` over the 20 fresh splits of a graph."""
    n_known = n_known_of(graph)
    splits = [
        gasteiger_split(graph.labels, "fresh", index, n_known=n_known, classes=graph.classes)
        for index in range(N_SPLITS)
    ]
    return float(np.mean([share_seen(graph, split) for split in splits]))


def _labeled(labels: Nodes, n_known: int, split: str) -> Nodes:
    """Return the nodes with a label, of which there must be more than the known ones."""
    labeled = np.flatnonzero(labels >= 0)
    if len(labeled) <= n_known:
        raise InputError(
            "AGC-I224",
            f"{split} draws from {n_known:,} labeled nodes and scores others",
            got=len(labeled),
            fix="use holdout:0 for a small graph",
        )
    return labeled


def _legacy_draw(seed: int) -> _Draw:
    """Return a draw without replacement from NumPy's legacy stream, frozen since 2011."""
    rng = np.random.RandomState(seed)

    def draw(nodes: Nodes, size: int) -> Nodes:
        chosen: Nodes = rng.choice(nodes, size, replace=False)
        return chosen

    return draw
