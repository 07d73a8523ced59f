from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from adagcn.experiments import campaign
from adagcn.experiments.statistics import summarize

QUICK = [
    "--set", "max_epochs=12", "--set", "hidden_units=8", "--set", "adagcn.n_layers=3",
    "--models", "adagcn,mlp",
]  # fmt: skip


@pytest.fixture
def ledger(tmp_path):
    return ["--ledger", tmp_path / "ledger.sqlite"]


def test_a_users_graph_is_compared_in_one_command(run_cli, tables, tmp_path, ledger):
    figure = tmp_path / "models.png"
    words = ["--models", "adagcn,mlp,logistic", "--set", "adagcn.n_layers=3", "--splits", 2]
    outcome = run_cli("compare", *tables.with_labels, *words, *ledger, "--figure", figure)
    assert outcome.code == 0, outcome.stderr
    for model in ("adagcn", "mlp", "logistic"):
        assert f"\n{model}" in outcome.stdout
    assert "95 % bootstrap interval" in outcome.stdout
    assert "mlp − adagcn: " in outcome.stdout
    told = " ".join(outcome.stdout.split())
    assert re.search(
        r"mlp − adagcn: \S+ points, over splits \[.*?\], over splits and nodes \[", told
    )
    assert "older runs" not in told
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_the_same_bytes_again_and_with_any_workers(run_cli, tables, tmp_path, monkeypatch):
    words = ["compare", *tables.with_labels, *QUICK, "--splits", 2, "--inits", 2, "--json"]
    first = run_cli(*words, "--ledger", tmp_path / "a", "--workers", 2)
    assert first.code == 0, first.stderr
    alone = run_cli(*words, "--ledger", tmp_path / "b")
    assert alone.stdout == first.stdout

    def refuse(run, graph, split):
        raise AssertionError("nothing should be trained")

    monkeypatch.setattr(campaign, "execute", refuse)
    assert run_cli(*words, "--ledger", tmp_path / "a").stdout == first.stdout
    rows = first.facts["rows"]
    assert [(row["model"], row["preset"], row["n"]) for row in rows] == [
        ("adagcn", "adaptive", 4),
        ("mlp", "tuned", 4),
    ]
    places = [(run["split"], run["init"]) for run in rows[0]["runs"]]
    assert places == [(f"holdout:{split}", init) for split in (0, 1) for init in (0, 1)]
    for interval in (rows[0]["interval"], rows[0]["node_interval"]):
        assert interval[0] <= rows[0]["mean"] <= interval[1]
    assert len(rows[1]["against_first"]["node_interval"]) == 2
    assert rows[0]["dataset"] == "edges.csv"
    assert "seconds" not in first.stdout


def test_a_run_is_what_fit_gives(run_cli, tables, ledger, tmp_path):
    shared = [*tables.with_labels, "--set", "n_layers=3", "--set", "max_epochs=12", "--json"]
    row = run_cli("compare", *shared, "--models", "adagcn", "--splits", 2, *ledger).facts["rows"][0]
    fitted = run_cli("fit", *shared, "--split", "holdout:1").facts
    assert row["runs"][1]["accuracy"] == fitted["accuracy"]
    kept = run_cli("ledger", "show", *ledger, "--json").facts["rows"]
    digests = {each["run"]["split"]: each["result"]["model_digest"] for each in kept}
    assert digests["holdout:1"] == fitted["model_digest"]


def test_a_named_data_set_has_its_validation_splits(run_cli, ledger):
    words = ["cora", "--models", "logistic", "--set", "C=1000", "--splits", 2, *ledger]
    rows = run_cli("compare", *words, "--json").facts["rows"]
    assert [run["split"] for run in rows[0]["runs"]] == ["val:0", "val:1"]
    assert rows[0]["dataset"] == "cora"


