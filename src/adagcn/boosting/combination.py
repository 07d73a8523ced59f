"""How the votes of the layers become one prediction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    """

    combine: Combine = "samme_r"
    vote: Vote = "hard"
    ema_teleport: float = 0.1

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

    def staged(
        self, layers: Iterable[tuple[float, NDArray[np.float64]]]
    ) -> Iterator[CombinedVotes]:
        """Yield the combined votes after each further layer.

        Parameters
        ----------
        layers : iterable of (coefficient, log_proba)
            In the order of the hops.
        """
        total: NDArray[np.float64] | float = 0.0
        weight = 0.0
        for coefficient, log_proba in layers:
            if self.combine == "last":
                total, weight = 0.0, 0.0
            total = total + coefficient * self.votes(log_proba)
            weight += coefficient
            yield CombinedVotes(np.asarray(total), weight)


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
