"""The table of the cost model is what its tool prints."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_has_the_table_of_the_tool():
    printed = runpy.run_path(str(ROOT / "tools" / "cost_model.py"))["table"]()
    assert printed in (ROOT / "docs" / "cost-model.md").read_text(encoding="utf-8")


def test_what_an_order_saves_is_that_of_the_page():
    page = (ROOT / "docs" / "cost-model.md").read_text(encoding="utf-8")
    rows = {
        cells[1].strip(): [float(each) for each in cells[2:5]]
        for cells in (line.split("|") for line in page.splitlines() if line.startswith("|"))
        if len(cells) == 6 and re.fullmatch(r"[\d.]+", cells[2].strip())
    }
    saved = rows["by community"][1] / rows["as given (scattered)"][1]  # 128 blocks
    assert runpy.run_path(str(ROOT / "tools" / "cost_model.py"))["NEAR"] == round(saved, 2)


def test_machines_buy_time_and_communities_save_bytes():
    tool = runpy.run_path(str(ROOT / "tools" / "cost_model.py"))
    for graph in tool["GRAPHS"]:
        assert graph.seconds(128, 1.0) < graph.seconds(16, 1.0) < graph.seconds(1, 1.0)
        assert graph.seconds(16, tool["NEAR"]) < graph.seconds(16, 1.0)
