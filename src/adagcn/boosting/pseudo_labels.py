"""Pseudo-labels: what the ensemble so far says of unlabeled nodes, as targets for the next layers.

Boosting with unlabeled samples in the manner of ASSEMBLE (Bennett, Demiriz and Maclin, KDD 2002):
each layer is also fitted on nodes without a label, towards what the layers before it say of them.
The targets are probabilities, p_k^β / Σ_j p_j^β, so that a doubtful node asks for little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from adagcn.boosting.samme import Combination
from adagcn.training.random_streams import numpy_stream


@dataclass(frozen=True)
class PseudoLabels:
    """Which nodes get pseudo-labels, from when on, and how much they count.

    Parameters
    ----------
    nodes : ndarray of shape (n_pseudo,)
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


NO_PSEUDO_LABELS = PseudoLabels(np.array([], dtype=np.intp), from_hop=1, weight=0.0, sharpness=1.0)


class PseudoLabeler:
    """Follows what a growing ensemble says of the nodes with pseudo-labels.

    A layer of several learners has a chain for each: every learner is taught by the layers of its
    own kind, so that they stay different and their votes are worth adding.
    """

    def __init__(self, pseudo_labels: PseudoLabels, combination: Combination) -> None:
        self._pseudo_labels = pseudo_labels
        self._combination = combination
        self._layers: list[tuple[float, NDArray[np.float64]]] = []

    def add_layer(self, coefficient: float, log_proba: NDArray[np.float64] | None) -> None:
        """Take in what a new layer says of the nodes: (n_pseudo, n_classes), or one per learner.

        None where there are no such nodes.
        """
        if log_proba is not None:
            self._layers.append((coefficient, log_proba))

    def targets(self) -> NDArray[np.float64] | None:
        """Return what the next layer should say of the nodes; None while it is too early.

        Shape (n_pseudo, n_classes), or that for each learner: target probabilities, weighted such
        that all of them sum to the nodes' share of the loss.
        """
        rule = self._pseudo_labels
        if len(rule.nodes) == 0 or len(self._layers) < rule.from_hop:
            return None
        if self._layers[0][1].ndim == 2:
            return self._of_chain(self._layers)
        chains = range(len(self._layers[0][1]))
        return np.stack(
            [self._of_chain([(c, each[i]) for c, each in self._layers]) for i in chains]
        )

    def _of_chain(self, layers: list[tuple[float, NDArray[np.float64]]]) -> NDArray[np.float64]:
        rule = self._pseudo_labels
        log_proba = self._combination.combined(layers).log_proba()
        proba = softmax(rule.sharpness * log_proba, axis=1)
        return np.asarray(proba * (rule.weight / len(proba)))


def draw_nodes(
    n_nodes: int, labeled: NDArray[np.intp], n_drawn: int, seed: int
) -> NDArray[np.intp]:
    """Return up to ``n_drawn`` of the nodes that are not labeled, at random and in order."""
    others = np.setdiff1d(np.arange(n_nodes), labeled)
    generator = numpy_stream(seed, "pseudo_labels")
    return np.sort(generator.choice(others, min(n_drawn, len(others)), replace=False))
