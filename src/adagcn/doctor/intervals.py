"""Estimates with their 95 % intervals: shares, paired differences and means.

All of them treat the judged nodes as independent. Nodes of a graph are not quite, so that true
intervals are a little wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

_Z = 1.959964  # the normal distribution's 97.5 % quantile


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of the interval.
    """

    value: float
    low: float
    high: float

    @property
    def has_zero(self) -> bool:
        """Whether zero lies in the interval: the sign cannot be told."""
        return self.low <= 0.0 <= self.high


def share(n_hits: int, n: int) -> Estimate:
    """Return n_hits/n with Wilson's score interval.

    (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n). E. B. Wilson, "Probable inference, the law
    of succession, and statistical inference", JASA 22 (1927).

    >>> share(8, 10)  # doctest: +ELLIPSIS
    Estimate(value=0.8, low=0.490..., high=0.943...)
    """
    p, square = n_hits / n, _Z**2 / n
    middle = (p + square / 2) / (1 + square)
    half = _Z * math.sqrt(p * (1 - p) / n + square / (4 * n)) / (1 + square)
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))


def paired_difference(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Estimate:
    """Return how much more often the second is right than the first, on the same nodes.

    With b nodes that only the first and c that only the second gets right, (c − b)/n; the interval
    is Wald's after adding ½ to each of the four cells. A. Agresti and Y. Min, "Simple improved
    confidence intervals for comparing matched proportions", Statistics in Medicine 24 (2005).

    Parameters
    ----------
    first, second : ndarray of shape (n,), bool
        Whether each node was classified correctly.
    """
    n = len(first)
    lost, won = int((first & ~second).sum()), int((second & ~first).sum())
    b, c, total = lost + 0.5, won + 0.5, n + 2.0
    middle = (c - b) / total
    half = _Z * math.sqrt(max(b + c - (c - b) ** 2 / total, 0.0)) / total
    return Estimate((won - lost) / n, middle - half, middle + half)


def mean(values: NDArray[np.float64]) -> Estimate:
    """Return the mean of two or more values with Student's interval, x̄ ± t s/√n."""
    n, middle = len(values), float(values.mean())
    half = float(student.ppf(0.975, n - 1)) * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(middle, middle - half, middle + half)
