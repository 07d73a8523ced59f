"""GRAND: M against PyTorch Geometric's SSGConv, its epochs written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started
from torch import nn

from adagcn.errors import PresetNotice, ResourceError
from adagcn.models import grand
from adagcn.models.support.network import NetworkTrainee, Start
from adagcn.models.support.system import FitContext, GraphInput, resolve

SYSTEM = grand.GRANDClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])
T = 3


def settings_of(graph="citeseer", **given):
    small = {"n_steps": T, "hidden_units": 5, "hidden_dropout": 0.0}
    return resolve(SYSTEM, "paper", graph, {**small, **given})


def made(**given):
    """Return a network; running statistics of batch normalization are not those of a start."""
    network = grand.GRAND(settings_of(**given), started())
    draw = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for norm in network.norms or ():
            for each in (norm.scale, norm.shift, norm.mean):
                each.normal_(generator=draw)
            norm.variance.uniform_(0.5, 2.0, generator=draw)
    return network


def mean_of_powers(inputs, values):
    """Return M V by the steps of the oracle."""
    oracle = pyg.SSGConv(values.shape[1], values.shape[1], alpha=1 / (T + 1), K=T)
    # Step by step, on the edges of Â: of a graph with self-loops its own ones are others.
    index, weights = edges(inputs)
    total = power = values
    for _ in range(T):
        power = oracle.propagate(index, x=power, edge_weight=weights)
        total = total + power
    return total / (T + 1)


def perceptron(network, values, *, training=False):
    """Return the logits of the authors' perceptron, by torch's own layers."""

    def norm(number, values):
        if network.norms is None:
            return values
        ours = network.norms[number]
        layer = nn.BatchNorm1d(values.shape[1], dtype=torch.float64).train(training)
        layer.running_mean.copy_(ours.mean)
        layer.running_var.copy_(ours.variance)
        return torch.func.functional_call(
            layer, {"weight": ours.scale, "bias": ours.shift}, (values,)
        )

    hidden = (norm(0, values) @ network.hidden + network.hidden_bias).relu()
    return norm(1, hidden) @ network.output + network.output_bias


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("batch_norm", [False, True])
def test_predictions_equal_pytorch_geometric(inputs, nodes, batch_norm):
    network = made(batch_norm=batch_norm)
    expected = perceptron(network, 0.5 * mean_of_powers(inputs, dense(inputs)))
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected)
    expected = perceptron(network, 0.5 * mean_of_powers(inputs, dense(inputs)))
    assert_equal_to(network, nodes, network.training_view(inputs, nodes), expected)


def test_the_oracle_is_ssgconv(inputs):
    """SSGConv as a whole, on a graph whose edges it normalizes as we do: without a self-loop."""
    adjacency = inputs.adjacency.tolil()
    adjacency[4, 4] = 0.0
    plain = GraphInput(inputs.features, adjacency.tocsr(), inputs.node_ids)
    oracle = pyg.SSGConv(9, 9, alpha=1 / (T + 1), K=T).double()
    with torch.no_grad():
        oracle.lin.weight.copy_(torch.eye(9))
        oracle.lin.bias.zero_()
    arcs = plain.adjacency.tocoo()
    index = torch.from_numpy(np.stack([arcs.col, arcs.row]).astype(np.int64))[:, arcs.data != 0]
    view = made().training_view(plain, ALL)
    expected = oracle(dense(plain), index).detach()
    kept = torch.ones(23, 1, dtype=torch.float64)
    np.testing.assert_allclose(view.wide_draw(kept), expected, atol=1e-10, rtol=0)
    rows = view.mean_rows
    rows = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(rows.matrix.toarray())
    np.testing.assert_allclose(rows, expected, atol=1e-10, rtol=0)


def loss_by_hand(network, problem, generator):
    """Return ℓ with M of all nodes and the same draws."""
    nodes, inputs = problem.nodes, problem.inputs
    kept = torch.rand((23, network.n_draws), generator=generator) >= network.node_rate
    proba = []
    for mask in kept.T:
        values = mean_of_powers(inputs, mask[:, None].double() * dense(inputs))
        proba.append(perceptron(network, values, training=True).softmax(dim=1))
    powers = (sum(proba) / len(proba)).detach() ** (1 / network.temperature)
    goal = powers / powers.sum(dim=1, keepdim=True)
    labels = torch.from_numpy(nodes.labels)
    by_draw = [
        nn.functional.nll_loss(each.log()[nodes.train_nodes], labels)
        + network.consistency * (each - goal).square().sum(dim=1).mean()
        for each in proba
    ]
    return sum(by_draw) / len(by_draw)


def losses_of(network, problem):
    view = network.training_view(problem.inputs, problem.nodes.train_nodes)
    target = torch.zeros(6, 3, dtype=torch.float64)
    target[torch.arange(6), torch.from_numpy(problem.nodes.labels)] = 1 / 6
    (loss,) = network.losses(view, target, torch.Generator().manual_seed(7))
    return loss


@pytest.mark.parametrize("how", ["narrow", "wide", "batch_norm"])
@pytest.mark.parametrize("n_draws", [1, 3])
def test_the_loss_by_hand(problem, how, n_draws, monkeypatch):
    network = made(n_draws=n_draws, batch_norm=how == "batch_norm")
    if how == "wide":  # dropout on the input that drops nothing
        monkeypatch.setattr(network, "rates", (1e-12, 0.0))
    copy = made(n_draws=n_draws, batch_norm=how == "batch_norm")
    expected = loss_by_hand(copy, problem, torch.Generator().manual_seed(7))
    loss = losses_of(network, problem)
    assert loss.item() == pytest.approx(expected.item(), abs=1e-10)
    gradients = [
        torch.autograd.grad(each, [p for p in net.parameters() if p.requires_grad])
        for each, net in ((loss, network), (expected, copy))
    ]
    for mine, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10, rtol=0)


def test_one_draw_of_all_nodes_is_a_perceptron_on_the_mean(problem):
    """S = 1, δ = 0, λ = 0: three steps by torch's own perceptron and Adam."""
    given = {"n_draws": 1, "node_dropout": 0.0, "consistency": 0.0, "max_epochs": 3}
    settings = settings_of(stop_on="never", **given)
    network = SYSTEM.fit(problem, settings, FitContext()).network
    start = grand.GRAND(settings, replace(started(), generator=_start_of_a_fit()))
    oracle = nn.Sequential(nn.Linear(9, 5), nn.ReLU(), nn.Linear(5, 3)).double()
    with torch.no_grad():
        oracle[0].weight.copy_(start.hidden.T)
        oracle[0].bias.copy_(start.hidden_bias)
        oracle[2].weight.copy_(start.output.T)
        oracle[2].bias.copy_(start.output_bias)
    optimizer = torch.optim.Adam(oracle.parameters(), lr=0.01, weight_decay=5e-4)
    rows = mean_of_powers(problem.inputs, dense(problem.inputs))[problem.nodes.train_nodes]
    for _ in range(3):
        optimizer.zero_grad()
        logits = oracle(rows)
        nn.functional.cross_entropy(logits, torch.from_numpy(problem.nodes.labels)).backward()
        optimizer.step()
    np.testing.assert_allclose(network.hidden.detach(), oracle[0].weight.T.detach(), atol=1e-10)
    np.testing.assert_allclose(network.output.detach(), oracle[2].weight.T.detach(), atol=1e-10)


