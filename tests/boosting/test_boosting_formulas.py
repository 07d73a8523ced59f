"""The identities I1 to I4 of SAMME.R and SAMME, and their negative cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from adagcn.boosting import samme


def random_log_proba(n_classes: int, n_nodes: int = 50, scale: float = 3.0) -> np.ndarray:
    logits = np.random.default_rng(n_classes).normal(scale=scale, size=(n_nodes, n_classes))
    return log_softmax(logits, axis=1)


def labels_for(log_proba: np.ndarray) -> np.ndarray:
    return np.random.default_rng(1).integers(log_proba.shape[1], size=len(log_proba))


@pytest.mark.parametrize("n_classes", [2, 3, 7, 41])
def test_i1_scores_sum_to_zero_and_do_not_see_a_shift_of_the_logits(n_classes):
    logits = np.random.default_rng(0).normal(size=(20, n_classes))
    scores = samme.class_scores(log_softmax(logits, axis=1))
    assert (np.abs(scores.sum(axis=1)) <= 1e-14 * np.abs(scores).sum(axis=1)).all()
    shifted = samme.class_scores(log_softmax(logits + 123.0, axis=1))
    np.testing.assert_allclose(shifted, scores, atol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 3, 7, 41])
def test_i2_hastie_update_is_the_exponential_loss_of_the_layer(n_classes):
    log_proba = random_log_proba(n_classes)
    labels = labels_for(log_proba)
    score_of_label = samme.class_scores(log_proba)[np.arange(len(labels)), labels]
    change = samme.log_weight_change(log_proba, labels, "hastie")
    np.testing.assert_allclose(change, -score_of_label / (n_classes - 1), atol=1e-12)
    other = samme.log_weight_change(log_proba, labels, "onehot")
    assert np.abs(other - change).max() > 0.1


def test_i2_weights_after_layers_are_the_exponential_loss_of_the_ensemble():
    layers = [random_log_proba(4, scale=s) for s in (1.0, 2.0, 3.0)]
    labels = labels_for(layers[0])
    log_weight = samme.log_weights(np.ones(len(labels)))
    total = np.zeros_like(layers[0])
    for log_proba in layers:
        change = samme.log_weight_change(log_proba, labels, "hastie")
        log_weight = samme.normalized(log_weight + change)
        total += samme.class_scores(log_proba)
    loss = np.exp(-total[np.arange(len(labels)), labels] / 3)
    np.testing.assert_allclose(np.exp(log_weight), loss / loss.sum(), rtol=1e-12)


def test_i3_two_classes_are_real_adaboost():
    log_proba = random_log_proba(2)
    scores = samme.class_scores(log_proba)
    np.testing.assert_allclose(scores[:, 0], 0.5 * (log_proba[:, 0] - log_proba[:, 1]), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_i4_samme_r_of_evenly_wrong_probabilities_is_samme(n_classes):
    error, n_nodes = 0.2, 40
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=n_nodes)
    predicted = np.where(np.arange(n_nodes) < 8, (labels + 1) % n_classes, labels)  # 20 % wrong
    proba = np.full((n_nodes, n_classes), error / (n_classes - 1))
    proba[np.arange(n_nodes), predicted] = 1.0 - error
    weight = np.full(n_nodes, 1.0 / n_nodes)

    alpha = samme.layer_weight(samme.weighted_error(weight, predicted, labels), n_classes, n_nodes)
    np.testing.assert_allclose(
        samme.class_scores(np.log(proba)), alpha * samme.hard_votes(np.log(proba)), atol=1e-12
    )

    def updated(change):
        return np.exp(samme.normalized(np.log(weight) + change))

    by_samme = updated(samme.samme_log_weight_change(alpha, predicted, labels))
    by_hastie = updated(samme.log_weight_change(np.log(proba), labels, "hastie"))
    by_onehot = updated(samme.log_weight_change(np.log(proba), labels, "onehot"))
    np.testing.assert_allclose(by_hastie, by_samme, rtol=1e-12)
    # one-hot y has the exponent ((K − 1)/K) α instead: this is what tells the readings apart
    share = (n_classes - 1) / n_classes
    expected = updated(samme.samme_log_weight_change(share * alpha, predicted, labels))
    np.testing.assert_allclose(by_onehot, expected, rtol=1e-12)
    assert not np.allclose(by_onehot, by_samme)


@pytest.mark.parametrize(
    ("n_classes", "onehot", "released"),
    [(2, 0.5, 0.0), (3, 0.667, -0.5), (6, 0.833, -0.8), (7, 0.857, -0.833), (41, 0.976, -0.975)],
)
def test_coefficients_of_the_loss_in_each_reading(n_classes, onehot, released):
    log_proba = random_log_proba(n_classes)
    labels = labels_for(log_proba)
    loss = -log_proba[np.arange(len(labels)), labels]
    for update, coefficient in [("onehot", onehot), ("released", released), ("none", 0.0)]:
        change = samme.log_weight_change(log_proba, labels, update)
        np.testing.assert_allclose(change, coefficient * loss, atol=6e-4 * loss.max())


@pytest.mark.parametrize("n_classes", [2, 3, 7, 41])
def test_reverse_takes_from_hard_nodes_what_onehot_gives_them(n_classes):
    log_proba = random_log_proba(n_classes)
    labels = labels_for(log_proba)
    onehot, reverse = (
        samme.log_weight_change(log_proba, labels, update) for update in ("onehot", "reverse")
    )
    np.testing.assert_array_equal(reverse, -onehot)
    hardest = log_proba[np.arange(len(labels)), labels].argmin()
    assert reverse.argmin() == onehot.argmax() == hardest
    rule = samme.BoostingRule(update="reverse")
    even = samme.log_weights(np.ones(len(labels)))
    outcome = samme.weigh_layer(0, log_proba, labels, even, rule)
    assert outcome.next_log_weight.argmin() == hardest
    np.testing.assert_allclose(outcome.next_log_weight, samme.normalized(even - onehot))


@pytest.mark.parametrize("gap", [10.0, 104.0, 200.0, 1e4, 1e300])
def test_scores_and_weights_are_finite_for_any_confidence(gap):
    log_proba = log_softmax([[0.0, gap, 0.0], [gap, 0.0, 0.0]], axis=1)
    scores = samme.class_scores(log_proba)
    assert np.isfinite(scores).all()
    assert scores.argmax(axis=1).tolist() == [1, 0]
    for update in ("onehot", "hastie", "released"):
        change = samme.log_weight_change(log_proba, np.array([1, 1]), update)
        weight = np.exp(samme.normalized(np.log([0.5, 0.5]) + change))
        assert np.isfinite(weight).all()
        assert (weight > 0).all()
        assert weight.sum() == pytest.approx(1.0)


def test_samme_error_and_weight_by_hand():
    weight = np.array([0.1, 0.2, 0.3, 0.4])
    predicted, labels = np.array([0, 1, 2, 0]), np.array([0, 1, 1, 1])
    assert samme.weighted_error(weight, predicted, labels) == pytest.approx(0.7)
    assert samme.layer_weight(0.2, 3, 10) == pytest.approx(np.log(0.8 / 0.2) + np.log(2))
    change = samme.samme_log_weight_change(1.5, predicted, labels)
    np.testing.assert_array_equal(change, [0, 0, 1.5, 1.5])


def test_samme_weight_of_a_perfect_layer_is_capped_and_of_a_guess_is_zero():
    assert samme.layer_weight(0.0, 5, 100) == pytest.approx(np.log(399) + np.log(4))
    assert samme.layer_weight(0.8, 5, 100) == pytest.approx(0.0, abs=1e-12)
    assert samme.layer_weight(0.9, 5, 100) < 0.0
    assert np.isfinite(samme.layer_weight(1.0, 5, 100))


def test_effective_sample_size_counts_the_nodes_behind_the_weights():
    assert samme.effective_sample_size(np.log(np.full(8, 0.125))) == pytest.approx(1.0)
    half = samme.log_weights(np.array([1.0, 1.0, 1e-30, 1e-30]))
    assert samme.effective_sample_size(half) == pytest.approx(0.5)
    one = samme.log_weights(np.array([1.0, 0.0, 0.0]))  # weight zero does not count
    assert samme.effective_sample_size(one) == pytest.approx(1.0)


def test_a_node_of_weight_zero_stays_out_and_any_other_stays_in():
    log_weight = samme.log_weights(np.array([1.0, 1.0, 0.0]))
    after = np.exp(samme.normalized(log_weight + np.array([0.0, -1e9, 50.0])))
    assert after[2] == 0.0
    assert after[1] > 0.0
    assert after.sum() == pytest.approx(1.0)
