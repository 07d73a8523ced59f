"""Graphs without features: every node is a column, and a column means one node."""

from __future__ import annotations

import numpy as np
import pytest

from adagcn import AdaGCNClassifier, Graph, load_model
from adagcn.data import planted_partition
from adagcn.errors import FormatError, InputError
from adagcn.models import MODELS
from adagcn.models.support.model_file import ModelFile, read_model, tensor_entry, to_bytes

N_NODES = 1200


@pytest.fixture(scope="module")
def bare() -> Graph:
    """A graph of two communities, with more nodes than tuned keeps columns, and no features."""
    graph = planted_partition(n_nodes=N_NODES, n_classes=2, n_features=4, seed=0, homophily=0.9)
    edges = np.stack(graph.adjacency.nonzero(), axis=1)
    return Graph.from_edges(edges[edges[:, 0] < edges[:, 1]], node_ids=np.arange(N_NODES)), graph


def labeled(bare):
    graph, source = bare
    known = np.random.default_rng(0).permutation(N_NODES)[:120]
    return graph, known, source.labels[known], source.labels


QUICK = {"preset": "tuned", "n_layers": 4, "max_epochs": 30, "random_state": 0}


def quick(kind):
    """Return those of the settings that a model has."""
    if kind is AdaGCNClassifier:
        return QUICK
    return {k: v for k, v in QUICK.items() if k == "random_state" or k in kind.setting_fields()}


def test_coordinates_stand_for_the_nodes_and_no_node_is_left_out(bare):
    graph, known, y, labels = labeled(bare)
    assert graph.has_node_columns
    rest = np.setdiff1d(graph.node_ids, known)
    model = AdaGCNClassifier(graph, **QUICK).fit(known, y)
    assert model.params_["max_features"] == 1000
    assert model.columns_ is None
    assert model.coordinates_.shape == (N_NODES, 128)
    assert (model.predict(rest) == labels[rest]).mean() > 0.85
    whole = AdaGCNClassifier(graph, max_features="all", **QUICK).fit(known, y)
    assert whole.coordinates_ is None
    assert (whole.predict(rest) == labels[rest]).mean() > 0.8
    enough = AdaGCNClassifier(graph, max_features=N_NODES, **QUICK).fit(known, y)
    np.testing.assert_array_equal(enough.predict_proba(rest), whole.predict_proba(rest))


def test_files_hold_the_coordinates(bare, tmp_path):
    graph, known, y, _ = labeled(bare)
    model = AdaGCNClassifier(graph, **QUICK).fit(known, y)
    model.save(tmp_path / "m.adagcn", continuable=True)
    loaded = load_model(tmp_path / "m.adagcn", graph=graph)
    np.testing.assert_array_equal(loaded.coordinates_, model.coordinates_)
    np.testing.assert_array_equal(loaded.predict_proba(known), model.predict_proba(known))
    assert loaded.model_digest_ == model.model_digest_
    for each in (loaded, model):
        each.set_params(n_layers=6, warm_start=True).fit(known, y)
    once = AdaGCNClassifier(graph, **{**QUICK, "n_layers": 6}).fit(known, y)
    assert loaded.model_digest_ == model.model_digest_
    np.testing.assert_array_equal(loaded.predict_proba(known), once.predict_proba(known))


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ({"coordinates": np.ones((7, 128), dtype=np.float32)}, "a row for each of 1,200 nodes"),
        ({"coordinates": np.ones((N_NODES, 128))}, "should be float32"),
        ({"coordinates": np.ones((N_NODES, 64), dtype=np.float32)}, "should have shape"),
        ({"columns": np.arange(128)}, "graph without features"),
    ],
)
def test_forged_coordinates_are_refused(bare, tmp_path, forged, message):
    graph, known, y, _ = labeled(bare)
    model = AdaGCNClassifier(graph, **{**QUICK, "n_layers": 1}).fit(known, y)
    model.save(tmp_path / "m.adagcn")
    whole = read_model(tmp_path / "m.adagcn")
    tensors = {**whole.tensors, **forged}
    entries = {name: tensor_entry(tensor) for name, tensor in tensors.items()}
    manifest = whole.manifest.model_copy(update={"tensors": entries})
    (tmp_path / "m.adagcn").write_bytes(to_bytes(ModelFile(manifest, tensors)))
    with pytest.raises(FormatError, match=message):
        load_model(tmp_path / "m.adagcn", graph=graph)


