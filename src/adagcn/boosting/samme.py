"""SAMME, the boosting of the paper's equations 4 to 6: hard errors and one weight per layer.

K is the number of classes, w the node weights (summing to one), ŷ a layer's predicted classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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


def log_weight_change(
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
