"""Odd tables, matrices, labels and graph files, as strangers hand them in."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import pickle
import sqlite3
import zipfile
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from scipy import sparse

from adagcn.data.splits import make_split
from adagcn.graph import Graph

from .odd_case import Case

PATH = [(0, 1), (1, 2)]  # three nodes in a row
ABC = [("a", "b"), ("b", "c")]

Call = Callable[[Path], Any]


def refused(name: str, call: Call, code: str, says: str) -> Case:
    return Case(name, call, raises=code, says=says)


def told(name: str, call: Call, gives: Any, says: str) -> Case:
    return Case(name, call, gives=gives, says=says)


def silent(name: str, call: Call, gives: Any, because: str) -> Case:
    return Case(name, call, gives=gives, silent_because=because)


def graph(edges: Any = PATH, show: Callable[[Graph], Any] | None = None, **options: Any) -> Call:
    """Return a call that builds a graph; what is a function is built in the folder first."""
    return _call(Graph.from_edges, show or size, edges, options)


def _call(build: Any, show: Callable[[Graph], Any], first: Any, options: dict[str, Any]) -> Call:
    def call(folder: Path) -> tuple[Graph, Any]:
        given = [
            value(folder) if callable(value) else value for value in (first, *options.values())
        ]
        built = build(given[0], **dict(zip(options, given[1:], strict=True)))
        return built, show(built)

    return call


def text(content: str, name: str = "edges.csv", encoding: str = "utf-8") -> Call:
    """Return what writes a text file and gives its path."""
    return raw(content.encode(encoding), name)


def raw(content: bytes, name: str = "edges.csv") -> Call:
    """Return what writes a file of bytes and gives its path."""

    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def as_json(value: Any, name: str = "edges.json") -> Call:
    """Return what writes a JSON file and gives its path."""
    return text(json.dumps(value), name)


def parquet(name: str = "edges.parquet", **columns: Any) -> Call:
    """Return what writes a Parquet file and gives its path."""

    def write(folder: Path) -> Path:
        pq.write_table(pa.table(columns), folder / name)
        return folder / name

    return write


def size(graph: Graph) -> tuple[int, int]:
    return graph.n_nodes, graph.n_edges


def ids(graph: Graph) -> list[Any]:
    return graph.node_ids.tolist()


def weights(graph: Graph) -> list[float]:
    return sorted(graph.adjacency.data.tolist())


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


def _zipped(member: str, content: str) -> Call:
    def write(folder: Path) -> Path:
        with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
            archive.writestr(member, content)
        return folder / "archive.zip"

    return write


def _database(folder: Path) -> Path:
    with sqlite3.connect(folder / "graph.db") as connection:
        connection.execute("create table edges (s, t)")
    connection.close()
    return folder / "graph.db"


def _npy(folder: Path) -> Path:
    np.save(folder / "edges.npy", np.array(PATH))
    return folder / "edges.npy"


def _saved(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "graph.npz", **arrays)
    return folder / "graph.npz"


def table(content: str, show: Callable[[Graph], Any] | None = None, **options: Any) -> Call:
    """Return a call that reads the three nodes of PATH with a table of features."""
    features = text(content, "features.csv")
    return graph(PATH, show or values, features=features, **options)


def frame(
    show: Callable[[Graph], Any] | None = None, *, like: Any = pd.DataFrame, **columns: Any
) -> Call:
    """Return a call that reads the three nodes of PATH with a frame of features."""
    return graph(PATH, show or values, features=like({"id": [0, 1, 2], **columns}))


def array(features: Any, show: Callable[[Graph], Any] | None = None, **options: Any) -> Call:
    """Return a call that reads the three nodes of PATH with an array of features."""
    return graph(PATH, show or values, features=features, **options)


def json_table(value: Any, show: Callable[[Graph], Any] | None = None) -> Call:
    """Return a call that reads the nodes a, b and c with features in JSON."""
    return graph(ABC, show or values, features=as_json(value, "features.json"))


def labeled(given: Any, **options: Any) -> Call:
    """Return a call that reads the three nodes of PATH with labels."""
    return graph(PATH, labels, labels=given, **options)


def values(graph: Graph) -> list[list[float]]:
    matrix = graph.features
    dense: list[list[float]] = (matrix.toarray() if sparse.issparse(matrix) else matrix).tolist()
    return dense


def names(graph: Graph) -> list[str] | None:
    return None if graph.feature_names is None else graph.feature_names.tolist()


def labels(graph: Graph) -> list[Any]:
    classes = graph.classes.tolist()
    return [None if label < 0 else classes[label] for label in graph.labels.tolist()]


def npz(show: Callable[[Graph], Any] | None = None, **arrays: Any) -> Call:
    """Return a call that reads a graph file with these arrays."""

    def call(folder: Path) -> tuple[Graph, Any]:
        read = Graph.from_npz(_saved(folder, **arrays))
        return read, (show or size)(read)

    return call


def ours(show: Callable[[Graph], Any] | None = None, **other: Any) -> Call:
    """Return a call that reads a file in our layout: two nodes, with some arrays replaced."""
    adjacency = sparse.csr_array(np.array([[0, 1], [1, 0]], dtype=np.float32))
    arrays = {
        "adj_matrix.data": adjacency.data,
        "adj_matrix.indices": adjacency.indices,
        "adj_matrix.indptr": adjacency.indptr,
        "adj_matrix.shape": np.array([2, 2]),
        "attr_matrix": np.eye(2),
        "labels": np.array([0, 1]),
        "class_names": np.array(["u", "v"]),
        **{name.replace("__", "."): value for name, value in other.items()},
    }
    return npz(show, **{name: value for name, value in arrays.items() if value is not None})


def split(name: Any, given: Any = None, **options: Any) -> Call:
    """Return a call that splits ten nodes, whose classes are 0 and 1 in turn; -1 is unlabeled."""

    def call(folder: Path) -> dict[str, int]:
        classes = [i % 2 for i in range(10)] if given is None else given
        ring = [(i, (i + 1) % 10) for i in range(10)]
        built = Graph.from_edges(ring, labels=[None if c < 0 else c for c in classes])
        ready = {key: value(folder) if callable(value) else value for key, value in options.items()}
        return make_split(built, name, **ready).sizes

    return call


def masks(**arrays: Any) -> Call:
    return lambda folder: _saved(folder, **arrays)


def _mask(*nodes: int, size: int = 10) -> np.ndarray[Any, Any]:
    return np.isin(np.arange(size), nodes)


def _folder(**files: Any) -> Call:
    """Return what writes a folder of Parquet files: bytes as they are, else columns."""

    def write(folder: Path) -> Path:
        (folder / "parts").mkdir()
        for name, content in files.items():
            if isinstance(content, bytes):
                (folder / "parts" / f"{name}.parquet").write_bytes(content)
            else:
                parquet(f"{name}.parquet", **content)(folder / "parts")
        return folder / "parts"

    return write


def matrix(adjacency: Any, show: Callable[[Graph], Any] = size, **options: Any) -> Call:
    return _call(Graph.from_scipy, show, adjacency, options)


def nx_graph(made: nx.Graph, show: Callable[[Graph], Any] = size, **options: Any) -> Call:
    return _call(Graph.from_networkx, show, made, options)


def _nx(edges: list[Any], kind: type[nx.Graph] = nx.Graph, **attributes: Any) -> nx.Graph:
    """Return a networkx graph; an attribute holds one value for each node, None for none."""
    made = kind()
    made.add_edges_from(edges)
    for name, values in attributes.items():
        for node, value in zip(made.nodes, values, strict=True):
            if value is not None:
                made.nodes[node][name] = value
    return made


def pyg(show: Callable[[Graph], Any] = size, *, options: Any = None, **attributes: Any) -> Call:
    data = {"edge_index": torch.tensor([[0, 1], [1, 0]]), "x": None, "y": None, "num_nodes": 2}
    return _call(Graph.from_pyg, show, SimpleNamespace(**(data | attributes)), options or {})


def _contradicting() -> sparse.csr_array:
    made = sparse.csr_array(np.eye(2))
    made.indices = np.array([0, 7], dtype=np.int32)
    return made


# What stands between fields, around them and at the ends of lines

SEPARATOR_CASES = [
    told("tabs", graph(text("0\t1\n1\t2\n")), (3, 2), "tab"),
    told("semicolons", graph(text("0;1\n1;2\n")), (3, 2), "semicolon"),
    told("pipes", graph(text("0|1\n1|2\n")), (3, 2), "pipe"),
    told("runs of spaces", graph(text("0   1\n1 \t 2\n")), (3, 2), "space"),
    told("spaces before the first field", graph(text("  0 1\n  1 2\n")), (3, 2), "space"),
    told("spaces after the last field", graph(text("0 1  \n1 2\t\n")), (3, 2), "space"),
    told("comma and space", graph(text("0, 1\n1, 2\n")), (3, 2), "spaces around 2 ids"),
    told("a colon, named", graph(text("0:1\n1:2\n"), separator=":"), (3, 2), "by ':'"),
    refused("a colon, not named", graph(text("a:b\nb:c\n")), "AGC-I129", "separator="),
    told("two characters, named", graph(text("0::1\n1::2\n"), separator="::"), (3, 2), "'::'"),
    refused(
        "a separator that is not there",
        graph(text("0,1\n1,2\n"), separator=";"),
        "AGC-I129",
        "at least 2 columns",
    ),
    refused(
        "an empty separator", graph(text("0,1\n"), separator=""), "AGC-I1101", "separator must be"
    ),
    refused("a quote as separator", graph(text("0,1\n"), separator='"'), "AGC-I1101", "no quote"),
    refused("a number as separator", graph(text("0,1\n"), separator=1), "AGC-I1101", "got 1"),
    told("a comma after each line", graph(text("s,t,\n0,1,\n1,2,\n")), (3, 2), "not used: ''"),
    told("tabs in a file called csv", graph(text("s\tt\n0\t1\n", "edges.csv")), (2, 1), "tab"),
    told("commas inside quotes", graph(text('s,t\n"a,1",b\n'), ids), ["a,1", "b"], "comma"),
    refused(
        "a quote that never ends", graph(text('s,t\n"a,b\nc,d\n')), "AGC-F123", "cannot be read"
    ),
    told(
        "quotes doubled inside quotes",
        graph(text('s,t\n"a ""x""",b\n'), ids),
        ['a "x"', "b"],
        "comma",
    ),
    told(
        "quotes in a file separated by spaces",
        graph(text('"a" "b"\n"b" "c"\n', "e.txt"), ids, header=False),
        ["a", "b", "c"],
        "space",
    ),
    told("line ends of Windows", graph(text("s,t\r\n0,1\r\n")), (2, 1), "1 row "),
    told("line ends of old Macs", graph(text("s,t\r0,1\r1,2\r")), (3, 2), "2 rows"),
    told(
        "line ends of all kinds in one file", graph(text("s,t\n0,1\r\n1,2\r2,3")), (4, 3), "3 rows"
    ),
    told("no line end after the last line", graph(text("0,1\n1,2")), (3, 2), "2 rows"),
    told("blank lines between edges", graph(text("0,1\n\n1,2\n\n\n")), (3, 2), "2 rows"),
    told("lines of spaces between edges", graph(text("0 1\n   \n1 2\n")), (3, 2), "2 rows"),
    refused(
        "a line with a field too many",
        graph(text("0,1\n1,2,3\n")),
        "AGC-F123",
        "line 2 has 3 fields instead of 2",
    ),
    refused(
        "a line with a field too few",
        graph(text("0,1\n1\n")),
        "AGC-F123",
        "line 2 has 1 field instead of 2",
    ),
    refused("an odd line far down", graph(text("0,1\n" * 500 + "7\n")), "AGC-F123", "line 501"),
    refused("a last line that is cut", graph(text("s,t,w\n0,1,2\n1,2")), "AGC-F123", "line 3"),
    refused("one column only", graph(text("0\n1\n2\n")), "AGC-I129", "at least 2 columns"),
]

# Comments, names of columns, and data in their place

