"""Hops as columns: values, names, forms, and their place in scikit-learn's machinery."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from adagcn import Graph, HopFeatures
from adagcn.errors import InputError, OtherGraphWarning, ResourceError, ScaleNotice
from adagcn.models.support import problem as problems
from adagcn.propagation.normalize import make_propagator


def powers(graph: Graph, n_hops: int, normalization="symmetric", teleport=0.0) -> np.ndarray:
    """[X, ÂX, …] by dense products."""
    propagator = make_propagator(graph.adjacency, normalization, dtype=np.float64).toarray()
    features = graph.features
    features = features if isinstance(features, np.ndarray) else features.toarray()
    hops = [features.astype(np.float64)]
    for _ in range(n_hops):
        hops.append((1 - teleport) * propagator @ hops[-1] + teleport * hops[0])
    return np.hstack(hops)


@pytest.fixture(scope="module")
def people() -> Graph:
    """Six people with named columns."""
    edges = pd.DataFrame({"a": list("abcdea"), "b": list("bcdefc")})
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"id": list("abcdef"), "age": rng.normal(size=6), "income": rng.normal(size=6)}
    )
    labels = dict(zip("abcdef", "xyxyxy", strict=True))
    return Graph.from_edges(edges, features=table, labels=labels)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(("normalization", "teleport"), [("symmetric", 0.0), ("random_walk", 0.3)])
def test_the_columns_are_the_powers_of_the_propagator(task, form, normalization, teleport):
    features = np.asarray(task.graph.features)
    given = features if form == "dense" else sparse.csr_array(features * (features > 1.5))
    graph = replace(task.graph, features=given)
    ids = np.array([7, 3, 3, 149])
    hops = HopFeatures(graph, 3, normalization=normalization, teleport=teleport)
    found = hops.fit(task.train).transform(ids)
    assert isinstance(found, np.ndarray)  # three hops of a small graph fill up
    expected = powers(graph, 3, normalization, teleport)[graph.positions(ids)]
    np.testing.assert_allclose(found, expected, atol=2e-6)
    stored = hops.set_params(sparse_output=True).transform(ids)
    assert isinstance(stored, sparse.csr_array)
    np.testing.assert_array_equal(stored.toarray(), found)


def test_sparse_hops_stay_sparse_until_one_fills_up():
    n_nodes = 400
    ring = (np.arange(n_nodes), np.roll(np.arange(n_nodes), 1))
    words = sparse.random_array((n_nodes, 300), density=0.012, rng=np.random.default_rng(1))
    graph = Graph.from_edges(ring, features=sparse.csr_array(words), node_ids=range(n_nodes))
    ids = [5, 0, 399]
    few, many = HopFeatures(graph, 1).fit(ids), HopFeatures(graph, 4).fit(ids)
    assert isinstance(few.transform(ids), sparse.csr_array)
    assert isinstance(many.transform(ids), np.ndarray)
    asked = HopFeatures(graph, 1, sparse_output=False).fit_transform(ids)
    np.testing.assert_array_equal(asked, few.transform(ids).toarray())
    np.testing.assert_array_equal(many.transform(ids)[:, :600], asked)
    np.testing.assert_allclose(many.transform(ids), powers(graph, 4)[ids], atol=1e-6)


def test_only_the_rows_of_the_asked_nodes_are_gathered(task, monkeypatch):
    gathered = []
    first = problems.MemorySource.first

    class Watched:
        def __init__(self, hop):
            self.hop = hop

        def rows(self, nodes):
            gathered.append(len(nodes))
            return self.hop.rows(nodes)

        def next(self):
            return Watched(self.hop.next())

    monkeypatch.setattr(problems.MemorySource, "first", lambda self: Watched(first(self)))
    HopFeatures(task.graph, 3).fit(task.train).transform(task.train[:5])
    assert gathered == [5, 5, 5, 5]


def test_columns_are_named_after_the_users(people):
    hops = HopFeatures(people, 2).fit(["a"])
    names = ["hop0__age", "hop0__income", "hop1__age", "hop1__income", "hop2__age", "hop2__income"]
    assert hops.get_feature_names_out().tolist() == names
    assert hops.get_feature_names_out(["whatever"]).tolist() == names
    assert hops.set_params(n_hops=0).get_feature_names_out().tolist() == names[:2]


def test_columns_without_names_are_numbered_and_node_columns_have_ids(task):
    assert HopFeatures(task.graph, 1).fit([0]).get_feature_names_out()[[0, 20]].tolist() == [
        "hop0__x0",
        "hop1__x0",
    ]
    graph = Graph.from_edges([("a", "b"), ("b", "c")])
    hops = HopFeatures(graph, 1, sparse_output=False).fit(["a"])
    assert hops.get_feature_names_out()[3:].tolist() == ["hop1__a", "hop1__b", "hop1__c"]
    np.testing.assert_allclose(
        hops.transform(["b"])[0], [0, 1, 0, 1 / 6**0.5, 1 / 3, 1 / 6**0.5], rtol=1e-6
    )


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_come_with_the_names(people, kind, frame):
    hops = HopFeatures(people, 1).set_output(transform=kind)
    found = hops.fit_transform(["f", "a"])
    assert isinstance(found, frame)
    assert list(found.columns) == hops.get_feature_names_out().tolist()
    np.testing.assert_allclose(found.to_numpy(), powers(people, 1)[[5, 0]], rtol=1e-5)
    stored = replace(people, features=sparse.csr_array(people.features))
    asked = HopFeatures(stored, 0, sparse_output=True).set_output(transform=kind)
    assert isinstance(asked.fit_transform(["a"]), frame)  # no frame is sparse


def test_a_clone_shares_the_graph_and_a_pickle_gives_the_same(people):
    hops = HopFeatures(people, 1).fit(["a"])
    assert clone(hops).graph is people
    again = pickle.loads(pickle.dumps(hops))
    np.testing.assert_array_equal(again.transform(["b"]), hops.transform(["b"]))


def test_scikit_learns_contract_for_ids(task):
    hops = HopFeatures(task.graph, 1, teleport=0.1)
    given = hops.get_params()
    assert clone(hops).get_params() == given
    assert hops.fit(task.train) is hops
    assert hops.get_params() == given  # a fit changes no parameter
    state = dict(vars(hops))
    before = task.rest.copy()
    found = hops.transform(task.rest)
    assert vars(hops) == state  # nor does a transform change the state
    np.testing.assert_array_equal(task.rest, before)
    again = hops.fit(task.rest[:3]).transform(task.rest)  # which nodes a fit sees is no matter
    np.testing.assert_array_equal(found, again)
    by_one = np.vstack([hops.transform(task.rest[i : i + 1]) for i in range(5)])
    np.testing.assert_array_equal(found[:5], by_one)
    assert hops.transform(task.rest[:0]).shape == (0, 40)
    assert "HopFeatures" in make_pipeline(hops, LogisticRegression())._repr_html_()


def test_labels_are_never_read(task):
    other = replace(task.graph, labels=np.roll(task.graph.labels, 7))
    plain = HopFeatures(task.graph).fit(task.train, task.labels(task.train)).transform(task.rest)
    np.testing.assert_array_equal(HopFeatures(other).fit(task.train).transform(task.rest), plain)
    bare = replace(task.graph, labels=np.full(task.graph.n_nodes, -1))
    np.testing.assert_array_equal(HopFeatures(bare).fit_transform(task.rest), plain)


def test_pipelines_grids_and_cross_validation_slice_nodes(task):
    ids, labels = task.graph.node_ids, task.labels(task.graph.node_ids)
    pipeline = make_pipeline(HopFeatures(task.graph), LogisticRegression())
    grid = GridSearchCV(pipeline, {"hopfeatures__n_hops": np.array([0, 1, 2])}, cv=3)
    grid.fit(ids, labels)
    by_hops = grid.cv_results_["mean_test_score"]
    assert by_hops[1:].max() > by_hops[0]  # the classes are groups of neighbors
    best = grid.best_estimator_
    assert best[:-1].get_feature_names_out()[0] == "hop0__x0"
    assert cross_val_score(best, ids, labels, cv=3).mean() > 0.8
    assert grid.predict(task.rest).shape == task.rest.shape


def test_lightgbm_takes_the_table_and_the_frame(task):
    lightgbm = pytest.importorskip("lightgbm")
    trees = lightgbm.LGBMClassifier(n_estimators=30, n_jobs=1, verbose=-1)
    labels = task.labels(task.train)
    pipeline = make_pipeline(HopFeatures(task.graph, 1), trees)
    pipeline.set_output(transform="pandas")
    named = pipeline.fit(task.train, labels)
    assert named[-1].feature_name_[-1] == "hop1__x19"
    assert (named.predict(task.train) == labels).mean() > 0.8


def test_ids_can_be_a_column_beside_others(people):
    table = pd.DataFrame({"who": list("cab"), "height": [1.0, 2.0, 3.0]})
    parts = [("hops", HopFeatures(people, 1), ["who"]), ("own", "passthrough", ["height"])]
    joined = ColumnTransformer(parts, verbose_feature_names_out=False)
    found = joined.set_output(transform="pandas").fit_transform(table)
    assert list(found.columns)[-2:] == ["hop1__income", "height"]
    np.testing.assert_allclose(found.to_numpy()[:, :4], powers(people, 1)[[2, 0, 1]], rtol=1e-5)


def test_another_graph_is_scaled_and_ordered_as_the_first(people):
    wide = replace(people, features=people.features * np.array([1.0, 5e4], dtype=np.float32))
    with pytest.warns(ScaleNotice):
        hops = HopFeatures(wide, 1).fit(["a"])
    assert hops.feature_norm_ == "standard"
    doubled = replace(wide, features=2 * wide.features)
    center, deviation = hops.column_scale_
    expected = (doubled.features[:1] - center) / deviation
    np.testing.assert_allclose(hops.transform(["a"], graph=doubled)[:, :2], expected, rtol=1e-5)
    turned = replace(
        wide, features=wide.features[:, ::-1], feature_names=np.array(["income", "age"])
    )
    with pytest.warns(OtherGraphWarning, match="in the order of the fit"):
        again = hops.transform(["a", "c"], graph=turned)
    np.testing.assert_array_equal(again, hops.transform(["a", "c"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_hops": -1}, "n_hops: should be greater than or equal to 0; got -1"),
        ({"n_hops": 1.5}, "n_hops: should be a valid integer; got 1.5"),
        ({"n_hops": True}, "n_hops: should be a valid integer; got True"),
        ({"teleport": 1.0}, "teleport: should be less than 1; got 1.0"),
        ({"normalization": "max"}, "normalization: should be 'symmetric' or 'random_walk'"),
        ({"feature_norm": "l7"}, "feature_norm: should be"),
        ({"sparse_output": "yes"}, "sparse_output: should be"),
    ],
)
def test_wrong_settings_are_refused_by_name(people, settings, message):
    with pytest.raises(InputError, match=message):
        HopFeatures(people, **settings).fit(["a"])


def test_wrong_graphs_and_ids_are_refused(people):
    with pytest.raises(InputError, match="HopFeatures needs a graph"):
        HopFeatures(None).fit(["a"])
    with pytest.raises(InputError, match="graph must be a Graph; got 'cora'"):
        HopFeatures("cora").fit(["a"])
    with pytest.raises(InputError, match="'zoe'"):
        HopFeatures(people).fit(["zoe"])
    hops = HopFeatures(people).fit(["a"])
    with pytest.raises(InputError, match="'zoe'"):
        hops.transform(["zoe"])
    other = replace(people, feature_names=np.array(["age", "shoes"]))
    with pytest.raises(InputError, match="lacks 1 feature column"):
        hops.transform(["a"], graph=other)
    with pytest.raises(NotFittedError):
        HopFeatures(people).transform(["a"])


def test_a_table_that_cannot_fit_is_refused_before_it_is_made(people, monkeypatch):
    monkeypatch.setattr("adagcn.engines.memory.physical_memory", lambda: 30)
    hops = HopFeatures(people, 1, sparse_output=False).fit(["a"])
    with pytest.raises(ResourceError, match="a dense table of all hops would take"):
        hops.transform(["a", "b"])
