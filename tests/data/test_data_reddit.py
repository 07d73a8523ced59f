"""Reddit2's raw files, in small."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from adagcn.data.generators import planted_partition
from adagcn.data.reddit import convert_reddit
from adagcn.data.splits import make_split, public_split
from adagcn.errors import AdaGCNError, FormatError, InputError, UnsafeFileError
from adagcn.graph import Graph

ROLES = {"tr": list(range(20)), "va": [20, 22, 24], "te": [21, 23, 25]}


@pytest.fixture
def small() -> Graph:
    return planted_partition(30, 3, 4, seed=0)


@pytest.fixture
def folder(tmp_path, small) -> Path:
    sparse.save_npz(tmp_path / "adj_full.npz", sparse.csr_matrix(small.adjacency))
    np.save(tmp_path / "feats.npy", small.features.astype(np.float64))
    classes = {str(node): int(label) for node, label in enumerate(small.labels)}
    (tmp_path / "class_map.json").write_text(json.dumps(classes))
    (tmp_path / "role.json").write_text(json.dumps(ROLES))
    return tmp_path


def test_converted_file_is_the_graph_with_its_split(folder, small):
    path = convert_reddit(folder, folder / "reddit.npz")
    graph = Graph.from_npz(path)
    assert (graph.adjacency != small.adjacency).nnz == 0
    np.testing.assert_array_equal(graph.features, small.features)
    assert graph.features.dtype == np.float32
    np.testing.assert_array_equal(graph.labels, small.labels)
    split = make_split(graph, "public", source=path)
    assert split.train_nodes.tolist() == ROLES["tr"]
    assert split.stop_nodes.tolist() == ROLES["va"]
    assert public_split(path).score_nodes.tolist() == ROLES["te"]


def test_nodes_without_a_class_are_unlabeled(folder, small):
    classes = {str(node): int(label) for node, label in enumerate(small.labels) if node != 29}
    (folder / "class_map.json").write_text(json.dumps(classes))
    path = convert_reddit(folder, folder / "reddit.npz")
    assert Graph.from_npz(path).labels[29] == -1


@pytest.mark.parametrize("name", ["adj_full.npz", "feats.npy", "class_map.json", "role.json"])
def test_missing_and_damaged_files(folder, name):
    path = folder / name
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(AdaGCNError, match=r"not those of Reddit2|truncated or damaged"):
        convert_reddit(folder, folder / "reddit.npz")
    path.unlink()
    with pytest.raises(InputError, match=f"missing; got '.*{name}'"):
        convert_reddit(folder, folder / "reddit.npz")
    assert not (folder / "reddit.npz").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("class_map.json", {"30": 0}),
        ("class_map.json", {"-1": 0}),
        ("class_map.json", {"0": 1.5}),
        ("class_map.json", {"0": True}),
        ("class_map.json", {"0": [0, 1]}),
        ("class_map.json", {"a": 0}),
        ("class_map.json", [1, 2]),
        ("role.json", {"tr": [0], "va": [1]}),
        ("role.json", 3),
    ],
)
def test_json_that_does_not_fit(folder, name, content):
    (folder / name).write_text(json.dumps(content))
    with pytest.raises(FormatError, match="not those of Reddit2"):
        convert_reddit(folder, folder / "reddit.npz")


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"tr": [0], "va": [0], "te": [1]}, "share 1 node"),
        ({"tr": [0], "va": [1], "te": [30]}, "beyond the graph's 30 nodes"),
        ({"tr": [], "va": [1], "te": [2]}, "train_nodes must be"),
    ],
)
def test_roles_that_are_no_split(folder, roles, message):
    (folder / "role.json").write_text(json.dumps(roles))
    with pytest.raises(InputError, match=message):
        convert_reddit(folder, folder / "reddit.npz")


def test_rows_must_be_nodes(folder, small):
    np.save(folder / "feats.npy", small.features[:-1])
    with pytest.raises(FormatError, match=r"feats\.npy of shape \(29, 4\) for 30 nodes"):
        convert_reddit(folder, folder / "reddit.npz")


def test_pickled_features_are_refused(folder):
    np.save(folder / "feats.npy", np.array([[None]]), allow_pickle=True)
    with pytest.raises(FormatError, match="not those of Reddit2"):
        convert_reddit(folder, folder / "reddit.npz")


def test_pickled_adjacency_is_refused(folder):
    np.savez(
        folder / "adj_full.npz", data=np.array([None]), indices=[0], indptr=[0, 1], shape=[1, 1]
    )
    with pytest.raises(UnsafeFileError, match=r"'data' .* could run code"):
        convert_reddit(folder, folder / "reddit.npz")


@pytest.mark.parametrize("indptr", [[0, 3, -8], [0, 2, 1], [0, 1, 9], [1, 1, 1], [0, 1]])
def test_row_pointers_must_be_consistent(folder, indptr):
    np.savez(
        folder / "adj_full.npz",
        data=np.ones(2),
        indices=np.array([0, 1]),
        indptr=np.array(indptr),
        shape=[2, 2],
    )
    with pytest.raises(FormatError, match="not those of Reddit2"):
        convert_reddit(folder, folder / "reddit.npz")