HEADER_CASES = [
    told(
        "comments of SNAP",
        graph(text("# nodes: 3\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n")),
        (3, 2),
        "# comments",
    ),
    told("comments of KONECT", graph(text("% sym\n0 1\n1 2\n")), (3, 2), "% comments"),
    told("comments further down", graph(text("# a\n0 1\n# b\n1 2\n")), (3, 2), "2 rows"),
    told(
        "comments only further down", graph(text("0 1\n# later\n1 2\n")), (5, 3), "starting with #"
    ),
    told("ids that start with #", graph(text("s,t\n#1,#2\n"), ids), ["#1", "#2"], "1 row "),
    refused(
        "comments of two slashes",
        graph(text("// made by x\n0 1\n1 2\n")),
        "AGC-F123",
        "cannot be read",
    ),
    refused(
        "nothing but comments", graph(text("# one\n# two\n")), "AGC-F125", "nothing but comments"
    ),
    refused("an empty file", graph(text("")), "AGC-F1104", "is empty"),
    refused("a file of blank lines", graph(text("\n \n\t\n")), "AGC-F1104", "is empty"),
    refused(
        "column names and nothing else", graph(text("source,target\n")), "AGC-I191", "no nodes"
    ),
    told("no line of column names", graph(text("0,1\n1,2\n")), (3, 2), "without column names"),
    told(
        "names that are missing and ids of text",
        graph(text("a,b\nb,c\nc,a\n"), ids),
        ["a", "b", "c"],
        "is an edge and no column names",
    ),
    told(
        "a first line with one known node", graph(text("a,b\nb,c\n")), (2, 1), "'b' is also a node"
    ),
    told(
        "an edge said to be column names",
        graph(text("0,1\n1,2\n"), header=True),
        (2, 1),
        "columns '0' and '1'",
    ),
    told(
        "column names said to be an edge",
        graph(text("s,t\n0,1\n"), ids, header=False),
        ["0", "1", "s", "t"],
        "without column names",
    ),
    told("names for some columns only", graph(text("s,t,\na,b,1\n")), (2, 1), "not used: ''"),
    refused(
        "two columns of one name", graph(text("a,a\n1,2\n")), "AGC-I128", "columns of the same name"
    ),
    told(
        "spaces around column names",
        graph(text(" s , t \n0,1\n"), source="s", target="t"),
        (2, 1),
        "columns 's' and 't'",
    ),
    told(
        "ends that are not the first columns",
        graph(text("w,from,to\n5,0,1\n"), ids, source="from", target="to"),
        [0, 1],
        "not used: 'w'",
    ),
    refused(
        "a source that is no column",
        graph(text("s,t\n0,1\n"), source="from"),
        "AGC-I131",
        "no column 'from'",
    ),
    refused(
        "one column for both ends",
        graph(text("s,t\n0,1\n"), source="s", target="s"),
        "AGC-I130",
        "different column",
    ),
    refused(
        "a source beyond the target",
        graph(text("t,s\n0,1\n"), source="s"),
        "AGC-I130",
        "Name every column",
    ),
    refused(
        "a source for a list of edges",
        graph(PATH, source="s"),
        "AGC-I170",
        "source is for edges in a table",
    ),
    refused(
        "header for a list of edges", graph(PATH, header=True), "AGC-I170", "header is for edges"
    ),
    told(
        "a column of weights that is not used",
        graph(text("s,t,weight\n0,1,5\n"), weights),
        [1, 1],
        "weight='weight' makes it count",
    ),
    told(
        "a column of times that is not used",
        graph(text("s,t,time\n0,1,5\n")),
        (2, 1),
        "not used: 'time'",
    ),
    told(
        "a byte order mark",
        graph(text("0,1\n1,2\n", encoding="utf-8-sig"), ids),
        [0, 1, 2],
        "2 rows",
    ),
    told(
        "a byte order mark and spaces",
        graph(text("0 1\n1 2\n", encoding="utf-8-sig"), ids),
        [0, 1, 2],
        "2 rows",
    ),
]

# What else is in a file: encodings, compression, other formats

FILE_CASES = [
    refused("UTF-16", graph(text("0,1\n1,2\n", encoding="utf-16")), "AGC-F1103", "UTF-16"),
    refused(
        "UTF-16 without its mark",
        graph(text("0,1\n1,2\n", encoding="utf-16-le")),
        "AGC-F1103",
        "UTF-16",
    ),
    refused("Latin-1", graph(text("s,t\nJosé,Ann\n", encoding="latin-1")), "AGC-F124", "not UTF-8"),
    refused(
        "Latin-1 far down",
        graph(raw(b"s,t\n" + b"a,b\n" * 70000 + b"Jos\xe9,b\n")),
        "AGC-F123",
        "UTF-?8",
    ),
    refused("a NUL byte", graph(raw(b"s,t\na\x00,b\n")), "AGC-F1103", "binary data"),
    refused(
        "a NUL byte far down",
        graph(raw(b"s,t\n" + b"a,b\n" * 70000 + b"a\x00,b\n")),
        "AGC-I111",
        "NUL",
    ),
    told("gzip", graph(raw(gzip.compress(b"0,1\n1,2\n"), "e.csv.gz")), (3, 2), "2 rows"),
    told(
        "gzip by content, not by name",
        graph(raw(gzip.compress(b"0,1\n1,2\n"), "e.csv")),
        (3, 2),
        "2 rows",
    ),
    told("gzip by name, not by content", graph(text("0,1\n1,2\n", "e.csv.gz")), (3, 2), "2 rows"),
    refused(
        "gzip that is cut",
        graph(raw(gzip.compress(b"0,1\n1,2\n" * 999)[:40])),
        "AGC-F1102",
        "cannot be unpacked",
    ),
    refused(
        "gzip whose end is missing",
        graph(raw(gzip.compress(b"0,1\n1,2\n" * 999)[:-8])),
        "AGC-F1102",
        "unpacked",
    ),
    refused(
        "gzip that is damaged",
        graph(raw(_flipped(gzip.compress(b"0,1\n1,2\n" * 999)))),
        "AGC-F1102",
        "cannot be unpacked",
    ),
    told(
        "two gzip files in one",
        graph(raw(gzip.compress(b"0,1\n") + gzip.compress(b"1,2\n"))),
        (3, 2),
        "2 rows",
    ),
    refused("gzip of nothing", graph(raw(gzip.compress(b""))), "AGC-F1104", "is empty"),
    told("bzip2", graph(raw(bz2.compress(b"0,1\n1,2\n"))), (3, 2), "2 rows"),
    refused(
        "bzip2 that is cut",
        graph(raw(bz2.compress(b"0,1\n1,2\n" * 999)[:30])),
        "AGC-F1102",
        "unpacked",
    ),
    told("zstd", graph(raw(pa.compress(b"0,1\n1,2\n", "zstd", asbytes=True))), (3, 2), "2 rows"),
    refused(
        "zstd that is cut",
        graph(raw(pa.compress(b"0,1\n1,2\n" * 99, "zstd", asbytes=True)[:-3])),
        "AGC-F1102",
        "unpacked",
    ),
    refused("xz", graph(raw(b"\xfd7zXZ\x00\x00\x04rest")), "AGC-I120", "xz"),
    refused("a zip archive", graph(_zipped("edges.csv", "0,1\n")), "AGC-I120", "zip archive"),
    refused(
        "an Excel workbook",
        graph(_zipped("xl/workbook.xml", "<x/>")),
        "AGC-I120",
        "Save a workbook as CSV",
    ),
    refused(
        "an old Excel workbook",
        graph(raw(b"\xd0\xcf\x11\xe0" + bytes(99), "e.xls")),
        "AGC-I120",
        "Excel",
    ),
    refused("an HDF5 file", graph(raw(b"\x89HDF\r\n\x1a\n" + bytes(99))), "AGC-I120", "HDF5"),
    refused("a PDF file", graph(raw(b"%PDF-1.7\n")), "AGC-I120", "PDF"),
    refused(
        "a Matrix Market file",
        graph(text("%%MatrixMarket matrix\n2 2 1\n1 2 1\n")),
        "AGC-I120",
        "mmread",
    ),
    refused("an SQLite database", graph(lambda folder: _database(folder)), "AGC-I120", "SQLite"),
    refused(
        "a pickle", graph(raw(pickle.dumps([(0, 1)], protocol=4))), "AGC-I120", "could run code"
    ),
    refused(
        "a pickle of pandas",
        graph(raw(pickle.dumps([(0, 1)], protocol=5))),
        "AGC-I120",
        "could run code",
    ),
    refused(
        "GraphML",
        graph(text("<?xml version='1.0'?><graphml/>", "g.graphml")),
        "AGC-I120",
        "networkx",
    ),
    refused(
        "GML",
        graph(text("graph [\n  node [\n id 1\n ]\n]\n", "g.gml")),
        "AGC-F123",
        "cannot be read",
    ),
    refused(
        "the page of a failed download",
        graph(text("<!DOCTYPE html><html></html>")),
        "AGC-I120",
        "HTML",
    ),
    refused(
        "an Arrow file",
        graph(raw(b"ARROW1\x00\x00" + bytes(50))),
        "AGC-I120",
        "Write it as Parquet",
    ),
    refused("a picture", graph(raw(b"\x89PNG\r\n\x1a\n" + bytes(50))), "AGC-F1103", "binary data"),
    refused("an .npy file", graph(_npy), "AGC-I120", "numpy.load"),
    refused("a path that does not exist", graph("nowhere.csv"), "AGC-I127", "nowhere.csv"),
    refused("edges as the text itself", graph("0,1\n1,2\n"), "AGC-I127", "cannot be opened"),
    refused(
        "an address on the web",
        graph("https://example.org/edges.csv"),
        "AGC-I127",
        "Download the file first",
    ),
    refused("an empty path", graph(""), "AGC-I1106", "folder"),
    refused(
        "a folder without tables",
        graph(lambda folder: folder),
        "AGC-I1106",
        "without Parquet files",
    ),
    refused(
        "a path below a file",
        graph(lambda folder: raw(b"0,1\n")(folder) / "x.csv"),
        "AGC-I127",
        "opened",
    ),
    refused(
        "an .npz graph given as edges",
        graph(lambda folder: _saved(folder, a=np.ones(2))),
        "AGC-I120",
        "read whole",
    ),
]
# Ids

ID_CASES = [
    told(
        "spaces around ids of a file",
        graph(text("s,t\n a ,b\nb,a \n"), ids),
        ["a", "b"],
        "spaces around 2 ids",
    ),
    told(
        "spaces around ids of a frame",
        graph(pd.DataFrame({"s": ["a", "a "], "t": ["b", "b"]})),
        (3, 2),
        "differ by spaces only",
    ),
    refused(
        "an id that is missing in a file",
        graph(text("s,t\na,b\n,c\n")),
        "AGC-I106",
        "1 missing id, the first in row 1",
    ),
    refused(
        "an id that is missing in a list",
        graph([("a", "b"), (None, "c")]),
        "AGC-I106",
        "missing id",
    ),
    refused(
        "an id that is missing in a pandas column",
        graph(pd.DataFrame({"s": [0, None], "t": [1, 2]})),
        "AGC-I106",
        "missing id",
    ),
    told(
        "ids called NA and null",
        graph(text("s,t\nNA,null\nnan,None\n"), ids),
        ["NA", "None", "nan", "null"],
        "2 rows",
    ),
    told("ids past 32 bits", graph(text("s,t\n4294967296,1\n"), ids), [1, 4294967296], "1 row"),
    told(
        "ids past 64 bits",
        graph(text(f"s,t\n{2**64},{2**64 + 1}\n"), ids),
        [2**64, 2**64 + 1],
        "1 row",
    ),
    silent(
        "ids past 53 bits in two types",
        graph((np.array([2**53 + 1]), np.array([2**63 + 1], dtype=np.uint64)), ids),
        [2**53 + 1, 2**63 + 1],
        "documented: ids are never rounded",
    ),
    told("ids with leading zeros", graph(text("s,t\n007,7\n"), ids), ["007", "7"], "1 row"),
    told("ids with a plus sign", graph(text("s,t\n+1,2\n"), ids), ["+1", "2"], "1 row"),
    silent(
        "negative ids", graph([(-1, -2)], ids), [-2, -1], "documented: ids are integers of any size"
    ),
    told("ids as 1.0 in a file", graph(text("s,t\n1.0,2.0\n"), ids), ["1.0", "2.0"], "1 row"),
    refused(
        "ends of edges as floats", graph(np.array([[0.0, 1.0]])), "AGC-I108", "ids cannot be floats"
    ),
    refused("ids as booleans", graph([(True, False)]), "AGC-I109", "booleans"),
    refused(
        "ids as dates",
        graph(
            pd.DataFrame({"s": pd.to_datetime(["2024-01-01"]), "t": pd.to_datetime(["2024-01-02"])})
        ),
        "AGC-I110",
        "integers or strings",
    ),
    refused("ids as bytes", graph([(b"a", b"b")]), "AGC-I107", "bytes"),
    refused("ids as pairs", graph([((0, 1), (1, 2))]), "AGC-I172", "rows of two ids"),
    refused(
        "integers and text in one column",
        graph([("a", 1), (2, "b")]),
        "AGC-I107",
        "all of one kind",
    ),
    refused("integers here and text there", graph((["a"], [1])), "AGC-I103", "same kind of id"),
    told(
        "numbers and words in one column of a file",
        graph(text("s,t\n1,2\nx,2\n"), ids),
        ["1", "2", "x"],
        "2 rows",
    ),
    told(
        "letters that look alike",
        graph(text("s,t\na,b\n\u0430,b\n"), ids),
        ["a", "b", "\u0430"],
        "2 rows",
    ),
    told(
        "one letter written in two ways",
        graph(text("s,t\n\u00e9,b\ne\u0301,b\n"), size),
        (3, 2),
        "2 rows",
    ),
    told(
        "ids in other scripts",
        graph(text("s,t\n\u6771\u4eac,\u5927\u962a\n"), ids),
        ["\u5927\u962a", "\u6771\u4eac"],
        "1 row",
    ),
    told(
        "digits of other scripts",
        graph(text("s,t\n\u0661,\u0662\n"), ids),
        ["\u0661", "\u0662"],
        "1 row",
    ),
    told("upper and lower case", graph(text("s,t\nA,b\na,b\n"), ids), ["A", "a", "b"], "2 rows"),
    refused("an id with a NUL character", graph([("a\0", "b")]), "AGC-I111", "NUL"),
    silent(
        "an id of 10,000 letters",
        graph([("x" * 10_000, "b")]),
        (2, 1),
        "documented: ids are strings of any length",
    ),
    refused(
        "an empty id in a list",
        graph([("", "b")], node_ids=["b"]),
        "AGC-I104",
        "graph does not have",
    ),
    refused(
        "node ids that repeat", graph(PATH, node_ids=[0, 1, 2, 2]), "AGC-I105", "more than once"
    ),
    refused(
        "node ids that lack an end of an edge",
        graph(PATH, node_ids=[0, 1]),
        "AGC-I104",
        "1 id that the graph does not have",
    ),
    silent(
        "node ids without an edge",
        graph(PATH, node_ids=[3, 2, 1, 0], show=ids),
        [3, 2, 1, 0],
        "documented: nodes without edges stay",
    ),
    refused(
        "node ids of another kind", graph(PATH, node_ids=["0", "1", "2"]), "AGC-I103", "integer ids"
    ),
    refused(
        "node ids in two columns", graph(PATH, node_ids=[[0, 1], [2, 3]]), "AGC-I101", "one column"
    ),
    refused("node ids as a set", graph(PATH, node_ids={0, 1, 2}), "AGC-I100", "must be a list"),
    refused("node ids as one string", graph(ABC, node_ids="abc"), "AGC-I100", "must be a list"),
]

