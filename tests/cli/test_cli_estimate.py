"""``adagcn estimate`` as a user sees it."""

from __future__ import annotations

import json
from types import SimpleNamespace

from adagcn.cli.guard import run_guarded
from adagcn.data import planted_partition


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


def _tables(folder):
    (folder / "e.csv").write_text("a,b\n1,2\n2,3\n3,4\n4,1\n")
    (folder / "l.csv").write_text("id,label\n1,x\n2,y\n3,y\n4,x\n")
    return ["--edges", str(folder / "e.csv"), "--labels", str(folder / "l.csv")]


def test_large_tables_are_counted_and_not_held(capsys, monkeypatch, tmp_path):
    words = ["estimate", *_tables(tmp_path), "--preset", "instant", "--json"]
    assert run_guarded(words) == 0
    whole = json.loads(capsys.readouterr().out)
    monkeypatch.setattr("adagcn.cli.estimate._LARGE_BYTES", 0)
    monkeypatch.setattr("adagcn.cli.graph_options.GraphOptions.read", None)
    assert run_guarded(words) == 0
    counted = json.loads(capsys.readouterr().out)
    assert counted["graph"] == whole["graph"]
    assert counted["labels"] == whole["labels"]
    assert "reading" in [phase["name"] for phase in counted["phases"]]


def test_about_how_many_is_said(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("adagcn.cli.estimate._LARGE_BYTES", 0)
    monkeypatch.setattr("adagcn.models.estimates.distinct.KEPT", 3)
    assert run_guarded(["estimate", *_tables(tmp_path), "--preset", "instant"]) == 0
    assert "about " in capsys.readouterr().out.partition("model")[0]


def test_tables_that_would_not_fit_are_not_read(capsys, monkeypatch, tmp_path):
    (tmp_path / "e.json").write_text('[{"a": 1, "b": 2}]')
    monkeypatch.setattr("adagcn.cli.estimate._LARGE_BYTES", 0)
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "1MB")
    assert run_guarded(["estimate", "--edges", str(tmp_path / "e.json")]) == 5
    said = capsys.readouterr().err
    assert "these tables can be counted in memory only" in said
    assert "edges is JSON" in said.replace("--edges", "edges")


def test_workers_of_a_store_take_memory(capsys, tmp_path):
    planted_partition(n_nodes=300, n_classes=3, n_features=20, seed=0).to_store(tmp_path / "s")
    words = ["estimate", str(tmp_path / "s"), "--preset", "tuned", "--json"]
    peaks = []
    for more in ([], ["--workers", "2"], ["--engine", "ray", "--workers", "2"]):
        assert run_guarded([*words, *more]) == 0
        facts = json.loads(capsys.readouterr().out)
        peaks.append(facts["peak_bytes"])
    assert facts["workers"] == 2
    assert peaks[0] + 190 * 2**20 < peaks[1] < peaks[2]
    assert run_guarded(["estimate", "cora", "--workers", "2"]) == 3
    assert "--workers would do nothing" in capsys.readouterr().err
    words = ["estimate", "--edges", str(tmp_path / "is-not-read.csv"), "--workers", "2"]
    assert run_guarded(words) == 3
    assert "--workers would do nothing" in capsys.readouterr().err


def test_a_full_disk_is_told(capsys, tmp_path, monkeypatch):
    planted_partition(n_nodes=300, n_classes=3, n_features=20, seed=0).to_store(tmp_path / "s")
    words = ["estimate", str(tmp_path / "s"), "--preset", "tuned"]
    assert run_guarded([*words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["fits"] is facts["fits_on_disk"] is True
    assert facts["missing_disk_bytes"] == facts["disk_bytes"] < facts["free_disk_bytes"]
    monkeypatch.setattr(
        "adagcn.models.estimates.disk_room.shutil.disk_usage", lambda _: SimpleNamespace(free=1000)
    )
    assert run_guarded([*words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["fits"] is facts["fits_on_disk"] is False
    assert facts["free_disk_bytes"] == 1000
    assert run_guarded(words) == 0
    said = capsys.readouterr().out
    assert "0.00 GiB is free" in said
    assert "no: 0.00 GiB to write to the disk, of 0.00 GiB free" in " ".join(said.split())
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "1MB")
    assert run_guarded(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "left and 0.00 GiB to write to the disk" in said
    assert run_guarded(["fit", *words[1:]]) == 5
    monkeypatch.setenv("ADAGCN_MEMORY_LIMIT", "none")
    assert run_guarded(["fit", *words[1:]]) == 5
    missing = facts["missing_disk_bytes"] - 1000
    said = " ".join(capsys.readouterr().err.split())
    assert missing > 10_000
    assert f"Free {missing / 2**20:.2f} MiB more there, or copy the store" in said


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
    assert "--preset tuned" in said
