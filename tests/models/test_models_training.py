"""Stopping rules, the training loop and the presets."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from pyg_oracle import started

from adagcn.errors import FormatError, InputError, NumericalError
from adagcn.models import appnp, gcn, ppnp
from adagcn.models.support.network import train_network
from adagcn.models.support.system import FitContext, resolve
from adagcn.training.random_streams import torch_stream
from adagcn.training.stopping import make_stopper

GCN = gcn.GCNClassifier.system
GCN_ES = gcn.EarlyStoppedGCNClassifier.system
GCN_RES = gcn.ResidualGCNClassifier.system
APPNP = appnp.APPNPClassifier.system
PPNP = ppnp.PPNPClassifier.system
NOTHING = torch.nn.Linear(1, 1)


def stops_at(stopper, accuracies, losses):
    for epoch, (accuracy, loss) in enumerate(zip(accuracies, losses, strict=True), start=1):
        if stopper.should_stop(accuracy, loss, NOTHING):
            return epoch
    return None


def test_the_window_stops_above_the_mean_of_the_losses_before():
    def first_stop(window, losses):
        return stops_at(make_stopper("window", window), [0.5] * len(losses), losses)

    assert first_stop(3, [3, 2, 1, 9, 9]) == 5  # as in GCN's code, not before epoch window + 2
    assert first_stop(3, [0, 3, 2, 1, 2.1]) == 5
    assert first_stop(3, [0, 3, 2, 1, 2.0, 1.66, 1.55]) is None
    assert first_stop(3, [0, 3, 2, 1, 2.0, 1.66, 1.56]) == 7
    assert first_stop(10, [1, 2, 3, 4, 5, 6]) is None


def test_never_goes_on():
    assert stops_at(make_stopper("never", 1), [0.1] * 4, [1, 2, 3, 4]) is None


def test_both_keeps_the_epoch_that_is_best_in_both():
    stopper = make_stopper("both", 2)
    layer = torch.nn.Linear(1, 1)
    kept = []
    for value, (accuracy, loss) in enumerate([(0.5, 1.0), (0.6, 0.9), (0.7, 0.95), (0.7, 0.9)]):
        torch.nn.init.constant_(layer.weight, value)
        assert not stopper.should_stop(accuracy, loss, layer)
        kept.append((stopper.kept_accuracy, stopper.kept_loss))
    assert kept == [(0.5, 1.0), (0.6, 0.9), (0.6, 0.9), (0.7, 0.9)]
    assert [stopper.should_stop(0.6, 1.0, layer) for _ in range(2)] == [False, True]
    torch.nn.init.constant_(layer.weight, 9.0)
    stopper.restore(layer)
    assert layer.weight.item() == 3.0


def network(system, settings, seed=0):
    return system.make_network(settings, started(torch_stream(seed, "start")))


def fitted(problem, system, preset="paper", **given):
    settings = resolve(system, preset, None, given)
    return system.fit(problem, settings, FitContext())


def stop_result(network, problem):
    logits = network(network.view(problem.inputs, problem.nodes.stop_nodes))
    labels = torch.from_numpy(problem.nodes.stop_labels)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss = loss + 0.5 * 5e-4 * network.weights[0].square().sum()
    return (logits.argmax(dim=1) == labels).double().mean().item(), loss.item()


@pytest.mark.parametrize("stop_on", ["ranked", "loss", "accuracy", "both", "window", "never"])
def test_the_record_is_that_of_the_parameters_kept(problem, stop_on):
    fit = fitted(problem, GCN, stop_on=stop_on, max_epochs=60, patience=15)
    with torch.no_grad():
        accuracy, loss = stop_result(fit.network, problem)
    assert fit.record.stop_accuracy == pytest.approx(accuracy)
    assert fit.record.stop_loss == pytest.approx(loss)
    assert fit.record.epochs <= 60


def test_without_stopping_nodes_every_epoch_is_run(problem):
    nodes = type(problem.nodes)(
        problem.nodes.train_nodes, problem.nodes.labels, problem.nodes.sample_weight
    )
    alone = type(problem)(problem.inputs, nodes, 3)
    fit = fitted(alone, GCN, max_epochs=40)
    assert (fit.record.epochs, fit.record.stop_accuracy) == (40, None)


def test_the_decay_is_the_gradient_of_the_penalty(problem):
    """Ten steps by the loop equal ten steps on the loss with the penalty written out."""
    settings = resolve(
        GCN_ES,
        "paper",
        None,
        {"dropout": 0.0, "max_epochs": 10, "stop_on": "never"},
    )
    ours, theirs = (network(GCN_ES, settings) for _ in range(2))
    train_network(ours, problem, settings, FitContext())
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.01)
    labels = torch.from_numpy(problem.nodes.labels)
    for _ in range(10):
        logits = theirs(theirs.view(problem.inputs, problem.nodes.train_nodes))
        loss = torch.nn.functional.cross_entropy(logits, labels)
        loss = loss + 0.5 * 0.02 * theirs.weights[0].square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for mine, other in zip(ours.weights, theirs.weights, strict=True):
        np.testing.assert_allclose(mine.detach(), other.detach(), atol=1e-10)


def test_the_weights_of_nodes_are_weights_in_the_loss(problem):
    settings = resolve(GCN, "paper", None, {"dropout": 0.0})
    net = network(GCN, settings)
    view = net.view(problem.inputs, problem.nodes.train_nodes)
    weights = np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    target = torch.zeros(6, 3, dtype=torch.float64)
    target[torch.arange(6), torch.from_numpy(problem.nodes.labels)] = torch.from_numpy(weights)
    (loss,) = net.losses(view, target, torch.Generator())
    log_proba = torch.log_softmax(net(view), dim=1).detach().numpy()
    expected = -(weights * log_proba[np.arange(6), problem.nodes.labels]).sum()
    assert loss.item() == pytest.approx(expected)


def test_a_loss_that_runs_away_is_told(problem):
    with pytest.raises(NumericalError, match="not a finite number at epoch"):
        fitted(problem, GCN, learning_rate=1e300, n_layers=3)


def test_log_probabilities_come_in_the_order_of_the_positions(problem):
    fit = fitted(problem, GCN, max_epochs=1)
    positions = np.array([7, 3, 22, 3])
    with torch.no_grad():
        logits = fit.network(fit.network.view(problem.inputs, np.arange(23)))
    expected = torch.log_softmax(logits, dim=1)[positions]
    np.testing.assert_allclose(fit.log_proba(problem.inputs, positions), expected, atol=1e-12)


def test_tensors_that_do_not_fit_are_refused(problem):
    fit = fitted(problem, GCN, max_epochs=1)
    settings = resolve(GCN, "paper", None, {})
    tensors = fit.tensors()
    back = GCN.restore(tensors, settings, 9, 3)
    nodes = np.array([3, 3, 22])
    np.testing.assert_array_equal(
        back.log_proba(problem.inputs, nodes), fit.log_proba(problem.inputs, nodes)
    )
    for wrong in ({}, {**tensors, "more": np.ones(1)}, {**tensors, "weights.0": np.ones((2, 2))}):
        with pytest.raises(FormatError, match="do not fit the model"):
            GCN.restore(wrong, settings, 9, 3)


RULES = ("max_epochs", "patience", "stop_on")


@pytest.mark.parametrize(
    ("system", "preset", "expected"),
    [
        (GCN, "paper", (200, 10, "window", 16, 0.5, 5e-4)),
        (GCN, "authors", (200, 10, "window", 16, 0.5, 5e-4)),
        (GCN_ES, "paper", (10_000, 100, "ranked", 64, 0.5, 0.02)),
        (GCN_ES, "authors", (10_000, 100, "ranked", 16, 0.5, 5e-4)),
        (GCN_RES, "paper", (10_000, 100, "ranked", 16, 0.5, 5e-4)),
        (GCN_RES, "authors", (400, 100, "never", 16, 0.5, 5e-4)),
        (APPNP, "paper", (10_000, 100, "ranked", 64, 0.5, 5e-3)),
        (APPNP, "authors", (10_000, 100, "ranked", 64, 0.5, 5e-3)),
        (APPNP, "adagcn_paper", (500, 300, "ranked", 64, 0.5, 5e-3)),
        (PPNP, "paper", (10_000, 100, "ranked", 64, 0.5, 5e-3)),
        (PPNP, "adagcn_paper", (500, 300, "ranked", 64, 0.5, 5e-3)),
    ],
)
def test_presets_are_those_of_their_studies(system, preset, expected):
    found = resolve(system, preset, "cora_ml", {})
    names = (*RULES, "hidden_units", "dropout", "first_layer_l2")
    assert tuple(getattr(found, name) for name in names) == expected
    assert (found.learning_rate, found.weight_decay, found.stop_penalty) == (0.01, 0.0, "full")


@pytest.mark.parametrize("system", [APPNP, PPNP], ids=["appnp", "ppnp"])
def test_teleport_is_larger_on_ms_academic(system):
    for preset in system.recipes:
        assert resolve(system, preset, "ms_academic", {}).teleport == 0.2
        assert resolve(system, preset, "cora_ml", {}).teleport == 0.1
        assert resolve(system, preset, "ms_academic", {"teleport": 0.3}).teleport == 0.3


def test_only_the_papers_appnp_drops_from_the_propagator():
    rates = {p: resolve(APPNP, p, None, {}).propagator_dropout for p in APPNP.recipes}
    assert rates == {"paper": 0.5, "authors": 0.0, "adagcn_paper": 0.0}


def test_wrong_settings_are_named():
    with pytest.raises(InputError, match=r"teleport: should be greater than 0; got 0\.0"):
        resolve(APPNP, "paper", None, {"teleport": 0.0})
    with pytest.raises(InputError, match=r"n_step: .*Did you mean n_steps"):
        resolve(APPNP, "paper", None, {"n_step": 3})
    with pytest.raises(InputError, match=r"preset must be one of paper, authors, adagcn_paper"):
        resolve(APPNP, "tuned", None, {})


def test_pytorch_geometric_is_not_imported_by_the_models():
    program = (
        "import sys; from adagcn.models import MODELS; found = list(MODELS.values());"
        "sys.exit('torch_geometric' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
