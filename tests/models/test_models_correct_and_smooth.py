"""Correct and smooth against PyTorch Geometric."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import dense, edges, pyg, started

from adagcn.errors import FormatError
from adagcn.models import correct_and_smooth as cs
from adagcn.models.support.label_spreading import normalized_adjacency
from adagcn.models.support.system import FitContext, resolve

SYSTEM = cs.CorrectAndSmoothClassifier.system
ALL = np.arange(23)


def known_of(problem, shares=1.0):
    nodes, labels = problem.nodes.train_nodes, problem.nodes.labels
    return cs.TrainingNodes(nodes, np.eye(3)[labels], np.full((len(nodes), 1), shares))


def settings_of(**given):
    return resolve(SYSTEM, "paper", None, {"max_epochs": 30, "hidden_units": 5, **given})


def fitted(problem, **given):
    return SYSTEM.fit(problem, settings_of(**given), FitContext())


@pytest.mark.parametrize("autoscale", [True, False])
@pytest.mark.parametrize("n_steps", [1, 5, 50])
def test_both_steps_equal_pytorch_geometric(inputs, problem, n_steps, autoscale):
    settings = settings_of(
        n_steps=n_steps,
        autoscale=autoscale,
        scale=1.7,
        correction_teleport=0.2,
        smoothing_teleport=0.3,
    )
    oracle = pyg.CorrectAndSmooth(n_steps, 0.8, n_steps, 0.7, autoscale=autoscale, scale=1.7)
    base = np.random.default_rng(0).dirichlet(np.ones(3), size=23)
    nodes, labels = problem.nodes.train_nodes, problem.nodes.labels
    matrix = normalized_adjacency(inputs.adjacency)
    known = torch.from_numpy(labels), torch.from_numpy(nodes), *edges(inputs, matrix)
    expected = oracle.correct(torch.from_numpy(base.copy()), *known)
    corrected = cs.correct(base, known_of(problem), matrix, settings)
    # Where no error arrives, the oracle divides zero by zero on an isolated node.
    arrives = ~torch.isnan(expected).any(dim=1).numpy()
    np.testing.assert_allclose(corrected[arrives], expected[arrives], atol=1e-10, rtol=0)
    np.testing.assert_array_equal(corrected[~arrives], base[~arrives])
    expected = oracle.smooth(torch.from_numpy(corrected.copy()), *known)
    smoothed = cs.smooth(corrected, known_of(problem), matrix, settings)
    np.testing.assert_allclose(smoothed, expected, atol=1e-10, rtol=0)


def test_an_error_that_hardly_arrives_is_not_blown_up(inputs):
    """Far from a training node the factor would exceed 1000, and is 1 instead."""
    n_nodes = 12
    path = np.eye(n_nodes, k=1) + np.eye(n_nodes, k=-1)
    matrix = normalized_adjacency(path)
    settings = settings_of(n_steps=n_nodes - 1, correction_teleport=0.9, autoscale=True)
    base = np.full((n_nodes, 2), 0.5)
    first = cs.TrainingNodes(np.array([0]), np.array([[1.0, 0.0]]), np.ones((1, 1)))
    moved = np.abs(cs.correct(base, first, matrix, settings) - base).sum(axis=1)
    assert moved[1] == pytest.approx(1.0)
    assert moved[-1] < 1e-6
    arcs = matrix.tocoo()
    index = torch.from_numpy(np.stack([arcs.col, arcs.row]).astype(np.int64))
    oracle = pyg.CorrectAndSmooth(n_nodes - 1, 0.1, 1, 0.5, autoscale=True)
    seed = torch.tensor([0])
    weights = torch.from_numpy(arcs.data)
    expected = oracle.correct(torch.from_numpy(base), seed, seed, index, weights)
    np.testing.assert_allclose(
        cs.correct(base, first, matrix, settings), expected, atol=1e-10, rtol=0
    )


def test_errors_are_kept_within_one():
    """The center of a star has the errors of all its neighbors."""
    star = np.zeros((10, 10))
    star[0, 1:] = star[1:, 0] = 1.0
    matrix = normalized_adjacency(star)
    base = np.tile([0.1, 0.2, 0.7], (10, 1))
    known = cs.TrainingNodes(np.arange(1, 10), np.tile([1.0, 0.0, 0.0], (9, 1)), np.ones((9, 1)))
    settings = settings_of(autoscale=True, correction_teleport=0.1, n_steps=3)
    arcs = matrix.tocoo()
    index = torch.from_numpy(np.stack([arcs.col, arcs.row]).astype(np.int64))
    expected = pyg.CorrectAndSmooth(3, 0.9, 1, 0.5).correct(
        torch.from_numpy(base),
        torch.zeros(9, dtype=torch.int64),
        torch.arange(1, 10),
        index,
        torch.from_numpy(arcs.data),
    )
    found = cs.correct(base, known, matrix, settings)
    np.testing.assert_allclose(found, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("autoscale", [True, False])
def test_a_training_node_of_hardly_any_weight_is_none(inputs, problem, autoscale):
    base = np.random.default_rng(0).dirichlet(np.ones(3), size=23)
    matrix = normalized_adjacency(inputs.adjacency)
    settings = settings_of(autoscale=autoscale)
    whole = known_of(problem)
    shares = np.array([[1.0], [1.0], [1e-13], [1.0], [1e-13], [1.0]])
    light = cs.TrainingNodes(whole.nodes, whole.truth, shares)
    kept = shares[:, 0] == 1.0
    fewer = cs.TrainingNodes(whole.nodes[kept], whole.truth[kept], shares[kept])
    found = [
        cs.smooth(cs.correct(base, known, matrix, settings), known, matrix, settings)
        for known in (light, fewer)
    ]
    np.testing.assert_allclose(*found, atol=1e-6)


def test_the_base_is_a_perceptron(inputs):
    network = cs.Perceptron(settings_of(), started())
    expected = (dense(inputs) @ network.hidden).relu() @ network.output
    torch.testing.assert_close(network(network.view(inputs, ALL)), expected)


def test_predictions_are_the_smoothed_shares(inputs, problem):
    fit = fitted(problem)
    base = np.exp(fit.base.log_proba(inputs, ALL))
    matrix = normalized_adjacency(inputs.adjacency)
    corrected = cs.correct(base, known_of(problem), matrix, fit.settings)
    scores = cs.smooth(corrected, known_of(problem), matrix, fit.settings)
    expected = scores / scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(fit.log_proba(inputs, ALL)), expected, atol=1e-10)
    np.testing.assert_allclose(expected[22], base[22])  # isolated: the perceptron alone
    found = fit.log_proba(inputs, problem.nodes.stop_nodes).argmax(axis=1)
    assert fit.record.stop_accuracy == (found == problem.nodes.stop_labels).mean()


def test_what_was_learned_comes_back_and_nothing_else_does(inputs, problem):
    fit = fitted(problem)
    tensors = fit.tensors()
    back = SYSTEM.restore(tensors, fit.settings, 9, 3)
    np.testing.assert_array_equal(back.log_proba(inputs, ALL), fit.log_proba(inputs, ALL))
    for wrong in ({**tensors, "hidden": np.ones((2, 2))}, {**tensors, "more": np.ones(1)}):
        with pytest.raises(FormatError, match="do not fit the model"):
            SYSTEM.restore(wrong, fit.settings, 9, 3)
