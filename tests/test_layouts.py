"""Every layout that help pages and documentation list is read as they say."""

from __future__ import annotations

import gzip
import html
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adagcn import Graph
from adagcn.cli import main
from adagcn.formats.layouts import LAYOUTS, Layout

PAGE = Path(__file__).parent.parent / "docs" / "your-tables.md"
EDGES = [("ann", "bob")]
READ = {
    "comma, tab, ; or |": (["ann", "bob"], 1),
    "SNAP's": ([0, 1], 1),
    "runs of spaces": ([0, 1, 12], 2),
    "another separator": ([1, 2, 3], 2),
    "with weights": (["ann", "bob"], 1),
    "JSON, node-link": (["ann", "bob"], 1),
    "JSON, adjacency lists": (["ann", "bob", "eve"], 3),
    "JSON, pairs": (["ann", "bob", "eve"], 2),
    "JSON lines": (["ann", "bob", "eve"], 2),
    "wide": [[31, 1.7]],
    "long": [[1], [0]],
    "JSON, values": [[31, 1.7], [44, 1.8]],
    "JSON, feature numbers": [[7, 12, 90], [12]],
    "JSON, named values": [[31, 0], [0, 1.8]],
    "svmlight": [[2, 6], [1]],
    "two columns": ["spam"],
    "JSON": ["spam", "ham"],
}


def read(layout: Layout, path: Path):
    """Return what a file of this layout gives, in the form of ``READ``."""
    if layout.argument == "edges":
        weight = "weight" if "weight" in layout.example else None
        graph = Graph.from_edges(path, weight=weight, separator=layout.separator)
        return graph.node_ids.tolist(), graph.n_edges
    if layout.argument == "labels":
        graph = Graph.from_edges(EDGES, labels=path)
        return graph.classes[graph.labels[graph.labeled_nodes]].tolist()
    edges = [(0, 1)] if layout.name == "svmlight" else EDGES
    graph = Graph.from_edges([] if layout.name == "wide" else edges, features=path)
    if layout.name in ("JSON, feature numbers", "svmlight"):
        return [graph.features[[i]].indices.tolist() for i in range(2)]
    dense = getattr(graph.features, "toarray", lambda: graph.features)()
    return [[round(float(value), 5) for value in row] for row in dense]


@pytest.mark.filterwarnings("ignore:while reading")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: f"{layout.argument}-{layout.name}")
def test_a_file_of_every_layout_is_read(layout, packed, tmp_path):
    path = tmp_path / "file"  # no ending: the content tells
    content = layout.example.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read(layout, path) == READ[layout.name]


def test_parquet_files_and_folders_are_read(tmp_path):
    for number, row in enumerate((["ann", "bob"], ["bob", "eve"])):
        table = pa.table({"source": [row[0]], "target": [row[1]]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    assert Graph.from_edges(tmp_path / "0.parquet").n_edges == 1
    graph = Graph.from_edges(tmp_path)
    assert (graph.node_ids.tolist(), graph.n_edges) == (["ann", "bob", "eve"], 2)
    vectors = pa.table({"id": ["ann", "bob"], "embedding": [[1.0, 2.0], [3.0, 4.0]]})
    pq.write_table(vectors, tmp_path / "vectors")
    graph = Graph.from_edges(EDGES, features=tmp_path / "vectors")
    assert graph.features.tolist() == [[1, 2], [3, 4]]
    assert graph.feature_names.tolist() == ["embedding[0]", "embedding[1]"]


def test_the_page_shows_every_layout():
    text = html.unescape(PAGE.read_text(encoding="utf-8"))
    for layout in LAYOUTS:
        for line in layout.example.split("\n"):
            assert f"`{line.strip()}`" in text, f"{layout.name}: {line}"


@pytest.mark.parametrize("width", ["80", "200"])
def test_the_help_of_fit_and_of_from_edges_shows_every_layout(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    assert main(["fit", "--help"]) == 0
    shown = capsys.readouterr().out
    for layout in LAYOUTS:
        for line in layout.example.split("\n"):
            assert line in shown
    listed = " ".join(Graph.from_edges.__doc__.split())
    for line in (line for layout in LAYOUTS for line in layout.example.split("\n")):
        assert " ".join(line.split()) in listed


def test_the_python_blocks_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("source,target\nann,bob\nbob,eve\n")
    Path("people.csv").write_text("id,age\nann,31\nbob,44\neve,27\n")
    Path("labels.csv").write_text("id,label\nann,spam\neve,ham\n")
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(block, names)
    assert "edges: 2 rows of comma-separated text" in capsys.readouterr().out
    graph = names["graph"]
    assert graph.features.tolist() == [[31], [44], [27]]
    assert graph.classes[graph.labels[graph.labeled_nodes]].tolist() == ["spam", "ham"]
    assert isinstance(names["frame"], pd.DataFrame)
