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
        "source is for edges in a file",
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
        "save a workbook as CSV",
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
        "Graph.from_npz",
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
    refused("ids as floats", graph(np.array([[0.0, 1.0]])), "AGC-I108", "ids cannot be floats"),
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
        "a negative weight", graph(PATH, weight=[1, -2]), "AGC-I163", "the first in row 1; got -2"
    ),
    refused("a weight of NaN", graph(PATH, weight=[np.nan, 1]), "AGC-I163", "got nan"),
    refused("an infinite weight", graph(PATH, weight=[np.inf, 1]), "AGC-I163", "got inf"),
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
        "AGC-I108",
        "floats",
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
    silent("a networkx graph", nx_graph(_nx(ABC), ids), ["a", "b", "c"], "documented form"),
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
]
