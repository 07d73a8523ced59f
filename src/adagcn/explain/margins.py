"""The log-odds of a prediction as a sum over layers, and where along the depth it was made.

An ensemble says F = Σ_l c_l v_l (:mod:`adagcn.boosting.samme`), and its probabilities are the
softmax of F/(T (K − 1) Σ_l c_l), where T is the temperature of a calibrated model and 1 otherwise.
So the log-odds of two classes are a sum over the layers that vote:

    log p_a − log p_b = Σ_l  c_l (v_l,a − v_l,b) / (T (K − 1) Σ_l c_l)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting.samme import Combination
from adagcn.explain.calibration import tempered
from adagcn.explain.voters import ClassPairs

Layers = Sequence[tuple[float, NDArray[np.float64]]]


@dataclass(frozen=True)
class Margins:
    """Predictions of some nodes, and their log-odds over the runner-up by layer.

    Parameters
    ----------
    pairs : ClassPairs
        The predicted class and the runner-up.
    probability : ndarray of shape (n_nodes,)
        Of the predicted class.
    margin : ndarray of shape (n_nodes,)
        log p_a − log p_b.
    parts : ndarray of shape (n_layers, n_nodes)
        What each layer adds to it; zero for a layer that does not vote.
    shares : ndarray of shape (n_layers,)
        c_l / (T Σ c) of the layers that vote: what their own log-odds count. Zero for the others.
    is_hard : bool
        Whether each layer has one hard vote, so that its log-odds do not count.
    last_change : ndarray of shape (n_nodes,)
        The last layer that changed the predicted class; 0 if the first prediction stood.
    """

    pairs: ClassPairs
    probability: NDArray[np.float64]
    margin: NDArray[np.float64]
    parts: NDArray[np.float64]
    shares: NDArray[np.float64]
    is_hard: bool
    last_change: NDArray[np.intp]

    @property
    def voting(self) -> NDArray[np.intp]:
        """The layers that vote."""
        return np.flatnonzero(self.shares)

    @property
    def deciding(self) -> NDArray[np.intp]:
        """Of each node, the layer that adds most to its margin; of equals the first."""
        return np.asarray(self.voting[self.parts[self.voting].argmax(axis=0)])


def margins_of(layers: Layers, combination: Combination, temperature: float = 1.0) -> Margins:
    """Return the margins of nodes whose layers are given as for ``Combination.staged``.

    Parameters
    ----------
    layers : sequence of (coefficient, log_proba)
        All layers, those that do not vote as well, with log_proba of shape (n_nodes, n_classes).
    combination : Combination
        How they are combined.
    temperature : float
        T.
    """
    coefficients = [coefficient for coefficient, _ in layers]
    first = combination.first_voter(coefficients)
    total = combination.sum_votes(layers[first:])
    log_proba = total.log_proba()
    if temperature != 1.0:
        log_proba = tempered(log_proba, temperature)
    pairs = best_two(log_proba)
    scale = temperature * total.weight
    n_classes = log_proba.shape[1]
    parts = np.zeros((len(layers), len(log_proba)))
    for layer in range(first, len(layers)):
        votes = combination.votes(layers[layer][1])
        parts[layer] = coefficients[layer] / (scale * (n_classes - 1)) * pairs.of(votes)
    shares = np.array([0.0] * first + coefficients[first:]) / scale
    rows = np.arange(len(log_proba))
    return Margins(
        pairs,
        np.exp(log_proba[rows, pairs.label]),
        pairs.of(log_proba),
        parts,
        shares,
        combination.combine == "samme" and combination.vote == "hard",
        last_changes(layers, combination),
    )


def best_two(log_proba: NDArray[np.float64]) -> ClassPairs:
    """Return the most probable class of every node and the next one; of equals the first."""
    label = log_proba.argmax(axis=1)
    others = log_proba.copy()
    others[np.arange(len(label)), label] = -np.inf
    return ClassPairs(label, others.argmax(axis=1))


def last_changes(layers: Layers, combination: Combination) -> NDArray[np.intp]:
    """Return the last layer at which the prediction of the ensemble so far became another one."""
    predicted = np.stack([votes.total.argmax(axis=1) for votes in combination.staged(layers)])
    changed = predicted[1:] != predicted[:-1]
    stages = np.arange(1, len(predicted))[:, None]
    return np.asarray((changed * stages).max(axis=0, initial=0), dtype=np.intp)
