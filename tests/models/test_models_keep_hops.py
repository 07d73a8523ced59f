"""Predictions on a changed graph, from hops that a model keeps."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from adagcn import AdaGCNClassifier, Graph, InputError
from adagcn.data import planted_partition
from adagcn.models import Variant
from adagcn.models.adasgc import AdaSGCClassifier


def long_graph(n_nodes=400, seed=0, *, extra=(), n_more=0):
    """Return a ring with features of three classes, with further edges and nodes."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_nodes, 6)).astype(np.float32)
    labels = np.arange(n_nodes) * 3 // n_nodes
    features[np.arange(n_nodes), labels] += 2
    more = rng.normal(size=(n_more, 6)).astype(np.float32)
    ring = [(i, (i + 1) % n_nodes) for i in range(n_nodes)]
    ids = np.array([f"n{i}" for i in range(n_nodes + n_more)])
    pairs = np.array([*ring, *extra])
    return Graph.from_edges(
        (ids[pairs[:, 0]], ids[pairs[:, 1]]),
        features=np.vstack([features, more]),
        labels=np.concatenate([labels.astype(object), np.full(n_more, None)]),
        node_ids=ids,
    )


def fitted(graph, kind=AdaGCNClassifier, **settings):
    given = {"preset": "tuned", "n_layers": 4, "max_epochs": 3, "random_state": 0, **settings}
    model = kind(graph, **given)
    return model.fit(*graph.ids_and_labels(graph.labeled_nodes[::7]))


SETTINGS = [
    {},
    {"teleport": 0.2},
    {"variant": Variant(hop_scale="hop")},
    {"variant": Variant(hop_scale="row_l2", normalization="random_walk")},
    {"preset": "instant", "max_epochs": None, "n_layers": None},
    {"feature_norm": "standard"},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_predictions_from_kept_hops_have_the_bits_of_new_ones(settings):
    today = long_graph()
    tomorrow = long_graph(extra=[(10, 14), (400, 399), (401, 3)], n_more=2)
    model = fitted(today, **settings)
    ids = tomorrow.node_ids[::-1]
    wanted = model.decision_function(ids, graph=tomorrow)
    staged = [*model.staged_decision_function(ids, graph=tomorrow)]
    assert model.keep_hops() is model
    assert np.array_equal(model.decision_function(ids, graph=tomorrow), wanted)
    shares = model.kept_hops_.last_update.shares
    assert shares[0] == 2 / 402
    assert all(0 < share < 0.2 for share in shares[1:])
    for found, expected in zip(
        model.staged_decision_function(ids, graph=tomorrow), staged, strict=True
    ):
        assert np.array_equal(found, expected)
    model.keep_hops(tomorrow)
    assert np.array_equal(model.decision_function(ids, graph=tomorrow), wanted)
    assert not any(model.kept_hops_.last_update.rows)
    # back to the graph of the fit: nodes are gone
    new = fitted(today, **settings).predict_proba(today.node_ids)
    assert np.array_equal(model.predict_proba(today.node_ids), new)


def test_sparse_features_and_a_change_that_reaches_most_of_the_graph():
    from adagcn.data import load_dataset

    graph = load_dataset("cora")
    model = fitted(graph, max_epochs=1, n_layers=12)
    hub = int(np.diff(graph.adjacency.indptr).argmax())
    edges = graph.adjacency.tolil()
    edges[hub, 3] = edges[3, hub] = 1.0
    tomorrow = replace(graph, adjacency=edges.tocsr().astype(np.float32))
    wanted = model.decision_function(graph.node_ids, graph=tomorrow)
    model.keep_hops()
    assert np.array_equal(model.decision_function(graph.node_ids, graph=tomorrow), wanted)
    update = model.kept_hops_.last_update
    assert 0 < update.shares[1] < 0.2
    assert "later hops computed anew: patching would cost more, since " in str(update)


def test_kept_hops_are_no_part_of_the_model(tmp_path):
    graph = long_graph()
    model = fitted(graph)
    model.save(tmp_path / "before.adagcn")
    digest, size = model.model_digest_, len(pickle.dumps(model))
    model.keep_hops()
    assert model.kept_hops_.n_bytes == 3 * 400 * 6 * 4
    assert "4 hops of 400 nodes, 6 columns" in repr(model.kept_hops_)
    model.save(tmp_path / "after.adagcn")
    assert (tmp_path / "after.adagcn").read_bytes() == (tmp_path / "before.adagcn").read_bytes()
    assert model.model_digest_ == digest
    assert len(pickle.dumps(model)) == size
    assert not hasattr(pickle.loads(pickle.dumps(model)), "kept_hops_")
    assert not hasattr(clone(model), "kept_hops_")
    loaded = AdaGCNClassifier.load(tmp_path / "after.adagcn", graph=graph).keep_hops()
    assert np.array_equal(loaded.predict_proba(graph.node_ids), model.predict_proba(graph.node_ids))


def test_a_new_fit_drops_kept_hops():
    model = fitted(long_graph()).keep_hops()
    model.fit(*model.graph.ids_and_labels(model.graph.labeled_nodes[::9]))
    assert not hasattr(model, "kept_hops_")


def test_a_model_of_another_family_member_keeps_them_too():
    graph = long_graph()
    model = fitted(graph, AdaSGCClassifier)
    wanted = model.predict_proba(graph.node_ids)
    assert np.array_equal(model.keep_hops().predict_proba(graph.node_ids), wanted)


def test_a_graph_without_features_whose_nodes_are_columns():
    graph = planted_partition(60, 3, 5, seed=1).without_features()
    model = fitted(graph, max_features="all")
    fewer = graph.subgraph(np.arange(50))
    wanted = model.decision_function(fewer.node_ids, graph=fewer)
    model.keep_hops()
    assert np.array_equal(model.decision_function(fewer.node_ids, graph=fewer), wanted)


def test_what_cannot_be_kept_is_refused():
    matrix = AdaGCNClassifier(preset="tuned", n_layers=2, max_epochs=2)
    matrix.fit(np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2)
    with pytest.raises(InputError, match=r"fitted on a feature matrix.*AGC-I1901"):
        matrix.keep_hops()
    with pytest.raises(InputError, match="graph must be a Graph"):
        fitted(long_graph()).keep_hops("cora")
