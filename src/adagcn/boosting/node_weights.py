"""Node weights as logarithms: normalized, positive, and how many nodes they rest on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

# exp(-700) is about the smallest positive float64; below it a weight would become zero and its
# node could never come back.
_SMALLEST_LOG_WEIGHT = -700.0


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
