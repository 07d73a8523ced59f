"""Hops of a changed graph that are made from kept ones have the bits of new ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from adagcn import Graph
from adagcn.propagation import changed_rows, kept_hops
from adagcn.propagation.changed_rows import (
    EarlierNodes,
    HopCosts,
    Reach,
    UpdatePlan,
    changed_edges,
    gathering_from,
)
from adagcn.propagation.hops import MemoryHop, stream_from
from adagcn.propagation.kept_hops import KeptHops
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.source import MemorySource

N_HOPS = 5
FORMS = ["dense", "sparse", "very sparse", "one column"]


def features_of(form, n_nodes, rng):
    if form == "dense":
        return rng.normal(size=(n_nodes, 13)).astype(np.float32)
    if form == "one column":
        return rng.normal(size=(n_nodes, 1)).astype(np.float32)
    density, width = (0.02, 300) if form == "sparse" else (0.0005, 2000)
    return sparse.random(n_nodes, width, density, format="csr", rng=rng, dtype=np.float32)


def ring_with_chords(n_nodes, rng, *, weighted):
    """Return edges of a long ring, so that a change reaches little of it, with a few chords."""
    ring = np.column_stack([np.arange(n_nodes), (np.arange(n_nodes) + 1) % n_nodes])
    edges = np.vstack([ring, rng.integers(0, n_nodes, (n_nodes // 20, 2)), [[3, 3]]])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    weights = rng.uniform(0.1, 3, len(edges)) if weighted else np.ones(len(edges))
    return edges, weights


def graph_of(edges, weights, features, ids, directed):
    how = "keep" if directed else "ignore"
    return Graph.from_edges(
        (ids[edges[:, 0]], ids[edges[:, 1]]),
        weight=weights,
        features=features,
        node_ids=ids,
        directed=how,
        duplicates="sum",
    )


def changed_graph(kind, edges, weights, features, rng, directed):
    """Return a graph that differs from that of the same arrays in one way."""
    n_nodes = features.shape[0]
    ids = np.arange(n_nodes)
    if kind == "edges":
        edges = np.vstack([edges[2:], [[7, n_nodes // 2], [9, 9]]])
        weights = np.concatenate([weights[2:], [0.7, 2.0]])
    elif kind == "weight":
        weights = weights.copy()
        weights[5] *= 1.25
    elif kind == "features":
        order = np.arange(n_nodes)
        order[[4, n_nodes - 3]] = [8, 2]
        features = sparse_or_dense(features)[order]
    elif kind == "new nodes":
        more = features[[1, 2]]
        stack = np.vstack if isinstance(features, np.ndarray) else sparse.vstack
        features = stack([features, more])
        ids = np.arange(n_nodes + 2)
        edges = np.vstack([edges, [[n_nodes, 11], [n_nodes + 1, n_nodes]]])
        weights = np.concatenate([weights, [1.0, 0.3]])
    elif kind == "fewer nodes":
        left = (edges < n_nodes - 2).all(axis=1)
        edges, weights = edges[left], weights[left]
        features, ids = features[: n_nodes - 2], ids[: n_nodes - 2]
    graph = graph_of(edges, weights, sparse_or_dense(features), ids, directed)
    if kind == "other order":
        order = np.arange(n_nodes)
        order[[20, 90]] = order[[90, 20]]
        return graph.subgraph(order)
    if kind == "inserted":
        return graph.subgraph(np.concatenate([[n_nodes - 1], np.arange(n_nodes - 1)]))
    return graph


def sparse_or_dense(features):
    return features if isinstance(features, np.ndarray) else sparse.csr_array(features)


def source_of(graph, normalization="symmetric", teleport=0.0):
    return MemorySource(graph.features, graph.adjacency, normalization, teleport)


def assert_same_rows(found, wanted):
    assert isinstance(found, np.ndarray) == isinstance(wanted, np.ndarray)
    if isinstance(found, np.ndarray):
        assert found.dtype == wanted.dtype
        assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))
        return
    for part in ("indptr", "indices", "data"):  # the order of the columns counts as well
        assert np.array_equal(getattr(found, part), getattr(wanted, part)), part


KINDS = ["same", "edges", "weight", "features", "new nodes", "fewer nodes", "other order"]


@pytest.mark.parametrize("kind", [*KINDS, "inserted"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("directed", "normalization", "teleport"),
    [(False, "symmetric", 0.0), (True, "symmetric", 0.1), (True, "random_walk", 0.0)],
)
def test_updated_hops_have_the_bits_of_new_ones(kind, form, directed, normalization, teleport):
    rng = np.random.default_rng(len(kind) + len(form))
    features = features_of(form, 300, rng)
    edges, weights = ring_with_chords(300, rng, weighted=form != "sparse")
    before = graph_of(edges, weights, features, np.arange(300), directed)
    after = changed_graph(kind, edges, weights, features, rng, directed)
    how = {"normalization": normalization, "teleport": teleport}
    kept = KeptHops.of(source_of(before, **how), before.node_ids, N_HOPS)
    source = source_of(after, **how)
    updated = kept.updated(source, after.node_ids)
    everything = np.arange(after.n_nodes)
    some = rng.permutation(after.n_nodes)[:40]
    pairs = zip(stream_from(updated.first()), stream_from(source.first()), strict=False)
    for found, wanted in itertools.islice(pairs, N_HOPS + 1):
        assert found.shape == wanted.shape
        assert_same_rows(found.rows(some), wanted.rows(some))
        assert_same_rows(found.rows(everything), wanted.rows(everything))
        blocks = [
            block if isinstance(block, np.ndarray) else block.toarray() for block in found.blocks()
        ]
        whole = wanted.rows(everything)
        assert np.array_equal(
            np.vstack(blocks), whole if isinstance(whole, np.ndarray) else whole.toarray()
        )
    said = kept.last_update
    if teleport and "sparse" in form:
        return  # a sparse hop with a teleport is computed whole
    if kind == "same":
        assert said.rows == (0,) * N_HOPS
    if kind in ("edges", "weight", "new nodes") and form != "very sparse":
        assert 0 < said.shares[1] < 0.15


def test_moving_on_twice_has_the_bits_of_new_hops():
    rng = np.random.default_rng(5)
    features = features_of("dense", 200, rng)
    edges, weights = ring_with_chords(200, rng, weighted=True)
    graphs = [
        changed_graph(kind, edges, weights, features, rng, False)
        for kind in ("same", "edges", "new nodes", "features")
    ]
    kept = KeptHops.of(source_of(graphs[0]), graphs[0].node_ids, N_HOPS)
    for graph in graphs[1:]:
        kept = kept.moved_to(source_of(graph), graph.node_ids, N_HOPS)
        new = KeptHops.of(source_of(graph), graph.node_ids, N_HOPS)
        for found, wanted in zip(kept.hops, new.hops, strict=True):
            assert_same_rows(found, wanted)
        assert len(kept.last_update.rows) > 1


@pytest.mark.parametrize("directed", [False, True])
def test_exactly_the_rows_of_the_propagator_that_differ_are_found(directed):
    rng = np.random.default_rng(2)
    features = features_of("dense", 120, rng)
    edges, weights = ring_with_chords(120, rng, weighted=True)
    before = graph_of(edges, weights, features, np.arange(120), directed)
    after = changed_graph("edges", edges, weights, features, rng, directed)
    kept = KeptHops.of(source_of(before), before.node_ids, 2)
    first = kept.updated(source_of(after), after.node_ids).first()
    old, new = (make_propagator(graph.adjacency).toarray() for graph in (before, after))
    differs = (old != new).any(axis=1)
    assert np.array_equal(first._change.reach.propagator, differs)
    assert np.array_equal(first._change.plan.changed[1], differs)  # no feature has changed


def test_nodes_that_stand_in_another_order_add_up_otherwise():
    before = sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], np.float32))
    after = sparse.csr_array(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], np.float32))
    # ids a, b, c, and then b, c, a: row a gathers from b, c and itself, in another order
    earlier = EarlierNodes(np.array([1, 2, 0]), False, False)
    assert changed_edges(before, after, earlier).tolist() == [True, True, True]
    assert changed_edges(before, before, EarlierNodes.appended(3, 3)).tolist() == [False] * 3


def test_rows_in_small_parts_are_the_same(monkeypatch):
    monkeypatch.setattr(changed_rows, "_STORED_AT_ONCE", 7)
    monkeypatch.setattr(kept_hops, "_PART_BYTES", 600)
    args = ("edges", "dense", True, "symmetric", 0.1)
    test_updated_hops_have_the_bits_of_new_ones(*args)
    test_updated_hops_have_the_bits_of_new_ones("inserted", *args[1:])


def test_rows_without_neighbors_are_reached_by_themselves_alone():
    adjacency = sparse.csr_array(np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]], np.float32))
    assert gathering_from(adjacency, np.array([True, False, False])).tolist() == [
        True,
        True,
        False,
    ]


def assert_same_stream(kept, graph, n_hops):
    """Compare hops from kept ones with new ones."""
    source = source_of(graph)
    everything = np.arange(graph.n_nodes)
    found = stream_from(kept.updated(source, graph.node_ids).first())
    wanted = stream_from(source.first())
    for a, b in itertools.islice(zip(found, wanted, strict=False), n_hops):
        assert_same_rows(a.rows(everything), b.rows(everything))


def test_a_change_that_reaches_most_is_computed_anew_and_said():
    rng = np.random.default_rng(0)
    edges = np.column_stack([np.zeros(60, int), np.arange(1, 61)])  # a star
    features = rng.normal(size=(61, 64)).astype(np.float32)
    before = Graph.from_edges(edges, features=features)
    after = Graph.from_edges(edges[1:], features=features)
    kept = KeptHops.of(source_of(before), before.node_ids, 7)
    assert_same_stream(kept, after, 7)
    assert kept.last_update.rows == (0,)
    said = "computed anew: patching would cost more, since 100% of the rows of hop 1 are"
    assert str(kept.last_update).startswith(said)
    assert isinstance(kept.updated(source_of(after), after.node_ids).first(), MemoryHop)


@pytest.mark.parametrize("n_patched", range(N_HOPS))
@pytest.mark.parametrize("form", FORMS)
def test_any_number_of_patched_hops_gives_the_bits_of_new_ones(n_patched, form, monkeypatch):
    rng = np.random.default_rng(1)
    features = features_of(form, 300, rng)
    edges, weights = ring_with_chords(300, rng, weighted=True)
    before = graph_of(edges, weights, features, np.arange(300), False)
    after = changed_graph("edges", edges, weights, features, rng, False)
    kept = KeptHops.of(source_of(before), before.node_ids, N_HOPS)
    monkeypatch.setattr(HopCosts, "hops_to_patch", lambda self, shares: n_patched)
    assert_same_stream(kept, after, N_HOPS)
    update = kept.last_update
    if form != "very sparse":  # whose form is known only when a hop is whole
        assert len(update.rows) == n_patched + 1
        assert (update.whole is None) == (n_patched == N_HOPS - 1)


def test_hops_beyond_the_kept_ones_are_computed_anew_and_said():
    rng = np.random.default_rng(1)
    edges, weights = ring_with_chords(300, rng, weighted=False)
    graph = graph_of(edges, weights, features_of("dense", 300, rng), np.arange(300), False)
    kept = KeptHops.of(source_of(graph), graph.node_ids, 3)
    assert_same_stream(kept, graph, N_HOPS)
    assert str(kept.last_update).endswith("; later hops computed anew: only 3 hops kept")


def test_a_plan_is_the_cheapest_of_all(monkeypatch):
    rng = np.random.default_rng(4)
    edges, weights = ring_with_chords(200, rng, weighted=False)
    graph = graph_of(edges, weights, features_of("dense", 200, rng), np.arange(200), False)
    start = np.arange(200) == 17
    looked, real = [], Reach.next
    monkeypatch.setattr(Reach, "next", lambda *args: (looked.append(1), real(*args))[1])
    chosen = set()
    for n_hops, once in itertools.product((0, 1, 4, 30), (0.0, 3.0, 40.0, 1000.0)):
        reach = Reach(graph.adjacency, start, start, 0.0)
        mask, masks = start, []
        for _ in range(n_hops):
            mask = real(reach, mask)
            masks.append(mask)
        shares = [reach.share_of_edges(mask) for mask in masks]
        patched, whole = rng.uniform(3, 5, n_hops), rng.uniform(0.8, 1.2, n_hops)
        totals = [
            (patched[:k] * shares[:k]).sum() + (k < n_hops) * once + whole[k:].sum()
            for k in range(n_hops + 1)
        ]
        looked.clear()
        plan = UpdatePlan.cheapest(reach, HopCosts(tuple(patched), tuple(whole), once))
        best = int(np.argmin(totals))
        assert plan.n_patched == best
        assert (plan.reason is None) == (best == n_hops)
        for found, wanted in zip(plan.changed, [start, *masks], strict=False):
            assert np.array_equal(found, wanted)
        assert best <= len(looked) <= n_hops
        chosen.add((best > 0, best < n_hops, len(looked) < n_hops))
    assert {(True, False, False), (True, True, True)} <= chosen


def test_few_changed_rows_are_patched_and_wide_reach_is_not():
    rng = np.random.default_rng(6)
    features = rng.normal(size=(400, 64)).astype(np.float32)
    edges, weights = ring_with_chords(400, rng, weighted=False)
    before = graph_of(edges, weights, features, np.arange(400), False)
    kept = KeptHops.of(source_of(before), before.node_ids, 4)
    costs = kept.costs
    assert costs.hops_to_patch([0.02, 0.1, 0.45]) == 3  # laying out Â would cost more than that
    assert costs.hops_to_patch([0.5, 1.0, 1.0]) == 0
    many = KeptHops.of(source_of(before), before.node_ids, 24).costs
    assert many.hops_to_patch([0.02, 0.1, 0.45] + 20 * [1.0]) == 2


def test_other_settings_use_nothing_that_is_kept():
    rng = np.random.default_rng(0)
    edges, weights = ring_with_chords(50, rng, weighted=False)
    graph = graph_of(edges, weights, features_of("dense", 50, rng), np.arange(50), False)
    kept = KeptHops.of(source_of(graph), graph.node_ids, 3)
    source = source_of(graph, teleport=0.2)
    hops = itertools.islice(stream_from(kept.updated(source, graph.node_ids).first()), 3)
    new = itertools.islice(stream_from(source.first()), 3)
    for found, wanted in zip(hops, new, strict=True):
        assert_same_rows(found.rows(np.arange(50)), wanted.rows(np.arange(50)))
    assert kept.last_update.rows == ()
    assert "teleport" in str(kept.last_update)


def test_ids_of_another_kind_are_other_nodes():
    from adagcn.formats.node_index import NodeIndex

    index = NodeIndex(np.arange(3))
    assert EarlierNodes.found(index, np.array(["0", "1"])).positions.tolist() == [-1, -1]
