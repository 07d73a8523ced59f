"""N-GCN tower by tower against PyTorch Geometric's MixHopConv, and its combinations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from mixhop_oracle import mixhop_block
from pyg_oracle import assert_equal_to, dense, started

from adagcn.errors import InputError
from adagcn.models import ngcn
from adagcn.models.support.powers import SlowingSGD
from adagcn.models.support.system import resolve

SYSTEM = ngcn.NGCNClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    rates = {"dropout": 0.0, "input_dropout": 0.0}
    small = {"n_steps": 3, "n_heads": 2, "hidden_units": 5}
    values = ngcn.NGCNSettings(**{**rates, **small, **settings})
    network = ngcn.NGCN(values, started())
    torch.nn.init.normal_(network.combination, generator=torch.Generator().manual_seed(2))
    return network


def batch_norm(values, shift):
    return torch.nn.functional.batch_norm(values, None, None, None, shift, training=True, eps=1e-3)


def towers(network, inputs):
    """Return the logits of each tower, of all nodes."""
    found = []
    for number, hidden in enumerate(network.hidden.split(5, dim=1)):
        power = number // network.n_heads
        values = mixhop_block(inputs, dense(inputs), hidden, power)
        if network.norm is not None:
            values = batch_norm(values, network.norm.shift[5 * number : 5 * number + 5])
        found.append(mixhop_block(inputs, values.relu(), network.output[number], power))
    return found


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("graph_norm", [False, True])
def test_attention_is_a_mixture_of_the_towers(inputs, nodes, graph_norm):
    network = made(graph_norm=graph_norm)
    if graph_norm:
        torch.nn.init.normal_(network.norm.shift, generator=torch.Generator().manual_seed(3))
    shares = network.combination.softmax(dim=0)
    logits = towers(network, inputs)
    proba = sum(s * t.softmax(dim=1) for s, t in zip(shares, logits, strict=True))
    assert_equal_to(network, nodes, network.view(inputs, nodes), proba.log())


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
def test_fully_connected_is_a_map_of_all_towers(inputs, nodes):
    network = made(combination="fully_connected")
    joined = torch.cat(towers(network, inputs), dim=1).relu()
    expected = torch.log_softmax(joined @ network.combination, dim=1)
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected)


@pytest.mark.parametrize("joint", [True, False])
def test_the_loss_is_that_of_the_mixture_and_of_every_tower(inputs, joint):
    network = made(joint=joint)
    weights = torch.tensor([[0.4], [0.3], [0.2], [0.1]])
    target = torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0]] * weights
    (loss,) = network.losses(network.view(inputs, SOME), target, torch.Generator())
    logits = [tower[SOME] for tower in towers(network, inputs)]
    shares = network.combination.softmax(dim=0)
    seen = [tower if joint else tower.detach() for tower in logits]
    mixture = sum(s * t.softmax(dim=1) for s, t in zip(shares, seen, strict=True)).log()
    every = [mixture, *(torch.log_softmax(tower, dim=1) for tower in logits)]
    expected = -sum((each * target).sum() for each in every)
    assert loss.item() == pytest.approx(expected.item(), abs=1e-10)
    gradients = [torch.autograd.grad(each, list(network.parameters())) for each in (loss, expected)]
    for mine, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10)


def test_the_loss_of_the_mixture_may_stand_alone(inputs):
    network = made(tower_loss=False)
    target = torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0]] / 4
    (loss,) = network.losses(network.view(inputs, SOME), target, torch.Generator())
    shares = network.combination.softmax(dim=0)
    logits = [tower[SOME] for tower in towers(network, inputs)]
    mixture = sum(s * t.softmax(dim=1) for s, t in zip(shares, logits, strict=True)).log()
    expected = -(mixture * target).sum()
    assert loss.item() == pytest.approx(expected.item(), abs=1e-10)
    gradients = [torch.autograd.grad(each, list(network.parameters())) for each in (loss, expected)]
    for mine, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10)
    with pytest.raises(InputError, match="leaves no loss that the GCNs could learn from"):
        made(joint=False, tower_loss=False)


def test_a_later_setting_is_named_only_where_it_is_used():
    """Runs and files of before it was there keep their keys."""
    assert "tower_loss" not in resolve(SYSTEM, "paper", None, {}).flat()
    assert resolve(SYSTEM, "paper", None, {"tower_loss": False}).flat()["tower_loss"] is False
    assert ngcn.NGCNClassifier.completed({"n_heads": 2}) == {"n_heads": 2, "tower_loss": True}


@pytest.mark.parametrize("rate", ["dropout", "input_dropout"])
def test_features_and_hidden_units_are_dropped(inputs, rate):
    network = made(**{rate: 0.5})
    view = network.view(inputs, ALL)
    with torch.no_grad():
        first, again, other = (
            network(view, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
        )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)
    assert not torch.allclose(first, network(view))


def test_presets_are_those_of_their_studies():
    paper = resolve(SYSTEM, "paper", "cora_ml", {})
    names = ("combination", "n_heads", "n_steps", "hidden_units", "dropout", "l2", "optimizer")
    found = tuple(getattr(paper, name) for name in names)
    assert found == ("attention", 4, 4, 16, 0.5, 1e-5, "adam")
    authors = resolve(SYSTEM, "authors", "cora_ml", {})
    network = ngcn.NGCN(authors, started())
    optimizer = network.make_optimizer(authors)
    assert isinstance(optimizer, SlowingSGD)
    assert (paper.graph_norm, authors.graph_norm) == (False, True)
    assert (authors.joint, authors.max_epochs, authors.patience) == (False, 400, 200)
