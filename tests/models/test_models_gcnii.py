"""GCNII against PyTorch Geometric's GCN2Conv."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started

from adagcn.models import gcnii
from adagcn.models.support.system import resolve

SYSTEM = gcnii.GCNIIClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = gcnii.GCNIISettings(**{"dropout": 0.0, "hidden_units": 6, **settings})
    return gcnii.GCNII(values, started())


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("n_layers", [1, 5])
def test_gcnii_equals_gcn2conv(inputs, n_layers, nodes):
    network = made(n_layers=n_layers, teleport=0.15, identity=0.7)
    first = (dense(inputs) @ network.first + network.first_bias).relu()
    hidden = first
    for number, weight in enumerate(network.weights, start=1):
        layer = pyg.GCN2Conv(6, alpha=0.15, theta=0.7, layer=number, normalize=False).double()
        arguments = (hidden, first, *edges(inputs))
        hidden = torch.func.functional_call(layer, {"weight1": weight}, arguments).relu()
    expected = hidden @ network.last + network.last_bias
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected)


def test_every_layer_is_dropped(inputs):
    network = made(dropout=0.5)
    view = network.view(inputs, ALL)
    with torch.no_grad():
        first, again, other = (
            network(view, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
        )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)
    assert not torch.allclose(first, network(view))


def test_both_penalties_are_in_the_loss_and_in_the_decay():
    given = {"convolution_l2": 0.5, "dense_l2": 0.25, "weight_decay": 0.125}
    network = made(**given)
    wanted = {
        name: 0.5 if name.startswith("weights.") else 0.25 for name, _ in network.named_parameters()
    }
    parameters = dict(network.named_parameters())
    total = sum(0.5 * wanted[n] * parameters[n].detach().square().sum() for n in wanted)
    assert network.penalty().item() == pytest.approx(total.item())
    optimizer = network.make_optimizer(resolve(SYSTEM, "paper", None, given))
    decay = {id(p): g["weight_decay"] for g in optimizer.param_groups for p in g["params"]}
    assert decay == {id(parameters[name]): value + 0.125 for name, value in wanted.items()}


def test_the_authors_are_deep():
    names = ("n_layers", "hidden_units", "identity", "dropout", "convolution_l2", "dense_l2")
    found = {
        graph: tuple(getattr(resolve(SYSTEM, "authors", graph, {}), n) for n in names)
        for graph in ("cora", "citeseer", "pubmed")
    }
    assert found == {
        "cora": (64, 64, 0.5, 0.6, 0.01, 5e-4),
        "citeseer": (32, 256, 0.6, 0.7, 0.01, 5e-4),
        "pubmed": (16, 256, 0.4, 0.5, 5e-4, 5e-4),
    }
