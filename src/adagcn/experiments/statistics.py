"""Statistics of runs: means with intervals, paired tests, and the spread by depth.

Runs are an array with one row per split and one column per initialization; NaN is a missing run.
The paper treats all runs as independent. Initializations of one split are not: they share their
labeled nodes. Each question is therefore answered twice, over the runs as in the paper and over the
splits; trust the second answer. Both are about the nodes that were scored; ``node_intervals.py``
has the interval that is about other nodes as well.

Intervals are percentile bootstraps with a fixed seed, so that the same runs give the same bytes.
They are too narrow with few splits: on normal data they contain the true mean in about 93 % of
cases with 20 splits, 83 % with five and 50 % with two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from adagcn.errors import InputError

BOOTSTRAP_SEED = 20210503  # fixed, so that a table has the same bytes every time
N_RESAMPLES = 1000  # the paper's
_ROUNDING = 12  # decimals: the mean of equal accuracies is equal only up to the last bits
_MOST_SIGNED = 13  # differences up to which scipy counts all signs, if ranks are tied

Interval = tuple[float, float]
Runs = NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """Mean and spread of the runs of one model on one data set.

    Attributes
    ----------
    n : int
        Number of runs, over all splits.
    n_splits, n_inits : int
        Splits with a run, and the most runs that a split has.
    mean : float
        Over all runs.
    interval : (float, float) or None
        95 % interval of the mean that resamples whole splits; None with one split.
    run_interval : (float, float) or None
        95 % interval of the mean as the paper computes it, resampling runs; None with one run.
    paper_half_width : float or None
        What the paper prints after ±: the larger half of ``run_interval``.
    std : float or None
        Standard deviation over runs (n − 1); None with one run.
    node_interval : (float, float) or None
        95 % interval of the mean accuracy over splits and nodes together
        (:mod:`adagcn.experiments.node_intervals`); None if a run does not say which nodes it got
        right.
    """

    n: int
    n_splits: int
    n_inits: int
    mean: float
    interval: Interval | None
    run_interval: Interval | None
    paper_half_width: float | None
    std: float | None
    node_interval: Interval | None = None


@dataclass(frozen=True)
class PairedComparison:
    """How much better one model is than another on the same splits and initializations.

    What cannot be computed (one split, or no variation at all) is None.

    Attributes
    ----------
    difference : float
        Mean of first minus second over the paired runs.
    interval : (float, float) or None
        Its 95 % interval, resampling splits.
    p_runs : float or None
        Paired t-test over runs, the paper's.
    p_splits : float or None
        t-test over the split means of the difference, n_splits − 1 degrees of freedom.
    p_wilcoxon : float or None
        Wilcoxon's signed-rank test over the split means.
    effect_size : float or None
        Cohen's d_z: mean over standard deviation of the split means of the difference.
    n_splits, n_runs : int
        Splits and runs that both models have.
    node_interval : (float, float) or None
        95 % interval of the difference in accuracy over splits and nodes together.
    """

    difference: float
    interval: Interval | None
    p_runs: float | None
    p_splits: float | None
    p_wilcoxon: float | None
    effect_size: float | None
    n_splits: int
    n_runs: int
    node_interval: Interval | None = None


@dataclass(frozen=True)
class DepthCurve:
    """Accuracy at every depth, and how much it fluctuates over runs.

    All tuples have one entry per depth.

    Attributes
    ----------
    depths : tuple of int
        The depths, in increasing order.
    mean : tuple of float
        Over the runs that reach the depth.
    std : tuple of (float or None)
        Standard deviation over runs (n − 1); None for a single run.
    lo, hi : tuple of float
        2.5th and 97.5th percentiles of the runs: the range of single runs, not of the mean.
    n : tuple of int
        Runs that reach the depth.
    """

    depths: tuple[int, ...]
    mean: tuple[float, ...]
    std: tuple[float | None, ...]
    lo: tuple[float, ...]
    hi: tuple[float, ...]
    n: tuple[int, ...]


def summarize(accuracy: Runs, *, seed: int = BOOTSTRAP_SEED) -> Summary:
    """Return mean, intervals and spread of the runs of one model.

    Parameters
    ----------
    accuracy : ndarray of shape (n_splits, n_inits)
        One number per run; NaN is a missing run.
    seed : int
        Seed of the bootstrap. Both intervals use it, so that they are equal if every split has
        one run.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If ``accuracy`` is not two-dimensional, not finite, or has no run.

    Examples
    --------
    >>> summarize(np.array([[0.80, 0.82], [0.84, np.nan]])).mean
    0.82
    """
    runs = _checked(accuracy, "accuracy", "AGC-I950")
    values = runs[~np.isnan(runs)]
    sums, counts = _by_split(runs)
    mean = rounded(values.mean())
    run_interval = _interval(values, np.ones(len(values)), seed)
    return Summary(
        n=len(values),
        n_splits=len(sums),
        n_inits=int(counts.max()),
        mean=mean,
        interval=_interval(sums, counts, seed),
        run_interval=run_interval,
        paper_half_width=None if run_interval is None else _half_width(mean, run_interval),
        std=rounded(values.std(ddof=1)) if len(values) > 1 else None,
    )


def split_means(accuracy: Runs) -> list[float]:
    """Return the mean of every split that has a run, in the order of the rows.

    Parameters
    ----------
    accuracy : ndarray of shape (n_splits, n_inits)
        One number per run; NaN is a missing run.

    Examples
    --------
    >>> split_means(np.array([[0.80, 0.82], [np.nan, np.nan], [0.84, np.nan]]))
    [0.81, 0.84]
    """
    sums, counts = _by_split(_checked(accuracy, "accuracy", "AGC-I957"))
    return [rounded(mean) for mean in sums / counts]


def compare_paired(a: Runs, b: Runs, *, seed: int = BOOTSTRAP_SEED) -> PairedComparison:
    """Compare two models run by run: same split, same initialization.

    Parameters
    ----------
    a, b : ndarray of shape (n_splits, n_inits)
        Runs of the two models in the same places; if either is NaN, both are left out.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    PairedComparison

    Raises
    ------
    InputError
        If the shapes differ or no run is in both.
    """
    if np.shape(a) != np.shape(b):
        raise InputError(
            "AGC-I951",
            "a and b differ in shape, so their runs cannot be paired",
            got=(np.shape(a), np.shape(b)),
            fix="give both one row per split and one column per initialization, NaN where missing",
        )
    difference = _checked(np.subtract(a, b, dtype=np.float64), "a − b", "AGC-I952")
    runs = difference[~np.isnan(difference)]
    sums, counts = _by_split(difference)
    by_split = np.round(sums / counts, _ROUNDING)
    return PairedComparison(
        difference=rounded(runs.mean()),
        interval=_interval(sums, counts, seed),
        p_runs=_t_test(runs),
        p_splits=_t_test(by_split),
        p_wilcoxon=_wilcoxon(by_split),
        effect_size=rounded(by_split.mean() / by_split.std(ddof=1)) if _varies(by_split) else None,
        n_splits=len(by_split),
        n_runs=len(runs),
    )


def spread_by_depth(accuracy_by_depth: Runs, *, depths: Sequence[int] | None = None) -> DepthCurve:
    """Return mean accuracy and its fluctuation over runs at every depth.

    Parameters
    ----------
    accuracy_by_depth : ndarray of shape (n_runs, n_depths)
        One row per run; NaN where a run is not as deep.
    depths : sequence of int, optional
        What the columns stand for; 0, 1, 2, … if not given.

    Returns
    -------
    DepthCurve

    Raises
    ------
    InputError
        If a depth has no run, or ``depths`` does not name every column in increasing order.
    """
    runs = _checked(accuracy_by_depth, "accuracy_by_depth", "AGC-I954")
    named = tuple(range(runs.shape[1]) if depths is None else depths)
    if len(named) != runs.shape[1] or list(named) != sorted(set(named)):
        raise InputError(
            "AGC-I955",
            f"depths must name the {runs.shape[1]} columns in increasing order",
            got=named,
        )
    n = (~np.isnan(runs)).sum(axis=0)
    if not n.all():
        raise InputError(
            "AGC-I956",
            "accuracy_by_depth has a column without runs",
            got=int(np.argmin(n)),
            fix="leave out the depths that no run reaches",
        )
    columns = [column[~np.isnan(column)] for column in runs.T]
    return DepthCurve(
        depths=named,
        mean=tuple(rounded(c.mean()) for c in columns),
        std=tuple(rounded(c.std(ddof=1)) if len(c) > 1 else None for c in columns),
        lo=tuple(rounded(np.percentile(c, 2.5)) for c in columns),
        hi=tuple(rounded(np.percentile(c, 97.5)) for c in columns),
        n=tuple(n.tolist()),
    )


def rounded(value: Any) -> float:
    """Return a Python float without the last bits, which depend on the order of summation."""
    return round(float(value), _ROUNDING)


def _checked(runs: Any, name: str, code: str) -> Runs:
    array = np.asarray(runs, dtype=np.float64)
    if array.ndim != 2 or np.isinf(array).any() or not (~np.isnan(array)).any():
        raise InputError(
            code,
            f"{name} must be a table of runs with at least one number",
            got=f"shape {array.shape}, {np.isfinite(array).sum()} finite numbers",
            fix="give one row per split (or run) and one column per initialization (or depth)",
        )
    return array


def _by_split(runs: Runs) -> tuple[Runs, Runs]:
    """Return the sum and the number of runs of every split that has any."""
    counts = (~np.isnan(runs)).sum(axis=1)
    sums = np.nansum(runs, axis=1)
    return sums[counts > 0], counts[counts > 0].astype(np.float64)


def _interval(sums: Runs, counts: Runs, seed: int) -> Interval | None:
    """Return the bootstrap interval of Σ sums / Σ counts over resampled rows.

    A split with fewer runs counts for fewer, as it does in the mean itself.
    """
    if len(sums) < 2:
        return None
    result = stats.bootstrap(
        (sums, counts),
        _ratio,
        n_resamples=N_RESAMPLES,
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    low, high = result.confidence_interval
    return rounded(low), rounded(high)


def _ratio(sums: Runs, counts: Runs, axis: int = -1) -> Runs:
    return np.asarray(sums.sum(axis=axis) / counts.sum(axis=axis))


def _half_width(mean: float, interval: Interval) -> float:
    return rounded(max(abs(interval[0] - mean), abs(interval[1] - mean)))


def _varies(values: Runs) -> bool:
    return len(values) > 1 and float(np.ptp(values)) > 10.0**-_ROUNDING


def _t_test(differences: Runs) -> float | None:
    """Return the p-value of mean zero: the paired t-test, given the differences of the pairs."""
    if not _varies(differences):
        return None
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def _wilcoxon(differences: Runs) -> float | None:
    """Return the p-value of the signed-rank test.

    Up to 13 differences, every way to sign the ranks is counted, which is what scipy does if some
    are tied; here at once instead of one by one, in a fiftieth of the time.
    """
    if len(differences) < 2 or not differences.any():
        return None
    if len(differences) > _MOST_SIGNED:
        return float(stats.wilcoxon(differences).pvalue)
    differ = differences != 0
    ranks = np.zeros(len(differences))
    ranks[differ] = np.sign(differences[differ]) * stats.rankdata(np.abs(differences[differ]))
    found = stats.permutation_test(
        (ranks,),
        lambda signed, axis: np.maximum(signed, 0.0).sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    return float(found.pvalue)
