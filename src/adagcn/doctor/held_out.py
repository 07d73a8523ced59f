"""How well a ridge on some smoothing of the features tells held-out labels.

A ridge (:mod:`adagcn.doctor.folded_ridge`) is fitted on labeled nodes in closed form. What it would
say of a tenth of them without having seen it comes from the same decomposition, exactly; further
labeled nodes, if there are any, are judged as they are. Strength and temperature have the lowest
loss of the left-out nodes, for every candidate alike.

Features of unlabeled and left-out nodes take part in the propagation, as in every fit on a graph;
their labels do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from adagcn.boosting.look import TELEPORTS, Operator
from adagcn.doctor.folded_ridge import FoldedRidge, balanced_folds, row_products
from adagcn.doctor.intervals import Estimate, mean, paired_difference, share
from adagcn.graph import Graph

MOST_FITTED = 1000
MOST_JUDGED = 2000  # besides the fitted ones
FEWEST = 20  # labels, below which nothing can be told
N_PARTS = 10  # of the judged nodes; each is judged by what the others chose
SIDE_BY_SIDE = 3  # hops 0, 1 and 2 as columns of their own


@dataclass(frozen=True)
class JudgedNodes:
    """The labeled nodes that ridges are fitted on and judged by.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,)
        Positions, the fitted ones first.
    labels : ndarray of shape (n_nodes,)
        Their classes, numbered from 0 without gaps.
    n_fitted : int
        How many of them ridges are fitted on.
    n_classes : int
        Classes among the fitted ones.
    folds : ndarray of shape (n_fitted,)
        Which of the fitted ones are left out together.
    """

    nodes: NDArray[np.intp]
    labels: NDArray[np.int64]
    n_fitted: int
    n_classes: int
    folds: NDArray[np.int64]

    @classmethod
    def drawn(cls, graph: Graph, *, rng: np.random.Generator) -> JudgedNodes | None:
        """Return all labeled nodes or a sample of them; None if they are too few to tell.

        There must be :data:`FEWEST` of them, and two classes with two labels or more: a class whose
        only label is left out cannot be recognized.
        """
        order = rng.permutation(graph.labeled_nodes)
        fitted, further = order[:MOST_FITTED], order[MOST_FITTED : MOST_FITTED + MOST_JUDGED]
        classes, counts = np.unique(graph.labels[fitted], return_counts=True)
        if len(fitted) < FEWEST or (counts >= 2).sum() < 2:
            return None
        further = further[np.isin(graph.labels[further], classes)]
        nodes = np.concatenate([fitted, further])
        labels = np.searchsorted(classes, graph.labels[nodes]).astype(np.int64)
        folds = balanced_folds(labels[: len(fitted)], rng)
        return cls(nodes, labels, len(fitted), len(classes), folds)


@dataclass(frozen=True)
class Candidate:
    """A smoothing of the features, and what a ridge on it says of the judged nodes.

    Parameters
    ----------
    kind : {"hop", "teleport", "side by side"}
        One plain hop; so many steps with teleport; hops 0 to 2 as columns of their own.
    teleport : float
        γ; 0 without.
    n_hops : int
        Steps.
    right : ndarray of shape (n_judged,), bool
        Which nodes a ridge gets right without having seen their labels.
    losses : ndarray of shape (n_judged,)
        −log p of their labels.
    """

    kind: str
    teleport: float
    n_hops: int
    right: NDArray[np.bool_]
    losses: NDArray[np.float64]

    @property
    def loss(self) -> float:
        """The mean of the losses."""
        return float(self.losses.mean())

    @property
    def accuracy(self) -> Estimate:
        """Share of the judged nodes that are right."""
        return share(int(self.right.sum()), len(self.right))


def judged(
    products: NDArray[np.float64], nodes: JudgedNodes
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which nodes a ridge gets right, and the loss of each.

    Parameters
    ----------
    products : ndarray of shape (n_judged, n_fitted)
        Of the rows of the judged nodes with those of the fitted ones.
    nodes : JudgedNodes
        The nodes.
    """
    n_fitted, labels = nodes.n_fitted, nodes.labels
    ridge = FoldedRidge(products[:n_fitted], labels[:n_fitted], nodes.n_classes, nodes.folds)
    best = ridge.best()
    further = ridge.scores(products[n_fitted:], best.strength)
    said = np.vstack([ridge.left_out(best.strength), further])
    log_proba = log_softmax(said / best.temperature, axis=1)
    return said.argmax(axis=1) == labels, -log_proba[np.arange(len(labels)), labels]


