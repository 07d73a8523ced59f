"""A store that is built without holding tables in memory is the store of the graph in memory."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from adagcn import AdaGCNError, FormatError, Graph, InputError, ResourceError
from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.build_folder import MANIFEST, building
from adagcn.formats.feature_tables import FeatureRules
from adagcn.formats.graph_store import verify_store
from adagcn.formats.nodes import NodeSource
from adagcn.formats.scratch_database import Limits
from adagcn.formats.store_build import EdgeTable, build_store
from adagcn.formats.text_files import TextRules

pytest.importorskip("duckdb")

INTEGERS = "source,target\n3,1\n1,3\n1,2\n2,2\n1,2\n7,1\n"
STRINGS = "from;to\nbob;ann\nann;bob\nann;eve\neve;eve\nann;eve\nzoë;ann\n🙂;bob\n"
WEIGHTED = "a,b,w\n3,1,0.1\n1,3,2\n1,2,0.2\n2,2,1\n1,2,0.7\n7,1,0\n1,2,1e-60\n2,1,0.3\n1,2,0.4\n"
WIDE = "id,x,y\n7,1,2.5\n3,0,-1\n2,1e-3,4\n1,5,6\n9,0.1,0.30000001\n"
LABELS = "id,class\n3,spam\n7,ham\n2,spam\n"


def write(folder: Path, name: str, content):
    """Write text, or the columns of a Parquet file; return the path."""
    path = folder / name
    if isinstance(content, dict):
        pq.write_table(pa.table(content), path, row_group_size=2)
    else:
        path.write_text(content, encoding="utf-8")
    return path


def both(tmp_path, edges, features=None, labels=None, **options):
    """Return the manifests of the store built out of core and of the one built in memory."""
    paths = {
        name: None if content is None else write(tmp_path, name, content)
        for name, content in {"edges": edges, "features": features, "labels": labels}.items()
    }
    tables = {"features": paths["features"], "labels": paths["labels"]}
    graph = _quiet(paths["edges"], **tables, **options)
    graph.to_store(tmp_path / "memory")
    table, source, rules = as_parts(paths, **options)
    build_store(tmp_path / "disk", table, source, rules, Limits(memory=2**27))
    found = [json.loads((tmp_path / name / MANIFEST).read_text()) for name in ("disk", "memory")]
    assert sorted(path.name for path in (tmp_path / "disk").iterdir()) == sorted(
        path.name for path in (tmp_path / "memory").iterdir()
    )
    assert all(is_whole for _, is_whole in verify_store(tmp_path / "disk"))
    for manifest in found:  # in memory their type is sometimes int64 without need
        del manifest["files"]["adjacency.indptr"], manifest["files"]["adjacency.indices"]
    return found


def as_parts(paths, **options):
    """Return what the user gave as the arguments of the builder."""
    text = TextRules(options.get("separator"))
    table = EdgeTable(
        paths["edges"],
        options.get("source"),
        options.get("target"),
        options.get("weight"),
        replace(text, header=options.get("header")),
    )
    source = NodeSource(
        paths["features"],
        paths["labels"],
        None,
        options.get("id_column"),
        options.get("label_column"),
        rules=FeatureRules(
            options.get("one_hot"), options.get("drop", ()), options.get("missing", "error")
        ),
        unlabeled=options.get("unlabeled"),
        text=text,
    )
    chosen = {n: options[n] for n in ("directed", "self_loops", "duplicates") if n in options}
    return table, source, EdgeRules(**chosen)


VARIANTS = {
    "integers": (INTEGERS, {}),
    "strings": (STRINGS, {}),
    "strings in Parquet": (
        {"s": ["b", " b", "a", "a"], "t": ["a", "c", "d", "d"], "more": [1, 2, 3, 4]},
        {},
    ),
    "integers in Parquet": ({"s": [30, -1, 30, 30], "t": [-1, 30, 30, -1]}, {}),
    "integers with gaps": ({"s": [-7, 0, 7, 14], "t": [21, 14, -7, 28]}, {}),
    "integers at both ends": ({"s": [-(2**62), 5, 2**62], "t": [5, 2**62, -(2**62)]}, {}),
    "few ids with a large gap, many times": ({"s": [0, 300] * 80, "t": [300, 0] * 80}, {}),
    "a range": ("0 1\n1 2\n2 0\n3 3\n", {}),
    "comments and spaces": ("# a comment\n a\tb \n b  c\n", {}),
    "spaces after commas": ("x, y\n1, 2\n2, 3\n 3,1\n", {}),
    "leading zeros are strings": ("007,7\n7,8\n", {}),
    "numbers past the first lines are strings": ("a,b\n" + "1,2\n" * 50 + "x,1\n", {}),
    "a first line that is an edge": ("ann,bob\nbob,eve\neve,ann\n", {}),
    "a first line that might be one": ("ann,to\nbob,ann\n", {}),
    "no header": ("1,2\n2,3\n", {"header": False}),
    "marks of comments further down": ("a,b\nb,c\nc,d\nd,e\ne,f\nf,g\n#x,a\n", {}),
    "weights": (WEIGHTED, {"weight": "w"}),
    "weights, added": (WEIGHTED, {"weight": "w", "duplicates": "sum"}),
    "weights, directed": (WEIGHTED, {"weight": "w", "directed": "keep"}),
    "weights, reversed, without loops": (
        WEIGHTED,
        {"weight": "w", "directed": "reverse", "self_loops": "drop", "duplicates": "sum"},
    ),
    "weights not used": (WEIGHTED, {}),
    "duplicates added": (INTEGERS, {"duplicates": "sum"}),
    "directed": (INTEGERS, {"directed": "keep"}),
    "reversed": (STRINGS, {"directed": "reverse"}),
    "symmetric though kept": ("1,2\n2,1\n3,3\n", {"directed": "keep"}),
    "without loops": (STRINGS, {"self_loops": "drop"}),
    "nothing but loops, dropped": ("1,1\n2,2\n", {"self_loops": "drop"}),
    "named columns": ("x,t,s\n5,1,2\n5,2,3\n", {"source": "s", "target": "t"}),
    "integers far apart": ("1,2\n2,9000000000\n-5,2\n1,2\n", {"duplicates": "sum"}),
    "one pair many times": ("1,2\n" * 1000, {"duplicates": "sum"}),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_edges_alone_give_the_store_of_memory(tmp_path, name):
    edges, options = VARIANTS[name]
    disk, memory = both(tmp_path, edges, **options)
    assert disk == memory


TABLES = {
    "isolated nodes and labels": (INTEGERS, WIDE, LABELS, {}),
    "labels of other nodes": (INTEGERS, WIDE, LABELS + "55,eggs\n", {}),
    "labels in the features": (INTEGERS, WIDE, None, {"label_column": "x", "drop": []}),
    "unlabeled": (INTEGERS, WIDE, LABELS, {"unlabeled": ["ham"]}),
    "labels without features": (STRINGS, None, "id,y\nann,1\nbob,0\n", {}),
    "labels that are integers": (INTEGERS, None, "id,y\n1,1\n2,-1\n", {"unlabeled": -1}),
    "a column left out": (INTEGERS, "id,x,y,z\n7,1,2,3\n3,0,1,3\n2,1,1,1\n1,0,0,0\n", None,
                          {"drop": ["y"]}),
    "features without names": ("0,1\n1,2\n", "0,0.5,1,2\n1,0.25,1,2\n2,0.5,2,2\n", None, {}),
    "features in Parquet": (
        INTEGERS,
        {"id": ["7", "3", "2", "1"], "b": [True, False, True, True], "i": [2**60 + 1, 1, 2, 3]},
        LABELS,
        {},
    ),
    "vectors": (
        {"s": [1, 2], "t": [2, 3]},
        {"id": [3, 2, 1], "v": [[0.5, 1.0], [1.0, 2.0], [3.0, 4.0]]},
        {"id": [1, 2], "y": ["a", "b"]},
        {},
    ),
    "a name that is a node": ("bob,ann\nbob,eve\nann,eve\n",
                              "ann,x,y,z\nbob,1,2,3\neve,1,2,4\nann,1,2,3\n", None, {}),
    "decimals beside names": ("1,2\n2,3\n",
                              "id,x,y,z\n1,1,2,3\n2,1,2,3\n3,0,0,1\nann,1,1,1\n", None, {}),
    "named id": ("1,2\n2,3\n", "x,me,y\n0.5,3,1\n0.5,2,1\n0,1,1\n", "y,me\nb,1\na,2\n",
                 {"id_column": "me", "label_column": "y"}),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_features_and_labels_give_the_store_of_memory(tmp_path, name):
    edges, features, labels, options = TABLES[name]
    disk, memory = both(tmp_path, edges, features, labels, **options)
    assert disk == memory


def test_labels_of_nodes_that_are_not_there_are_counted(tmp_path):
    disk, memory = both(tmp_path, INTEGERS, WIDE, LABELS + "55,eggs\n77,ham\n")
    for manifest in (disk, memory):
        said = "2 labels left out, since the graph has no such node: [55, 77]"
        assert manifest["changes"].count(said) == 1
    assert Graph.from_store(tmp_path / "disk").classes.tolist() == ["ham", "spam"]


REFUSED = {
    "no such node": ("1,2\n55,1\n", WIDE, None, {}, "holds 1 id that the graph does not have"),
    "no such node in a range": ("0,1\n9,-1\n", "id,x,y,z\n0,1,1,1\n1,1,1,2\n", None, {},
                                "holds 2 ids that the graph does not have"),
    "a node twice": ("1,2\n", "id,x,y,z\n1,1,1,1\n2,1,1,1\n1,2,2,2\n", None, {},
                     "node ids must all be different"),
    "a missing id": ("a,b\n1,2\n3,\n,5\n", None, None, {}, "1 missing id, the first in row 2"),
    "a negative weight": ("a,b,w\n1,2,1\n1,3,-2\n1,4,-3\n", None, None, {"weight": "w"},
                          "2 are not, the first in row 1"),
    "loops": (INTEGERS, None, None, {"self_loops": "error"}, "1 self-loop, but"),
    "duplicates": (INTEGERS, None, None, {"duplicates": "error"}, "1 repeated edge, but"),
    "one-way": (INTEGERS, None, None, {"directed": "error"}, "2 one-way edges"),
    "labels of no node": (INTEGERS, WIDE, "id,y\n77,a\n", {}, "no id in column 'id' of labels"),
    "a missing feature": ("1,2\n", "id,x,y,z\n1,1,1,1\n2,,1,1\n", None, {}, r"1 value \(missing\)"),
    "words beside integers": ({"s": [1], "t": [2]}, None, "id,y\nann,1\n", {},
                              "holds ids that are not integers"),
    "integers and strings": ({"s": [1], "t": [2]}, {"id": ["1", "2"], "x": [1, 2]}, None, {},
                             "holds integer ids but"),
    "floats": ({"s": [1.5], "t": [2.0]}, None, None, {}, "holds floats"),
    "a line of other length": ("a,b\n1,2\n3\n", None, None, {}, "cannot be read"),
    "an unknown column": (INTEGERS, None, None, {"source": "nope"}, "has no column 'nope'"),
    "no rows of features": (INTEGERS, "id,x,y,z\n", None, {}, "without rows"),
    "no nodes": ("a,b\n", None, None, {}, "no nodes"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_in_the_same_words(tmp_path, name):
    edges, features, labels, options, words = REFUSED[name]
    paths = {
        name: None if content is None else write(tmp_path, name, content)
        for name, content in {"edges": edges, "features": features, "labels": labels}.items()
    }
    with pytest.raises(AdaGCNError, match=words) as disk:
        build_store(tmp_path / "disk", *as_parts(paths, **options))
    with pytest.raises(AdaGCNError) as memory:
        Graph.from_edges(
            paths["edges"], features=paths["features"], labels=paths["labels"], **options
        )
    assert disk.value.code == memory.value.code
    assert not (tmp_path / "disk").exists()


ONLY_IN_MEMORY = {
    "JSON": ("[[1, 2]]", None, {}, "edges is JSON"),
    "a long table": (INTEGERS, "node,feature,value\n1,a,1\n", {}, "a long table"),
    "perhaps a long table": (INTEGERS, "id,x\n1,1\n1,2\n", {}, "as a long table does"),
    "text to encode": (INTEGERS, WIDE, {"one_hot": ["x"]}, "one_hot needs the whole"),
    "gaps to fill": (INTEGERS, WIDE, {"missing": "mean"}, "missing='mean' needs the whole"),
    "text among numbers": (INTEGERS, WIDE + "8,a,b\n", {}, "text among numbers"),
    "text in Parquet": (INTEGERS, {"id": [1], "x": ["a"]}, {}, "of the type string"),
    "ids past 64 bits": (f"1,{2**70}\n", None, {}, "past 64 bits"),
}


@pytest.mark.parametrize("name", ONLY_IN_MEMORY)
def test_what_needs_memory_says_so(tmp_path, name):
    edges, features, options, words = ONLY_IN_MEMORY[name]
    paths = {"edges": write(tmp_path, "edges", edges), "features": None, "labels": None}
    if features is not None:
        paths["features"] = write(tmp_path, "features", features)
    with pytest.raises(InputError, match=words):
        build_store(tmp_path / "disk", *as_parts(paths, **options))
    assert not (tmp_path / "disk").exists()


def test_compressed_files_and_folders_of_parquet(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        table = pa.table({"s": [number, 5], "t": [number + 1, number]})
        pq.write_table(table, folder / f"{number}.parquet")
    with gzip.open(tmp_path / "f.csv.gz", "wt") as handle:
        handle.write("id,x,y,z\n" + "".join(f"{i},{i},1,0.5\n" for i in range(7)))
    paths = {"edges": folder, "features": tmp_path / "f.csv.gz", "labels": None}
    build_store(tmp_path / "disk", *as_parts(paths))
    graph = Graph.from_edges(folder, features=tmp_path / "f.csv.gz")
    opened = Graph.from_store(tmp_path / "disk")
    assert (opened.digest, opened.changes) == (graph.digest, graph.changes)


def test_many_batches_are_one_graph(tmp_path):
    """More rows than one batch of any reader, and more than one thread and memory for them."""
    rng = np.random.default_rng(0)
    edges = rng.zipf(1.5, size=(2, 700_000)) % 50_000
    weights = rng.random(700_000).round(3)
    table = pa.table({"s": edges[0], "t": edges[1], "w": weights})
    pq.write_table(table, tmp_path / "edges.parquet")
    options = {"weight": "w", "duplicates": "sum"}
    paths = {"edges": tmp_path / "edges.parquet", "features": None, "labels": None}
    graph = _quiet(paths["edges"], **options)
    build_store(tmp_path / "disk", *as_parts(paths, **options), Limits(2**27, threads=2))
    opened = Graph.from_store(tmp_path / "disk")
    assert (opened.digest, opened.changes) == (graph.digest, graph.changes)
    assert opened.adjacency.max() == graph.adjacency.max() > 10


def test_what_an_unfinished_build_left_is_removed(tmp_path):
    path = write(tmp_path, "edges", INTEGERS)
    folder = tmp_path / "disk"
    (folder / ".building" / "integers").mkdir(parents=True)
    for name in ("adjacency.values.npy", ".features.npy.0a1b.tmp", ".building/integers/x"):
        (folder / name).write_text("half")
    build_store(folder, EdgeTable(path), NodeSource())
    assert Graph.from_store(folder).n_nodes == 4
    assert not (folder / ".building").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    path = write(tmp_path, "edges", INTEGERS)
    folder = tmp_path / "disk"
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="empty or new"):
        build_store(folder, EdgeTable(path), NodeSource())
    assert (folder / "thesis.tex").read_text() == "mine"


def test_two_builds_of_one_folder(tmp_path):
    path = write(tmp_path, "edges", INTEGERS)
    with (
        building(tmp_path / "disk"),
        pytest.raises(ResourceError, match="another process is building"),
    ):
        build_store(tmp_path / "disk", EdgeTable(path), NodeSource())


def test_too_little_memory_is_said(tmp_path):
    with pytest.raises(InputError, match="at least 64MB"):
        Limits(memory=1000)


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    path = write(tmp_path, "edges", INTEGERS)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adagcn.formats.array_files.GrowingArray.append", full)
    with pytest.raises(ResourceError, match="No space left on device"):
        build_store(tmp_path / "disk", EdgeTable(path), NodeSource())
    assert not (tmp_path / "disk").exists()


def test_duckdb_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    path = write(tmp_path, "edges", INTEGERS)
    with pytest.raises(ResourceError, match=r"adagcn\[scale\]"):
        build_store(tmp_path / "disk", EdgeTable(path), NodeSource())


KILLED = """
import os, signal, sys
from pathlib import Path
from adagcn.formats import sorted_edges, stored_adjacency
from adagcn.formats.nodes import NodeSource
from adagcn.formats.store_build import EdgeTable, build_store
entries = stored_adjacency.adjacency_entries

