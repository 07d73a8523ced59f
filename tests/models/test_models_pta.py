"""PTA: its labels and predictions against PyTorch Geometric, its loss written out."""

from __future__ import annotations

from dataclasses import replace
from math import e

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started

from adagcn.models import pta
from adagcn.models.support.system import FitContext, resolve

SYSTEM = pta.PTAClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def settings_of(preset="paper", **given):
    return resolve(SYSTEM, preset, None, {"hidden_units": 5, **given})


def trainee(problem, preset="paper", **given):
    settings = settings_of(preset, **given)
    network = pta.PTA(settings, started())
    return network.trainee(problem, settings, torch.Generator().manual_seed(0))


def one_hot(nodes, labels):
    start = np.zeros((23, 3))
    start[nodes, labels] = 1.0
    return start


def soft_labels(inputs, start, teleport=0.1):
    """Return Ỹ by the oracle: the edges of Â have its self-loops."""
    known = start.any(axis=1)
    index, weights = edges(inputs)

    def reset(values):
        values = values.clone()
        values[known] = torch.from_numpy(start)[known]
        return values

    oracle = pyg.LabelPropagation(num_layers=10, alpha=1.0 - teleport)
    return oracle(torch.from_numpy(start), index, edge_weight=weights, post_step=reset).numpy()


def local_proba(network, inputs):
    hidden = (dense(inputs) @ network.hidden + network.hidden_bias).relu()
    return (hidden @ network.output + network.output_bias).softmax(dim=1)


@pytest.mark.parametrize("teleport", [0.1, 0.2])
def test_soft_labels_equal_pytorch_geometric(inputs, problem, teleport):
    start = one_hot(problem.nodes.train_nodes, problem.nodes.labels)
    found = pta.spread_from(inputs, start, settings_of(teleport=teleport))
    expected = soft_labels(inputs, start, teleport)
    np.testing.assert_allclose(found, expected, atol=1e-10, rtol=0)
    known = problem.nodes.train_nodes
    np.testing.assert_array_equal(found[known], start[known])
    others = np.delete(found, known, axis=0).sum(axis=1)
    assert ((others > 0) & (others < 1)).sum() == len(others) - 1
    np.testing.assert_array_equal(found[22], 0.0)  # isolated: no label reaches it


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("teleport", [0.1, 0.2])
def test_predictions_equal_appnp_on_probabilities(inputs, nodes, teleport):
    network = pta.PTA(settings_of(teleport=teleport), started())
    oracle = pyg.APPNP(K=10, alpha=teleport, normalize=False)
    expected = oracle(local_proba(network, inputs), *edges(inputs)).log()
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected)


def loss_by_hand(training, problem, exponent):
    """Return the loss of training: a sum over all nodes, labels reach them or not."""
    start = one_hot(problem.nodes.train_nodes, problem.nodes.labels)
    soft = torch.from_numpy(soft_labels(problem.inputs, start))
    proba = local_proba(training.module, problem.inputs)
    scale = training.settings.loss_scale / 3
    return scale * (soft * proba.detach() ** exponent * -proba.log()).sum()


@pytest.mark.parametrize(
    ("preset", "epoch", "exponent"),
    [
        ("paper", 0, 0.0),  # as PTS
        ("paper", 100 * (e - 1), 1.0),  # as PTD
        ("paper", 50, np.log(1.5)),
        ("pts", 0, 0.0),
        ("pts", 500, 0.0),
        ("ptd", 0, 1.0),
        ("ptd", 500, 1.0),
    ],
)
def test_the_loss_by_hand(problem, preset, epoch, exponent):
    training = trainee(problem, preset)
    assert training.exponent(epoch) == pytest.approx(exponent, abs=1e-12)
    loss = training.soft_labels.loss(training.exponent(epoch))
    expected = loss_by_hand(training, problem, exponent)
    np.testing.assert_allclose(loss.item(), expected.item(), rtol=1e-12)
    parameters = list(training.module.parameters())
    gradients = [torch.autograd.grad(each, parameters) for each in (loss, expected)]
    for mine, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10, rtol=0)


def test_three_steps_by_hand(problem):
    """Adam on the loss with its L2 term written out; the exponent counts epochs from 0."""
    ours, theirs = (trainee(problem, confidence_epochs=2.0) for _ in range(2))
    optimizer = torch.optim.Adam(theirs.module.parameters(), lr=0.1)
    for epoch in range(3):
        list(ours.steps())
        loss = loss_by_hand(theirs, problem, np.log(1 + epoch / 2.0))
        loss = loss + 0.5 * 5e-3 * theirs.module.hidden.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pairs = zip(ours.module.parameters(), theirs.module.parameters(), strict=True)
    for mine, other in pairs:
        np.testing.assert_allclose(mine.detach(), other.detach(), atol=1e-9)


def test_rows_that_no_label_reaches_are_left_out(problem):
    assert trainee(problem).soft_labels.rows.matrix.shape[0] == 22


