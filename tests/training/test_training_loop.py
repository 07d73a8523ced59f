from __future__ import annotations

import numpy as np
import pytest
import torch
from oracle import adam, gradients
from scipy import sparse

from adagcn.errors import NumericalError
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.training.events import Events
from adagcn.training.hop_fitter import (
    HopFitter,
    HopTask,
    TrainingRows,
    TrainingSettings,
    in_blocks,
    make_optimizer,
)

N_FEATURES, N_CLASSES, HIDDEN = 12, 3, 8


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def make_learner(**options):
    return TwoLayerPerceptron(
        N_FEATURES,
        N_CLASSES,
        hidden_units=HIDDEN,
        generator=generator(),
        dtype=torch.float64,
        **options,
    )


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, N_FEATURES)) * (rng.random((20, N_FEATURES)) < 0.4)
    labels = rng.integers(N_CLASSES, size=20)
    weight = rng.random(20)
    return rows, labels, weight / weight.sum()


def fit(learner, rows, labels, weight, settings, *, pseudo_labels=None):
    """Train a learner in place, as one hop of a fit does."""
    task = HopTask(0, rows, labels, weight, pseudo_labels=pseudo_labels)
    fitted = HopFitter(lambda *_: learner, settings, seed=1, events=Events())(task)
    assert fitted.learner is learner
    return fitted.record


def evaluate(learner, rows, labels, penalty):
    weight = np.full(len(labels), 1.0 / len(labels))
    task = HopTask(0, rows, labels, weight, stop_rows=rows, stop_labels=labels)
    return TrainingRows(learner, task, "cpu").evaluate(learner, penalty)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_training_equals_the_oracle(problem, form):
    rows, labels, weight = problem
    learner = make_learner(first_layer_l2=0.02)
    start = [p.detach().numpy().squeeze().copy() for p in learner.parameters()]
    fit(learner, form(rows), labels, weight, TrainingSettings(weight_decay=0.01, max_epochs=50))
    onehot = np.eye(N_CLASSES)[labels]
    expected = adam(
        start,
        lambda h, o: gradients(rows, onehot, weight, h, o),
        epochs=50,
        learning_rate=0.01,
        decay=[0.03, 0.01],
    )
    for got, wanted in zip(learner.parameters(), expected, strict=True):
        np.testing.assert_allclose(got.detach().numpy().squeeze(), wanted, rtol=0, atol=1e-11)


def test_l2_as_decay_equals_l2_in_the_loss(problem):
    rows, labels, weight = problem
    learner = make_learner(first_layer_l2=0.5)
    logits = learner(learner.as_input(rows))
    loss = -(torch.log_softmax(logits, 1)[range(20), labels] * torch.from_numpy(weight)).sum()
    plain = torch.autograd.grad(loss, learner.hidden, retain_graph=True)[0]
    whole = torch.autograd.grad(loss + learner.penalty(), learner.hidden)[0]
    decay = learner.decays(0.0)[0]
    torch.testing.assert_close(whole, plain + decay * learner.hidden.detach())


def test_steps_have_the_bits_of_torchs_optimizer_and_go_on_from_carried_moments():
    settings = TrainingSettings(weight_decay=0.01)
    ours, theirs = make_learner(first_layer_l2=0.1), make_learner(first_layer_l2=0.1)
    groups = [
        {"params": [parameter], "weight_decay": decay}
        for parameter, decay in zip(theirs.parameters(), theirs.decays(0.01), strict=True)
    ]
    expected = torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)
    optimizer = make_optimizer(ours, settings)
    draws = generator(3)
    for step in range(6):
        if step == 3:
            optimizer = make_optimizer(ours, settings, optimizer.moments)
        gradients = [
            torch.randn(p.shape, dtype=p.dtype, generator=draws) for p in ours.parameters()
        ]
        optimizer.step(gradients)
        for parameter, gradient in zip(theirs.parameters(), gradients, strict=True):
            parameter.grad = gradient
        expected.step()
    for mine, wanted in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(mine, wanted)


def test_weights_meet_their_own_rows(problem):
    """A row of weight zero leaves no trace; misaligned weights would let it."""
    rows, labels, weight = problem
    weight = weight.copy()
    weight[3] = 0.0
    changed = rows.copy()
    changed[3] = 100.0
    learners = [make_learner(), make_learner()]
    for learner, x in zip(learners, (rows, changed), strict=True):
        fit(learner, x, labels, weight, TrainingSettings(max_epochs=10))
    torch.testing.assert_close(learners[0].hidden, learners[1].hidden, rtol=0, atol=1e-14)
    misaligned = TrainingSettings(max_epochs=10, align_weights=False)
    fit(learners[1], changed, labels, weight, misaligned)
    fit(learners[0], rows, labels, weight, misaligned)
    assert (learners[0].hidden - learners[1].hidden).abs().max() > 1e-3


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_some_at_a_time_are_trained_on_as_all_at_once(problem, form, monkeypatch):
    rows, labels, weight = problem
    learners, losses = [make_learner(), make_learner()], []
    for learner, at_once in zip(learners, (20, 7), strict=True):
        monkeypatch.setattr("adagcn.training.hop_fitter.ROWS_AT_ONCE", at_once)
        fit(learner, form(rows), labels, weight, TrainingSettings(max_epochs=10))
        blocks = in_blocks(learner, form(rows))
        assert len(blocks) == {20: 1, 7: 3}[at_once]
        losses.append(evaluate(learner, form(rows), labels, "none"))
    torch.testing.assert_close(learners[0].hidden, learners[1].hidden, rtol=0, atol=1e-13)
    assert losses[0] == pytest.approx(losses[1], abs=1e-13)


@pytest.mark.parametrize("at_once", [4, 7, 13, 17])
def test_pseudo_labels_in_any_blocks_are_rows_with_targets_of_their_own(
    problem, at_once, monkeypatch
):
    """Unlabeled rows whose targets are one-hot and weighted are labeled rows."""
    rows, labels, weight = problem
    targets = np.eye(N_CLASSES)[labels[13:]] * weight[13:, None]
    settings = TrainingSettings(max_epochs=10)
    learners = [make_learner(), make_learner()]
    fit(learners[0], rows, labels, weight, settings)
    monkeypatch.setattr("adagcn.training.hop_fitter.ROWS_AT_ONCE", at_once)
    fit(learners[1], rows, labels[:13], weight[:13], settings, pseudo_labels=targets)
    torch.testing.assert_close(learners[0].hidden, learners[1].hidden, rtol=0, atol=1e-13)


def test_without_stopping_rows_every_epoch_runs(problem):
    learner = make_learner()
    record = fit(learner, *problem, TrainingSettings(max_epochs=7))
    assert (record.epochs, record.stop_accuracy, record.stop_loss) == (7, None, None)


def test_stop_penalty_is_whole_divided_or_left_out(problem):
    rows, labels, _ = problem
    learner = make_learner(first_layer_l2=0.7)
    penalty = learner.penalty().item()
    none = evaluate(learner, rows, labels, "none")[1]
    assert evaluate(learner, rows, labels, "full")[1] == pytest.approx(none + penalty)
    assert evaluate(learner, rows, labels, "diluted")[1] == pytest.approx(none + penalty / 20)


def test_divergence_is_an_error_that_names_the_learning_rate(problem):
    rows, labels, weight = problem
    settings = TrainingSettings(learning_rate=1e200, max_epochs=50)
    with pytest.raises(NumericalError, match=r"epoch \d+ \(learning_rate=1e\+200\).*AGC-N503"):
        fit(make_learner(), rows, labels, weight, settings)
