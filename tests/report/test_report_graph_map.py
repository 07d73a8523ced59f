"""The map: which nodes it shows and where they stand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn.report.graph_map import grown, layout, map_around


def ring(n):
    links = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=-1) + sparse.eye_array(n, k=n - 1)
    return sparse.csr_array(links + sparse.eye_array(n, k=1 - n))


def two_cliques(n):
    block = np.ones((n, n)) - np.eye(n)
    links = sparse.block_diag([block, block]).tolil()
    links[0, n] = links[n, 0] = 1
    return sparse.csr_array(links.tocsr())


def test_the_map_grows_from_its_seeds_and_stays_small():
    found = map_around(ring(500), np.array([10, 250]), most=40)
    assert len(found.nodes) == 40
    assert {10, 250} <= set(found.nodes.tolist())
    gaps = np.minimum(np.abs(found.nodes - 10), np.abs(found.nodes - 250))
    assert gaps.max() <= 20


def test_a_whole_small_graph_is_shown_with_every_edge_once():
    found = map_around(ring(12), np.array([0]))
    assert found.nodes.tolist() == list(range(12))
    assert len(found.edges) == 12
    assert (found.edges[:, 0] < found.edges[:, 1]).all()


def test_nodes_without_edges_are_shown():
    empty = sparse.csr_array((5, 5))
    found = map_around(empty, np.array([1, 3]))
    assert found.nodes.tolist() == [1, 3]
    assert not len(found.edges)


def test_directions_and_loops_do_not_matter():
    one_way = sparse.csr_array(sparse.triu(ring(20)) + sparse.eye_array(20))
    both = map_around(ring(20), np.array([3]), most=9)
    found = map_around(one_way, np.array([3]), most=9)
    assert found.nodes.tolist() == both.nodes.tolist()
    assert found.edges.tolist() == both.edges.tolist()


def test_places_are_repeatable_apart_and_on_the_square():
    links = two_cliques(20)
    found, again = map_around(links, np.array([0])), map_around(links, np.array([0]))
    assert (found.places == again.places).all()
    assert found.places.min() >= 0.0
    assert found.places.max() <= 1.0
    apart = np.linalg.norm(found.places[:, None] - found.places[None], axis=2)
    assert apart[np.triu_indices(40, 1)].min() > 0.02


def test_neighbors_stand_closer_than_others():
    places = layout(two_cliques(15).toarray())
    centers = places[:15].mean(axis=0), places[15:].mean(axis=0)
    spread = np.linalg.norm(places[:15] - centers[0], axis=1).mean()
    assert np.linalg.norm(centers[0] - centers[1]) > 1.5 * spread


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_maps_have_places(n):
    found = map_around(sparse.csr_array(np.ones((n, n)) - np.eye(n)), np.arange(n))
    assert found.places.shape == (n, 2)
    assert np.isfinite(found.places).all()


def test_more_seeds_than_room_are_cut():
    assert len(grown(ring(30), np.arange(30), 10)) == 10


def test_too_many_edges_are_thinned_and_counted():
    n = 70
    found = map_around(sparse.csr_array(np.ones((n, n)) - np.eye(n)), np.arange(n))
    assert len(found.edges) + found.n_hidden == n * (n - 1) // 2
    assert found.n_hidden > 0
