"""Split conformal sets: the promise itself, which is exact, and its limits."""

from __future__ import annotations

import numpy as np
import pytest

from adagcn.errors import InputError
from adagcn.explain.prediction_sets import (
    PredictionSets,
    checked_coverage,
    conformity_scores,
    nodes_needed,
    prediction_sets,
    score_limit,
)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.93, 0.95])
def test_each_of_exchangeable_nodes_is_covered_as_often_as_promised(coverage):
    """Of n + 1 nodes each is left out once: exactly ⌈(n + 1) c⌉ of them are covered."""
    rng = np.random.default_rng(0)
    for n_calibration in (19, 40, 250):
        proba = rng.dirichlet(np.ones(4), size=n_calibration + 1)
        labels = rng.integers(0, 4, size=n_calibration + 1)
        covered = 0
        for left_out in range(n_calibration + 1):
            others = np.delete(np.arange(n_calibration + 1), left_out)
            scores = conformity_scores(np.log(proba[others]), labels[others])
            sets = prediction_sets(proba[[left_out]], np.arange(4), scores, coverage)
            covered += sets.covers(labels[[left_out]]).item()
        wanted = np.ceil(round((n_calibration + 1) * coverage, 6))
        assert covered == wanted


def test_a_set_holds_the_labels_above_the_threshold():
    scores = np.array([0.1, 0.2, 0.4, 0.7])
    proba = np.array([[0.65, 0.25, 0.1], [0.9, 0.08, 0.02], [0.34, 0.33, 0.33]])
    sets = prediction_sets(proba, np.array(["a", "b", "c"]), scores, 0.8)
    assert sets.threshold == pytest.approx(0.3)
    assert [labels.tolist() for labels in sets] == [["a"], ["a"], ["a", "b", "c"]]
    assert [each.tolist() for each in prediction_sets(proba, sets.classes, scores, 0.4)] == [
        [], ["a"], [],
    ]  # fmt: skip
    np.testing.assert_array_equal(np.asarray(sets), sets.members)
    assert len(sets) == 3
    assert sets[2].tolist() == ["a", "b", "c"]


def test_more_coverage_never_loses_a_label():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(5), size=200)
    scores = np.sort(rng.random(99))
    before = np.zeros(proba.shape, dtype=bool)
    for coverage in (0.1, 0.5, 0.9, 0.99):
        members = prediction_sets(proba, np.arange(5), scores, coverage).members
        assert (members >= before).all()
        before = members


@pytest.mark.parametrize("coverage", [0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_nodes_needed_are_those_that_suffice(coverage):
    needed = nodes_needed(coverage)
    score_limit(np.zeros(needed), coverage)
    with pytest.raises(InputError, match=rf"at least {needed:,} calibration node.*AGC-I1353"):
        score_limit(np.zeros(needed - 1), coverage)


def test_the_coverage_that_the_refusal_names_can_be_had():
    for n_calibration in range(1, 60):
        with pytest.raises(InputError) as refused:
            score_limit(np.zeros(n_calibration), 0.999)
        named = float(refused.value.fix.rpartition("=")[2])
        score_limit(np.zeros(n_calibration), named)


@pytest.mark.parametrize(
    "coverage", [1.2, 1, 0, -0.1, float("nan"), float("inf"), "0.9", True, None]
)
def test_a_coverage_is_a_number_between_zero_and_one(coverage):
    with pytest.raises(InputError, match=r"coverage must be a number above 0.*AGC-I1352"):
        checked_coverage(coverage)


def test_labels_of_any_kind_are_compared_as_they_are():
    sets = PredictionSets(np.eye(2, dtype=bool), np.array([3, 7]), 0.9, 0.1)
    assert sets.covers(np.array([3, 3])).tolist() == [True, False]
    assert sets.covers(np.array([8, 7])).tolist() == [False, True]
    odd = np.array(["=cmd()", "<script>alert(1)</script>"])
    assert PredictionSets(np.eye(2, dtype=bool), odd, 0.9, 0.1)[1].tolist() == [odd[1]]