# Weights, direction, self-loops and duplicates

EDGE_CASES = [
    refused(
        "an edge with a negative weight",
        graph(PATH, weight=[1, -2]),
        "AGC-I163",
        "the first in row 1; got -2",
    ),
    refused("a weight of NaN", graph(PATH, weight=[np.nan, 1]), "AGC-I163", "got nan"),
    refused(
        "an edge with an infinite weight", graph(PATH, weight=[np.inf, 1]), "AGC-I163", "got inf"
    ),
    refused("a weight past float32", graph(PATH, weight=[1e39, 1]), "AGC-I163", r"1e\+39"),
    told("a weight of zero", graph(PATH, weight=[0, 1]), (3, 1), "1 edge of weight zero dropped"),
    told("a weight below float32", graph(PATH, weight=[1e-60, 1]), (3, 1), "weight zero dropped"),
    refused("a missing weight in a list", graph(PATH, weight=[None, 1]), "AGC-I163", "got nan"),
    refused(
        "a missing weight in a file",
        graph(text("s,t,w\n0,1,\n"), weight="w"),
        "AGC-I163",
        "got nan",
    ),
    refused(
        "a weight that is text",
        graph(text("s,t,w\n0,1,heavy\n"), weight="w"),
        "AGC-I147",
        "'w' of edges is not numeric",
    ),
    refused(
        "a weight with a decimal comma",
        graph(text("s;t;w\n0;1;0,5\n"), weight="w"),
        "AGC-I147",
        "got '0,5'",
    ),
    refused(
        "a weight that is a date",
        graph(pd.DataFrame({"s": [0], "t": [1], "w": pd.to_datetime(["2024-01-01"])}), weight="w"),
        "AGC-I147",
        "dates",
    ),
    refused(
        "a weight that is complex",
        graph(PATH, weight=np.array([1j, 1])),
        "AGC-I162",
        "real numbers",
    ),
    silent(
        "weights that are truth values",
        graph(PATH, weights, weight=[True, True]),
        [1, 1, 1, 1],
        "documented: weights are numbers, true is 1",
    ),
    refused(
        "weights as text in a list", graph(PATH, weight=["1", "2"]), "AGC-I162", "real numbers"
    ),
    refused(
        "one weight for all edges", graph(PATH, weight=2.0), "AGC-I102", "weight must be a list"
    ),
    refused("a weight too few", graph(PATH, weight=[1]), "AGC-I175", "2 edges; got 1"),
    refused("the name of a weight for a list", graph(PATH, weight="w"), "AGC-I174", "not a table"),
    refused(
        "a weight that is no column",
        graph(text("s,t\n0,1\n"), weight="w"),
        "AGC-I131",
        "no column 'w'",
    ),
    silent(
        "weights for a file in an array",
        graph(text("s,t\n0,1\n"), weights, weight=[3]),
        [3, 3],
        "documented: values of the edge weights",
    ),
    told("an edge listed twice", graph([(0, 1), (0, 1)]), (2, 1), "1 duplicate edge merged"),
    told(
        "an edge listed twice with two weights",
        graph([(0, 1), (0, 1)], weights, weight=[1, 5]),
        [5, 5],
        "largest weight kept",
    ),
    told(
        "an edge listed twice, added as asked",
        graph([(0, 1), (0, 1)], weights, weight=[1, 5], duplicates="sum"),
        [6, 6],
        "weights added",
    ),
    refused(
        "an edge listed twice, refused as asked",
        graph([(0, 1), (0, 1)], duplicates="error"),
        "AGC-I164",
        "1 repeated edge",
    ),
    refused(
        "weights whose sum is past float32",
        graph([(0, 1), (0, 1)], weight=[3e38, 3e38], duplicates="sum"),
        "AGC-I167",
        "add up",
    ),
    silent(
        "an edge listed both ways",
        graph([(0, 1), (1, 0)]),
        (2, 1),
        "documented: an edge runs both ways",
    ),
    told(
        "an edge with another weight each way",
        graph([(0, 1), (1, 0)], weights, weight=[1, 2]),
        [2, 2],
        "different weight each way",
    ),
    refused(
        "a one-way edge, refused as asked",
        graph(PATH, directed="error"),
        "AGC-I166",
        "2 one-way edges",
    ),
    silent(
        "one-way edges, kept as asked",
        graph(PATH, lambda g: g.adjacency.toarray().tolist(), directed="keep"),
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
        "asked for with directed",
    ),
    silent(
        "one-way edges, turned as asked",
        graph(PATH, lambda g: g.adjacency.toarray().tolist(), directed="reverse"),
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        "asked for with directed",
    ),
    refused(
        "directed as a truth value", graph(PATH, directed=True), "AGC-I160", "'ignore', 'keep'"
    ),
    silent("a self-loop", graph([(0, 0), (0, 1)]), (2, 2), "documented: self-loops are kept"),
    told(
        "a self-loop, dropped as asked",
        graph([(0, 0), (0, 1)], self_loops="drop"),
        (2, 1),
        "1 self-loop dropped",
    ),
    refused(
        "a self-loop, refused as asked",
        graph([(0, 0), (0, 1)], self_loops="error"),
        "AGC-I165",
        "1 self-loop",
    ),
    told("nothing but a self-loop", graph([(0, 0)], self_loops="drop"), (1, 0), "no edges"),
    refused(
        "self_loops that is no choice",
        graph(PATH, self_loops="remove"),
        "AGC-I160",
        "'keep', 'drop', 'error'",
    ),
    refused(
        "duplicates that is no choice",
        graph(PATH, duplicates="mean"),
        "AGC-I160",
        "'max', 'sum', 'error'",
    ),
]

# JSON

NODES = [{"id": "a"}, {"id": "b"}]

JSON_CASES = [
    told(
        "nodes and links",
        graph(as_json({"nodes": NODES, "links": [{"source": "a", "target": "b"}]}), ids),
        ["a", "b"],
        "nodes and links",
    ),
    told(
        "nodes and edges",
        graph(as_json({"nodes": NODES, "edges": [{"source": "a", "target": "b"}]}), ids),
        ["a", "b"],
        "nodes and links",
    ),
    told(
        "links that count the nodes",
        graph(
            as_json(
                {"nodes": [{"name": "x"}, {"name": "y"}], "links": [{"source": 0, "target": 1}]}
            ),
            ids,
        ),
        ["x", "y"],
        "nodes and links",
    ),
    told(
        "links without nodes",
        graph(as_json({"links": [{"from": "a", "to": "b"}]}), ids),
        ["a", "b"],
        "nodes and links",
    ),
    refused(
        "a link to a node that is not listed",
        graph(as_json({"nodes": NODES, "links": [{"source": "a", "target": "z"}]})),
        "AGC-I1116",
        "'z'",
    ),
    refused(
        "a link without a target",
        graph(as_json({"nodes": NODES, "links": [{"source": "a"}]})),
        "AGC-I1114",
        "needs source and target",
    ),
    refused(
        "a link that is a number", graph(as_json({"links": [7]})), "AGC-I1114", "source and target"
    ),
    told(
        "weights of links that are not used",
        graph(as_json({"links": [{"source": "a", "target": "b", "weight": 3}]}), weights),
        [1, 1],
        "not used: 'weight'",
    ),
    told(
        "weights of links",
        graph(
            as_json({"links": [{"source": "a", "target": "b", "weight": 3}]}),
            weights,
            weight="weight",
        ),
        [3, 3],
        "nodes and links",
    ),
    refused(
        "a weight that no link has",
        graph(as_json({"links": [{"source": "a", "target": "b"}]}), weight="w"),
        "AGC-I1115",
        "no link",
    ),
    refused(
        "weights of JSON in an array",
        graph(as_json({"a": ["b"]}), weight=[1]),
        "AGC-I1122",
        "name a key",
    ),
    refused(
        "nodes that repeat",
        graph(as_json({"nodes": [*NODES, {"id": "a"}], "links": [{"source": "a", "target": "b"}]})),
        "AGC-I105",
        "more than once",
    ),
    told(
        "nodes without a link",
        graph(as_json({"nodes": [*NODES, {"id": "c"}], "links": [{"source": "a", "target": "b"}]})),
        (3, 1),
        "nodes and links",
    ),
    told(
        "a node-link file without links",
        graph(as_json({"nodes": NODES, "links": []})),
        (2, 0),
        "no edges",
    ),
    told(
        "adjacency lists",
        graph(as_json({"a": ["b", "c"], "b": []}), ids),
        ["a", "b", "c"],
        "adjacency lists",
    ),
    told(
        "an object of objects",
        graph(as_json({"a": {"b": 2.5}}), weights),
        [2.5, 2.5],
        "adjacency lists",
    ),
    told(
        "objects as networkx writes them",
        graph(as_json({"a": {"b": {"weight": 4}}, "b": {}}), weights),
        [4, 4],
        "adjacency lists",
    ),
    refused(
        "lists and objects of neighbors",
        graph(as_json({"a": {"b": 1}, "b": ["c"]})),
        "AGC-I1117",
        "both lists and objects",
    ),
    told("pairs", graph(as_json([[0, 1], [1, 2]]), ids), [0, 1, 2], "list of pairs"),
    told("pairs with weights", graph(as_json([[0, 1, 5]]), weights), [5, 5], "with weights"),
    refused(
        "pairs, some with weights",
        graph(as_json([[0, 1, 5], [1, 2]])),
        "AGC-I1118",
        "source, target, weight",
    ),
    told("records", graph(as_json([{"s": "a", "t": "b"}]), ids), ["a", "b"], "JSON records"),
    told(
        "one record a line",
        graph(text('{"s": 1, "t": 2}\n{"s": 2, "t": 3}\n', "e.jsonl")),
        (3, 2),
        "JSON records",
    ),
    refused(
        "a record without a target",
        graph(as_json([{"s": "a", "t": "b"}, {"s": "b"}])),
        "AGC-I106",
        "missing id",
    ),
    refused(
        "a key twice", graph(text('{"a": ["b"], "a": ["c"]}')), "AGC-F1110", "'a' occurs twice"
    ),
    refused("JSON that is cut", graph(text('{"a": ["b", ')), "AGC-F1110", "not readable JSON"),
    refused(
        "JSON lines that are cut",
        graph(text('{"s": 1, "t": 2}\n{"s": 2, "t"')),
        "AGC-F1110",
        "not readable JSON",
    ),
    refused("JSON nested too deep", graph(text("[" * 100_000)), "AGC-F1110", "not readable JSON"),
    refused(
        "single quotes, as Python writes",
        graph(text("{'a': ['b']}")),
        "AGC-F1110",
        "not readable JSON",
    ),
    refused(
        "ids in JSON that are floats",
        graph(as_json([[0.5, 1]])),
        "AGC-I1119",
        "strings or integers; got 0.5",
    ),
    refused("ids in JSON that are null", graph(as_json({"a": [None]})), "AGC-I1119", "got None"),
    refused("an empty object", graph(as_json({})), "AGC-I1111", "neither node-link"),
    refused("an empty list", graph(as_json([])), "AGC-I1111", "a list of 0"),
    refused("an object of numbers", graph(as_json({"a": 1})), "AGC-I1111", "keys"),
    refused(
        "links that are an object",
        graph(as_json({"links": {"a": "b"}})),
        "AGC-I162",
        r"got \['b'\]",
    ),
    told(
        "a byte order mark in JSON",
        graph(text('{"a": ["b"]}', encoding="utf-8-sig")),
        (2, 1),
        "adjacency lists",
    ),
    told("JSON, compressed", graph(raw(gzip.compress(b'{"a": ["b"]}'))), (2, 1), "adjacency lists"),
]

# Parquet files and frames

PAIR = pd.DataFrame({"s": ["a", "b"], "t": ["b", "c"]})

