"""The perceptron and the ridge of one hop, voting together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.special import log_softmax

from adagcn.boosting.samme import class_scores
from adagcn.learners.blend import (
    SHARE_WITHOUT_STOPPING,
    SHARES,
    TEMPERATURES,
    Blend,
    BlendFitter,
)
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.learners.ridge import RidgeFitter
from adagcn.training.events import Events
from adagcn.training.hop_fitter import FittedHop, HopFitter, HopTask, TrainingSettings


def make_learner(generator, n_features):
    return TwoLayerPerceptron(
        n_features, 3, hidden_units=8, generator=generator, dtype=torch.float64
    )


@pytest.fixture
def fitter():
    network = HopFitter(make_learner, TrainingSettings(max_epochs=12), 0, Events(()))
    return BlendFitter(network, RidgeFitter(3, torch.float64))


def drawn(seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(60) % 3
    rows = rng.normal(size=(60, 10)) + rng.normal(size=(3, 10))[labels]
    return HopTask(0, rows[:30], labels[:30], np.full(30, 1 / 30), rows[30:], labels[30:])


@pytest.fixture
def task():
    return drawn(0)


def without_stopping(task):
    return replace(task, stop_rows=None, stop_labels=None)


def test_log_probabilities_are_shared_out_and_so_are_votes(fitter, task):
    fit = fitter(task)
    assert isinstance(fit.learner, Blend)
    shares = fit.learner.shares.tolist()
    alone = [
        FittedHop(each, fit.record).log_proba(task.rows)
        for each in (fit.learner.perceptron, fit.learner.ridge)
    ]
    mixed = shares[0] * alone[0] + shares[1] * alone[1]
    found = fit.log_proba(task.rows)
    np.testing.assert_allclose(found, log_softmax(mixed, axis=1), rtol=0, atol=1e-10)
    votes = shares[0] * class_scores(alone[0]) + shares[1] * class_scores(alone[1])
    np.testing.assert_allclose(class_scores(found), votes, rtol=0, atol=1e-9)


def test_both_parts_are_what_they_are_alone(fitter, task):
    fit = fitter(task)
    network, ridge = fitter.network(task), fitter.ridge(task)
    assert torch.equal(fit.learner.perceptron.hidden, network.learner.hidden)
    assert torch.equal(fit.learner.ridge.coefficients, ridge.learner.coefficients)
    assert fit.record.epochs == network.record.epochs


def test_the_parts_are_the_two_in_the_order_of_their_pseudo_labels(fitter, task):
    fit = fitter(task)
    assert [each.learner for each in fit.parts] == [fit.learner.perceptron, fit.learner.ridge]
    for part, alone in zip(fit.parts, (fitter.network(task), fitter.ridge(task)), strict=True):
        np.testing.assert_array_equal(part.log_proba(task.rows), alone.log_proba(task.rows))


def stopping_loss(task, log_p):
    return -log_softmax(log_p, axis=1)[np.arange(30), task.stop_labels].mean()


def test_first_the_temperature_then_the_share_with_the_lowest_stopping_loss(fitter):
    longer = HopFitter(make_learner, TrainingSettings(max_epochs=60), 0, Events(()))
    fitter, task = replace(fitter, network=longer), drawn(2)
    fit = fitter(task)
    said = [each(task).log_proba(task.stop_rows) for each in (fitter.network, fitter.ridge)]
    alone = [stopping_loss(task, said[0] / t) for t in TEMPERATURES]
    scale = 1.0 / TEMPERATURES[int(np.argmin(alone))]
    losses = [stopping_loss(task, (1.0 - s) * scale * said[0] + s * said[1]) for s in SHARES]
    best = int(np.argmin(losses))
    assert 0 < best < 10  # both have a say, or the test says little
    assert scale != 1.0
    expected = [(1.0 - SHARES[best]) * scale, SHARES[best]]
    np.testing.assert_allclose(fit.learner.shares.tolist(), expected, rtol=1e-12)
    assert fit.record.stop_loss == pytest.approx(losses[best], rel=1e-12)
    assert fit.record.stop_loss <= min(*alone, losses[-1])  # never worse than either alone
    right = fit.log_proba(task.stop_rows).argmax(axis=1) == task.stop_labels
    assert fit.record.stop_accuracy == right.mean()


@pytest.mark.parametrize(("times", "temperature"), [(0.01, min(TEMPERATURES)), (50.0, 2.0)])
def test_a_timid_perceptron_is_made_surer_and_a_bold_one_less_sure(
    fitter, task, times, temperature
):
    def network(task):
        fit = fitter.network(task)
        with torch.no_grad():
            fit.learner.output.mul_(times)
        return fit

    contrary = ContraryRidge(3, torch.float64)  # so that the perceptron votes alone
    shares = BlendFitter(network, contrary)(task).learner.shares.tolist()
    np.testing.assert_allclose(shares, [1.0 / temperature, 0.0], rtol=1e-12)


def test_each_is_taught_by_its_own_pseudo_labels(fitter, task):
    rng = np.random.default_rng(1)
    own = rng.dirichlet(np.ones(3), size=(2, 10)) * (0.6 / 10)
    rows = np.vstack([task.rows, rng.normal(size=(10, 10))])
    taught = replace(
        task, rows=rows, sample_weight=task.sample_weight * 0.4, pseudo_labels=own, hop=1
    )
    fit = fitter(taught)
    network = fitter.network(replace(taught, pseudo_labels=own[0]))
    ridge = fitter.ridge(replace(taught, pseudo_labels=own[1]))
    assert torch.equal(fit.learner.perceptron.hidden, network.learner.hidden)
    assert torch.equal(fit.learner.ridge.coefficients, ridge.learner.coefficients)
    swapped = fitter(replace(taught, pseudo_labels=own[::-1].copy()))
    assert not torch.equal(swapped.learner.perceptron.hidden, fit.learner.perceptron.hidden)
    assert not torch.equal(swapped.learner.ridge.coefficients, fit.learner.ridge.coefficients)


def opposite(fit, parameter):
    """Let a fit say the opposite of what it learned."""
    with torch.no_grad():
        getattr(fit.learner, parameter).neg_()
    return fit


class ContraryRidge(RidgeFitter):
    def __call__(self, task):
        return opposite(super().__call__(task), "coefficients")


def test_a_part_that_says_the_opposite_gets_no_share(fitter, task):
    network = replace(fitter, network=lambda task: opposite(fitter.network(task), "output"))
    assert network(task).learner.shares.tolist() == [0.0, 1.0]
    ridge = replace(fitter, ridge=ContraryRidge(3, torch.float64))
    assert ridge(task).learner.shares[0] > 0.0
    assert ridge(task).learner.shares[1] == 0.0


def test_without_stopping_rows_the_share_is_fixed(fitter, task):
    fit = fitter(without_stopping(task))
    expected = [1.0 - SHARE_WITHOUT_STOPPING, SHARE_WITHOUT_STOPPING]
    assert fit.learner.shares.tolist() == expected
    assert fit.record.stop_loss is None
    assert fit.record.epochs == 12


def test_the_next_hop_starts_from_the_perceptron_alone(fitter, task):
    task = without_stopping(task)
    first = fitter(task)
    second = fitter(replace(task, hop=1, previous=first))
    alone = fitter.network(replace(task, hop=1, previous=fitter.network(task)))
    assert torch.equal(second.learner.perceptron.hidden, alone.learner.hidden)
    assert torch.equal(second.learner.perceptron.output, alone.learner.output)
    afresh = fitter(replace(task, hop=1))
    assert not torch.equal(second.learner.perceptron.hidden, afresh.learner.perceptron.hidden)


def test_sparse_rows_say_what_dense_ones_say(fitter, task):
    fit = fitter(task)
    dense, thin = fit.log_proba(task.rows), fit.log_proba(sparse.csr_array(task.rows))
    np.testing.assert_allclose(thin, dense, rtol=0, atol=1e-10)


def test_only_the_networks_are_trained_by_epochs(fitter, task):
    fit = fitter(task)
    assert len(fit.learner.members()) == 1
    assert fitter.ridge(task).learner.members() == []
    assert fit.left_out is None  # a network cannot tell
    assert not any(p.requires_grad for p in fit.learner.ridge.parameters())
    assert set(fit.learner.state_dict()) == {
        "perceptron.hidden",
        "perceptron.output",
        "ridge.coefficients",
        "shares",
    }