def _start_of_a_fit():
    from adagcn.training.random_streams import torch_stream

    return torch_stream(0, "start")


def test_draws_do_not_depend_on_the_order_of_the_nodes(problem):
    order = np.random.default_rng(0).permutation(23)
    place = np.argsort(order)
    inputs = problem.inputs
    shuffled = GraphInput(
        inputs.features[order], inputs.adjacency[order][:, order], inputs.node_ids[order]
    )
    nodes = replace(
        problem.nodes,
        train_nodes=place[problem.nodes.train_nodes],
        stop_nodes=place[problem.nodes.stop_nodes],
    )
    settings = settings_of(max_epochs=5)
    fits = [
        SYSTEM.fit(each, settings, FitContext())
        for each in (problem, replace(problem, inputs=shuffled, nodes=nodes))
    ]
    here, there = (
        fit.log_proba(each, at)
        for fit, each, at in zip(fits, (inputs, shuffled), (ALL, place), strict=True)
    )
    np.testing.assert_allclose(here, there, atol=1e-10)


def test_nodes_are_left_out_at_their_rate_and_not_rescaled(problem):
    network = made(n_draws=4)
    with torch.no_grad():
        network.hidden.zero_()
        network.hidden[:, 0] = 1.0
        network.hidden_bias.zero_()
    view = network.training_view(problem.inputs, ALL)
    kept = torch.ones(23, 1, dtype=torch.float64)
    (whole,) = network._narrow_draws(view, kept)
    np.testing.assert_allclose(whole[:, 0].detach(), view.wide_draw(kept).sum(dim=1), atol=1e-10)
    expected = 0.5 * whole  # what predictions see
    rows = view.mean_rows
    rows = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(rows.matrix.toarray())
    np.testing.assert_allclose(expected[:, 0].detach(), 0.5 * rows.sum(dim=1), atol=1e-10)