FRAME_CASES = [
    told("a Parquet file", graph(parquet(s=[0, 1], t=[1, 2])), (3, 2), "Parquet"),
    refused(
        "a Parquet file that is cut",
        graph(raw(b"PAR1" + bytes(50))),
        "AGC-F122",
        "not a readable Parquet",
    ),
    refused(
        "a Parquet file of one column", graph(parquet(s=[0, 1])), "AGC-I129", "at least 2 columns"
    ),
    refused(
        "a Parquet file without rows",
        graph(parquet(s=pa.array([], pa.int64()), t=pa.array([], pa.int64()))),
        "AGC-I191",
        "no nodes",
    ),
    refused(
        "a Parquet file with nulls", graph(parquet(s=[0, None], t=[1, 2])), "AGC-I106", "missing id"
    ),
    told(
        "a folder of Parquet files",
        graph(_folder(a={"s": [0], "t": [1]}, b={"s": [1], "t": [2]})),
        (3, 2),
        "folder of 2 Parquet files",
    ),
    refused(
        "a folder with a damaged file",
        graph(_folder(a={"s": [0], "t": [1]}, b=b"PAR1")),
        "AGC-F122",
        "not a readable Parquet",
    ),
    refused(
        "a folder of files with other columns",
        graph(_folder(a={"s": [0], "t": [1]}, b={"u": [1], "v": [2]})),
        "AGC-I131",
        "'b.parquet' of edges has no column 's'",
    ),
    refused(
        "a folder of integers and text",
        graph(_folder(a={"s": [0], "t": [1]}, b={"s": ["x"], "t": ["y"]})),
        "AGC-F122",
        "Parquet",
    ),
    told(
        "a folder with what Spark leaves",
        graph(_folder(_SUCCESS=b"", a={"s": [0], "t": [1]})),
        (2, 1),
        "1 Parquet file",
    ),
    silent("a polars frame", graph(pl.DataFrame({"s": [0], "t": [1]})), (2, 1), "documented form"),
    silent(
        "a polars frame that is lazy",
        graph(pl.LazyFrame({"s": [0], "t": [1]})),
        (2, 1),
        "documented form",
    ),
    silent("a pyarrow table", graph(pa.table({"s": [0], "t": [1]})), (2, 1), "documented form"),
    silent(
        "a pandas frame whose index counts from 5",
        graph(PAIR.set_index(pd.Index([5, 6]))),
        (3, 2),
        "the index only counts",
    ),
    silent(
        "columns of categories",
        graph(PAIR.astype("category"), ids),
        ["a", "b", "c"],
        "a category is its name",
    ),
    silent(
        "categories that no row uses",
        graph(PAIR.astype(pd.CategoricalDtype(["a", "b", "c", "z"])), ids),
        ["a", "b", "c"],
        "documented: only used categories are nodes",
    ),
    silent(
        "integers that may be missing but are not",
        graph(pd.DataFrame({"s": [0], "t": [1]}, dtype="Int64"), ids),
        [0, 1],
        "nothing is missing",
    ),
    refused(
        "two columns of a frame of one name",
        graph(pd.DataFrame([[0, 1]], columns=["a", "a"])),
        "AGC-I134",
        "same name",
    ),
    silent("columns called 0 and 1", graph(pd.DataFrame([[0, 1]])), (2, 1), "as without names"),
    refused(
        "a frame of one column", graph(pd.DataFrame({"s": [0]})), "AGC-I129", "at least 2 columns"
    ),
    refused("a frame without rows", graph(PAIR.iloc[:0]), "AGC-I191", "no nodes"),
    refused(
        "an adjacency matrix in a frame",
        graph(pd.DataFrame([[0.0, 1.0], [1.0, 0.0]], columns=["a", "b"])),
        "AGC-I113",
        "source= and target=",
    ),
    refused("one column of pandas", graph(pd.Series([0, 1])), "AGC-I173", "rows of two ids"),
    told(
        "a polars frame with a weight",
        graph(pl.DataFrame({"s": [0], "t": [1], "w": [2]})),
        (2, 1),
        "weight='w' makes it count",
    ),
    refused(
        "columns of lists",
        graph(pl.DataFrame({"s": [[0]], "t": [[1]]})),
        "AGC-I107",
        "integers or strings",
    ),
]

# Arrays, lists, tensors

ARRAY_CASES = [
    refused(
        "a list of records", graph([{"source": "a", "target": "b"}]), "AGC-I173", "pandas.DataFrame"
    ),
    refused(
        "an array of named fields",
        graph(np.array([(0, 1)], dtype=[("s", int), ("t", int)])),
        "AGC-I172",
        "two ids",
    ),
    silent("an array of shape (n, 2)", graph(np.array(PATH)), (3, 2), "documented form"),
    refused(
        "an array of shape (2, n)", graph(np.array([[0, 1, 2], [1, 2, 0]])), "AGC-I172", "tuple"
    ),
    refused(
        "an array of three columns", graph(np.array([[0, 1, 5], [1, 2, 5]])), "AGC-I172", "two ids"
    ),
    refused("a flat list of ids", graph([0, 1, 1, 2]), "AGC-I173", "two ids"),
    refused("rows of different lengths", graph([(0, 1), (1, 2, 3)]), "AGC-I172", "two ids"),
    refused("a list of words of two letters", graph(["ab", "bc"]), "AGC-I173", "two ids"),
    refused("an empty list of edges", graph([]), "AGC-I191", "no nodes"),
    told("no edges but nodes", graph(([], []), node_ids=[0, 1]), (2, 0), "no edges"),
    refused("ends of two lengths", graph(([0, 1], [1])), "AGC-I171", "as many"),
    silent("an iterator", graph(lambda _: iter(PATH)), (3, 2), "read once, as a list"),
    silent("a set of pairs", graph({(0, 1), (1, 2)}), (3, 2), "the order of edges does not matter"),
    silent("a tensor of shape (n, 2)", graph(torch.tensor(PATH)), (3, 2), "documented form"),
    refused("an edge_index", graph(torch.tensor([[0, 1, 2], [1, 2, 0]])), "AGC-I172", "tuple"),
    refused("a tensor of floats", graph(torch.tensor([[0.0, 1.0]])), "AGC-I108", "floats"),
    refused("a number", graph(7), "AGC-I173", "edges must be"),
    refused("nothing", graph(None), "AGC-I173", "edges must be"),
    refused("a dict of lists", graph({"ab": ["c"]}), "AGC-I176", "networkx.Graph"),
    refused(
        "an open file",
        graph(lambda _: io.StringIO("0,1\n")),
        "AGC-I173",
        "edges must be",
    ),
    refused("the content of a file", graph(b"0,1\n"), "AGC-I173", "edges must be"),
    silent("masked ids without a mask", graph(np.ma.array(PATH)), (3, 2), "nothing is masked"),
    refused(
        "masked ids", graph(np.ma.array(PATH, mask=[(0, 0), (1, 0)])), "AGC-I106", "missing id"
    ),
]

# Matrices, networkx and PyTorch Geometric

MATRIX_CASES = [
    refused(
        "a number as networkx graph",
        lambda _: Graph.from_networkx(5),
        "AGC-I185",
        "networkx graph; got 'int'",
    ),
    refused(
        "a number as PyTorch Geometric", lambda _: Graph.from_pyg(5), "AGC-I186", "Data object"
    ),
    refused("a number as matrix", matrix(5), "AGC-I194", "int"),
    refused(
        "rows of a matrix of several lengths",
        matrix([[0, 1], [1]]),
        "AGC-I146",
        "matrix of numbers",
    ),
    refused(
        "a matrix with masked entries",
        matrix(np.ma.array([[0, 1], [1, 0]], mask=[[0, 1], [0, 0]])),
        "AGC-I163",
        "got nan",
    ),
    refused(
        "a matrix in a frame with names",
        matrix(pd.DataFrame([[0, 1], [1, 0]], index=["a", "b"])),
        "AGC-I189",
        "node_ids",
    ),
    refused(
        "a matrix as sparse tensor", matrix(torch.eye(2).to_sparse()), "AGC-I136", "sparse tensor"
    ),
    silent("a matrix as nested lists", matrix([[0, 1], [1, 0]]), (2, 1), "the same numbers"),
    refused("a matrix that is not square", matrix(sparse.csr_array((2, 3))), "AGC-I161", "square"),
    refused(
        "index arrays that contradict each other",
        matrix(_contradicting()),
        "AGC-I142",
        "not a consistent",
    ),
    told("a matrix of zeros", matrix(sparse.csr_array((2, 2))), (2, 0), "no edges"),
    refused("a matrix without rows", matrix(sparse.csr_array((0, 0))), "AGC-I191", "no nodes"),
    told(
        "a matrix that is not symmetric",
        matrix(np.array([[0, 1], [0, 0]])),
        (2, 1),
        "1 one-way edge made two-way",
    ),
    told(
        "a matrix with stored zeros",
        matrix(sparse.csr_array(([0.0], ([0], [1])), shape=(2, 2))),
        (2, 0),
        "weight zero dropped",
    ),
    silent(
        "entries stored twice",
        matrix(sparse.coo_array(([1, 2, 3], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)), weights),
        [3, 3],
        "documented: added",
    ),
    refused(
        "a matrix with NaN", matrix(np.array([[0, np.nan], [1, 0]])), "AGC-I163", r"at \(0, 1\)"
    ),
    refused(
        "a matrix with negative entries",
        matrix(np.array([[0, -1], [-1, 0]])),
        "AGC-I163",
        "not negative",
    ),
    refused(
        "a matrix of complex numbers",
        matrix(sparse.csr_array([[0, 1j], [1j, 0]])),
        "AGC-I162",
        "real numbers",
    ),
    refused(
        "a matrix of text",
        matrix(np.array([["0", "1"], ["1", "0"]])),
        "AGC-I194",
        "square array of numbers",
    ),
    refused(
        "an array that is flat", matrix(np.arange(4)), "AGC-I194", "sparse matrix or a square array"
    ),
    silent(
        "a dense matrix of truth values",
        matrix(np.array([[False, True], [True, False]])),
        (2, 1),
        "documented: numbers",
    ),
    silent(
        "a dense matrix of float16",
        matrix(np.array([[0, 1], [1, 0]], dtype=np.float16)),
        (2, 1),
        "documented: numbers",
    ),
    silent(
        "an old scipy matrix",
        matrix(sparse.lil_matrix([[0, 1], [1, 0]])),
        (2, 1),
        "any sparse format",
    ),
    told(
        "weights to be left out",
        matrix(np.array([[0, 5], [5, 0]]), weights, weighted=False),
        [1, 1],
        "2 edge weights set to 1",
    ),
    refused(
        "ids for a matrix that are too few",
        matrix(np.ones((2, 2)), node_ids=["a"]),
        "AGC-I195",
        "2 nodes; got 1",
    ),
    refused(
        "a matrix with names of columns",
        graph(sparse.csr_array((2, 2)), source="s"),
        "AGC-I199",
        "source cannot be combined",
    ),
    refused(
        "a matrix with a rule for duplicates",
        graph(sparse.csr_array((2, 2)), duplicates="sum"),
        "AGC-I199",
        "duplicates",
    ),
    silent("a graph of networkx", nx_graph(_nx(ABC), ids), ["a", "b", "c"], "documented form"),
    told(
        "a directed networkx graph",
        nx_graph(_nx(ABC, nx.DiGraph)),
        (3, 2),
        "2 one-way edges made two-way",
    ),
    told(
        "parallel edges in networkx",
        nx_graph(_nx([(0, 1), (0, 1)], nx.MultiGraph)),
        (2, 1),
        "1 duplicate edge",
    ),
    refused(
        "nodes of networkx that are pairs", nx_graph(nx.grid_2d_graph(2, 2)), "AGC-I107", "tuple"
    ),
    refused("nodes of networkx of two kinds", nx_graph(_nx([("a", 1)])), "AGC-I107", "one kind"),
    refused("a networkx graph without nodes", nx_graph(nx.Graph()), "AGC-I191", "no nodes"),
    refused("a label that no node has", nx_graph(_nx(ABC), label="club"), "AGC-I180", "'club'"),
    refused(
        "a feature that some nodes lack",
        nx_graph(_nx(ABC, x=[1, None, 2]), features="x"),
        "AGC-I182",
        "1 node",
    ),
    refused(
        "vectors of two lengths in networkx",
        nx_graph(_nx(ABC, x=[[1], [1, 2], [3]]), features="x"),
        "AGC-I183",
        "same length",
    ),
    refused(
        "features of networkx that are text",
        nx_graph(_nx(ABC, x=["u", "v", "w"]), features="x"),
        "AGC-I141",
        "real numbers",
    ),
    refused(
        "weights of networkx that are text",
        nx_graph(_nx([(0, 1, {"weight": "x"})])),
        "AGC-I162",
        "real numbers",
    ),
    refused(
        "ids beside a networkx graph",
        graph(_nx(ABC), node_ids=["a", "b", "c"]),
        "AGC-I199",
        "node_ids",
    ),
    told(
        "a one-way edge of PyTorch Geometric",
        pyg(edge_index=torch.tensor([[0], [1]])),
        (2, 1),
        "1 one-way edge",
    ),
    refused(
        "PyTorch Geometric without edge_index", pyg(edge_index=None), "AGC-I181", "no edge_index"
    ),
    refused(
        "an edge_index of three rows",
        pyg(edge_index=torch.zeros((3, 2), dtype=torch.int64)),
        "AGC-I184",
        "two rows",
    ),
    refused(
        "an edge_index beyond the nodes",
        pyg(edge_index=torch.tensor([[0, 5], [5, 0]])),
        "AGC-I104",
        "does not have",
    ),
    refused("x of the wrong length", pyg(x=torch.ones(3, 2)), "AGC-I195", "2 nodes; got 3"),
    refused(
        "y of several columns",
        pyg(y=torch.zeros(2, 4, dtype=torch.int64)),
        "AGC-I101",
        "one column",
    ),
    silent(
        "y of one column",
        pyg(lambda g: g.labels.tolist(), y=torch.tensor([[1], [0]])),
        [1, 0],
        "shape (n, 1) counts as (n,)",
    ),
    told("an edge_attr of several columns", pyg(edge_attr=torch.ones(2, 4)), (2, 1), "edge_attr"),
    silent(
        "an edge_attr of one column",
        pyg(weights, edge_attr=torch.tensor([[3.0], [3.0]])),
        [3, 3],
        "documented: counts as weights",
    ),
]

