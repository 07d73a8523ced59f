"""Mini-batches: where they are the full batch, and where they agree with it on average."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adagcn.learners.linear import LinearLearner
from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.training import hop_fitter
from adagcn.training.batches import batches, is_full
from adagcn.training.events import Events
from adagcn.training.hop_fitter import HopFitter, HopTask, TrainingSettings

N, D, K = 37, 6, 3


def task(pseudo=0):
    rng = np.random.default_rng(0)
    weight = rng.random(N)
    targets = None
    if pseudo:
        targets = rng.dirichlet(np.ones(K), pseudo) * 0.02
    return HopTask(
        hop=1,
        rows=rng.standard_normal((N + pseudo, D)),
        labels=rng.integers(0, K, N),
        sample_weight=weight / weight.sum(),
        pseudo_labels=targets,
    )


def fitter(batch_size, epochs=6, rate=0.05, **settings):
    def make(generator, n_features):
        return TwoLayerPerceptron(
            n_features, K, hidden_units=5, generator=generator, dtype=torch.float64
        )

    how = TrainingSettings(max_epochs=epochs, learning_rate=rate, batch_size=batch_size, **settings)
    return HopFitter(make, how, 0, Events())


def parameters(batch_size, given, **how):
    fitted = fitter(batch_size, **how)(given)
    return torch.cat([part.detach().ravel() for part in fitted.learner.parameters()])


@pytest.mark.parametrize("size", [N, N + 1, 10**9])
def test_a_batch_of_all_rows_is_the_full_batch_to_the_bit(size):
    assert torch.equal(parameters(size, task()), parameters("all", task()))
    assert is_full(size, N)


def test_smaller_batches_are_another_fit_and_a_repeatable_one():
    once, again = parameters(8, task(5)), parameters(8, task(5))
    assert torch.equal(once, again)
    assert not torch.equal(once, parameters("all", task(5)))
    assert not torch.equal(once, parameters(9, task(5)))


def test_every_row_is_in_one_batch_of_an_epoch_and_orders_differ():
    generator = torch.Generator().manual_seed(3)
    epochs = [list(batches(N, 8, generator)) for _ in range(2)]
    for parts in epochs:
        assert sorted(torch.cat([rows for rows, _ in parts]).tolist()) == list(range(N))
        assert [len(rows) for rows, _ in parts] == [8, 8, 8, 8, 5]
        assert [factor for _, factor in parts] == [N / 8] * 4 + [N / 5]
        assert all((rows.diff() > 0).all() for rows, _ in parts)
    assert not torch.equal(epochs[0][0][0], epochs[1][0][0])


@pytest.mark.parametrize("pseudo", [0, 5])
def test_the_mean_gradient_of_batches_is_that_of_all_rows(pseudo):
    """Over the batches of an epoch, weighted by their sizes, it is so exactly."""
    given, generator = task(pseudo), torch.Generator().manual_seed(0)
    learner = LinearLearner(D, K, generator=generator, dtype=torch.float64)
    rows = hop_fitter.TrainingRows(learner, given, "cpu")
    like = learner(rows.blocks[0]).detach()
    (whole,) = rows.targets(rows.weight, like)
    _, (expected,) = learner.loss_gradients(rows.blocks[0], whole, generator)
    mean = torch.zeros_like(expected)
    for some, factor in batches(rows.n_rows, 8, generator):
        target = rows.target(some, rows.weight, like) * factor
        _, (gradient,) = learner.loss_gradients(rows.blocks[0][some], target, generator)
        mean += gradient * len(some) / rows.n_rows
    torch.testing.assert_close(mean, expected, rtol=1e-12, atol=1e-12)


def test_batches_reach_the_minimum_of_the_full_batch():
    """Near a minimum, small steps of either kind end at the same loss."""
    given = task()
    how = {"epochs": 400, "rate": 0.01, "weight_decay": 0.05}
    found = [fitter(size, **how)(given).log_proba(given.rows) for size in ("all", 12)]
    losses = [-(given.sample_weight * p[np.arange(N), given.labels]).sum() for p in found]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_a_batch_larger_than_a_block_is_summed_over_blocks(monkeypatch):
    expected = parameters(20, task(4))
    monkeypatch.setattr(hop_fitter, "ROWS_AT_ONCE", 7)
    torch.testing.assert_close(parameters(20, task(4)), expected, rtol=1e-9, atol=1e-9)


def test_the_weights_of_the_released_code_are_shuffled_in_batches_too():
    once = parameters(8, task(), align_weights=False)
    assert torch.equal(once, parameters(8, task(), align_weights=False))
    assert not torch.equal(once, parameters(8, task()))
