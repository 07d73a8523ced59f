"""DAGNN against the dense formula: powers of Â, one gate for every node and step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, started

from adagcn.models import dagnn
from adagcn.models.support.system import resolve

SYSTEM = dagnn.DAGNNClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = dagnn.DAGNNSettings(**{"dropout": 0.0, **settings})
    return dagnn.DAGNN(values, started())


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("n_steps", [1, 6])
def test_dagnn_equals_the_dense_formula(inputs, n_steps, nodes):
    network = made(n_steps=n_steps)
    local = (dense(inputs) @ network.hidden + network.hidden_bias).relu()
    local = local @ network.output + network.output_bias
    powers = [np.linalg.matrix_power(inputs.propagator.toarray(), k) for k in range(n_steps + 1)]
    stacked = torch.stack([torch.from_numpy(power) @ local for power in powers], dim=1)
    gates = torch.sigmoid(stacked @ network.gate + network.gate_bias)
    expected = (gates.transpose(1, 2) @ stacked).squeeze(1)
    assert_equal_to(network, nodes, network.view(inputs, nodes), expected)


def test_features_and_hidden_units_are_dropped(inputs):
    network = made(dropout=0.5)
    view = network.view(inputs, ALL)
    with torch.no_grad():
        first, again, other = (
            network(view, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
        )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)
    assert not torch.allclose(first, network(view))


def test_presets_are_the_authors_sizes():
    names = ("n_steps", "hidden_units", "dropout", "l2", "learning_rate")
    for preset in ("paper", "authors"):
        found = {
            graph: tuple(getattr(resolve(SYSTEM, preset, graph, {}), n) for n in names)
            for graph in ("cora", "citeseer", "pubmed")
        }
        assert found == {
            "cora": (10, 64, 0.8, 5e-3, 0.01),
            "citeseer": (10, 64, 0.5, 0.02, 0.01),
            "pubmed": (20, 64, 0.8, 5e-3, 0.01),
        }
