"""A model reads the columns of another table by their names, not by their places."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from adagcn import AdaGCNClassifier, Graph, load_model
from adagcn.data import planted_partition
from adagcn.errors import InputError, OtherGraphWarning
from adagcn.models import MODELS

NAMES = [f"f{i}" for i in range(12)]
QUICK = {"preset": "tuned", "n_layers": 3, "max_epochs": 20, "random_state": 0}


@pytest.fixture(scope="module")
def source() -> Graph:
    return planted_partition(n_nodes=120, n_classes=3, n_features=12, seed=0, homophily=0.9)


def graph_of(source, columns=NAMES, names=None):
    """Return the graph with columns in some order, under their names or others."""
    frame = pd.DataFrame(source.features, columns=NAMES)[list(columns)]
    if names is not None:
        frame.columns = names
    frame.insert(0, "id", source.node_ids)
    edges = np.stack(source.adjacency.nonzero(), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Graph.from_edges(edges, features=frame)


def fitted(source, key="adagcn"):
    settings = QUICK if key == "adagcn" else {"max_epochs": 20, "random_state": 0}
    return MODELS[key](graph_of(source), **settings).fit(range(60), source.labels[:60])


@pytest.mark.parametrize("key", ["adagcn", "gcn", "appnp"])
def test_columns_in_another_order_give_the_same_predictions(source, key):
    model = fitted(source, key)
    assert model.feature_names_in_.tolist() == NAMES
    expected = model.predict_proba(source.node_ids)
    reversed_columns = graph_of(source, NAMES[::-1])
    with pytest.warns(OtherGraphWarning, match="put in the order of the fit, by name"):
        again = model.predict_proba(source.node_ids, graph=reversed_columns)
    np.testing.assert_array_equal(again, expected)


def test_a_file_remembers_the_names(source, tmp_path):
    model = fitted(source)
    model.save(tmp_path / "model.adagcn")
    with pytest.warns(OtherGraphWarning) as told:
        loaded = load_model(tmp_path / "model.adagcn", graph=graph_of(source, NAMES[::-1]))
    assert ["by name" in str(each.message) for each in told] == [True]
    assert loaded.feature_names_in_.tolist() == NAMES
    expected = model.predict_proba(source.node_ids)
    np.testing.assert_array_equal(loaded.predict_proba(source.node_ids), expected)


def test_renamed_and_missing_columns_are_refused(source, tmp_path):
    model = fitted(source)
    model.save(tmp_path / "model.adagcn")
    renamed = graph_of(source, names=[f"g{i}" for i in range(12)])
    fewer = graph_of(source, NAMES[1:])
    for graph, lost in ((renamed, "12 feature columns"), (fewer, r"1 feature column .*\['f0'\]")):
        with pytest.raises(InputError, match=f"the graph lacks {lost}"):
            model.predict([0], graph=graph)
        with pytest.raises(InputError, match=f"the graph lacks {lost}"):
            load_model(tmp_path / "model.adagcn", graph=graph)


def test_columns_that_the_model_does_not_know_are_left_out(source):
    model = fitted(source)
    frame = pd.DataFrame(source.features, columns=NAMES).assign(more=7.0)
    frame.insert(0, "id", source.node_ids)
    edges = np.stack(source.adjacency.nonzero(), axis=1)
    graph = Graph.from_edges(edges[edges[:, 0] < edges[:, 1]], features=frame)
    with pytest.warns(OtherGraphWarning, match=r"1 column that the model does not know left out"):
        again = model.predict_proba(source.node_ids, graph=graph)
    np.testing.assert_array_equal(again, model.predict_proba(source.node_ids))


def test_without_names_columns_go_by_their_number(source):
    model = fitted(source)
    bare = Graph.from_scipy(source.adjacency, source.features)
    np.testing.assert_array_equal(
        model.predict_proba(source.node_ids, graph=bare), model.predict_proba(source.node_ids)
    )
    with pytest.raises(InputError, match="was fitted on 12 features"):
        model.predict([0], graph=Graph.from_scipy(source.adjacency, source.features[:, 1:]))
    plain = AdaGCNClassifier(bare, **QUICK).fit(range(60), source.labels[:60])
    assert not hasattr(plain, "feature_names_in_")
    plain.set_params(graph=graph_of(source)).fit(range(60), source.labels[:60])
    assert plain.feature_names_in_.tolist() == NAMES
    plain.set_params(graph=bare).fit(range(60), source.labels[:60])
    assert not hasattr(plain, "feature_names_in_")


def test_a_feature_that_no_node_has_is_zero_in_a_long_table(tmp_path):
    rows = "node,feature,value\n" + "".join(
        f"n{i},{word},1\n" for i in range(30) for word in (f"c{i % 2}", "all", f"r{i % 5}")
    )
    edges = [(f"n{i}", f"n{(i + 2) % 30}") for i in range(30)]
    table = tmp_path / "long.csv"
    table.write_text(rows)
    graph = Graph.from_edges(edges, features=table)
    ids, y = graph.node_ids, [int(name[1:]) % 2 for name in graph.node_ids]
    model = AdaGCNClassifier(graph, **QUICK).fit(ids, y)
    table.write_text(rows.replace("r4", "new"))
    other = Graph.from_edges(edges, features=table)
    with pytest.warns(OtherGraphWarning, match=r"1 column that the model .*'new'.*'r4'"):
        assert (model.predict(ids, graph=other) == y).all()