def test_features_that_were_given_are_still_screened(bare):
    graph, _ = bare
    given = Graph.from_scipy(graph.adjacency, graph.features * 2.0)
    assert not given.has_node_columns
    dense = Graph.from_scipy(graph.adjacency, np.eye(N_NODES, dtype=np.float32))
    assert not dense.has_node_columns
    model = AdaGCNClassifier(given, max_features=50, **{**QUICK, "n_layers": 1, "max_epochs": 1})
    assert len(model.fit([0, 1], [0, 1]).columns_) == 50


@pytest.mark.parametrize("key", ["adagcn", "gcn", "appnp", "sgc"])
def test_the_same_nodes_in_another_order_keep_their_columns(bare, key):
    graph, known, y, _ = labeled(bare)
    kind = MODELS[key]
    model = kind(graph, **quick(kind)).fit(known, y)
    expected = model.predict_proba(graph.node_ids)
    order = np.random.default_rng(1).permutation(N_NODES)
    shuffled = Graph.from_scipy(graph.adjacency[order][:, order], node_ids=order)
    assert shuffled.has_node_columns
    found = model.predict_proba(graph.node_ids, graph=shuffled)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_new_nodes_are_known_by_their_neighbors(bare):
    graph, known, y, labels = labeled(bare)
    model = AdaGCNClassifier(graph, **QUICK).fit(known, y)
    friends = np.flatnonzero(labels == 1)[:8]
    edges = np.stack(graph.adjacency.nonzero(), axis=1)
    edges = np.concatenate([edges, np.stack([np.full(8, N_NODES), friends], axis=1)])
    tomorrow = Graph.from_edges(edges, duplicates="max")
    assert model.predict([N_NODES], graph=tomorrow).tolist() == [1]


def test_a_loaded_model_refuses_other_nodes(bare, tmp_path):
    graph, known, y, _ = labeled(bare)
    AdaGCNClassifier(graph, **QUICK).fit(known, y).save(tmp_path / "m.adagcn")
    order = np.random.default_rng(1).permutation(N_NODES)
    shuffled = Graph.from_scipy(graph.adjacency[order][:, order], node_ids=order)
    with pytest.raises(InputError, match=r"columns of this graph are not those.*AGC-I646"):
        load_model(tmp_path / "m.adagcn", graph=shuffled)
    alone = load_model(tmp_path / "m.adagcn")
    with pytest.raises(InputError, match=r"columns of this graph are not those.*AGC-I646"):
        alone.predict(graph.node_ids, graph=shuffled)
    with_graph = load_model(tmp_path / "m.adagcn", graph=graph)
    expected = with_graph.predict_proba(graph.node_ids)
    np.testing.assert_allclose(
        with_graph.predict_proba(graph.node_ids, graph=shuffled), expected, atol=1e-5
    )


@pytest.mark.parametrize("key", ["adagcn", "gcn"])
def test_graphs_with_and_without_features_are_not_mixed(bare, key):
    """Even where they have as many columns."""
    graph, known, y, _ = labeled(bare)
    features = np.random.default_rng(0).random((N_NODES, N_NODES), dtype=np.float32)
    featured = Graph.from_scipy(graph.adjacency, features)
    kind = MODELS[key]
    given = quick(kind) | {"max_epochs": 1}
    for fitted_on, other in ((graph, featured), (featured, graph)):
        model = kind(fitted_on, **given).fit(known, y)
        with pytest.raises(InputError, match="AGC-I646"):
            model.predict(known, graph=other)