def killed(*args):
    for each in entries(*args):
        yield each
        os.kill(os.getpid(), signal.SIGKILL)

stored_adjacency.adjacency_entries = killed
build_store(Path(sys.argv[2]), EdgeTable(Path(sys.argv[1])), NodeSource())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_build_that_is_killed_leaves_no_store_and_can_be_repeated(tmp_path):
    path = write(tmp_path, "edges", INTEGERS)
    folder = tmp_path / "disk"
    done = subprocess.run([sys.executable, "-c", KILLED, path, folder], check=False)
    assert done.returncode == -9
    assert any(folder.iterdir())
    with pytest.raises(FormatError, match="is no store"):
        Graph.from_store(folder)
    build_store(folder, EdgeTable(path), NodeSource())
    assert Graph.from_store(folder).digest == _quiet(path).digest


def _quiet(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Graph.from_edges(path, **options)


PEAK = """
import sys, warnings
from pathlib import Path
from adagcn import Graph
from adagcn.formats.nodes import NodeSource
from adagcn.formats.scratch_database import Limits
from adagcn.formats.store_build import EdgeTable, build_store

warnings.simplefilter("ignore")
edges, features, out = map(Path, sys.argv[2:])
if sys.argv[1] == "disk":
    build_store(out, EdgeTable(edges), NodeSource(features), limits=Limits(2**27))
else:
    Graph.from_edges(edges, features=features).to_store(out)
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))
"""


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read on Linux")
def test_memory_stays_below_the_tables(tmp_path):
    """A million edges between named nodes with 200 features: 200 MB as float32."""
    rng = np.random.default_rng(0)
    n_nodes = 250_000
    names = pa.array([f"user-{i:07d}" for i in rng.permutation(n_nodes)])
    columns = {f"x{i}": rng.random(n_nodes, dtype=np.float32) for i in range(200)}
    pq.write_table(pa.table({"id": names, **columns}), tmp_path / "f", row_group_size=2**14)
    ends = rng.integers(n_nodes, size=(2, 1_000_000))
    table = pa.table({"s": names.take(pa.array(ends[0])), "t": names.take(pa.array(ends[1]))})
    pacsv.write_csv(table, tmp_path / "e")
    peaks = {}
    for way in ("disk", "memory"):
        words = [sys.executable, "-c", PEAK, way, tmp_path / "e", tmp_path / "f", tmp_path / way]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        peaks[way] = int(done.stdout) * 1024
    assert peaks["disk"] < 0.7 * peaks["memory"], peaks
    digests = [Graph.from_store(tmp_path / way).digest for way in peaks]
    assert digests[0] == digests[1]