def test_times_are_shown_when_asked_for(run_cli, tables, ledger):
    words = ["compare", *tables.with_labels, "--models", "logistic", "--splits", 1, *ledger]
    words += ["--set", "C=100"]
    shown = run_cli(*words, "--timing").stdout
    assert ": CPU seconds of a fit\n" in shown
    assert "logistic (tuned), predicting all scored nodes once" in " ".join(shown.split())
    assert "seconds of a fit" not in run_cli(*words).stdout
    timing = run_cli(*words, "--timing", "--json").facts["timing"]
    assert len(timing[0]["seconds"]) == len(timing[0]["fit_cpu_seconds"]) == 1
    assert timing[0]["mean_fit_cpu_seconds"] == timing[0]["fit_cpu_seconds"][0]


def test_presets_are_rows_of_their_own(run_cli, tables, ledger):
    words = ["--models", "adagcn", "--presets", "tuned,unweighted,boosted", "--splits", 1]
    words += ["--set", "n_layers=2", "--set", "max_epochs=5", *ledger]
    rows = run_cli("compare", *tables.with_labels, *words, "--json").facts["rows"]
    assert [row["label"] for row in rows] == [
        "adagcn (tuned)",
        "adagcn (unweighted)",
        "adagcn (boosted)",
    ]


def test_no_training_shows_what_is_there(run_cli, tables, ledger):
    words = ["compare", *tables.with_labels, *QUICK, "--splits", 2, *ledger, "--json"]
    rows = run_cli(*words, "--no-training").facts["rows"]
    assert [(row["n"], row["planned"], row["mean"]) for row in rows] == [(0, 2, None)] * 2


def test_class_weights_are_part_of_a_run(run_cli, tables, ledger):
    words = ["compare", *tables.with_labels, *QUICK, "--splits", 1, *ledger]
    plain = run_cli(*words, "--json").facts
    weighed = run_cli(*words, "--class-weight", "balanced", "--json").facts
    assert ["class_weight" in row["settings"] for row in plain["rows"]] == [False, False]
    assert [row["settings"]["class_weight"] for row in weighed["rows"]] == ["balanced"] * 2
    kept = run_cli("ledger", "show", *ledger, "--json").facts["rows"]
    found = [each["run"]["params"].get("class_weight") for each in kept]
    assert sorted(found, key=str) == [None, None, "balanced", "balanced"]
    shown = run_cli(*words, "--class-weight", "balanced").stdout
    assert shown.startswith("edges.csv: accuracy on holdout splits, class weight balanced\n")
    assert run_cli(*words).stdout.startswith("edges.csv: accuracy on holdout splits\n")


@pytest.fixture
def uneven(tables, tmp_path):
    """The same graph, of whose cherries an eighth has a label."""
    rows = tables.labels.read_text().splitlines()
    few = tmp_path / "labels.csv"
    few.write_text("\n".join(r for k, r in enumerate(rows) if k % 8 == 0 or "cherry" not in r))
    return [*tables.options, "--labels", few]


def test_intervals_are_of_the_measure_that_is_asked_for(run_cli, uneven, ledger):
    words = ["compare", *uneven, *QUICK, "--splits", 3, *ledger]
    words += ["--metric", "balanced_accuracy"]
    facts = run_cli(*words, "--json").facts
    scores = [[run["balanced_accuracy"] for run in row["runs"]] for row in facts["rows"]]
    accuracy = [run["accuracy"] for run in facts["rows"][1]["runs"]]
    assert scores[1] != accuracy
    for row, found in zip(facts["rows"], scores, strict=True):
        expected = summarize(np.array(found)[:, None])
        assert row["mean"] == pytest.approx(expected.mean)
        assert row["interval"] == pytest.approx(expected.interval)
    against = facts["rows"][1]["against_first"]
    assert against["difference"] == pytest.approx(np.mean(scores[1]) - np.mean(scores[0]))
    shown = run_cli(*words).stdout
    assert shown.startswith("edges.csv: balanced accuracy on holdout splits\n")
    assert "Mean balanced accuracy in % over n runs; in brackets its 95 %" in shown