# Features in tables: kinds of columns

XYZ = [[1], [2], [3]]

COLUMN_CASES = [
    refused(
        "one-hot as a truth value",
        table("id,x\n0,1\n", one_hot=True),
        "AGC-I1131",
        "list of column names; got True",
    ),
    refused(
        "leaving out None", table("id,x\n0,1\n", drop=None), "AGC-I1131", "drop must be a list"
    ),
    refused(
        "one-hot of a number of a column",
        table("id,x\n0,1\n1,2\n2,3\n", one_hot=[1]),
        "AGC-I1133",
        "no column 1",
    ),
    told("a table in another order", table("id,x\n2,5\n1,4\n0,3\n", ids), [2, 1, 0], "3 rows"),
    told(
        "columns of truth values",
        table("id,x\n0,true\n1,False\n2,TRUE\n"),
        [[1], [0], [1]],
        "3 rows",
    ),
    refused(
        "columns of yes and no", table("id,x\n0,yes\n1,no\n2,yes\n"), "AGC-I147", r"one_hot=\['x'\]"
    ),
    refused(
        "a column of text",
        table("id,x,c\n0,1,red\n1,2,blue\n2,3,red\n"),
        "AGC-I147",
        r"'c' of features .* one_hot=\['c'\]",
    ),
    told(
        "a column of text, one-hot",
        table("id,x,c\n0,1,red\n1,2,blue\n2,3,red\n", names, one_hot=["c"]),
        ["x", "c=blue", "c=red"],
        "one-hot encoded, 2 columns",
    ),
    told(
        "all columns of text, one-hot",
        table("id,c,x\n0,red,1\n1,blue,2\n2,red,3\n", names, one_hot="all"),
        ["c=blue", "c=red", "x"],
        "one-hot encoded",
    ),
    told(
        "a column of numbers, one-hot",
        table("id,x\n0,5\n1,7\n2,5\n", names, one_hot=["x"]),
        ["x=5", "x=7"],
        "one-hot",
    ),
    told(
        "one-hot with a gap",
        table("id,c\n0,red\n1,\n2,blue\n", one_hot=["c"]),
        [[0, 1], [0, 0], [1, 0]],
        "zeros in 1 row without a value",
    ),
    refused(
        "one-hot of a column that is not there",
        table("id,x\n0,1\n1,2\n2,3\n", one_hot=["c"]),
        "AGC-I1133",
        "no column 'c'",
    ),
    refused(
        "one-hot of a word", table("id,x\n0,1\n", one_hot="c"), "AGC-I1131", "list of column names"
    ),
    refused(
        "one-hot of a column without values",
        table("id,c,x\n0,,1\n1,,2\n2,,3\n", one_hot=["c"]),
        "AGC-I1136",
        "no value to encode",
    ),
    refused(
        "one-hot of too many values",
        graph(
            [(i, i + 1) for i in range(100)],
            features=pd.DataFrame({"id": range(101), "c": map(str, range(101))}),
            one_hot=["c"],
        ),
        "AGC-I1136",
        "too many different values",
    ),
    refused(
        "one-hot of an array",
        array(XYZ, one_hot=["x"]),
        "AGC-I1140",
        "one_hot is for features in a table",
    ),
    told(
        "a column left out",
        table("id,x,d\n0,1,a\n1,2,b\n2,3,c\n", names, drop=["d"]),
        ["x"],
        "left out as asked: 'd'",
    ),
    refused(
        "leaving out a column that is not there",
        table("id,x\n0,1\n1,2\n2,3\n", drop=["d"]),
        "AGC-I1133",
        "'d' to drop",
    ),
    refused(
        "leaving out a word", table("id,x\n0,1\n", drop="x"), "AGC-I1131", "drop must be a list"
    ),
    refused(
        "leaving out every column",
        table("id,x\n0,1\n1,2\n2,3\n", drop=["x"]),
        "AGC-I1134",
        "no column but the id",
    ),
    refused(
        "leaving out columns of an array",
        array(XYZ, drop=["x"]),
        "AGC-I1140",
        "drop is for features",
    ),
    refused("a table of ids alone", table("id\n0\n1\n2\n"), "AGC-I1134", "no column but the id"),
    refused(
        "dates as text",
        table("id,d,x\n0,2024-01-01,1\n1,2024-01-02,2\n2,2024-01-03,3\n"),
        "AGC-I147",
        "dates",
    ),
    refused(
        "dates of pandas",
        frame(d=pd.to_datetime(["2024-01-01"] * 3)),
        "AGC-I147",
        r"dates .* drop=\['d'\]",
    ),
    refused(
        "durations", frame(d=pa.array([timedelta(1)] * 3), like=pa.table), "AGC-I147", "durations"
    ),
    refused(
        "times of day",
        frame(d=[pd.Timestamp("2024-01-01 10:00").time()] * 3),
        "AGC-I147",
        r"drop=\['d'\]",
    ),
    silent(
        "decimal numbers",
        frame(x=pa.array([Decimal("1.5")] * 3), like=pa.table),
        [[1.5]] * 3,
        "numbers as they are",
    ),
    refused(
        "objects of decimal numbers",
        frame(x=[Decimal("1.5"), Decimal(2), "x"]),
        "AGC-I147",
        "'x' of features",
    ),
    silent(
        "embeddings in one column",
        frame(names, e=[[1.0, 2.0]] * 3, like=pl.DataFrame),
        ["e[0]", "e[1]"],
        "a vector is as many columns",
    ),
    refused(
        "embeddings of several lengths",
        frame(e=[[1.0, 2.0], [1.0], [3.0]], like=pl.DataFrame),
        "AGC-I1137",
        "lists of numbers of one length",
    ),
    refused(
        "lists of words",
        frame(e=[["a"], ["b"], ["c"]], like=pl.DataFrame),
        "AGC-I1137",
        "lists of numbers",
    ),
    refused(
        "embeddings with a gap",
        frame(e=[[1.0], [None], [2.0]], like=pl.DataFrame),
        "AGC-I145",
        "missing",
    ),
    refused(
        "a node without an embedding",
        frame(e=[[1.0], None, [2.0]], like=pl.DataFrame),
        "AGC-I1137",
        "None",
    ),
    silent(
        "embeddings as arrays in pandas",
        frame(names, e=[np.ones(2)] * 3),
        ["e[0]", "e[1]"],
        "a vector is as many columns",
    ),
    refused(
        "columns within columns",
        frame(e=[{"a": 1}] * 3, like=pl.DataFrame),
        "AGC-I147",
        "'e' of features",
    ),
    silent(
        "categories that are numbers",
        frame(x=pd.Categorical([1, 2, 1])),
        [[1], [2], [1]],
        "a category is its value",
    ),
    refused(
        "categories that are text", frame(c=pd.Categorical(["u", "v", "u"])), "AGC-I147", "text"
    ),
    silent(
        "columns that pandas stores sparsely",
        frame(x=pd.arrays.SparseArray([0.0, 0.0, 2.0])),
        [[0], [0], [2]],
        "the same numbers",
    ),
    silent(
        "columns of objects that are numbers",
        frame(x=pd.Series([1, 2.5, True], dtype=object)),
        [[1], [2.5], [1]],
        "numbers as they are",
    ),
    refused("columns of complex numbers", frame(x=[1j, 2, 3]), "AGC-I147", "'x' of features"),
    silent(
        "integers past 64 bits",
        frame(x=[2**64, 1, 2]),
        [[2.0**64], [1], [2]],
        "numbers, rounded as any float",
    ),
    refused(
        "numbers with a decimal comma",
        table("id;x;y\n0;1,5;1\n1;2,5;2\n2;3,5;3\n"),
        "AGC-I147",
        "got '1,5'",
    ),
    refused(
        "numbers with a comma for thousands",
        table('id,x,y\n0,"1,000",1\n1,2,2\n2,3,3\n'),
        "AGC-I147",
        "got '1,000'",
    ),
    refused("percentages", table("id,x,y\n0,5%,1\n1,6%,2\n2,7%,3\n"), "AGC-I147", "got '5%'"),
    refused("hexadecimal numbers", table("id,x,y\n0,0x1F,1\n1,2,2\n2,3,3\n"), "AGC-I147", "0x1F"),
    told(
        "spaces around numbers",
        table("id,x,y\n0, 1 ,1\n1, 2,2\n2,3 ,3\n"),
        [[1, 1], [2, 2], [3, 3]],
        "3 rows",
    ),
    told(
        "columns named 0, 1, 2",
        table("id,0,1,2\n0,1,2,3\n1,1,2,3\n2,1,2,3\n", names),
        ["0", "1", "2"],
        "3 rows",
    ),
    told(
        "features without column names",
        table("0,1.5,2\n1,2.5,2\n2,3.5,2\n", names),
        None,
        "without column names",
    ),
    refused(
        "features whose columns repeat",
        table("id,x,x\n0,1,2\n1,2,3\n2,3,4\n"),
        "AGC-I128",
        "same name",
    ),
]

# Missing and impossible values

GAP = "id,x,y\n0,1,1\n1,{},2\n2,3,3\n"

GAP_CASES = [
    refused("a missing value", table(GAP.format("")), "AGC-I145", "missing.* node '1', column 'x'"),
    *(
        refused(
            f"a missing value spelled {word}", table(GAP.format(word)), "AGC-I145", "missing='mean'"
        )
        for word in ("NA", "n/a", "NaN", "NULL", "None", "?", "-")
    ),
    refused(
        "a missing value spelled by another word",
        table(GAP.format("unknown")),
        "AGC-I147",
        "got 'unknown'",
    ),
    refused(
        "a missing value spelled as in Excel", table(GAP.format("#N/A")), "AGC-I145", "missing"
    ),
    told(
        "a missing value, the mean filled in",
        table(GAP.format(""), missing="mean"),
        [[1, 1], [2, 2], [3, 3]],
        "1 missing value of features filled in",
    ),
    told(
        "a missing value, neighbors filled in",
        table("id,x,y\n0,5,1\n1,9,2\n2,,3\n", missing="neighbors"),
        [[5, 1], [9, 2], [9, 3]],
        r"neighbors \(1\)",
    ),
    told(
        "a missing value without neighbors",
        table("id,x,y\n0,1,1\n1,2,2\n2,3,3\n3,,4\n", missing="neighbors"),
        [[1, 1], [2, 2], [3, 3], [2, 4]],
        r"mean of the column \(1\)",
    ),
    refused(
        "a column without values",
        table("id,x,y\n0,,1\n1,,2\n2,,3\n", missing="mean"),
        "AGC-I1135",
        "columns without any value",
    ),
    refused(
        "a column without values, as it is",
        table("id,x,y\n0,,1\n1,,2\n2,,3\n"),
        "AGC-I145",
        "3 in column 'x'",
    ),
    refused(
        "missing that is no choice",
        table(GAP.format(""), missing="zero"),
        "AGC-I1130",
        "'mean', 'neighbors'",
    ),
    refused("pandas.NA", frame(x=pd.array([1, None, 3], dtype="Int64")), "AGC-I145", "missing"),
    refused(
        "None among objects", frame(x=pd.Series([1, None, 2], dtype=object)), "AGC-I145", "missing"
    ),
    refused("null of polars", frame(x=[1, None, 3], like=pl.DataFrame), "AGC-I145", "missing"),
    refused(
        "a truth value that is missing",
        frame(x=pd.array([True, None, False], dtype="boolean")),
        "AGC-I145",
        "missing",
    ),
    refused("an infinite value", table(GAP.format("inf")), "AGC-I145", "infinite"),
    refused("a value past float32", table(GAP.format("1e39")), "AGC-I145", "too large"),
    refused(
        "a value past float64", table(GAP.format("1e999")), "AGC-I145", "infinite or too large"
    ),
    refused(
        "an infinite value, gaps filled in",
        table(GAP.format("inf"), missing="mean"),
        "AGC-I145",
        "infinite",
    ),
    refused("NaN in an array", array([[1.0], [np.nan], [2.0]]), "AGC-I145", "row 1, column 0"),
    told(
        "NaN in an array, the mean filled in",
        array([[1.0], [np.nan], [2.0]], missing="mean"),
        [[1], [1.5], [2]],
        "filled in",
    ),
    refused("infinity in an array", array([[1.0], [np.inf], [2.0]]), "AGC-I145", "infinite"),
    refused(
        "NaN in a sparse matrix",
        array(sparse.csr_array([[1.0], [np.nan], [2.0]])),
        "AGC-I145",
        "row 1",
    ),
    refused("masked values", array(np.ma.array(XYZ, mask=[[0], [1], [0]])), "AGC-I145", "missing"),
    told(
        "masked values, the mean filled in",
        array(np.ma.array(XYZ, mask=[[0], [1], [0]]), missing="mean"),
        [[1], [2], [3]],
        "filled in",
    ),
    refused("None in a list of rows", array([[1], [None], [2]]), "AGC-I145", "missing"),
]

