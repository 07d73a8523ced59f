"""The contract of every registered model on node ids; a new model only has to register."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from adagcn import Graph
from adagcn.errors import AdaGCNError, InputError
from adagcn.models import MODELS
from adagcn.models.support.graph_model import GraphModelClassifier

# Which row of a study stands in for a graph is no fault.
pytestmark = pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")

# Short enough for a suite, long enough to learn something.
QUICK = {"n_layers": 3, "max_epochs": 15, "random_state": 0}
QUICK_SYSTEM = {"max_epochs": 100, "random_state": 0}  # one training instead of one per layer

# One of each kind: boosted, spectral, sampled, spread labels, closed form, random propagation.
# `make test` runs the contract on these; `make test-full` on every model.
SOME_OF_EACH_KIND = {
    "adagcn", "adasgc", "mlp", "logistic", "gcn", "appnp", "label_propagation", "graphsage",
    "bt_fp", "pta", "grand",
}  # fmt: skip


def over(models):
    """Return a mark that runs a test over some models, given by key."""
    return pytest.mark.parametrize(
        "model", [pytest.param(model, id=key, marks=dose(key)) for key, model in models.items()]
    )


def dose(key):
    return () if key in SOME_OF_EACH_KIND else pytest.mark.full


every_model = over(MODELS)
SYSTEMS = {key: model for key, model in MODELS.items() if issubclass(model, GraphModelClassifier)}
every_system = over(SYSTEMS)


def parameters(model):
    return set(model().get_params(deep=False))


def quick(model, **settings):
    """Return those quick settings that the model has; explicit ones must exist."""
    assert set(settings) <= parameters(model)
    short = QUICK_SYSTEM if model in SYSTEMS.values() else {"preset": "tuned", **QUICK}
    return {**{k: v for k, v in short.items() if k in parameters(model)}, **settings}


def steady(model, **settings):
    """Return quick settings without dropout, whose draws depend on how features are stored."""
    rates = {name: 0.0 for name in parameters(model) if name.endswith("dropout")}
    return quick(model, **rates, **settings)


def having(*names):
    """Return a mark that runs a test over the models with these parameters."""
    models = {key: model for key, model in MODELS.items() if set(names) <= parameters(model)}
    assert models
    return over(models)


@parametrize_with_checks([model() for key, model in MODELS.items() if key not in SYSTEMS])
def test_scikit_learn_checks_without_a_graph(estimator, check):
    # Warnings that scikit-learn's own checks provoke are its business.
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


@every_model
def test_fit_returns_self_and_learns(model, task):
    clf = model(task.graph, **quick(model))
    assert clf.fit(task.train, task.labels(task.train), **task.stopping()) is clf
    assert clf.score(task.rest, task.labels(task.rest)) > 0.6
    assert clf.classes_.tolist() == sorted(set(task.labels(task.train).tolist()))
    assert clf.n_features_in_ == task.graph.n_features


@every_model
def test_predict_is_the_most_probable_class(model, task):
    clf = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    proba = clf.predict_proba(task.rest)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
    predicted = clf.predict(task.rest)
    np.testing.assert_array_equal(predicted, clf.classes_[proba.argmax(axis=1)])
    decision = clf.decision_function(task.rest)
    np.testing.assert_array_equal(predicted, clf.classes_[decision.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(task.rest)), proba)


@every_model
@pytest.mark.filterwarnings("ignore::adagcn.CalibrationNotice")
def test_calibration_changes_probabilities_and_no_label(model, task, tmp_path):
    calibrated, rest = task.rest[:30], task.rest[30:]
    nodes = {**task.stopping(), "X_cal": calibrated, "y_cal": task.labels(calibrated)}
    plain = model(task.graph, **quick(model))
    plain.fit(task.train, task.labels(task.train), **task.stopping())
    clf = model(task.graph, **quick(model, calibrate="temperature"))
    clf.fit(task.train, task.labels(task.train), **nodes)
    np.testing.assert_array_equal(clf.predict(rest), plain.predict(rest))
    proba = plain.predict_proba(rest) ** (1.0 / clf.temperature_)
    proba /= proba.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_proba(rest), proba, atol=1e-9)
    held_out = [m.predict_proba(task.stop) for m in (plain, clf)]
    at_label = [p[np.arange(30), plain.classes_.searchsorted(nodes["y_val"])] for p in held_out]
    with np.errstate(divide="ignore"):
        losses = [-np.log(each).mean() for each in at_label]
    assert losses[1] <= losses[0] + 1e-9
    sets = clf.predict_set(rest, 0.9)
    assert sets.covers(task.labels(rest)).mean() > 0.7
    clf.save(tmp_path / "m.adagcn")
    again = model.load(tmp_path / "m.adagcn", graph=task.graph)
    np.testing.assert_array_equal(again.predict_proba(rest), clf.predict_proba(rest))
    np.testing.assert_array_equal(again.predict_set(rest, 0.9), sets)


@having("n_layers", "warm_start")
def test_stages_end_in_the_prediction(model, task):
    y = task.labels(task.train)
    clf = model(task.graph, **quick(model)).fit(task.train, y)
    assert len(list(clf.staged_predict(task.rest))) == 3
    *_, last = clf.staged_predict_proba(task.rest)
    np.testing.assert_array_equal(last, clf.predict_proba(task.rest))
    *_, last = clf.staged_decision_function(task.rest)
    np.testing.assert_array_equal(last, clf.decision_function(task.rest))
    *_, last = clf.staged_score(task.rest, task.labels(task.rest))
    assert last == clf.score(task.rest, task.labels(task.rest))
    shallow = model(task.graph, **quick(model, n_layers=1)).fit(task.train, y)
    first = next(clf.staged_predict_proba(task.rest))
    np.testing.assert_array_equal(first, shallow.predict_proba(task.rest))


@having("learning_rate")
def test_same_seed_same_bytes_and_another_seed_another_model(model, task):
    y = task.labels(task.train)
    fits = [model(task.graph, **quick(model)).fit(task.train, y) for _ in range(2)]
    assert fits[0].model_digest_ == fits[1].model_digest_
    other = model(task.graph, **quick(model, random_state=1)).fit(task.train, y)
    assert other.model_digest_ != fits[0].model_digest_


@every_model
def test_fit_again_forgets_the_first_fit(model, task):
    clf = model(task.graph, **quick(model)).fit(task.stop, task.labels(task.stop))
    again = clf.fit(task.train, task.labels(task.train)).model_digest_
    fresh = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    assert fresh.model_digest_ == again


@having("dropout")
def test_global_random_state_is_neither_used_nor_touched(model, task):
    import torch

    np.random.seed(7)  # noqa: NPY002
    torch.manual_seed(7)
    before = np.random.get_state()[1].copy(), torch.get_rng_state().clone()  # noqa: NPY002
    clf = model(task.graph, **quick(model, dropout=0.3)).fit(task.train, task.labels(task.train))
    assert (np.random.get_state()[1] == before[0]).all()  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), before[1])
    torch.manual_seed(8)
    again = model(task.graph, **quick(model, dropout=0.3)).fit(task.train, task.labels(task.train))
    assert again.model_digest_ == clf.model_digest_


@every_model
def test_order_of_the_ids_does_not_matter_to_predictions(model, task):
    clf = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    proba = clf.predict_proba(task.rest)
    order = np.random.default_rng(1).permutation(len(task.rest))
    np.testing.assert_allclose(clf.predict_proba(task.rest[order]), proba[order], atol=1e-6)
    np.testing.assert_allclose(clf.predict_proba(task.rest[:1]), proba[:1], atol=1e-6)


@every_model
@pytest.mark.parametrize(
    "form",
    [list, pd.Series, pl.Series, lambda ids: ids[:, None], lambda ids: ids.astype(np.int32)],
    ids=["list", "pandas", "polars", "column", "int32"],
)
def test_ids_come_in_any_container(model, task, form):
    expected = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    clf = model(task.graph, **quick(model)).fit(form(task.train), form(task.labels(task.train)))
    np.testing.assert_array_equal(
        clf.predict_proba(form(task.rest)), expected.predict_proba(task.rest)
    )


@every_model
@pytest.mark.parametrize(
    "names",
    [["b", "a", "c"], [10**9, -5, 7], [True, False], ["é", "e\u0301", "x"]],
    ids=["str", "int", "bool", "unicode"],
)
def test_labels_of_any_type_come_back_as_they_were(model, task, names):
    y = np.array(names)[task.labels(task.train) % len(names)]
    clf = model(task.graph, **quick(model)).fit(task.train, y)
    assert set(clf.predict(task.rest).tolist()) <= set(names)
    assert clf.classes_.tolist() == sorted(names)


@every_model
def test_two_classes_give_one_decision_per_node(model, task):
    y = task.labels(task.train) == 0
    clf = model(task.graph, **quick(model)).fit(task.train, y)
    decision = clf.decision_function(task.rest)
    assert decision.shape == (len(task.rest),)
    np.testing.assert_array_equal(decision > 0, clf.predict(task.rest))


@every_model
def test_string_ids_work_like_integers(model, task):
    graph = task.graph
    named = Graph.from_scipy(
        graph.adjacency, graph.features, node_ids=[f"n{i:03d}" for i in graph.node_ids]
    )
    y = task.labels(task.train)
    clf = model(named, **quick(model)).fit([f"n{i:03d}" for i in task.train], y)
    expected = model(graph, **quick(model)).fit(task.train, y)
    np.testing.assert_array_equal(
        clf.predict_proba([f"n{i:03d}" for i in task.rest]), expected.predict_proba(task.rest)
    )


@every_model
def test_labels_of_other_nodes_cannot_reach_the_model(model, task):
    graph = task.graph
    shuffled = copy.copy(graph.labels)
    others = graph.positions(task.rest)
    shuffled[others] = np.random.default_rng(0).permutation(shuffled[others])
    y = task.labels(task.train)
    digests = set()
    for labels in (graph.labels, shuffled, None):
        twin = Graph.from_scipy(graph.adjacency, graph.features, labels)
        clf = model(twin, **quick(model)).fit(task.train, y, **task.stopping())
        digests.add(clf.model_digest_)
    assert len(digests) == 1


@every_model
def test_sample_weight_zero_is_the_same_as_leaving_out(model, task):
    y = task.labels(task.train)
    weight = np.r_[np.ones(30), np.zeros(15)]
    kept = model(task.graph.astype(np.float64), **quick(model)).fit(task.train[:30], y[:30])
    weighed = model(task.graph.astype(np.float64), **quick(model)).fit(
        task.train, y, sample_weight=weight
    )
    np.testing.assert_allclose(
        weighed.predict_proba(task.rest), kept.predict_proba(task.rest), atol=1e-7
    )


@every_model
def test_class_weight_moves_predictions_towards_the_class(model, task):
    y = task.labels(task.train)
    counts = []
    # A perfect fit has no use for weights, nor have many learners with equal votes.
    mild = {"C": 1.0, "n_learners": 1}
    mild = {name: value for name, value in mild.items() if name in parameters(model)}
    for class_weight in (None, {0: 30.0, 1: 1.0, 2: 1.0}):
        clf = model(task.graph, **quick(model, class_weight=class_weight, **mild))
        clf.fit(task.train, y)
        counts.append((clf.predict(task.rest) == 0).sum())
    assert counts[1] > counts[0]


@every_model
def test_balanced_classes_weigh_the_same(model, task):
    y = task.labels(task.train)
    if model in SYSTEMS.values():  # the weights of a class are those of its nodes
        counts = np.bincount(y[:20])
        by_class = model(task.graph, **quick(model, class_weight="balanced"))
        by_node = model(task.graph, **quick(model))
        by_class.fit(task.train[:20], y[:20])
        by_node.fit(task.train[:20], y[:20], sample_weight=1.0 / counts[y[:20]])
        proba = by_class.predict_proba(task.rest)
        np.testing.assert_allclose(by_node.predict_proba(task.rest), proba, atol=1e-4)
        return
    balanced = model(task.graph, **quick(model, class_weight="balanced")).fit(
        task.train[:20], y[:20]
    )
    weights, codes = balanced.sample_weights_[0], np.searchsorted(balanced.classes_, y[:20])
    totals = np.bincount(codes, weights)
    np.testing.assert_allclose(totals, totals[0])


@having("n_layers", "warm_start")
def test_warm_start_adds_hops_and_equals_one_go(model, task):
    y = task.labels(task.train)
    whole = model(task.graph, **quick(model, n_layers=5)).fit(task.train, y, **task.stopping())
    grown = model(task.graph, **quick(model, warm_start=True)).fit(task.train, y, **task.stopping())
    first_layers = grown.layers_
    grown.set_params(n_layers=5).fit(task.train, y, **task.stopping())
    assert grown.layers_[:3] == first_layers
    assert grown.model_digest_ == whole.model_digest_
    with pytest.raises(InputError, match="warm_start adds layers to the 5 there are; got 2"):
        grown.set_params(n_layers=2).fit(task.train, y, **task.stopping())
    with pytest.raises(InputError, match=r"this one differs: .*X lacks 25 earlier nodes"):
        grown.set_params(n_layers=6).fit(task.train[:20], y[:20])


@having("n_layers", "warm_start")
def test_auto_depth_keeps_a_prefix_of_the_deep_model(model, task):
    y = task.labels(task.train)
    auto = model(task.graph, **quick(model, n_layers="auto")).fit(task.train, y, **task.stopping())
    n_layers = len(auto.layers_)
    fixed = model(task.graph, **quick(model, n_layers=n_layers)).fit(
        task.train, y, **task.stopping()
    )
    np.testing.assert_array_equal(auto.predict_proba(task.rest), fixed.predict_proba(task.rest))
    with pytest.raises(InputError, match="n_layers='auto' needs stopping nodes"):
        model(task.graph, **quick(model, n_layers="auto")).fit(task.train, y)


@every_model
def test_new_nodes_and_edges_are_predicted_on_another_graph(model, task):
    graph = task.graph
    clf = model(graph, **quick(model)).fit(task.train, task.labels(task.train))
    np.testing.assert_array_equal(clf.predict(task.rest, graph=graph), clf.predict(task.rest))

    adjacency = sparse.lil_array((151, 151), dtype=np.float32)
    adjacency[:150, :150] = graph.adjacency
    friends = np.flatnonzero(graph.labels == 2)[:5]
    adjacency[150, friends] = adjacency[friends, 150] = 1.0
    mean = np.asarray(graph.features[friends].mean(axis=0)).reshape(1, -1)
    features = sparse.vstack([sparse.csr_array(graph.features), sparse.csr_array(mean)])
    tomorrow = Graph.from_scipy(adjacency.tocsr(), features)
    assert clf.predict([150], graph=tomorrow).tolist() == [2]
    narrow = Graph.from_scipy(graph.adjacency, np.ones((150, 3)))
    with pytest.raises(InputError, match="fitted on 20 features per node"):
        clf.predict([0], graph=narrow)


@every_model
def test_feature_norm_is_remembered_for_other_graphs(model, task):
    graph = task.graph
    clf = model(graph, **quick(model, feature_norm="l1")).fit(task.train, task.labels(task.train))
    scaled = Graph.from_scipy(graph.adjacency, graph.features * 3.0)
    np.testing.assert_allclose(
        clf.predict_proba(task.rest, graph=scaled), clf.predict_proba(task.rest), atol=1e-5
    )
    raw = model(graph, **quick(model)).fit(task.train, task.labels(task.train))
    assert raw.params_["feature_norm"] == "none"


@every_model
def test_the_order_of_nodes_in_the_graph_does_not_matter(model, task):
    graph, order = task.graph, np.random.default_rng(2).permutation(150)
    adjacency, features = graph.adjacency[order][:, order], graph.features[order]
    twin = Graph.from_scipy(adjacency, features, node_ids=graph.node_ids[order])
    y = task.labels(task.train)
    fits = [
        model(each.astype(np.float64), **steady(model)).fit(task.train, y, **task.stopping())
        for each in (graph, twin)
    ]
    np.testing.assert_allclose(
        fits[0].predict_proba(task.rest), fits[1].predict_proba(task.rest), atol=1e-6
    )


@every_system
def test_a_system_says_that_it_needs_a_graph(model, task):
    with pytest.raises(InputError, match=f"{model.__name__} needs a graph: X is ids of its nodes"):
        model().fit(task.train, task.labels(task.train))


@every_system
def test_a_system_is_one_stage(model, task):
    clf = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    y = task.labels(task.rest)
    assert list(clf.staged_score(task.rest, y)) == [clf.score(task.rest, y)]
    assert len(clf.n_epochs_) == 1
    resolved = clf.resolved_params()
    resolved.pop("feature_norm", None)  # what the graph has, made explicit
    assert clf.params_.items() >= resolved.items()


@every_system
def test_repeated_ids_are_predicted_once_each(model, task):
    clf = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    ids = task.rest[[3, 1, 3]]
    proba = clf.predict_proba(ids)
    np.testing.assert_array_equal(proba[0], proba[2])
    np.testing.assert_allclose(proba[1], clf.predict_proba(task.rest)[1], atol=1e-6)


@every_model
def test_isolated_nodes_and_graphs_without_edges_work(model, task):
    graph = Graph.from_edges([(0, 1)], features=task.graph.features, node_ids=range(150))
    clf = model(graph, **quick(model)).fit(task.train, task.labels(task.train))
    assert clf.predict(task.rest).shape == task.rest.shape


@every_model
def test_features_dense_or_sparse_give_the_same_answer(model, task):
    graph = task.graph
    dense = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    proba = []
    for features in (dense, sparse.csr_array(dense), np.asfortranarray(dense)):
        twin = Graph.from_scipy(graph.adjacency, features).astype(np.float64)
        clf = model(twin, **steady(model)).fit(task.train, task.labels(task.train))
        proba.append(clf.predict_proba(task.rest))
    np.testing.assert_allclose(proba[1], proba[0], atol=1e-9)
    np.testing.assert_allclose(proba[2], proba[0], atol=1e-9)


@every_model
def test_clone_shares_the_graph_and_parameters_survive(model, task):
    clf = model(task.graph, **quick(model))
    twin = clone(clf)
    assert twin.graph is task.graph
    assert twin.get_params() == clf.get_params()
    assert "\n" not in repr(task.graph)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        clf.predict(task.rest)


@every_model
def test_pickle_and_deepcopy_round_trip(model, task):
    clf = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    for twin in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        np.testing.assert_array_equal(twin.predict_proba(task.rest), clf.predict_proba(task.rest))


@every_model
def test_scikit_learn_tools_work_over_node_ids(model, task):
    ids = np.r_[task.train, task.stop]
    y = task.labels(ids)
    clf = model(task.graph, **quick(model))
    assert cross_val_score(clf, ids, y, cv=3).mean() > 0.5
    search = GridSearchCV(clf, {"class_weight": [None, "balanced"]}, cv=2).fit(ids, y)
    assert search.best_estimator_.graph is task.graph
    pipeline = Pipeline([("nodes", "passthrough"), ("model", clone(clf))]).fit(ids, y)
    assert pipeline.score(task.rest, task.labels(task.rest)) > 0.5
    calibrated = CalibratedClassifierCV(clf, cv=2, method="temperature").fit(ids, y)
    np.testing.assert_allclose(calibrated.predict_proba(task.rest).sum(axis=1), 1.0)


@every_model
def test_serial_cross_validation_makes_no_copy_of_the_graph(model):
    features = np.random.default_rng(0).random((200, 40_000), dtype=np.float32)  # 32 MB
    features[:, 1:] = 0.0
    graph = Graph.from_scipy(sparse.eye_array(200, k=1) + sparse.eye_array(200, k=-1), features)
    ids, y = np.arange(40), np.arange(40) % 2
    small = {"n_layers": 1, "max_epochs": 1, "hidden_units": 2}
    clf = model(graph, **quick(model, **{k: v for k, v in small.items() if k in parameters(model)}))
    cross_val_score(clf, ids, y, cv=2)  # warm the caches of everything else
    tracemalloc.start()
    cross_val_score(clf, ids, y, cv=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The rows of 40 nodes, never a second copy of all; where every node counts, one for torch.
    copies = 2.5 if issubclass(model, GraphModelClassifier) else 1.0
    assert peak < copies * graph.features.nbytes


@every_model
def test_a_scaler_in_front_is_refused_with_the_reason(model, task):
    pipeline = Pipeline([("scale", StandardScaler()), ("model", model(task.graph, **quick(model)))])
    with pytest.raises(InputError, match=r"float"):
        pipeline.fit(task.train[:, None], task.labels(task.train))


def bad_fits(task):
    """Return (arguments of fit, what the message must say) for every kind of bad input."""
    y = task.labels(task.train)
    nan = y.astype(float)
    nan[3] = np.nan
    mask = np.zeros(150, dtype=bool)
    return {
        "unknown id": ((np.r_[task.train[:-1], 999], y), {}, "999"),
        "float ids": ((task.train + 0.5, y), {}, "float"),
        "mask as ids": ((mask, y), {}, "bool"),
        "string ids": ((task.train.astype(str), y), {}, "string"),
        "repeated id": ((np.r_[task.train[:-1], task.train[0]], y), {}, "more than once"),
        "no ids": (([], []), {}, "no nodes"),
        "labels too short": ((task.train, y[:-1]), {}, "44 labels"),
        "labels too long": ((task.train, np.r_[y, 0]), {}, "46 labels"),
        "one-hot labels": ((task.train, np.eye(3)[y]), {}, r"shape \(45, 3\)"),
        "fractional labels": ((task.train, y + 0.5), {}, "class labels"),
        "NaN label": ((task.train, nan), {}, "1 missing label, first at position 3"),
        "None label": ((task.train, [None, *y[1:]]), {}, "1 missing label, first at position 0"),
        "mixed labels": (
            (task.train, np.array(["a", 1] * 22 + ["a"], dtype=object)),
            {},
            "class labels",
        ),
        "complex labels": ((task.train, y + 1j), {}, "class labels"),
        "one class": ((task.train, np.zeros(45)), {}, "at least two classes"),
        "overlap": (
            (task.train, y),
            {"X_val": task.train[:3], "y_val": y[:3]},
            "X and X_val share 3 nodes",
        ),
        "X_val alone": ((task.train, y), {"X_val": task.stop}, "X_val and y_val go together"),
        "y_val alone": ((task.train, y), {"y_val": y}, "X_val and y_val go together"),
        "unseen stop label": (
            (task.train, y),
            {"X_val": task.stop[:2], "y_val": [0, 77]},
            r"no training node has; got \[77\]",
        ),
        "negative weight": (
            (task.train, y),
            {"sample_weight": np.r_[-1.0, np.ones(44)]},
            "first at position 0; got -1.0",
        ),
        "NaN weight": ((task.train, y), {"sample_weight": np.full(45, np.nan)}, "finite"),
        "zero weights": ((task.train, y), {"sample_weight": np.zeros(45)}, "all zero"),
        "weights too short": ((task.train, y), {"sample_weight": [1.0]}, r"shape \(1,\)"),
    }


BAD_FITS = [
    "unknown id", "float ids", "mask as ids", "string ids", "repeated id", "no ids",
    "labels too short", "labels too long", "one-hot labels", "fractional labels", "NaN label",
    "None label", "mixed labels", "complex labels", "one class", "overlap", "X_val alone",
    "y_val alone", "unseen stop label", "negative weight", "NaN weight", "zero weights",
    "weights too short",
]  # fmt: skip


@every_model
@pytest.mark.parametrize("case", BAD_FITS)
def test_bad_input_gets_one_clear_error_and_nothing_is_lost(model, task, case):
    assert set(BAD_FITS) == set(bad_fits(task))
    (ids, y), options, message = bad_fits(task)[case]
    clf = model(task.graph, **quick(model)).fit(task.train, task.labels(task.train))
    before = clf.model_digest_
    with pytest.raises(AdaGCNError, match=message) as caught:
        clf.fit(ids, y, **options)
    assert "\n" not in str(caught.value)
    assert caught.value.code in str(caught.value)
    assert clf.model_digest_ == before


BAD_SETTINGS = [
    ({"n_layers": 0}, "n_layers: should be greater than or equal to 1.*got 0"),
    ({"n_layers": "deep", "warm_start": False}, "n_layers: .*'auto'.*got 'deep'"),
    ({"hidden_units": "wide"}, "hidden_units: should be a valid integer.*got 'wide'"),
    ({"n_layers": 2.5}, "n_layers: .*integer.*got 2.5"),
    ({"learning_rate": float("nan")}, "learning_rate"),
    ({"learning_rate": -1.0}, "learning_rate: should be greater than 0; got -1.0"),
    ({"patience": 0}, "patience"),
    ({"dropout": 1.0}, "dropout: should be less than 1; got 1.0"),
    ({"combine": "vote"}, "combine: should be 'samme_r', 'samme', 'ema' or 'last'"),
    ({"variant": {"stop_on": "luck"}}, r"variant\.stop_on: should be 'ranked', 'loss'.*'luck'"),
    ({"variant": {"stop_onn": 1}}, r"no switch variant\.stop_onn.*Did you mean stop_on"),
    ({"variant": 3}, "variant must be a Variant; got 3"),
    ({"preset": "paperr"}, "Did you mean 'paper'|got 'paperr'. '[a-z]+' is the default"),
    ({"random_state": -1}, "random_state"),
    ({"class_weight": "heavy"}, "class_weight"),
    ({"device": "quantum"}, "device cannot be used here"),
    ({"validation_fraction": 0.001}, "validation_fraction cannot be set aside"),
]


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        pytest.param(
            model, settings, message, id=f"{key}-{'-'.join(settings)}-{number}", marks=dose(key)
        )
        for key, model in MODELS.items()
        for number, (settings, message) in enumerate(BAD_SETTINGS)
        if set(settings) <= parameters(model)
    ],
)
def test_bad_settings_are_refused_by_name(model, task, settings, message):
    clf = model(task.graph, **quick(model, **settings))
    with pytest.raises(InputError, match=message):
        clf.fit(task.train, task.labels(task.train))


@having("n_layers", "learning_rate")
def test_numpy_scalars_are_numbers_too(model, task):
    given = {"n_layers": np.int64(2), "learning_rate": np.float32(0.01), "max_epochs": 2}
    clf = model(task.graph, **quick(model, **given)).fit(task.train, task.labels(task.train))
    assert clf.params_["n_layers"] == 2
