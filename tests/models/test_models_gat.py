"""Graph attention against PyTorch Geometric's GATConv, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started

from adagcn.models import gat
from adagcn.models.gat import (
    arcs_of,
    gathered_sums,
    softmax_by_center,
    weighted_sums,
)
from adagcn.models.support.field_of_view import as_step
from adagcn.models.support.system import resolve
from adagcn.propagation.sparse_tensors import torch_csr

SYSTEM = gat.GATClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    rates = {"dropout": 0.0, "attention_dropout": 0.0, "value_dropout": 0.0}
    values = gat.GATSettings(**{**rates, "n_heads": 4, "hidden_units": 5, **settings})
    network = gat.GAT(values, started())
    for bias in (network.hidden_bias, network.output_bias):  # they start from zero
        torch.nn.init.normal_(bias, generator=torch.Generator().manual_seed(2))
    return network


def pyg_layer(layer, bias, *, concat):
    n_in, n_out = layer.weight.shape
    n_units = n_out // layer.n_heads
    copy = pyg.GATConv(n_in, n_units, heads=layer.n_heads, concat=concat, negative_slope=0.2)
    copy = copy.double()
    copy.lin.weight.data = layer.weight.detach().T.clone()
    copy.att_dst.data = layer.center.detach()[None].clone()
    copy.att_src.data = layer.neighbor.detach()[None].clone()
    copy.bias.data = bias.detach().clone()
    return copy


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("output_heads", [1, 3])
def test_gat_equals_gatconv(inputs, nodes, output_heads):
    network = made(output_heads=output_heads)
    first = pyg_layer(network.hidden, network.hidden_bias, concat=True)
    second = pyg_layer(network.output, network.output_bias, concat=False)
    arcs, _ = edges(inputs, inputs.adjacency)
    expected = second(torch.nn.functional.elu(first(dense(inputs), arcs)), arcs)

    def gradients():
        by_name = {}
        for name, layer in (("hidden", first), ("output", second)):
            by_name[f"{name}_bias"] = layer.bias.grad
            by_name[f"{name}.weight"] = layer.lin.weight.grad.T
            by_name[f"{name}.center"] = layer.att_dst.grad[0]
            by_name[f"{name}.neighbor"] = layer.att_src.grad[0]
        return [by_name[name] for name, _ in network.named_parameters()]

    assert_equal_to(network, nodes, network.view(inputs, nodes), expected, gradients)


@pytest.fixture
def arcs(inputs):
    like = torch.empty(0, dtype=torch.float64)
    return arcs_of(as_step(inputs.propagator, like), 3)


def drawn(*shape):
    values = np.random.default_rng(len(shape)).normal(size=shape)
    return torch.from_numpy(values).requires_grad_()


def test_sums_by_matrix_equal_sums_arc_by_arc(arcs):
    weights, values = drawn(len(arcs.centers), 3), drawn(23, 3, 2)
    by_matrix, by_arc = (f(arcs, weights, values) for f in (weighted_sums, gathered_sums))
    np.testing.assert_allclose(by_matrix.detach(), by_arc.detach(), atol=1e-12)
    probe = drawn(23, 3, 2).detach() ** 2
    pairs = [torch.autograd.grad((s * probe).sum(), (weights, values)) for s in (by_matrix, by_arc)]
    for mine, other in zip(*pairs, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)


def test_arcs_of_a_step_by_torch_are_those_by_scipy(inputs, arcs):
    other = arcs_of(torch_csr(inputs.propagator), 3)
    for name in ("centers", "neighbors", "pointers", "block_pointers", "block_columns"):
        np.testing.assert_array_equal(getattr(other, name), getattr(arcs, name))
    assert (other.n_neighbors, other.n_centers) == (23, 23)


def test_shares_sum_to_one_however_large_the_scores(arcs):
    scores = drawn(len(arcs.centers), 3)
    scores = torch.where(arcs.centers[:, None] % 2 == 0, scores * 1e4, scores - 1e4)
    shares = softmax_by_center(arcs, scores).detach().numpy()
    totals = np.zeros((23, 3))
    np.add.at(totals, arcs.centers.numpy(), shares)
    np.testing.assert_allclose(totals, 1.0)


def test_features_values_and_attention_are_dropped(inputs):
    for rate in ("dropout", "attention_dropout", "value_dropout"):
        network = made(**{rate: 0.5})
        view = network.view(inputs, ALL)
        with torch.no_grad():
            first, again, other = (
                network(view, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
            )
            evaluated = network(view)
        assert torch.equal(first, again)
        assert not torch.allclose(first, other)
        assert not torch.allclose(first, evaluated)


def test_only_the_first_weight_is_penalized():
    network = made(first_layer_l2=0.5)
    expected = 0.25 * network.hidden.weight.detach().square().sum()
    assert network.penalty().item() == pytest.approx(expected.item())


def test_presets_are_those_of_their_studies():
    names = ("learning_rate", "first_layer_l2", "weight_decay", "max_epochs", "stop_on")
    found = {
        (preset, graph): tuple(getattr(resolve(SYSTEM, preset, graph, {}), n) for n in names)
        for preset in ("paper", "authors")
        for graph in ("cora_ml", "pubmed")
    }
    paper = (0.01, 0.01, 0.0, 10_000, "ranked")
    assert found == {
        ("paper", "cora_ml"): paper,
        ("paper", "pubmed"): paper,
        ("authors", "cora_ml"): (0.005, 0.0, 5e-4, 100_000, "both"),
        ("authors", "pubmed"): (0.01, 0.0, 1e-3, 100_000, "both"),
    }
    assert resolve(SYSTEM, "authors", "pubmed", {}).output_heads == 8
    assert resolve(SYSTEM, "paper", "pubmed", {}).output_heads == 1
    rates = {p: resolve(SYSTEM, p, None, {}).value_dropout for p in SYSTEM.recipes}
    assert rates == {"paper": 0.0, "authors": 0.6}
