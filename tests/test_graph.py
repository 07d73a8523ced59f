"""A graph is the same value from whatever it is built, and says what was changed."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from adagcn.errors import FormatError, GraphNotice, InputError
from adagcn.graph import Graph

BIG = [2**24 + 1, 2**31 + 5, 2**53 + 1, 2**63 + 1, 2**70]
EDGES = {"from": ["c", "a", "b"], "to": ["a", "b", "d"], "w": [1.0, 2.0, 0.5]}
FEATURES = {"id": ["b", "a", "d", "c", "e"], "x": [1, 2, 3, 4, 5], "y": [0.5, 0.0, 0.0, 1.0, 9.0]}
LABELS = {"id": ["a", "d", "c"], "label": ["spam", None, "ham"]}


def to_csv(data, path):
    pd.DataFrame(data).to_csv(path, index=False)
    return path


def to_parquet(data, path):
    pq.write_table(pa.table(data), path)
    return path


MAKERS = {
    "pandas": lambda data, _: pd.DataFrame(data),
    "categorical": lambda data, _: pd.DataFrame(data).apply(
        lambda c: c if c.name in "wxy" else c.astype("category")
    ),
    "polars": lambda data, _: pl.DataFrame(data),
    "pyarrow": lambda data, _: pa.table(data),
    "csv": to_csv,
    "parquet": to_parquet,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_tables_of_every_make_give_the_same_graph(make, tmp_path):
    graph = Graph.from_edges(
        make(EDGES, tmp_path / "edges"),
        weight="w",
        features=make(FEATURES, tmp_path / "features"),
        labels=make(LABELS, tmp_path / "labels"),
    )
    assert graph.node_ids.tolist() == ["b", "a", "d", "c", "e"]
    assert graph.features.tolist() == [[1, 0.5], [2, 0], [3, 0], [4, 1], [5, 9]]
    assert graph.labels.tolist() == [-1, 1, -1, 0, -1]
    assert graph.classes.tolist() == ["ham", "spam"]
    expected = np.zeros((5, 5))
    for i, j, weight in [(3, 1, 1.0), (1, 0, 2.0), (0, 2, 0.5)]:
        expected[i, j] = expected[j, i] = weight
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    assert graph.feature_names.tolist() == ["x", "y"]
    assert repr(graph) == "Graph(5 nodes, 3 edges, 2 features, 2 classes)"


def test_a_path_may_be_a_string(tmp_path):
    path = to_csv({"a": [1, 2], "b": [2, 3]}, tmp_path / "edges.csv")
    assert Graph.from_edges(str(path)).node_ids.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "edges",
    [
        [(5, 7), (7, 6)],
        np.array([[5, 7], [7, 6]], dtype=np.int32),
        torch.tensor([[5, 7], [7, 6]]),
        ([5, 7], [7, 6]),
        (pd.Series([5, 7]), pl.Series([7, 6])),
        tuple(torch.tensor([[5, 7], [7, 6]])),
        iter([(5, 7), (7, 6)]),
    ],
)
def test_edges_without_a_table(edges):
    graph = Graph.from_edges(edges)
    assert graph.node_ids.tolist() == [5, 6, 7]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(graph.features.toarray(), np.eye(3))
    assert graph.changes == ("no features given: each node stands for itself (identity matrix)",)


@pytest.mark.parametrize("ids", [BIG[:1], BIG[:2], BIG[:3], BIG[:4], BIG, [str(b) for b in BIG]])
@pytest.mark.parametrize("make", ["list", "csv"])
def test_ids_of_any_size_stay_exact(ids, make, tmp_path):
    edges = [(ids[0], other) for other in [*ids, ids[0] + (1 if ids[0] != str(BIG[0]) else "1")]]
    if make == "csv":
        path = tmp_path / "edges.csv"
        path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in edges))
        graph = Graph.from_edges(path)
        ids = [int(value) for value in ids]
    else:
        graph = Graph.from_edges(edges)
    assert set(ids) <= set(graph.node_ids.tolist())
    assert graph.node_ids[graph.positions(ids)].tolist() == ids
    again = tmp_path / "graph.npz"
    graph.to_npz(again)
    assert Graph.from_npz(again).digest == graph.digest


def test_ids_past_64_bits_in_a_frame():
    frame = pd.DataFrame({"a": BIG, "b": [1, 2, 3, 4, 5]})
    assert Graph.from_edges(frame).node_ids.tolist() == [1, 2, 3, 4, 5, *BIG]


def test_files_without_names_lose_no_line(tmp_path):
    edges, table = tmp_path / "edges.csv", tmp_path / "table.csv"
    edges.write_text("1,2\n2,3\n")
    table.write_text("1,5,7\n2,6,7\n3,5,8\n")
    graph = Graph.from_edges(edges, features=table, labels=table)
    assert (graph.n_edges, graph.features.tolist()) == (2, [[5, 7], [6, 7], [5, 8]])
    assert graph.labels.tolist() == [0, 1, 0]
    assert graph.feature_names is None
    assert all("without column names" in phrase for phrase in graph.changes)


def test_an_edge_file_without_names(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("1 2 0.5\n2 3 0.25\n")
    graph = Graph.from_edges(path, header=False, weight="2")
    assert (graph.n_edges, graph.adjacency.max()) == (2, 0.5)


def test_leading_zeros_in_a_csv_file_make_all_ids_strings(tmp_path):
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    edges.write_text("a,b\n12,13\n")
    nodes.write_text("id,x\n007,1\n12,2\n13,3\n")
    graph = Graph.from_edges(edges, features=nodes)
    assert graph.node_ids.tolist() == ["007", "12", "13"]
    assert Graph.from_edges(edges).node_ids.tolist() == [12, 13]


def test_one_node_table_may_hold_the_labels():
    nodes = pd.DataFrame({"x": [1.0, 2.0], "kind": ["u", "v"], "name": ["b", "a"]})
    graph = Graph.from_edges([("a", "b")], features=nodes, id_column="name", label_column="kind")
    assert graph.node_ids.tolist() == ["b", "a"]
    assert graph.features.tolist() == [[1.0], [2.0]]
    assert graph.classes[graph.labels].tolist() == ["u", "v"]


@pytest.mark.parametrize(
    "labels", [{0: "y", 2: "x"}, ["y", None, "x"], pd.Series(["y", None, "x"])]
)
def test_labels_of_every_form(labels):
    graph = Graph.from_edges([(0, 1), (1, 2)], labels=labels)
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.labeled_nodes.tolist() == [0, 2]


def test_rows_without_ids_belong_to_the_nodes_0_to_n():
    graph = Graph.from_edges([(0, 2)], features=np.eye(4)[:, :2], labels=[0, 1, 1, 0])
    assert graph.node_ids.tolist() == [0, 1, 2, 3]
    assert graph.adjacency.nnz == 2


def test_the_order_of_node_ids_wins():
    table = pd.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0]})
    graph = Graph.from_edges([("a", "b")], features=table, node_ids=["b", "a"])
    assert graph.features.tolist() == [[2.0], [1.0]]
    graph = Graph.from_edges([("a", "b")], features=[[2.0], [1.0]], node_ids=["b", "a"])
    assert graph.features[graph.positions(["a"])].tolist() == [[1.0]]


SQUARE = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "lil", "dok", "dia"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_matrices_of_every_make_give_the_same_graph(make, fmt):
    graph = Graph.from_scipy(make(SQUARE).asformat(fmt), SQUARE)
    assert graph.digest == Graph.from_scipy(SQUARE, SQUARE).digest
    assert graph.digest == Graph.from_edges(make(SQUARE), features=SQUARE).digest
    np.testing.assert_array_equal(graph.adjacency.toarray(), SQUARE)


def test_a_matrix_with_names():
    graph = Graph.from_scipy(SQUARE, labels={"c": 1}, node_ids=list("abc"), weighted=False)
    assert graph.labels.tolist() == [-1, -1, 0]
    assert graph.adjacency.max() == 1
    assert graph.changes[0] == "2 edge weights set to 1"


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_networkx(kind):
    source = kind()
    source.add_node("z", v=[1.0, 2.0], n=3, kind="u")
    source.add_node("a", v=[0.0, 1.0], n=4)
    source.add_node("m", v=[5.0, 5.0], n=5, kind="v")
    source.add_edge("m", "a", weight=2.0)
    source.add_edge("z", "z")
    graph = Graph.from_networkx(source, features=["v", "n"], label="kind")
    assert graph.node_ids.tolist() == ["z", "a", "m"]
    assert graph.features.tolist() == [[1, 2, 3], [0, 1, 4], [5, 5, 5]]
    assert graph.labels.tolist() == [0, -1, 1]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[1, 0, 0], [0, 0, 2], [0, 2, 0]])
    assert Graph.from_networkx(source, features="n", weight=None).adjacency.max() == 1
    forwarded = Graph.from_edges(source, features=graph.features, labels={"z": "u", "m": "v"})
    assert forwarded.digest == graph.digest


def test_a_directed_networkx_graph():
    source = nx.DiGraph([(0, 1)])
    with pytest.warns(GraphNotice, match="1 one-way edge made two-way"):
        assert Graph.from_networkx(source).n_edges == 1
    graph = Graph.from_networkx(source, directed="keep")
    assert graph.is_directed
    assert repr(graph) == "Graph(2 nodes, 1 edges, no features, 0 classes, directed)"


def test_parallel_edges_of_networkx_are_duplicates():
    source = nx.MultiGraph([(0, 1), (1, 0), (0, 1)])
    with pytest.warns(GraphNotice, match="2 duplicate edges merged"):
        Graph.from_networkx(source)
    assert Graph.from_networkx(source, duplicates="sum").adjacency.max() == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "v"}, r"1 node of the networkx graph without attribute 'v'; got \[1\]"),
        ({"features": "w"}, r"the attribute 'w' must have the same length.*got \[1, 2\]"),
        ({"label": "v2"}, "no node of the networkx graph has the attribute 'v2'"),
    ],
)
def test_networkx_attributes_that_do_not_fit(options, message):
    source = nx.Graph()
    source.add_node(0, v=1, w=1)
    source.add_node(1, w=[1, 2])
    with pytest.raises(InputError, match=message):
        Graph.from_networkx(source, **options)


def test_networkx_nodes_that_are_no_ids():
    with pytest.raises(InputError, match="must hold integers or strings"):
        Graph.from_networkx(nx.grid_2d_graph(2, 2))


def pyg(**fields):
    ends = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = {"edge_index": ends, "x": torch.eye(3), "y": torch.tensor([1, -1, 0]), "num_nodes": 3}
    return SimpleNamespace(**{**data, **fields})


def test_pytorch_geometric():
    with pytest.warns(GraphNotice, match="-1 is a class like any other"):
        assert Graph.from_pyg(pyg()).labels.tolist() == [2, 0, 1]
    graph = Graph.from_pyg(pyg(), unlabeled=-1)
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.changes == ("1 node of labels unlabeled as asked",)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert Graph.from_edges(pyg(), unlabeled=-1).digest == graph.digest
    weights = torch.tensor([[2.0], [2.0], [1.0], [1.0]])
    assert Graph.from_pyg(pyg(edge_attr=weights, y=None)).adjacency[0, 1] == 2
    assert Graph.from_pyg(pyg(edge_attr=torch.ones(4, 5)), unlabeled=-1).digest == graph.digest
    assert Graph.from_pyg(pyg(x=None, y=None, num_nodes=5)).n_nodes == 5
    with pytest.raises(InputError, match="has no edge_index"):
        Graph.from_pyg(pyg(edge_index=None))
    with pytest.raises(InputError, match=r"two rows, sources and targets; got \(4, 2\)"):
        Graph.from_pyg(pyg(edge_index=pyg().edge_index.T))
    with pytest.warns(GraphNotice, match="1 one-way edge made two-way"):
        Graph.from_pyg(pyg(edge_index=torch.tensor([[0], [1]])))


def test_what_nobody_asked_for_is_told_once():
    edges = pd.DataFrame({"a": [1, 1, 2, 3], "b": [2, 2, 1, 4], "w": [1.0, 1.0, 2.0, 0.0]})
    with pytest.warns(GraphNotice) as told:
        graph = Graph.from_edges(edges, weight="w", self_loops="drop", name="mine")
    assert len(told) == 1
    assert told[0].filename == __file__
    message = str(told[0].message)
    assert message.startswith("while reading the graph 'mine': 1 edge of weight zero dropped; ")
    assert "1 duplicate edge merged, the largest weight kept" in message
    assert "1 edge with a different weight each way" in message
    assert [phrase in message for phrase in graph.changes] == [True, True, True, False]


def test_what_was_asked_for_is_not_told():
    edges = [(1, 1), (1, 2), (1, 2), (2, 3)]
    graph = Graph.from_edges(edges, self_loops="drop", duplicates="sum")
    assert graph.changes[:2] == (
        "1 duplicate edge merged, their weights added",
        "1 self-loop dropped",
    )


def test_no_edges_and_isolated_nodes():
    with pytest.warns(GraphNotice, match="the graph has no edges"):
        graph = Graph.from_edges([], node_ids=["a", "b"])
    assert (graph.n_nodes, graph.n_edges) == (2, 0)


TABLE = pd.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": [("a", "z")], "features": TABLE}, r"1 id that the graph does not have.*\['z'\]"),
        ({"edges": [("a", 1)]}, "integer ids but .* string ids"),
        ({"edges": [("a", "b"), ("c", 1)]}, "all of one kind"),
        ({"edges": [(0.0, 1.0)]}, "cannot be floats"),
        ({"edges": np.zeros((2, 5), dtype=int)}, r"got \(2, 5\)\. For an array of shape \(2, n"),
        ({"edges": 7}, "edges must be a file, a frame"),
        ({"edges": ([1, 2], [1])}, r"as many sources as targets; got \(2, 1\)"),
        ({"edges": [(0, 1)], "features": np.ones((2, 0))}, "at least one column"),
        (
            {"edges": [(0, 5)], "features": np.ones((2, 1))},
            r"not all between 0 and 1; got \[0, 5\]",
        ),
        ({"edges": [("a", "b")], "features": np.ones((2, 1))}, "Pass node_ids"),
        ({"edges": [("a", "b")], "labels": [0, 1]}, "Pass node_ids"),
        ({"edges": [(0, 1)], "features": np.ones((2, 1)), "labels": [1, 2, 3]}, "2 nodes; got 3"),
        (
            {"edges": [("a", "b")], "features": np.ones((3, 1)), "node_ids": ["a", "b"]},
            "features must have one row for each of the 2 nodes; got 3",
        ),
        (
            {"edges": [("a", "b")], "features": TABLE, "node_ids": ["a", "b", "c"]},
            r"the feature table has no row for 1 node; got \['c'\]",
        ),
        ({"edges": [], "features": TABLE, "node_ids": ["a"]}, r"does not have; got \['b'\]"),
        ({"edges": [("a", "b")], "features": pd.concat([TABLE, TABLE])}, "more than once"),
        ({"edges": [("a", "b")], "node_ids": ["a", "b", "b"]}, "more than once; got .'b'"),
        ({"edges": [("a", "b")], "labels": {"z": 1}}, "no id in labels is a node"),
        (
            {"edges": [("a", "b")], "labels": pd.DataFrame({"i": ["a", "a"], "l": [1, 2]})},
            r"column 'i' of labels lists some nodes more than once; got \['a'\]",
        ),
        ({"edges": [("a", "b")], "features": TABLE.assign(t="x")}, "column 't' of features is not"),
        ({"edges": [("a", "b")], "features": TABLE.assign(t=[1, None])}, r"1 value \(missing\)"),
        ({"edges": [("a", "b")], "features": TABLE[["id"]]}, "no column but the id"),
        ({"edges": []}, "the graph has no nodes"),
        ({"edges": [(0, 1)], "weight": [1, 2]}, "one value for each of the 1 edge; got 2"),
        ({"edges": [(0, 1)], "weight": "w"}, "weight names a column, but edges is not a table"),
        ({"edges": TABLE, "weight": "w"}, "edges has no column 'w'"),
        ({"edges": [(0, 1)], "weight": [None]}, "in row 0; got nan"),
        ({"edges": [(0, 1)], "source": "a"}, "source is for edges in a table"),
        ({"edges": [(0, 1)], "id_column": "a"}, "id_column is for features or labels in a file"),
        (
            {"edges": sparse.eye_array(2), "weight": "w"},
            "weight cannot be combined with edges of type",
        ),
        ({"edges": sparse.eye_array(2), "duplicates": "sum"}, "duplicates cannot be combined with"),
        ({"edges": nx.path_graph(2), "node_ids": [0, 1]}, "node_ids cannot be combined with"),
        ({"edges": [(0, 1)], "directed": "no"}, "directed must be one of"),
    ],
)
def test_pieces_that_do_not_fit(options, message):
    with pytest.raises(InputError, match=message):
        Graph.from_edges(**options)


def test_labels_of_nodes_that_are_not_there_are_counted_and_left_out():
    labels = {"a": "x", "y": "z", "b": "w", "v": "z"}
    with pytest.warns(GraphNotice, match="2 labels left out, since the graph has no such node"):
        graph = Graph.from_edges([("a", "b")], labels=labels)
    assert graph.changes[-1].endswith("no such node: ['y', 'v']")
    assert graph.classes.tolist() == ["w", "x"]  # nobody is left of class z
    assert graph.labels.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjacency": np.ones(3)}, "must be a sparse matrix or a square array"),
        ({"adjacency": np.ones((2, 3))}, r"square matrix; got \(2, 3\)"),
        ({"adjacency": np.zeros((0, 0))}, "no nodes"),
        ({"adjacency": SQUARE, "features": np.ones((2, 1))}, "each of the 3 nodes; got 2"),
        ({"adjacency": SQUARE, "labels": [1]}, "each of the 3 nodes; got 1"),
        ({"adjacency": SQUARE, "node_ids": [1, 2]}, "node_ids must have one row.*3 nodes; got 2"),
        ({"adjacency": SQUARE.astype(str)}, "square array of numbers"),
    ],
)
def test_matrices_that_do_not_fit(options, message):
    with pytest.raises(InputError, match=message):
        Graph.from_scipy(**options)


def small(**changes):
    options = {"features": np.arange(6.0).reshape(3, 2), "labels": ["u", None, "v"]}
    return Graph.from_scipy(SQUARE, **{**options, "node_ids": ["x", "y", "z"], **changes})


@pytest.mark.parametrize("ids", [["z", "x"], np.array([["z"], ["x"]]), pl.Series(["z", "x"])])
def test_positions(ids):
    assert small().positions(ids).tolist() == [2, 0]
    assert small().positions([]).tolist() == []


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (np.array([0.0, 1.0]), r"ids cannot be floats: is there a scaler in front\?"),
        (np.array([True, False, True]), r"use graph\.node_ids\[mask\]"),
        ([1, 3, 4, 5, 6, 7, 8], r"6 ids that the graph does not have; got \[3, 4, 5, 6, 7\]"),
        ([-1], "1 id that the graph does not have"),
        (["0"], "the graph holds integer ids but ids holds string ids"),
        (np.zeros((2, 2), dtype=int), "must be one column"),
    ],
)
def test_ids_that_are_no_ids_of_the_graph(ids, message):
    with pytest.raises(InputError, match=message):
        Graph.from_scipy(SQUARE).positions(ids)


def test_the_arrays_cannot_be_changed_and_the_input_can():
    features, adjacency = np.ones((3, 2), dtype=np.float32), sparse.csr_array(SQUARE * 1.0)
    graph = Graph.from_scipy(adjacency, features, labels=[0, 1, 0])
    parts = [graph.features, graph.node_ids, graph.labels, graph.classes]
    parts += [graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr]
    for part in parts:
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 5
    features[0] = adjacency.data[0] = 2.0
    assert graph.adjacency.max() == 2
    assert graph.adjacency[0, 1] == 1


def test_the_digest_knows_every_part_and_nothing_else():
    graph = small()
    same = small(features=np.asfortranarray(np.arange(6.0).reshape(3, 2)), name="other")
    assert (graph.digest, graph.input_digest) == (same.digest, same.input_digest)
    assert small(labels=["u", None, None]).input_digest == graph.input_digest
    others = [
        small(labels=["u", None, None]),
        small(labels=["u", None, "w"]),
        small(node_ids=["x", "y", "zz"]),
        small(node_ids=["", "xy", "z"]),
        small(features=np.arange(6.0).reshape(3, 2) + 1),
        small(weighted=False),
        graph.astype(np.float64),
    ]
    assert len({other.digest for other in [graph, *others]}) == 8


def test_the_digest_of_ids_depends_on_their_values_only():
    ids = ["a" * 40, "b", "c"]
    cut = small(node_ids=ids).subgraph([1, 2])
    direct = Graph.from_scipy(
        SQUARE[1:, 1:], np.arange(6.0).reshape(3, 2)[1:], labels=[None, "v"], node_ids=["b", "c"]
    )
    assert cut.input_digest == direct.input_digest


def test_the_digest_is_the_same_in_another_process():
    code = (
        "from adagcn import Graph; import sys;"
        "g = Graph.from_edges([('ü', 'b'), ('b', 'c')], labels={'b': 1}); print(g.digest)"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()
    assert Graph.from_edges([("ü", "b"), ("b", "c")], labels={"b": 1}).digest == other


def test_a_pickled_graph_and_a_clone():
    graph = small()
    assert pickle.loads(pickle.dumps(graph)).digest == graph.digest
    assert clone(graph, safe=False) is graph


def test_features_of_another_type():
    assert small().astype(np.float64).features.dtype == np.float64
    with pytest.raises(InputError, match="dtype must be float32 or float64"):
        small().astype(np.int64)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_file_gives_the_graph_back(tmp_path, make, dtype):
    path = tmp_path / "graph.npz"
    graph = small(features=make(np.arange(6).reshape(3, 2) / 7), directed="keep").astype(dtype)
    graph.to_npz(path)
    again = Graph.from_npz(path, name="again")
    assert again.digest == graph.digest
    assert again.features.dtype == dtype
    assert (again.name, again.changes) == ("again", ())
    first = path.read_bytes()
    again.to_npz(path)
    assert path.read_bytes() == first


def ppnp(**changed):
    matrix = sparse.csr_array(np.array([[1.0, 2.0], [0.0, 0.0]]))
    members = {
        f"{key}.{part}": np.array(getattr(matrix, part))
        for key in ("adj_matrix", "attr_matrix")
        for part in ("data", "indices", "indptr", "shape")
    }
    members["labels"] = np.array([2, 0], dtype=np.int8)
    members.update(changed)
    return {key: value for key, value in members.items() if value is not None}


def test_a_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, **ppnp(), extra=np.array([{"an": "object"}], dtype=object))
    graph = Graph.from_npz(path)
    assert graph.is_directed
    assert graph.adjacency.toarray().tolist() == [[1, 2], [0, 0]]
    assert (graph.labels.tolist(), graph.classes.tolist()) == ([1, 0], [0, 2])
    np.savez(path, **ppnp(class_names=np.array(["z", "y", "x", "none"])))
    graph = Graph.from_npz(path)
    assert graph.classes[graph.labels].tolist() == ["x", "z"]
    assert graph.n_classes == 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"adj_matrix.data": None}, "needs a one-dimensional array 'adj_matrix.data'"),
        ({"adj_matrix.indices": np.array([0, 9])}, "the arrays of adj_matrix contradict"),
        ({"adj_matrix.data": np.array([1.0, -1.0])}, r"graph\.npz' cannot be used: edge weights"),
        ({"attr_matrix.data": np.array([1.0, np.nan])}, "cannot be used: features holds 1 value"),
        ({"labels": np.array([0])}, "one row for each of the 2 nodes; got 1"),
        ({"labels": np.array([0.5, 1])}, "row 0 is not a whole number"),
        ({"class_names": np.array(["a", "b"])}, "labels must be between -1 and 1"),
        ({"class_names": np.array(["a", "a", "b"])}, "class_names must all be different"),
        (
            {"class_names": np.array(["a", "b", "c"]), "labels": np.zeros(1, int)},
            "2 nodes; got .1,",
        ),
        ({"node_ids": np.array([1.0, 2.0])}, "cannot be floats"),
        ({"node_ids": np.array([1, 1])}, "must all be different"),
        ({"node_ids.decimal": np.array(["1", "x"])}, "must hold integers as decimal text"),
        ({"feature_norm": np.array("l7")}, "feature_norm of the graph file must be 'l1'"),
    ],
)
def test_files_that_hold_no_graph(tmp_path, changed, message):
    path = tmp_path / "graph.npz"
    np.savez(path, **ppnp(**changed))
    with pytest.raises(FormatError, match=message):
        Graph.from_npz(path)


def test_subgraph():
    graph = small()
    part = graph.subgraph([2, 1])
    assert part.node_ids.tolist() == ["z", "y"]
    assert part.adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    assert part.features.tolist() == [[4, 5], [2, 3]]
    assert part.classes[part.labels[0]] == "v"
    assert part.n_classes == 2
    assert graph.subgraph(np.arange(3)).digest == graph.digest


@pytest.mark.parametrize("nodes", [[], [0, 0], [3], [-1], [True, False, True], [0.0], [[0]]])
def test_subgraph_of_what_is_not_there(nodes):
    with pytest.raises(InputError, match="nodes must be"):
        small().subgraph(nodes)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1),
    st.permutations(range(10)),
)
def test_edges_and_matrix_agree_under_any_order_of_nodes(edges, order):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphNotice)
        listed = Graph.from_edges(edges, node_ids=order)
    dense = np.zeros((10, 10))
    for a, b in edges:
        dense[a, b] = dense[b, a] = 1
    by_matrix = Graph.from_scipy(dense).subgraph(order)
    np.testing.assert_array_equal(listed.adjacency.toarray(), by_matrix.adjacency.toarray())
    assert listed.n_edges == len({frozenset(edge) for edge in edges})
