"""Multi-class AdaBoost: SAMME.R, which Algorithm 1 is, and SAMME (the paper's equations 4 to 6).

Hastie, Rosset, Zhu and Zou, "Multi-class AdaBoost" (2006 preprint). K is the number of classes, log
p the log-probabilities that a layer gives, ŷ its predicted classes, w the weights of the training
nodes. Everything is float64 and stays in log space, so that no confidence is too large.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from adagcn.errors import LayerWarning, NumericalError

WeightUpdate = Literal["onehot", "hastie", "released", "reverse", "none"]
Combine = Literal["samme_r", "samme", "ema", "last"]
Vote = Literal["hard", "logits"]

# exp(-700) is about the smallest positive float64; below it a weight would become zero and its
# node could never come back.
_SMALLEST_LOG_WEIGHT = -700.0


# Node weights, as logarithms


def log_weights(sample_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of non-negative weights, normalized to sum to one."""
    with np.errstate(divide="ignore"):
        return normalized(np.log(sample_weight))


def normalized(log_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log-weights whose exponentials sum to one (Algorithm 1, line 7).

    A node that the user gave weight zero keeps it; any other weight stays positive.
    """
    shifted: NDArray[np.float64] = log_weight - logsumexp(log_weight)
    return np.where(np.isneginf(shifted), shifted, np.maximum(shifted, _SMALLEST_LOG_WEIGHT))


def effective_sample_size(log_weight: NDArray[np.float64]) -> float:
    """Return 1 / (n Σ w²): the share of the n weighted nodes that the weights rest on.

    One for equal weights, 1/n when a single node holds all the weight. Nodes of weight zero do not
    count.
    """
    n_weighted = np.count_nonzero(np.isfinite(log_weight))
    return float(np.exp(-logsumexp(2.0 * normalized(log_weight))) / n_weighted)


# SAMME.R


def class_scores(log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return h_k = (K − 1)(log p_k − (1/K) Σ_j log p_j) (Algorithm 1, line 5).

    Parameters
    ----------
    log_proba : ndarray of shape (n_nodes, n_classes)
        Log-probabilities of one layer.

    Returns
    -------
    ndarray of shape (n_nodes, n_classes)
        The layer's votes; every row sums to zero.
    """
    n_classes = log_proba.shape[1]
    return np.asarray((n_classes - 1) * (log_proba - log_proba.mean(axis=1, keepdims=True)))


def log_weight_change(
    log_proba: NDArray[np.float64], labels: NDArray[np.int64], update: WeightUpdate
) -> NDArray[np.float64]:
    """Return what is added to log w_i after a layer (Algorithm 1, line 6).

    The paper leaves the coding of y open, and its released code does something else; the readings:

    - ``"onehot"``: y one-hot, −((K−1)/K) log p_y. The preset ``paper``.
    - ``"hastie"``: y is 1 for the class and −1/(K−1) elsewhere, as in SAMME.R itself:
      −((K−1)/K) yᵀ log p = −(log p_y − mean_k log p_k) = −h_y/(K−1).
    - ``"released"``: the authors' code, +((K−2)/(K−1)) log p_y. It takes weight *from* hard nodes,
      and does nothing for two classes.
    - ``"reverse"``: −"onehot". It takes weight from hard nodes for any number of classes, which
      helps where labels are wrong.
    - ``"none"``: no change.

    Parameters
    ----------
    log_proba : ndarray of shape (n_train, n_classes)
        Log-probabilities of the layer on the training nodes.
    labels : ndarray of shape (n_train,)
        Their classes, as indices.
    update : {"onehot", "hastie", "released", "reverse", "none"}
        Which reading.
    """
    n_classes = log_proba.shape[1]
    log_proba_of_label: NDArray[np.float64] = log_proba[np.arange(len(labels)), labels]
    if update == "hastie":
        return np.asarray(log_proba.mean(axis=1) - log_proba_of_label)
    factor = {
        "onehot": -(n_classes - 1) / n_classes,
        "released": (n_classes - 2) / (n_classes - 1),
        "reverse": (n_classes - 1) / n_classes,
        "none": 0.0,
    }[update]
    return np.asarray(factor * log_proba_of_label)


# SAMME


def weighted_error(
    sample_weight: NDArray[np.float64], predicted: NDArray[np.int64], labels: NDArray[np.int64]
) -> float:
    """Return err = Σ w_i 1[y_i ≠ ŷ_i] / Σ w_i (Eq. 4)."""
    return float(sample_weight[predicted != labels].sum() / sample_weight.sum())


def layer_weight(error: float, n_classes: int, n_train: int) -> float:
    """Return α = log((1 − err)/err) + log(K − 1) (Eq. 4).

    A perfect layer would weigh infinitely much; its error counts as 1/(4n), a quarter of what one
    wrong node among n would be. α ≤ 0 means no better than guessing: err ≥ 1 − 1/K.
    """
    smallest = 1.0 / (4.0 * n_train)
    error = min(max(error, smallest), 1.0 - smallest)
    return float(np.log1p(-error) - np.log(error) + np.log(n_classes - 1))


def samme_log_weight_change(
    alpha: float, predicted: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what is added to log w_i after a layer: α for each wrong node (Eq. 5)."""
    return np.where(predicted != labels, alpha, 0.0)


def hard_votes(log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one vote per node for its predicted class, on the scale of SAMME.R's class scores.

    (K − 1)(1[k = ŷ] − 1/K): a shift and a scale of Hastie's 1[k = ŷ], so the same class wins, and
    with α it is what SAMME.R gives for a layer that is right with probability 1 − err everywhere.
    """
    n_classes = log_proba.shape[1]
    predicted = log_proba.argmax(axis=1)
    return np.asarray((n_classes - 1) * (np.eye(n_classes)[predicted] - 1.0 / n_classes))


# How the votes of the layers become one prediction


@dataclass(frozen=True)
class Combination:
    """The rule that combines layers: F = Σ_l c_l v_l, with votes v and coefficients c.

    Parameters
    ----------
    combine : {"samme_r", "samme", "ema", "last"}
        ``"samme_r"``: votes are the class scores h, each with coefficient one (Algorithm 1).
        ``"samme"``: coefficients α (Eq. 4). ``"ema"``: fixed coefficients γ(1 − γ)^l, the relaxed
        form of Proposition 1. ``"last"``: the newest layer alone.
    vote : {"hard", "logits"}
        For ``"samme"`` only: Hastie's one vote per node, or the paper's Eq. 6, which sums α times
        the logits (the class scores are the logits without their mean).
    ema_teleport : float
        γ of ``"ema"``.
    voting_share : float
        Of the d layers that were not discarded, the last ⌈d · share⌉ vote; one is all of them.
    """

    combine: Combine = "samme_r"
    vote: Vote = "hard"
    ema_teleport: float = 0.1
    voting_share: float = 1.0

    def coefficient(self, hop: int, alpha: float) -> float:
        """Return c_l for the layer on ``hop`` whose SAMME weight is ``alpha``."""
        if self.combine == "samme":
            return alpha
        if self.combine == "ema":
            return self.ema_teleport * (1.0 - self.ema_teleport) ** hop
        return 1.0

    def votes(self, log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return v_l of shape (n_nodes, n_classes), on the scale of SAMME.R's class scores."""
        if self.combine == "samme" and self.vote == "hard":
            return hard_votes(log_proba)
        return class_scores(log_proba)

    def first_voter(self, coefficients: Sequence[float]) -> int:
        """Return which layer of an ensemble is the first to vote."""
        kept = np.flatnonzero(coefficients)
        n_voters = 1 if self.combine == "last" else math.ceil(self.voting_share * len(kept))
        return int(kept[len(kept) - n_voters])

    def combined(self, layers: Sequence[tuple[float, NDArray[np.float64]]]) -> CombinedVotes:
        """Return the votes of a whole ensemble, given as for :meth:`staged`."""
        first = self.first_voter([coefficient for coefficient, _ in layers])
        return self.sum_votes(layers[first:])

    def sum_votes(self, voters: Iterable[tuple[float, NDArray[np.float64]]]) -> CombinedVotes:
        """Return the votes of the layers that vote, which may come one by one."""
        return _summed((weight, self.votes(log_proba)) for weight, log_proba in voters)

    def staged(
        self, layers: Iterable[tuple[float, NDArray[np.float64]]]
    ) -> Iterator[CombinedVotes]:
        """Yield the combined votes after each further layer.

        Parameters
        ----------
        layers : iterable of (coefficient, log_proba)
            In the order of the hops.
        """
        so_far: list[tuple[float, NDArray[np.float64]]] = []
        for coefficient, log_proba in layers:
            so_far.append((coefficient, self.votes(log_proba)))
            yield _summed(so_far[self.first_voter([weight for weight, _ in so_far]) :])


@dataclass(frozen=True)
class CombinedVotes:
    """F = Σ_l c_l v_l of shape (n_nodes, n_classes), and Σ_l c_l."""

    total: NDArray[np.float64]
    weight: float

    def plus(self, coefficient: float, votes: NDArray[np.float64]) -> CombinedVotes:
        """Return the sum with c_l v_l of one layer more."""
        return CombinedVotes(self.total + coefficient * votes, self.weight + coefficient)

    def log_proba(self) -> NDArray[np.float64]:
        """Return log-probabilities: log softmax of the mean votes over K − 1.

        Dividing by the weight keeps the scale alike at every depth. For one layer these are the
        layer's own probabilities, since h/(K − 1) is log p up to a shift.
        """
        n_classes = self.total.shape[1]
        return np.asarray(log_softmax(self.total / (self.weight * (n_classes - 1)), axis=1))


NO_VOTES = CombinedVotes(np.zeros(()), 0.0)


def _summed(votes: Iterable[tuple[float, NDArray[np.float64]]]) -> CombinedVotes:
    return reduce(lambda so_far, vote: so_far.plus(*vote), votes, NO_VOTES)


# What a new layer counts, and what its errors do to the node weights


@dataclass(frozen=True)
class BoostingRule:
    """How layers are weighed and how they re-weight the nodes.

    Parameters
    ----------
    combination : Combination
        How the votes are summed.
    update : {"onehot", "hastie", "released", "reverse", "none"}
        SAMME.R's reading of the weight update; not used by ``combine="samme"``, which has its own.
    reweight_rate : float
        Factor on the exponent of the update: 1 is the paper, 0 leaves the weights alone.
    judge_left_out : bool
        Whether a training node is judged by the fit without it, where the learner can tell.
    on_perfect : {"stop", "continue"}
        For ``combine="samme"``: what to do after a layer without training error.
    """

    combination: Combination = field(default_factory=Combination)
    update: WeightUpdate = "onehot"
    reweight_rate: float = 1.0
    judge_left_out: bool = False
    on_perfect: Literal["stop", "continue"] = "stop"

    def ends_with(self, weighted_error: float) -> bool:
        """Return whether boosting ends with a layer of this error."""
        perfect = weighted_error == 0.0
        return perfect and self.combination.combine == "samme" and self.on_perfect == "stop"


@dataclass(frozen=True)
class LayerOutcome:
    """What a layer's answers on the training nodes mean for the ensemble."""

    error: float
    coefficient: float
    next_log_weight: NDArray[np.float64]


def weigh_layer(
    hop: int,
    log_proba: NDArray[np.float64],
    labels: NDArray[np.int64],
    log_weight: NDArray[np.float64],
    rule: BoostingRule,
) -> LayerOutcome:
    """Return the layer's error, its coefficient and the next weights (Algorithm 1, lines 5–7).

    Parameters
    ----------
    hop : int
        The layer's hop.
    log_proba : ndarray of shape (n_train, n_classes)
        What the layer says of the training nodes.
    labels : ndarray of shape (n_train,)
        Their classes.
    log_weight : ndarray of shape (n_train,)
        Logarithms of the weights that the layer was fitted with.
    rule : BoostingRule
        Weighing and re-weighting.
    """
    predicted = log_proba.argmax(axis=1)
    n_classes = log_proba.shape[1]
    error = weighted_error(np.exp(log_weight), predicted, labels)
    alpha = layer_weight(error, n_classes, len(labels))
    if rule.combination.combine == "samme":
        if alpha <= 0.0:
            return _too_weak(hop, error, n_classes, log_weight)
        change = samme_log_weight_change(alpha, predicted, labels)
    else:
        change = log_weight_change(log_proba, labels, rule.update)
    return LayerOutcome(
        error=error,
        coefficient=rule.combination.coefficient(hop, alpha),
        next_log_weight=normalized(log_weight + rule.reweight_rate * change),
    )


def _too_weak(
    hop: int, error: float, n_classes: int, log_weight: NDArray[np.float64]
) -> LayerOutcome:
    """Discard a SAMME layer that is no better than guessing, unless it is the first."""
    chance = 1.0 - 1.0 / n_classes
    if hop == 0:
        raise NumericalError(
            "AGC-N502",
            f"the first layer's weighted error is not below chance ({chance:.3f})",
            got=round(error, 6),
            fix="train longer (max_epochs), or use combine='samme_r'",
        )
    warnings.warn(
        f"layer {hop} is no better than guessing (weighted error {error:.3f}, chance {chance:.3f}):"
        " it is left out and the node weights start afresh",
        LayerWarning,
        stacklevel=2,
    )
    return LayerOutcome(error, 0.0, log_weight)
