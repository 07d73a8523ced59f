from __future__ import annotations

import json

import pytest

from adagcn.experiments import spec_files

SMALL = {
    "depths": """
title = "By depth"
figure = "depth"
splits = "val"
n_splits = 2
columns = [{ label = "Cora", dataset = "cora" }]
rows = [
  { label = "ridge", model = "adagcn", preset = "instant", settings = { n_layers = 2 } },
  { label = "SGC", model = "sgc", settings = { max_epochs = 2 }, depths = [1, 2] },
]
""",
    "elsewhere": """
title = "Its data are not here"
splits = "holdout"
n_splits = 1
columns = [{ label = "A", dataset = "a", file = "no-such-file.npz" }]
rows = [{ label = "ridge", model = "adagcn", preset = "instant" }]
""",
}


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.setattr(spec_files, "shipped_specs", lambda: SMALL)
    places = ["--ledger", tmp_path / "ledger.sqlite", "--records", tmp_path]
    return ["reproduce", "all", "--no-training", *places]


def test_every_table_and_figure_is_written_and_what_is_missing_is_told(run_cli, command, tmp_path):
    pytest.importorskip("matplotlib", reason="the figure needs the extra report")
    ledger = ["--ledger", tmp_path / "ledger.sqlite"]
    spec = tmp_path / "depths.toml"
    spec.write_text(SMALL["depths"], "utf-8")
    assert run_cli("reproduce", spec, *ledger, "--models", "adagcn").code == 0
    out = tmp_path / "new" / "folder"
    told = run_cli(*command, "--out", out)
    assert told.code == 0, told.stderr
    assert {path.name for path in out.iterdir()} == {"depths.md", "depths.png", "incomplete.md"}
    assert "ridge" in (out / "depths.md").read_text("utf-8")
    assert (out / "incomplete.md").read_text("utf-8").splitlines() == [
        "- depths: SGC, 1 layer has 0 of 2 runs on Cora (time unknown)",
        "- depths: SGC, 2 layers has 0 of 2 runs on Cora (time unknown)",
    ]
    assert "elsewhere: " in told.stderr
    assert "no-such-file.npz" in told.stderr
    assert "4 runs of unknown time" in " ".join(told.stdout.split())
    before = (out / "depths.png").read_bytes()
    assert run_cli(*command, "--out", out).code == 0
    assert (out / "depths.png").read_bytes() == before


def test_as_json_and_without_a_folder(run_cli, command):
    (depths, elsewhere) = run_cli(*command, "--json").facts["experiments"]
    assert depths["standing"]["finished"] == 0
    assert depths["standing"]["planned"] == 6
    assert depths["files"] == []
    assert elsewhere["standing"] is None
    assert "- depths: ridge has 0 of 2 runs" in run_cli(*command).stdout


def test_the_record_of_fits_has_its_table(run_cli, command, tmp_path):
    (tmp_path / "calibration.jsonl").write_text("", "utf-8")
    facts = run_cli(*command, "--out", tmp_path / "out", "--json").facts
    assert facts["bench"] == ["bench-calibration.md"]
    words = {"part": "sets"}
    (tmp_path / "fits.jsonl").write_text(json.dumps({"fit": words, "result": {}}) + "\n", "utf-8")
    outcome = run_cli(*command, "--out", tmp_path / "out")
    assert outcome.code != 0
    assert "other fits than those of adagcn bench fits" in outcome.stderr


def test_recorded_measurements_have_their_tables(run_cli, command, tmp_path):
    (tmp_path / "bench").mkdir()
    record = tmp_path / "bench" / "halo.json"
    record.write_text(run_cli("bench", "halo", "--json").stdout, "utf-8")
    facts = run_cli(*command, "--out", tmp_path / "out", "--json").facts
    assert facts["bench"] == ["bench-halo.md"]
    assert "as given" in (tmp_path / "out" / "bench-halo.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["reproduce", "all"], "trains nothing"),
        (["reproduce", "all", "--no-training", "--models", "gcn"], "--models belongs to one"),
        (["reproduce", "all", "--no-training", "--choices"], "--choices belongs to one"),
        (["reproduce", "all", "--no-training", "--out", __file__], "--out must be a folder"),
        (["reproduce", "table2", "--out", "folder"], "--out is the folder of all experiments"),
    ],
)
def test_what_makes_no_sense_is_refused(run_cli, words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = run_cli(*words)
    assert outcome.code != 0
    assert told in outcome.stderr