# Features as arrays, and how their rows meet the nodes

SHAPE_CASES = [
    refused(
        "feature_names as one word",
        array(np.ones((3, 2)), feature_names="xy"),
        "AGC-I1147",
        "list of names",
    ),
    refused(
        "feature_names as a number", array(np.ones((3, 2)), feature_names=2), "AGC-I1147", "got 2"
    ),
    refused("features in a set", array({1, 2, 3}), "AGC-I140", "got 'set'"),
    silent(
        "features in a polars frame that is lazy",
        array(pl.LazyFrame({"id": [0, 1, 2], "x": [1, 2, 3]})),
        XYZ,
        "documented form",
    ),
    silent(
        "features of float16", array(np.array(XYZ, dtype=np.float16)), XYZ, "documented: any float"
    ),
    silent(
        "features of truth values",
        array(np.array(XYZ) > 1),
        [[0], [1], [1]],
        "documented: booleans are 0 and 1",
    ),
    silent("features of uint8", array(np.array(XYZ, dtype=np.uint8)), XYZ, "documented: integers"),
    refused("features of complex numbers", array(np.array(XYZ) * 1j), "AGC-I141", "real numbers"),
    refused("features of text", array([["a"], ["b"], ["c"]]), "AGC-I141", "real numbers"),
    refused(
        "features of objects",
        array(np.array([[1], ["x"], [2]], dtype=object)),
        "AGC-I141",
        "real numbers",
    ),
    silent(
        "features of integers past 64 bits",
        array([[2**70], [1], [2]]),
        [[2.0**70], [1], [2]],
        "numbers, rounded as any float",
    ),
    refused(
        "features of dates",
        array(np.array([["2024-01-01"]] * 3, dtype="M8[D]")),
        "AGC-I141",
        "real numbers",
    ),
    refused("a flat list of features", array([1, 2, 3]), "AGC-I140", "one row per node"),
    refused("features of three dimensions", array(np.ones((3, 2, 2))), "AGC-I140", "matrix"),
    refused("features without columns", array(np.ones((3, 0))), "AGC-I140", "at least one column"),
    refused(
        "a sparse matrix without columns",
        array(sparse.csr_array((3, 0))),
        "AGC-I140",
        "at least one column",
    ),
    refused("rows of several lengths", array([[1], [1, 2], [3]]), "AGC-I146", "matrix of numbers"),
    refused("a row too few", array([[1], [2]]), "AGC-I190", "2 rows without ids"),
    silent(
        "a row too many", array([[1], [2], [3], [4]], size), (4, 2), "documented: row i is node i"
    ),
    refused("rows for ids that are text", graph(ABC, features=XYZ), "AGC-I190", "Pass node_ids"),
    refused("rows for ids from 1", graph([(1, 2), (2, 3)], features=XYZ), "AGC-I190", "node_ids"),
    refused(
        "a row too few for node_ids",
        array([[1], [2]], node_ids=[0, 1, 2]),
        "AGC-I195",
        "3 nodes; got 2",
    ),
    refused("features of a dict of arrays", array({"x": [1, 2, 3]}), "AGC-I140", "got 'dict'"),
    refused(
        "features of one column of pandas",
        array(pd.Series([1, 2, 3])),
        "AGC-I140",
        "one row per node",
    ),
    refused(
        "features of a generator",
        array(lambda _: (row for row in XYZ)),
        "AGC-I140",
        "got 'generator'",
    ),
    refused("features of a number", array(5), "AGC-I140", "got 'int'"),
    silent(
        "a tensor that tracks gradients",
        array(torch.tensor(XYZ, dtype=torch.float32).requires_grad_()),
        XYZ,
        "the same numbers",
    ),
    silent(
        "a tensor of bfloat16",
        array(torch.tensor(XYZ, dtype=torch.bfloat16)),
        XYZ,
        "the same numbers",
    ),
    refused("a sparse tensor", array(torch.tensor(XYZ).to_sparse()), "AGC-I136", "SciPy matrix"),
    silent(
        "a sparse matrix with entries stored twice",
        array(sparse.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(3, 1))),
        [[2], [0], [0]],
        "as SciPy adds them",
    ),
    refused(
        "a sparse matrix of complex numbers",
        array(sparse.csr_array([[1j], [0], [0]])),
        "AGC-I141",
        "real numbers",
    ),
    refused(
        "feature_names too few",
        array(np.ones((3, 2)), feature_names=["x"]),
        "AGC-I1141",
        "one name for each column",
    ),
    refused(
        "feature_names that repeat",
        array(np.ones((3, 2)), feature_names=["x", "x"]),
        "AGC-I1145",
        "different",
    ),
    refused(
        "feature_names for a table",
        table("id,x\n0,1\n1,2\n2,3\n", feature_names=["y"]),
        "AGC-I1144",
        "names of its own",
    ),
    told(
        "feature_names without features",
        graph(PATH, feature_names=["y"]),
        (3, 2),
        "feature_names not used",
    ),
    refused(
        "a node without a row",
        table("id,x\n0,1.5\n1,2\n", node_ids=[0, 1, 2]),
        "AGC-I192",
        "no row for 1 node",
    ),
    refused(
        "an end of an edge without a row",
        table("id,x\n0,1.5\n1,2.5\n"),
        "AGC-I104",
        "does not have",
    ),
    told(
        "a row for a node without edges",
        table("id,x\n0,1\n1,2\n2,3\n9,4\n", ids),
        [0, 1, 2, 9],
        "4 rows",
    ),
    refused(
        "a row for a node that is not listed",
        table("id,x\n0,1.5\n1,2\n2,3\n9,4\n", node_ids=[0, 1, 2]),
        "AGC-I104",
        "does not have",
    ),
    refused("a row without an id", table("id,x\n0,1.5\n,2\n2,3\n"), "AGC-I106", "1 missing id"),
    refused(
        "two rows for a node",
        table("id,x,y,z\n0,1,1,1\n0,2,2,2\n1,1,1,1\n2,3,3,3\n"),
        "AGC-I105",
        "more than once",
    ),
    refused(
        "rows for ids of another kind", table("id,x\na,1\nb,2\nc,3\n"), "AGC-I112", "not integers"
    ),
    refused(
        "an id column that is not there",
        table("id,x\n0,1\n1,2\n2,3\n", id_column="node"),
        "AGC-I131",
        "no column 'node'",
    ),
    refused("an id column of an array", array(XYZ, id_column="id"), "AGC-I196", "id_column is for"),
    told(
        "ids in the last column",
        table("x,id\n5,0\n6,1\n7,2\n", id_column="id"),
        [[5], [6], [7]],
        "id 'id'",
    ),
    silent(
        "ids in the index of pandas",
        array(pd.DataFrame({"x": [7, 8, 9]}, index=pd.Index([2, 1, 0], name="id")), ids),
        [2, 1, 0],
        "documented: an index with a name holds ids",
    ),
    silent(
        "ids of text in the index of pandas",
        graph(ABC, features=pd.DataFrame({"x": [7, 8, 9]}, index=["c", "b", "a"]), show=ids),
        ["c", "b", "a"],
        "documented: an index of text holds ids",
    ),
    refused(
        "an index of two levels",
        graph(
            ABC,
            features=pd.DataFrame(
                {"x": [7.5, 8, 9]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 1), ("c", 1)])
            ),
        ),
        "AGC-I135",
        "one level",
    ),
    refused(
        "features that are not there", array("nowhere.csv"), "AGC-I127", "features cannot be opened"
    ),
    refused("a table without rows", table("id,x\n"), "AGC-I1146", "without rows"),
]

# Long tables, svmlight and JSON

LONG_CASES = [
    told(
        "a long table with a column to leave out",
        table("node,feature,value,day\n0,u,2,1\n0,v,3,1\n2,v,4,2\n", drop=["day"]),
        [[2, 3], [0, 0], [0, 4]],
        "long table",
    ),
    refused(
        "a column to leave out that a long table does not have",
        table("node,feature,value\n0,u,2\n0,v,3\n2,v,4\n", drop=["when"]),
        "AGC-I1133",
        "no column 'when'",
    ),
    refused(
        "a column to leave out of JSON",
        table('{"0": [1, 2], "1": [3, 4], "2": [5, 6]}', drop=["x"]),
        "AGC-I1140",
        "drop is for features in a table",
    ),
    refused(
        "features of nodes that are in no edge",
        table("node,feature\n7,u\n7,v\n8,u\n"),
        "AGC-I1148",
        "no id in .* occurs in the edges",
    ),
    told(
        "a long table",
        table("node,feature,value\n0,u,2\n0,v,3\n2,v,4\n"),
        [[2, 3], [0, 0], [0, 4]],
        "long table",
    ),
    told(
        "a node that a long table does not list",
        table("node,word\n0,u\n0,v\n"),
        [[1, 1], [0, 0], [0, 0]],
        "2 nodes without any feature",
    ),
    told(
        "features of a long table that are numbers",
        table("node,word\n0,10\n0,9\n1,10\n", names),
        ["9", "10"],
        "long table",
    ),
    told(
        "an entry listed twice",
        table("node,word\n0,u\n0,u\n1,v\n"),
        [[1, 0], [0, 1], [0, 0]],
        "1 repeated row",
    ),
    refused(
        "an entry with two values",
        table("node,feature,value\n0,u,1\n0,u,2\n"),
        "AGC-I1132",
        r"'u' of node .*got \[1.0, 2.0\]",
    ),
    refused(
        "an entry without a value",
        table("node,feature,value\n0,u,\n0,v,2\n"),
        "AGC-I1139",
        "cannot be used",
    ),
    refused(
        "an entry without a feature",
        table("node,feature,value\n0,,1\n0,v,2\n"),
        "AGC-I1138",
        "rows without a feature",
    ),
    refused(
        "an entry whose value is text",
        table("node,feature,value\n0,u,many\n0,v,2\n"),
        "AGC-I147",
        "got 'many'",
    ),
    refused(
        "an entry whose value is infinite",
        table("node,feature,value\n0,u,inf\n0,v,2\n"),
        "AGC-I1139",
        "got inf",
    ),
    told(
        "a node that only a long table lists",
        table("node,word\n0,u\n0,v\n7,u\n", ids),
        [0, 1, 2, 7],
        "long table",
    ),
    told(
        "svmlight",
        array(text("1 1:0.5 2:2\n0 1:1\n1 2:3\n", "f.svm"), labels),
        [1, 0, 1],
        "svmlight",
    ),
    told(
        "svmlight that counts from 0",
        array(text("0 0:1\n0 1:1\n0 0:2\n", "f.svm")),
        [[1, 0], [0, 1], [2, 0]],
        "svmlight",
    ),
    told(
        "svmlight that counts from 1",
        array(text("0 1:1\n0 2:1\n0 1:2\n", "f.svm")),
        [[1, 0], [0, 1], [2, 0]],
        "svmlight",
    ),
    told(
        "svmlight beside labels",
        array(text("5 1:1\n6 2:1\n5 1:2\n", "f.svm"), labels, labels=["u", "v", "u"]),
        ["u", "v", "u"],
        "svmlight",
    ),
    refused(
        "svmlight that is damaged",
        array(text("1 1:0.5\n0 1:1\n1 2:3\n0 1:x\n", "f.svm")),
        "AGC-F1142",
        "not readable svmlight",
    ),
    refused(
        "svmlight out of order",
        array(text("1 1:1\n0 1:1\n1 2:1\n0 2:1 1:1\n", "f.svm")),
        "AGC-F1142",
        "svmlight",
    ),
    refused(
        "svmlight with a row too few", array(text("1 1:1\n0 1:1\n", "f.svm")), "AGC-I190", "2 rows"
    ),
    refused(
        "svmlight as edges",
        graph(text("1 1:1\n0 1:1\n", "f.svm")),
        "AGC-I1105",
        "Pass it as features",
    ),
    refused(
        "targets of svmlight that are no classes",
        array(text("0.5 1:1\n1.5 1:1\n2.5 1:1\n", "f.svm")),
        "AGC-I152",
        "not a whole number",
    ),
    told(
        "JSON lists of values",
        json_table({"a": [1.5, 2], "b": [3, 4], "c": [5, 6]}),
        [[1.5, 2], [3, 4], [5, 6]],
        "a list of 2 values",
    ),
    told(
        "JSON lists of numbers of features",
        json_table({"a": [0, 2], "b": [1], "c": []}),
        [[1, 0, 1], [0, 1, 0], [0, 0, 0]],
        "numbers of a node's features",
    ),
    told(
        "JSON lists of names of features",
        json_table({"a": ["u"], "b": ["v", "u"], "c": []}),
        [[1, 0], [1, 1], [0, 0]],
        "names of a node's features",
    ),
    told(
        "JSON objects of values",
        json_table({"a": {"u": 2}, "b": {"v": 3}, "c": {}}),
        [[2, 0], [0, 3], [0, 0]],
        "named values",
    ),
    told(
        "JSON records of features",
        json_table([{"id": "a", "x": 1}, {"id": "b", "x": 2}, {"id": "c", "x": 3}]),
        XYZ,
        "JSON records",
    ),
    told(
        "JSON rows without ids",
        graph(PATH, values, features=as_json([[1], [2], [3]], "f.json")),
        XYZ,
        "a list of 1 value",
    ),
    refused("JSON rows for ids that are text", json_table([[1], [2], [3]]), "AGC-I190", "node_ids"),
    refused(
        "a value in JSON that is null",
        json_table({"a": [1.5], "b": [None], "c": [2]}),
        "AGC-I145",
        "missing",
    ),
    refused(
        "a value in JSON that is text",
        json_table({"a": {"u": "red"}, "b": {}, "c": {}}),
        "AGC-I1121",
        "'u' of node 'a'",
    ),
    refused(
        "values in JSON of several lengths",
        json_table({"a": [1.5, 2], "b": [3], "c": [4]}),
        "AGC-I1120",
        "one length",
    ),
    refused(
        "JSON of one value a node",
        json_table({"a": 1, "b": 2, "c": 3}),
        "AGC-I1112",
        "features is JSON",
    ),
    refused(
        "JSON of lists and objects",
        json_table({"a": [1], "b": {"u": 1}, "c": []}),
        "AGC-I1112",
        "features is JSON",
    ),
    refused(
        "a node that JSON lists of values lack",
        json_table({"a": [1.5], "b": [2]}),
        "AGC-I104",
        "does not have",
    ),
    told(
        "a node that JSON objects lack",
        json_table({"a": {"u": 1}, "b": {"u": 2}}),
        [[1], [2], [0]],
        "1 node without any feature",
    ),
    refused(
        "a record without a feature",
        json_table([{"id": "a", "x": 1.5}, {"id": "b"}, {"id": "c", "x": 2}]),
        "AGC-I145",
        "node 'b'",
    ),
]

