"""The scripts in ``benchmarks/`` run, at sizes that take seconds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"
RESULTS = FOLDER.parent / "results"


def test_all_benchmarks_are_tested():
    assert {path.name for path in FOLDER.glob("*.py")} == {"tables_to_predictions.py"}


def test_the_page_shows_what_is_on_record():
    record = json.loads((RESULTS / "tables_to_predictions.json").read_text("utf-8"))
    page = (FOLDER.parent / "docs" / "guide" / "large-graphs.md").read_text("utf-8")
    assert record["same"] is True
    assert f"{record['nodes']:,} nodes, {record['edges']:,} edges" in page
    for row in record["engines"]:
        cells = [row["engine"], f"{row['seconds']:.0f}", f"{row['predicted']:,}"]
        cells += [f"{row['right']:.1%}", row["model_digest"][:16]]
        assert re.search(r"\n" + r"\s+".join(map(re.escape, cells)) + r"\n", page)


@pytest.mark.full
def test_engines_give_the_same_model_and_the_same_file(tmp_path):
    pytest.importorskip("duckdb")
    engines = ["serial", "processes"]
    words = ["--edges", "20_000", "--layers", "3", "--engines", ",".join(engines), "--json"]
    script = [sys.executable, str(FOLDER / "tables_to_predictions.py"), *words]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["same"] is True
    rows = found["engines"]
    assert [row["engine"].split()[0] for row in rows] == engines
    assert [row["predicted"] for row in rows] == [found["nodes"]] * len(engines)
    for name in ("model_digest", "file_sha256"):
        assert len({row[name] for row in rows}) == 1
    assert min(row["seconds"] for row in rows) > 0
    assert found["machine"]["system"]
    assert found["versions"]["adagcn"]
