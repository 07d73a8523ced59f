"""A fit on a store is the fit in memory, to the bit."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from adagcn import (
    AdaGCNClassifier,
    AdaSGCClassifier,
    Graph,
    InputError,
    IntegrityError,
    PresetNotice,
    load_model,
)
from adagcn.data import make_split, planted_partition
from adagcn.models.support.registry import build_model
from adagcn.propagation import stored_hops

QUICK = {"n_layers": 4, "max_epochs": 10, "hidden_units": 8}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    graph = planted_partition(240, 3, 12, seed=2, homophily=0.8, mean_degree=6)
    folder = tmp_path_factory.mktemp("stores") / "store"
    graph.to_store(folder)
    return graph, Graph.from_store(folder)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 5000)


def fitted(make, graph):
    split = make_split(graph, "stratified:0")
    ids, labels = graph.ids_and_labels(split.train_nodes)
    stop_ids, stop_labels = graph.ids_and_labels(split.stop_nodes)
    return make(graph).fit(ids, labels, X_val=stop_ids, y_val=stop_labels)


MODELS = {
    "tuned": lambda g: AdaGCNClassifier(g, preset="tuned", random_state=0, **QUICK),
    "adaptive": lambda g: AdaGCNClassifier(g, random_state=0, max_epochs=10),
    "instant": lambda g: AdaGCNClassifier(g, preset="instant", random_state=0),
    "boosted": lambda g: AdaGCNClassifier(g, preset="boosted", random_state=0, **QUICK),
    "l1": lambda g: AdaGCNClassifier(
        g, preset="tuned", random_state=0, feature_norm="l1", max_features=5, **QUICK
    ),
    "standard": lambda g: AdaGCNClassifier(
        g, preset="tuned", random_state=0, feature_norm="standard", **QUICK
    ),
    "adasgc": lambda g: AdaSGCClassifier(g, random_state=0, n_layers=4, max_epochs=10),
    "mlp": lambda g: build_model("mlp", g, random_state=0, settings={"max_epochs": 10}),
    "logistic": lambda g: build_model("logistic", g, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_are_the_same_to_the_bit(graphs, name, tmp_path):
    in_memory, stored = (fitted(MODELS[name], graph) for graph in graphs)
    assert stored.model_digest_ == in_memory.model_digest_
    ids = graphs[0].node_ids
    expected = in_memory.predict_proba(ids)
    np.testing.assert_array_equal(stored.predict_proba(ids), expected)
    stored.save(tmp_path / "m.adagcn")
    loaded = load_model(tmp_path / "m.adagcn", graph=graphs[1])
    np.testing.assert_array_equal(loaded.predict_proba(ids), expected)
    assert not any((graphs[1].store / "hops").iterdir()), "hops are gone after the fit"


def test_a_store_that_is_too_large_for_a_look_falls_back(graphs, monkeypatch):
    monkeypatch.setattr("adagcn.models.support.problem.usable_memory", lambda: 20_000)
    with pytest.warns(PresetNotice, match="falls back to preset 'tuned'"):
        model = fitted(lambda g: AdaGCNClassifier(g, random_state=0, **QUICK), graphs[1])
    expected = fitted(MODELS["tuned"], graphs[0])
    ids = graphs[0].node_ids
    np.testing.assert_array_equal(model.predict_proba(ids), expected.predict_proba(ids))
    with pytest.raises(InputError, match="needs the hops in memory"):
        fitted(lambda g: AdaGCNClassifier(g, teleport="auto"), graphs[1])


def test_a_store_that_was_replaced_is_not_computed_with(tmp_path):
    folder = tmp_path / "store"
    planted_partition(240, 3, 12, seed=2, homophily=0.8, mean_degree=6).to_store(folder)
    opened = Graph.from_store(folder)
    model = fitted(MODELS["instant"], opened)
    shutil.rmtree(folder)
    planted_partition(240, 3, 12, seed=3, homophily=0.8, mean_degree=6).to_store(folder)
    with pytest.raises(IntegrityError, match="another graph than when it was opened"):
        model.predict([0])


def test_other_models_read_the_store_whole(graphs):
    proba = [
        fitted(lambda g: build_model("sgc", g, random_state=0), graph).predict_proba([0, 1])
        for graph in graphs
    ]
    np.testing.assert_array_equal(proba[0], proba[1])


def test_a_stored_graph_is_explained(graphs):
    model = fitted(MODELS["instant"], graphs[1])
    (found,) = model.explain([0], n_neighbors=2, n_features=2)
    assert sum(part.margin for part in found.parts) == pytest.approx(found.margin, abs=1e-10)
