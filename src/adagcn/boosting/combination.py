"""How the votes of the layers become one prediction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from adagcn.boosting import samme, samme_r

Combine = Literal["samme_r", "samme", "ema", "last"]
Vote = Literal["hard", "logits"]


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
            return samme.hard_votes(log_proba)
        return samme_r.class_scores(log_proba)

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
        heard: list[tuple[float, NDArray[np.float64]]] = []
        for coefficient, log_proba in layers:
            heard.append((coefficient, self.votes(log_proba)))
            yield _summed(heard[self.first_voter([weight for weight, _ in heard]) :])


@dataclass(frozen=True)
class CombinedVotes:
    """F = Σ_l c_l v_l of shape (n_nodes, n_classes), and Σ_l c_l."""

    total: NDArray[np.float64]
    weight: float

    def log_proba(self) -> NDArray[np.float64]:
        """Return log-probabilities: log softmax of the mean votes over K − 1.

        Dividing by the weight keeps the scale alike at every depth. For one layer these are the
        layer's own probabilities, since h/(K − 1) is log p up to a shift.
        """
        n_classes = self.total.shape[1]
        return np.asarray(log_softmax(self.total / (self.weight * (n_classes - 1)), axis=1))


def _summed(votes: Iterable[tuple[float, NDArray[np.float64]]]) -> CombinedVotes:
    total: NDArray[np.float64] | float = 0.0
    weight = 0.0
    for coefficient, vote in votes:
        total = total + coefficient * vote
        weight += coefficient
    return CombinedVotes(np.asarray(total), weight)
