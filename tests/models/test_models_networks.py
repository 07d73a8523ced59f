"""Every network against PyTorch Geometric's layers or the dense formula, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started

from adagcn.errors import InputError
from adagcn.learners.inputs import SparseRows
from adagcn.models import appnp, gcn, ppnp
from adagcn.models.support import page_rank
from adagcn.models.support.field_of_view import as_step, field_of_view, spread
from adagcn.propagation.sparse_tensors import torch_csr

GCN = gcn.GCNClassifier.system
GCN_RES = gcn.ResidualGCNClassifier.system
APPNP = appnp.APPNPClassifier.system
PPNP = ppnp.PPNPClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(system, **settings):
    """Return a network of nine features and three classes without dropout."""
    rates = {n: 0.0 for n in system.settings.model_fields if n.endswith("dropout")}
    values = system.settings(**{**rates, **settings})
    return system.make_network(values, started())


def convolutions(network):
    """Return GCNConv layers that hold the network's weights."""
    layers = []
    for weight in network.weights:
        layer = pyg.GCNConv(*weight.shape, bias=False, normalize=False).double()
        layer.lin.weight.data = weight.detach().T.clone()
        layers.append(layer)
    return layers


def pyg_gcn(layers, inputs, residual):
    hidden = layers[0](dense(inputs), *edges(inputs))
    before = None
    for layer in layers[1:]:
        activated = hidden.relu()
        before = activated if before is None or not residual else activated + before
        hidden = layer(before, *edges(inputs))
    return hidden


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("n_layers", [1, 2, 5])
@pytest.mark.parametrize("system", [GCN, GCN_RES], ids=["gcn", "gcn_res"])
def test_gcn_of_any_depth_equals_gcnconv(inputs, system, n_layers, nodes):
    network = made(system, n_layers=n_layers)
    layers = convolutions(network)
    expected = pyg_gcn(layers, inputs, residual=system is GCN_RES)
    copies = lambda: [layer.lin.weight.grad.T for layer in layers]  # noqa: E731
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected, copies)


def test_a_shortcut_changes_networks_of_three_layers_and_no_shallower_ones(inputs):
    for n_layers, same in ((2, True), (3, False)):
        plain, residual = (made(system, n_layers=n_layers) for system in (GCN, GCN_RES))
        logits = [net(net.view(inputs, ALL)).detach().numpy() for net in (plain, residual)]
        assert np.allclose(*logits) == same


def local_logits(network, inputs):
    return (dense(inputs) @ network.hidden).relu() @ network.output


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("n_steps", [1, 3, 10])
def test_appnp_equals_pytorch_geometric(inputs, n_steps, nodes):
    network = made(APPNP, n_steps=n_steps, teleport=0.15)
    oracle = pyg.APPNP(K=n_steps, alpha=0.15, normalize=False)
    expected = oracle(local_logits(network, inputs), *edges(inputs))
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected)


def exact(inputs, teleport):
    system = np.eye(23) - (1 - teleport) * inputs.propagator.toarray()
    return torch.from_numpy(teleport * np.linalg.inv(system))


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("way", ["solve", "dense rows", "solved rows"])
def test_ppnp_equals_the_dense_inverse(inputs, nodes, way, monkeypatch):
    network = made(PPNP, teleport=0.15, tolerance=1e-12)
    monkeypatch.setattr(page_rank, "DENSE_UP_TO", 0 if way == "solved rows" else 600)
    monkeypatch.setattr(page_rank, "COLUMNS_AT_ONCE", 3)
    view = (network.view if way == "solve" else network.training_view)(inputs, nodes)
    expected = exact(inputs, 0.15) @ local_logits(network, inputs)
    assert_equal_to(network, nodes, view, expected)


def test_ppnp_solves_where_its_rows_would_not_fit(inputs, monkeypatch):
    network = made(PPNP, tolerance=1e-12)
    rows = network(network.training_view(inputs, SOME)).detach()
    monkeypatch.setattr(ppnp, "MOST_ENTRIES", 4 * 23 - 1)
    monkeypatch.setattr(ppnp, "page_rank_rows", None)
    solved = network(network.training_view(inputs, SOME)).detach()
    np.testing.assert_allclose(solved, rows, atol=1e-10)


def test_the_adjoint_of_page_rank_is_page_rank(inputs):
    rank = page_rank.PageRank(SparseRows(inputs.propagator), 0.1, 1e-12)
    rng = np.random.default_rng(3)
    u, v = (torch.from_numpy(rng.normal(size=(23, 2))).requires_grad_() for _ in range(2))
    assert float((rank(u) * v).sum().detach()) == pytest.approx(float((u * rank(v)).sum().detach()))
    assert torch.autograd.gradcheck(rank, (u,))


