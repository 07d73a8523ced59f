"""GraphSAGE: the exact network against SAGEConv, and sampled means against the exact ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started
from scipy import sparse

from adagcn.errors import InputError
from adagcn.models import graphsage
from adagcn.models.support.system import GraphInput, resolve

SYSTEM = graphsage.GraphSAGEClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = SYSTEM.settings(**{"dropout": 0.0, "hidden_units": 4, **settings})
    generator = torch.Generator().manual_seed(1)
    network = SYSTEM.make_network(values, started(generator))
    torch.nn.init.uniform_(network.bias, -1.0, 1.0, generator=generator)
    return network


def sage_layers(network):
    """Return SAGEConv layers of width 2d with lin_r = [W_own, 0] and lin_l = [0, W_others]."""
    layers = []
    for weight in network.weights:
        layer = pyg.SAGEConv(*weight.shape, bias=False).double()
        own, others = weight.detach().T.clone(), weight.detach().T.clone()
        own[4:], others[:4] = 0.0, 0.0
        layer.lin_r.weight.data, layer.lin_l.weight.data = own, others
        layers.append(layer)
    return layers


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("way", ["view", "training_view"])
@pytest.mark.parametrize("n_layers", [1, 2, 4])
def test_the_exact_network_equals_sageconv(inputs, n_layers, way, nodes):
    network = made(n_layers=n_layers)
    layers = sage_layers(network)
    index, _ = edges(inputs, inputs.adjacency)
    hidden = layers[0](dense(inputs), index)
    for layer in layers[1:]:
        hidden = layer(hidden.relu(), index)
    output = network.output.detach().clone().requires_grad_()
    bias = network.bias.detach().clone().requires_grad_()
    expected = torch.nn.functional.normalize(hidden, dim=1) @ output + bias

    def copies():
        halves = [
            torch.cat([layer.lin_r.weight.grad[:4], layer.lin_l.weight.grad[4:]]).T
            for layer in layers
        ]
        return [output.grad, bias.grad, *halves]  # a list of parameters comes last

    assert_equal_to(network, nodes, getattr(network, way)(inputs, nodes), expected, copies)


def test_means_are_by_edge_weight_and_of_isolated_nodes_zero(inputs):
    weights = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    graph = GraphInput(np.ones((3, 1)), sparse.csr_array(weights), np.arange(3))
    expected = [[0.0, 0.25, 0.75], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(graphsage.neighbor_means(graph).toarray(), expected)


def test_rows_with_few_neighbors_stay_exact(inputs):
    means = graphsage.neighbor_means(inputs)
    degrees = np.diff(means.indptr)
    drawn = graphsage.draw_neighbors(means, 3, torch.Generator().manual_seed(0))
    few = degrees <= 3
    assert 0 < few.sum() < 22
    np.testing.assert_array_equal(drawn.toarray()[few], means.toarray()[few])
    assert np.diff(drawn.indptr).max() <= 3
    np.testing.assert_allclose(drawn.sum(axis=1), means.sum(axis=1))
    whole = graphsage.draw_neighbors(means, 99, torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(whole.toarray(), means.toarray())


def star():
    """Return the means of three nodes, with 40, 40 and 30 neighbors of different weights."""
    rng = np.random.default_rng(2)
    weights = rng.random((3, 40)) + 0.1
    weights[2, 30:] = 0.0
    return sparse.csr_array(weights / weights.sum(axis=1, keepdims=True))


def test_the_mean_of_estimates_is_the_mean_and_their_variance_falls_as_one_over_t():
    means, values = star(), np.random.default_rng(0).normal(size=(40, 2))
    exact = means @ values
    spread = means @ values**2 - exact**2  # the variance of a single draw
    many = sparse.csr_array(sparse.vstack([means] * 20_000))  # rows are drawn independently
    for fan_out in (2, 8):
        generator = torch.Generator().manual_seed(fan_out)
        drawn = graphsage.draw_neighbors(many, fan_out, generator)
        found = (drawn @ values).reshape(20_000, 3, 2)
        error = np.abs(found.mean(axis=0) - exact) / (found.std(axis=0) / 20_000**0.5)
        assert error.max() < 4.0
        np.testing.assert_allclose(found.var(axis=0), spread / fan_out, rtol=0.06)


def test_a_drawn_field_of_view_with_room_for_all_is_exact(inputs):
    network = made(n_layers=3, fan_out=23, farther_fan_out=23)
    view = network.training_view(inputs, SOME)
    drawn = network.drawn(view, np.array([2, 0]), torch.Generator().manual_seed(0))
    np.testing.assert_allclose(network(drawn).detach(), network(view).detach()[[2, 0]], atol=1e-12)


def test_fan_outs_bound_what_is_looked_at(inputs):
    network = made(fan_out=2, farther_fan_out=1)
    view = network.training_view(inputs, SOME)
    drawn = network.drawn(view, np.arange(4), torch.Generator().manual_seed(0))
    near, far = drawn.steps[1].matrix, drawn.steps[0].matrix
    assert (np.diff(near.indptr).max(), np.diff(far.indptr).max()) == (2, 1)


def test_draws_do_not_depend_on_how_the_graph_is_stored(inputs):
    order = np.random.default_rng(3).permutation(23)
    adjacency = sparse.csr_array(inputs.adjacency[order][:, order])
    twin = GraphInput(inputs.features[order], adjacency, inputs.node_ids[order])
    place = np.argsort(order)
    network = made(fan_out=2, farther_fan_out=2)
    logits = []
    for graph, nodes in ((inputs, SOME), (twin, place[SOME])):
        view = network.training_view(graph, nodes)
        drawn = network.drawn(view, np.arange(4), torch.Generator().manual_seed(5))
        logits.append(network(drawn).detach())
    np.testing.assert_allclose(*logits, atol=1e-12)


def test_the_first_layer_alone_is_penalized():
    network = made(first_layer_l2=0.5)
    expected = 0.25 * network.weights[0].square().sum().item()
    assert network.penalty().item() == pytest.approx(expected)


def test_gradients_are_cut(inputs):
    settings = SYSTEM.settings(learning_rate=0.1)
    network = made()
    optimizer = network.make_optimizer(settings)
    for parameter in network.parameters():
        parameter.grad = torch.full_like(parameter, 100.0)
    optimizer.step()
    assert all(float(p.grad.max()) == 5.0 for p in network.parameters())


def test_a_fan_out_of_zero_is_refused():
    for name in ("fan_out", "farther_fan_out"):
        with pytest.raises(InputError, match=f"{name}: should be greater than or equal to 1"):
            resolve(SYSTEM, "paper", None, {name: 0})


def test_presets_are_those_of_their_studies():
    paper = resolve(SYSTEM, "paper", "cora_ml", {})
    assert (paper.max_epochs, paper.patience, paper.stop_on) == (10_000, 100, "ranked")
    authors = resolve(SYSTEM, "authors", "cora_ml", {})
    sizes = (authors.hidden_units, authors.fan_out, authors.farther_fan_out, authors.batch_size)
    assert sizes == (128, 25, 10, 512)
    assert (authors.dropout, authors.first_layer_l2, authors.learning_rate) == (0.0, 0.0, 0.01)
    assert (authors.max_epochs, authors.stop_on) == (10, "never")
