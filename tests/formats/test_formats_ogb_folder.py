"""A folder as the Open Graph Benchmark has it, as a store."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from adagcn import AdaGCNError, Graph
from adagcn.data.split_files import file_split
from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.ogb_folder import OgbFolder, build_ogb_store

pytest.importorskip("duckdb")

N_NODES = 30


def arrays():
    rng = np.random.default_rng(3)
    edges = rng.integers(N_NODES, size=(2, 80))
    features = rng.normal(size=(N_NODES, 4)).astype(np.float32)
    labels = rng.integers(3, size=(N_NODES, 1)).astype(np.float64)
    labels[::5] = np.nan
    return edges, features, labels


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        ",".join("nan" if v != v else repr(v) for v in np.atleast_1d(r).tolist()) for r in rows
    ]
    with gzip.open(path, "wt") as handle:
        handle.write("\n".join(lines) + "\n")


def text_folder(folder):
    edges, features, labels = arrays()
    raw = folder / "raw"
    write_lines(raw / "edge.csv.gz", edges.T)
    write_lines(raw / "num-node-list.csv.gz", [N_NODES])
    write_lines(raw / "node-feat.csv.gz", features)
    write_lines(raw / "node-label.csv.gz", labels)
    return with_split(folder)


def binary_folder(folder, save=np.savez_compressed):
    edges, features, labels = arrays()
    (folder / "raw").mkdir(parents=True)
    counts = np.array([N_NODES])
    save(folder / "raw/data.npz", edge_index=edges, node_feat=features, num_nodes_list=counts)
    save(folder / "raw/node-label.npz", node_label=labels)
    return with_split(folder)


def with_split(folder):
    for role, nodes in {"train": range(1, 5), "valid": range(6, 10), "test": range(11, 15)}.items():
        write_lines(folder / f"split/time/{role}.csv.gz", list(nodes))
    return folder


FOLDERS = {
    "text": text_folder,
    "binary": binary_folder,
    "binary, not compressed": lambda folder: binary_folder(folder, np.savez),
}


@pytest.mark.parametrize("kind", FOLDERS)
@pytest.mark.parametrize("directed", ["ignore", "keep"])
@pytest.mark.filterwarnings("ignore::adagcn.errors.GraphNotice")
def test_the_store_is_that_of_the_arrays(tmp_path, kind, directed):
    ogb = OgbFolder(FOLDERS[kind](tmp_path / "ogb"))
    build_ogb_store(tmp_path / "s", ogb, EdgeRules(directed))
    edges, features, labels = arrays()
    graph = Graph.from_edges(
        tuple(edges), features=features, labels=labels.ravel(), directed=directed
    )
    opened = Graph.from_store(tmp_path / "s")
    assert opened.digest == graph.digest
    assert set(graph.changes) <= set(opened.changes)
    assert "split 'time': 4 train, 4 valid, 4 test, in splits/time.npz" in opened.changes
    assert opened.labels[5] == -1
    split = file_split(opened, 0, tmp_path / "s/splits/time.npz")
    assert split.train_nodes.tolist() == [1, 2, 3, 4]


def test_a_folder_without_features_or_labels(tmp_path):
    folder = text_folder(tmp_path / "ogb")
    (folder / "raw/node-feat.csv.gz").unlink()
    (folder / "raw/node-label.csv.gz").unlink()
    build_ogb_store(tmp_path / "s", OgbFolder(folder))
    opened = Graph.from_store(tmp_path / "s")
    assert opened.has_node_columns
    assert (opened.n_nodes, opened.n_classes) == (N_NODES, 0)


def several_kinds(raw):
    (raw / "edge.csv.gz").unlink()
    (raw / "relations").mkdir()


def lines(name, rows):
    """Return what writes other lines to a file."""
    return lambda raw: write_lines(raw / f"{name}.csv.gz", rows)


DAMAGED = {
    "neither raw/edge.csv.gz nor raw/data.npz": lambda raw: (raw / "edge.csv.gz").unlink(),
    "several kinds of nodes": several_kinds,
    "lacks raw/num-node-list": lambda raw: (raw / "num-node-list.csv.gz").unlink(),
    "does not hold one graph": lines("num-node-list", [20, 10]),
    r"holds \d+ ids that the graph does not have": lines("num-node-list", [5]),
    "have not one row for each of 30 nodes": lines("node-feat", np.ones((5, 2))),
    "several labels each": lines("node-label", np.ones((N_NODES, 2))),
    "does not hold the numbers": lines("edge", [[1, 2]] * 3 + [[1, "a"]]),
    "does not hold the numbers.*3 columns": lines("edge", [[1, 2, 3]]),
}


@pytest.mark.parametrize("words", DAMAGED)
def test_a_damaged_folder_is_refused(tmp_path, words):
    folder = text_folder(tmp_path / "ogb")
    DAMAGED[words](folder / "raw")
    with pytest.raises(AdaGCNError, match=words):
        build_ogb_store(tmp_path / "s", OgbFolder(folder))
    assert not (tmp_path / "s").exists()


def test_an_archive_that_would_run_code_or_is_cut(tmp_path):
    folder = binary_folder(tmp_path / "ogb")
    objects = np.array([[1, "a"], [2, "b"]], dtype=object)
    np.savez(folder / "raw/data.npz", edge_index=objects, num_nodes_list=np.array([3]))
    with pytest.raises(AdaGCNError):
        build_ogb_store(tmp_path / "s", OgbFolder(folder))
    binary_folder(tmp_path / "other", np.savez)
    path = tmp_path / "other/raw/data.npz"
    octets = bytearray(path.read_bytes())
    octets[octets.index(b"edge_index.npy") + 300] ^= 255
    path.write_bytes(bytes(octets))
    with pytest.raises(AdaGCNError, match="damaged"):
        build_ogb_store(tmp_path / "s", OgbFolder(tmp_path / "other"))