# Labels

LABEL_CASES = [
    told(
        "a column of pandas in another order",
        labeled(pd.Series(["u", "v", "w"], index=[2, 1, 0])),
        ["u", "v", "w"],
        "index is not 0 to n",
    ),
    refused(
        "a column of pandas whose index is floats",
        labeled(pd.Series(["u", "v"], index=[0.0, 2.0])),
        "AGC-I108",
        "index of labels",
    ),
    told(
        "unknown labels in an array",
        labeled([0, 1, 2], unlabeled=np.array([1, 2])),
        [0, None, None],
        "2 nodes",
    ),
    silent(
        "NaN for an unknown label",
        labeled([0.0, np.nan, 1.0], unlabeled=np.nan),
        [0, None, 1],
        "NaN is unknown anyway",
    ),
    refused(
        "labels of nodes as bytes",
        labeled(np.array([b"a", b"b", b"a"])),
        "AGC-I150",
        "integers, strings",
    ),
    refused(
        "pairs of id and label", labeled([(0, "u"), (1, "v"), (2, "u")]), "AGC-I101", "one column"
    ),
    refused(
        "labels of lists of several lengths", labeled([["a"], ["b", "c"], []]), "AGC-I151", "list"
    ),
    silent(
        "labels of categories",
        labeled(pd.Categorical(["u", None, "v"])),
        ["u", None, "v"],
        "a category is its name",
    ),
    refused(
        "a label for an id that is missing", labeled({0: "a", None: "b"}), "AGC-I106", "missing id"
    ),
    told("labels of -1, 0 and 1", labeled([-1, 0, 1]), [-1, 0, 1], "unlabeled=-1 makes it mean"),
    silent(
        "labels of -1 and 1", labeled([-1, 1, 1]), [-1, 1, 1], "two classes, as machines have them"
    ),
    told(
        "labels of -1 that are unknown",
        labeled([-1, 0, 1], unlabeled=-1),
        [None, 0, 1],
        "1 node of labels unlabeled",
    ),
    told(
        "several words for an unknown label",
        labeled(["?", "a", "none"], unlabeled=["?", "none"]),
        [None, "a", None],
        "2 nodes of labels",
    ),
    told(
        "a word for an unknown label that does not occur",
        labeled(["a", "b", "a"], unlabeled="?"),
        ["a", "b", "a"],
        "no label is '\\?'",
    ),
    silent(
        "labels of whole floats",
        labeled([0.0, 1.0, 2.0]),
        [0, 1, 2],
        "documented: whole floats are integers",
    ),
    refused(
        "labels of fractions", labeled([0.5, 1.0, 2.0]), "AGC-I152", "row 0 is not a whole number"
    ),
    refused("labels that are infinite", labeled([np.inf, 1.0, 2.0]), "AGC-I152", "got inf"),
    silent(
        "labels of NaN", labeled([np.nan, 1.0, 2.0]), [None, 1, 2], "documented: NaN is unknown"
    ),
    silent(
        "labels of None", labeled(["a", None, "b"]), ["a", None, "b"], "documented: None is unknown"
    ),
    silent(
        "labels of pandas.NA",
        labeled(pd.array([1, None, 2], dtype="Int64")),
        [1, None, 2],
        "documented: missing is unknown",
    ),
    silent(
        "labels that are masked",
        labeled(np.ma.array([1, 7, 2], mask=[0, 1, 0])),
        [1, None, 2],
        "documented: masked is unknown",
    ),
    silent(
        "labels that are blank",
        labeled(np.array(["a", "", "b"])),
        ["a", None, "b"],
        "documented: blank is unknown",
    ),
    silent(
        "labels of spaces",
        labeled(["a", "  ", "b"]),
        ["a", None, "b"],
        "documented: blank is unknown",
    ),
    silent(
        "labels of truth values",
        labeled([True, False, True]),
        [True, False, True],
        "documented: booleans",
    ),
    refused("labels of several kinds", labeled([1, "a", 2]), "AGC-I151", "all be of one kind"),
    refused(
        "labels of complex numbers",
        labeled(np.array([1j, 2, 3])),
        "AGC-I150",
        "integers, strings or booleans",
    ),
    refused(
        "labels of dates",
        labeled(np.array(["2024-01-01"] * 3, dtype="M8[D]")),
        "AGC-I150",
        "integers, strings",
    ),
    refused("labels past 64 bits", labeled([2**70, 1, 2]), "AGC-I153", "past 64 bits"),
    refused("labels in two columns", labeled([[1, 0], [0, 1], [1, 0]]), "AGC-I101", "one column"),
    refused("labels for all nodes but one", labeled([0, 1]), "AGC-I190", "2 rows"),
    refused(
        "a label too few for features", labeled([0, 1], features=XYZ), "AGC-I195", "3 nodes; got 2"
    ),
    refused("labels in a set", labeled({0, 1}), "AGC-I100", "must be a list"),
    refused("a number for all labels", labeled(1), "AGC-I102", "labels must be"),
    told(
        "classes that differ by spaces",
        labeled(["a", "a ", "b"]),
        ["a", "a ", "b"],
        "differ by spaces only",
    ),
    told(
        "spaces around labels of a file",
        labeled(text("id,y\n0, a\n1,a\n2,b\n")),
        ["a", "a", "b"],
        "spaces around 1 value",
    ),
    told(
        "classes that differ by case",
        labeled(["a", "A", "b"]),
        ["a", "A", "b"],
        "differ by case only",
    ),
    told(
        "almost as many classes as nodes",
        graph([(i, i + 1) for i in range(60)], lambda g: g.n_classes, labels=list(range(61))),
        61,
        "is this the label column",
    ),
    silent("one class for all", labeled([1, 1, 1]), [1, 1, 1], "a model that is fitted says so"),
    silent(
        "no label that is known",
        labeled([None, None, None]),
        [None, None, None],
        "a model that is fitted says so",
    ),
    silent(
        "labels by id",
        labeled({0: "a", 2: "b"}),
        ["a", None, "b"],
        "documented: missing nodes are unlabeled",
    ),
    told(
        "labels by ids, one of them unknown",
        labeled({0: "a", 9: "b"}),
        ["a", None, None],
        "1 label left out",
    ),
    refused(
        "labels by ids, all of them unknown",
        labeled({7: "a", 9: "b"}),
        "AGC-I1143",
        "no id in labels",
    ),
    refused("labels by ids of another kind", labeled({"0": "a"}), "AGC-I103", "same kind of id"),
    refused("labels by ids that are floats", labeled({0.0: "a", 1.0: "b"}), "AGC-I108", "floats"),
    silent("labels by nothing", labeled({}), [None, None, None], "a model that is fitted says so"),
    told(
        "a column of pandas whose index holds ids",
        labeled(pd.Series(["u", "v"], index=pd.Index([2, 0], name="id"))),
        ["v", None, "u"],
        "by their index",
    ),
    silent(
        "a column of pandas whose index counts",
        labeled(pd.Series(["u", "v", "w"])),
        ["u", "v", "w"],
        "documented: one label per node",
    ),
    silent(
        "a column of polars",
        labeled(pl.Series(["u", None, "w"])),
        ["u", None, "w"],
        "documented: one label per node",
    ),
    silent(
        "a tensor of labels",
        labeled(torch.tensor([0, 1, 0])),
        [0, 1, 0],
        "documented: one label per node",
    ),
    told("a file of labels", labeled(text("id,y\n0,1\n2,0\n")), [1, None, 0], "2 rows"),
    told(
        "a file of labels without column names",
        labeled(text("0,1\n2,0\n")),
        [1, None, 0],
        "without column names",
    ),
    told(
        "a file of labels with more columns",
        labeled(text("id,y,z\n0,1,5\n")),
        [1, None, None],
        "not used: 'z'",
    ),
    told(
        "a file with NA among the labels",
        labeled(text("id,y\n0,a\n1,NA\n2,b\n")),
        ["a", "NA", "b"],
        "'NA'",
    ),
    told(
        "labels with leading zeros",
        labeled(text("id,y\n0,01\n1,1\n2,01\n")),
        ["01", "1", "01"],
        "3 rows",
    ),
    told(
        "labels as 1.0 in a file",
        labeled(text("id,y\n0,1.0\n1,2.0\n2,1.0\n")),
        ["1.0", "2.0", "1.0"],
        "3 rows",
    ),
    refused(
        "a node with two labels", labeled(text("id,y\n0,a\n0,b\n")), "AGC-I193", "more than once"
    ),
    refused("a label without an id", labeled(text("id,y\n0,a\n,b\n")), "AGC-I106", "missing id"),
    refused(
        "a file of labels of one column",
        labeled(text("y\na\nb\nc\n")),
        "AGC-I129",
        "at least 2 columns",
    ),
    refused(
        "a label column that is not there",
        labeled(text("id,y\n0,a\n"), label_column="class"),
        "AGC-I131",
        "no column 'class'",
    ),
    refused(
        "a label column of a list",
        labeled([0, 1, 2], label_column="y"),
        "AGC-I196",
        "label_column is for",
    ),
    refused(
        "one column for id and label",
        labeled(text("y,id\na,0\n"), id_column="id"),
        "AGC-I130",
        "different column",
    ),
    told(
        "labels in the table of features",
        table("id,x,y\n0,1,a\n1,2,b\n2,3,\n", labels, label_column="y"),
        ["a", "b", None],
        "3 rows",
    ),
    told(
        "a first line of labels that is data",
        graph(ABC, labels, labels=text("a,u\nb,v\nc,u\n")),
        [None, "v", "u"],
        "'a' is a node",
    ),
    told(
        "JSON labels by id",
        graph(ABC, labels, labels=as_json({"a": 1, "c": 0})),
        [1, None, 0],
        "JSON object by id",
    ),
    told(
        "JSON labels that are null",
        graph(ABC, labels, labels=as_json({"a": "u", "b": None})),
        ["u", None, None],
        "JSON object",
    ),
    told(
        "JSON records of labels",
        graph(ABC, labels, labels=as_json([{"id": "a", "y": "u"}])),
        ["u", None, None],
        "JSON records",
    ),
    refused(
        "JSON labels that are lists",
        graph(ABC, labels=as_json({"a": [1], "b": [0]})),
        "AGC-I1113",
        "labels is JSON",
    ),
    refused(
        "JSON labels in a list",
        graph(ABC, labels=as_json(["u", "v", "w"])),
        "AGC-I1113",
        "labels is JSON",
    ),
    refused(
        "labels that are not there", labeled("nowhere.csv"), "AGC-I127", "labels cannot be opened"
    ),
]

# Graph files

