"""Preset instant, a ridge on every hop, and the two learners together, from fit to file."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import replace

import numpy as np
import pytest
import safetensors.numpy
from scipy import sparse

from adagcn import AdaGCNClassifier, Graph
from adagcn.boosting.pseudo_labels import draw_nodes
from adagcn.data import planted_partition
from adagcn.errors import AdaGCNError, FormatError
from adagcn.models import Variant, load_model
from adagcn.models.support.model_file import FORMAT_VERSION, MAGIC, manifest_json, tensor_entry

BOTH = {"variant": Variant(learner="both"), "max_epochs": 5, "hidden_units": 4, "n_layers": 3}
KINDS = {"ridge": {"preset": "instant"}, "both": BOTH}
every_kind = pytest.mark.parametrize("given", KINDS.values(), ids=KINDS.keys())


def instant(graph, **given):
    return AdaGCNClassifier(graph, **{"preset": "instant", "random_state": 0, **given})


def on(task, clf, *, stopping=True, **more):
    labels = task.labels(task.train)
    return clf.fit(task.train, labels, **(task.stopping() if stopping else {}), **more)


def proba(task, clf):
    return clf.predict_proba(task.rest)


# The same again


@every_kind
def test_the_same_fit_twice_is_the_same_model(task, given):
    first, second = (on(task, instant(task.graph, **given)) for _ in range(2))
    assert first.model_digest_ == second.model_digest_
    assert proba(task, first).tobytes() == proba(task, second).tobytes()


def test_there_is_no_luck_in_it_without_pseudo_labels(task):
    models = [on(task, instant(task.graph, pseudo_labels=0, random_state=s)) for s in (0, 1)]
    assert proba(task, models[0]).tobytes() == proba(task, models[1]).tobytes()


def test_with_pseudo_labels_the_seed_draws_their_nodes_and_nothing_else(task):
    # The preset takes 500 unlabeled nodes; where there are no more than that, all are drawn
    # whatever the seed. Only the choice among more of them is random.
    labeled = np.sort(np.concatenate([task.train, task.stop]))
    unlabeled = np.setdiff1d(task.graph.node_ids, labeled)
    for seed in (0, 1):
        assert draw_nodes(150, labeled, 500, seed).tolist() == unlabeled.tolist()
    assert draw_nodes(150, labeled, 20, 0).tolist() != draw_nodes(150, labeled, 20, 1).tolist()

    def said(**given):
        return proba(task, on(task, instant(task.graph, **given)))

    assert said(random_state=0).tobytes() == said(random_state=1).tobytes()
    few = [said(pseudo_labels=20, random_state=seed) for seed in (0, 1)]
    assert few[0].tobytes() != few[1].tobytes()
    # Before the first layer that learns from them, the draw is of no account.
    shallow = [said(pseudo_labels=20, n_layers=4, random_state=seed) for seed in (0, 1)]
    assert shallow[0].tobytes() == shallow[1].tobytes()


@pytest.mark.parametrize("stopping", [True, False])
def test_layers_added_later_are_those_of_one_fit(task, stopping):
    whole = on(task, instant(task.graph, n_layers=8), stopping=stopping)
    grown = on(task, instant(task.graph, n_layers=4, warm_start=True), stopping=stopping)
    on(task, grown.set_params(n_layers=8), stopping=stopping)
    assert len(grown.layers_) == 8
    assert grown.model_digest_ == whole.model_digest_
    assert proba(task, grown).tobytes() == proba(task, whole).tobytes()


# Files


@every_kind
@pytest.mark.parametrize("stopping", [True, False])
def test_a_file_gives_the_same_model_back(task, tmp_path, given, stopping):
    clf = on(task, instant(task.graph, **given), stopping=stopping)
    clf.save(tmp_path / "m.adagcn")
    back = load_model(tmp_path / "m.adagcn", graph=task.graph)
    assert proba(task, back).tobytes() == proba(task, clf).tobytes()
    assert back.model_digest_ == clf.model_digest_
    assert back.params_ == clf.params_
    back.save(tmp_path / "again.adagcn")
    assert (tmp_path / "again.adagcn").read_bytes() == (tmp_path / "m.adagcn").read_bytes()


@every_kind
def test_a_fit_goes_on_from_a_file(task, tmp_path, given):
    given = {**given, "n_layers": 2}
    on(task, instant(task.graph, **given)).save(tmp_path / "m.adagcn", continuable=True)
    back = load_model(tmp_path / "m.adagcn", graph=task.graph)
    on(task, back.set_params(n_layers=6, warm_start=True))
    whole = on(task, instant(task.graph, **{**given, "n_layers": 6}))
    assert proba(task, back).tobytes() == proba(task, whole).tobytes()


def rewritten(path, change_tensors, change_manifest=lambda m: m):
    """Write changed tensors with a manifest and a digest that fit them, as an attacker could."""
    content = path.read_bytes()
    size = struct.unpack_from("<Q", content, 12)[0]
    manifest = json.loads(content[20 : 20 + size])
    tensors = change_tensors(safetensors.numpy.load(content[28 + size : -32]))
    for name, tensor in tensors.items():
        manifest["tensors"][name] = tensor_entry(tensor).model_dump()
    manifest["tensors"] = {name: manifest["tensors"][name] for name in tensors}
    manifest_bytes = manifest_json(change_manifest(manifest))
    block = safetensors.numpy.save(tensors)
    body = struct.pack("<8sIQ", MAGIC, FORMAT_VERSION, len(manifest_bytes))
    body += manifest_bytes + struct.pack("<Q", len(block)) + block
    path.write_bytes(body + hashlib.sha256(body).digest())


FORGED = {
    "a row less": lambda a: a[:-1].copy(),
    "a class more": lambda a: np.hstack([a, a[:, :1]]),
    "transposed": lambda a: a.T.copy(),
    "flat": lambda a: a.ravel().copy(),
    "empty": lambda a: a[:0].copy(),
    "whole numbers": lambda a: a.astype(np.int64),
    "not a number": lambda a: np.full_like(a, np.nan),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_forged_coefficients_are_refused(task, tmp_path, forge):
    path = tmp_path / "m.adagcn"
    on(task, instant(task.graph, n_layers=2)).save(path)
    name = "layer.001.coefficients"
    rewritten(path, lambda t: {**t, name: t[name]})  # an honest file stays one
    load_model(path, graph=task.graph)
    rewritten(path, lambda t: {**t, name: forge(t[name])})
    with pytest.raises(AdaGCNError, match="AGC-"):
        load_model(path, graph=task.graph)


@pytest.mark.parametrize("part", ["ridge.coefficients", "perceptron.hidden", "shares"])
def test_forged_parts_of_both_are_refused(task, tmp_path, part):
    path = tmp_path / "m.adagcn"
    on(task, instant(task.graph, **BOTH)).save(path)
    whole, name = path.read_bytes(), f"layer.001.{part}"
    rewritten(path, lambda t: {**t, name: np.stack([t[name], t[name]])})
    with pytest.raises(FormatError, match="AGC-"):
        load_model(path, graph=task.graph)
    path.write_bytes(whole)
    rewritten(path, lambda t: {k: v for k, v in t.items() if k != name})
    with pytest.raises(FormatError, match="AGC-"):
        load_model(path, graph=task.graph)


@pytest.mark.parametrize("other", ["perceptron", "both"])
def test_a_file_that_claims_another_learner_is_refused(task, tmp_path, other):
    path = tmp_path / "m.adagcn"
    on(task, instant(task.graph, n_layers=2)).save(path)

    def claim(manifest):
        return {**manifest, "params": {**manifest["params"], "variant.learner": other}}

    rewritten(path, lambda t: t, claim)
    with pytest.raises(AdaGCNError, match="AGC-"):
        load_model(path, graph=task.graph)


# Inputs of all kinds


def test_it_learns_with_and_without_stopping_nodes(task):
    for stopping in (True, False):
        clf = on(task, instant(task.graph), stopping=stopping)
        assert clf.score(task.rest, task.labels(task.rest)) > 0.75
        assert (clf.stop_accuracy_ is not None) is stopping


def test_a_feature_matrix_will_do():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 6)) + 2.0 * rng.normal(size=(3, 6))[y]
    clf = AdaGCNClassifier(preset="instant", random_state=0).fit(X[:80], y[:80])
    assert len(clf.layers_) == 1
    assert clf.score(X[80:], y[80:]) > 0.9
    assert clf.layers_[0].learner.learner.coefficients.numpy().dtype == np.float64


def test_a_graph_without_edges_is_a_matrix(task):
    bare = replace(task.graph, adjacency=sparse.csr_array(task.graph.adjacency.shape))
    clf = instant(bare)
    on(task, clf)
    proba = clf.predict_proba(task.rest)
    assert np.isfinite(proba).all()
    assert clf.score(task.rest, task.labels(task.rest)) > 0.5


@pytest.mark.parametrize("stopping", [True, False])
def test_a_class_with_one_labeled_node(task, stopping):
    labels = task.labels(task.train)
    lonely = np.flatnonzero(labels == labels[0])[1:]
    train = np.delete(task.train, lonely)
    given = task.stopping() if stopping else {}
    clf = instant(task.graph).fit(train, task.labels(train), **given)
    assert list(clf.classes_) == sorted(set(labels))
    assert np.isfinite(clf.predict_proba(task.rest)).all()


@pytest.mark.parametrize("n_classes", [2, 5])
def test_one_labeled_node_of_each_class(n_classes):
    graph = planted_partition(80, n_classes, 16, seed=2, feature_signal=2.0)
    train = np.array([np.flatnonzero(graph.labels == k)[0] for k in range(n_classes)])
    clf = instant(graph).fit(graph.node_ids[train], graph.labels[train])
    assert clf.score(graph.node_ids, graph.labels) > 1.2 / n_classes
    np.testing.assert_allclose(clf.predict_proba(graph.node_ids).sum(axis=1), 1.0)


def test_all_nodes_labeled_leaves_none_to_draw(task):
    labels = task.labels(task.graph.node_ids)
    clf = instant(task.graph).fit(task.graph.node_ids, labels)
    plain = instant(task.graph, pseudo_labels=0).fit(task.graph.node_ids, labels)
    said = [each.predict_proba(task.graph.node_ids) for each in (clf, plain)]
    assert said[0].tobytes() == said[1].tobytes()
    assert clf.score(task.graph.node_ids, labels) > 0.75


def test_a_node_without_features_and_neighbors_is_answered():
    features = np.vstack([np.eye(4), np.eye(4), np.zeros(4)])
    edges = sparse.csr_array((np.ones(8), (np.arange(8), (np.arange(8) + 4) % 8)), shape=(9, 9))
    graph = Graph.from_scipy(edges, features)
    clf = instant(graph).fit(np.arange(4), np.array([0, 0, 1, 1]))
    assert np.isfinite(clf.predict_proba(np.arange(9))).all()
    assert clf.predict(np.arange(8)).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]


# Weights


def test_sample_weights_act(task):
    even = proba(task, on(task, instant(task.graph)))
    ones = proba(task, on(task, instant(task.graph), sample_weight=np.full(45, 3.0)))
    np.testing.assert_allclose(ones, even, rtol=0, atol=1e-6)  # their size does not count
    weight = np.where(task.labels(task.train) == task.graph.classes[0], 20.0, 1.0)
    heavy = proba(task, on(task, instant(task.graph), sample_weight=weight))
    assert heavy[:, 0].mean() > even[:, 0].mean()


def test_a_node_of_weight_zero_teaches_nothing(task):
    weight = np.where(np.arange(45) < 30, 1.0, 0.0)
    wrong = task.labels(task.train).copy()
    wrong[30:] = wrong[0]
    given = {"sample_weight": weight, **task.stopping()}
    right = instant(task.graph).fit(task.train, task.labels(task.train), **given)
    misled = instant(task.graph).fit(task.train, wrong, **given)
    np.testing.assert_array_equal(proba(task, misled), proba(task, right))


def test_balanced_classes_weigh_the_same(task):
    labels = task.labels(task.train)
    rare = np.flatnonzero(labels == task.graph.classes[0])[3:]
    train = np.delete(task.train, rare)
    y = task.labels(train)
    plain = instant(task.graph, pseudo_labels=0).fit(train, y, **task.stopping())
    balanced = instant(task.graph, pseudo_labels=0, class_weight="balanced")
    balanced.fit(train, y, **task.stopping())
    counts = np.array([(y == k).sum() for k in task.graph.classes])
    weight = (len(y) / (3 * counts))[np.searchsorted(task.graph.classes, y)]
    by_hand = instant(task.graph, pseudo_labels=0)
    by_hand.fit(train, y, sample_weight=weight, **task.stopping())
    np.testing.assert_allclose(proba(task, balanced), proba(task, by_hand), rtol=0, atol=1e-6)
    assert np.abs(proba(task, balanced) - proba(task, plain)).max() > 1e-4


# Boosting


def boosted(task, **switches):
    switches = Variant(learner="ridge", **switches)
    clf = instant(task.graph, n_layers=3, reweight_rate=1.0, pseudo_labels=0, variant=switches)
    return on(task, clf, stopping=False)


def test_left_out_nodes_are_judged_by_the_fit_without_them(task):
    inside, outside = (boosted(task, judge=each) for each in ("in_sample", "left_out"))
    first = [clf.layers_[0] for clf in (inside, outside)]
    coefficients = [each.learner.learner.coefficients.numpy() for each in first]
    np.testing.assert_array_equal(*coefficients)  # the first fit is the same
    left_out = first[1].learner.left_out
    assert left_out.shape == (45, 3)
    labels = np.searchsorted(outside.classes_, outside.graph.labels[task.train])
    change = -(2 / 3) * left_out[np.arange(45), labels]
    expected = np.exp(change - change.max())
    weight = np.exp(first[1].next_log_weight)
    np.testing.assert_allclose(weight, expected / expected.sum(), rtol=1e-9)
    assert np.abs(weight - np.exp(first[0].next_log_weight)).max() > 1e-3
    # Seen nodes look easier than they are.
    assert first[1].weighted_error > first[0].weighted_error


def test_reversed_updates_take_weight_where_others_give_it(task):
    onehot, reverse = (boosted(task, weight_update=each) for each in ("onehot", "reverse"))
    changes = []
    for clf in (onehot, reverse):
        layer = clf.layers_[0]
        change = layer.next_log_weight - layer.log_weight
        changes.append(change - change.mean())
    np.testing.assert_allclose(changes[1], -changes[0], rtol=0, atol=1e-9)
    assert np.abs(changes[0]).max() > 0.1
