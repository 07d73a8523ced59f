"""The ``.npz`` files that people have: one graph from every layout, and what was found if none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn import Graph
from adagcn.errors import FormatError, GraphNotice, UnsafeFileError

EDGES = np.array([[0, 1], [1, 2], [3, 1]])
DENSE = np.array([[1.0, 0], [0, 2], [3, 0], [0, 4]])
LABELS = np.array([1, 0, -1, 1])
ADJACENCY = sparse.csr_array((np.ones(6), (EDGES.T.ravel(), EDGES[:, ::-1].T.ravel())), (4, 4))


def csr(prefix, matrix, mark="_"):
    matrix = sparse.csr_array(matrix)
    parts = ("data", "indices", "indptr", "shape")
    return {f"{prefix}{mark}{part}": np.array(getattr(matrix, part)) for part in parts}


BOTH_WAYS = np.concatenate([EDGES, EDGES[:, ::-1]]).T
LAYOUTS = {
    "Shchur's": {**csr("adj", ADJACENCY), **csr("attr", DENSE), "labels": LABELS},
    "Shchur's, dense": {**csr("adj", ADJACENCY), "attr_matrix": DENSE, "labels": LABELS},
    "GraphData's": {**csr("adj_matrix", ADJACENCY), **csr("attr_matrix", DENSE), "label": LABELS},
    "a mixture": {
        **csr("adj_matrix", ADJACENCY, "."), "node_attr": DENSE, "node_label": LABELS[:, None]
    },
    "another mixture": {
        **csr("adj_matrix", ADJACENCY, "."), **csr("attr", DENSE), "labels": LABELS
    },
    "heterophilous": {"edges": EDGES, "node_features": DENSE, "node_labels": LABELS},
    "PyG's": {"edge_index": BOTH_WAYS, "x": DENSE, "y": LABELS[:, None]},
    "PyG's, other names": {"edge_index": BOTH_WAYS, "features": DENSE, "labels": LABELS * 1.0},
    "edges by row": {"edge_index": BOTH_WAYS.T, "x": DENSE, "y": LABELS},
    "a dense adjacency": {"adj_matrix": ADJACENCY.toarray(), "features": DENSE, "y": LABELS},
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_graph_from_every_layout(tmp_path, layout):
    path = tmp_path / "graph.npz"
    np.savez(path, **LAYOUTS[layout])
    graph = Graph.from_npz(path)
    assert graph.adjacency.toarray().tolist() == ADJACENCY.toarray().tolist()
    assert not graph.is_directed
    features = (
        graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    )
    assert features.tolist() == DENSE.tolist()
    assert graph.labels.tolist() == LABELS.tolist()
    assert graph.classes.tolist() == [0, 1]
    assert graph.node_ids.tolist() == [0, 1, 2, 3]
    assert graph.changes[0].startswith("read edges from ")
    for name in ("features", "labels"):
        assert f", {name} from " in graph.changes[0]


def test_it_is_said_what_the_file_was_taken_for(tmp_path):
    path = tmp_path / "graph.npz"
    masks = {f"{name}_masks": np.ones((2, 4), bool) for name in ("train", "val", "test")}
    np.savez(path, **LAYOUTS["heterophilous"], **masks, edge_attr=np.zeros((3, 5)))
    graph = Graph.from_npz(path)
    assert graph.changes[:2] == (
        "read edges from edges, features from node_features, labels from node_labels",
        "not read: edge_attr",
    )
    graph.to_npz(path)
    assert Graph.from_npz(path).changes == ()


def test_one_way_edges_are_made_two_way_and_this_is_said(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, edge_index=EDGES.T, x=DENSE, y=LABELS)
    with pytest.warns(GraphNotice, match="edges"):
        graph = Graph.from_npz(path)
    assert graph.adjacency.toarray().tolist() == ADJACENCY.toarray().tolist()


def test_weights_of_edges_are_read(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, edges=EDGES, node_features=DENSE, edge_weight=np.array([[2.0], [3], [5]]))
    graph = Graph.from_npz(path)
    assert graph.adjacency.toarray()[1].tolist() == [2, 0, 3, 5]
    assert ", weights from edge_weight" in graph.changes[0]


def test_names_of_nodes_classes_and_features(tmp_path):
    path = tmp_path / "graph.npz"
    names = {
        "node_names": np.array(["a", "b", "c", "d"]),
        "class_names": np.array(["no", "yes"]),
        "attr_names": np.array(["x", "y"]),
    }
    np.savez(path, **LAYOUTS["Shchur's"], **names)
    graph = Graph.from_npz(path)
    assert graph.node_ids.tolist() == ["a", "b", "c", "d"]
    assert graph.classes.tolist() == ["no", "yes"]
    assert graph.feature_names.tolist() == ["x", "y"]
    graph.to_npz(path)
    again = Graph.from_npz(path)
    assert again.digest == graph.digest
    assert again.feature_names.tolist() == ["x", "y"]
    assert again.changes == ()


def test_names_that_cannot_be_used_are_left_out_and_this_is_said(tmp_path):
    path = tmp_path / "graph.npz"
    twice = {"node_names": np.array(["a", "a", "b", "c"]), "attr_names": np.array([1.5, 2.5])}
    np.savez(path, **LAYOUTS["Shchur's"], **twice)
    graph = Graph.from_npz(path)
    assert graph.node_ids.tolist() == [0, 1, 2, 3]
    assert graph.feature_names is None
    assert "not used, since they are not different names: node_names" in graph.changes
    objects = {f"{name}_names": np.array(["a", None]) for name in ("node", "attr", "class")}
    np.savez(path, **LAYOUTS["Shchur's"], **objects)
    graph = Graph.from_npz(path)
    assert graph.node_ids.tolist() == [0, 1, 2, 3]
    (phrase,) = [text for text in graph.changes if "Python objects" in text]
    assert all(name in phrase for name in objects)


def test_names_in_our_own_layout_are_beside_the_point(tmp_path):
    """The published files have them; their ids are positions, on which every result rests."""
    path = tmp_path / "graph.npz"
    ours = {**csr("adj_matrix", ADJACENCY, "."), **csr("attr_matrix", DENSE, ".")}
    np.savez(path, **ours, labels=LABELS, node_names=np.array(["a", "b", "c", "d"]))
    graph = Graph.from_npz(path)
    assert graph.node_ids.tolist() == [0, 1, 2, 3]
    assert graph.changes == ()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.zeros(3), "b": np.array(["x"])},
         r"no graph in a known layout; got 'a: float64 \(3,\), b: text \(1,\)'. Write adj_data"),
        ({}, "no graph in a known layout; got ''"),
        ({**csr("adj", ADJACENCY), "adj_shape": None}, "one-dimensional array 'adj_matrix.shape'"),
        ({"edges": EDGES * 1.5, "node_features": DENSE}, r"edges must be two .*float64 \(3, 2"),
        ({"edges": np.zeros((3, 3), int), "x": DENSE}, "edges must be two rows or two columns"),
        ({"edges": EDGES + 9, "node_features": DENSE}, "not all between 0 and 3"),
        ({"edges": EDGES, "node_features": DENSE, "node_labels": LABELS[:3]}, "for each of the 4"),
        ({"edges": EDGES, "x": DENSE, "y": np.eye(4)}, "labels"),
        ({"edges": EDGES, "x": DENSE, "edge_weight": np.ones(7)}, "edge_weight must have one"),
        ({"edges": EDGES, "x": np.array(["a"] * 4)[:, None]}, "features must hold real numbers"),
    ],
)  # fmt: skip
def test_what_is_no_graph_is_listed(tmp_path, arrays, message):
    path = tmp_path / "graph.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(FormatError, match=message):
        Graph.from_npz(path)


def test_pickled_matrices_are_named_with_the_way_to_convert_them(tmp_path):
    path = tmp_path / "graph.npz"
    adjacency = np.array(None, dtype=object)
    np.savez(path, adj_matrix=adjacency, node_attr=adjacency, node_label=LABELS)
    message = r"arrays 'adj_matrix', 'node_attr' of .*allow_pickle=True.*indptr.*numpy\.savez"
    with pytest.raises(UnsafeFileError, match=message):
        Graph.from_npz(path)


def test_the_size_limit_reaches_the_file(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, **LAYOUTS["heterophilous"])
    with pytest.raises(UnsafeFileError, match="allow more with max_bytes"):
        Graph.from_npz(path, max_bytes=100)
    assert Graph.from_npz(path, max_bytes=10_000).n_nodes == 4
