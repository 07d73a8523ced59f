"""FastGCN: the exact network against GCNConv, and what is drawn against the exact product."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started
from scipy import sparse

from adagcn.models import fastgcn
from adagcn.models.support.sampling import batch_loss, batches
from adagcn.models.support.system import GraphInput, resolve

SYSTEM = fastgcn.FastGCNClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = SYSTEM.settings(**{"dropout": 0.0, "hidden_units": 5, **settings})
    return SYSTEM.make_network(values, started())


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("way", ["view", "training_view"])
@pytest.mark.parametrize("n_layers", [1, 2, 4])
def test_the_exact_network_equals_gcnconv(inputs, n_layers, way, nodes):
    network = made(n_layers=n_layers)
    layers = []
    for weight in network.weights:
        layers.append(pyg.GCNConv(*weight.shape, bias=False, normalize=False).double())
        layers[-1].lin.weight.data = weight.detach().T.clone()
    hidden = layers[0](dense(inputs), *edges(inputs))
    for layer in layers[1:]:
        hidden = layer(hidden.relu(), *edges(inputs))
    copies = lambda: [layer.lin.weight.grad.T for layer in layers]  # noqa: E731
    assert_equal_to(network, nodes, getattr(network, way)(inputs, nodes), hidden, copies)


def test_where_all_columns_are_drawn_nothing_is_estimated(inputs):
    for n_layers in (1, 2, 3):
        network = made(n_layers=n_layers, n_samples=23)
        view = network.training_view(inputs, SOME)
        drawn = network.drawn(view, np.array([2, 0]), torch.Generator().manual_seed(0))
        expected = network(view).detach()[[2, 0]]
        np.testing.assert_allclose(network(drawn).detach(), expected, atol=1e-12)


def estimates(matrix, values, n_samples, n_draws, seed=0):
    """Return many estimates of matrix @ values."""
    sizes = np.asarray(matrix.power(2).sum(axis=0))
    generator = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(n_draws):
        step, columns = fastgcn.draw_columns(matrix, sizes, n_samples, generator)
        assert len(columns) <= n_samples
        found.append(step @ values[columns])
    return np.stack(found)


def test_the_mean_of_estimates_is_the_product_and_their_variance_falls_as_one_over_t(inputs):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(23, 2))
    exact = inputs.propagator @ values
    variances = {}
    for n_samples in (2, 8):
        found = estimates(inputs.propagator, values, n_samples, 4_000)
        error = np.abs(found.mean(axis=0) - exact) / (found.std(axis=0) / 4_000**0.5)
        assert error.max() < 4.0
        variances[n_samples] = found.var(axis=0).sum()
    assert variances[2] / variances[8] == pytest.approx(4.0, rel=0.1)


def test_the_variance_is_that_of_squared_column_norms():
    """With q ∝ ‖R(:,u)‖², Σ var = (‖R‖² Σ_u ‖H(u)‖² − ‖RH‖²) / t; any other q has another one."""
    rng = np.random.default_rng(1)
    matrix = sparse.csr_array(rng.normal(size=(10, 30)) * np.geomspace(0.5, 3.0, 30))
    values = rng.normal(size=(30, 3))
    found = estimates(matrix, values, 4, 4_000)
    exact = matrix @ values
    expected = (matrix.power(2).sum() * (values**2).sum() - (exact**2).sum()) / 4
    assert found.var(axis=0).sum() == pytest.approx(expected, rel=0.05)


def test_the_chances_are_by_squared_columns_of_the_propagator(inputs):
    smoothed = made(n_layers=3).training_view(inputs, ALL).smoothed
    expected = (inputs.propagator.toarray() ** 2).sum(axis=0)
    for sizes in smoothed.column_sizes:
        np.testing.assert_allclose(sizes, expected)


def test_only_columns_that_the_rows_use_are_drawn(inputs):
    rows = inputs.propagator[[22, 0]]
    used = np.unique(rows.indices)
    sizes = np.ones(23)
    _, columns = fastgcn.draw_columns(rows, sizes, 2, torch.Generator().manual_seed(0))
    assert set(columns) <= set(used)


def test_a_deeper_estimate_of_a_linear_network_is_unbiased(inputs, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "relu", lambda values: values)
    network = made(n_layers=3, n_samples=4)
    view = network.training_view(inputs, SOME)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        exact = network(view).numpy()
        found = np.stack(
            [network(network.drawn(view, np.arange(4), generator)).numpy() for _ in range(2000)]
        )
    error = np.abs(found.mean(axis=0) - exact) / (found.std(axis=0) / 2000**0.5 + 1e-12)
    assert error.max() < 4.0
    assert found.std() > 0.01


def test_batches_hold_every_node_once_and_the_last_may_be_smaller():
    found = list(batches(10, 4, torch.Generator().manual_seed(0)))
    assert [len(batch) for batch in found] == [4, 4, 2]
    assert sorted(torch.cat(found).tolist()) == list(range(10))
    assert torch.cat(found).tolist() != list(range(10))


def test_losses_of_batches_have_the_whole_loss_as_their_mean():
    rng = np.random.default_rng(0)
    logits, target = (torch.from_numpy(rng.random((6, 3))) for _ in range(2))
    whole = batch_loss(logits, target, torch.arange(6))
    expected = -(torch.log_softmax(logits, dim=1) * target).sum()
    assert whole.item() == pytest.approx(expected.item())
    pairs = [torch.tensor(pair) for pair in ([3, 1], [0, 5], [4, 2])]
    parts = [batch_loss(logits[pair], target, pair).item() for pair in pairs]
    assert np.mean(parts) == pytest.approx(whole.item())


def test_an_epoch_has_a_step_for_every_batch_even_if_it_is_not_full(inputs):
    network = made(batch_size=4)
    nodes = np.arange(6)
    view = network.training_view(inputs, nodes)
    target = torch.full((6, 3), 1 / 18, dtype=torch.float64)
    assert len(list(network.losses(view, target, torch.Generator().manual_seed(0)))) == 2
    assert len(list(made().losses(view, target, torch.Generator().manual_seed(0)))) == 1


def test_draws_do_not_depend_on_how_the_graph_is_stored(inputs):
    order = np.random.default_rng(3).permutation(23)
    adjacency = sparse.csr_array(inputs.adjacency[order][:, order])
    twin = GraphInput(inputs.features[order], adjacency, inputs.node_ids[order])
    place = np.argsort(order)
    network = made(n_samples=3)
    logits = []
    for graph, nodes in ((inputs, SOME), (twin, place[SOME])):
        view = network.training_view(graph, nodes)
        drawn = network.drawn(view, np.arange(4), torch.Generator().manual_seed(5))
        logits.append(network(drawn).detach())
    np.testing.assert_allclose(*logits, atol=1e-12)


def test_presets_are_those_of_their_studies():
    paper = resolve(SYSTEM, "paper", "cora_ml", {})
    assert (paper.max_epochs, paper.patience, paper.stop_on) == (10_000, 100, "ranked")
    authors = resolve(SYSTEM, "authors", "cora_ml", {})
    assert (authors.hidden_units, authors.batch_size, authors.n_samples) == (16, 20, 400)
    assert (authors.dropout, authors.first_layer_l2, authors.learning_rate) == (0.0, 5e-4, 0.01)
    assert (authors.max_epochs, authors.patience, authors.stop_on) == (100, 10, "window")
