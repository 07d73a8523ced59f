"""BT.FP: its features against APPNP on X, its regression against scikit-learn, its bootstraps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pyg_oracle import dense, edges, pyg
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from adagcn.errors import FormatError, InputError
from adagcn.models import bt_fp
from adagcn.models.support.system import FitContext, resolve
from adagcn.propagation.normalize import make_propagator

SYSTEM = bt_fp.BTFPClassifier.system
ALL = np.arange(23)


def settings_of(**given):
    return resolve(SYSTEM, "paper", None, given)


def fitted(problem, **given):
    return SYSTEM.fit(problem, settings_of(**given), FitContext())


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("n_steps", [1, 10])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_spread_features_equal_appnp_on_x(inputs, n_steps, normalization, form, monkeypatch):
    monkeypatch.setattr(bt_fp, "COLUMNS_AT_ONCE", 4)
    given = inputs.features if form == "sparse" else inputs.features.toarray()
    graph = type(inputs)(given, inputs.adjacency, inputs.node_ids)
    matrix = make_propagator(inputs.adjacency, normalization, dtype=np.float64)
    oracle = pyg.APPNP(K=n_steps, alpha=0.2, normalize=False)
    expected = oracle(dense(inputs), *edges(inputs, matrix))
    found = bt_fp.spread_features(graph, settings_of(n_steps=n_steps, normalization=normalization))
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_without_bootstraps_it_is_scikit_learn_on_spread_features(inputs, problem):
    fit = fitted(problem, n_bootstraps=0, C=50.0)
    features = bt_fp.spread_features(inputs, fit.settings)
    model = LogisticRegression(C=50.0 / 6, fit_intercept=False, tol=1e-8, max_iter=10_000)
    model.fit(features[problem.nodes.train_nodes], problem.nodes.labels)
    np.testing.assert_allclose(
        np.exp(fit.log_proba(inputs, ALL)), model.predict_proba(features), atol=1e-4
    )


def test_spreading_the_products_equals_the_products_of_the_spread(inputs, problem):
    fit = fitted(problem, C=10.0)
    features = bt_fp.spread_features(inputs, fit.settings)
    expected = log_softmax(features @ fit.linear.weight, axis=1)
    np.testing.assert_allclose(fit.log_proba(inputs, ALL), expected, atol=1e-10)


def test_the_bootstrap_by_hand(inputs, problem):
    """Two rounds of two of the surest nodes, written out with plain loops."""
    settings = settings_of(n_bootstraps=2, added_share=0.2, C=20.0)
    features = bt_fp.spread_features(inputs, settings)
    known = dict(zip(problem.nodes.train_nodes, problem.nodes.labels, strict=True))
    for _ in range(2):
        linear = by_hand(features, known)
        rest = [node for node in range(23) if node not in known]
        proba = dict(zip(rest, linear.predict_proba(features[rest]), strict=True))
        for kind in range(3):
            mine = [node for node in rest if proba[node].argmax() == kind]
            mine.sort(key=lambda node: -np.subtract(*np.sort(proba[node])[:-3:-1]))
            quota = round(len(mine) * 0.2 * 23 / len(rest))
            known.update(dict.fromkeys(mine[:quota], kind))
    assert len(known) > 10
    found = SYSTEM.fit(problem, settings, FitContext())
    np.testing.assert_allclose(
        np.exp(found.log_proba(inputs, ALL)),
        by_hand(features, known).predict_proba(features),
        atol=1e-3,
    )


def by_hand(features, known):
    """Return a regression in which a node counts as the mean training node of its class does."""
    nodes = sorted(known)
    model = LogisticRegression(C=20.0 / len(nodes), fit_intercept=False, tol=1e-8, max_iter=10_000)
    return model.fit(features[nodes], [known[node] for node in nodes])


def test_the_surest_of_each_class_by_its_share():
    proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.7, 0.3], [0.2, 0.8], [0.45, 0.55]])
    assert bt_fp.most_certain(np.log(proba), 3).tolist() == [0, 2, 4]
    assert bt_fp.most_certain(np.log(proba), 99).tolist() == [0, 1, 2, 3, 4, 5]
    assert bt_fp.most_certain(np.log(proba[:0]), 3).tolist() == []


def test_bootstraps_end_when_every_node_has_a_label(problem):
    fit = fitted(problem, n_bootstraps=9, added_share=0.5)
    assert np.isfinite(fit.log_proba(problem.inputs, ALL)).all()


def test_the_strength_is_the_best_on_the_stopping_nodes(problem):
    features = bt_fp.spread_features(problem.inputs, settings_of())
    chosen = bt_fp._strength(problem, features, settings_of())
    losses = {c: fitted(problem, C=c, n_bootstraps=0).record.stop_loss for c in bt_fp.STRENGTHS}
    assert chosen == min(losses, key=losses.get)
    assert bt_fp._strength(problem, features, settings_of(C=3.0)) == 3.0


def with_labels(problem, labels):
    nodes = type(problem.nodes)(problem.nodes.train_nodes, labels, np.full(6, 1 / 6))
    return type(problem)(problem.inputs, nodes, 3)


def test_a_class_without_training_nodes_is_improbable(problem):
    fit = fitted(with_labels(problem, np.array([0, 2, 0, 2, 0, 2])))
    proba = np.exp(fit.log_proba(problem.inputs, ALL))
    assert proba[:, 1].max() < 1e-9
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    back = SYSTEM.restore(fit.tensors(), fit.settings, 9, 3)
    np.testing.assert_array_equal(np.exp(back.log_proba(problem.inputs, ALL)), proba)


def test_two_classes_share_one_row_of_scikit_learn(problem):
    labels = np.array([0, 1, 0, 1, 0, 1])
    fit = fitted(with_labels(problem, labels), n_bootstraps=0, C=50.0)
    features = bt_fp.spread_features(problem.inputs, fit.settings)
    model = LogisticRegression(C=50.0 / 6, fit_intercept=False, tol=1e-8, max_iter=10_000)
    model.fit(features[problem.nodes.train_nodes], labels)
    found = np.exp(fit.log_proba(problem.inputs, ALL))[:, :2]
    np.testing.assert_allclose(found, model.predict_proba(features), atol=1e-4)


def test_one_class_alone_is_refused(problem):
    with pytest.raises(InputError, match="at least two classes"):
        fitted(with_labels(problem, np.zeros(6, dtype=np.int64)))


def test_tensors_that_do_not_fit_are_refused(problem):
    fit = fitted(problem, n_bootstraps=0)
    tensors = fit.tensors()
    broken = [
        {},
        {**tensors, "weight": np.ones((2, 2))},
        {**tensors, "present": np.array([0, 1, 7])},
        {**tensors, "more": np.ones(1)},
    ]
    for wrong in broken:
        with pytest.raises(FormatError, match="do not fit the model"):
            SYSTEM.restore(wrong, fit.settings, 9, 3)


def test_the_preset_is_that_of_ppnps_study():
    found = settings_of()
    assert (found.teleport, found.n_steps, found.n_bootstraps, found.added_share) == (
        0.2, 10, 10, 0.1,
    )  # fmt: skip


def test_nothing_is_random(problem):
    torch.manual_seed(0)
    first = fitted(problem).tensors()["weight"]
    np.testing.assert_array_equal(first, fitted(problem).tensors()["weight"])
