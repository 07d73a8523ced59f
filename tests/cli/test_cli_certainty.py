"""``fit --calibrate --conformal``, ``predict --coverage`` and what ``evaluate`` says of them."""

from __future__ import annotations

import csv
import io
import json

import pytest
from pyarrow import parquet

from adagcn.formats.result_files import lists_as_text
from adagcn.models.support.prediction_table import prediction_table, with_sets
from tests.cli.conftest import write_rows

FIT = ["--model", "sgc", "--set", "max_epochs=30", "--stop", "0.5"]

pytestmark = pytest.mark.filterwarnings("ignore::adagcn.CalibrationNotice")


@pytest.fixture(scope="module")
def sure(tables, tmp_path_factory):
    from adagcn.cli import main

    path = tmp_path_factory.mktemp("sure") / "m.adagcn"
    words = ["--calibrate", "temperature", "--conformal", "0.5", "--out", str(path)]
    assert main(["fit", *tables.with_labels, *FIT, *words]) == 0
    return path


def test_fit_tells_of_temperature_and_calibration_nodes(run_cli, tables):
    words = ["fit", *tables.with_labels, *FIT, "--calibrate", "temperature", "--conformal", "0.5"]
    facts = run_cli(*words, "--json").facts
    assert facts["calibrate"] == "temperature"
    assert facts["temperature"] > 0
    counts = {"known": 120, "train": 49, "stop": 23, "score": 24, "calibration": 24}
    assert facts["labels"] == counts
    shown = " ".join(run_cli(*words).stdout.split())
    assert "23 stopped on, 24 scored, 24 for prediction sets" in shown
    assert "24 calibration nodes; any coverage up to 96.0 %" in shown
    plain = run_cli("fit", *tables.with_labels, *FIT, "--json").facts
    assert plain["labels"] == {"known": 120, "train": 49, "stop": 47, "score": 24}
    assert plain["temperature"] is None


def test_a_refit_keeps_calibration_nodes_too(run_cli, tables, tmp_path):
    out = tmp_path / "m.adagcn"
    words = ["--conformal", "0.5", "--refit", "--json", "--out", out]
    facts = run_cli("fit", *tables.with_labels, *FIT, *words).facts
    assert facts["refit"]["labels"]["calibration"] == 30
    assert run_cli("predict", out, *tables.options, "--coverage", "0.9").code == 0
    outcome = run_cli("evaluate", out, *tables.with_labels, "--stop", "0.5")
    assert "the coverage holds only if none of them is scored" in outcome.stderr


def test_predict_adds_sets(run_cli, tables, sure, tmp_path):
    outcome = run_cli("predict", sure, *tables.options, "--coverage", "0.9")
    rows = list(csv.DictReader(io.StringIO(outcome.stdout)))
    sets = [json.loads(row["set"]) for row in rows]
    assert [len(each) for each in sets] == [int(row["set_size"]) for row in rows]
    right = [tables.truth[row["id"]] in each for row, each in zip(rows, sets, strict=True)]
    assert sum(right) / len(right) > 0.8
    for name in ("p.jsonl", "p.parquet", "p.csv"):
        run_cli("predict", sure, *tables.options, "--coverage", "0.9", "--out", tmp_path / name)
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [line["set"] for line in lines] == sets
    assert [row["set"] for row in parquet.read_table(tmp_path / "p.parquet").to_pylist()] == sets
    assert (tmp_path / "p.csv").read_text() == outcome.stdout
    facts = run_cli("predict", sure, *tables.options, "--coverage", "0.9", "--json").facts
    assert facts["coverage"] == 0.9
    assert facts["mean_set_size"] == pytest.approx(sum(map(len, sets)) / len(sets))
    assert sum(facts["sets_by_size"].values()) == 160
    assert [row["set"] for row in facts["predictions"]] == sets


def test_without_coverage_there_are_no_sets(run_cli, tables, sure):
    outcome = run_cli("predict", sure, *tables.options)
    assert outcome.stdout.splitlines()[0] == '"id","label","probability","margin"'


@pytest.mark.parametrize("coverage", ["1.2", "nan", "0", "1", "-1"])
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_wrong_coverage_is_one_line(run_cli, tables, sure, command, coverage):
    outcome = run_cli(command, sure, *tables.with_labels, "--coverage", coverage)
    assert outcome.code == 3
    assert outcome.stdout == ""
    assert "--coverage must be a number above 0 and below 1" in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_too_few_calibration_nodes_are_told(run_cli, tables, sure):
    outcome = run_cli("predict", sure, *tables.options, "--coverage", "0.99")
    assert outcome.code == 3
    assert "--coverage 0.99 needs at least 99 calibration nodes" in outcome.stderr
    assert "larger --conformal, or ask for at most --coverage 0.96" in outcome.stderr


