"""Are the labels enough? Accuracy with fewer of them, and what twice as many would bring.

Errors of a classifier mostly fall as err(n) = a + b n^−c (C. Cortes et al., "Learning curves:
asymptotic values and rate of convergence", NIPS 1993). The curve is measured on subsets of the
labels and fitted by least squares, each point weighing as many as its labels. The interval comes
from fits to perturbed points: draws are resampled, and three errors that all draws share are
added. These are what another set of labels would have given (the variance between draws of a share
f of the labels is 1 − f times that between sets of their own), what other judging nodes would have
given, and what the law leaves unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adagcn.doctor.folded_ridge import FoldedRidge, balanced_folds
from adagcn.doctor.held_out import JudgedNodes
from adagcn.doctor.intervals import Estimate, mean

SHARES = (0.06, 0.12, 0.25, 0.5, 0.8)
FEWEST_LABELS = 60  # below, a fifth of them judges next to nothing
LEAST_PER_CLASS = 2  # labels of a subset, in the mean over classes
N_DRAWS = 10
N_BOOTSTRAPS = 400
FEWEST_POINTS = 4  # for three parameters
EXPONENTS = np.geomspace(0.1, 2.0, 25)


@dataclass(frozen=True)
class CurvePoint:
    """Accuracy with so many labels, over random draws of them.

    Parameters
    ----------
    n_labels : int
        Labels that the ridge was fitted on.
    accuracy : Estimate
        On the other labeled nodes: mean over draws and its interval.
    """

    n_labels: int
    accuracy: Estimate


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy against the number of labels.

    Parameters
    ----------
    points : tuple of CurvePoint
        What was measured, fewest labels first.
    n_draws : int
        Draws behind each point.
    n_now : int
        The number of labels that the curve is read at: all, or as many as were drawn.
    now : Estimate
        The fitted curve there.
    n_twice : int
        Twice as many labels, at most one for every node.
    twice : Estimate
        The fitted curve there, an extrapolation.
    more : Estimate
        ``twice`` less ``now``, with the interval of the difference.
    asymptote, factor, exponent : float
        a, b and c of the fitted errors a + b n^−c.
    """

    points: tuple[CurvePoint, ...]
    n_draws: int
    n_now: int
    now: Estimate
    n_twice: int
    twice: Estimate
    more: Estimate
    asymptote: float
    factor: float
    exponent: float


def learning_curve(
    products: NDArray[np.float64], nodes: JudgedNodes, n_nodes: int, *, rng: np.random.Generator
) -> LearningCurve | None:
    """Return the curve of a ridge; None if the labels are too few for four points.

    Parameters
    ----------
    products : ndarray of shape (n_judged, n_fitted)
        Of the rows of the smoothing that suits the judged nodes best.
    nodes : JudgedNodes
        Subsets are drawn from the fitted ones, class by class; the others judge.
    n_nodes : int
        Nodes of the graph: there cannot be more labels.
    rng : Generator
        Draws subsets and bootstraps.
    """
    n_now = nodes.n_fitted
    counts = sorted({round(each * n_now) for each in SHARES})
    counts = [each for each in counts if each >= LEAST_PER_CLASS * nodes.n_classes]
    if n_now < FEWEST_LABELS or len(counts) < FEWEST_POINTS:
        return None
    errors = np.array(
        [
            [_error(products, nodes, order[:count], rng) for count in counts]
            for order in (_class_by_class(nodes.labels[:n_now], rng) for _ in range(N_DRAWS))
        ]
    )
    n_twice = min(2 * n_now, n_nodes)
    at = np.array([n_now, n_twice], dtype=np.float64)
    sizes = np.array(counts, dtype=np.float64)
    law = fit_power_law(sizes, errors.mean(axis=0))
    n_judges = len(nodes.labels) - counts[-1]
    perturbed = _perturbed(sizes, errors, sizes / n_now, n_judges, rng)
    resampled = np.array([power_law(at, *fit_power_law(sizes, each)) for each in perturbed])
    here, there = power_law(at, *law)
    return LearningCurve(
        points=tuple(
            CurvePoint(count, mean(1.0 - column))
            for count, column in zip(counts, errors.T, strict=True)
        ),
        n_draws=N_DRAWS,
        n_now=n_now,
        now=_estimate(1.0 - here, 1.0 - resampled[:, 0]),
        n_twice=n_twice,
        twice=_estimate(1.0 - there, 1.0 - resampled[:, 1]),
        more=_estimate(here - there, resampled[:, 0] - resampled[:, 1]),
        asymptote=law[0],
        factor=law[1],
        exponent=law[2],
    )


