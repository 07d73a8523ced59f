"""What held-out labels say: leave-one-out, gain, and the learning curve."""

from __future__ import annotations

import numpy as np
import pytest

from adagcn.data.generators import planted_partition
from adagcn.doctor.folded_ridge import FoldedRidge, balanced_folds, row_products
from adagcn.doctor.held_out import Candidate, JudgedNodes, gain_of_graph, judged
from adagcn.doctor.learning_curve import fit_power_law, learning_curve, power_law
from adagcn.learners.ridge import RidgePath, ridge_rows, scores_of


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def nodes_of(labels, n_fitted):
    folds = balanced_folds(labels[:n_fitted], np.random.default_rng(1))
    return JudgedNodes(np.arange(len(labels)), labels, n_fitted, int(labels.max()) + 1, folds)


def judged_rows(rows, nodes):
    return judged(row_products(rows, nodes.n_fitted), nodes)


def test_a_fold_is_judged_as_refitting_without_it_would_have_it(rng):
    labels = np.arange(26) % 3
    rows = rng.standard_normal((30, 5)) + np.eye(3, 5)[np.arange(30) % 3]
    folds = balanced_folds(labels, rng)
    products = row_products(rows, 26)
    ridge = FoldedRidge(products[:26], labels, 3, folds)
    normed, one_hot = ridge_rows(rows), np.eye(3)[labels]
    for strength in (0.01, 1.0):
        said = ridge.left_out(strength)
        for fold in np.unique(folds):
            rest = np.flatnonzero(folds != fold)
            path = RidgePath(normed[rest], one_hot[rest], np.ones(len(rest)))
            weights = path.coefficients([strength])[0]
            inside = np.flatnonzero(folds == fold)
            np.testing.assert_allclose(said[inside], scores_of(normed[inside], weights), atol=1e-9)
        path = RidgePath(normed[:26], one_hot, np.ones(26))
        expected = scores_of(normed[26:], path.coefficients([strength])[0])
        np.testing.assert_allclose(ridge.scores(products[26:], strength), expected, atol=1e-9)


def test_folds_hold_every_class_in_proportion(rng):
    labels = rng.permutation(np.repeat([0, 1, 2], [40, 20, 7]))
    folds = balanced_folds(labels, rng)
    counts = np.array([np.bincount(labels[folds == each], minlength=3) for each in range(10)])
    assert np.ptp(counts, axis=0).max() <= 1
    assert counts[:, 0].tolist() == [4] * 10


def test_balanced_labels_without_information_are_not_worse_than_chance():
    """Leaving out single nodes would make every one of them wrong."""
    labels = np.arange(40) % 2
    right, _ = judged_rows(np.ones((40, 3)), nodes_of(labels, 40))
    assert 0.25 < right.mean() < 0.75  # ties, decided by the last bits


def test_labels_of_a_node_never_help_itself(rng):
    """On features of noise, held-out accuracy is that of chance, however many columns there are."""
    labels = np.arange(300) % 3
    right, _ = judged_rows(rng.standard_normal((300, 400)), nodes_of(labels, 200))
    assert abs(right.mean() - 1 / 3) < 0.12


def test_too_few_labels_judge_nothing(rng):
    graph = planted_partition(60, 3, 4, seed=0)
    assert JudgedNodes.drawn(graph, rng=rng) is not None
    few = graph.subgraph(np.arange(19))
    assert JudgedNodes.drawn(few, rng=rng) is None


def curve_of(rows, nodes, rng):
    return learning_curve(row_products(rows, nodes.n_fitted), nodes, len(rows), rng=rng)


def candidate(right, losses=None):
    right = np.asarray(right, dtype=bool)
    return Candidate("hop", 0.0, 0, right, np.where(right, 0.1, 2.0) if losses is None else losses)


def test_gain_is_judged_by_what_other_nodes_chose(rng):
    """The best of many candidates of pure luck is no better than chance on the other nodes."""
    labels = np.arange(400) % 2
    alone = candidate(rng.random(400) < 0.5)
    lucky = [candidate(rng.random(400) < 0.5) for _ in range(40)]
    best = max(each.right.mean() for each in lucky)
    found = gain_of_graph([alone, *lucky], nodes_of(labels, 400), rng=rng)
    assert best > 0.54
    assert found.with_graph.value < 0.54
    assert found.difference.has_zero


def test_gain_of_a_better_candidate_is_seen(rng):
    labels = np.arange(400) % 2
    found = gain_of_graph(
        [candidate(rng.random(400) < 0.6), candidate(rng.random(400) < 0.9)],
        nodes_of(labels, 400),
        rng=rng,
    )
    assert found.difference.low > 0.2
    assert found.loss_difference.low > 0.0
    assert found.majority == 0.5


def test_the_power_law_is_found_again():
    n = np.array([10.0, 20.0, 50.0, 100.0, 200.0])
    law = fit_power_law(n, power_law(n, 0.1, 1.5, 0.5))
    assert power_law(np.array([400.0]), *law) == pytest.approx(
        power_law(np.array([400.0]), 0.1, 1.5, 0.5), abs=0.005
    )


def test_errors_that_rise_are_fitted_by_a_constant():
    n = np.array([10.0, 20.0, 40.0, 80.0])
    level, factor, _ = fit_power_law(n, np.array([0.2, 0.25, 0.3, 0.35]))
    assert factor == 0.0
    assert 0.2 < level < 0.35


def test_the_learning_curve_rises_with_labels_and_its_extrapolation_holds(rng):
    labels = rng.permutation(np.arange(2400) % 4)
    centers = rng.standard_normal((4, 30)) * 0.35
    rows = rng.standard_normal((2400, 30)) + centers[labels]
    found = curve_of(rows, nodes_of(labels, 400), rng)
    accuracies = [each.accuracy.value for each in found.points]
    assert accuracies == sorted(accuracies)
    assert accuracies[-1] - accuracies[0] > 0.05
    assert (found.n_now, found.n_twice) == (400, 800)
    right, _ = judged_rows(rows, nodes_of(labels, 800))
    truth = right[800:].mean()
    assert found.twice.low <= truth <= found.twice.high
    assert found.more.value >= 0.0


def test_labels_of_noise_bring_nothing(rng):
    labels = rng.permutation(np.arange(600) % 2)
    found = curve_of(rng.standard_normal((600, 5)), nodes_of(labels, 300), rng)
    assert found.more.value < 0.02


def test_too_few_labels_have_no_curve(rng):
    labels = np.arange(30) % 6
    assert curve_of(rng.standard_normal((30, 4)), nodes_of(labels, 30), rng) is None