def test_uneven_classes_are_told_with_the_balanced_accuracy_of_each_model(run_cli, uneven, ledger):
    words = ["compare", *uneven, *QUICK, "--splits", 2, *ledger]
    outcome = run_cli(*words)
    measured = run_cli(*words, "--metric", "balanced_accuracy", "--json")
    means = {row["label"]: f"{100 * row['mean']:.1f} %" for row in measured.facts["rows"]}
    told = f"balanced accuracy {means['adagcn']} (adagcn), {means['mlp']} (mlp); --class-weight"
    assert told in outcome.stderr
    assert "labels); --class-weight balanced weighs them equally" in measured.stderr
    weighed = ["--class-weight", "balanced", "--metric", "balanced_accuracy"]
    assert "uneven" not in run_cli(*words, *weighed).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--class-weight", "balanced", "--set", "mlp.class_weight=balanced"],
         "--class-weight and --set mlp.class_weight exclude each other"),
        (["--models", "adagcn,mpl"], "--models has an unknown name; got 'mpl'. Did you mean"),
        (["--models", "mlp,mlp"], "--models has a name twice"),
        (["--presets", "tunned"], "--presets has an unknown name"),
        (["--set", "n_layers=3"], "does not have; got 'n_layers'. Did you mean 'adagcn.n_layers'"),
        (["--set", "dropout=7"], "rows[0].settings: dropout: should be less than 1; got 7"),
        (["--set", "dropout=[1]"], "settings.dropout: should be a number"),
        (["--splits", "21"], "--splits exceeds the 20 splits from val:0 on; got 21"),
        (["--figure", "x.pdf"], "--figure must end in .png or .svg"),
        (["--figure", "/nowhere/x.png"], "the folder of --figure does not exist"),
        (["--ledger", "/nowhere/x"], "the ledger /nowhere/x cannot be used"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_before_any_run(run_cli, monkeypatch, ledger, words, message):
    monkeypatch.setattr(campaign, "execute", lambda run, graph, split: pytest.fail("trained"))
    outcome = run_cli("compare", "cora", *ledger, "--models", "adagcn,mlp", *words)
    assert outcome.code in (3, 5)
    assert message in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")
def test_a_killed_command_goes_on_where_it_was(run_cli, tables, tmp_path):
    """SIGKILL loses no finished run, leaves no worker behind, and changes no byte of the table."""
    path = tmp_path / "ledger.sqlite"
    words = ["compare", *tables.with_labels, *QUICK, "--splits", 8, "--json"]
    words += ["--set", "mlp.max_epochs=300"]
    command = [sys.executable, "-m", "adagcn.cli", *map(str, words)]
    driver = subprocess.Popen(
        [*command, "--ledger", path, "--workers", "2"], stdout=subprocess.DEVNULL
    )
    end = time.monotonic() + 60
    while _n_rows(path) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    workers = _children(driver.pid)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    survived = _n_rows(path)
    assert 2 <= survived < 16
    assert len(workers) >= 2
    while any(map(_lives, workers)):
        assert time.monotonic() < end, "a worker lives on"
        time.sleep(0.02)
    resumed = run_cli(*words, "--ledger", path)
    assert resumed.stdout == run_cli(*words, "--ledger", tmp_path / "fresh").stdout
    assert _n_rows(path) == 16


def _n_rows(path):
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=10)) as connection:
        (there,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection.execute("SELECT count(*) FROM runs").fetchone()[0] if there else 0


def _lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _children(pid):
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.dataset
@pytest.mark.full
def test_cora_ml_from_scratch(run_cli, dataset_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("ADAGCN_DATA", str(dataset_dir))
    words = ["compare", "cora_ml", "--models", "adagcn,mlp", "--splits", 2, "--inits", 1, "--json"]
    words += ["--set", "max_epochs=30", "--set", "adagcn.n_layers=3"]
    first = run_cli(*words, "--workers", 2, "--ledger", tmp_path / "a")
    assert first.code == 0, first.stderr
    adagcn, mlp = first.facts["rows"]
    assert adagcn["mean"] > mlp["mean"] > 0.5
    assert run_cli(*words, "--ledger", tmp_path / "b").stdout == first.stdout
