"""Data sets as tables: what is written is read back as the same graph."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adagcn import Graph, load_dataset
from adagcn.data import tables as table_module
from adagcn.data.catalog import TABLE_SETS, DataFile
from adagcn.data.digests import file_digest
from adagcn.data.tables import copy_tables, write_tables
from adagcn.errors import GraphNotice, IntegrityError, ResourceError


def read_back(folder, **how) -> Graph:
    files = {name: folder / f"{name}.csv" for name in ("features", "labels")}
    given = {name: path for name, path in files.items() if path.exists()}
    return Graph.from_edges(folder / "edges.csv", **given, **how)


def assert_same_graph(found: Graph, graph: Graph) -> None:
    """Both have the same edges, features and labels by the ids of the nodes."""
    assert found.n_nodes == graph.n_nodes
    found = found.subgraph(found.positions(graph.node_ids))
    assert (found.adjacency != graph.adjacency).nnz == 0
    difference = found.features != graph.features
    assert (difference.nnz if sparse.issparse(difference) else difference.sum()) == 0
    ids, labels = graph.ids_and_labels(graph.labeled_nodes)
    found_ids, found_labels = found.ids_and_labels(found.labeled_nodes)
    np.testing.assert_array_equal(found_ids, ids)
    np.testing.assert_array_equal(found_labels.astype(str), labels.astype(str))  # "0" or 0


def test_cora_comes_back_to_the_last_bit(tmp_path):
    graph = load_dataset("cora")
    files = write_tables(graph, tmp_path)
    assert [path.name for path in files] == ["edges.csv", "features.csv", "labels.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(p.name for p in files)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no notice: nothing had to be changed
        found = read_back(tmp_path)
    assert_same_graph(found, graph)
    assert (tmp_path / "edges.csv").read_text().count("\n") == graph.n_edges + 1


@pytest.mark.dataset
@pytest.mark.full
@pytest.mark.parametrize("name", ["cora_ml", "citeseer", "pubmed", "ms_academic"])
def test_named_data_sets_come_back_to_the_last_bit(name, dataset_dir, tmp_path):
    graph = load_dataset(name, data_dir=dataset_dir)
    write_tables(graph, tmp_path)
    assert_same_graph(read_back(tmp_path), graph)


def small(**changes) -> Graph:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 3)).astype(np.float32)
    edges = pd.DataFrame(
        {"a": ["v", "w,x", "v", "y"], "b": ["w,x", "y", "v", 'z"'], "w": [1.0, 0.1, 3.0, 1e-30]}
    )
    options = {
        "weight": "w",
        "features": values,
        "node_ids": ["v", "w,x", "y", 'z"', "alone"],
        "feature_names": ["age", "in,come", "=cmd()"],
        "labels": {"v": "yes", 'z"': "n\no", "alone": "yes"},
    }
    return Graph.from_edges(edges, **{**options, **changes})


def test_wide_tables_keep_odd_names_weights_loops_and_lone_nodes(tmp_path):
    graph = small()
    write_tables(graph, tmp_path)
    found = read_back(tmp_path, weight="weight")
    assert_same_graph(found, graph)
    assert found.feature_names.tolist() == graph.feature_names.tolist()


def test_directed_graphs_are_written_edge_by_edge(tmp_path):
    graph = small(directed="keep")
    write_tables(graph, tmp_path)
    assert_same_graph(read_back(tmp_path, weight="weight", directed="keep"), graph)


def test_long_tables_keep_columns_that_no_node_has(tmp_path):
    values = np.array([[0, 0, 1.5], [0, 0, 0], [0.1, 0, 0], [0, 0, 0], [0, 0, 2e-20]])
    graph = small(features=sparse.csr_array(values), feature_names=None)
    write_tables(graph, tmp_path)
    found = read_back(tmp_path, weight="weight", node_ids=graph.node_ids)
    assert found.n_features == 3
    assert_same_graph(found, graph)


def test_graphs_without_features_have_two_tables(tmp_path):
    graph = Graph.from_edges([(1, 2), (2, 3)], labels={1: "a", 3: "b"})
    assert [path.name for path in write_tables(graph, tmp_path)] == ["edges.csv", "labels.csv"]
    assert read_back(tmp_path).digest == graph.digest


def test_an_unfinished_table_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "edges.csv").write_text("old")
    monkeypatch.setattr(table_module, "_edge_rows", lambda graph: (["a"], iter(lambda: 1 / 0, 1)))
    with pytest.raises(ZeroDivisionError):
        write_tables(small(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]
    assert (tmp_path / "edges.csv").read_text() == "old"


# Table sets


@pytest.mark.dataset
def test_twitch_is_verified_and_copied(dataset_dir, tmp_path):
    if not (dataset_dir / TABLE_SETS["twitch"].folder).is_dir():
        pytest.skip("the tables of twitch are not in the data folder")
    copy_tables(TABLE_SETS["twitch"], tmp_path, [dataset_dir])
    with pytest.warns(GraphNotice, match="535 repeated rows"):
        graph = read_back(tmp_path)
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (7126, 35324, 2545)


@pytest.fixture
def toy(tmp_path):
    """A table set of three small files in its folder."""
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    files = {}
    for part, text in (
        ("edges", "a,b\n1,2\n"),
        ("features", "n,x\n1,2\n"),
        ("labels", "n,l\n1,y\n"),
    ):
        path = folder / f"{part}.txt"
        path.write_text(text)
        files[part] = DataFile(path.name, (file_digest(path),))
    twitch = TABLE_SETS["twitch"]
    return replace(twitch, key="toy", folder="elsewhere/toy", **files), tmp_path


def test_a_table_set_is_found_in_its_folder_and_copied_as_it_is(toy):
    dataset, folder = toy
    out = folder / "out"
    out.mkdir()
    copy_tables(dataset, out, [folder / "nothing", folder / "data"])
    assert (out / "edges.csv").read_text() == "a,b\n1,2\n"
    assert (out / "labels.csv").read_text() == "n,l\n1,y\n"


def test_missing_and_changed_files_are_refused_before_anything_is_copied(toy):
    dataset, folder = toy
    with pytest.raises(
        ResourceError, match=r"toy are not on this machine.*no folder, since ADAGCN"
    ):
        copy_tables(dataset, folder, [])
    (folder / "data" / "toy" / "labels.txt").write_text("n,l\n1,n\n")
    with pytest.raises(IntegrityError, match=r"labels\.txt"):
        copy_tables(dataset, folder, [folder / "data"])
    assert sorted(path.name for path in folder.iterdir()) == ["data"]
