"""Unlabeled nodes as the ensemble sees them: who is drawn, what is aimed at, how it weighs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from adagcn.boosting.fit_state import FitState, LabeledNodes
from adagcn.boosting.hop_boosting import HopBoosting
from adagcn.boosting.pseudo_labels import (
    NO_PSEUDO_LABELS,
    PseudoLabeler,
    PseudoLabels,
    draw_nodes,
)
from adagcn.boosting.samme import BoostingRule, Combination
from adagcn.learners.sklearn_learner import SklearnFitter
from adagcn.propagation.hops import MemoryHop
from adagcn.training.hop_fitter import HopTask

LABELS = np.array([0, 1, 2, 0])


def log_probas(n: int, seed: int = 0) -> list[np.ndarray]:
    return [
        log_softmax(row, axis=1) for row in np.random.default_rng(seed).normal(size=(n, 5, 3)) * 2.0
    ]


def pseudo_labels(**changes) -> PseudoLabels:
    values = {"nodes": np.arange(5), "from_hop": 2, "weight": 0.6, "sharpness": 2.0}
    return PseudoLabels(**{**values, **changes})


def test_only_nodes_without_a_label_are_drawn_each_once():
    drawn = draw_nodes(50, np.arange(10, 30), 12, seed=1)
    assert len(np.unique(drawn)) == 12
    assert not np.isin(drawn, np.arange(10, 30)).any()
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(drawn, draw_nodes(50, np.arange(10, 30), 12, seed=1))
    assert not np.array_equal(drawn, draw_nodes(50, np.arange(10, 30), 12, seed=2))


def test_where_there_are_too_few_all_are_taken():
    np.testing.assert_array_equal(draw_nodes(6, np.array([1, 4]), 100, seed=0), [0, 2, 3, 5])
    assert len(draw_nodes(3, np.arange(3), 100, seed=0)) == 0


def test_targets_are_the_sharpened_probabilities_of_the_ensemble():
    labeler = PseudoLabeler(pseudo_labels(), Combination())
    first, second = log_probas(2)
    labeler.add_layer(1.0, first)
    assert labeler.targets() is None  # too early
    labeler.add_layer(1.0, second)
    sharpened = np.exp((first + second) / 2.0) ** 2.0  # SAMME.R's mean votes, then the exponent
    expected = 0.6 / 5 * sharpened / sharpened.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(labeler.targets(), expected, rtol=1e-12)


def test_targets_come_from_the_layers_that_vote():
    labeler = PseudoLabeler(pseudo_labels(sharpness=1.0), Combination(voting_share=0.5))
    layers = log_probas(3)
    for log_proba in layers:
        labeler.add_layer(1.0, log_proba)
    late = np.exp((layers[1] + layers[2]) / 2.0)  # two of three
    expected = 0.6 / 5 * late / late.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(labeler.targets(), expected, rtol=1e-12)


def test_without_nodes_there_is_nothing_to_aim_at():
    labeler = PseudoLabeler(NO_PSEUDO_LABELS, Combination())
    for log_proba in log_probas(3):
        labeler.add_layer(1.0, log_proba[:0])
    assert labeler.targets() is None


def test_each_learner_has_a_chain_of_its_own():
    labeler = PseudoLabeler(pseudo_labels(), Combination())
    first, second = log_probas(3), log_probas(3, seed=7)
    alone = []
    for chain in (first, second):
        each = PseudoLabeler(pseudo_labels(), Combination())
        for log_proba in chain:
            each.add_layer(1.0, log_proba)
        alone.append(each.targets())
    for pair in zip(first, second, strict=True):
        labeler.add_layer(1.0, np.stack(pair))
    found = labeler.targets()
    assert found.shape == (2, 5, 3)
    np.testing.assert_array_equal(found, np.stack(alone))
    np.testing.assert_allclose(found.sum(axis=(1, 2)), 0.6)  # each has the whole share of the loss
    assert np.abs(found[0] - found[1]).max() > 0.01


class Recorder:
    """Fits nothing, and remembers what it was given."""

    left_out = None

    def __init__(self) -> None:
        self.calls: list[tuple[int, np.ndarray, np.ndarray | None]] = []

    def __call__(self, task):
        self.calls.append((len(task.rows), task.sample_weight, task.pseudo_labels))
        return self

    @property
    def parts(self):
        return (self,)

    def log_proba(self, rows):
        return log_softmax(rows[:, :3], axis=1)


@pytest.fixture
def features() -> np.ndarray:
    return np.random.default_rng(4).normal(size=(12, 4))


def boosted(features, *, earlier=(), n_layers=4, **changes):
    recorder = Recorder()
    nodes = LabeledNodes(np.arange(4), LABELS, np.ones(4))
    pseudo = pseudo_labels(nodes=np.array([6, 9]), **changes)
    rule = BoostingRule(reweight_rate=0.0)
    boosting = HopBoosting(recorder, nodes, rule, pseudo_labels=pseudo)
    hops = (MemoryHop(features * (hop + 1), None) for hop in range(n_layers))
    *_, state = boosting.states(FitState(None, tuple(earlier)), hops)
    return recorder, list(state.layers)


def test_unlabeled_rows_stand_behind_the_labeled_ones_from_their_layer_on(features):
    recorder, _ = boosted(features)
    assert [n_rows for n_rows, *_ in recorder.calls] == [4, 4, 6, 6]
    assert [targets is None for *_, targets in recorder.calls] == [True, True, False, False]


def test_labeled_and_pseudo_labeled_weights_sum_to_one(features):
    recorder, _ = boosted(features)
    for _, weight, targets in recorder.calls:
        total = weight.sum() + (0.0 if targets is None else targets.sum())
        assert total == pytest.approx(1.0, abs=1e-12)
    assert recorder.calls[-1][1].sum() == pytest.approx(0.4, abs=1e-12)


def test_a_fit_that_goes_on_has_the_targets_of_one_in_one_go(features):
    whole, layers = boosted(features)
    later, _ = boosted(features, earlier=layers[:3])
    np.testing.assert_array_equal(later.calls[0][2], whole.calls[3][2])


@dataclass(frozen=True)
class Says:
    """A learner that says what one column of the rows is, times a factor."""

    factor: float
    left_out: None = None

    @property
    def parts(self):
        return (self,)

    def log_proba(self, rows):
        return log_softmax(self.factor * rows[:, :3], axis=1)


class Pair(Says):
    """Two learners that disagree; together they say what the first one says."""

    @property
    def parts(self):
        return Says(1.0), Says(-3.0)


def targets_of(features, learner, *, earlier=(), n_layers=4):
    """Return the targets of every layer that is fitted, and all layers."""
    seen = []

    def fit_hop(task):
        seen.append(task.pseudo_labels)
        return learner

    nodes = LabeledNodes(np.arange(4), LABELS, np.ones(4))
    pseudo = pseudo_labels(nodes=np.array([6, 9]))
    boosting = HopBoosting(fit_hop, nodes, BoostingRule(reweight_rate=0.0), pseudo_labels=pseudo)
    hops = (MemoryHop(features * (hop + 1), None) for hop in range(n_layers))
    *_, state = boosting.states(FitState(None, tuple(earlier)), hops)
    return seen, state.layers


def test_the_loop_teaches_each_learner_by_the_layers_of_its_own_kind(features):
    together, _ = targets_of(features, Pair(1.0))
    assert [each is None for each in together] == [True, True, False, False]
    for place, factor in enumerate((1.0, -3.0)):
        alone, _ = targets_of(features, Says(factor))
        for both, own in zip(together[2:], alone[2:], strict=True):
            np.testing.assert_allclose(both[place], own, rtol=1e-12)


def test_chains_go_on_as_in_one_go(features):
    whole, layers = targets_of(features, Pair(1.0))
    later, _ = targets_of(features, Pair(1.0), earlier=layers[:3])
    np.testing.assert_array_equal(later[0], whole[3])


def test_a_classifier_learns_the_likeliest_class_with_the_weight_of_its_row():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 3))
    targets = np.array([[0.1, 0.05, 0.05], [0.0, 0.1, 0.1], [0.02, 0.02, 0.16]])
    weight = np.full(4, 0.1)
    fit = SklearnFitter(LogisticRegression(), 3, seed=0)
    found = fit(HopTask(2, rows, LABELS, weight, pseudo_labels=targets))
    labels = np.concatenate([LABELS, [0, 1, 2]])
    weights = np.concatenate([weight, targets.sum(axis=1)]) * 7
    expected = LogisticRegression().fit(rows, labels, sample_weight=weights)
    np.testing.assert_array_equal(found.classifier.coef_, expected.coef_)
