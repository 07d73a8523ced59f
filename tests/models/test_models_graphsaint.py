"""GraphSAINT: what subgraphs estimate against the exact product and loss."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started
from scipy import sparse

from adagcn.models import graphsaint
from adagcn.models.support.system import GraphInput, resolve

SYSTEM = graphsaint.GraphSAINTClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = SYSTEM.settings(**{"dropout": 0.0, "hidden_units": 5, **settings})
    return SYSTEM.make_network(values, started())


@pytest.mark.parametrize("way", ["view", "training_view"])
def test_the_exact_network_equals_gcnconv(inputs, way):
    network = made()
    layers = []
    for weight in network.weights:
        layers.append(pyg.GCNConv(*weight.shape, bias=False, normalize=False).double())
        layers[-1].lin.weight.data = weight.detach().T.clone()
    hidden = layers[0](dense(inputs), *edges(inputs))
    expected = layers[1](hidden.relu(), *edges(inputs))
    copies = lambda: [layer.lin.weight.grad.T for layer in layers]  # noqa: E731
    assert_equal_to(network, SOME, getattr(network, way)(inputs, SOME), expected, copies)


def test_chances_of_nodes_and_pairs_are_counted_right():
    """All 4³ equally long sequences of three draws from four nodes, by hand."""
    chances = np.array([0.1, 0.2, 0.3, 0.4])
    single, pair = np.zeros(4), np.zeros((4, 4))
    for draws in itertools.product(range(4), repeat=3):
        chance = chances[list(draws)].prod()
        present = np.isin(np.arange(4), draws)
        single += chance * present
        pair += chance * np.outer(present, present)
    np.testing.assert_allclose(graphsaint._presence(chances, 3), single, atol=1e-12)
    matrix = sparse.csr_array(np.ones((4, 4)))
    found = graphsaint._togetherness(matrix, chances, 3).reshape(4, 4)
    np.testing.assert_allclose(found, pair / single[:, None], atol=1e-12)


def estimates(inputs, values, n_samples, n_draws):
    """Return estimates of Â @ values; NaN in rows of nodes that were not drawn."""
    network = made(n_samples=n_samples, n_layers=3)
    sampler = network.training_view(inputs, ALL).sampler
    generator = torch.Generator().manual_seed(0)
    found = np.full((n_draws, *values.shape), np.nan)
    for draw in range(n_draws):
        nodes = sampler.drawn(n_samples, generator)
        found[draw, nodes] = network.subgraph(sampler, nodes).steps[0].matrix @ values[nodes]
    return found


def test_where_a_node_is_drawn_the_mean_of_its_estimates_is_the_product(inputs):
    values = np.random.default_rng(0).normal(size=(23, 2))
    found = estimates(inputs, values, 12, 6_000)
    n_seen = (~np.isnan(found)).sum(axis=0)
    error = np.nanmean(found, axis=0) - inputs.propagator @ values
    spread = np.nanstd(found, axis=0) / n_seen**0.5
    assert (np.abs(error) <= 4.0 * spread + 1e-12).all()
    assert spread.max() > 0.001
    np.testing.assert_allclose(error[22], 0.0, atol=1e-12)  # isolated: never wrong


def star(n_leaves):
    """Return a graph of one node with many neighbors."""
    dense_star = np.zeros((n_leaves + 1, n_leaves + 1))
    dense_star[0, 1:] = dense_star[1:, 0] = 1.0
    features = np.random.default_rng(0).normal(size=(n_leaves + 1, 9))
    return GraphInput(features, sparse.csr_array(dense_star), np.arange(n_leaves + 1))


def test_the_variance_falls_as_one_over_t():
    """One of the t draws was the node itself, so that t − 1 are left for its neighbors."""
    inputs = star(400)
    variances = {}
    for n_samples in (9, 33):
        found = estimates(inputs, inputs.features, n_samples, 4_000)[:, 0]
        variances[n_samples] = np.nanvar(found, axis=0).sum()
    assert variances[9] / variances[33] == pytest.approx(32 / 8, rel=0.2)


def test_the_mean_of_losses_is_the_loss_where_products_are_exact(inputs):
    """Without edges every product is exact, and only the choice of nodes is left to chance."""
    alone = GraphInput(inputs.features, sparse.csr_array((23, 23)), inputs.node_ids)
    network = made(n_samples=3)
    sampler = network.training_view(alone, SOME).sampler
    rng = np.random.default_rng(0)
    target = torch.from_numpy(rng.random((4, 3)))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        exact = -(torch.log_softmax(network(network.view(alone, SOME)), dim=1) * target).sum()
        found = np.array(
            [
                network.subgraph_loss(sampler, sampler.drawn(3, generator), target, None).item()
                for _ in range(3_000)
            ]
        )
    assert abs(found.mean() - exact.item()) < 4.0 * found.std() / 3_000**0.5
    assert found.std() > 0.1


def test_subgraphs_are_drawn_near_the_training_nodes(inputs):
    view = made(n_samples=5).training_view(inputs, np.array([22, 0]))
    near = (inputs.propagator @ inputs.propagator)[[0]].indices
    assert len(view.sampler.chances) == len(set(near) | {22})
    assert sorted(view.sampler.train_row[view.sampler.train_row >= 0]) == [0, 1]


def test_an_epoch_draws_as_many_nodes_as_there_are(inputs):
    target = torch.full((23, 3), 1 / 69, dtype=torch.float64)
    for n_samples, n_steps in ((8, 3), (23, 1), (100, 1)):
        network = made(n_samples=n_samples)
        view = network.training_view(inputs, ALL)
        losses = list(network.losses(view, target, torch.Generator().manual_seed(0)))
        assert len(losses) == n_steps


def test_presets_are_those_of_their_studies():
    paper = resolve(SYSTEM, "paper", "cora_ml", {})
    assert (paper.max_epochs, paper.patience, paper.stop_on) == (10_000, 100, "ranked")
    authors = resolve(SYSTEM, "authors", None, {})
    assert (authors.n_samples, authors.hidden_units, authors.dropout) == (8000, 128, 0.1)