def power_law(
    n: NDArray[np.float64], asymptote: float, factor: float, exponent: float
) -> NDArray[np.float64]:
    """Return a + b n^−c."""
    return np.asarray(asymptote + factor * n**-exponent)


def fit_power_law(
    n: NDArray[np.float64], errors: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return a, b ≥ 0 and c of a + b n^−c with the least squares of residuals, weighted by n.

    For each c of a grid, a and b are a line through the errors over n^−c; where one of them would
    be negative it is zero.
    """
    share = n / n.sum()
    x = n[None, :] ** -EXPONENTS[:, None]
    middle, level = x @ share, float(errors @ share)
    centered = x - middle[:, None]
    slope = np.maximum(centered * errors @ share / (np.square(centered) @ share), 0.0)
    start = level - slope * middle
    through_zero = (x * errors) @ share / (np.square(x) @ share)
    slope = np.where(start < 0.0, through_zero, slope)
    start = np.maximum(start, 0.0)
    squares = np.square(errors - start[:, None] - slope[:, None] * x) @ share
    best = int(np.argmin(squares))
    return float(start[best]), float(slope[best]), float(EXPONENTS[best])


def _perturbed(
    sizes: NDArray[np.float64],
    errors: NDArray[np.float64],
    shares: NDArray[np.float64],
    n_judges: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return mean errors at each size as other draws, labels and judging nodes might have them."""
    n_draws, n_sizes = errors.shape
    middle = errors.mean(axis=0)
    draws = rng.integers(n_draws, size=(N_BOOTSTRAPS, n_draws))
    resampled = errors[draws].mean(axis=1)
    few = shares <= 0.5  # of most of the labels all draws are alike, and tell little of others
    between = errors.var(axis=0, ddof=1)[few] / (1.0 - shares[few])
    other_labels = np.sqrt((between * sizes[few]).mean() / sizes * shares)
    rate = float(middle[-1])
    other_judges = np.sqrt(max(rate * (1.0 - rate), 1.0 / n_judges) / n_judges)
    residual = middle - power_law(sizes, *fit_power_law(sizes, middle))
    unexplained = np.sqrt(np.square(residual).sum() / max(1, n_sizes - 3))
    shared = rng.standard_normal((2, N_BOOTSTRAPS, 1))
    own = rng.standard_normal((N_BOOTSTRAPS, n_sizes))
    moved = shared[0] * other_labels + shared[1] * other_judges + own * unexplained
    return np.asarray(np.clip(resampled + moved, 0.0, 1.0))


def _class_by_class(labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the nodes in a random order of which every beginning has all classes in proportion."""
    order = rng.permutation(len(labels))
    place = np.empty(len(labels))
    for label in np.unique(labels):
        own = order[labels[order] == label]
        place[own] = (np.arange(len(own)) + rng.random()) / len(own)
    return np.argsort(place, kind="stable")


def _error(
    products: NDArray[np.float64],
    nodes: JudgedNodes,
    fitted: NDArray[np.intp],
    rng: np.random.Generator,
) -> float:
    """Return the share of wrong labels among the nodes that the ridge was not fitted on."""
    labels = nodes.labels
    folds = balanced_folds(labels[fitted], rng)
    inner = products[np.ix_(fitted, fitted)]
    ridge = FoldedRidge(inner, labels[fitted], nodes.n_classes, folds)
    judges = np.delete(np.arange(len(labels)), fitted)
    said = ridge.scores(products[np.ix_(judges, fitted)], ridge.best().strength).argmax(axis=1)
    return float((said != labels[judges]).mean())


def _estimate(value: float, draws: Sequence[float] | NDArray[np.float64]) -> Estimate:
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(float(value), float(min(low, value)), float(max(high, value)))
