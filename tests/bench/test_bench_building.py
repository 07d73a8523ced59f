"""Building a store is measured against DuckDB's sort of the same edges."""

from __future__ import annotations

import json

import pytest

from adagcn.bench.building import (
    DUCKDB,
    STORE,
    BuildingPlan,
    measure_building,
    write_power_law,
)
from adagcn.cli import main
from adagcn.graph import Graph

pytest.importorskip("duckdb")


@pytest.mark.filterwarnings("ignore:while reading")  # random edges repeat
def test_the_file_holds_a_power_law(tmp_path):
    plan = BuildingPlan(n_edges=5_000, repetitions=1)
    write_power_law(tmp_path / "edges.csv", plan, seed=0)
    assert len((tmp_path / "edges.csv").read_text().splitlines()) == 5_001
    graph = Graph.from_edges(tmp_path / "edges.csv")
    degrees = sorted(graph.adjacency.sum(axis=1), reverse=True)
    assert degrees[0] > 5 * degrees[graph.n_nodes // 2]


def test_a_row_for_each_way():
    (section,) = measure_building(BuildingPlan(500, 2), seed=0, tick=lambda: None)
    assert section.row(DUCKDB).ratio.median == 1.0
    assert section.row(STORE).ratio.median > 0


def test_the_command_prints_its_ratios(capsys):
    assert main(["bench", "building", "--edges", "500", "--repetitions", "1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [len(section["rows"]) for section in facts["sections"]] == [2]