def test_the_stopping_loss_by_hand(problem):
    stop, labels = problem.nodes.stop_nodes, problem.nodes.stop_labels
    soft = torch.from_numpy(soft_labels(problem.inputs, one_hot(stop, labels)))
    for how, share in (("none", 0.0), ("diluted", 0.25), ("full", 1.0)):
        training = trainee(problem, stop_penalty=how)
        with torch.no_grad():
            proba = local_proba(training.module, problem.inputs)
            expected = 0.05 / 3 * (soft * -proba.log()).sum()
            expected = expected + share * 0.5 * 5e-3 * training.module.hidden.square().sum()
        assert training.evaluate()[1] == pytest.approx(expected.item(), rel=1e-10)


def lively(problem, **given):
    """Return a training whose network starts with predictions of several classes."""
    training = trainee(problem, **given)
    with torch.no_grad():
        training.module.hidden.mul_(20.0)
        training.module.output_bias.zero_()
    return training


def test_the_stopping_accuracy_is_that_of_propagated_or_of_local_predictions(problem):
    # Labels that local predictions get right, some of which propagation changes.
    first = lively(problem).module
    with torch.no_grad():
        local = local_proba(first, problem.inputs).argmax(dim=1).numpy()
        propagated = first(first.view(problem.inputs, ALL)).argmax(dim=1).numpy()
    changed = np.flatnonzero(local != propagated)
    assert len(changed) > 0
    stop = np.setdiff1d(np.union1d(changed, [1, 2]), problem.nodes.train_nodes)
    nodes = replace(problem.nodes, stop_nodes=stop, stop_labels=local[stop])
    there = replace(problem, nodes=nodes)
    found = {
        which: lively(there, stop_predictions=which).evaluate()[0]
        for which in ("propagated", "local")
    }
    assert found["local"] == 1.0
    assert found["propagated"] == (propagated[stop] == local[stop]).mean() < 1.0


@pytest.mark.parametrize("preset", SYSTEM.recipes)
def test_the_best_epoch_is_restored(problem, preset):
    settings = settings_of(preset, max_epochs=80)
    fit = SYSTEM.fit(problem, settings, FitContext())
    kept = fit.network.trainee(problem, settings, torch.Generator()).evaluate()
    assert (fit.record.stop_accuracy, fit.record.stop_loss) == pytest.approx(kept)


def test_stopping_labels_do_not_teach(problem):
    others = replace(problem.nodes, stop_labels=(problem.nodes.stop_labels + 1) % 3)
    settings = settings_of(stop_on="never", max_epochs=5)
    fits = [
        SYSTEM.fit(each, settings, FitContext()).tensors()
        for each in (problem, replace(problem, nodes=others))
    ]
    for name, tensor in fits[0].items():
        np.testing.assert_array_equal(tensor, fits[1][name])


def test_weights_of_nodes_are_weights_of_their_labels(problem):
    weights = np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    heavy = replace(problem, nodes=replace(problem.nodes, sample_weight=weights))
    start = one_hot(problem.nodes.train_nodes, problem.nodes.labels)
    start[problem.nodes.train_nodes] *= 6 * weights[:, None]
    expected = 0.05 / 3 * soft_labels(problem.inputs, start)[:22]
    np.testing.assert_allclose(trainee(heavy).soft_labels.target, expected, atol=1e-10)


def test_certain_predictions_stay_finite(problem):
    fit = SYSTEM.fit(problem, settings_of(max_epochs=1), FitContext())
    with torch.no_grad():
        fit.network.output.mul_(1e4)
    log_proba = fit.log_proba(problem.inputs, ALL)
    assert np.isfinite(log_proba).all()
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1.0)


def test_presets_are_those_of_the_authors():
    names = (
        "n_steps", "teleport", "first_layer_l2", "loss_scale", "confidence_epochs", "dropout",
        "learning_rate", "weight_decay", "max_epochs", "patience", "stop_on", "confidence",
    )  # fmt: skip
    found = {
        (preset, graph): tuple(getattr(resolve(SYSTEM, preset, graph, {}), n) for n in names)
        for preset in SYSTEM.recipes
        for graph in ("cora_ml", "ms_academic")
    }

    def row(teleport, scale, rate, confidence):
        shared = 5e-3, scale, 100.0, 0.0, rate, 0.0, 2000, 100, "ranked", confidence
        return (10, teleport, *shared)

    assert found == {
        ("paper", "cora_ml"): row(0.1, 0.05, 0.1, "growing"),
        ("paper", "ms_academic"): row(0.2, 0.05, 0.1, "growing"),
        ("pts", "cora_ml"): row(0.1, 0.05, 0.01, "none"),
        ("pts", "ms_academic"): row(0.2, 0.05, 0.01, "none"),
        ("ptd", "cora_ml"): row(0.1, 10.0, 0.1, "full"),
        ("ptd", "ms_academic"): row(0.2, 10.0, 0.1, "full"),
    }
    assert resolve(SYSTEM, "paper", None, {}).hidden_units == 64
    assert resolve(SYSTEM, "paper", None, {}).stop_predictions == "propagated"
