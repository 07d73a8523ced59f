"""The perceptron and the ridge of one hop, voting together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.special import log_softmax

from adagcn.boosting.samme import class_scores
from adagcn.learners.blend import SHARE_WITHOUT_STOPPING, SHARES, Blend, BlendFitter
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


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    rows = rng.normal(size=(60, 10)) + rng.normal(size=(3, 10))[labels]
    return HopTask(0, rows[:30], labels[:30], np.full(30, 1 / 30), rows[30:], labels[30:])


def without_stopping(task):
    return replace(task, stop_rows=None, stop_labels=None)


def test_log_probabilities_are_shared_out_and_so_are_votes(fitter, task):
    fit = fitter(task)
    assert isinstance(fit.learner, Blend)
    share = float(fit.learner.share)
    alone = [
        FittedHop(each, fit.record).log_proba(task.rows)
        for each in (fit.learner.perceptron, fit.learner.ridge)
    ]
    mixed = (1.0 - share) * alone[0] + share * alone[1]
    found = fit.log_proba(task.rows)
    np.testing.assert_allclose(found, log_softmax(mixed, axis=1), rtol=0, atol=1e-10)
    votes = (1.0 - share) * class_scores(alone[0]) + share * class_scores(alone[1])
    np.testing.assert_allclose(class_scores(found), votes, rtol=0, atol=1e-9)


def test_both_parts_are_what_they_are_alone(fitter, task):
    fit = fitter(task)
    network, ridge = fitter.network(task), fitter.ridge(task)
    assert torch.equal(fit.learner.perceptron.hidden, network.learner.hidden)
    assert torch.equal(fit.learner.ridge.coefficients, ridge.learner.coefficients)
    assert fit.record.epochs == network.record.epochs


def test_the_share_has_the_lowest_loss_on_the_stopping_rows(fitter, task):
    fit = fitter(task)
    said = [each(task).log_proba(task.stop_rows) for each in (fitter.network, fitter.ridge)]
    places = np.arange(30), task.stop_labels
    losses = [
        -log_softmax((1.0 - s) * said[0] + s * said[1], axis=1)[places].mean() for s in SHARES
    ]
    best = int(np.argmin(losses))
    assert float(fit.learner.share) == SHARES[best]
    assert fit.record.stop_loss == pytest.approx(losses[best], rel=1e-12)
    assert fit.record.stop_loss <= min(losses[0], losses[-1])  # never worse than either alone
    right = fit.log_proba(task.stop_rows).argmax(axis=1) == task.stop_labels
    assert fit.record.stop_accuracy == right.mean()


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
    assert float(network(task).learner.share) == 1.0
    ridge = replace(fitter, ridge=ContraryRidge(3, torch.float64))
    assert float(ridge(task).learner.share) == 0.0


def test_without_stopping_rows_the_share_is_fixed(fitter, task):
    fit = fitter(without_stopping(task))
    assert float(fit.learner.share) == SHARE_WITHOUT_STOPPING
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
        "share",
    }
