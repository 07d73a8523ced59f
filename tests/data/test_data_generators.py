"""Generated graphs: seeded, clean, and as homophilous as asked."""

from __future__ import annotations

import numpy as np
import pytest

from adagcn.data.generators import GENERATED, planted_partition, rare_columns, weak_dense
from adagcn.data.holdout import holdout_split
from adagcn.data.nodesets import fit_on_split
from adagcn.errors import InputError
from adagcn.models import AdaGCNClassifier


def same_class_share(graph):
    arcs = graph.adjacency.tocoo()
    return float(np.mean(graph.labels[arcs.row] == graph.labels[arcs.col]))


def test_the_graph_is_clean():
    graph = planted_partition(500, 4, 7, seed=0)
    assert not graph.is_directed
    assert graph.adjacency.diagonal().sum() == 0
    assert set(graph.adjacency.data) == {1.0}
    assert graph.adjacency.has_canonical_format
    assert graph.adjacency.dtype == graph.features.dtype == np.float32
    assert graph.features.shape == (500, 7)
    assert np.bincount(graph.labels).tolist() == [125] * 4


def test_seed_decides_everything():
    assert (
        planted_partition(50, 2, 3, seed=1).digest
        == planted_partition(50, 2, 3, seed=1).digest
        != planted_partition(50, 2, 3, seed=2).digest
    )


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.8, 1.0])
def test_homophily_is_as_asked(homophily):
    graph = planted_partition(4000, 5, 1, seed=0, homophily=homophily, mean_degree=6)
    assert same_class_share(graph) == pytest.approx(homophily, abs=0.02)
    assert 2 * graph.n_edges / graph.n_nodes == pytest.approx(6, rel=0.03)


def test_features_show_the_class_as_much_as_asked():
    def spread(signal: float) -> float:
        graph = planted_partition(3000, 3, 20, seed=0, feature_signal=signal)
        means = [graph.features[graph.labels == label].mean(axis=0) for label in range(3)]
        return float(np.mean(np.linalg.norm(means, axis=1)))

    assert spread(0.0) == pytest.approx(0, abs=0.2)
    assert spread(3.0) == pytest.approx(3, abs=0.2)


def test_one_class_and_no_edges_work():
    assert planted_partition(10, 1, 2, seed=0, mean_degree=0).n_edges == 0
    assert planted_partition(10, 1, 2, seed=0, homophily=0).n_classes == 1


@pytest.mark.parametrize(
    ("sizes", "options"),
    [((2, 3, 1), {}), ((5, 0, 1), {}), ((5, 2, 0), {}), ((5, 2, 1), {"homophily": 1.5}),
     ((5, 2, 1), {"mean_degree": 5})],
)  # fmt: skip
def test_impossible_sizes_are_refused(sizes, options):
    with pytest.raises(InputError, match=r"at least|must be between"):
        planted_partition(*sizes, seed=0, **options)


def accuracy(graph, model):
    split = holdout_split(graph.labels, 0, stop=500, train_per_class=20)
    fit_on_split(model, graph, split)
    return model.score(*graph.ids_and_labels(split.score_nodes))


@pytest.mark.parametrize("name", GENERATED)
def test_a_graph_of_a_kind_is_small_clean_and_seeded(name):
    graph = GENERATED[name]()
    assert graph.name == name
    assert graph.n_nodes <= 3000
    assert not graph.is_directed
    assert np.bincount(graph.labels).tolist() == [graph.n_nodes // 4] * 4
    assert graph.digest == GENERATED[name](0).digest != GENERATED[name](1).digest


def test_the_strongest_columns_of_rare_columns_are_noise():
    """Keeping the 1,000 strongest columns costs most of what all of them give."""
    graph = rare_columns()
    squares = graph.features.power(2).sum(axis=0)
    assert set(np.argsort(-squares, kind="stable")[:1000]) == set(range(4000, 5000))
    quick = {"n_layers": 4, "random_state": 0}
    few = accuracy(graph, AdaGCNClassifier(graph, max_features=1000, **quick))
    every = accuracy(graph, AdaGCNClassifier(graph, max_features="all", **quick))
    assert few < 0.45
    assert every > 0.65


def test_a_nodes_own_features_hide_the_class_of_weak_dense():
    graph = weak_dense()
    kept = accuracy(graph, AdaGCNClassifier(graph, teleport=0.2, random_state=0))
    left = accuracy(graph, AdaGCNClassifier(graph, teleport=0.0, random_state=0))
    assert kept < 0.7
    assert left > 0.95
