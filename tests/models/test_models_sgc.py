"""SGC against PyTorch Geometric's SGConv, and its two ways of multiplying with Â."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, edges, pyg, started

from adagcn.models import sgc
from adagcn.models.support.field_of_view import hop_rows
from adagcn.models.support.system import FitContext, resolve

SYSTEM = sgc.SGCClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = SYSTEM.settings(**settings)
    generator = torch.Generator().manual_seed(1)
    network = SYSTEM.make_network(values, started(generator))
    torch.nn.init.uniform_(network.bias, -1.0, 1.0, generator=generator)
    return network


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("way", ["view", "precomputed", "in the epoch"])
@pytest.mark.parametrize("n_layers", [1, 2, 7])
def test_sgc_equals_sgconv(inputs, n_layers, way, nodes):
    network = made(n_layers=n_layers, precompute=way == "precomputed")
    layer = pyg.SGConv(9, 3, K=n_layers, add_self_loops=False).double()
    layer.lin.weight.data = network.weight.detach().T.clone()
    layer.lin.bias.data = network.bias.detach().clone()
    hidden = dense(inputs)
    for _ in range(n_layers):  # SGConv would normalize our Â again
        hidden = layer.propagate(edges(inputs)[0], x=hidden, edge_weight=edges(inputs)[1])
    expected = layer.lin(hidden)
    view = (network.view if way == "view" else network.training_view)(inputs, nodes)
    copies = lambda: [layer.lin.weight.grad.T, layer.lin.bias.grad]  # noqa: E731
    assert_equal_to(network, nodes, view, expected, copies)


def test_precomputed_steps_are_not_left_to_the_epochs(inputs):
    assert made(n_layers=5).training_view(inputs, SOME).steps == ()
    assert len(made(n_layers=5, precompute=False).training_view(inputs, SOME).steps) == 5


def test_both_ways_train_the_same_model(problem):
    settings = {"max_epochs": 50, "n_layers": 3}
    fits = [
        SYSTEM.fit(
            problem,
            resolve(SYSTEM, "paper", None, {"precompute": precompute, **settings}),
            FitContext(),
        )
        for precompute in (True, False)
    ]
    assert fits[0].record.epochs == fits[1].record.epochs
    log_proba = [fit.log_proba(problem.inputs, ALL) for fit in fits]
    np.testing.assert_allclose(*log_proba, atol=1e-9)


@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
def test_hop_rows_are_rows_of_the_powers(inputs, nodes, form):
    given = inputs.features if form == "sparse" else inputs.features.toarray()
    graph = type(inputs)(given, inputs.adjacency, inputs.node_ids)
    expected = inputs.features.toarray()
    for rows in hop_rows(graph, nodes, 4):
        plain = rows if isinstance(rows, np.ndarray) else rows.toarray()
        np.testing.assert_allclose(plain, expected[nodes], atol=1e-12)
        expected = inputs.propagator @ expected


def test_hop_rows_are_sparse_where_few_entries_are_filled(inputs):
    thin = np.zeros((23, 40))
    thin[:, 0] = 1.0
    graph = type(inputs)(thin, inputs.adjacency, inputs.node_ids)
    assert all(not isinstance(rows, np.ndarray) for rows in hop_rows(graph, SOME, 2))
    assert isinstance(hop_rows(inputs, ALL, 4)[-1], np.ndarray)


def test_presets_are_those_of_their_studies():
    paper = resolve(SYSTEM, "paper", "cora_ml", {})
    assert (paper.max_epochs, paper.patience, paper.stop_on) == (10_000, 100, "ranked")
    found = {name: resolve(SYSTEM, "authors", name, {}) for name in ("cora", "citeseer", "pubmed")}
    assert {(each.n_layers, each.learning_rate, each.stop_on) for each in found.values()} == {
        (2, 0.2, "never")
    }
    assert [each.max_epochs for each in found.values()] == [100, 150, 100]
    assert [each.weight_decay for each in found.values()] == [1.3027e-5, 2.3546e-5, 7.4039e-5]
