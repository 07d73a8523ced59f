"""Odd tables, matrices, labels and graph files, as strangers hand them in."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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
    told("line ends of Windows", graph(text("s,t\r\n0,1\r\n")), (2, 1), "1 rows"),
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
    told("ids that start with #", graph(text("s,t\n#1,#2\n"), ids), ["#1", "#2"], "1 rows"),
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
TABLE_CASES = [*SEPARATOR_CASES, *HEADER_CASES, *FILE_CASES]
