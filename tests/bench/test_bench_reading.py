"""Reading is measured against pyarrow on a file that holds what it says."""

from __future__ import annotations

import json

import pytest

from adagcn.bench.reading import GRAPH, PYARROW, ReadingPlan, measure_reading, write_edges
from adagcn.cli import main
from adagcn.graph import Graph


@pytest.mark.filterwarnings("ignore:while reading")  # random edges repeat
@pytest.mark.parametrize("grouped", [True, False])
def test_the_file_holds_the_edges(tmp_path, grouped):
    plan = ReadingPlan(n_edges=400, repetitions=1)
    write_edges(tmp_path / "edges.csv", plan, seed=0, grouped=grouped)
    lines = (tmp_path / "edges.csv").read_text().splitlines()
    assert len(lines) == 401
    sources = [line.split(",")[0] for line in lines[1:]]
    assert (sources == sorted(sources)) == grouped
    graph = Graph.from_edges(tmp_path / "edges.csv")
    assert graph.n_nodes <= plan.n_nodes
    assert graph.node_ids[0].startswith("user_")


def test_a_section_for_each_order():
    sections = list(measure_reading(ReadingPlan(500, 2), seed=0, tick=lambda: None))
    assert ["grouped" in each.dataset for each in sections] == [True, False]
    for section in sections:
        assert section.row(PYARROW).ratio.median == 1.0
        assert section.row(GRAPH).ratio.median > 0


def test_the_command_prints_its_ratios(capsys):
    assert main(["bench", "reading", "--edges", "500", "--repetitions", "1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [len(section["rows"]) for section in facts["sections"]] == [2, 2]
