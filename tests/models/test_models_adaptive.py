"""Preset adaptive: settings that say "auto", decided by a look, from fit to file."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from adagcn import AdaGCNClassifier, Graph
from adagcn.boosting import look
from adagcn.data import planted_partition
from adagcn.errors import InputError, PresetNotice
from adagcn.learners import blend, ridge
from adagcn.models import Variant, load_model
from adagcn.models.support import adapting

DECIDED = ("feature_norm", "max_features", "teleport", "pseudo_labels")


def adaptive(graph, **given):
    small = {"max_epochs": 5, "hidden_units": 4, "random_state": 0}
    return AdaGCNClassifier(graph, **{"preset": "adaptive", **small, **given})


def on(task, clf, **more):
    return clf.fit(task.train, task.labels(task.train), **{**task.stopping(), **more})


def proba(task, clf):
    return clf.predict_proba(task.rest)


def check_works(clf, ids, n_classes):
    """Check that a model is whole: settings without "auto", and probabilities of every node."""
    assert "auto" not in {v for k, v in clf.params_.items() if k != "n_layers"}
    said = clf.predict_proba(ids)
    assert said.shape == (len(ids), n_classes)
    assert np.isfinite(said).all()
    np.testing.assert_allclose(said.sum(axis=1), 1.0, atol=1e-6)


# What is decided


def test_choices_are_shown_and_are_what_was_used(task):
    clf = on(task, adaptive(task.graph))
    assert set(DECIDED) <= set(clf.choices_)
    assert {name: clf.params_[name] for name in clf.choices_} == clf.choices_
    assert clf.params_["preset"] == "adaptive"
    check_works(clf, task.rest, 3)
    assert clf.score(task.rest, task.labels(task.rest)) > 0.6


def test_the_sentence_names_what_was_chosen(task):
    clf = on(task, adaptive(task.graph))
    sentence, teleport = clf.params_["look"], clf.params_["teleport"]
    smoothed = f"teleport {teleport:g} (" if teleport else " hop"
    assert smoothed in sentence or "no propagation (" in sentence
    assert "loss" in sentence
    assert "pseudo-labels" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(("teleport", "depth"), [(0.1, "24 layers"), (0.0, "at most {} layers")])
def test_the_sentence_ends_with_the_depth(task, monkeypatch, teleport, depth):
    monkeypatch.setattr(look, "TELEPORTS", (teleport,))
    clf = on(task, adaptive(task.graph))
    most = clf.choices_.get("variant.most_layers")
    assert clf.params_["look"].endswith(f" pseudo-labels, {depth.format(most)}")
    if teleport:
        assert len(clf.layers_) == clf.choices_["n_layers"] == 24
    given = on(task, adaptive(task.graph, n_layers=3))
    assert given.params_["look"].endswith(" pseudo-labels")  # nothing was chosen


RULE = (
    "ridge by stopping loss; columns (1000, 2000, 4000) or all within 0.01; "
    "teleports (0.0, 0.05, 0.1, 0.2, 0.4) with 12 hops, 0.2 within 0.05; "
    "plain hops (0, 1, 2, 4, 8, 12); L2 {'few labels': (0.005, 0.015, 0.05), "
    "'few labels, square roots': (0.015, 0.005, 0.05), 'many labels': (0.0005, 0.005, 0.0)} "
    "beyond 0.015; rows {'train': 2000, 'stop': 1000}"
)
NOT_IN_RULE = {
    (adapting, "FEW_LABELS"): 0.25,
    (adapting, "PSEUDO_LABELS"): 500,
    (adapting, "MOST_LAYERS"): 24,
    (adapting, "LAYERS_BEYOND"): 8,
    (look, "TEMPERATURES"): (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5),
    (look, "MOST_ENTRIES"): 50_000_000,
    (look, "MOST_WORK"): 1e11,
    (look, "FEWEST_HOPS"): 4,
    (ridge, "STRENGTHS"): (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    (ridge, "TEMPERATURES"): (0.03, 0.05, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0),
    (blend, "SHARES"): (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    (blend, "TEMPERATURES"): (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0),
    (blend, "SHARE_WITHOUT_STOPPING"): 0.3,
}


def test_what_decides_beside_the_rule_changes_with_it_alone(task, monkeypatch):
    """The key of a run holds RULE and none of the other constants."""
    told = "a run's key holds look.RULE: whoever changes a constant that decides must change RULE"
    judged, choose = [], look.choose_norm

    def spied(looked, candidates, propagator):
        judged.append(list(candidates))
        return choose(looked, candidates, propagator)

    monkeypatch.setattr(look, "choose_norm", spied)
    on(task, adaptive(task.graph, n_layers=1))
    found = {place: getattr(*place) for place in NOT_IN_RULE}
    assert (look.RULE, found) == (RULE, NOT_IN_RULE), told
    assert judged == [["none", "hellinger"]], told


@pytest.mark.parametrize(
    ("name", "value"),
    [("teleport", 0.3), ("max_features", 7), ("feature_norm", "l1"), ("pseudo_labels", 9)],
)
def test_explicit_values_win_over_the_look(task, name, value):
    clf = on(task, adaptive(task.graph, **{name: value}))
    assert clf.params_[name] == value
    assert name not in clf.choices_
    assert set(DECIDED) - {name} <= set(clf.choices_)
    check_works(clf, task.rest, 3)


@pytest.mark.parametrize("teleport", [0.0, 0.1])
def test_a_limit_on_the_layers_holds_whatever_is_chosen(task, monkeypatch, teleport):
    monkeypatch.setattr(look, "TELEPORTS", (teleport,))
    clf = on(task, adaptive(task.graph, variant=Variant(most_layers=2)))
    assert clf.choices_["teleport"] == teleport
    assert len(clf.layers_) <= 2


def test_one_setting_alone_may_be_left_to_a_look(task):
    clf = on(task, adaptive(task.graph, preset="tuned", teleport="auto", n_layers=3))
    assert set(clf.choices_) == {"teleport"}
    assert clf.params_["max_features"] == 1000
    assert clf.params_["feature_norm"] == "none"  # as the graph's are
    check_works(clf, task.rest, 3)


def test_one_such_setting_goes_on_too(task):
    given = {"preset": "tuned", "teleport": "auto"}
    whole = on(task, adaptive(task.graph, n_layers=4, **given))
    grown = on(task, adaptive(task.graph, n_layers=2, warm_start=True, **given))
    on(task, grown.set_params(n_layers=4))
    assert grown.model_digest_ == whole.model_digest_
    assert grown.choices_ == whole.choices_


@pytest.mark.parametrize("seed", [0, 5])
def test_the_same_seed_gives_the_same_model(task, seed):
    first, second = (on(task, adaptive(task.graph, random_state=seed)) for _ in range(2))
    assert first.choices_ == second.choices_
    assert first.params_["look"] == second.params_["look"]
    assert first.model_digest_ == second.model_digest_
    assert proba(task, first).tobytes() == proba(task, second).tobytes()


def test_labels_of_other_nodes_are_not_looked_at(task):
    """The graph knows all labels; only those handed in may count."""
    wrong = replace(task.graph, labels=np.roll(task.graph.labels, 1))
    clf = adaptive(wrong).fit(task.train, task.labels(task.train), **task.stopping())
    right = on(task, adaptive(task.graph))
    assert clf.params_["look"] == right.params_["look"]
    assert proba(task, clf).tobytes() == proba(task, right).tobytes()


# Files and continuations


def test_a_file_gives_the_same_model_back(task, tmp_path):
    clf = on(task, adaptive(task.graph))
    clf.save(tmp_path / "m.adagcn")
    back = load_model(tmp_path / "m.adagcn", graph=task.graph)
    assert proba(task, back).tobytes() == proba(task, clf).tobytes()
    assert back.params_ == clf.params_
    assert back.params_["look"] == clf.params_["look"]
    assert back.choices_ == clf.choices_
    assert back.model_digest_ == clf.model_digest_


@pytest.mark.parametrize("through_file", [False, True])
def test_a_fit_that_goes_on_keeps_its_choices_and_is_the_fit_in_one_go(
    task, tmp_path, through_file
):
    whole = on(task, adaptive(task.graph, n_layers=8))
    grown = on(task, adaptive(task.graph, n_layers=4, warm_start=True))
    if through_file:
        grown.save(tmp_path / "m.adagcn", continuable=True)
        grown = load_model(tmp_path / "m.adagcn", graph=task.graph).set_params(warm_start=True)
    on(task, grown.set_params(n_layers=8))
    assert len(grown.layers_) == 8
    assert proba(task, grown).tobytes() == proba(task, whole).tobytes()
    assert grown.model_digest_ == whole.model_digest_
    assert grown.choices_ == whole.choices_
    assert grown.params_["look"] == whole.params_["look"]


def test_chains_of_pseudo_labels_go_on_too(task):
    given = {"pseudo_labels": 40, "variant": Variant(pseudo_label_from=2)}
    whole = on(task, adaptive(task.graph, n_layers=6, **given))
    grown = on(task, adaptive(task.graph, n_layers=4, warm_start=True, **given))
    on(task, grown.set_params(n_layers=6))
    assert proba(task, grown).tobytes() == proba(task, whole).tobytes()
    plain = on(task, adaptive(task.graph, n_layers=6, **{**given, "pseudo_labels": 0}))
    assert proba(task, plain).tobytes() != proba(task, whole).tobytes()


def test_a_depth_that_is_chosen_does_not_go_on(task):
    clf = on(task, adaptive(task.graph, warm_start=True))
    with pytest.raises(InputError, match="AGC-I623"):
        on(task, clf)


# Stopping nodes


def test_without_stopping_nodes_it_says_so_and_uses_instant(task):
    labels = task.labels(task.train)
    with pytest.warns(PresetNotice, match="falls back to preset 'instant'") as told:
        clf = adaptive(task.graph).fit(task.train, labels)
    assert told[0].filename == __file__
    instant = AdaGCNClassifier(task.graph, preset="instant", random_state=0)
    instant.fit(task.train, labels)
    assert proba(task, clf).tobytes() == proba(task, instant).tobytes()
    assert clf.choices_ == {}
    assert "look" not in clf.params_
    check_works(clf, task.rest, 3)


def test_a_model_that_fell_back_has_a_file(task, tmp_path):
    with pytest.warns(PresetNotice):
        clf = adaptive(task.graph).fit(task.train, task.labels(task.train))
    clf.save(tmp_path / "m.adagcn")
    back = load_model(tmp_path / "m.adagcn", graph=task.graph)
    assert proba(task, back).tobytes() == proba(task, clf).tobytes()


@pytest.mark.parametrize("preset", ["adaptive", "tuned", "instant"])
@pytest.mark.parametrize("name", DECIDED)
def test_auto_by_name_without_stopping_nodes_is_refused(task, preset, name):
    clf = adaptive(task.graph, preset=preset, **{name: "auto"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no word of a fallback that does not happen
        with pytest.raises(InputError, match="AGC-I653"):
            clf.fit(task.train, task.labels(task.train))


def test_nodes_held_out_of_the_labeled_ones_serve_as_well(task):
    clf = adaptive(task.graph, validation_fraction=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PresetNotice)
        clf.fit(task.train, task.labels(task.train))
    assert set(DECIDED) <= set(clf.choices_)
    assert clf.sample_weights_.shape[1] == 36  # of 45
    assert clf.stop_accuracy_ is not None
    check_works(clf, task.rest, 3)


# Inputs of all kinds


def test_a_class_with_one_labeled_node(task):
    labels = task.labels(task.train)
    train = np.delete(task.train, np.flatnonzero(labels == labels[0])[1:])
    clf = adaptive(task.graph).fit(train, task.labels(train), **task.stopping())
    check_works(clf, task.rest, 3)


def test_a_class_that_no_stopping_node_has(task):
    stop = task.stop[task.labels(task.stop) != 0]
    clf = on(task, adaptive(task.graph), X_val=stop, y_val=task.labels(stop))
    check_works(clf, task.rest, 3)


def test_one_stopping_node(task):
    clf = on(task, adaptive(task.graph), X_val=task.stop[:1], y_val=task.labels(task.stop[:1]))
    check_works(clf, task.rest, 3)


def test_all_nodes_labeled(task):
    train = np.concatenate([task.train, task.rest])
    clf = adaptive(task.graph).fit(train, task.labels(train), **task.stopping())
    assert clf.choices_["pseudo_labels"] == 0
    check_works(clf, task.rest, 3)


def test_no_unlabeled_nodes_to_learn_from(task):
    """Few training nodes ask for pseudo-labels, but all the others are stopping nodes."""
    train = task.train[:20]
    stop = np.setdiff1d(task.graph.node_ids, train)
    given = {"X_val": stop, "y_val": task.labels(stop)}
    clf = adaptive(task.graph, n_layers=10).fit(train, task.labels(train), **given)
    plain = adaptive(task.graph, n_layers=10, pseudo_labels=0)
    plain.fit(train, task.labels(train), **given)
    assert proba(task, clf).tobytes() == proba(task, plain).tobytes()
    check_works(clf, task.rest, 3)


def test_a_graph_without_edges(task):
    bare = replace(task.graph, adjacency=sparse.csr_array(task.graph.adjacency.shape))
    clf = on(task, adaptive(bare))
    check_works(clf, task.rest, 3)
    assert clf.score(task.rest, task.labels(task.rest)) > 0.4


@pytest.mark.parametrize("n_nodes", [200, 1200])
def test_a_graph_without_features(n_nodes, tmp_path):
    source = planted_partition(n_nodes, 2, 4, seed=0, homophily=0.9)
    edges = np.stack(source.adjacency.nonzero(), axis=1)
    graph = Graph.from_edges(edges[edges[:, 0] < edges[:, 1]], node_ids=np.arange(n_nodes))
    order = np.random.default_rng(0).permutation(n_nodes)
    train, stop, rest = np.split(order, [50, 100])
    clf = adaptive(graph).fit(train, source.labels[train], X_val=stop, y_val=source.labels[stop])
    check_works(clf, rest, 2)
    assert (clf.coordinates_ is not None) == (n_nodes > 1000)
    assert clf.columns_ is None
    assert clf.score(rest, source.labels[rest]) > 0.75
    clf.save(tmp_path / "m.adagcn")
    back = load_model(tmp_path / "m.adagcn", graph=graph)
    assert back.predict_proba(rest).tobytes() == clf.predict_proba(rest).tobytes()


def test_two_classes():
    graph = planted_partition(150, 2, 10, seed=2, feature_signal=1.5)
    ids = graph.node_ids
    clf = adaptive(graph).fit(
        ids[:40], graph.labels[:40], X_val=ids[40:70], y_val=graph.labels[40:70]
    )
    check_works(clf, ids[70:], 2)
    assert clf.decision_function(ids[70:]).shape == (80,)


def words(task, n_columns=1500):
    rng = np.random.default_rng(0)
    dense = rng.random((task.graph.n_nodes, n_columns)) < 0.02
    for column in range(60):
        chance = np.where(task.graph.labels == column % 3, 0.4, 0.05)
        dense[:, column] = rng.random(task.graph.n_nodes) < chance
    return dense.astype(np.float32)


def test_sparse_and_dense_features_lead_to_the_same_choices_and_answers(task):
    found = []
    for features in (words(task), sparse.csr_array(words(task))):
        # Dropout draws for each stored value, so that the two would train otherwise.
        given = {"dropout": 0.0, "max_epochs": 2}
        clf = on(task, adaptive(replace(task.graph, features=features), **given))
        check_works(clf, task.rest, 3)
        found.append(clf)
    dense, thin = found
    assert dense.choices_ == thin.choices_
    if dense.columns_ is not None:
        np.testing.assert_array_equal(dense.columns_, thin.columns_)
    np.testing.assert_allclose(proba(task, dense), proba(task, thin), atol=1e-3)


def test_a_directed_graph(task):
    coo = sparse.triu(task.graph.adjacency, k=1).tocoo()
    edges = np.stack([coo.row, coo.col], axis=1)
    graph = Graph.from_edges(
        edges, features=task.graph.features, node_ids=task.graph.node_ids, directed="keep"
    )
    assert graph.is_directed
    clf = on(task, adaptive(graph))
    check_works(clf, task.rest, 3)


def test_node_and_class_weights_reach_the_look(task):
    weight = np.where(np.arange(45) < 30, 1.0, 0.0)
    wrong = task.labels(task.train).copy()
    wrong[30:] = wrong[0]
    given = {"sample_weight": weight, **task.stopping()}
    right = adaptive(task.graph).fit(task.train, task.labels(task.train), **given)
    misled = adaptive(task.graph).fit(task.train, wrong, **given)
    assert misled.params_["look"] == right.params_["look"]
    balanced = on(task, adaptive(task.graph, class_weight="balanced"))
    check_works(balanced, task.rest, 3)


@pytest.mark.parametrize("stopping", [False, True])
def test_a_feature_matrix_works_and_nothing_is_looked_at(stopping):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 6)) + 2.0 * rng.normal(size=(3, 6))[y]
    given = {"X_val": X[60:90], "y_val": y[60:90]} if stopping else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", PresetNotice)
        clf = adaptive(None, max_epochs=100, hidden_units=16).fit(X[:60], y[:60], **given)
    assert clf.choices_ == {}
    assert "look" not in clf.params_
    assert clf.score(X[90:], y[90:]) > 0.8
    check_works(clf, X[90:], 3)


@pytest.mark.parametrize("name", DECIDED)
def test_auto_by_name_needs_a_graph(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    with pytest.raises(InputError, match="AGC-I652"):
        adaptive(None, **{name: "auto"}).fit(X, y)


# Learners


@pytest.mark.parametrize("stopping", [False, True])
@pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")
def test_a_learner_of_ones_own(task, stopping):
    clf = adaptive(task.graph, learner=LogisticRegression(), n_layers=3)
    clf.fit(task.train, task.labels(task.train), **(task.stopping() if stopping else {}))
    assert len(clf.layers_) == 3
    assert isinstance(clf.layers_[0].learner.classifier, LogisticRegression)
    assert (set(DECIDED) <= set(clf.choices_)) is stopping
    check_works(clf, task.rest, 3)
    assert clf.score(task.rest, task.labels(task.rest)) > 0.6


@pytest.mark.parametrize("learner", ["both", "perceptron"])
@pytest.mark.parametrize("preset", ["adaptive", "tuned"])
def test_only_the_ridge_can_judge_nodes_left_out(task, preset, learner):
    variant = Variant(learner=learner, judge="left_out")
    with pytest.raises(InputError, match=f"got \"?'?variant.learner='{learner}'.*AGC-I654"):
        on(task, adaptive(task.graph, preset=preset, variant=variant))
    own = {"preset": "instant", "learner": LogisticRegression()}
    with pytest.raises(InputError, match="AGC-I654"):
        on(task, adaptive(task.graph, variant=Variant(judge="left_out"), **own))


def test_the_ridge_alone_may_be_judged_by_nodes_left_out(task):
    variant = Variant(learner="ridge", judge="left_out")
    clf = on(task, adaptive(task.graph, variant=variant, reweight_rate=0.5, n_layers=3))
    assert clf.layers_[0].learner.left_out.shape == (45, 3)
    check_works(clf, task.rest, 3)
