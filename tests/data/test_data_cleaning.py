"""Cleaning does what is asked, in the paper's order, and counts what it did."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy import sparse

from adagcn.data.cleaning import clean, clean_as_paper
from adagcn.errors import InputError
from adagcn.formats.row_norms import normalize_rows_l1
from adagcn.graph import Graph

# Two components of two nodes, one of three with a self-loop, all arcs one way.
ARCS = [("a", "b"), ("c", "d"), ("e", "f"), ("f", "g"), ("f", "f")]
IDS = list("gfedcba")


def messy(**options):
    features = np.array([[2, -2], [0, 0], [1, 3], [1, 0], [0, 1], [5, 5], [1, 1]])
    given = {"labels": {"a": 0, "d": 1, "f": 2, "g": 2}, "directed": "keep", "node_ids": IDS}
    weights = [1, 2, 3, 1, 1]
    return Graph.from_edges(ARCS, features=features, weight=weights, **{**given, **options})


def test_nothing_is_done_unless_asked():
    graph = messy()
    assert clean(graph) is graph


def test_each_step_alone():
    graph = messy()
    assert clean(graph, unweighted=True).adjacency.max() == 1
    assert clean(graph, unweighted=True).changes == ("2 edge weights set to 1",)
    undirected = clean(graph, undirected=True)
    expected = graph.adjacency.maximum(graph.adjacency.T)
    np.testing.assert_array_equal(undirected.adjacency.toarray(), expected.toarray())
    assert undirected.changes == ("made undirected, 4 reverse edges added",)
    assert clean(graph, drop_self_loops=True).adjacency.diagonal().sum() == 0
    assert clean(graph, drop_self_loops=True).n_edges == 4
    component = clean(graph, largest_component=True)
    assert component.node_ids.tolist() == ["g", "f", "e"]
    assert component.is_directed
    phrase = "largest component kept: 4 nodes dropped, 2 of them labeled"
    assert component.changes == (phrase,)
    normed = clean(graph, feature_norm="l1")
    assert normed.feature_norm == "l1"
    assert normed.features[:3].tolist() == [[0.5, -0.5], [0, 0], [0.25, 0.75]]


def test_all_steps_leave_the_given_graph_and_the_users_ids():
    graph = messy()
    before = graph.digest
    cleaned = clean_as_paper(graph)
    assert graph.digest == before
    assert cleaned.positions(["e", "f", "g"]).tolist() == [2, 1, 0]
    np.testing.assert_array_equal(cleaned.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert len(cleaned.changes) == 5
    assert clean_as_paper(cleaned) is cleaned


def test_classes_without_nodes_stay():
    cleaned = clean(messy(), largest_component=True)
    assert cleaned.classes.tolist() == [0, 1, 2]
    assert cleaned.labels.tolist() == [2, 2, -1]


@pytest.mark.parametrize("order", ["abcd", "dcba", "cbad"])
def test_of_equal_components_the_one_with_the_lowest_node_is_kept(order):
    graph = Graph.from_edges([("a", "b"), ("c", "d")], node_ids=list(order))
    kept = clean(graph, largest_component=True)
    assert order[0] in kept.node_ids.tolist()


def test_an_unknown_norm():
    with pytest.raises(InputError, match="feature_norm must be 'l1' or None; got 'l2'"):
        clean(messy(), feature_norm="l2")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_divided_by_their_l1_norm(dtype):
    features = np.array([[1, -3], [0, 0], [0.5, 0], [1e-14, 0]], dtype=dtype)
    expected = np.array([[0.25, -0.75], [0, 0], [1, 0], [0.01, 0]], dtype=dtype)
    dense = normalize_rows_l1(features)
    compressed = normalize_rows_l1(sparse.csr_matrix(features))
    assert dense.dtype == compressed.dtype == dtype
    assert isinstance(compressed, sparse.csr_array)
    np.testing.assert_allclose(dense, expected, rtol=1e-6)
    np.testing.assert_array_equal(compressed.toarray(), dense)
    assert features[0, 1] == -3
    assert normalize_rows_l1(np.array([[1, 1]])).dtype == np.float32


@pytest.mark.dataset
@pytest.mark.parametrize(
    ("name", "n_nodes", "n_edges", "labels"),
    [
        ("citeseer", 2110, 3668, "cbcd6efe66d77f2d"),
        ("cora_ml", 2810, 7981, "91736c24da2776e5"),
        ("pubmed", 19717, 44324, None),
        ("ms_academic", 18333, 81894, None),
    ],
)
def test_the_papers_data_sets(dataset_dir, name, n_nodes, n_edges, labels):
    graph = clean_as_paper(Graph.from_npz(dataset_dir / f"{name}.npz"))
    assert (graph.n_nodes, graph.n_edges, graph.is_directed) == (n_nodes, n_edges, False)
    sums = np.asarray(abs(graph.features).sum(axis=1)).ravel()
    np.testing.assert_allclose(sums[sums > 0], 1, rtol=1e-5)
    content = hashlib.sha256(graph.labels.astype("<i8").tobytes()).hexdigest()
    assert labels in (None, content[:16])
