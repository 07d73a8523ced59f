"""AdaGCN as a user calls it: against the oracle, with other learners, other combinations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from adagcn import AdaGCNClassifier, Graph, load_dataset
from adagcn.data import make_split
from adagcn.errors import InputError, LayerWarning
from adagcn.models import Variant
from adagcn.training.random_streams import torch_stream

QUICK = {"preset": "tuned", "n_layers": 3, "max_epochs": 20, "random_state": 0}


def test_the_whole_estimator_equals_the_oracle(task):
    graph = task.graph.astype(np.float64)
    settings = {"hidden_units": 8, "weight_decay": 1e-3, "first_layer_l2": 5e-3, "teleport": 0.0}
    everyone = Variant(voting_share=1.0)
    clf = AdaGCNClassifier(graph, reweight_rate=1.0, variant=everyone, **settings, **QUICK)
    clf.fit(task.train, task.labels(task.train))

    start = AdaGCNClassifier.make_network(
        clf.resolved_settings(), graph.n_features, 3, torch_stream(0, "start", 0), torch.float64
    )
    features = graph.features
    scores, weights = oracle.adagcn(
        graph.adjacency.toarray().astype(float),
        features if isinstance(features, np.ndarray) else features.toarray(),
        graph.positions(task.train),
        task.labels(task.train),
        start.hidden.detach().numpy(),
        start.output[0].detach().numpy(),
        n_layers=3,
        epochs=20,
        update="onehot",
        l2=5e-3,
        weight_decay=1e-3,
    )
    np.testing.assert_allclose(clf.decision_function(graph.node_ids), scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(clf.sample_weights_, weights, rtol=0, atol=1e-9)


def test_permuting_nodes_of_the_graph_permutes_the_predictions(task):
    graph = task.graph.astype(np.float64)
    order = np.random.default_rng(3).permutation(graph.n_nodes)
    shuffled = graph.subgraph(order)
    y = task.labels(task.train)
    proba = [
        AdaGCNClassifier(g, reweight_rate=1.0, **QUICK).fit(task.train, y).predict_proba(task.rest)
        for g in (graph, shuffled)
    ]
    np.testing.assert_allclose(proba[1], proba[0], atol=1e-9)


def test_layers_on_more_than_hop_zero_use_the_graph(task):
    y = task.labels(task.train)
    lone = Graph.from_scipy(task.graph.adjacency * 0.5, task.graph.features)
    a, b = (AdaGCNClassifier(g, **QUICK).fit(task.train, y) for g in (task.graph, lone))
    first_a, *_, last_a = a.staged_predict_proba(task.rest)
    first_b, *_, last_b = b.staged_predict_proba(task.rest)
    np.testing.assert_array_equal(first_a, first_b)  # hop 0 knows no edges
    assert np.abs(last_a - last_b).max() > 1e-3


@pytest.mark.parametrize("learner", [LogisticRegression(), RandomForestClassifier(20)])
def test_any_scikit_learn_classifier_can_be_boosted(task, learner):
    clf = AdaGCNClassifier(task.graph, learner=learner, reweight_rate=0.5, **QUICK)
    clf.fit(task.train, task.labels(task.train), **task.stopping())
    assert clf.score(task.rest, task.labels(task.rest)) > 0.5
    twin = AdaGCNClassifier(task.graph, learner=learner, reweight_rate=0.5, **QUICK)
    twin.fit(task.train, task.labels(task.train))
    np.testing.assert_array_equal(twin.predict_proba(task.rest), clf.predict_proba(task.rest))
    assert np.ptp(clf.sample_weights_[1]) > 0.0
    with pytest.raises(InputError, match="no safe file form"):
        clf.save("never.adagcn")


def test_a_learner_without_probabilities_is_refused(task):
    clf = AdaGCNClassifier(task.graph, preset="tuned", learner=LinearSVC())
    with pytest.raises(InputError, match="learner must be a classifier with predict_proba"):
        clf.fit(task.train, task.labels(task.train))


@pytest.mark.parametrize("combine", ["samme_r", "samme", "ema", "last"])
@pytest.mark.parametrize("vote", ["hard", "logits"])
def test_every_combination_predicts_better_than_chance(task, combine, vote):
    variant = Variant(vote=vote, on_perfect="continue")
    clf = AdaGCNClassifier(task.graph, combine=combine, variant=variant, reweight_rate=1.0, **QUICK)
    clf.fit(task.train, task.labels(task.train))
    assert clf.score(task.rest, task.labels(task.rest)) > 0.6
    proba = clf.predict_proba(task.rest)
    np.testing.assert_array_equal(clf.predict(task.rest), clf.classes_[proba.argmax(axis=1)])


def test_ema_weighs_layers_by_the_fixed_coefficients(task):
    clf = AdaGCNClassifier(task.graph, combine="ema", variant=Variant(ema_teleport=0.2), **QUICK)
    clf.fit(task.train, task.labels(task.train))
    np.testing.assert_allclose(clf.layer_weights_, [0.2, 0.16, 0.128])


def test_validation_fraction_sets_nodes_of_every_class_aside(task):
    clf = AdaGCNClassifier(task.graph, validation_fraction=0.2, **QUICK)
    clf.fit(task.train, task.labels(task.train))
    assert clf.sample_weights_.shape == (3, 36)
    assert 0.0 <= clf.stop_accuracy_ <= 1.0


def test_teleport_scaling_and_random_walk_change_the_model_and_are_remembered(task, tmp_path):
    y = task.labels(task.train)
    digests = set()
    for setting in (
        {},
        {"teleport": 0.5},
        {"variant": Variant(hop_scale="row_l2")},
        {"variant": Variant(hop_scale="hop")},
        {"variant": Variant(normalization="random_walk")},
    ):
        clf = AdaGCNClassifier(task.graph, **setting, **QUICK).fit(task.train, y)
        digests.add(clf.model_digest_)
        clf.save(tmp_path / "m.adagcn")
        back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
        np.testing.assert_array_equal(back.predict_proba(task.rest), clf.predict_proba(task.rest))
    assert len(digests) == 5


def test_without_a_graph_it_is_a_boosted_perceptron(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 1.0
    y = np.where(X[:, 0] + X[:, 1] > 2, "up", "down")
    clf = AdaGCNClassifier(random_state=0).fit(X[:40], y[:40], X_val=X[40:], y_val=y[40:])
    assert clf.score(X, y) > 0.9
    assert clf.stop_accuracy_ == pytest.approx(clf.score(X[40:], y[40:]))
    with pytest.raises(InputError, match="fitted on a feature matrix"):
        clf.predict(X, graph=task.graph)
    with pytest.raises(InputError, match="feature_norm needs a graph"):
        AdaGCNClassifier(feature_norm="l1").fit(X, y)


def test_rows_that_were_divided_cannot_be_undone(task):
    divided = replace(task.graph, feature_norm="l1")
    clf = AdaGCNClassifier(divided, feature_norm="none", **QUICK)
    with pytest.raises(InputError, match="feature_norm='none' wants features as they were"):
        clf.fit(task.train, task.labels(task.train))


def test_samme_on_perfect_stop_keeps_one_layer(task):
    clf = AdaGCNClassifier(task.graph, combine="samme", **{**QUICK, "max_epochs": 300})
    with pytest.warns(LayerWarning, match="layer 0 makes no training error: boosting stops"):
        clf.fit(task.train, task.labels(task.train))
    assert len(clf.layers_) == 1


@pytest.mark.dataset
def test_cora_ml_is_learnt_and_repeats_to_the_byte(dataset_dir):
    graph = load_dataset("cora_ml", data_dir=dataset_dir)
    split = make_split(graph, "val:0")
    ids = {part: graph.node_ids[getattr(split, f"{part}_nodes")] for part in ("train", "stop")}
    y = {part: graph.labels[graph.positions(nodes)] for part, nodes in ids.items()}
    fits = [
        AdaGCNClassifier(graph, preset="tuned", n_layers=5, hidden_units=32, random_state=0).fit(
            ids["train"], y["train"], X_val=ids["stop"], y_val=y["stop"]
        )
        for _ in range(2)
    ]
    assert fits[0].model_digest_ == fits[1].model_digest_
    assert fits[0].params_["feature_norm"] == "l1"
    accuracy = fits[0].score(graph.node_ids[split.score_nodes], graph.labels[split.score_nodes])
    assert accuracy > 0.78  # a perceptron without the graph stays below 0.67
