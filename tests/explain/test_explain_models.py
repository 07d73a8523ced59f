"""An explanation adds up to what the model says, whatever the model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from sklearn.linear_model import LogisticRegression

from adagcn import AdaGCNClassifier, AdaSGCClassifier, Graph, InputError, Variant, load_model
from adagcn.data import planted_partition
from adagcn.models.mlp import PerceptronClassifier
from adagcn.propagation.normalize import make_propagator

QUICK = {"n_layers": 4, "max_epochs": 15, "hidden_units": 8, "pseudo_labels": 10}
LINEAR = {"n_layers": 4, "max_epochs": 15, "pseudo_labels": 0, "teleport": 0.2}
COLUMNS = tuple(f"word {k}" for k in range(12))


def small_graph(n_classes=3, **changes):
    """100 nodes, fewer than are looked at, so that every node can be listed."""
    drawn = planted_partition(100, n_classes, 12, seed=3, homophily=0.8, mean_degree=3)
    parts = {
        "features": np.abs(drawn.features),
        "labels": drawn.classes[drawn.labels],
        "feature_names": list(COLUMNS),
        "node_ids": np.arange(100),
        **changes,
    }
    return Graph.from_edges(drawn.adjacency.nonzero(), **parts)


def fitted(graph, kind=AdaGCNClassifier, **settings):
    ids, labels = graph.node_ids, graph.classes[graph.labels]
    model = kind(graph, random_state=0, **settings)
    return model.fit(ids[:30], labels[:30], X_val=ids[30:50], y_val=labels[30:50])


MODELS = {
    "tuned": {"preset": "tuned", **QUICK},
    "adaptive": {"max_epochs": 15, "hidden_units": 8, "variant": Variant(most_layers=4)},
    "instant": {"preset": "instant"},
    "boosted": {"preset": "boosted", **QUICK},
    "as in the paper": {
        "preset": "tuned",
        **QUICK,
        "pseudo_labels": 0,
        "teleport": 0.0,
        "reweight_rate": 1.0,
        "variant": Variant(voting_share=1.0),
    },
    "samme": {"preset": "tuned", **QUICK, "combine": "samme"},
    "samme, logits": {
        "preset": "tuned",
        **QUICK,
        "combine": "samme",
        "variant": Variant(vote="logits", voting_share=1.0),
    },
    "ema": {"preset": "tuned", **QUICK, "combine": "ema", "variant": Variant(voting_share=1.0)},
    "last": {"preset": "tuned", **QUICK, "combine": "last"},
    "one layer": {"preset": "tuned", **QUICK, "n_layers": 1},
    "three members, two ReLUs": {
        "preset": "tuned",
        **QUICK,
        "variant": Variant(n_members=3, relu_logits=True),
    },
    "both learners, rows of one size": {
        "preset": "tuned",
        **QUICK,
        "variant": Variant(learner="both", hop_scale="row_l2"),
    },
    "hops of one size, random walk": {
        "preset": "tuned",
        **QUICK,
        "variant": Variant(hop_scale="hop", normalization="random_walk"),
    },
    "calibrated": {"preset": "tuned", **QUICK, "calibrate": "temperature"},
    "some columns": {"preset": "tuned", **QUICK, "max_features": 7},
    "a learner of scikit-learn": {
        "preset": "tuned",
        **QUICK,
        "pseudo_labels": 0,
        "learner": LogisticRegression(),
    },
}
HARD = ("samme", "a learner of scikit-learn")  # no sums over columns


@pytest.fixture(scope="module", params=MODELS)
def explained(request):
    graph = small_graph()
    model = fitted(graph, **MODELS[request.param])
    whole = model.explain(graph.node_ids, n_features=12, n_neighbors=100)
    return request.param, graph, model, whole


def test_parts_over_hops_sum_to_the_log_odds_of_predict_proba(explained):
    _, graph, model, explanations = explained
    log_proba = model.predict_log_proba(graph.node_ids)
    order = np.argsort(-log_proba, axis=1, kind="stable")
    assert [e.label for e in explanations] == model.predict(graph.node_ids).tolist()
    assert [e.runner_up for e in explanations] == model.classes_[order[:, 1]].tolist()
    two = np.take_along_axis(log_proba, order[:, :2], axis=1)
    margins = np.array([e.margin for e in explanations])
    sums = np.array([sum(part.margin for part in e.parts) for e in explanations])
    np.testing.assert_allclose(margins, two[:, 0] - two[:, 1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(sums, margins, rtol=0, atol=1e-10)
    probability = [e.probability for e in explanations]
    np.testing.assert_allclose(probability, np.exp(two[:, 0]), rtol=0, atol=1e-10)


def test_each_hop_is_the_vote_of_its_layer(explained):
    _, graph, model, explanations = explained
    stages = np.stack(list(model.staged_decision_function(graph.node_ids)))
    *_, whole = stages
    n_classes = len(model.classes_)
    for node, explanation in enumerate(explanations):
        a, b = (
            model.classes_.tolist().index(x) for x in (explanation.label, explanation.runner_up)
        )
        weight = (whole[node, a] - whole[node, b]) / (explanation.margin * (n_classes - 1))
        by_hop = explanation.by_hop()
        first = min(by_hop)
        if first == 0:  # every layer votes, so that a stage is the one before and its own hop
            steps = np.diff(stages[:, node], axis=0, prepend=0.0)
            votes = (steps[:, a] - steps[:, b]) / (weight * (n_classes - 1))
            for hop, margin in by_hop.items():
                assert margin == pytest.approx(votes[hop], abs=1e-9)
        assert explanation.deciding_hop == max(by_hop, key=by_hop.get)


def test_the_last_change_is_that_of_the_staged_predictions(explained):
    _, graph, model, explanations = explained
    stages = list(model.staged_predict(graph.node_ids))
    for node, explanation in enumerate(explanations):
        seen = [stage[node] for stage in stages]
        changes = [layer for layer in range(1, len(seen)) if seen[layer] != seen[layer - 1]]
        assert explanation.last_change == (changes[-1] if changes else 0)


def test_features_and_the_remainder_sum_to_the_margin(explained):
    name, _, model, explanations = explained
    n_columns = 12 if model.columns_ is None else len(model.columns_)
    for explanation in explanations:
        total = sum(part.margin for part in explanation.features)
        assert total == pytest.approx(explanation.features_total, abs=1e-10)
        whole = explanation.features_total + explanation.features_remainder
        assert whole == pytest.approx(explanation.margin, abs=1e-10)
        assert len(explanation.features) == (0 if name in HARD else n_columns)
        assert {part.name for part in explanation.features} <= set(COLUMNS)


def test_the_remainder_is_nothing_for_perceptrons_and_the_constant_of_ridges(explained):
    name, _, model, explanations = explained
    if name in HARD:
        return
    hops = {part.hop for part in explanations[0].parts}
    voting = [layer for layer in model.layers_ if layer.hop in hops]
    weights = np.array([layer.coefficient for layer in voting])
    shares = weights / weights.sum() / (model.temperature_ or 1.0)
    for explanation in explanations:
        constant = 0.0
        a, b = (
            model.classes_.tolist().index(x) for x in (explanation.label, explanation.runner_up)
        )
        for layer, share in zip(voting, shares, strict=True):
            learner = layer.learner.learner
            ridge, part = getattr(learner, "ridge", learner), 1.0
            if ridge is not learner:
                part = float(learner.shares[1])
            if hasattr(ridge, "coefficients"):
                bias = ridge.coefficients.detach().numpy()[-1]
                constant += share * part * float(bias[a] - bias[b])
        assert explanation.features_remainder == pytest.approx(constant, abs=1e-5)


def test_all_nodes_together_carry_what_the_features_add(explained):
    name, graph, _, explanations = explained
    distance = shortest_path(graph.adjacency, unweighted=True)
    for node, explanation in enumerate(explanations):
        carried = sum(part.margin for part in explanation.neighbors)
        assert carried == pytest.approx(explanation.features_total, abs=1e-5)
        assert (explanation.neighbors == ()) == (name in HARD)
        farthest = max(part.hop for part in explanation.parts)
        reached = np.flatnonzero(distance[node] <= farthest)
        if explanation.neighbors:
            assert sorted(part.node for part in explanation.neighbors) == reached.tolist()
        for part in explanation.neighbors:
            assert part.hops_away == distance[node, part.node]


def test_weights_are_those_of_the_dense_power(explained):
    name, graph, model, explanations = explained
    if name in HARD:
        return
    settings = model.fitted_settings()
    step = make_propagator(graph.adjacency, settings.variant.normalization).toarray()
    power, teleport = np.eye(100), settings.teleport
    hops = {part.hop for part in explanations[0].parts}
    voting = {layer.hop: layer.coefficient for layer in model.layers_ if layer.hop in hops}
    mean = np.zeros((100, 100))
    for hop in range(max(voting) + 1):
        mean += voting.get(hop, 0.0) / sum(voting.values()) * power
        power = (1.0 - teleport) * step @ power + teleport * np.eye(100)
    for node, explanation in enumerate(explanations):
        for part in explanation.neighbors:
            assert part.weight == pytest.approx(mean[node, part.node], abs=1e-6)


def test_labeled_nodes_are_the_training_nodes(explained):
    _, graph, _, explanations = explained
    for explanation in explanations:
        assert all(part.is_training == (part.node < 30) for part in explanation.neighbors)
        near = {part.node: part for part in explanation.neighbors if part.is_training}
        assert {part.node: part for part in explanation.labeled} == near
        for part in explanation.neighbors:
            assert part.label == graph.classes[graph.labels[part.node]]


def test_it_is_ready_for_json(explained):
    _, _, _, explanations = explained
    assert json.loads(json.dumps(explanations.to_dict(), allow_nan=False)) == explanations.to_dict()


def test_a_feature_counts_as_a_change_of_its_input_does():
    """For a linear map, a part is the change of the log-odds without that column."""
    graph = small_graph()
    model = fitted(graph, AdaSGCClassifier, **LINEAR)
    (before,) = model.explain([7], n_features=12)
    pairs = [model.classes_.tolist().index(x) for x in (before.label, before.runner_up)]
    for part in before.features:
        features = graph.features.copy()
        features[:, COLUMNS.index(part.name)] = 0.0
        without = small_graph(features=features)
        log_proba = model.predict_log_proba([7], graph=without)[0, pairs]
        assert before.margin - (log_proba[0] - log_proba[1]) == pytest.approx(part.margin, abs=1e-5)


def test_a_neighbor_counts_as_a_change_of_its_features_does():
    graph = small_graph()
    model = fitted(graph, AdaSGCClassifier, **LINEAR)
    (before,) = model.explain([7], n_neighbors=5)
    pairs = [model.classes_.tolist().index(x) for x in (before.label, before.runner_up)]
    for part in before.neighbors:
        features = graph.features.copy()
        features[part.node] = 0.0
        log_proba = model.predict_log_proba([7], graph=small_graph(features=features))[0, pairs]
        assert before.margin - (log_proba[0] - log_proba[1]) == pytest.approx(part.margin, abs=1e-5)


def test_two_classes():
    graph = small_graph(n_classes=2)
    model = fitted(graph, preset="tuned", **QUICK)
    explanations = model.explain(graph.node_ids)
    signs = np.where([e.label == model.classes_[1] for e in explanations], 1.0, -1.0)
    whole = np.abs(model.decision_function(graph.node_ids)) / len(explanations[0].parts)
    np.testing.assert_allclose([e.margin for e in explanations], whole, rtol=0, atol=1e-10)
    assert (np.sign(model.decision_function(graph.node_ids)) == signs).all()


def test_a_directed_graph_is_followed_along_its_edges():
    chain = Graph.from_edges(
        (np.arange(5), np.arange(1, 6)),
        features=np.eye(6, dtype=np.float32),
        labels=list("aabbab"),
        feature_names=list("uvwxyz"),
        directed="keep",
    )
    model = AdaGCNClassifier(
        chain, preset="tuned", **{**QUICK, "pseudo_labels": 0}, random_state=0
    ).fit(np.arange(6), list("aabbab"))
    first, *_, last = model.explain(chain.node_ids)
    assert sorted(part.node for part in first.neighbors) == [0, 1, 2, 3]
    assert [(part.node, part.hops_away) for part in last.neighbors] == [(5, 0)]
    for part in first.neighbors:
        assert part.hops_away == part.node


def test_an_isolated_node_is_explained_by_itself():
    graph = small_graph(node_ids=np.arange(101), features=np.ones((101, 12)), labels=None)
    known = small_graph()
    model = fitted(known, preset="instant")
    (alone,) = model.explain([100], graph=graph)
    assert [(part.node, part.hops_away) for part in alone.neighbors] == [(100, 0)]
    assert alone.neighbors[0].margin == pytest.approx(alone.features_total, abs=1e-6)


@pytest.mark.parametrize("max_features", ["all", 10])
def test_without_features_nodes_tell_what_columns_would(max_features):
    graph = planted_partition(300, 3, 4, seed=0).without_features()
    model = fitted(graph, preset="tuned", **QUICK, max_features=max_features)
    assert (model.coordinates_ is None) == (max_features == "all")
    explanations = model.explain(graph.node_ids[:5], n_neighbors=300)
    assert any("no features" in note for note in explanations.notes)
    for explanation in explanations:
        assert explanation.features == ()
        assert explanation.features_total == pytest.approx(explanation.margin, abs=1e-5)
        assert sum(part.margin for part in explanation.parts) == pytest.approx(
            explanation.margin, abs=1e-10
        )
        assert explanation.neighbors


def test_a_feature_matrix_has_features_and_no_neighbors():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4))
    labels = (rows[:, 0] > 0).astype(int)
    model = AdaGCNClassifier(preset="tuned", max_epochs=30, random_state=0).fit(rows, labels)
    explanations = model.explain(rows[:8], n_features=4)
    assert [e.node for e in explanations] == list(range(8))
    for row, explanation in zip(rows, explanations, strict=False):
        assert explanation.neighbors == ()
        assert {part.name for part in explanation.features} == {f"column {k}" for k in range(4)}
        for part in explanation.features:
            number = int(part.name.split()[1])
            assert part.own == row[number]
            assert part.value == pytest.approx(row[number])
        total = explanation.features_total + explanation.features_remainder
        assert total == pytest.approx(explanation.margin, abs=1e-10)
    strongest = [e.features[0].name for e in explanations]
    assert max(set(strongest), key=strongest.count) == "column 0"


def test_columns_have_the_names_and_values_of_the_user():
    graph = small_graph()
    model = fitted(graph, preset="tuned", **QUICK, max_features=5, feature_norm="l1")
    (explanation,) = model.explain([4], n_features=5)
    kept = [COLUMNS[k] for k in model.columns_]
    assert sorted(part.name for part in explanation.features) == sorted(kept)
    for part in explanation.features:
        assert part.own == pytest.approx(graph.features[4, COLUMNS.index(part.name)])


def test_a_saved_model_explains_alike(tmp_path):
    graph = small_graph()
    model = fitted(graph, preset="tuned", **QUICK)
    before = model.explain(graph.node_ids[50:60])
    for continuable in (True, False):
        model.save(tmp_path / "m.adagcn", continuable=continuable)
        after = load_model(tmp_path / "m.adagcn", graph=graph).explain(graph.node_ids[50:60])
        if continuable:
            assert after.to_dict() == before.to_dict()
        else:
            assert all(part.is_training is None for e in after for part in e.labeled)
            assert any("continuable=True" in note for note in after.notes)
            assert [e.features for e in after] == [e.features for e in before]


def test_training_nodes_are_found_in_another_graph_by_their_ids():
    graph = small_graph()
    model = fitted(graph, preset="tuned", **QUICK)
    other = graph.subgraph(np.arange(99, -1, -1))
    here = model.explain([60, 7], n_neighbors=100)
    there = model.explain([60, 7], n_neighbors=100, graph=other)
    for one, two in zip(here, there, strict=True):
        assert two.margin == pytest.approx(one.margin, abs=1e-5)
        pairs = [{(part.node, part.label) for part in e.labeled} for e in (one, two)]
        assert pairs[0] == pairs[1]
        assert pairs[0]


def test_a_perceptron_on_features_alone_has_one_hop():
    graph = small_graph()
    model = fitted(graph, PerceptronClassifier)
    (explanation,) = model.explain([3])
    assert [part.hop for part in explanation.parts] == [0]
    assert [part.node for part in explanation.neighbors] == [3]


def test_the_same_node_alone_and_among_others():
    graph = small_graph()
    model = fitted(graph, preset="tuned", **QUICK)
    twice = model.explain([5, 9, 5])
    (alone,) = model.explain([5])
    assert twice[0].to_dict() == twice[2].to_dict()
    assert twice[0].label == alone.label
    assert [part.node for part in twice[0].neighbors] == [part.node for part in alone.neighbors]
    assert len(model.explain([])) == 0


def test_parts_can_be_left_out():
    graph = small_graph()
    model = fitted(graph, preset="tuned", **QUICK)
    (explanation,) = model.explain([5], n_features=0, n_neighbors=0)
    assert explanation.features == explanation.neighbors == explanation.labeled == ()
    assert explanation.features_total == pytest.approx(explanation.margin, abs=1e-5)


@pytest.mark.parametrize("number", [-1, 2.5, True, "10", None])
@pytest.mark.parametrize("argument", ["n_features", "n_neighbors"])
def test_numbers_that_are_none_are_refused(argument, number):
    graph = small_graph()
    model = fitted(graph, preset="instant")
    with pytest.raises(InputError, match=rf"{argument} must be a whole number.*AGC-I1301"):
        model.explain([5], **{argument: number})


def test_a_node_that_does_not_exist_is_refused():
    model = fitted(small_graph(), preset="instant")
    with pytest.raises(InputError, match=r"ids holds 1 id that the graph does not have; got.*1234"):
        model.explain([5, 1234])
