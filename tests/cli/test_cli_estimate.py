"""``adagcn estimate`` as a user sees it."""

from __future__ import annotations

import json

from adagcn.cli.guard import run_guarded


def test_a_named_data_set(capsys):
    assert run_guarded(["estimate", "cora", "--preset", "instant"]) == 0
    said = capsys.readouterr().out
    assert "2,485 nodes, 10,138 stored edges, 1,433 features, 7 classes" in said
    assert "140 trained on, 500 stopped on" in said
    assert "GiB of memory" in said
    assert "about 0." in said


def test_json_is_one_object(capsys):
    assert run_guarded(["estimate", "cora", "--json", "--set", "n_layers=3", "--train", "50"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["labels"] == {"train": 50, "stop": 500}
    assert facts["fits"] is True
    assert facts["fit_cpu_seconds"] <= facts["most_fit_cpu_seconds"]
    assert {each["change"] for each in facts["cheaper"]} >= {"preset='instant'"}


def test_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert run_guarded(["estimate", "cora"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40


def test_tables_and_a_limit(capsys, monkeypatch, tmp_path):
    (tmp_path / "e.csv").write_text("a,b\n1,2\n2,3\n3,4\n4,1\n")
    (tmp_path / "l.csv").write_text("id,label\n1,<script>\n2,y\n3,y\n4,<script>\n")
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "1MB")
    tables = ["--edges", str(tmp_path / "e.csv"), "--labels", str(tmp_path / "l.csv")]
    assert run_guarded(["estimate", *tables, "--preset", "instant"]) == 0
    said = capsys.readouterr().out
    assert "no: 0." in said
    assert "ADAGCN_MEMORY_LIMIT allows 0.00 GiB" in said


def test_odd_requests(capsys):
    assert run_guarded(["estimate", "cora", "--model", "gat"]) == 3
    assert run_guarded(["estimate", "coral"]) == 3
    assert run_guarded(["estimate", "cora", "--train", "9999999"]) == 3
    assert run_guarded(["estimate"]) == 3
    said = capsys.readouterr().err
    assert "cannot be told in advance; got 'gat'" in said
    assert "n_train must be a number of nodes" in said or "--train" in said


def test_a_refused_fit_speaks_of_options(capsys, monkeypatch):
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "200MB")
    assert run_guarded(["fit", "cora", "--preset", "paper"]) == 5
    said = capsys.readouterr().err
    assert "this fit would take 0." in said
    assert "--set hidden_units=128" in said
