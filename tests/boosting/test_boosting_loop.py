"""The boosting loop: against the NumPy oracle, and what it promises about hops and layers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice

import numpy as np
import oracle
import pytest
import torch
from scipy import sparse
from scipy.special import log_softmax

from adagcn.boosting.depth import best_prefix
from adagcn.boosting.fit_state import BoostedLayer, FitState, LabeledNodes
from adagcn.boosting.hop_boosting import HopBoosting
from adagcn.boosting.samme import BoostingRule, Combination
from adagcn.errors import LayerWarning, NumericalError
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.propagation.hops import MemoryHop, hop_stream
from adagcn.propagation.normalize import make_propagator
from adagcn.training.events import Events
from adagcn.training.hop_fitter import HopFitter, TrainingSettings
from adagcn.training.random_streams import torch_stream

N_NODES, N_FEATURES, N_CLASSES, HIDDEN = 40, 15, 4, 10


@dataclass(frozen=True)
class Small:
    adjacency: np.ndarray
    features: np.ndarray
    labels: np.ndarray
    train: np.ndarray


@pytest.fixture
def small() -> Small:
    rng = np.random.default_rng(5)
    upper = np.triu(rng.random((N_NODES, N_NODES)) < 0.1, 1)
    adjacency = (upper | upper.T).astype(float)
    features = rng.random((N_NODES, N_FEATURES)) * (rng.random((N_NODES, N_FEATURES)) < 0.3)
    labels = rng.integers(N_CLASSES, size=N_NODES)
    return Small(adjacency, features, labels, rng.permutation(N_NODES)[:20])


def make_network(generator, n_features):
    return TwoLayerPerceptron(
        n_features,
        N_CLASSES,
        hidden_units=HIDDEN,
        first_layer_l2=5e-3,
        generator=generator,
        dtype=torch.float64,
    )


def fitter(**changes) -> HopFitter:
    settings = TrainingSettings(**{"weight_decay": 1e-3, "max_epochs": 20, **changes})
    return HopFitter(make_network, settings, seed=3, events=Events())


def as_hops(matrices):
    return (MemoryHop(features, None) for features in matrices)


def layers_of(boosting, hops, n_layers=None, begun=()):
    """Return the layers that the loop adds, as many as asked for or as there are hops."""
    state = FitState(None, tuple(begun))
    *_, last = (state, *islice(boosting.states(state, hops), n_layers))
    return list(last.layers[len(begun) :])


def boost(small: Small, order=slice(None), *, form=np.asarray, n_layers=3, **rule):
    train = small.train[order]
    nodes = LabeledNodes(train, small.labels[train], np.ones(len(train)))
    propagator = make_propagator(sparse.csr_array(small.adjacency), dtype=np.float64)
    hops = hop_stream(propagator, form(small.features))
    return layers_of(HopBoosting(fitter(), nodes, BoostingRule(**rule)), hops, n_layers)


def scores(small: Small, layers: list[BoostedLayer]) -> np.ndarray:
    propagator = make_propagator(sparse.csr_array(small.adjacency), dtype=np.float64)
    pairs = [
        (layer.coefficient, layer.learner.log_proba(hop.rows(slice(None))))
        for layer, hop in zip(layers, hop_stream(propagator, small.features), strict=False)
    ]
    *_, last = Combination().staged(pairs)
    return last.total


@pytest.mark.parametrize("update", ["onehot", "hastie"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_three_layers_of_twenty_epochs_equal_the_oracle(small, update, form):
    layers = boost(small, form=form, update=update)
    start = make_network(torch_stream(3, "start", 0), N_FEATURES)
    expected_scores, expected_weights = oracle.adagcn(
        small.adjacency,
        small.features,
        small.train,
        small.labels[small.train],
        start.hidden.detach().numpy(),
        start.output[0].detach().numpy(),
        n_layers=3,
        epochs=20,
        update=update,
        l2=5e-3,
        weight_decay=1e-3,
    )
    np.testing.assert_allclose(scores(small, layers), expected_scores, rtol=0, atol=1e-9)
    got = np.exp([layer.log_weight for layer in layers])
    np.testing.assert_allclose(got, expected_weights, rtol=0, atol=1e-9)


def test_i5_permuting_the_training_nodes_permutes_weights_and_nothing_else(small):
    order = np.random.default_rng(0).permutation(len(small.train))
    plain, permuted = boost(small), boost(small, order)
    for a, b in zip(plain, permuted, strict=True):
        np.testing.assert_allclose(np.exp(b.log_weight), np.exp(a.log_weight)[order], rtol=1e-9)
        assert np.exp(a.log_weight).sum() == pytest.approx(1.0, abs=1e-12)
        assert (np.exp(a.log_weight) > 0).all()
    np.testing.assert_allclose(scores(small, permuted), scores(small, plain), atol=1e-9)


def test_i5_fails_when_weights_meet_other_nodes(small):
    """The released code's shuffling loader, through the same loop."""
    layers = {}
    for name, order in (("plain", slice(None)), ("permuted", np.arange(20)[::-1])):
        train = small.train[order]
        nodes = LabeledNodes(train, small.labels[train], np.ones(20))
        fit = fitter(weight_decay=0.0, align_weights=False)
        propagator = make_propagator(sparse.csr_array(small.adjacency), dtype=np.float64)
        hops = hop_stream(propagator, small.features)
        layers[name] = layers_of(HopBoosting(fit, nodes, BoostingRule()), hops, 3)
    difference = scores(small, layers["plain"]) - scores(small, layers["permuted"])
    assert np.abs(difference).max() > 1e-3


