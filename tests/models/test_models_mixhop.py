"""MixHop against PyTorch Geometric's MixHopConv, and the authors' gradient descent."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from mixhop_oracle import mixhop_block
from pyg_oracle import assert_equal_to, dense, started

from adagcn.errors import InputError
from adagcn.models import mixhop
from adagcn.models.support.powers import SlowingSGD
from adagcn.models.support.system import resolve

SYSTEM = mixhop.MixHopClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])
WIDTHS = [("4/4/4", "1/1/1"), ("5/3/2", "0/1/2"), ("0/4", "1/0/1/1"), ("6", "2")]


def made(hidden_widths="5/3/2", output_slices="0/1/2", **settings):
    rates = {"dropout": 0.0, "input_dropout": 0.0, "graph_norm": False}
    values = mixhop.MixHopSettings(
        hidden_widths=hidden_widths, output_slices=output_slices, **{**rates, **settings}
    )
    network = mixhop.MixHop(values, started())
    torch.nn.init.normal_(network.mixture, generator=torch.Generator().manual_seed(2))
    return network


def layer(inputs, values, weight, widths):
    """Return the layer power by power: MixHopConv has one width for all of its powers."""
    blocks = weight.split(widths, dim=1)
    found = [mixhop_block(inputs, values, block, p) for p, block in enumerate(blocks) if widths[p]]
    return torch.cat(found, dim=1)


def batch_norm(values, shift):
    return torch.nn.functional.batch_norm(values, None, None, None, shift, training=True, eps=1e-3)


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize(("hidden", "slices"), WIDTHS)
@pytest.mark.parametrize("graph_norm", [False, True])
def test_mixhop_equals_mixhopconv(inputs, hidden, slices, nodes, graph_norm):
    network = made(hidden, slices, graph_norm=graph_norm)
    values = layer(inputs, dense(inputs), network.hidden, network.hidden_widths)
    if graph_norm:
        torch.nn.init.normal_(network.norm.shift, generator=torch.Generator().manual_seed(3))
        values = batch_norm(values, network.norm.shift)
    found = layer(inputs, values.relu(), network.output, network.output_widths)
    shares = network.mixture.softmax(dim=0)
    expected = sum(s * part for s, part in zip(shares, found.split(3, dim=1), strict=True))
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected)


def test_the_mixture_is_penalized_in_the_loss(inputs):
    network = made()
    view = network.view(inputs, SOME)
    target = torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0]] / 4
    (loss,) = network.losses(view, target, torch.Generator())
    expected = -(torch.log_softmax(network(view), dim=1) * target).sum()
    expected = expected + 1e-3 * network.mixture.square().mean()
    assert loss.item() == pytest.approx(expected.item(), abs=1e-12)


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


def test_gradient_descent_slows_by_a_hundredth_of_its_start_every_forty_steps():
    value = torch.nn.Parameter(torch.tensor(0.0, dtype=torch.float64))
    optimizer = SlowingSGD([{"params": [value], "weight_decay": 0.0}], 2.0)
    gone = []
    for _ in range(4100):
        before = value.item()
        value.grad = torch.ones_like(value)
        optimizer.step()
        gone.append(before - value.item())
    expected = [2.0 * (1 - step // 40 / 100) for step in range(4000)] + [0.0] * 100
    np.testing.assert_allclose(gone, expected, atol=1e-9)


def test_gradient_descent_decays_the_same_parameters_as_adam():
    network = made(l2=0.25)
    settings = resolve(SYSTEM, "authors", None, {"weight_decay": 0.5, "l2": 0.25})
    optimizer = network.make_optimizer(settings)
    assert isinstance(optimizer, SlowingSGD)
    decay = {id(p): g["weight_decay"] for g in optimizer.param_groups for p in g["params"]}
    wanted = {"hidden": 0.75, "output": 0.75, "mixture": 0.5}
    assert network.norm is None
    assert decay == {id(getattr(network, name)): value for name, value in wanted.items()}
    adam = network.make_optimizer(resolve(SYSTEM, "paper", None, {}))
    assert isinstance(adam, torch.optim.Adam)


@pytest.mark.parametrize("text", ["", "24/", "a/b", "-1/2", "0/0", "2.5", "²/1"])
def test_widths_that_are_none_are_refused(text):
    for name in ("hidden_widths", "output_slices"):
        with pytest.raises(InputError, match=f"{name}: should be a whole number for each power"):
            resolve(SYSTEM, "paper", None, {name: text})


def test_widths_are_the_authors_own():
    for preset in ("paper", "authors"):
        found = {
            graph: resolve(SYSTEM, preset, graph, {})
            for graph in ("cora", "cora_ml", "citeseer", "pubmed", None)
        }
        widths = {graph: (s.hidden_widths, s.output_slices) for graph, s in found.items()}
        assert widths == {
            "cora": ("24/18/18", "0/1/1"),
            "cora_ml": ("24/18/18", "0/1/1"),
            "citeseer": ("20/20/20", "1/1/1"),
            "pubmed": ("17/23/20", "1/2/1"),
            None: ("20/20/20", "1/1/1"),
        }
    rates = {g: (s.learning_rate, s.l2, s.optimizer) for g, s in found.items()}
    assert rates["citeseer"] == (0.25, 0.1, "slowing_sgd")
    assert rates["pubmed"] == (0.5, 0.01, "slowing_sgd")
    assert rates["cora"] == (1.0, 0.01, "slowing_sgd")
