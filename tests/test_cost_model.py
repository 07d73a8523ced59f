"""The table of the cost model is what its tool prints."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_has_the_table_of_the_tool():
    printed = runpy.run_path(str(ROOT / "tools" / "cost_model.py"))["table"]()
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
    saved = ratios["by community"][1] / ratios["as given (scattered)"][1]  # 128 blocks
    assert runpy.run_path(str(ROOT / "tools" / "cost_model.py"))["NEAR"] == round(saved, 2)


def test_the_rates_are_those_of_the_record():
    record = json.loads((ROOT / "results" / "bench" / "scale-hop.json").read_text(encoding="utf-8"))
    hop = max(
        (each["facts"] for each in record["sections"] if each["key"] == "stored_hop"),
        key=lambda facts: facts["n_stored"],
    )
    per_core = hop["n_stored"] * hop["n_features"] / median(hop["memory"]) / record["threads"]
    rate = runpy.run_path(str(ROOT / "tools" / "cost_model.py"))["MULTIPLICATIONS"]
    assert round(per_core / 1e9, 1) == rate / 1e9
    written = hop["n_bytes"] / (hop["write"] + hop["sync"] + hop["hash"])
    page = (ROOT / "docs" / "cost-model.md").read_text(encoding="utf-8")
    assert f"assumed; {written / 1e9:.1f} GB/s in the same record" in page


def test_machines_buy_time_and_communities_save_bytes():
    tool = runpy.run_path(str(ROOT / "tools" / "cost_model.py"))
    for graph in tool["GRAPHS"]:
        assert graph.seconds(128, 1.0) < graph.seconds(16, 1.0) < graph.seconds(1, 1.0)
        assert graph.seconds(16, tool["NEAR"]) < graph.seconds(16, 1.0)
