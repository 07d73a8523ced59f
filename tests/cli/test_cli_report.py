"""``adagcn report``: pages of models, of tables and of ledgers."""

from __future__ import annotations

import json
import re

import pytest

from adagcn.cli import main

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def fitted(tables, tmp_path_factory):
    path = tmp_path_factory.mktemp("fitted") / "people.adagcn"
    words = ["--preset", "instant", "--out", f"{path}", "--quiet"]
    assert main(["fit", *tables.with_labels, *words]) == 0
    return path


@pytest.fixture(scope="module")
def ledger(tables, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "ledger.sqlite"
    words = ["--models", "logistic,label_propagation", "--splits", "2", "--ledger", f"{path}"]
    assert main(["compare", *tables.with_labels, *words, "--quiet"]) == 0
    return path


def test_a_page_of_a_model_on_own_tables(run_cli, tables, fitted, tmp_path):
    out = tmp_path / "page.html"
    shown = run_cli("report", f"{fitted}", *tables.with_labels, "--out", f"{out}")
    assert shown.code == 0, shown.stderr
    page = out.read_text(encoding="utf-8")
    accuracy = re.search(r"accuracy\s+(\d+\.\d %)", shown.stdout)[1]
    assert accuracy.replace(" ", "&nbsp;") in page
    assert "banana" in page
    assert "<title>adagcn on edges.csv</title>" in page
    assert 'id="advice"' in page
    evaluated = run_cli("evaluate", f"{fitted}", *tables.with_labels, "--json")
    facts = json.loads(evaluated.stdout)
    assert f"{100 * facts['accuracy']:.1f} %" == accuracy


def test_json_holds_the_facts_and_the_page_is_not_replaced(run_cli, tables, fitted, tmp_path):
    out = tmp_path / "page.html"
    words = ["report", f"{fitted}", *tables.with_labels, "--out", f"{out}", "--no-doctor", "--json"]
    first = run_cli(*words, "--metric", "f1_macro")
    facts = json.loads(first.stdout)
    assert facts["bytes"] == out.stat().st_size < 2_000_000
    low, high = facts["interval"]
    assert low < facts["accuracy"] <= high
    assert next(iter(facts["measures"])) == "macro F1"
    assert 'id="advice"' not in out.read_text(encoding="utf-8")
    again = run_cli(*words)
    assert again.code != 0
    assert "--out exists" in again.stderr
    before = out.read_bytes()
    assert run_cli(*words, "--force", "--metric", "f1_macro").code == 0
    assert out.read_bytes() == before


def test_every_label_can_be_scored(run_cli, tables, fitted, tmp_path):
    words = ["--out", f"{tmp_path / 'page.html'}", "--no-doctor", "--split", "none", "--json"]
    shown = run_cli("report", f"{fitted}", *tables.with_labels, *words)
    facts = json.loads(shown.stdout)
    assert facts["nodes"] == 120
    assert "every label is scored" in shown.stderr


def test_a_page_of_a_ledger_and_of_an_export(run_cli, ledger, tmp_path):
    exported = tmp_path / "runs.jsonl.gz"
    assert run_cli("ledger", "export", f"{exported}", "--ledger", f"{ledger}").code == 0
    pages = []
    for number, source in enumerate((ledger, exported)):
        out = tmp_path / f"{number}.html"
        shown = run_cli("report", "--compare", f"{source}", "--out", f"{out}", "--json")
        facts = json.loads(shown.stdout)
        assert facts["runs"] == 4
        assert {each["label"] for each in facts["means"]} == {"logistic", "label_propagation"}
        pages.append(out.read_text(encoding="utf-8").replace(source.name, "NAME"))
    assert pages[0] == pages[1]
    assert "minus " in pages[0]


def test_a_page_of_a_table_trains_nothing(run_cli, tables, ledger, tmp_path):
    spec = tmp_path / "mine.toml"
    spec.write_text(
        f'title = "{SCRIPT}"\nsplits = "holdout"\nn_splits = 3\nn_inits = 1\n'
        f'columns = [{{label = "edges.csv", dataset = "edges.csv", tables = {{edges = '
        f'"{tables.edges}", features = "{tables.features}", labels = "{tables.labels}"}}}}]\n'
        'rows = [{label = "A", model = "logistic", preset = "tuned"},'
        '{label = "B <b>", model = "label_propagation", preset = "paper"}]\n'
        '[paper.A]\n"edges.csv" = [50.0, 1.0]\n',
        encoding="utf-8",
    )
    out = tmp_path / "table.html"
    words = ["report", "--table", f"{spec}", "--ledger", f"{ledger}", "--out", f"{out}"]
    shown = run_cli(*words, "--json")
    assert shown.code == 0, shown.stderr
    facts = json.loads(shown.stdout)
    assert (facts["runs"], facts["planned"]) == (4, 6)
    (gap,) = facts["differences"]
    assert gap["label"] == "A"
    page = out.read_text(encoding="utf-8")
    assert SCRIPT not in page
    assert "<b>" not in page
    assert "2 of 3" in page
    assert "50.00 ± 1.00" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report"], "nothing to write a page about"),
        (["report", "none.adagcn", "cora"], "none.adagcn"),
        (["report", "--compare", "none.sqlite"], "there is no such ledger"),
        (["report", "--table", "table99", "--ledger", "none.sqlite"], "table99"),
        (["report", "--table", "table2", "--ledger", "none.sqlite"], "there is no such ledger"),
        (["report", "--table", "table2", "--compare", "x.sqlite"], "cannot be combined"),
        (["report", "m.adagcn", "cora", "--table", "table2"], "cannot be combined with --table"),
        (["report", "--compare", "x.sqlite", "--edges", "e.csv"], "--edges has no meaning"),
        (["report", "--compare", "x.sqlite", "--split", "val:0"], "--split has no meaning"),
        (["report", "--compare", "x.sqlite", "--ledger", "y"], "--ledger has no meaning"),
        (["report", "--table", "table2", "--id", "name"], "--id has no meaning"),
        (["report", "--compare", "x.sqlite", "--no-doctor"], "--no-doctor has no meaning"),
        (["report", "m.adagcn", "cora", "--import", "x"], "--import has no meaning for MODEL"),
        (["report", "m.adagcn", "cora", "--out", "page.pdf"], "--out must end in .html"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(
    run_cli, tmp_path, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    outcome = run_cli(*words)
    assert outcome.code != 0
    assert message in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_ledger_without_runs_and_another_graph_are_refused(run_cli, fitted, tmp_path):
    empty = tmp_path / "empty.sqlite"
    empty.write_bytes(b"")
    out = ["--out", f"{tmp_path / 'page.html'}"]
    outcome = run_cli("report", "--compare", f"{empty}", *out)
    assert "has no run with accuracy" in outcome.stderr
    assert empty.read_bytes() == b""
    outcome = run_cli("report", f"{fitted}", "cora", *out)
    assert outcome.code != 0
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "page.html").exists()
