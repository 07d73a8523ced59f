"""Coordinates of nodes from the edges alone: eigenvectors weighted as PageRank weighs them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn.data import planted_partition
from adagcn.propagation import coordinates
from adagcn.propagation.coordinates import spectral_coordinates
from adagcn.propagation.normalize import make_propagator


@pytest.fixture(scope="module")
def adjacency():
    return planted_partition(300, 3, 2, seed=0, mean_degree=8.0).adjacency


def test_the_coordinates_are_the_best_low_rank_part_of_page_rank(adjacency):
    n_nodes, gamma = adjacency.shape[0], 0.02
    found = spectral_coordinates(adjacency, 100).astype(np.float64)
    dense = make_propagator(adjacency, dtype=np.float64).toarray()
    page_rank = gamma * np.linalg.inv(np.eye(n_nodes) - (1 - gamma) * dense)
    values, vectors = np.linalg.eigh(page_rank @ page_rank)
    best = (vectors[:, -100:] * values[-100:]) @ vectors[:, -100:].T
    np.testing.assert_allclose(
        found @ found.T, best * (n_nodes / np.trace(best)), rtol=1e-3, atol=1e-3
    )


def test_the_same_graph_has_the_same_coordinates(adjacency):
    np.testing.assert_array_equal(
        spectral_coordinates(adjacency, 20), spectral_coordinates(adjacency.copy(), 20)
    )


def test_nodes_outside_the_largest_component_have_none(adjacency):
    island = sparse.csr_array(np.ones((40, 40), dtype=np.float32))
    both = sparse.csr_array(sparse.block_diag([island, adjacency], format="csr"))
    found = spectral_coordinates(both, 20)
    assert not found[:40].any()
    np.testing.assert_allclose(found[40:], spectral_coordinates(adjacency, 20), atol=1e-6)


def test_a_graph_in_pieces_or_too_small_has_none(adjacency):
    pieces = sparse.csr_array(sparse.block_diag([adjacency[:100, :100]] * 5, format="csr"))
    assert spectral_coordinates(pieces, 20) is None
    assert spectral_coordinates(adjacency, 150) is None


def test_the_direction_of_edges_does_not_matter(adjacency):
    one_way = sparse.csr_array(sparse.triu(adjacency, format="csr"))
    np.testing.assert_array_equal(
        spectral_coordinates(one_way, 20), spectral_coordinates(adjacency, 20)
    )


def test_what_stands_out_is_found_on_large_graphs_too(monkeypatch):
    graph = planted_partition(900, 3, 2, seed=0, mean_degree=20.0)
    exact = spectral_coordinates(graph.adjacency, 40)
    monkeypatch.setattr(coordinates, "_MANY_NODES", 100)
    coarse = spectral_coordinates(graph.adjacency, 40)
    assert np.abs(coarse[:, :30] - exact[:, :30]).max() > 1e-3  # the rest is not exact
    for column in (-1, -2, -3):  # the constant one, and two that part three classes
        one, other = exact[:, column], coarse[:, column]
        assert abs(one @ other) > 0.999 * np.linalg.norm(one) * np.linalg.norm(other)
