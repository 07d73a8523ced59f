"""SIGN against its dense formula."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import assert_equal_to, dense, started

from adagcn.models import sign

SYSTEM = sign.SIGNClassifier.system
ALL = np.arange(23)
SOME = np.array([7, 22, 4, 15])


def made(**settings):
    values = SYSTEM.settings(**{"dropout": 0.0, "hidden_units": 5, **settings})
    return SYSTEM.make_network(values, started())


@pytest.mark.parametrize("nodes", [ALL, SOME], ids=["all", "some"])
@pytest.mark.parametrize("way", ["view", "training_view"])
@pytest.mark.parametrize("n_hops", [1, 3, 6])
def test_sign_equals_the_dense_formula(inputs, n_hops, way, nodes):
    network = made(n_hops=n_hops)
    propagator = torch.from_numpy(inputs.propagator.toarray())
    parts = [
        torch.linalg.matrix_power(propagator, hop) @ dense(inputs) @ weight
        for hop, weight in enumerate(network.hops)
    ]
    expected = torch.cat(parts, dim=1).relu() @ network.output
    assert_equal_to(network, nodes, getattr(network, way)(inputs, nodes), expected)


def test_every_hop_is_penalized():
    network = made(n_hops=2, first_layer_l2=0.5)
    expected = 0.25 * sum(weight.square().sum().item() for weight in network.hops)
    assert network.penalty().item() == pytest.approx(expected)


def test_sign_drops_features_and_hidden_units(inputs):
    network = made(dropout=0.5)
    view = network.training_view(inputs, ALL)
    with torch.no_grad():
        first, again, other = (
            network(view, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
        )
        assert torch.equal(first, again)
        assert not torch.allclose(first, other)
        assert not torch.allclose(first, network(view))
