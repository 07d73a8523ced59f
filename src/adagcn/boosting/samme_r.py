"""SAMME.R, the boosting of Algorithm 1: real-valued votes and the update of the node weights.

Hastie, Rosset, Zhu and Zou, "Multi-class AdaBoost" (2006 preprint); K is the number of classes,
log p the log-probabilities that a layer gives. Everything is float64 and stays in log space, so
that no confidence is too large.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

WeightUpdate = Literal["onehot", "hastie", "released", "none"]


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
    - ``"none"``: no change.

    Parameters
    ----------
    log_proba : ndarray of shape (n_train, n_classes)
        Log-probabilities of the layer on the training nodes.
    labels : ndarray of shape (n_train,)
        Their classes, as indices.
    update : {"onehot", "hastie", "released", "none"}
        Which reading.
    """
    n_classes = log_proba.shape[1]
    log_proba_of_label: NDArray[np.float64] = log_proba[np.arange(len(labels)), labels]
    if update == "hastie":
        return np.asarray(log_proba.mean(axis=1) - log_proba_of_label)
    factor = {
        "onehot": -(n_classes - 1) / n_classes,
        "released": (n_classes - 2) / (n_classes - 1),
        "none": 0.0,
    }[update]
    return np.asarray(factor * log_proba_of_label)
