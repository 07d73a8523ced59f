"""Ledgers of version 1, whose settings had other names: every finished run keeps its place."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from adagcn.cli import main
from adagcn.errors import FormatError, IntegrityError
from adagcn.experiments.exchange import export_ledger, import_ledger
from adagcn.experiments.ledger import Ledger
from adagcn.models.support.renamed import BOOSTED, NEW_NAMES, renamed

FOLDER = Path(__file__).parent / "version1"


@pytest.fixture
def old(tmp_path):
    """A ledger that the release before wrote: two models on two splits of the packaged Cora."""
    return Path(shutil.copy(FOLDER / "ledger.sqlite", tmp_path / "old.sqlite"))


def raw(path):
    with sqlite3.connect(path) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        rows = connection.execute("SELECT key, params, accuracy FROM runs ORDER BY key").fetchall()
    return version, rows


def test_looking_at_an_old_ledger_changes_no_byte(old):
    before = old.read_bytes()
    with Ledger(old) as ledger:
        rows = list(ledger.rows())
        found = ledger.results(row.run for row in rows)
    assert len(rows) == 4
    assert found == {row.key: row.result for row in rows}
    assert [row.key for row in rows] == sorted(row.run.key for row in rows)
    assert old.read_bytes() == before


def test_an_old_ledger_is_brought_up_to_date_when_something_is_added(old):
    version, before = raw(old)
    assert version == 1
    assert any("adopted_nodes" in params for _, params, _ in before)
    with Ledger(old) as ledger:
        rows = list(ledger.rows())
        ledger.add(rows[0].run, rows[0].result)
    version, after = raw(old)
    assert version == 4
    assert len(after) == len(before) == 4
    assert sorted(accuracy for *_, accuracy in after) == sorted(a for *_, a in before)
    assert all(row.key == row.run.key for row in rows)
    for row in rows:
        assert not NEW_NAMES.keys() & row.run.params.keys() or row.run.model not in BOOSTED
    with Ledger(old) as again:
        assert list(again.rows()) == rows


def test_the_same_experiment_finds_its_old_runs_and_trains_nothing(old, capsys):
    words = ["compare", "cora", "--models", "adagcn,gcn", "--splits", "2", "--inits", "1"]
    words += ["--presets", "tuned,paper"]  # the defaults when the runs were made
    words += ["--set", "max_epochs=2", "--ledger", str(old), "--no-training", "--json"]
    assert main(words) == 0
    cells = json.loads(capsys.readouterr().out)["rows"]
    found = [cell for cell in cells if cell["mean"] is not None]  # adagcn has no run of paper
    assert {cell["model"]: round(100 * cell["mean"], 2) for cell in found} == {
        "adagcn": 68.95,
        "gcn": 39.13,
    }


def test_an_old_export_is_read_under_the_new_names(tmp_path):
    source = FOLDER / "export.jsonl.gz"
    header, *lines = gzip.open(source, "rt").read().splitlines()
    assert json.loads(header)["version"] == 1
    with Ledger(tmp_path / "new.sqlite") as ledger:
        assert import_ledger(ledger, source) == len(lines)
        assert import_ledger(ledger, source) == 0
        rows = {row.result.model_digest: row for row in ledger.rows()}
        export_ledger(ledger, tmp_path / "new.jsonl.gz")
    for line in lines:
        record = json.loads(line)
        run = rows[record["result"]["model_digest"]].run
        assert run.params == renamed(run.model, record["run"]["params"])
        assert len(run.params) == len(record["run"]["params"])
        assert rows[record["result"]["model_digest"]].result.model_dump() == {
            **record["result"],
            "scores": {},
            "right": None,
            "scored_digest": None,
            "fit_cpu_seconds": None,
            "predict_cpu_seconds": None,
            "choices": {},
        }
    assert json.loads(gzip.open(tmp_path / "new.jsonl.gz", "rt").readline())["version"] == 4
    with Ledger(tmp_path / "third.sqlite") as ledger:
        assert import_ledger(ledger, tmp_path / "new.jsonl.gz") == len(lines)


def test_a_forged_key_of_an_old_export_is_refused(tmp_path):
    header, first, *_ = gzip.open(FOLDER / "export.jsonl.gz", "rt").read().splitlines()
    record = json.loads(first)
    record["run"]["seed"] += 1
    forged = tmp_path / "forged.jsonl.gz"
    forged.write_bytes(gzip.compress(f"{header}\n{json.dumps(record)}\n".encode()))
    with (
        Ledger(tmp_path / "l.sqlite") as ledger,
        pytest.raises(IntegrityError, match="does not match its content"),
    ):
        import_ledger(ledger, forged)


def test_a_newer_export_is_refused(tmp_path):
    path = tmp_path / "newer.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"format":"adagcn-ledger","version":5}\n'))
    with (
        Ledger(tmp_path / "l.sqlite") as ledger,
        pytest.raises(FormatError, match="not an export, or one of a newer release"),
    ):
        import_ledger(ledger, path)
