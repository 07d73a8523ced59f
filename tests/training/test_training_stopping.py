"""Early stopping, by hand-made traces of (accuracy, loss)."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from adagcn.training.stopping import Stopper, make_stopper


def follow(stopper: Stopper, trace: list[tuple[float, float]]) -> tuple[int, int]:
    """Return the epoch of the stop and the epoch whose parameters come back."""
    learner = nn.Linear(1, 1, bias=False)
    for epoch, (accuracy, loss) in enumerate(trace, start=1):
        with torch.no_grad():
            learner.weight.fill_(epoch)
        if stopper.should_stop(accuracy, loss, learner):
            break
    stopper.restore(learner)
    return epoch, int(learner.weight.item())


def test_ranked_improves_on_either_and_remembers_by_accuracy_then_loss():
    trace = [(0.5, 1.0), (0.6, 1.2), (0.6, 0.9), (0.55, 0.8), (0.5, 0.85), (0.5, 0.85)]
    # epoch 4 improves the loss and refills the patience, but is not remembered
    assert follow(Stopper(2, "ranked"), trace) == (6, 3)


def test_ranked_counts_ties_as_improvement():
    assert follow(Stopper(2, "ranked"), [(0.5, 1.0)] * 10) == (10, 1)


def test_loss_ignores_accuracy():
    trace = [(0.5, 1.0), (0.9, 1.1), (0.4, 0.9), (0.9, 1.0), (0.9, 1.0)]
    assert follow(Stopper(2, "loss"), trace) == (5, 3)


def test_accuracy_ignores_loss_except_among_equals():
    trace = [(0.5, 1.0), (0.5, 0.9), (0.4, 0.1), (0.4, 0.1)]
    assert follow(Stopper(2, "accuracy"), trace) == (4, 2)


def test_kept_state_is_a_copy_that_training_does_not_touch():
    learner = nn.Linear(2, 2)
    stopper = Stopper(5)
    stopper.should_stop(0.5, 1.0, learner)
    kept = [tensor.clone() for tensor in stopper.kept_state]
    with torch.no_grad():
        for parameter in learner.parameters():
            parameter.add_(1.0)
    for before, now in zip(kept, stopper.kept_state, strict=True):
        torch.testing.assert_close(before, now, rtol=0, atol=0)
    stopper.restore(learner)
    for kept_tensor, parameter in zip(kept, learner.parameters(), strict=True):
        torch.testing.assert_close(parameter.data, kept_tensor, rtol=0, atol=0)
        assert parameter.data_ptr() != kept_tensor.data_ptr()


def test_a_stopper_carried_over_after_it_ran_out_waits_for_an_improvement():
    stopper = Stopper(1, "loss")
    learner = nn.Linear(1, 1)
    assert not stopper.should_stop(0.5, 1.0, learner)
    assert stopper.should_stop(0.5, 2.0, learner)
    assert not any(stopper.should_stop(0.5, 2.0, learner) for _ in range(50))
    assert not stopper.should_stop(0.5, 0.5, learner)
    assert stopper.should_stop(0.5, 2.0, learner)


@pytest.mark.parametrize("stop_on", ["ranked", "loss", "accuracy"])
def test_every_rule_remembers_a_first_epoch(stop_on):
    assert follow(Stopper(1, stop_on), [(0.0, 5.0), (0.0, 6.0)])[1] == 1


def test_lowest_loss_improves_on_either_and_remembers_by_loss_alone():
    trace = [(0.5, 1.0), (0.6, 1.2), (0.6, 0.9), (0.7, 0.95), (0.5, 1.0), (0.5, 1.0)]
    # epoch 4 has the best accuracy and refills the patience, but is not remembered
    assert follow(make_stopper("lowest_loss", 2), trace) == (6, 3)