def test_a_model_without_calibration_nodes_says_what_to_do(run_cli, tables, tmp_path):
    out = tmp_path / "m.adagcn"
    run_cli("fit", *tables.with_labels, *FIT, "--out", out)
    for command in ("predict", "evaluate"):
        outcome = run_cli(command, out, *tables.with_labels, "--coverage", "0.9")
        assert outcome.code == 3
        assert "no calibration nodes" in outcome.stderr
        assert "Fit it with --conformal 0.5" in outcome.stderr
    facts = run_cli("evaluate", out, *tables.with_labels, "--stop", "0.5", "--json").facts
    assert facts["prediction_sets"] is None
    assert 0 <= facts["calibration"]["expected_calibration_error"] <= 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--conformal", "1.5"], "--conformal must be a share between 0 and 1, or a whole number"),
        (["--conformal", "47"], "of which there are 47; got 47."),
        (["--conformal", "nan"], "--conformal must be a share"),
        (["--conformal", "0.001"], "or raise --stop"),
        (["--calibrate", "temperature", "--set", "calibrate=temperature"], "exclude each other"),
        (["--set", "calibrate=platt"], "--calibrate must be 'temperature' or None; got 'platt'"),
        (["--calibrate", "temperature", "--stop", "0"], "--calibrate temperature needs labeled"),
    ],
)
def test_wrong_words_of_fit_are_one_line(run_cli, tables, words, message):
    outcome = run_cli("fit", *tables.with_labels, *FIT, *words)
    assert outcome.code == 3
    assert message in outcome.stderr
    assert outcome.stdout == ""


def test_evaluate_measures_calibration_and_coverage(run_cli, tables, sure):
    words = ["evaluate", sure, *tables.with_labels, "--stop", "0.5"]
    outcome = run_cli(*words, "--json")
    facts = outcome.facts
    assert "only if" not in outcome.stderr  # the digest vouches for the calibration nodes
    assert facts["labels"]["calibration"] == 24
    curve = facts["calibration"]["reliability"]
    assert sum(each["n_nodes"] for each in curve) == facts["nodes"] == 24
    gaps = [each["n_nodes"] * abs(each["accuracy"] - each["confidence"]) for each in curve]
    assert facts["calibration"]["expected_calibration_error"] == pytest.approx(sum(gaps) / 24)
    sets = facts["prediction_sets"]
    assert (sets["nominal"], sets["calibration_nodes"], sets["n_nodes"]) == (0.9, 24, 24)
    assert sum(each["n_nodes"] for each in sets["by_class"]) == 24
    assert run_cli(*words, "--coverage", "0.5", "--json").facts["prediction_sets"]["nominal"] == 0.5
    shown = run_cli(*words).stdout
    for part in ("calibration error", "temperature", "hold the true label (90.0 % asked)"):
        assert part in " ".join(shown.split())
    assert "confidence" in shown.splitlines()[-2 - len(curve)]


def test_coverage_is_never_measured_on_calibration_nodes(run_cli, tables, sure):
    everything = ["evaluate", sure, *tables.with_labels, "--split", "none"]
    outcome = run_cli(*everything, "--json")
    assert outcome.facts["prediction_sets"] is None
    assert "coverage is not measured: every label is scored" in outcome.stderr
    refused = run_cli(*everything, "--coverage", "0.9")
    assert refused.code == 3
    assert "AGC-I1363" in refused.stderr
    other = run_cli("evaluate", sure, *tables.with_labels, "--split", "holdout:1", "--stop", "0.5")
    assert "only if none of them is scored" in other.stderr


def test_odd_labels_stay_text_in_sets(run_cli, tables, tmp_path):
    odd = {"apple": "=cmd()", "banana": "<script>alert(1)</script>", "cherry": 'a "b", \x1b[31m'}
    labels = tmp_path / "labels.csv"
    known = [[n, odd[fruit]] for k, (n, fruit) in enumerate(tables.truth.items()) if k % 4]
    write_rows(labels, ["name", "fruit"], known)
    out = tmp_path / "m.adagcn"
    words = [*tables.options, "--labels", labels, *FIT, "--conformal", "0.5", "--out", out]
    assert run_cli("fit", *words).code == 0
    printed = run_cli("predict", out, *tables.options, "--coverage", "0.95").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    found = {label for row in rows for label in json.loads(row["set"])}
    assert found == set(odd.values())
    assert not any(row["set"].startswith(("=", "+", "-", "@")) for row in rows)


def test_sets_of_numbers_stay_numbers():
    import numpy as np

    from adagcn.explain.prediction_sets import PredictionSets

    classes = np.array([3, 7])
    sets = PredictionSets(np.array([[True, True], [False, False]]), classes, 0.9, 0.1)
    table = with_sets(
        prediction_table(np.array([10, 11]), np.array([[0.6, 0.4], [0.2, 0.8]]), classes), sets
    )
    assert table["set"].to_pylist() == [[3, 7], []]
    assert lists_as_text(table)["set"].to_pylist() == ["[3, 7]", "[]"]
