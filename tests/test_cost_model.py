"""The table of the cost model is what its tool prints."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parent.parent


def tool():
    return runpy.run_path(str(ROOT / "tools" / "cost_model.py"))


def test_the_page_has_the_table_of_the_tool():
    printed = tool()["table"]()
    assert printed in (ROOT / "docs" / "cost-model.md").read_text(encoding="utf-8")


def test_halos_and_what_an_order_saves_are_those_of_the_record():
    record = json.loads((ROOT / "results" / "bench" / "halo.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "cost-model.md").read_text(encoding="utf-8")
    ratios = {
        name: [section_row["ratio"]["median"] for section_row in rows]
        for name, *rows in zip(
            [row["name"] for row in record["sections"][0]["rows"]],
            *(section["rows"] for section in record["sections"]),
            strict=True,
        )
    }
    for name, found in ratios.items():
        assert f"| {name} | {' | '.join(f'{each:.1f}' for each in found)} |" in page
    scattered = ratios["as given (scattered)"][1]  # 128 blocks
    order = tool()["ORDERS"][1]
    assert order.needed == round(ratios["by community"][1] / scattered, 2)
    assert order.together == round(2 / scattered, 2)  # 128 blocks of 64 communities


def test_the_rates_are_those_of_the_record():
    record = json.loads((ROOT / "results" / "bench" / "scale-hop.json").read_text(encoding="utf-8"))
    hop = max(
        (each["facts"] for each in record["sections"] if each["key"] == "stored_hop"),
        key=lambda facts: facts["n_stored"],
    )
    per_core = hop["n_stored"] * hop["n_features"] / median(hop["memory"]) / record["threads"]
    assert round(per_core / 1e9, 1) == tool()["MULTIPLICATIONS"] / 1e9
    written = hop["n_bytes"] / (hop["write"] + hop["sync"] + hop["hash"])
    assert round(written / 1e9, 1) == tool()["WRITING"] / 1e9
    page = (ROOT / "docs" / "cost-model.md").read_text(encoding="utf-8")
    assert f"| writing, syncing and hashing | {written / 1e9:.1f} GB/s | measured" in page
    assert page.count("| measured: ") == 2
    assert page.count("| assumed") == 6


def test_scattered_rows_cost_a_page_each_until_the_whole_file_is_less(monkeypatch):
    model = tool()
    scattered, near = model["ORDERS"]
    graph = model["Sizes"]("large", 1e8, 2e9, 128)
    assert graph.read(1, scattered) == 2.1e9 * 4096
    assert graph.read(16, scattered) == graph.read(1, scattered)
    assert graph.read(1, near) == pytest.approx(2.1e9 * (0.22 * 4096 + 0.12 * 512))
    wide = model["Sizes"]("wide", 1e8, 2e9, 2048)
    assert wide.read(1, scattered) == wide.needed(scattered) == 2.1e9 * 8192
    small = model["Sizes"]("small", 1e7, 1e9, 128)
    assert small.read(3, scattered) == 3 * small.hop_bytes  # a machine reads each page once
    monkeypatch.setitem(model["Sizes"].read.__globals__, "MEMORY", 1e9)
    assert small.read(3, scattered) == small.blocks * small.hop_bytes
    assert small.read(3, near) < small.blocks * small.hop_bytes


def test_machines_buy_time_and_communities_save_bytes():
    model = tool()
    scattered, near = model["ORDERS"]
    for graph in model["GRAPHS"]:
        assert graph.seconds(16, scattered) < graph.seconds(1, scattered)
        assert graph.seconds(16, near) < graph.seconds(16, scattered)
    for graph in model["GRAPHS"][1:]:
        assert graph.seconds(128, scattered) < graph.seconds(16, scattered) / 7
        assert graph.seconds(1, near) < graph.seconds(1, scattered) / 4
