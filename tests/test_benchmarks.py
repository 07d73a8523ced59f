"""The scripts in ``benchmarks/`` run, at sizes that take seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


def test_all_benchmarks_are_tested():
    assert {path.name for path in FOLDER.glob("*.py")} == {"tables_to_predictions.py"}


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
