"""The examples run as they are, in a folder of their own, and without a warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "tour.ipynb"
# What each says at its end; of those with a folder, what is in it.
SCRIPTS = {
    "own_tables.py": ("predictions are right", {"predictions.csv", "cora.adagcn", "edges.csv"}),
    "compare_models.py": ("label_propagation", set()),
    "hop_features_lightgbm.py": ("most used columns: hop", set()),
    "explain_and_report.py": ("report.html", {"report.html", "reasons.csv"}),
}


def test_all_examples_are_tested():
    assert {path.name for path in EXAMPLES.iterdir()} == {*SCRIPTS, NOTEBOOK.name}


@pytest.mark.full
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_runs(name, tmp_path):
    if name == "hop_features_lightgbm.py":
        pytest.importorskip("lightgbm")
    said, files = SCRIPTS[name]
    words = [sys.executable, "-W", "error", str(EXAMPLES / name), *(["out"] if files else [])]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
    assert {path.name for path in (tmp_path / "out").glob("*")} >= files


def outputs(path: Path) -> list[tuple[str, list[str]]]:
    """Return the kind of every cell of a notebook, and the kinds of its outputs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        (cell["cell_type"], [each["output_type"] for each in cell.get("outputs", [])])
        for cell in cells
    ]


def test_the_notebook_is_committed_with_its_outputs():
    text = NOTEBOOK.read_text(encoding="utf-8")
    kinds = [each for cell, found in outputs(NOTEBOOK) if cell == "code" for each in found]
    assert len(kinds) >= 8
    assert "error" not in kinds
    assert len(text) < 100_000
    assert "stderr" not in text
    assert "/site-packages/" not in text


@pytest.mark.full
def test_the_notebook_runs_and_shows_the_same_kinds_of_output(tmp_path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    out = tmp_path / "tour.ipynb"
    words = [sys.executable, str(ROOT / "tools" / "run_notebook.py"), str(out)]
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert outputs(out) == outputs(NOTEBOOK)
