"""Temperature, reliability and calibration error, on numbers that one can check by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from adagcn.errors import InputError
from adagcn.explain.calibration import (
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
    coverage_and_size,
    expected_calibration_error,
    fit_temperature,
    reliability_curve,
    tempered,
)
from adagcn.explain.prediction_sets import PredictionSets


@pytest.fixture
def drawn():
    """Log-probabilities of 20,000 nodes whose labels were drawn from them at T = 2."""
    rng = np.random.default_rng(0)
    said = log_softmax(3.0 * rng.standard_normal((20_000, 4)), axis=1)
    truth = np.exp(tempered(said, 2.0))
    labels = (rng.random((len(truth), 1)) > truth.cumsum(axis=1)).sum(axis=1)
    return said, labels


def log_loss(said, labels, temperature):
    return -tempered(said, temperature)[np.arange(len(labels)), labels].mean()


def test_a_temperature_keeps_the_order_and_has_an_inverse(drawn):
    said, _ = drawn
    for temperature in (0.05, 0.7, 1.0, 20.0):
        changed = tempered(said, temperature)
        np.testing.assert_array_equal(changed.argmax(axis=1), said.argmax(axis=1))
        np.testing.assert_allclose(np.exp(changed).sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(tempered(changed, 1.0 / temperature), said, atol=1e-9)


def test_the_temperature_that_labels_were_drawn_at_is_found(drawn):
    said, labels = drawn
    found = fit_temperature(said, labels)
    assert found == pytest.approx(2.0, rel=0.05)
    best = minimize_scalar(
        lambda log: log_loss(said, labels, np.exp(log)), bounds=(-3, 3), method="bounded"
    )
    assert np.log(found) == pytest.approx(best.x, abs=1e-4)
    classes = np.arange(4)
    before = expected_calibration_error(labels, np.exp(said), classes)
    after = expected_calibration_error(labels, np.exp(tempered(said, found)), classes)
    assert after < 0.015 < 0.1 < before


def test_all_right_and_all_wrong_end_at_a_bound():
    said = np.log([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]])
    assert fit_temperature(said, np.array([0, 0])) == LOWEST_TEMPERATURE
    assert fit_temperature(said, np.array([2, 2])) == HIGHEST_TEMPERATURE


def test_a_temperature_is_one_where_none_matters():
    assert fit_temperature(np.log(np.full((3, 2), 0.5)), np.array([0, 1, 0])) == 1.0


def test_nodes_that_cannot_tell_a_temperature_from_one_leave_it():
    """Drawn at T = 1, 19 of 20 samples should say so; drawn at T = 2, all should say otherwise."""
    rng = np.random.default_rng(0)
    found = {1.0: [], 2.0: []}
    for true, temperatures in found.items():
        for _ in range(200):
            said = log_softmax(2.0 * rng.standard_normal((500, 4)), axis=1)
            truth = np.exp(tempered(said, true))
            labels = (rng.random((500, 1)) > truth.cumsum(axis=1)).sum(axis=1)
            temperatures.append(fit_temperature(said, labels))
    assert 0.9 <= np.mean(np.array(found[1.0]) == 1.0) < 1.0
    assert min(found[2.0]) > 1.5


def test_an_impossible_label_has_a_temperature():
    with np.errstate(divide="ignore"):
        said = np.log([[1.0, 0.0], [0.9, 0.1], [0.2, 0.8]])
    found = fit_temperature(said, np.array([1, 0, 1]))
    assert LOWEST_TEMPERATURE <= found <= HIGHEST_TEMPERATURE


def test_reliability_by_hand():
    proba = np.array([[1.0, 0.0], [0.75, 0.25], [0.7, 0.3], [0.45, 0.55], [0.5, 0.5]])
    labels = np.array(["a", "b", "a", "b", "z"])  # nobody knows z
    curve = reliability_curve(labels, proba, np.array(["a", "b"]), n_bins=4)
    assert [(each.low, each.high, each.n_nodes) for each in curve] == [
        (0.25, 0.5, 1), (0.5, 0.75, 3), (0.75, 1.0, 1),
    ]  # fmt: skip
    assert [each.accuracy for each in curve] == pytest.approx([0.0, 2 / 3, 1.0])
    assert [each.confidence for each in curve] == pytest.approx([0.5, 2.0 / 3, 1.0])
    error = expected_calibration_error(labels, proba, np.array(["a", "b"]), n_bins=4)
    assert error == pytest.approx(0.5 / 5)


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, "x", True])
def test_bins_are_a_whole_number(n_bins):
    with pytest.raises(InputError, match=r"n_bins.*AGC-I1350"):
        reliability_curve(np.array([0]), np.array([[0.9, 0.1]]), np.array([0, 1]), n_bins)


def test_coverage_by_hand():
    members = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1]], dtype=bool)
    sets = PredictionSets(members, np.array(["a", "b", "c"]), 0.9, 0.1)
    found = coverage_and_size(np.array(["a", "b", "b", "a"]), sets)
    assert (found.nominal, found.coverage, found.mean_size) == (0.9, 0.5, 1.25)
    assert (found.n_nodes, found.n_empty, found.n_single) == (4, 1, 1)
    by_class = [(e.label, e.n_nodes, e.coverage, e.mean_size) for e in found.by_class]
    assert by_class == [("a", 2, 0.5, 1.5), ("b", 2, 0.5, 1.0)]
    with pytest.raises(InputError, match=r"4 prediction sets.*AGC-I1351"):
        coverage_and_size(np.array(["a"]), sets)
