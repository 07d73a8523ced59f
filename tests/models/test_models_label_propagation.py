"""Label propagation against PyTorch Geometric, and how its known nodes are found again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import edges, pyg
from scipy import sparse

from adagcn.errors import FormatError
from adagcn.models import label_propagation as lp
from adagcn.models.support.known_nodes import KnownNodes
from adagcn.models.support.label_spreading import normalized_adjacency, spread_labels
from adagcn.models.support.system import FitContext, GraphInput, resolve

SYSTEM = lp.LabelPropagationClassifier.system
ALL = np.arange(23)
SHARES = [0.15, 0.45, 0.4]


@pytest.fixture
def problem(problem):
    """The problem with training nodes of different weights."""
    nodes = problem.nodes
    weights = np.array([0.05, 0.1, 0.2, 0.25, 0.3, 0.1])
    nodes = type(nodes)(
        nodes.train_nodes, nodes.labels, weights, nodes.stop_nodes, nodes.stop_labels
    )
    return type(problem)(problem.inputs, nodes, 3)


def fitted(problem, **given):
    settings = resolve(SYSTEM, "paper", None, given)
    return SYSTEM.fit(problem, settings, FitContext())


@pytest.mark.parametrize("n_steps", [1, 4, 50])
def test_spreading_equals_pytorch_geometric(inputs, problem, n_steps):
    start = np.zeros((23, 3))
    start[problem.nodes.train_nodes, problem.nodes.labels] = 1.0
    oracle = pyg.LabelPropagation(num_layers=n_steps, alpha=0.85)
    matrix = normalized_adjacency(inputs.adjacency)
    index, weights = edges(inputs, matrix)
    ours = spread_labels(matrix, start, 0.15, n_steps)
    # Once with our normalization, once with the oracle's own, which is in float32.
    for edge_weight, tolerance in ((weights, 1e-10), (None, 1e-6)):
        expected = oracle(
            torch.from_numpy(start), index, edge_weight=edge_weight, post_step=lambda x: x
        )
        np.testing.assert_allclose(ours, expected, atol=tolerance, rtol=0)


def test_probabilities_are_shares_of_what_arrives(inputs, problem):
    fit = fitted(problem, n_steps=3, teleport=0.2)
    start = np.zeros((23, 3))
    start[problem.nodes.train_nodes, problem.nodes.labels] = problem.nodes.sample_weight
    dense = normalized_adjacency(inputs.adjacency).toarray()
    scores = start
    for _ in range(3):
        scores = 0.8 * dense @ scores + 0.2 * start
    reached = scores.sum(axis=1) > 0
    expected = scores[reached] / scores[reached].sum(axis=1, keepdims=True)
    found = np.exp(fit.log_proba(inputs, ALL))
    np.testing.assert_allclose(found[reached], expected, atol=1e-10)
    # Node 22 is isolated: all that is known is how frequent the classes are.
    assert not reached[22]
    np.testing.assert_allclose(found[22], SHARES, atol=1e-10)


def test_heavier_nodes_spread_more(inputs, problem):
    heavy = type(problem.nodes)(
        problem.nodes.train_nodes,
        problem.nodes.labels,
        np.where(problem.nodes.labels == 0, 10.0, 1.0),
        problem.nodes.stop_nodes,
        problem.nodes.stop_labels,
    )
    weighed = type(problem)(inputs, heavy, 3)
    plain, moved = (
        np.exp(fitted(each).log_proba(inputs, ALL))[:, 0] for each in (problem, weighed)
    )
    assert (moved >= plain - 1e-12).all()
    assert moved.mean() > plain.mean() + 0.05


def test_the_record_measures_the_stopping_nodes(problem):
    fit = fitted(problem)
    found = fit.log_proba(problem.inputs, problem.nodes.stop_nodes).argmax(axis=1)
    assert fit.record.stop_accuracy == (found == problem.nodes.stop_labels).mean()


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(23) * 7 - 40,
        np.array([f"é{i:02d}\n" for i in range(23)]),
        np.array([10**30 + i for i in range(23)], dtype=object),
        np.arange(23).astype(np.uint64) + np.uint64(2**63),
    ],
    ids=["int64", "text", "large", "uint64"],
)
def test_known_nodes_of_any_id_come_back_and_are_found_in_another_graph(inputs, problem, ids):
    named = GraphInput(inputs.features, inputs.adjacency, ids)
    fit = fitted(type(problem)(named, problem.nodes, 3))
    back = SYSTEM.restore(fit.tensors(), fit.settings, 9, 3)
    order = np.random.default_rng(0).permutation(23)
    twin = GraphInput(
        inputs.features[order], sparse.csr_array(inputs.adjacency[order][:, order]), ids[order]
    )
    np.testing.assert_allclose(
        back.log_proba(twin, np.argsort(order)), fit.log_proba(named, ALL), atol=1e-12
    )


def test_a_graph_without_the_known_nodes_has_only_their_shares(inputs, problem):
    fit = fitted(problem)
    for ids in (ALL + 100, np.array([f"n{i}" for i in ALL])):
        other = GraphInput(inputs.features, inputs.adjacency, ids)
        np.testing.assert_allclose(
            np.exp(fit.log_proba(other, ALL)), np.tile(SHARES, (23, 1)), atol=1e-10
        )


def test_known_nodes_that_do_not_fit_are_refused(problem):
    good = KnownNodes.of(problem).tensors()
    broken = [
        {},
        {**good, "seed_ids": np.frombuffer(b"[1, 2", dtype=np.uint8)},
        {**good, "seed_ids": np.frombuffer(b"[1, 2]", dtype=np.uint8)},
        {**good, "seed_ids": np.frombuffer(b"[1.5, 2]", dtype=np.uint8)},
        {**good, "seed_labels": good["seed_labels"] + 2},
        {**good, "seed_labels": good["seed_labels"].astype(float)},
    ]
    for tensors in broken:
        with pytest.raises(FormatError, match="does not hold the training nodes"):
            KnownNodes.from_tensors(tensors, 3)


def test_presets_are_those_of_their_studies():
    authors = resolve(SYSTEM, "authors", None, {})
    assert (authors.teleport, authors.n_steps) == (0.01, 1000)
