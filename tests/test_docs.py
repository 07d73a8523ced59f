"""What the documentation says is what the commands print."""

from __future__ import annotations

import importlib.util
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
