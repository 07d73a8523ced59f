"""DeepGCN against PyTorch Geometric's DeepGCNLayer and GCNConv."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started

from adagcn.models import deepgcn

ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = deepgcn.DeepGCNSettings(**{"dropout": 0.0, "hidden_units": 6, **settings})
    network = deepgcn.DeepGCN(values, started())
    generator = torch.Generator().manual_seed(2)
    for parameter in network.parameters():  # scales, shifts and the bias start from constants
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, generator=generator)
    return network


def convolved(inputs, values, weight):
    layer = pyg.GCNConv(*weight.shape, bias=False, normalize=False).double()
    return torch.func.functional_call(layer, {"lin.weight": weight.T}, (values, *edges(inputs)))


def residual(network, inputs, hidden, number):
    weight = network.weights[number]
    convolution = pyg.GCNConv(*weight.shape, bias=False, normalize=False).double()
    norm = torch.nn.LayerNorm(6, dtype=torch.float64)
    block = pyg.DeepGCNLayer(convolution, norm, torch.nn.ReLU(), block="res+")
    mine = {
        "conv.lin.weight": weight.T,
        "norm.weight": network.norms[number - 1].weight,
        "norm.bias": network.norms[number - 1].bias,
    }
    return torch.func.functional_call(block, mine, (hidden, *edges(inputs)))


def dense_block(network, inputs, hidden, number):
    values = network.norms[number - 1](hidden).relu()
    return torch.cat([hidden, convolved(inputs, values, network.weights[number])], dim=1)


BLOCKS = {"residual": residual, "dense": dense_block}


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("n_layers", [1, 2, 4])
@pytest.mark.parametrize("blocks", BLOCKS)
def test_deepgcn_equals_deepgcnlayer(inputs, blocks, n_layers, nodes):
    network = made(blocks=blocks, n_layers=n_layers)
    hidden = convolved(inputs, dense(inputs), network.weights[0])
    for number in range(1, n_layers):
        hidden = BLOCKS[blocks](network, inputs, hidden, number)
    expected = network.norms[-1](hidden).relu() @ network.output + network.bias
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


def test_dense_blocks_grow_and_residual_ones_do_not():
    widths = {b: [len(w) for w in made(blocks=b, n_layers=4).weights] for b in BLOCKS}
    assert widths == {"residual": [9, 6, 6, 6], "dense": [9, 6, 12, 18]}


def test_nothing_is_kept_beside_the_parameters():
    """What is not a parameter is not put back when training stops."""
    assert not list(made().buffers())


def test_l2_is_on_the_first_weights_alone():
    network = made(first_layer_l2=0.5)
    expected = 0.25 * network.weights[0].square().sum()
    torch.testing.assert_close(network.penalty(), expected)