def test_columns_are_solved_as_if_they_were_alone(inputs):
    rank = page_rank.PageRank(SparseRows(inputs.propagator), 0.1, 1e-6)
    signal = torch.from_numpy(np.random.default_rng(3).normal(size=(23, 3)))
    signal[:, 1] = 0.0
    signal[:, 2] = 0.0
    signal[22, 2] = 1.0  # the isolated node: solved in one step
    together = rank(signal)
    for column in range(3):
        alone = rank(signal[:, [column]].contiguous())
        np.testing.assert_allclose(together[:, [column]], alone, atol=1e-12)
    np.testing.assert_array_equal(together[:, 1], 0.0)


def test_conjugate_gradients_stay_within_their_bound(inputs):
    calls = []

    def counted(values):
        calls.append(1)
        return values - 0.9 * torch.from_numpy(inputs.propagator @ values.numpy())

    signal = torch.from_numpy(np.random.default_rng(3).normal(size=(23, 4)))
    page_rank.conjugate_gradients(counted, signal, 1e-10)
    assert len(calls) <= 51


def test_ppnp_refuses_a_directed_graph(inputs):
    adjacency = inputs.adjacency.copy()
    adjacency[0, 1] = 0.0
    directed = type(inputs)(inputs.features, adjacency, inputs.node_ids)
    network = made(PPNP)
    for view in (network.view, network.training_view):
        with pytest.raises(InputError, match=r"graph must be undirected.*Use appnp"):
            view(directed, ALL)


@pytest.mark.parametrize("n_steps", [0, 1, 2, 6])
def test_a_field_of_view_gives_the_rows_of_the_whole_product(inputs, n_steps):
    like = torch.empty(0, dtype=torch.float64)
    view = field_of_view(inputs, SOME, n_steps, like)
    values = torch.from_numpy(view.rows.matrix.toarray())
    expected = inputs.features.toarray()
    np.testing.assert_array_equal(view.brought(values, 0, len(view.inner)), expected[SOME])
    for step in view.steps:
        values, expected = spread(step, values), inputs.propagator @ expected
    np.testing.assert_allclose(values, expected[SOME], atol=1e-12)
    if n_steps == 1:  # nothing but the neighbors is looked at
        assert len(view.rows.matrix.toarray()) < 23


def test_steps_that_see_nothing_new_share_one_matrix(inputs):
    view = field_of_view(inputs, ALL, 6, torch.empty(0, dtype=torch.float64))
    assert len({id(step) for step in view.steps}) == 1
    assert view.inner == (None,) * 6


@pytest.mark.parametrize("n_columns", [2, 40], ids=["few columns", "many columns"])
def test_steps_by_torch_equal_those_by_scipy(inputs, n_columns):
    """Where networks are not on the CPU torch multiplies; here it is made to."""
    matrix = inputs.propagator
    step = torch_csr(matrix)
    draw = torch.Generator().manual_seed(0)
    values = torch.rand(23, n_columns, dtype=torch.float64, generator=draw)
    ours = as_step(matrix, torch.empty(0, dtype=torch.float64))
    np.testing.assert_allclose(spread(step, values), spread(ours, values), atol=1e-12)
    dropped = [spread(each, values, 0.4, torch.Generator().manual_seed(2)) for each in (step, ours)]
    np.testing.assert_allclose(*dropped, atol=1e-12)


def test_dropping_entries_of_the_propagator_keeps_the_mean(inputs):
    step = as_step(inputs.propagator, torch.empty(0, dtype=torch.float64))
    values = torch.from_numpy(np.random.default_rng(0).normal(size=(23, 1)))
    generator = torch.Generator().manual_seed(0)
    draws = torch.stack([spread(step, values, 0.5, generator) for _ in range(4000)])
    error = (draws.mean(dim=0) - spread(step, values)).abs() / (draws.std(dim=0) / 4000**0.5)
    assert float(error.max()) < 4.5
    assert float(draws.std()) > 0.1


def test_appnp_drops_features_hidden_units_and_entries(inputs):
    for rate in ("dropout", "propagator_dropout"):
        network = made(APPNP, **{rate: 0.5})
        view = network.view(inputs, ALL)
        with torch.no_grad():
            first, second = (network(view, torch.Generator().manual_seed(s)) for s in (1, 2))
            again = network(view, torch.Generator().manual_seed(1))
            evaluated = network(view)
        assert torch.equal(first, again)
        assert not torch.allclose(first, second)
        assert not torch.allclose(first, evaluated)