class Trial:
    """Judges candidates while the hops go by; keeps the products of the best one only.

    Parameters
    ----------
    nodes : JudgedNodes
        Who judges.
    n_hops : int
        The last hop there will be.
    """

    def __init__(self, nodes: JudgedNodes, n_hops: int) -> None:
        self.nodes = nodes
        self.candidates: list[Candidate] = []
        self._smoothed: dict[Operator, Any] = (
            {Operator(each, n_hops): 0.0 for each in TELEPORTS if each} if n_hops else {}
        )
        self._near: Any = 0.0
        self._n_hops = n_hops
        self.best_products: NDArray[np.float64] | None = None

    def add(self, hop: int, rows: NDArray[Any]) -> Candidate:
        """Judge a hop, and whatever is complete with it.

        Parameters
        ----------
        hop : int
            Its number; they come in order.
        rows : ndarray of shape (n_judged, n_features)
            Its rows of the judged nodes.
        """
        for operator in self._smoothed:
            part = operator.shares()[hop].astype(rows.dtype) * rows
            self._smoothed[operator] = self._smoothed[operator] + part
        products = row_products(rows, self.nodes.n_fitted)
        plain = self._judge("hop", Operator(0.0, hop), products)
        if hop < SIDE_BY_SIDE:  # the products of columns side by side are sums
            self._near = self._near + products
        if hop == SIDE_BY_SIDE - 1:
            self._judge("side by side", Operator(0.0, hop), self._near)
            self._near = 0.0
        if hop == self._n_hops:
            for operator, smoothed in self._smoothed.items():
                products = row_products(smoothed, self.nodes.n_fitted)
                self._judge("teleport", operator, products)
            self._smoothed.clear()
        return plain

    def _judge(self, kind: str, operator: Operator, products: NDArray[np.float64]) -> Candidate:
        right, losses = judged(products, self.nodes)
        found = Candidate(kind, operator.teleport, operator.n_hops, right, losses)
        if all(found.loss < each.loss for each in self.candidates):
            self.best_products = products
        self.candidates.append(found)
        return found


@dataclass(frozen=True)
class Gain:
    """What the graph adds to the features.

    Parameters
    ----------
    features_alone : Estimate
        Accuracy of a ridge on the nodes' own features.
    with_graph : Estimate
        Accuracy of a ridge on the smoothing that had the lowest loss on *other* nodes: the nodes
        are cut into ten parts, and each part is judged by what the other nine chose.
    difference : Estimate
        The second less the first, on the same nodes.
    loss_difference : Estimate
        How much lower −log p of the label is with the graph, in the mean over nodes.
    majority : float
        Share of the judged nodes in the largest class, which costs nothing to reach.
    n_fitted, n_judged : int
        Labels that each ridge was fitted on (a tenth of them left out to be judged), and judged
        nodes.
    """

    features_alone: Estimate
    with_graph: Estimate
    difference: Estimate
    loss_difference: Estimate
    majority: float
    n_fitted: int
    n_judged: int


def gain_of_graph(
    candidates: Sequence[Candidate], nodes: JudgedNodes, *, rng: np.random.Generator
) -> Gain:
    """Return what the graph adds, without the luck of choosing the best of many."""
    alone = candidates[0]
    others = list(candidates[1:])
    losses = np.stack([each.losses for each in others])
    rights = np.stack([each.right for each in others])
    chosen = np.empty(len(nodes.nodes), dtype=np.intp)
    for part in _parts(len(nodes.nodes), rng):
        rest = np.ones(len(nodes.nodes), dtype=bool)
        rest[part] = False
        chosen[part] = losses[:, rest].mean(axis=1).argmin()
    places = np.arange(len(chosen))
    right, loss = rights[chosen, places], losses[chosen, places]
    return Gain(
        features_alone=alone.accuracy,
        with_graph=share(int(right.sum()), len(right)),
        difference=paired_difference(alone.right, right),
        loss_difference=mean(alone.losses - loss),
        majority=float(np.bincount(nodes.labels).max() / len(nodes.labels)),
        n_fitted=nodes.n_fitted,
        n_judged=len(right),
    )


def _parts(n: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    yield from np.array_split(rng.permutation(n), N_PARTS)


def close_to(best: Candidate, others: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that cannot be told from the best one by their losses, with it."""
    return [each for each in others if each is best or mean(each.losses - best.losses).low <= 0.0]
