"""Unlabeled nodes that a layer learns from as the ensemble so far sees them.

Boosting with unlabeled samples in the manner of ASSEMBLE (Bennett, Demiriz and Maclin, KDD 2002):
each layer is also fitted on nodes without a label, towards what the layers before it say of them.
The targets are probabilities, p_k^β / Σ_j p_j^β, so that a doubtful node asks for little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from adagcn.boosting.combination import Combination


@dataclass(frozen=True)
class Adoption:
    """Which nodes are adopted, from when on, and how much they count.

    Parameters
    ----------
    nodes : ndarray of shape (n_adopted,)
        Positions of nodes that are neither training nor stopping nodes.
    from_hop : int
        The first layer that learns from them, at least 1.
    weight : float
        Their share of the training loss, in (0, 1); the labeled nodes have the rest.
    sharpness : float
        β: above one, targets are surer than the ensemble is.
    """

    nodes: NDArray[np.intp]
    from_hop: int
    weight: float
    sharpness: float


NONE_ADOPTED = Adoption(np.array([], dtype=np.intp), from_hop=1, weight=0.0, sharpness=1.0)


class Adopter:
    """Follows what a growing ensemble says of the adopted nodes."""

    def __init__(self, adoption: Adoption, combination: Combination) -> None:
        self._adoption = adoption
        self._combination = combination
        self._layers: list[tuple[float, NDArray[np.float64]]] = []

    def hear(self, coefficient: float, log_proba: NDArray[np.float64]) -> None:
        """Take in what a new layer says of the adopted nodes."""
        self._layers.append((coefficient, log_proba))

    def targets(self) -> NDArray[np.float64] | None:
        """Return what the next layer should say of the nodes; None while it is too early.

        Shape (n_adopted, n_classes): target probabilities, weighted such that all of them sum to
        the adopted nodes' share of the loss.
        """
        if len(self._adoption.nodes) == 0 or len(self._layers) < self._adoption.from_hop:
            return None
        log_proba = self._combination.combined(self._layers).log_proba()
        proba = softmax(self._adoption.sharpness * log_proba, axis=1)
        return np.asarray(proba * (self._adoption.weight / len(proba)))


def draw_nodes(
    n_nodes: int, labeled: NDArray[np.intp], n_adopted: int, seed: int
) -> NDArray[np.intp]:
    """Return up to ``n_adopted`` of the nodes that are not labeled, by chance and in order."""
    others = np.setdiff1d(np.arange(n_nodes), labeled)
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    return np.sort(generator.choice(others, min(n_adopted, len(others)), replace=False))
