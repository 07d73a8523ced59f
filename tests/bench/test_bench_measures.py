from __future__ import annotations

import numpy as np
import pytest

from adagcn.bench.measures import fit_exponent, fit_line, measure, ratio, slopes
from adagcn.errors import InputError


def test_a_measure_is_the_median_inside_its_interval():
    found = measure([5.0, 1.0, 2.0, 3.0, 9.0])
    assert found.median == 3.0
    assert 1.0 <= found.low <= 3.0 <= found.high <= 9.0


def test_one_sample_has_no_interval():
    found = measure([2.0])
    assert (found.median, found.low, found.high) == (2.0, None, None)


def test_the_same_samples_give_the_same_interval():
    samples = np.random.default_rng(0).random(12)
    assert measure(samples) == measure(samples)


def test_an_interval_holds_the_median_as_often_as_it_says():
    rng = np.random.default_rng(1)
    found = [measure(rng.normal(3.0, 1.0, size=25)) for _ in range(200)]
    assert np.mean([each.low <= 3.0 <= each.high for each in found]) > 0.88


def test_ratios_are_paired_by_repetition():
    # A machine that becomes ten times slower slows both: their ratio stays.
    drift = np.array([1.0, 1.0, 10.0, 10.0])
    found = ratio(3.0 * drift, drift)
    assert (found.median, found.low, found.high) == (3.0, 3.0, 3.0)


def test_a_ratio_is_the_median_of_ratios_not_the_ratio_of_medians():
    assert ratio([1.0, 2.0, 9.0], [1.0, 1.0, 10.0]).median == 1.0


@pytest.mark.parametrize("samples", [[], [1.0, float("nan")], [[1.0], [2.0]]])
def test_samples_that_say_nothing_are_refused(samples):
    with pytest.raises(InputError, match="AGC-I1200"):
        measure(samples)


def test_a_line_has_its_slope_and_an_interval_around_it():
    x = [1, 2, 4, 8]
    table = 0.5 + 2.0 * np.array(x) + np.array([[0.1, -0.1, 0.1, -0.1], [-0.1, 0.1, -0.1, 0.1]])
    line = fit_line(x, table)
    assert line.slope == pytest.approx(2.0)
    assert line.low < 2.0 < line.high
    assert 0.99 < line.r_squared < 1.0


def test_two_points_make_a_line_without_an_interval():
    line = fit_line([1, 2], [[3.0, 5.0]])
    assert (line.slope, line.low, line.high) == (2.0, None, None)


def test_slopes_are_those_of_each_repetition():
    assert slopes([0, 1, 2], [[0, 1, 2], [5, 8, 11]]) == pytest.approx([1.0, 3.0])


def test_an_exponent_is_a_slope_on_logarithmic_axes():
    sizes = [10, 20, 40, 80]
    line = fit_exponent(sizes, 7.0 * np.array([sizes, sizes], dtype=float) ** 1.5)
    assert line.slope == pytest.approx(1.5)
    assert line.low == pytest.approx(1.5, abs=1e-6)