def test_sharpening_keeps_the_best_class_and_sums_to_one():
    proba = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    found = grand.sharpened(proba, 0.5)
    np.testing.assert_allclose(found[0], np.array([25, 9, 4]) / 38, atol=1e-6)
    np.testing.assert_allclose(found[1:], proba[1:], atol=1e-6)


def test_running_statistics_are_restored_with_the_best_epoch(problem):
    settings = settings_of(batch_norm=True, max_epochs=30, learning_rate=0.2)
    fit = SYSTEM.fit(problem, settings, FitContext())
    kept = NetworkTrainee(fit.network, problem, settings, torch.Generator()).evaluate()
    assert (fit.record.stop_accuracy, fit.record.stop_loss) == pytest.approx(kept)


def test_the_input_of_stopping_is_computed_once(problem, monkeypatch):
    calls, settings = [], settings_of(max_epochs=4)
    found = grand.hop_rows
    monkeypatch.setattr(grand, "hop_rows", lambda *args: calls.append(1) or found(*args))
    SYSTEM.fit(problem, settings, FitContext())
    assert len(calls) == 1  # that of the stopping nodes; training nodes never ask


def test_presets_are_those_of_the_authors():
    names = (
        "n_steps", "n_draws", "consistency", "sharpening_temperature", "input_dropout",
        "hidden_dropout", "learning_rate", "patience", "batch_norm",
    )  # fmt: skip
    rows = {
        graph: tuple(getattr(resolve(SYSTEM, "paper", graph, {}), name) for name in names)
        for graph in ("cora", "citeseer", "pubmed")
    }
    assert rows == {
        "cora": (8, 4, 1.0, 0.5, 0.5, 0.5, 0.01, 200, False),
        "citeseer": (2, 2, 0.7, 0.3, 0.0, 0.2, 0.01, 200, False),
        "pubmed": (5, 4, 1.0, 0.2, 0.6, 0.8, 0.2, 100, True),
    }
    shared = resolve(SYSTEM, "paper", "cora", {})
    assert (shared.node_dropout, shared.hidden_units, shared.weight_decay) == (0.5, 32, 5e-4)
    assert (shared.max_epochs, shared.stop_on) == (5000, "lowest_loss")
    with pytest.warns(PresetNotice, match="no settings for cora_ml: those of citeseer are used"):
        assert resolve(SYSTEM, "paper", "cora_ml", {}) == resolve(SYSTEM, "paper", "citeseer", {})


def test_the_start_is_uniform_around_zero():
    """The authors' code draws from a normal distribution around −1/√(fan out) instead."""
    settings = settings_of(hidden_units=400)
    start = Start(300, 100, torch.Generator().manual_seed(5), torch.float64)
    network = grand.GRAND(settings, start)
    layers = (
        (network.hidden, network.hidden_bias, 400),
        (network.output, network.output_bias, 100),
    )
    for weight, bias, fan_out in layers:
        bound = fan_out**-0.5
        for values in (weight.detach(), bias.detach()):
            assert values.abs().max() <= bound
            assert values.unique().numel() == values.numel()
            # The mean of n of them, within five of its standard deviations.
            assert abs(values.mean()) < 5 * bound / (3 * values.numel()) ** 0.5
        flat = weight.detach().flatten()
        assert flat.std() == pytest.approx(bound / 3**0.5, rel=0.02)
        shares = torch.histc(flat, bins=10, min=-bound, max=bound) / len(flat)
        assert torch.allclose(shares, torch.full((10,), 0.1, dtype=shares.dtype), atol=0.01)


def test_a_draw_that_cannot_fit_is_refused_before_it_is_taken(problem, monkeypatch):
    network = made(input_dropout=0.5)
    view = network.training_view(problem.inputs, problem.nodes.train_nodes)
    kept = torch.ones(23, 1, dtype=torch.float64)
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", str(8 * 23 * 9 - 1))
    monkeypatch.setattr(torch, "empty", None)
    expected = r"a draw of all 9 features of 23 nodes would take.*got '23 × 9 values'.*batch_norm"
    with pytest.raises(ResourceError, match=expected):
        view.wide_draw(kept)
    monkeypatch.undo()
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", str(8 * 23 * 9))
    assert view.wide_draw(kept).shape == (23, 9)
