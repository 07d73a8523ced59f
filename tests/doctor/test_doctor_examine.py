"""The whole look: deterministic, defined for odd graphs, and with advice that its numbers bear."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from adagcn.data.generators import planted_partition, weak_dense
from adagcn.doctor import Diagnosis, examine
from adagcn.errors import InputError
from adagcn.graph import Graph

# Tiny graphs made by hand have a few repeated edges.
pytestmark = pytest.mark.filterwarnings("ignore::adagcn.errors.GraphNotice")


@pytest.fixture(scope="module")
def planted():
    return planted_partition(400, 3, 6, seed=3, homophily=0.9, mean_degree=6, feature_signal=0.8)


def topics(found: Diagnosis) -> dict[str, str]:
    """The first sentence of every topic."""
    return {each.topic: each.sentence for each in reversed(found.advice)}


def with_labels(graph, labels, classes=None):
    classes = graph.classes if classes is None else classes
    return replace(graph, labels=np.asarray(labels, dtype=np.int64), classes=classes)


def test_same_seed_same_diagnosis_and_another_seed_another(planted):
    first, again = examine(planted, seed=1).to_dict(), examine(planted, seed=1).to_dict()
    assert json.dumps(first, allow_nan=False) == json.dumps(again, allow_nan=False)
    assert examine(planted, seed=2).to_dict()["gain"] != first["gain"] or (
        examine(planted, seed=2).to_dict()["curve"] != first["curve"]
    )


def test_the_sections_are_plain_and_complete(planted):
    found = examine(planted).to_dict()
    assert list(found) == [
        "name", "seed", "advice", "structure", "labels", "homophily", "features", "hops",
        "smoothings", "gain", "curve", "sampled",
    ]  # fmt: skip
    assert [each["hop"] for each in found["hops"]["rows"]] == list(range(11))
    assert {each["kind"] for each in found["smoothings"]} == {"hop", "teleport", "side by side"}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_graph_that_helps_is_said_to_help(planted):
    advice = topics(examine(planted))
    assert advice["graph"].startswith("The graph helps: ")
    assert "more often than chance" in advice["homophily"]
    assert advice["depth"].startswith("Of plain hops, hop ")


def test_a_graph_of_random_edges_is_not_said_to_help():
    graph = planted_partition(400, 3, 6, seed=5, homophily=1 / 3, mean_degree=6, feature_signal=3)
    found = examine(graph)
    assert not found.gain.difference.low > 0.0
    assert not topics(found)["graph"].startswith("The graph helps")
    assert "about as often as chance" in topics(found)["homophily"]


def test_features_that_only_many_neighbors_show_ask_for_depth():
    found = examine(weak_dense())
    assert topics(found)["graph"].startswith("The graph helps")
    best = min((each for each in found.hops.rows), key=lambda each: each.loss)
    assert best.hop >= 3
    assert topics(found)["teleport"].startswith("Teleport does not pay")


def test_without_labels_only_structure_and_features_are_told(planted):
    found = examine(with_labels(planted, np.full(400, -1)))
    assert (found.gain, found.curve, found.homophily, found.smoothings) == (None, None, None, ())
    assert found.labels.n_labeled == 0
    assert topics(found)["graph"] == (
        "There are no labels, so nothing can tell whether the graph helps."
    )
    assert all(each.accuracy is None for each in found.hops.rows)
    assert found.hops.rows[0].energy > 0


def test_one_class_cannot_judge(planted):
    found = examine(with_labels(planted, np.where(planted.labels == 0, 0, -1)))
    assert found.gain is None
    assert "cannot tell whether the graph helps" in topics(found)["graph"]
    assert found.homophily.adjusted is None
    assert found.homophily.edge.value == 1.0


def test_a_class_with_one_label_is_named(planted):
    labels = planted.labels.copy()
    labels[np.flatnonzero(labels == 2)[1:]] = -1
    found = examine(with_labels(planted, labels))
    assert found.gain is not None
    assert any("1 class has fewer than 5 labels (2)" in each.sentence for each in found.advice)


def test_few_labels_give_wide_intervals_and_no_curve(planted):
    labels = np.full(400, -1)
    labels[:24] = planted.labels[:24]
    found = examine(with_labels(planted, labels))
    assert found.hops.n_judged == 24
    assert found.curve is None
    accuracy = found.hops.rows[0].accuracy
    assert accuracy.high - accuracy.low > 0.25


def test_everything_labeled_has_nothing_to_extrapolate_to(planted):
    found = examine(planted)
    assert found.curve.n_twice == found.curve.n_now == 400
    assert any(each.sentence.startswith("Every node is labeled") for each in found.advice)


def test_a_graph_without_edges_is_a_table(planted):
    empty = replace(planted, adjacency=sparse.csr_array((400, 400), dtype=np.float32))
    found = examine(empty)
    assert len(found.hops.rows) == 1
    assert found.hops.rows[0].energy == pytest.approx(0.0, abs=1e-6)
    assert topics(found)["graph"].startswith("There are no edges")
    assert found.structure.isolated == 400


def test_a_graph_without_features_is_told_by_its_edges(planted):
    found = examine(planted.without_features())
    assert found.features.kind == "none"
    assert topics(found)["graph"].startswith("There are no features, and the edges alone tell")
    assert "teleport" not in topics(found)


def test_a_directed_weighted_graph(planted):
    rng = np.random.default_rng(8)
    arcs = rng.integers(200, size=(900, 2))
    graph = Graph.from_edges(
        arcs,
        weight=rng.random(900) + 0.1,
        features=rng.standard_normal((200, 4)),
        labels=rng.integers(2, size=200),
        directed="keep",
    )
    found = examine(graph)
    assert found.structure.directed
    assert found.structure.weighted
    assert len(found.hops.rows) == 11
    json.dumps(found.to_dict(), allow_nan=False)


def test_two_nodes_are_enough_to_look_at():
    graph = Graph.from_edges([(0, 1)], features=np.eye(2) + 1)
    found = examine(graph)
    assert found.structure.n_nodes == 2
    assert found.hops.rows[0].distance is not None


def test_features_that_are_all_zero_have_no_distance(planted):
    empty = replace(planted, features=np.zeros((400, 3), dtype=np.float32))
    found = examine(empty)
    assert found.hops.rows[0].distance is None
    assert found.features.rows_without == 400
    json.dumps(found.to_dict(), allow_nan=False)


def test_names_of_users_stay_on_one_line_and_short(planted):
    evil = np.array(["\x1b[31mred\nline", "<script>alert(1)</script>", "=cmd()" + "x" * 10_000])
    table = np.asarray(planted.features).copy()
    table[:, 0] = planted.labels == 2
    names = np.array(["\x1b]0;title\x07" + "y" * 500, *(f"c{k}" for k in range(1, 6))])
    labels = planted.labels.copy()
    labels[np.flatnonzero(labels == 0)[3:]] = -1
    graph = replace(planted, classes=evil, features=table, labels=labels, feature_names=names)
    found = examine(graph)
    text = " ".join(each.sentence for each in found.advice)
    assert found.features.suspects[0].name == names[0]
    assert "fewer than 5 labels" in text
    assert "\x1b" not in text
    assert "\n" not in text
    assert max(len(each.sentence) for each in found.advice) < 500


def test_large_graphs_are_sampled_and_that_is_said():
    graph = planted_partition(6000, 3, 5, seed=1, mean_degree=5)
    found = examine(graph, n_hops=2)
    said = " ".join(found.sampled)
    assert "1,000 of 6,000 nodes" in said
    assert "ridges fitted on 1,000 and judged on 3,000 of 6,000 labels" in said
    assert "leaks looked for on 4,000 of 6,000 labels" in said


def test_wide_features_are_cut_to_the_strongest(monkeypatch, planted):
    monkeypatch.setattr("adagcn.doctor.hop_features.MOST_COLUMNS", 4)
    found = examine(planted, n_hops=1)
    assert found.hops.n_columns == 4
    assert "hops of the 4 strongest of 6 feature columns" in found.sampled


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"seed": -1}, "AGC-I661"),
        ({"seed": True}, "AGC-I661"),
        ({"seed": None}, "AGC-I661"),
        ({"n_hops": 0}, "AGC-I661"),
        ({"n_hops": 1.5}, "AGC-I661"),
        ({"n_hops": 51}, "AGC-I661"),
    ],
)
def test_what_cannot_be_used_is_refused(planted, how, code):
    with pytest.raises(InputError, match=code):
        examine(planted, **how)


@pytest.mark.parametrize(("graph", "code"), [(None, "AGC-I660"), ("cora", "AGC-I645")])
def test_only_a_graph_is_examined(graph, code):
    with pytest.raises(InputError, match=code):
        examine(graph)


def test_features_too_large_to_compute_with_are_refused():
    with pytest.raises(InputError, match="AGC-I404"):
        examine(Graph.from_edges([(0, 1)], features=np.array([[1e30], [1.0]])))
