"""Jumping knowledge against PyTorch Geometric's GCNConv and JumpingKnowledge."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started

from adagcn.models import jk
from adagcn.models.support.system import resolve

SYSTEM = jk.JKClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = jk.JKSettings(
        **{"dropout": 0.0, "propagator_dropout": 0.0, "hidden_units": 6, **settings}
    )
    return jk.JK(values, started())


def convolution(weight):
    layer = pyg.GCNConv(*weight.shape, bias=False, normalize=False).double()
    layer.lin.weight.data = weight.detach().T.clone()
    return layer


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("n_layers", [1, 3])
@pytest.mark.parametrize(("jump", "mode"), [("concatenation", "cat"), ("max", "max")])
def test_jk_equals_pytorch_geometric(inputs, jump, mode, n_layers, nodes):
    network = made(jump=jump, n_layers=n_layers)
    layers = [convolution(weight) for weight in network.weights]
    output = network.output.detach().clone().requires_grad_()
    outputs, hidden = [], dense(inputs)
    for layer in layers:
        hidden = layer(hidden, *edges(inputs)).relu()
        outputs.append(hidden)
    expected = pyg.JumpingKnowledge(mode)(outputs) @ output

    def gradients():
        by_name = {f"weights.{i}": layer.lin.weight.grad.T for i, layer in enumerate(layers)}
        by_name["output"] = output.grad
        return [by_name[name] for name, _ in network.named_parameters()]

    assert_equal_to(network, nodes, network.view(inputs, nodes), expected, gradients)


@pytest.mark.parametrize("rate", ["dropout", "propagator_dropout"])
def test_layers_and_entries_are_dropped(inputs, rate):
    network = made(**{rate: 0.5})
    view = network.view(inputs, ALL)
    with torch.no_grad():
        first, again, other = (
            network(view, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
        )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)
    assert not torch.allclose(first, network(view))


def test_all_weights_are_penalized():
    network = made(l2=0.5)
    total = sum(float(p.detach().square().sum()) for p in network.parameters())
    assert network.penalty().item() == pytest.approx(0.25 * total)


def test_the_papers_preset_is_that_of_ppnps_study():
    found = resolve(SYSTEM, "paper", "cora_ml", {})
    names = ("jump", "n_layers", "hidden_units", "dropout", "l2", "patience", "max_epochs")
    assert tuple(getattr(found, name) for name in names) == (
        "concatenation", 3, 64, 0.5, 1e-3, 100, 10_000,
    )  # fmt: skip
