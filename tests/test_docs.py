"""What the documentation says is what the commands print."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.dataset
@pytest.mark.slow
def test_tables_of_the_documentation_are_what_the_ledger_prints(dataset_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("ADAGCN_DATA", str(dataset_dir))  # a run is known by the digest of its data
    path = ROOT / "tools" / "fill_tables.py"
    spec = importlib.util.spec_from_file_location("fill_tables", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    ledger = tool.fresh_ledger(tmp_path)
    n_tables = 0
    for page in tool.PAGES:
        text = page.read_text(encoding="utf-8")
        n_tables += text.count("<!-- adagcn reproduce ")
        assert tool.filled(text, ledger) == text, f"run tools/fill_tables.py: {page.name}"
    assert n_tables > 5


def test_numbers_of_the_readme_stand_in_the_tables():
    (_, after) = (ROOT / "README.md").read_text(encoding="utf-8").split("## What it reaches\n")
    rows = [line for line in after.split("\n## ")[0].splitlines() if "here, preset" in line]
    numbers = [re.findall(r"\d+\.\d+ \[\d+\.\d+, \d+\.\d+\]", row) for row in rows]
    tables = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert [len(row) for row in numbers] == [4, 4]
    for number in itertools.chain.from_iterable(numbers):
        assert f" {number}" in tables, f"the README has {number}, the tables do not"
