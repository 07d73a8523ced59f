"""Hops of a changed graph that are made from kept ones have the bits of new ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from adagcn import Graph
from adagcn.propagation import changed_rows, kept_hops
from adagcn.propagation.changed_rows import EarlierNodes, changed_edges, gathering_from
from adagcn.propagation.hops import stream_from
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
    next_hop = first.next()
    assert np.array_equal(next_hop._changed, differs)  # no feature has changed


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


def test_a_change_that_reaches_most_is_computed_whole_and_said():
    rng = np.random.default_rng(0)
    edges = np.column_stack([np.zeros(60, int), np.arange(1, 61)])  # a star
    features = rng.normal(size=(61, 4)).astype(np.float32)
    before = Graph.from_edges(edges, features=features)
    after = Graph.from_edges(edges[1:], features=features)
    kept = KeptHops.of(source_of(before), before.node_ids, 4)
    source = source_of(after)
    hops = itertools.islice(stream_from(kept.updated(source, after.node_ids).first()), 4)
    new = itertools.islice(stream_from(source.first()), 4)
    for found, wanted in zip(hops, new, strict=True):
        assert_same_rows(found.rows(np.arange(61)), wanted.rows(np.arange(61)))
    assert kept.last_update.rows == (0,)
    assert "within reach" in str(kept.last_update)


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
