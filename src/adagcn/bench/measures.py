"""Statistics of repeated measurements: medians with intervals, ratios within a run, fitted lines.

Repetitions are interleaved: the k-th sample of every contestant was taken within the same short
time. Ratios are therefore formed sample by sample, which cancels what slows the whole machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from adagcn.errors import InputError

Samples = NDArray[np.float64]

_SEED = 20210503  # fixed, so that the same samples give the same interval
_N_RESAMPLES = 2000
_LEVEL = 0.95


@dataclass(frozen=True)
class Measure:
    """A median over repetitions and its 95 % interval; a single repetition has none."""

    median: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A least-squares line: its slope with a 95 % interval, and the share of variance explained."""

    slope: float
    low: float | None
    high: float | None
    r_squared: float


@dataclass(frozen=True)
class Row:
    """One line of a section.

    Parameters
    ----------
    name, group : str
        What was measured, and its kind: ``"adagcn"``, ``"ours"``, ``"peer"``, or a word specific to
        the section.
    seconds : Measure or None
        How long it took; None if it could not be measured, and ``facts["note"]`` says why.
    ratio : Measure or None
        The ratio that the section's ``ratio_name`` describes.
    facts : dict
        More numbers and words, by name.
    """

    name: str
    group: str
    seconds: Measure | None
    ratio: Measure | None
    facts: dict[str, Any]


@dataclass(frozen=True)
class Section:
    """Rows that belong together, and the meaning of their ratios."""

    key: str
    dataset: str
    title: str
    ratio_name: str
    rows: tuple[Row, ...]
    facts: dict[str, Any]

    def row(self, name: str) -> Row:
        """Return the row with a name."""
        return next(row for row in self.rows if row.name == name)


def measure(samples: ArrayLike) -> Measure:
    """Return the median of samples with a percentile bootstrap interval.

    >>> measure([3.0, 3.0, 3.0])
    Measure(median=3.0, low=3.0, high=3.0)
    """
    values = _checked(samples)
    if len(values) < 2:
        return Measure(float(values[0]))
    found = stats.bootstrap(
        (values,),
        np.median,
        n_resamples=_N_RESAMPLES,
        confidence_level=_LEVEL,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return Measure(float(np.median(values)), float(found.low), float(found.high))


def ratio(samples: ArrayLike, reference: ArrayLike) -> Measure:
    """Return the median of sample over reference, paired by repetition, with its interval.

    >>> ratio([2.0, 4.0], [1.0, 2.0]).median
    2.0
    """
    return measure(_checked(samples) / _checked(reference))


def fit_line(x: Sequence[float], samples: ArrayLike) -> Line:
    """Fit a line to all samples.

    Parameters
    ----------
    x : sequence of float
        The positions of the columns.
    samples : array of shape (n_repetitions, len(x))
        The measurements; each row is a repetition.
    """
    table = np.atleast_2d(np.asarray(samples, dtype=np.float64))
    places = np.broadcast_to(np.asarray(x, dtype=np.float64), table.shape)
    found = stats.linregress(places.ravel(), table.ravel())
    freedom = table.size - 2
    arm = None if freedom < 1 else float(stats.t.ppf(0.5 + _LEVEL / 2, freedom) * found.stderr)
    slope = float(found.slope)
    return Line(
        slope=slope,
        low=None if arm is None else slope - arm,
        high=None if arm is None else slope + arm,
        r_squared=float(found.rvalue**2),
    )


def fit_exponent(sizes: Sequence[float], samples: ArrayLike) -> Line:
    """Fit samples ∝ size^k on logarithmic axes; the slope is k.

    >>> round(fit_exponent([1, 2, 4], [[3.0, 12.0, 48.0]]).slope, 6)
    2.0
    """
    return fit_line([float(np.log(size)) for size in sizes], np.log(samples))


def slopes(x: Sequence[float], samples: ArrayLike) -> Samples:
    """Return the least-squares slope of every repetition, of shape (n_repetitions,)."""
    table = np.atleast_2d(np.asarray(samples, dtype=np.float64))
    return np.asarray(np.polyfit(np.asarray(x, dtype=np.float64), table.T, 1)[0])


def _checked(samples: ArrayLike) -> Samples:
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InputError(
            "AGC-I1200",
            "samples must be a list of at least one finite number",
            got=values,
            fix="measure at least one repetition",
        )
    return values
