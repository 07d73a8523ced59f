from __future__ import annotations

import pytest

from adagcn.data import planted_partition


@pytest.fixture
def command(tmp_path):
    path = tmp_path / "tiny.npz"
    planted_partition(120, 3, 16, seed=0, mean_degree=5).to_npz(path)
    fits = tmp_path / "fits.jsonl"
    return ["bench", "fits", "--datasets", path, "--models", "logistic,bt_fp", "--keep", fits]


def test_fits_are_measured_kept_and_shown_again(run_cli, command, tmp_path):
    first = run_cli(*command, "--runs", 1, "--json")
    assert first.code == 0, first.stderr
    assert [row["label"] for row in first.facts["rows"]] == ["BT.FP", "logistic"]
    (cost,) = first.facts["rows"][0]["costs"].values()
    assert cost["n"] == 1
    assert cost["fit_seconds"] > 0.0
    text = (tmp_path / "fits.jsonl").read_text()
    assert run_cli(*command, "--no-training", "--json").facts == first.facts
    assert (tmp_path / "fits.jsonl").read_text() == text
    shown = run_cli(*command, "--no-training", "--format", "md").stdout
    assert shown.startswith("| CPU seconds, fit + prediction | preset | tiny.npz |")
    assert "(n = 1) |" in shown


def test_what_is_not_recorded_is_told(run_cli, command):
    run_cli(*command, "--runs", 1)
    wider = [*command[:5], "logistic,mlp", *command[6:]]
    outcome = run_cli(*wider, "--no-training")
    assert outcome.code == 0
    assert "1 cell without a recorded fit" in outcome.stderr
    assert "–" in outcome.stdout


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--no-training"], "--keep names none that exists"),
        (["--presets", "released"], "the options leave no system"),
        (["--presets", "fast"], "--presets has an unknown name; got 'fast'"),
        (["--runs", 0], "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_done_is_refused(run_cli, command, more, words):
    outcome = run_cli(*command, *more)
    assert outcome.code != 0
    assert words in outcome.stderr
