"""The doctor's measures against dense formulas and hand counts on tiny graphs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn.doctor.homophily import homophily_of
from adagcn.doctor.intervals import mean, paired_difference, share
from adagcn.doctor.label_counts import label_counts
from adagcn.doctor.smoothing import dirichlet_energy, effective_rank, mean_average_distance
from adagcn.doctor.structure import structure_of
from adagcn.graph import Graph
from adagcn.propagation.normalize import make_propagator

# Tiny graphs made by hand have a few repeated edges.
pytestmark = pytest.mark.filterwarnings("ignore::adagcn.errors.GraphNotice")


def graph_of(edges, labels, *, directed="ignore", weight=None, n_nodes=None):
    n_nodes = len(labels) if n_nodes is None else n_nodes
    return Graph.from_edges(
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        features=np.eye(n_nodes, 3, dtype=np.float32) + 1,
        labels=labels,
        unlabeled=-1,
        directed=directed,
        weight=weight,
    )


@pytest.fixture
def rng():
    return np.random.default_rng(42)


def test_dirichlet_energy_is_the_sum_over_edges(rng):
    adjacency = np.triu(rng.integers(0, 3, size=(6, 6)), 1).astype(float)
    adjacency += adjacency.T
    features = rng.standard_normal((6, 4))
    loops = adjacency + np.eye(6)
    degree = loops.sum(axis=1)
    scaled = features / np.sqrt(degree)[:, None]
    by_edges = sum(
        0.5 * loops[i, j] * np.square(scaled[i] - scaled[j]).sum()
        for i in range(6)
        for j in range(6)
    )
    propagated = make_propagator(sparse.csr_array(adjacency), dtype=np.float64) @ features
    found = dirichlet_energy(features, propagated)
    assert found == pytest.approx(by_edges / np.square(features).sum(), rel=1e-12)


def test_energy_of_what_propagation_leaves_alone_is_zero():
    adjacency = sparse.csr_array(np.ones((3, 3)) - np.eye(3))
    same = np.ones((3, 2))
    propagated = make_propagator(adjacency, dtype=np.float64) @ same
    assert dirichlet_energy(same, propagated) == pytest.approx(0.0, abs=1e-12)
    assert dirichlet_energy(np.zeros((3, 2)), np.zeros((3, 2))) == 0.0


def test_distance_is_one_minus_the_mean_cosine_and_skips_zero_rows():
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [0.0, 0.0]])
    pairs = np.array([[0, 0, 1, 0], [1, 2, 2, 3]])
    assert mean_average_distance(rows, pairs) == pytest.approx(1 - (0 + 2 * 0.5**0.5) / 3)
    assert mean_average_distance(np.zeros((2, 2)), np.array([[0], [1]])) is None


@pytest.mark.parametrize(
    ("rows", "rank"), [(np.eye(5), 5.0), (np.ones((4, 3)), 1.0), (np.zeros((3, 2)), 0.0)]
)
def test_effective_rank_counts_equal_directions(rows, rank):
    assert effective_rank(rows) == pytest.approx(rank)


def test_effective_rank_is_the_entropy_of_singular_values(rng):
    rows = rng.standard_normal((7, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    shares = np.linalg.svd(rows, compute_uv=False)
    shares /= shares.sum()
    assert effective_rank(rows) == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))


def test_structure_counts_by_hand():
    # A path 0 - 1 - 2, a loop at 2, a pair 3 - 4, and 5 on its own.
    graph = graph_of([(0, 1), (1, 2), (2, 2), (3, 4)], [0] * 6)
    found = structure_of(graph)
    assert (found.n_edges, found.self_loops, found.isolated, found.components) == (4, 1, 1, 3)
    assert (found.degree_min, found.degree_median, found.degree_max) == (0, 1, 2)
    assert found.degree_mean == pytest.approx(1.0)
    assert found.largest_share == 0.5
    assert not found.directed
    assert not found.weighted


def test_directed_and_weighted_graphs_are_counted_as_they_are():
    graph = graph_of([(0, 1), (2, 1)], [0, 1, 1, 0], directed="keep", weight=[2.0, 0.5])
    found = structure_of(graph)
    assert (found.directed, found.weighted, found.isolated) == (True, True, 1)
    assert (found.smallest_weight, found.largest_weight) == (0.5, 2.0)
    assert found.degree_max == 1  # what a node gathers from


def test_homophily_by_hand(rng):
    # Classes 0 0 1 1 1; of five edges, 0-1, 2-3 and 3-4 stay within a class.
    graph = graph_of([(0, 1), (2, 3), (3, 4), (1, 2), (0, 4)], [0, 0, 1, 1, 1])
    found = homophily_of(graph, rng=rng)
    assert found.n_edges == 5
    assert found.edge.value == 0.6
    assert found.chance == pytest.approx((2 * 1 + 3 * 2) / (5 * 4))
    ends = np.array([4, 6]) / 10  # of the ten ends of edges, by class
    chance = (ends**2).sum()
    assert found.degree_chance == pytest.approx(chance)
    assert found.adjusted.value == pytest.approx((0.6 - chance) / (1 - chance))
    expected = max(0, 2 / 4 - 2 / 5) + max(0, 4 / 6 - 3 / 5)
    assert found.class_insensitive == pytest.approx(expected)
    assert found.edge.low <= 0.6 <= found.edge.high


def test_chance_is_what_permuted_labels_give(rng):
    edges = rng.integers(60, size=(200, 2))
    labels = rng.choice(3, size=60, p=[0.6, 0.3, 0.1])
    labels[rng.random(60) < 0.2] = -1
    graph = graph_of(edges[edges[:, 0] != edges[:, 1]], labels)
    known = np.flatnonzero(labels >= 0)
    shares = []
    for _ in range(300):
        dealt = labels.copy()
        dealt[known] = rng.permutation(labels[known])
        table = graph_of(edges[edges[:, 0] != edges[:, 1]], dealt)
        entries = table.adjacency.tocoo()
        once = (entries.row < entries.col) & np.isin(entries.row, known)
        once &= np.isin(entries.col, known)
        shares.append((dealt[entries.row[once]] == dealt[entries.col[once]]).mean())
    found = homophily_of(graph, rng=rng)
    assert found.chance == pytest.approx(np.mean(shares), abs=4 * np.std(shares) / 300**0.5)


def test_homophily_of_directed_edges_counts_each_once(rng):
    graph = graph_of([(0, 1), (1, 0), (1, 2)], [0, 0, 1], directed="keep")
    found = homophily_of(graph, rng=rng)
    assert found.n_edges == 3
    assert found.edge.value == pytest.approx(2 / 3)
    assert found.degree_chance == pytest.approx((3 * 2 + 0 * 1) / 9)


def test_homophily_needs_an_edge_between_labeled_nodes(rng):
    assert homophily_of(graph_of([(0, 1), (1, 2)], [0, -1, 1]), rng=rng) is None


def test_the_interval_of_homophily_covers_the_planted_value():
    from adagcn.data.generators import planted_partition

    inside = 0
    for seed in range(20):
        graph = planted_partition(200, 2, 3, seed=seed, homophily=0.7, mean_degree=6)
        found = homophily_of(graph, rng=np.random.default_rng(seed)).edge
        inside += found.low <= 0.7 <= found.high
    assert inside >= 17


def test_coverage_follows_the_edges():
    # A path 0-1-2-3, where 0 is labeled, and 4 apart from it.
    found = label_counts(graph_of([(0, 1), (1, 2), (2, 3)], [1, -1, -1, -1, -1]))
    assert found.coverage == pytest.approx((0.2, 0.4, 0.6, 0.8))
    directed = graph_of([(0, 1), (1, 2)], [-1, -1, 1], directed="keep")
    assert label_counts(directed).coverage == pytest.approx((1 / 3, 2 / 3, 1.0))


def test_class_counts_and_imbalance():
    found = label_counts(graph_of([(0, 1)], [5, 5, 5, 7, -1]))
    assert [(each.label, each.n_labels) for each in found.classes] == [(5, 3), (7, 1)]
    assert found.imbalance == 3
    assert found.largest_share == 0.75
    assert len(found.few) == 2


def test_wilson_and_agresti_min_do_not_collapse():
    certain = share(10, 10)
    assert certain.value == 1.0
    assert certain.low == pytest.approx(0.7225, abs=1e-3)
    same = paired_difference(np.ones(10, dtype=bool), np.ones(10, dtype=bool))
    assert same.value == 0.0
    assert same.low < -0.05 < 0.05 < same.high


@pytest.mark.parametrize("gain", [-0.2, 0.0, 0.15])
def test_intervals_cover_as_often_as_they_say(gain, rng):
    hits, means = 0, 0
    for _ in range(300):
        first = rng.random(80) < 0.5
        second = rng.random(80) < 0.5 + gain
        found = paired_difference(first, second)
        hits += found.low <= gain <= found.high
        values = mean(rng.standard_normal(15) + gain)
        means += values.low <= gain <= values.high
    assert hits >= 273
    assert means >= 273
