"""Are probabilities as high as the share of right answers? Formulas, on plain arrays.

Temperature scaling (Guo, Pleiss, Sun and Weinberger, ICML 2017, section 4.2) divides
log-probabilities by one number T. It never changes which class is the most probable. The
reliability curve and the expected calibration error (their equations 2 and 3) compare confidence,
the largest probability of a node, with accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.explain.prediction_sets import PredictionSets

# Held-out nodes that are all right ask for T = 0, nodes that are all wrong for T = ∞: we go no
# further than this.
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.05, 20.0
N_BINS = 15  # of equal width, as in the paper cited above
_LOWEST_LOG = float(np.log(np.finfo(np.float64).tiny))  # stands for the logarithm of zero


def tempered(log_proba: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Return log softmax(log p / T), of shape (n_nodes, n_classes).

    A T above 1 makes probabilities more even, below 1 more extreme. The inverse has 1/T.

    >>> np.exp(tempered(np.log([[0.8, 0.2]]), 2.0)).round(3).tolist()
    [[0.667, 0.333]]
    """
    return np.asarray(log_softmax(log_proba / temperature, axis=1))


def fit_temperature(log_proba: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the T to divide log-probabilities by, as held-out nodes ask for it.

    It is :func:`best_temperature`, if that lowers the mean of −log p_y by more than one standard
    error of this gain over nodes; else 1. For a gain at its best, one standard error is where an
    interval of 95 % for T ends: nodes that cannot tell T from 1 would only add their chance.

    Parameters
    ----------
    log_proba : ndarray of shape (n_nodes, n_classes)
        Log-probabilities at T = 1, of nodes that the model was not trained on; at least one.
    labels : ndarray of shape (n_nodes,)
        Their classes as column numbers.
    """
    temperature = best_temperature(log_proba, labels)
    logs, nodes = np.maximum(log_proba, _LOWEST_LOG), np.arange(len(labels))
    gain = tempered(logs, temperature)[nodes, labels] - tempered(logs, 1.0)[nodes, labels]
    is_clear = gain.mean() > gain.std() / np.sqrt(len(gain))
    return temperature if is_clear else 1.0


def best_temperature(log_proba: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the T with the lowest mean of −log p_y on held-out nodes.

    The loss is convex in β = 1/T, so that its slope, the mean over nodes of Σ_k p_k log p_k(1) −
    log p_y(1) with p = softmax(β log p(1)), has one root. The arguments are those of
    :func:`fit_temperature`.

    Returns
    -------
    float
        Between ``LOWEST_TEMPERATURE`` and ``HIGHEST_TEMPERATURE``; one of the two where the loss
        still falls there. 1 where no T matters, since every row is uniform.
    """
    logs = np.maximum(log_proba, _LOWEST_LOG)
    of_label = logs[np.arange(len(labels)), labels]

    def slope(log_temperature: float) -> float:
        expected = (softmax(logs / np.exp(log_temperature), axis=1) * logs).sum(axis=1)
        return float((expected - of_label).mean())

    if np.ptp(logs, axis=1).max(initial=0.0) == 0.0:
        return 1.0
    low, high = np.log(LOWEST_TEMPERATURE), np.log(HIGHEST_TEMPERATURE)
    if slope(low) <= 0.0:  # the loss still falls as β grows
        return LOWEST_TEMPERATURE
    if slope(high) >= 0.0:
        return HIGHEST_TEMPERATURE
    return float(np.exp(brentq(slope, low, high, xtol=1e-12)))


@dataclass(frozen=True)
class ReliabilityBin:
    """The nodes whose confidence lies above ``low`` and not above ``high``.

    Attributes
    ----------
    low, high : float
        Limits of the confidence.
    n_nodes : int
        How many nodes, at least one.
    confidence, accuracy : float
        Mean confidence of these nodes, and the share of them that is predicted right.
    """

    low: float
    high: float
    n_nodes: int
    confidence: float
    accuracy: float


def reliability_curve(
    labels: NDArray[Any],
    proba: NDArray[np.floating[Any]],
    classes: NDArray[Any],
    n_bins: int = N_BINS,
) -> tuple[ReliabilityBin, ...]:
    """Compare confidence with accuracy, in bins of equal width.

    Parameters
    ----------
    labels : ndarray of shape (n_nodes,)
        The true label values, at least one; one that is not in ``classes`` counts as wrong.
    proba : ndarray of shape (n_nodes, n_classes)
        Probabilities; the largest is the prediction, and its value the confidence.
    classes : ndarray of shape (n_classes,)
        The label values of the columns.
    n_bins : int
        How many parts the interval from 0 to 1 is cut into.

    Returns
    -------
    tuple of ReliabilityBin
        Of the bins that hold nodes, in order of confidence.

    Examples
    --------
    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
    >>> curve = reliability_curve(np.array([0, 1, 1]), proba, np.array([0, 1]), n_bins=2)
    >>> [(each.n_nodes, round(each.accuracy, 3)) for each in curve]
    [(3, 0.667)]
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        problem = "n_bins must be a whole number from 1"
        raise InputError("AGC-I1350", problem, got=n_bins, fix=f"{N_BINS} is usual")
    best = proba.argmax(axis=1)
    confidence = proba[np.arange(len(proba)), best].astype(np.float64)
    right = classes[best] == labels
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    return tuple(
        ReliabilityBin(
            low=float(number / n_bins),
            high=float((number + 1) / n_bins),
            n_nodes=int(inside.sum()),
            confidence=float(confidence[inside].mean()),
            accuracy=float(right[inside].mean()),
        )
        for number in np.unique(bins)
        for inside in (bins == number,)
    )


def expected_calibration_error(
    labels: NDArray[Any],
    proba: NDArray[np.floating[Any]],
    classes: NDArray[Any],
    n_bins: int = N_BINS,
) -> float:
    """Return ``Σ_b (n_b/n) |accuracy_b − confidence_b|`` over the bins of the reliability curve.

    0 is perfect. With few nodes, chance alone makes it larger than that. The arguments are those
    of :func:`reliability_curve`.
    """
    curve = reliability_curve(labels, proba, classes, n_bins)
    gaps = sum(each.n_nodes * abs(each.accuracy - each.confidence) for each in curve)
    return float(gaps / len(labels))


@dataclass(frozen=True)
class ClassCoverage:
    """How prediction sets do on the nodes of one label."""

    label: Any
    n_nodes: int
    coverage: float
    mean_size: float


@dataclass(frozen=True)
class SetQuality:
    """How prediction sets do on nodes whose labels are known.

    Attributes
    ----------
    nominal : float
        The coverage that was asked for.
    coverage : float
        Share of the nodes whose set holds the true label.
    mean_size : float
        Mean number of labels in a set.
    n_nodes, n_empty, n_single : int
        Nodes, and those whose set has no label or exactly one.
    by_class : tuple of ClassCoverage
        The same for the nodes of each true label. The guarantee is for all labels together.
    """

    nominal: float
    coverage: float
    mean_size: float
    n_nodes: int
    n_empty: int
    n_single: int
    by_class: tuple[ClassCoverage, ...]


def coverage_and_size(labels: NDArray[Any], sets: PredictionSets) -> SetQuality:
    """Compare prediction sets with the true labels of their nodes.

    Parameters
    ----------
    labels : ndarray of shape (n_nodes,)
        The true label values, at least one; one that the model does not know is never covered.
    sets : PredictionSets
        Sets of the same nodes, in the same order.
    """
    labels, sizes = np.asarray(labels), sets.sizes
    if labels.shape != sizes.shape or not len(labels):
        raise InputError(
            "AGC-I1351",
            f"labels must be one for each of the {len(sizes):,} prediction sets, at least one",
            got=f"shape {labels.shape}",
            fix="pass the true labels of the nodes that predict_set was asked about",
        )
    covered = sets.covers(labels)
    return SetQuality(
        nominal=sets.coverage,
        coverage=float(covered.mean()),
        mean_size=float(sizes.mean()),
        n_nodes=len(labels),
        n_empty=int((sizes == 0).sum()),
        n_single=int((sizes == 1).sum()),
        by_class=tuple(
            ClassCoverage(
                label=np.asarray(label).item(),
                n_nodes=int(of_class.sum()),
                coverage=float(covered[of_class].mean()),
                mean_size=float(sizes[of_class].mean()),
            )
            for label in np.unique(labels)
            for of_class in (labels == label,)
        ),
    )
