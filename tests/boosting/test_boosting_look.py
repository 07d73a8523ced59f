"""A look before a fit: it finds what a graph was made for, on any form of its features."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax

from adagcn.boosting import look
from adagcn.boosting.fit_state import LabeledNodes
from adagcn.boosting.look import (
    MOST_ROWS,
    N_HOPS,
    PLAIN_HOPS,
    TELEPORTS,
    LookedAt,
    Operator,
    choose_columns,
    choose_norm,
    choose_operator,
    choose_penalty,
    near_rows,
    operators,
)
from adagcn.data import planted_partition
from adagcn.data.generators import rare_columns, weak_dense
from adagcn.propagation.hops import hop_stream
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.screening import strongest_columns
from adagcn.propagation.source import MemorySource

ALL = operators(TELEPORTS, PLAIN_HOPS)


def looked_at(graph, n_train=150, n_stop=150, weight=None):
    order = np.random.default_rng(0).permutation(graph.n_nodes)
    train, stop = order[:n_train], order[n_train : n_train + n_stop]
    weight = np.ones(n_train) if weight is None else weight
    nodes = LabeledNodes(train, graph.labels[train], weight, stop, graph.labels[stop])
    return LookedAt.drawn(nodes, len(graph.classes), seed=0)


def smoothing(graph, looked, candidates=ALL):
    """Return the operator chosen and all that were tried."""
    source = MemorySource(graph.features, graph.adjacency)
    chosen, _, tried = choose_operator(looked, source, candidates)
    return chosen, tried


def propagator_of(graph, dtype=None):
    return make_propagator(graph.adjacency, dtype=dtype or graph.features.dtype)


def losses(tried):
    return {each.value: each.loss for each in tried}


# What a graph was made for


@pytest.mark.parametrize("seed", [0, 1])
def test_weak_features_are_smoothed_without_teleport(seed):
    graph = weak_dense(seed)
    chosen, tried = smoothing(graph, looked_at(graph, 400, 400))
    assert chosen.teleport == 0.0
    assert chosen.n_hops >= 4
    loss = losses(tried)
    assert loss[chosen] < 0.1 * loss[Operator(0.2, N_HOPS)]
    assert loss[chosen] < 0.1 * loss[Operator(0.0, 0)]


@pytest.mark.parametrize("seed", [0, 1])
def test_where_edges_say_nothing_features_stay_as_they_are(seed):
    graph = planted_partition(
        800, 3, 20, seed=seed, homophily=1 / 3, mean_degree=6, feature_signal=3.0
    )
    chosen, _ = smoothing(graph, looked_at(graph))
    assert chosen == Operator(0.0, 0) or chosen.teleport == max(TELEPORTS)


def test_where_both_say_something_the_own_features_count_with_their_surroundings():
    graph = planted_partition(800, 3, 20, seed=0, mean_degree=6, feature_signal=2.0)
    chosen, tried = smoothing(graph, looked_at(graph))
    assert chosen != Operator(0.0, 0)
    lowest = min(each.loss for each in tried)
    assert losses(tried)[chosen] <= (1.0 + look.TELEPORT_MARGIN) * lowest
    assert lowest < losses(tried)[Operator(0.0, 0)]


@pytest.mark.parametrize("seed", [0, 1])
def test_classes_in_rare_columns_are_found_beyond_the_strongest(seed):
    graph = rare_columns(seed)
    looked, propagator = looked_at(graph, 400, 400), propagator_of(graph)
    columns, tried = choose_columns(looked, graph.features, propagator)
    assert columns is None or len(columns) > 1000
    strongest = strongest_columns([graph.features], graph.n_features, 1000)
    assert (strongest >= 4000).all()  # noise alone
    kept = near_rows(graph.features, propagator, looked.nodes)[:, strongest]
    assert losses(tried)["all" if columns is None else len(columns)] < 0.5 * looked.loss(kept)


def sparse_words(n_columns, n_signal, *, noise=0.01, seed=0):
    """A graph of 600 nodes in 3 classes whose first columns show the class; others are noise."""
    rng = np.random.default_rng(seed)
    graph = planted_partition(600, 3, 1, seed=seed)
    dense = rng.random((600, n_columns)) < noise
    for column in range(n_signal):
        dense[:, column] = rng.random(600) < np.where(graph.labels == column % 3, 0.4, 0.02)
    return replace(graph, features=sparse.csr_array(dense.astype(np.float32)))


def test_as_few_columns_as_do_are_kept_ascending_and_the_right_ones():
    graph = sparse_words(3000, 60)
    columns, tried = choose_columns(looked_at(graph), graph.features, propagator_of(graph))
    assert [each.value for each in tried] == ["all", 1000, 2000]
    assert columns.dtype == np.int64
    assert len(columns) == 1000
    assert (np.diff(columns) > 0).all()
    assert np.isin(np.arange(60), columns).all()
    lowest = min(each.loss for each in tried)
    assert losses(tried)[1000] <= (1.0 + look.TOLERANCE) * lowest


def test_columns_are_ranked_by_what_a_fit_makes_of_them_not_by_their_size():
    graph = sparse_words(3000, 60, noise=0.3)
    strongest = strongest_columns([graph.features], graph.n_features, 1000)
    assert not np.isin(np.arange(60), strongest).any()
    columns, _ = choose_columns(looked_at(graph), graph.features, propagator_of(graph))
    assert columns is not None
    assert np.isin(np.arange(60), columns).mean() > 0.8


def test_few_columns_are_all_kept():
    graph = sparse_words(200, 20)
    columns, tried = choose_columns(looked_at(graph), graph.features, propagator_of(graph))
    assert columns is None
    assert [each.value for each in tried] == ["all"]


def test_the_norm_with_the_lower_loss_is_taken():
    graph = sparse_words(100, 20)
    noise = np.random.default_rng(0).random((600, 100)).astype(np.float32)
    looked, propagator = looked_at(graph), propagator_of(graph)
    for names in (("good", "noise"), ("noise", "good")):
        features = {"good": graph.features, "noise": noise}
        candidates = {name: features[name] for name in names}
        chosen, tried = choose_norm(looked, candidates, propagator)
        assert chosen == "good"
        assert [each.value for each in tried] == list(names)


# Operators


@pytest.mark.parametrize("operator", [*ALL, Operator(0.3, 0), Operator(0.3, 1)])
def test_shares_sum_to_one_and_give_the_hops_of_a_stream_with_that_teleport(operator):
    graph = planted_partition(60, 3, 5, seed=0)
    features, propagator = graph.features.astype(np.float64), propagator_of(graph, np.float64)
    shares = operator.shares()
    assert shares.shape == (operator.n_hops + 1,)
    assert (shares >= 0.0).all()
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)

    def rows(teleport):
        stream = hop_stream(propagator, features, teleport=teleport)
        return [hop.rows(slice(None)).copy() for hop in islice(stream, operator.n_hops + 1)]

    mixed = sum(share * hop for share, hop in zip(shares, rows(0.0), strict=True))
    np.testing.assert_allclose(mixed, rows(operator.teleport)[-1], rtol=0, atol=1e-12)


def test_a_candidate_is_judged_by_the_rows_it_stands_for():
    graph = planted_partition(200, 3, 8, seed=0, feature_signal=1.5)
    looked, propagator = looked_at(graph, 60, 60), propagator_of(graph)
    _, tried = smoothing(graph, looked)
    for operator in (Operator(0.0, 2), Operator(0.2, N_HOPS)):
        stream = hop_stream(propagator, graph.features, teleport=operator.teleport)
        *_, last = islice(stream, operator.n_hops + 1)
        expected = looked.loss(last.rows(looked.nodes))
        assert losses(tried)[operator] == pytest.approx(expected, rel=1e-4)


def test_the_rows_that_come_back_are_smoothed_as_chosen():
    graph = planted_partition(200, 3, 8, seed=0, feature_signal=1.5)
    looked = looked_at(graph, 60, 60)
    source = MemorySource(graph.features, graph.adjacency)
    for operator in (Operator(0.0, 2), Operator(0.1, N_HOPS)):
        chosen, rows, _ = choose_operator(looked, source, [operator])
        assert chosen == operator
        stream = hop_stream(propagator_of(graph), graph.features, teleport=operator.teleport)
        *_, last = islice(stream, operator.n_hops + 1)
        np.testing.assert_allclose(rows, last.rows(looked.nodes), atol=1e-5)


@pytest.mark.parametrize(
    ("teleport", "others", "usual_stays"),
    [(0.1, 1.04, True), (0.1, 1.06, False), (0.0, 1.04, False)],
)
def test_the_usual_teleport_stands_unless_another_is_clearly_better(
    monkeypatch, teleport, others, usual_stays
):
    """Losses are handed out: 1 to the best candidate, and so many times that to the usual one."""
    best, usual = Operator(teleport, N_HOPS), Operator(look.USUAL_TELEPORT, N_HOPS)
    answers = iter([1.0, others])
    monkeypatch.setattr(LookedAt, "loss", lambda *_: next(answers))
    graph = planted_partition(60, 3, 5, seed=0)
    chosen, _ = smoothing(graph, looked_at(graph, 20, 20), [best, usual])
    assert chosen == (usual if usual_stays else best)


class Penalized:
    """A stand-in for a perceptron: the quality of what it says depends on its penalty."""

    def __init__(self, quality, labels, times=1.0):
        self._said = times * quality * np.eye(3)[labels]

    def log_proba(self, rows):
        assert len(rows) == len(self._said)
        return log_softmax(self._said, axis=1)


@pytest.mark.parametrize(
    ("qualities", "chosen"),
    [((0.5, 1.0, 0.5), 2.0), ((0.5, 0.5, 0.5), 1.0), ((0.5, 0.501, 0.4), 1.0)],
)
def test_the_first_penalty_stands_unless_another_is_clearly_better(monkeypatch, qualities, chosen):
    monkeypatch.setattr(look, "TEMPERATURES", (1.0,))
    graph = planted_partition(60, 3, 5, seed=0)
    looked = looked_at(graph, 20, 30)
    penalties = (1.0, 2.0, 3.0)

    def fit(penalty, task):
        assert (task.rows.shape[0], task.stop_rows.shape[0]) == (20, 30)
        assert task.sample_weight.sum() == pytest.approx(1.0)
        return Penalized(qualities[penalties.index(penalty)], task.stop_labels)

    found, tried = choose_penalty(looked, graph.features[looked.nodes], fit, penalties)
    assert found == chosen
    assert [each.value for each in tried] == list(penalties)


def test_a_penalty_is_not_blamed_for_making_a_network_less_sure():
    graph = planted_partition(60, 3, 5, seed=0)
    looked = looked_at(graph, 20, 30)
    flipped = looked.stop_labels.copy()
    flipped[::3] = (flipped[::3] + 1) % 3  # wrong at times, so that the best certainty is finite

    def fit(penalty, task):
        return Penalized(1.0, flipped, times={1.0: 1.0, 2.0: 0.5}[penalty])

    found, tried = choose_penalty(looked, graph.features[looked.nodes], fit, (1.0, 2.0))
    assert found == 1.0
    assert tried[1].loss == pytest.approx(tried[0].loss, rel=0.01)


def test_plain_hops_are_candidates_only_where_teleport_may_be_zero():
    assert operators([0.1, 0.2], PLAIN_HOPS) == [Operator(0.1, N_HOPS), Operator(0.2, N_HOPS)]
    assert operators([0.0], [0, 3]) == [Operator(0.0, 0), Operator(0.0, 3)]


def test_near_rows_are_the_mean_of_three_hops():
    graph = planted_partition(60, 3, 5, seed=0)
    features, propagator = graph.features.astype(np.float64), propagator_of(graph, np.float64)
    once = propagator @ features
    some = np.array([3, 40, 7])
    expected = ((features + once + propagator @ once) / 3)[some]
    np.testing.assert_allclose(near_rows(features, propagator, some), expected, atol=1e-12)
    thin = near_rows(sparse.csr_array(features), propagator, some)
    np.testing.assert_allclose(thin.toarray(), expected, atol=1e-12)
    np.testing.assert_array_equal(near_rows(features, None, some), features[some])


# Which rows are looked at


def many(n_train, n_stop, weight=None):
    train, stop = np.arange(n_train), n_train + np.arange(n_stop)
    weight = np.ones(n_train) if weight is None else weight
    return LabeledNodes(train, train % 3, weight, stop, stop % 3)


def test_all_rows_are_read_up_to_the_limits():
    nodes = many(MOST_ROWS["train"], MOST_ROWS["stop"])
    for seed in (0, 1):
        looked = LookedAt.drawn(nodes, 3, seed)
        assert looked.nodes.tolist() == [*nodes.train_nodes, *nodes.stop_nodes]


def test_of_more_rows_so_many_are_drawn_by_the_seed_with_their_own_labels():
    nodes = many(5000, 3000)
    looked, again, other = (LookedAt.drawn(nodes, 3, seed) for seed in (0, 0, 1))
    assert len(looked.labels) == MOST_ROWS["train"]
    assert len(looked.stop_labels) == MOST_ROWS["stop"]
    assert len(np.unique(looked.nodes)) == len(looked.nodes) == 3000
    assert (looked.nodes[:2000] < 5000).all()
    assert (looked.nodes[2000:] >= 5000).all()
    np.testing.assert_array_equal(
        looked.nodes % 3, np.concatenate([looked.labels, looked.stop_labels])
    )
    np.testing.assert_array_equal(looked.nodes, again.nodes)
    assert (looked.nodes[:2000] != other.nodes[:2000]).any()
    assert (looked.nodes[2000:] != other.nodes[2000:]).any()


def test_weights_average_to_one_and_nodes_of_weight_zero_are_not_read():
    weight = np.where(np.arange(90) < 60, 1.0 + np.arange(90), 0.0)
    looked = LookedAt.drawn(many(90, 30, weight), 3, 0)
    assert looked.nodes[:60].tolist() == list(range(60))
    assert len(looked.labels) == 60
    assert looked.weight.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(looked.weight / looked.weight[0], weight[:60])


def test_heavy_nodes_count_more():
    graph = planted_partition(300, 3, 8, seed=0, feature_signal=1.0)
    rows = graph.features
    even = looked_at(graph, 90, 90)
    first = graph.labels[even.nodes[:90]] == 0
    skewed = looked_at(graph, 90, 90, np.where(first, 50.0, 1.0))
    assert skewed.loss(rows[skewed.nodes]) > even.loss(rows[even.nodes])


def test_a_look_at_sampled_rows_is_the_same_again(monkeypatch):
    monkeypatch.setattr(look, "MOST_ROWS", {"train": 60, "stop": 40})
    graph = planted_partition(400, 3, 10, seed=0)
    first, second = (smoothing(graph, looked_at(graph)) for _ in range(2))
    assert len(looked_at(graph).nodes) == 100
    assert first == second


# Forms of features


def test_sparse_and_dense_features_lead_to_the_same_choices():
    graph = sparse_words(1500, 60)
    dense = replace(graph, features=graph.features.toarray())
    looked = looked_at(graph)
    for one, other in (
        [smoothing(each, looked) for each in (graph, dense)],
        [choose_columns(looked, each.features, propagator_of(each)) for each in (graph, dense)],
    ):
        np.testing.assert_array_equal(one[0], other[0])
        assert [each.value for each in one[1]] == [each.value for each in other[1]]
        found = [[each.loss for each in tried] for _, tried in (one, other)]
        np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


def test_a_row_without_features_or_neighbors_is_no_trouble():
    graph = sparse_words(1500, 30)
    features = graph.features.tolil()
    features[:50] = 0.0
    bare = replace(
        graph,
        features=sparse.csr_array(features, dtype=np.float32),
        adjacency=sparse.csr_array(graph.adjacency.shape, dtype=np.float32),
    )
    looked = looked_at(bare)
    _, tried = smoothing(bare, looked)
    found = [each.loss for each in tried]
    np.testing.assert_allclose(found, found[0], rtol=1e-4)  # no edges: all candidates are the same
    _, tried = choose_columns(looked, bare.features, propagator_of(bare))
    assert np.isfinite([each.loss for each in tried]).all()