NPZ_CASES = [
    silent("a file in our layout", ours(labels), ["u", "v"], "documented form"),
    refused(
        "a graph file that is not there",
        lambda _: Graph.from_npz("nowhere.npz"),
        "AGC-I203",
        "no such file",
    ),
    refused(
        "a folder as graph file", lambda folder: Graph.from_npz(folder), "AGC-I203", "is a folder"
    ),
    refused(
        "an empty graph file",
        lambda folder: Graph.from_npz(raw(b"", "g.npz")(folder)),
        "AGC-F201",
        "not a readable .npz",
    ),
    refused(
        "text as graph file",
        lambda folder: Graph.from_npz(text("0,1\n", "g.npz")(folder)),
        "AGC-F201",
        "not a readable .npz",
    ),
    refused(
        "a graph file that is cut",
        lambda folder: Graph.from_npz(
            raw(_saved(folder, a=np.ones(99)).read_bytes()[:-40], "c.npz")(folder)
        ),
        "AGC-G212",
        "truncated or damaged",
    ),
    refused(
        "a graph file with a flipped byte",
        lambda folder: Graph.from_npz(
            raw(_flipped(_saved(folder, edges=np.ones((99, 2), dtype=int)).read_bytes()), "c.npz")(
                folder
            )
        ),
        "AGC-G212",
        "damaged",
    ),
    refused(
        "a zip of other files",
        lambda folder: Graph.from_npz(_zipped("edges.csv", "0,1\n")(folder)),
        "AGC-U205",
        "name is invalid",
    ),
    refused(
        "a member that leaves its folder",
        lambda folder: Graph.from_npz(_zipped("../edges.npy", "x")(folder)),
        "AGC-U205",
        "name is invalid",
    ),
    refused(
        "a graph file without a graph", npz(a=np.ones(3)), "AGC-F213", "no graph in a known layout"
    ),
    refused("a graph file without arrays", npz(), "AGC-F213", "no graph"),
    refused(
        "a matrix without its shape", ours(adj_matrix__shape=None), "AGC-F148", "adj_matrix.shape"
    ),
    refused(
        "arrays of a matrix that contradict",
        ours(adj_matrix__indices=np.array([1, 7])),
        "AGC-F144",
        "contradict",
    ),
    refused(
        "a file whose matrix is text",
        ours(adj_matrix__data=np.array(["a", "b"])),
        "AGC-F143",
        "must hold numbers",
    ),
    refused(
        "a file whose matrix is not square",
        ours(adj_matrix__shape=np.array([2, 3])),
        "AGC-F116",
        "square",
    ),
    refused(
        "a file of objects",
        npz(edges=np.array([[0, 1]], dtype=object)),
        "AGC-U208",
        "could run code",
    ),
    told(
        "names that are objects",
        ours(labels, class_names=np.array(["u", "v"], dtype=object)),
        [0, 1],
        "hold Python objects: class_names",
    ),
    refused("labels too many", ours(labels=np.array([0, 1, 0])), "AGC-F114", "2 nodes"),
    refused(
        "labels beyond the classes", ours(labels=np.array([0, 5])), "AGC-F119", "between -1 and 1"
    ),
    refused(
        "labels that are text beside classes",
        ours(labels=np.array(["u", "v"])),
        "AGC-F118",
        "must be integers",
    ),
    refused(
        "classes that repeat",
        ours(class_names=np.array(["u", "u"])),
        "AGC-F113",
        "all be different",
    ),
    silent(
        "labels without classes",
        ours(labels, class_names=None, labels=np.array([7, -1])),
        [7, None],
        "documented: -1 is unknown in files",
    ),
    refused(
        "labels of fractions in a file",
        ours(class_names=None, labels=np.array([0.5, 1])),
        "AGC-F116",
        "whole number",
    ),
    refused("features of another length", ours(attr_matrix=np.eye(3)), "AGC-F116", "2 nodes"),
    refused(
        "NaN in a file", ours(attr_matrix=np.array([[np.nan], [1]])), "AGC-F116", "cannot be used"
    ),
    refused(
        "ids in a file that repeat",
        ours(node_ids=np.array(["a", "a"])),
        "AGC-F116",
        "more than once",
    ),
    refused(
        "a norm of a newer release", ours(feature_norm=np.array("l2")), "AGC-F115", "newer release"
    ),
    refused(
        "a file that is too large",
        lambda folder: Graph.from_npz(
            _saved(folder, edges=np.zeros((99, 2), dtype=int)), max_bytes=100
        ),
        "AGC-U207",
        "more than the 100 allowed",
    ),
    told(
        "edges and features",
        npz(edges=np.array(PATH), node_features=np.ones((3, 2))),
        (3, 2),
        "edges from edges, features from node_features",
    ),
    told(
        "edges as PyTorch Geometric has them",
        npz(edge_index=np.array([[0, 1], [1, 0]]), x=np.ones((2, 1))),
        (2, 1),
        "edge_index",
    ),
    told(
        "edges the other way round",
        npz(edges=np.array([[0, 1, 2], [1, 2, 0]])),
        (3, 3),
        "edges from edges",
    ),
    refused(
        "edges of three columns",
        npz(edges=np.ones((4, 3), dtype=int)),
        "AGC-F214",
        "two rows or two columns",
    ),
    refused("edges of floats", npz(edges=np.array([[0.0, 1.0]])), "AGC-F214", "node positions"),
    refused(
        "edge weights too few",
        npz(edges=np.array(PATH), edge_weight=np.ones(1)),
        "AGC-F215",
        "one value for each",
    ),
    told("a dense adjacency", npz(adj=np.array([[0, 1], [1, 0]])), (2, 1), "edges from adj"),
    told(
        "arrays that are not read",
        npz(edges=np.array(PATH), extra=np.ones(3)),
        (3, 2),
        "not read: extra",
    ),
    told(
        "names of nodes that repeat",
        npz(edges=np.array(PATH), node_names=np.array(["a", "a", "b"])),
        (3, 2),
        "not different names",
    ),
    told(
        "labels of one column",
        npz(labels, edges=np.array(PATH), labels=np.array([[0], [1], [-1]])),
        [0, 1, None],
        "labels from labels",
    ),
    refused(
        "labels in a file in two columns",
        npz(edges=np.array(PATH), labels=np.eye(3, dtype=int)),
        "AGC-F116",
        "one column",
    ),
]

# Splits

SPLIT_CASES = [
    *(
        refused(f"a split called {name!r}", split(name), "AGC-I222", "no such split")
        for name in (
            "",
            "random",
            "val",
            "val:20",
            "test:-1",
            "VAL:0",
            "val:0 ",
            "holdout:x",
            "public:1",
        )
    ),
    refused("a split of no labels", split("holdout:0", [-1] * 10), "AGC-I227", "no node has one"),
    refused("a share of all", split("holdout:0", score=1.0), "AGC-I238", "below 1"),
    refused("a negative share", split("holdout:0", score=-0.1), "AGC-I238", "at least 0"),
    refused("a share of NaN", split("holdout:0", score=float("nan")), "AGC-I238", "got nan"),
    refused(
        "one and a half nodes to stop on", split("holdout:0", stop=1.5), "AGC-I239", "whole number"
    ),
    refused(
        "more nodes to stop on than there are",
        split("holdout:0", stop=100),
        "AGC-I242",
        "more than the",
    ),
    silent(
        "no node to stop on",
        split("holdout:0", stop=0),
        {"train": 8, "stop": 0, "score": 2},
        "asked for",
    ),
    silent(
        "a class with one label",
        split("holdout:0", [0] * 9 + [1]),
        {"train": 7, "stop": 1, "score": 2},
        "documented: a single label is trained on",
    ),
    refused("no node to train on", split("holdout:0", train_per_class=0), "AGC-I237", "at least 1"),
    refused(
        "n_known for a share", split("holdout:0", n_known=5), "AGC-I243", "n_known has no meaning"
    ),
    refused(
        "nodes per class and a share",
        split("holdout:0", train_per_class=2, score=0.2),
        "AGC-I244",
        "exclude each other",
    ),
    refused(
        "a share to stop on for the paper's split",
        split("val:0", stop=0.2),
        "AGC-I245",
        "whole number of nodes",
    ),
    refused("a class too small", split("stratified:0", [0] * 9 + [1]), "AGC-I231", "class '1'"),
    refused("a share past one", split("stratified:0", stop=2.0), "AGC-I226", "between 0 and 1"),
    refused("the paper's split of ten nodes", split("val:0"), "AGC-I224", "Use holdout:0"),
    refused("the public split of one's own graph", split("public"), "AGC-I229", "public split"),
    refused("a split of a file without a file", split("file:0"), "AGC-I246", "needs a file"),
    refused(
        "a split of a file that is not there",
        split("file:0", splits_file="nowhere.npz"),
        "AGC-I203",
        "no such file",
    ),
    refused(
        "a file without splits",
        split("file:0", splits_file=masks(a=np.ones(3))),
        "AGC-F249",
        "no splits in a known layout",
    ),
    refused(
        "a split beyond those of the file",
        split("file:3", splits_file=masks(train_mask=_mask(0), test_mask=_mask(1))),
        "AGC-I251",
        "1 split",
    ),
    silent(
        "masks of one split",
        split(
            "file:0",
            splits_file=masks(train_mask=_mask(0, 1), val_mask=_mask(2), test_mask=_mask(3)),
        ),
        {"train": 2, "stop": 1, "score": 1},
        "documented form",
    ),
    refused(
        "masks that overlap",
        split("file:0", splits_file=masks(train_mask=_mask(0, 1), test_mask=_mask(1))),
        "AGC-I220",
        "share 1",
    ),
    refused(
        "masks of another graph",
        split("file:0", splits_file=masks(train_mask=_mask(0, size=8), test_mask=_mask(1, size=8))),
        "AGC-I255",
        "10 nodes",
    ),
    refused(
        "masks of two sizes",
        split("file:0", splits_file=masks(train_mask=_mask(0), test_mask=_mask(1, size=8))),
        "AGC-I255",
        "got 8",
    ),
    refused(
        "masks of floats",
        split("file:0", splits_file=masks(train_mask=_mask(0) * 0.5, test_mask=_mask(1))),
        "AGC-F254",
        "true and false",
    ),
    refused(
        "masks of other numbers",
        split("file:0", splits_file=masks(train_mask=np.arange(10), test_mask=_mask(1))),
        "AGC-F254",
        "true and false",
    ),
    refused(
        "masks that train on nothing",
        split("file:0", splits_file=masks(train_mask=_mask(), test_mask=_mask(1))),
        "AGC-I257",
        "no node to train on",
    ),
    told(
        "masks with nodes without a label",
        split(
            "file:0",
            [-1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
            splits_file=masks(train_mask=_mask(0, 1, 2), test_mask=_mask(3)),
        ),
        {"train": 2, "stop": 0, "score": 1},
        "1 node without a label",
    ),
    refused(
        "masks that train on unlabeled nodes",
        split(
            "file:0",
            [-1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
            splits_file=masks(train_mask=_mask(0), test_mask=_mask(3)),
        ),
        "AGC-I248",
        "no node that has a label",
    ),
    refused(
        "positions beyond the graph",
        split("file:0", splits_file=masks(train_idx=np.array([0, 99]), test_idx=np.array([1]))),
        "AGC-I221",
        "beyond",
    ),
    refused(
        "positions that are negative",
        split("file:0", splits_file=masks(train_idx=np.array([-1]), test_idx=np.array([1]))),
        "AGC-I234",
        "negative",
    ),
    refused(
        "positions that repeat",
        split("file:0", splits_file=masks(train_idx=np.array([0, 0]), test_idx=np.array([1]))),
        "AGC-I233",
        "twice",
    ),
    refused(
        "positions that are floats",
        split("file:0", splits_file=masks(train_idx=np.array([0.0]), test_idx=np.array([1]))),
        "AGC-F252",
        "node positions",
    ),
    refused(
        "packed masks of another size",
        split(
            "file:0",
            splits_file=masks(
                train=np.zeros((1, 9), dtype=np.uint8),
                test=np.zeros((1, 9), dtype=np.uint8),
                n_nodes=np.array(10),
            ),
        ),
        "AGC-F253",
        "packed bits",
    ),
    silent(
        "a table of words",
        split("file:0", splits_file=text("id,s\n0,train\n1,Valid\n2,test\n3,\n")),
        {"train": 1, "stop": 1, "score": 1},
        "documented form",
    ),
    refused(
        "a table of other words",
        split("file:0", splits_file=text("id,s\n0,train\n1,dev\n")),
        "AGC-I256",
        "'dev'",
    ),
    refused(
        "a table of unknown nodes",
        split("file:0", splits_file=text("id,s\n0,train\n77,test\n")),
        "AGC-I104",
        "does not have",
    ),
    refused(
        "a table with a node twice",
        split("file:0", splits_file=text("id,s\n0,train\n0,test\n1,test\n")),
        "AGC-I258",
        "more than one row",
    ),
    refused(
        "a table without a column of words",
        split("file:0", splits_file=text("id\n0\n1\n")),
        "AGC-I129",
        "at least 2 columns",
    ),
    refused(
        "a table of other ids",
        split("file:0", splits_file=text("id,s\nann,train\nbob,test\n")),
        "AGC-I112",
        "not integers",
    ),
]

TABLE_CASES = [
    *SEPARATOR_CASES,
    *HEADER_CASES,
    *FILE_CASES,
    *ID_CASES,
    *EDGE_CASES,
    *JSON_CASES,
    *FRAME_CASES,
    *ARRAY_CASES,
    *MATRIX_CASES,
    *COLUMN_CASES,
    *GAP_CASES,
    *SHAPE_CASES,
    *LONG_CASES,
    *LABEL_CASES,
    *NPZ_CASES,
    *SPLIT_CASES,
]
