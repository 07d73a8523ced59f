from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def filled(tables, tmp_path_factory):
    from adagcn.cli import main

    path = tmp_path_factory.mktemp("ledgers") / "ledger.sqlite"
    words = ["compare", *tables.with_labels, "--models", "logistic", "--set", "C=100"]
    assert main([*words, "--splits", "3", "--ledger", str(path)]) == 0
    return path


def test_show_counts_runs(run_cli, filled):
    outcome = run_cli("ledger", "show", "--ledger", filled)
    assert outcome.code == 0
    assert "logistic" in outcome.stdout
    assert f"3 runs in {filled}" in outcome.stdout
    facts = run_cli("ledger", "show", "--ledger", filled, "--json").facts
    assert facts["n"] == len(facts["rows"]) == 3
    (group,) = facts["groups"]
    assert (group["model"], group["preset"], group["splits"]) == ("logistic", "tuned", "holdout")
    accuracies = [row["result"]["accuracy"] for row in facts["rows"]]
    assert group["mean"] == pytest.approx(sum(accuracies) / 3)
    assert facts["newest"] == max(row["result"]["finished"] for row in facts["rows"])
    assert facts["rows"][0]["result"]["versions"]["adagcn"]


def test_there_and_back(run_cli, filled, tmp_path):
    export, new = tmp_path / "ledger.jsonl.gz", tmp_path / "new.sqlite"
    facts = run_cli("ledger", "export", export, "--ledger", filled, "--json").facts
    assert facts["runs"] == 3
    assert facts["bytes"] == export.stat().st_size
    assert run_cli("ledger", "import", export, "--ledger", new, "--json").facts["new"] == 3
    assert run_cli("ledger", "import", export, "--ledger", new).stdout == "0 new runs imported\n"
    shown = [run_cli("ledger", "show", "--ledger", path, "--json").facts for path in (filled, new)]
    assert shown[0]["rows"] == shown[1]["rows"]


def test_files_are_not_replaced_or_made_by_accident(run_cli, filled, tmp_path):
    export = tmp_path / "old"
    export.write_text("precious")
    outcome = run_cli("ledger", "export", export, "--ledger", filled)
    assert outcome.code == 3
    assert export.read_text() == "precious"
    assert run_cli("ledger", "export", export, "--ledger", filled, "--force").code == 0
    for command in (["show"], ["export", tmp_path / "new"]):
        outcome = run_cli("ledger", *command, "--ledger", tmp_path / "none")
        assert outcome.code == 3
        assert "there is no ledger" in outcome.stderr
    assert not (tmp_path / "none").exists()


def test_what_is_no_ledger_is_refused(run_cli, tmp_path):
    (tmp_path / "x").write_text("some text that is long enough to be read as a page" * 9)
    outcome = run_cli("ledger", "show", "--ledger", tmp_path / "x")
    assert outcome.code == 3
    assert "is not a ledger, or is damaged" in outcome.stderr
    outcome = run_cli("ledger", "import", tmp_path / "x", "--ledger", tmp_path / "y")
    assert outcome.code == 3
    assert "cannot be unpacked" in outcome.stderr