def test_i6_one_layer_is_the_learner_alone_and_no_update_sums_log_probabilities(small):
    one = boost(small, n_layers=1)
    log_proba = one[0].learner.log_proba(small.features)
    expected = (N_CLASSES - 1) * (log_proba - log_proba.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(scores(small, one), expected, atol=1e-12)

    none = boost(small, update="none")
    assert all(np.ptp(layer.log_weight) == 0.0 for layer in none)
    rate_zero = boost(small, update="onehot", reweight_rate=0.0)
    np.testing.assert_array_equal(scores(small, none), scores(small, rate_zero))
    assert np.abs(scores(small, none) - scores(small, boost(small))).max() > 1e-3


def test_i7_rows_of_labeled_nodes_are_all_that_training_looks_at(small):
    """Rows of other nodes may be anything: the parameters stay the same."""
    poisoned = small.features.copy()
    others = np.setdiff1d(np.arange(N_NODES), small.train)
    poisoned[others] = 1e6

    def parameters(features):
        nodes = LabeledNodes(small.train, small.labels[small.train], np.ones(20))
        hops = as_hops([features] * 3)
        layers = layers_of(HopBoosting(fitter(), nodes, BoostingRule()), hops)
        return [p.detach().numpy() for layer in layers for p in layer.learner.learner.parameters()]

    for a, b in zip(parameters(small.features), parameters(poisoned), strict=True):
        np.testing.assert_array_equal(a, b)


def test_reweight_rate_scales_the_exponent(small):
    full, half = boost(small, n_layers=2), boost(small, n_layers=2, reweight_rate=0.5)
    change = full[1].log_weight - full[0].log_weight
    halved = half[1].log_weight - half[0].log_weight
    np.testing.assert_allclose(np.diff(halved), 0.5 * np.diff(change), atol=1e-12)


def test_layers_come_one_by_one_and_no_hop_is_made_too_early(small):
    made = []

    def hops():
        for hop in range(10):
            made.append(hop)
            yield MemoryHop(small.features, None)

    nodes = LabeledNodes(small.train, small.labels[small.train], np.ones(20))
    states = HopBoosting(fitter(), nodes, BoostingRule()).states(FitState(None), hops())
    assert made == []
    next(states)
    assert made == [0]
    next(states)
    assert made == [0, 1]


def test_going_on_behind_earlier_layers_equals_one_go(small):
    whole, begun = boost(small, n_layers=4), boost(small, n_layers=2)
    nodes = LabeledNodes(small.train, small.labels[small.train], np.ones(20))
    propagator = make_propagator(sparse.csr_array(small.adjacency), dtype=np.float64)
    hops = hop_stream(propagator, small.features)
    more = layers_of(HopBoosting(fitter(), nodes, BoostingRule()), hops, 2, begun)
    continued = [*begun, *more]
    np.testing.assert_array_equal(scores(small, continued), scores(small, whole))


def test_later_layer_uses_its_own_parameters_even_if_it_never_beats_the_first(small):
    """A fresh stopper per layer; with a shared one, old parameters come back for new features."""
    stop = small.train
    hops = [small.features, np.zeros_like(small.features)]  # hop 1 is worse than hop 0

    def hidden(share_stopping):
        labels = small.labels[small.train]
        nodes = LabeledNodes(small.train, labels, np.ones(20), stop, small.labels[stop])
        fit = fitter(
            weight_decay=0.1,
            patience=20,
            stop_on="loss",
            stop_penalty="none",
            share_stopping=share_stopping,
        )
        layers = layers_of(HopBoosting(fit, nodes, BoostingRule()), as_hops(hops))
        return [layer.learner.learner.hidden.detach().numpy() for layer in layers]

    fresh, shared = hidden(False), hidden(True)
    assert np.abs(fresh[1] - fresh[0]).max() > 1e-6
    np.testing.assert_array_equal(shared[1], shared[0])


@dataclass
class Fixed:
    """A learner that always says the same."""

    log_p: np.ndarray
    left_out: np.ndarray | None = None

    @property
    def parts(self):
        return (self,)

    def log_proba(self, rows):
        return self.log_p[: rows.shape[0]]


def boost_fixed(log_probas, labels, rule):
    nodes = LabeledNodes(np.arange(len(labels)), labels, np.ones(len(labels)))
    answers = iter(log_probas)
    hops = as_hops([np.zeros((len(labels), 1))] * len(log_probas))
    return layers_of(HopBoosting(lambda _: Fixed(next(answers)), nodes, rule), hops)


def answers(predicted, n_classes=3):
    return log_softmax(4.0 * np.eye(n_classes)[predicted], axis=1)


SAMME = BoostingRule(combination=Combination("samme"))


def test_samme_stops_after_a_perfect_layer_unless_told_to_go_on():
    labels = np.array([0, 1, 2, 0])
    right, wrong = answers(labels), answers([1, 1, 2, 0])
    with pytest.warns(LayerWarning, match="layer 1 makes no training error: boosting stops"):
        assert len(boost_fixed([wrong, right, wrong], labels, SAMME)) == 2
    on = BoostingRule(combination=Combination("samme"), on_perfect="continue")
    layers = boost_fixed([wrong, right, wrong], labels, on)
    assert len(layers) == 3
    assert layers[1].coefficient == pytest.approx(np.log(15) + np.log(2))  # error counts as 1/16


def test_samme_raises_the_weight_of_wrong_nodes_by_alpha():
    labels = np.array([0, 1, 2, 0])
    rule = BoostingRule(combination=Combination("samme"), on_perfect="continue")
    first, second = boost_fixed([answers([1, 1, 2, 0]), answers(labels)], labels, rule)
    assert first.weighted_error == pytest.approx(0.25)
    assert first.coefficient == pytest.approx(np.log(3) + np.log(2))
    np.testing.assert_allclose(np.exp(second.log_weight), np.array([6, 1, 1, 1]) / 9)


def test_samme_leaves_out_a_layer_that_is_no_better_than_guessing():
    labels = np.array([0, 1, 2, 0])
    good, bad = answers([1, 1, 2, 0]), answers((labels + 1) % 3)
    with pytest.warns(LayerWarning, match="layer 1 is no better than guessing"):
        layers = boost_fixed([good, bad, good], labels, SAMME)
    assert layers[1].coefficient == 0.0
    np.testing.assert_array_equal(layers[2].log_weight, layers[0].log_weight)
    with pytest.raises(NumericalError, match=r"not below chance \(0.667\); got 1.0"):
        boost_fixed([bad], labels, SAMME)


def votes_of(combination, layers):
    return [votes.total for votes in combination.staged(layers)]


def test_combinations_by_hand():
    a, b = answers([0, 1]), answers([1, 1])
    h_a, h_b = (2 * (x - x.mean(axis=1, keepdims=True)) for x in (a, b))
    pairs = [(1.0, a), (1.0, b)]
    np.testing.assert_allclose(votes_of(Combination(), pairs)[1], h_a + h_b)
    np.testing.assert_allclose(votes_of(Combination("last"), pairs)[1], h_b)
    ema = Combination("ema", ema_teleport=0.2)
    coefficients = [ema.coefficient(hop, alpha=9.0) for hop in range(3)]
    np.testing.assert_allclose(coefficients, [0.2, 0.16, 0.128])
    hard = votes_of(Combination("samme", "hard"), [(2.0, a)])[0]
    np.testing.assert_allclose(hard, 4.0 * (np.eye(3)[[0, 1]] - 1 / 3))
    np.testing.assert_allclose(votes_of(Combination("samme", "logits"), [(2.0, a)])[0], 2 * h_a)


def test_probabilities_of_one_layer_are_its_own_and_do_not_sharpen_with_depth():
    log_proba = log_softmax(np.random.default_rng(0).normal(size=(5, 4)), axis=1)
    stages = list(Combination().staged([(1.0, log_proba)] * 3))
    for votes in stages:
        np.testing.assert_allclose(votes.log_proba(), log_proba, atol=1e-12)


def states_with_stop_losses(quality):
    """States whose newest layer favors the label of the stopping nodes by ``quality``."""
    state = FitState(None)
    for hop, q in enumerate(quality):
        log_p = log_softmax(np.array([[q, 0.0], [0.0, q]]), axis=1)
        layer = BoostedLayer(hop, None, 1.0, 1.0, 0.0, np.zeros(2), np.zeros(2), log_p)
        state = state.with_layer(layer)
        yield state


@pytest.mark.parametrize(
    ("share", "coefficients", "first"),
    [
        (1.0, [1.0, 1.0, 1.0], 0),
        (0.5, [1.0], 0),
        (0.5, [1.0] * 3, 1),
        (0.5, [1.0] * 24, 12),
        (0.1, [1.0] * 5, 4),
        (0.5, [1.0, 0.0, 1.0, 0.0], 2),  # discarded layers are not counted
    ],
)
def test_the_last_layers_vote(share, coefficients, first):
    rule = Combination(voting_share=share)
    assert rule.first_voter(coefficients) == first
    draws = np.random.default_rng(0).normal(size=(len(coefficients), 4, 3))
    pairs = [(c, log_softmax(draw, axis=1)) for c, draw in zip(coefficients, draws, strict=True)]
    expected = sum(c * rule.votes(log_proba) for c, log_proba in pairs[first:])
    *_, last = rule.staged(pairs)
    for votes in (last, rule.combined(pairs), rule.sum_votes(iter(pairs[first:]))):
        np.testing.assert_allclose(votes.total, expected)
        assert votes.weight == sum(coefficients[first:])


def test_auto_depth_keeps_the_best_prefix_after_three_layers_without_gain():
    labels = np.array([0, 1])
    asked = states_with_stop_losses([1.0, 3.0, -1.0, -1.0, -1.0, 50.0])
    *_, best = best_prefix(asked, labels, Combination())
    assert [layer.hop for layer in best.layers] == [0, 1]
    assert next(asked).layers[-1].hop == 5  # the layer behind the third miss was never asked for


def test_auto_depth_ends_even_if_every_layer_helps():
    endless = states_with_stop_losses(map(float, count()))
    *_, best = best_prefix(endless, np.array([0, 1]), Combination())
    assert len(best.layers) == 64


def test_a_fit_that_ended_with_a_perfect_layer_does_not_go_on():
    labels = np.array([0, 1, 2, 0])
    hops = list(as_hops([np.zeros((4, 1))] * 3))
    nodes = LabeledNodes(np.arange(4), labels, np.ones(4))
    boosting = HopBoosting(lambda _: Fixed(answers(labels)), nodes, SAMME)
    with pytest.warns(LayerWarning, match="layer 0 makes no training error"):
        begun = layers_of(boosting, hops)
    assert len(begun) == 1
    with pytest.warns(LayerWarning, match="layer 0 makes no training error"):
        assert layers_of(boosting, hops, 2, begun) == []
