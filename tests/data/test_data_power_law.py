"""A graph that is generated block by block is one graph, however it is written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from adagcn import Graph
from adagcn.data import power_law
from adagcn.data.power_law import PowerLaw, write_power_law_store, write_power_law_tables
from adagcn.errors import GraphNotice

SMALL = PowerLaw(600, 3000, n_features=5, n_classes=3, n_communities=6, seed=4)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(power_law, "_STORED_AT_ONCE", 1500)


def adjacency(graph):
    parts = [graph.rows(block) for block in range(graph.n_blocks)]
    rows, columns = (np.concatenate([each[k] for each in parts]) for k in (0, 1))
    shape = (graph.n_nodes, graph.n_nodes)
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def test_blocks_make_one_symmetric_graph():
    assert SMALL.n_blocks == 4
    found = adjacency(SMALL)
    assert abs(found - found.T).nnz == 0
    assert found.diagonal().sum() == 0
    assert found.data.max() == 1
    assert 0.7 * 6000 < found.nnz <= 6000


@pytest.mark.parametrize("order", ["scattered", "community"])
def test_most_edges_stay_in_their_community(order):
    graph = replace(SMALL, order=order)
    found = adjacency(graph).tocoo()
    groups = graph.communities(slice(0, graph.n_nodes))
    inside = np.mean(groups[found.row] == groups[found.col])
    assert 0.7 < inside < 0.9  # 0.8, a sixth of the others, less what is drawn twice
    near = np.mean(np.abs(found.row - found.col) < 100)
    assert near > 0.6 if order == "community" else near < 0.5


def test_degrees_are_far_from_equal():
    degrees = np.diff(adjacency(replace(SMALL, n_nodes=3000, n_edges=15_000)).indptr)
    assert degrees.max() > 15 * np.median(degrees)


def test_the_store_is_the_graph_of_the_tables(tmp_path):
    write_power_law_store(SMALL, tmp_path / "store")
    tables = write_power_law_tables(SMALL, tmp_path)
    store = Graph.from_store(tmp_path / "store")
    with pytest.warns(GraphNotice):  # of edges that are listed again
        read = Graph.from_edges(
            tables["edges"], features=tables["features"], labels=tables["labels"]
        )
    assert (store.adjacency != read.adjacency).nnz == 0
    np.testing.assert_allclose(store.features, read.features, atol=6e-5)  # four digits
    assert (store.classes[store.labels] == read.classes[read.labels].astype(int)).all()
    again = Graph(
        adjacency=store.adjacency,
        features=np.asarray(store.features),
        node_ids=np.asarray(store.node_ids),
        labels=np.asarray(store.labels),
        classes=np.asarray(store.classes),
    )
    assert (again.input_digest, again.digest) == (store.input_digest, store.digest)


def test_another_seed_is_another_graph_and_the_same_seed_the_same(tmp_path):
    folders = [tmp_path / name for name in ("one", "same", "other")]
    for folder, seed in zip(folders, (4, 4, 5), strict=True):
        write_power_law_store(replace(SMALL, seed=seed), folder)
    one, same, other = (Graph.from_store(folder).digest for folder in folders)
    assert one == same != other


def test_sizes_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="communities at most as many as nodes"):
        PowerLaw(10, 20, n_communities=11)
