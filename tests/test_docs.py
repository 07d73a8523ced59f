"""What the documentation says is what the commands print."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path

import pytest

from adagcn.cli import main

ROOT = Path(__file__).parent.parent


@pytest.mark.dataset
@pytest.mark.slow
def test_tables_of_the_documentation_are_what_the_ledger_prints(dataset_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("ADAGCN_DATA", str(dataset_dir))  # a run is known by the digest of its data
    if not (Path(dataset_dir) / "development").is_dir():
        pytest.skip("the development graphs of one table are not in the data folder")
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


@pytest.mark.dataset
@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_numbers"), [("citeseer", 5), ("cora_ml", 5), ("pubmed", 3)])
def test_numbers_without_features_are_what_the_ledger_prints(
    dataset_dir, tmp_path, monkeypatch, capsys, name, n_numbers
):
    monkeypatch.setenv("ADAGCN_DATA", str(dataset_dir))
    ledger = ["--ledger", str(tmp_path / "ledger.sqlite")]
    assert main(["ledger", "import", str(ROOT / "results" / "ledger.jsonl.gz"), *ledger]) == 0
    page = (ROOT / "docs" / "your-tables.md").read_text(encoding="utf-8")
    words = ["compare", name, "--no-features", "--no-training", "--splits", "5", *ledger]
    found = []
    for more in (
        ["--models", "adagcn", "--presets", "tuned"],
        ["--models", "gcn,appnp,label_propagation"],
        ["--models", "adagcn", "--presets", "tuned", "--set", "max_features=all"],
    ):
        capsys.readouterr()
        assert main([*words, *more]) == 0
        shown = capsys.readouterr().out.split("Mean accuracy")[0]
        found += re.findall(r" 5  (\d+\.\d+ \[\d+\.\d+, \d+\.\d+\])", shown)
    assert len(found) == n_numbers
    for number in found:
        assert f"| {number} |" in page


def test_numbers_of_the_readme_stand_in_the_tables():
    (_, after) = (ROOT / "README.md").read_text(encoding="utf-8").split("## What it reaches\n")
    rows = [line for line in after.split("\n## ")[0].splitlines() if "here, preset" in line]
    numbers = [re.findall(r"\d+\.\d+ \[\d+\.\d+, \d+\.\d+\]", row) for row in rows]
    tables = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert [len(row) for row in numbers] == [4, 4, 4, 4]
    for number in itertools.chain.from_iterable(numbers):
        assert f" {number}" in tables, f"the README has {number}, the tables do not"


def test_the_algorithm_page_points_at_what_exists():
    """Every function that docs/algorithm.md names is in the file that it names."""
    page = (ROOT / "docs" / "algorithm.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row.split("|")[1]) for row in rows] == list(range(1, 12))
    files = {name: ROOT / "src" / "adagcn" / name for name in re.findall(r"(\w+/\w+\.py)\]", page)}
    assert len([name for name in files if name != "support/presets.py"]) == 6
    for row in rows:
        for names, file in re.findall(r"((?:`[\w.]+`[^`|]*?)+) in \[?([\w/]+\.py)", row):
            text = files[file].read_text(encoding="utf-8")
            for name in re.findall(r"`([\w.]+)`", names):
                for part in name.split("."):
                    assert re.search(rf"^\s*(def|class) {part}\b", text, re.M), (name, file)


def test_links_of_the_documentation_lead_somewhere():
    for page in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
