"""Which labels are trained on, stopped on and scored, and by which measure: as the user says."""

from __future__ import annotations

import csv
from typing import get_args, get_type_hints

import numpy as np
import pytest

from adagcn.cli.split_options import SplitOptions
from adagcn.experiments import campaign
from adagcn.experiments.ledger import Ledger
from adagcn.models.support.measures import METRICS
from adagcn.models.support.registry import load_model

QUICK = ["--set", "n_layers=2", "--set", "max_epochs=8", "--set", "hidden_units=8"]


@pytest.fixture
def shop(tmp_path):
    """A user's labels: 600 of 1,000 customers on a ring, two classes of 400 and 200."""
    with (tmp_path / "edges.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows([("a", "b"), *((f"c{k}", f"c{k + 1}") for k in range(999))])
    with (tmp_path / "labels.csv").open("w", newline="") as handle:
        rows = [(f"c{k}", "buys" if k % 3 else "leaves") for k in range(600)]
        csv.writer(handle).writerows([("id", "label"), *rows])
    return ["--edges", tmp_path / "edges.csv", "--labels", tmp_path / "labels.csv"]


def counts(known, train, stop, score):
    return {"known": known, "train": train, "stop": stop, "score": score}


def test_the_measures_of_the_option_are_all_there_are():
    assert set(get_args(get_type_hints(SplitOptions)["metric"])) == set(METRICS)


def test_most_labels_of_a_users_own_graph_are_trained_on_and_it_is_said(run_cli, shop):
    """Fault 5: of 600 labels 40 were trained on, without a word."""
    words = ["fit", *shop, *QUICK]
    facts = run_cli(*words, "--json").facts
    assert facts["split"] == "holdout:0"
    assert facts["labels"] == counts(600, 384, 96, 120)
    shown = " ".join(run_cli(*words).stdout.split())
    assert "holdout:0 labels 600 known, 384 trained on, 96 stopped on, 120 scored" in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--split", "holdout:5"], counts(600, 384, 96, 120)),
        (["--score", 0.5], counts(600, 240, 60, 300)),
        (["--score", 0, "--stop", 0.5], counts(600, 300, 300, 0)),
        (["--stop", 50], counts(600, 430, 50, 120)),
        (["--stop", 0], counts(600, 480, 0, 120)),
        (["--train-per-class", 20, "--stop", 100], counts(600, 40, 100, 460)),
        (["--split", "stratified:0"], counts(600, 40, 140, 420)),
        (["--split", "stratified:0", "--train-per-class", 50, "--stop", 0.5],
         counts(600, 100, 250, 250)),
        (["--split", "none"], counts(600, 480, 120, 0)),
        (["--split", "none", "--stop", 0], counts(600, 600, 0, 0)),
        (["--split", "none", "--stop", 30], counts(600, 570, 30, 0)),
    ],
)  # fmt: skip
def test_the_shares_are_the_users(run_cli, shop, words, expected):
    outcome = run_cli("fit", *shop, *QUICK, *words, "--json")
    assert outcome.code == 0, outcome.stderr
    assert outcome.facts["labels"] == expected


def test_evaluate_and_compare_take_the_same_options(run_cli, shop, tmp_path):
    words = ["--score", 0.5, "--stop", 50]
    model = tmp_path / "m.adagcn"
    fitted = run_cli("fit", *shop, *QUICK, *words, "--out", model, "--json").facts
    again = run_cli("evaluate", model, *shop, *words, "--json").facts
    assert again["accuracy"] == fitted["accuracy"]
    assert again["labels"] == fitted["labels"] == counts(600, 250, 50, 300)
    shown = run_cli("evaluate", model, *shop, *words).stdout
    assert "unseen if the model was fitted on this split, without --refit" in shown
    assert "600 known, 250 trained on, 50 stopped on, 300 scored" in " ".join(shown.split())
    compared = ["compare", *shop, *QUICK, *words, "--models", "adagcn", "--splits", 2]
    compared += ["--ledger", tmp_path / "ledger.sqlite"]
    facts = run_cli(*compared, "--json").facts
    assert facts["labels"] == dict.fromkeys(("holdout:0", "holdout:1"), fitted["labels"])
    assert facts["rows"][0]["runs"][0]["accuracy"] == fitted["accuracy"]
    shown = run_cli(*compared).stdout
    assert "Labels of holdout:0 … holdout:1: 600 known, 250 trained on, 50 stopped on" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "stratified:0", "--score", 0.1], "--score has no meaning for the split strat"),
        (["--split", "val:0", "--score", 0.1], "--score has no meaning for the split val:0"),
        (["--split", "val:0", "--stop", 0.1], "--stop must be a whole number of nodes for the"),
        (["--split", "public", "--stop", 5], "--stop has no meaning for the split public"),
        (["--split", "public", "--train-per-class", 5], "--train-per-class has no meaning for"),
        (["--split", "none", "--score", 0.1], "--score has no meaning for --split none"),
        (["--split", "none", "--train-per-class", 5], "--train-per-class has no meaning for --"),
        (["--split", "none", "--splits-file", "x.npz"], "--splits-file has no meaning for --split"),
        (["--splits-file", "x.npz", "--split", "val:0"], "--splits-file has no meaning for the"),
        (["--train-per-class", 5, "--score", 0.1], "--train-per-class and --score exclude each"),
        (["--split", "file:0"], "needs a file of masks. Give it as --splits-file"),
        (["--splits-file", "nowhere.npz"], "there is no such file; got 'nowhere.npz'"),
        (["--stop", 1.5], "--stop must be a share below 1 or a whole number"),
        (["--stop", 5000], "--stop is more than the"),
        (["--score", 1], "--score must be at least 0 and below 1"),
        (["--split", "val:0"], "Use --split holdout:0 for a small graph"),
        (["--split", "stratified:0", "--train-per-class", 199], "Lower --train-per-class"),
        (["--split", "random"], "or none to score nothing"),
        (["--set", "validation_fraction=0.1"], "the split says what is stopped on"),
        (["--split", "none", "--refit"], "--refit has no meaning for --split none"),
    ],
)
def test_an_option_without_a_meaning_is_refused_by_its_name(run_cli, shop, words, message):
    outcome = run_cli("fit", *shop, *words, "--json")
    assert (outcome.code, outcome.stdout) == (3, "")
    assert message in outcome.stderr


def test_evaluating_every_label_has_nothing_to_stop_on(run_cli, shop, tmp_path):
    model = tmp_path / "m.adagcn"
    run_cli("fit", *shop, *QUICK, "--out", model)
    outcome = run_cli("evaluate", model, *shop, "--split", "none", "--stop", 5)
    assert outcome.code == 3
    assert "--stop has no meaning for --split none" in outcome.stderr


# Masks of a benchmark


@pytest.fixture
def benchmark(tmp_path):
    """A graph in the layout of the heterophilous benchmarks, with two splits inside."""
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 2
    features = rng.normal(size=(120, 4)) + labels[:, None]
    roles = rng.integers(3, size=(2, 120))
    path = tmp_path / "bench.npz"
    edges = np.stack([np.arange(119), np.arange(1, 120)], axis=1)
    masks = {f"{name}_masks": roles == k for k, name in enumerate(("train", "val", "test"))}
    np.savez(path, edges=edges, node_features=features, node_labels=labels, **masks)
    return path, roles


def test_the_masks_inside_a_file_are_its_splits(run_cli, benchmark):
    path, roles = benchmark
    for number in (0, 1):
        facts = run_cli("fit", path, *QUICK, "--split", f"file:{number}", "--json").facts
        sizes = np.bincount(roles[number]).tolist()
        assert facts["labels"] == counts(120, *sizes)
    outcome = run_cli("fit", path, "--split", "file:2")
    assert outcome.code == 3
    assert "has 2 splits, numbered from 0; got 'file:2'" in outcome.stderr


def test_a_comparison_takes_as_many_masks_as_there_are(run_cli, benchmark, tmp_path):
    words = ["compare", benchmark[0], *QUICK, "--models", "adagcn", "--split", "file:0"]
    for workers in (1, 2):
        ledger = ["--ledger", tmp_path / f"{workers}.sqlite", "--workers", workers]
        facts = run_cli(*words, *ledger, "--metric", "roc_auc", "--json").facts
        runs = facts["rows"][0]["runs"]
        assert [run["split"] for run in runs] == ["file:0", "file:1"]
        assert facts["metric"] == "roc_auc"
        assert facts["rows"][0]["mean"] == pytest.approx(np.mean([r["roc_auc"] for r in runs]))
    only = run_cli(*words[:-1], "file:1", *ledger, "--json").facts["rows"][0]["runs"]
    assert [run["split"] for run in only] == ["file:1"]
    outcome = run_cli(*words, *ledger, "--splits", 3)
    assert "--splits exceeds the 2 splits from file:0 on; got 3" in outcome.stderr


def test_a_table_of_words_is_a_split_of_ones_own_tables(run_cli, shop, tmp_path):
    table = tmp_path / "splits.csv"
    words = ["train", "stop", "test", ""]
    rows = [f"c{k},{words[k % 4]}" for k in range(1000)]
    table.write_text("\n".join(["id,mine", *rows]) + "\n")
    outcome = run_cli("fit", *shop, *QUICK, "--splits-file", table, "--json")
    assert outcome.code == 0, outcome.stderr
    assert outcome.facts["split"] == "file:0"
    assert outcome.facts["labels"] == counts(600, 150, 150, 150)
    assert "has 300 nodes without a label, which are left out" in outcome.stderr


# Fit again on all labels


def test_refit_uses_every_label_and_saves_that_model(run_cli, shop, tmp_path):
    plain, saved = tmp_path / "plain.adagcn", tmp_path / "refit.adagcn"
    first = run_cli("fit", *shop, *QUICK, "--out", plain, "--json").facts
    facts = run_cli("fit", *shop, *QUICK, "--refit", "--out", saved, "--json").facts
    assert first["refit"] is None
    for name in ("accuracy", "labels", "model_digest"):
        assert facts[name] == first[name]
    assert facts["refit"]["labels"] == counts(600, 480, 120, 0)
    assert load_model(saved).model_digest_ == facts["refit"]["model_digest"]
    assert load_model(plain).model_digest_ == facts["model_digest"]
    none = run_cli("fit", *shop, *QUICK, "--split", "none", "--json").facts
    assert facts["refit"]["model_digest"] == none["model_digest"]
    shown = " ".join(run_cli("fit", *shop, *QUICK, "--refit", "--stop", 0).stdout.split())
    assert "on all labels, 600 known, 600 trained on, 0 stopped on" in shown
    assert "it has seen every label, so that the accuracy above is of the fit before it" in shown


def test_fresh_splits_are_offered_like_the_test_splits(run_cli, tmp_path):
    shown = " ".join(run_cli("fit", "--help").stdout.replace("│", " ").split())
    assert "test:0 to test:19 and fresh:0 to fresh:19 are for final tables only" in shown
    facts = run_cli("fit", "cora", "--split", "fresh:3", *QUICK, "--json").facts
    assert facts["labels"] == {"known": 2485, "train": 140, "stop": 500, "score": 985}
    words = ["compare", "cora", "--models", "label_propagation", "--split", "fresh:18"]
    outcome = run_cli(*words, "--splits", 3, "--ledger", tmp_path / "l.sqlite")
    assert "--splits exceeds the 2 splits from fresh:18 on; got 3" in outcome.stderr


# Measures


def test_the_measure_stands_beside_the_accuracy(run_cli, shop, tmp_path):
    model = tmp_path / "m.adagcn"
    words = [*shop, "--metric", "roc_auc"]
    facts = run_cli("fit", *words, *QUICK, "--out", model, "--json").facts
    assert facts["metric"] == "roc_auc"
    assert set(facts["scores"]) == set(METRICS)
    assert facts["scores"]["accuracy"] == facts["accuracy"]
    again = run_cli("evaluate", model, *words, "--json").facts
    assert again["scores"] == facts["scores"]
    for shown in (run_cli("fit", *words, *QUICK).stdout, run_cli("evaluate", model, *words).stdout):
        (line,) = [line for line in shown.splitlines() if line.startswith("ROC AUC")]
        assert line.split()[2] == f"{100 * facts['scores']['roc_auc']:.1f}"


def test_a_measure_without_a_value_says_why(run_cli, shop, tmp_path):
    """The scored nodes are all of one class."""
    table = tmp_path / "splits.csv"
    rows = [f"c{k},{'train' if k < 300 else 'test' if k % 3 else ''}" for k in range(600)]
    table.write_text("\n".join(["id,mine", *rows]) + "\n")
    words = [*shop, "--splits-file", table, "--metric", "roc_auc"]
    facts = run_cli("fit", *words, *QUICK, "--json").facts
    assert facts["scores"]["roc_auc"] is None
    assert facts["undefined"] == {"roc_auc": "no scored node has the label 'leaves'"}
    shown = run_cli("fit", *words, *QUICK).stdout
    assert "none: no scored node has the label 'leaves'" in " ".join(shown.split())
    outcome = run_cli("compare", *words, "--models", "adagcn", "--ledger", tmp_path / "l.sqlite")
    assert outcome.code == 3
    assert "--metric roc_auc has no value on the split file:0: no scored" in outcome.stderr


def test_a_comparison_names_its_measure(run_cli, shop, tmp_path):
    words = ["compare", *shop, *QUICK, "--models", "adagcn", "--splits", 1]
    words += ["--ledger", tmp_path / "l.sqlite"]
    shown = run_cli(*words, "--metric", "f1_macro").stdout
    assert shown.startswith("edges.csv: macro F1 on holdout splits\n")
    assert "Mean macro F1 in % over n runs" in shown
    plain = run_cli(*words).stdout
    assert "Mean accuracy in % over n runs" in plain
    outcome = run_cli(*words, "--metric", "f1_macro", "--figure", tmp_path / "f.png")
    assert "written" in outcome.stderr


def test_runs_of_an_earlier_release_are_trained_again_for_a_measure(
    run_cli, shop, tmp_path, monkeypatch
):
    path = tmp_path / "l.sqlite"
    words = ["compare", *shop, *QUICK, "--models", "adagcn", "--splits", 2, "--ledger", path]
    first = run_cli(*words, "--json").facts
    with Ledger(path) as ledger:
        ledger._connection.execute("UPDATE runs SET scores = '{}'")
    waiting = run_cli(*words, "--metric", "roc_auc", "--no-training", "--json")
    assert "2 runs of" in waiting.stderr
    assert "without roc_auc and count as missing" in waiting.stderr
    assert waiting.facts["rows"][0]["n"] == 0
    again = run_cli(*words, "--metric", "roc_auc", "--json")
    assert "without roc_auc and are trained again" in again.stderr
    assert [run["accuracy"] for run in again.facts["rows"][0]["runs"]] == [
        run["accuracy"] for run in first["rows"][0]["runs"]
    ]
    monkeypatch.setattr(campaign, "execute", lambda run, graph, split: pytest.fail("trained"))
    assert run_cli(*words, "--metric", "roc_auc", "--json").stdout == again.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "none"], "a comparison needs labels to score"),
        (["--score", 0], "the split holdout:0 leaves no label to score"),
        (["--set", "validation_fraction=0.1"], "the split says what is stopped on"),
    ],
)
def test_what_cannot_be_compared_is_said_before_any_run(
    run_cli, shop, tmp_path, monkeypatch, words, message
):
    monkeypatch.setattr(campaign, "execute", lambda run, graph, split: pytest.fail("trained"))
    ledger = ["--ledger", tmp_path / "l.sqlite", "--models", "adagcn"]
    outcome = run_cli("compare", *shop, *ledger, *words)
    assert (outcome.code, outcome.stdout) == (3, "")
    assert message in outcome.stderr


# Findings of a new user


@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_disk_costs_the_file_and_not_the_result(
    run_cli, shop, tmp_path, monkeypatch, as_json
):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adagcn.formats.atomic.os.fsync", full)
    out = tmp_path / "m.adagcn"
    outcome = run_cli("fit", *shop, *QUICK, "--out", out, *(["--json"] if as_json else []))
    assert outcome.code == 5
    assert "No space left on device" in outcome.stderr
    assert not out.exists()
    if as_json:
        assert outcome.facts["accuracy"] > 0
        assert outcome.facts["out"] is None
    else:
        assert "accuracy" in outcome.stdout
        assert "Next:" not in outcome.stdout


def test_labels_that_may_have_been_seen_are_called_so(run_cli, shop, tmp_path):
    model = tmp_path / "m.adagcn"
    run_cli("fit", *shop, *QUICK, "--out", model)
    outcome = run_cli("evaluate", model, *shop, "--split", "none")
    assert "these may include those that the model was trained on" in outcome.stderr
    assert "600, all of them scored" in outcome.stdout


def test_labels_that_are_numbers_have_one_name(run_cli, benchmark, tmp_path):
    model = tmp_path / "m.adagcn"
    run_cli("fit", benchmark[0], *QUICK, "--out", model)
    lines = run_cli("evaluate", model, benchmark[0]).stdout.splitlines()
    rows = [line.split() for line in lines if line.split()[:1] in (["0"], ["1"])]
    assert [row[0] for row in rows] == ["0", "1", "0", "1"]
    assert all(len(row) in (3, 8) for row in rows)  # a label, a count, three percentages


def test_a_damaged_file_and_one_of_another_kind_have_their_exit_codes(run_cli, benchmark, tmp_path):
    cut, other = tmp_path / "cut.npz", tmp_path / "other.npz"
    cut.write_bytes(benchmark[0].read_bytes()[:-50])
    outcome = run_cli("fit", cut)
    assert outcome.code == 4
    assert "is truncated or damaged" in outcome.stderr
    np.savez(other, weights=np.zeros((2, 3)), names=np.array(["a"]))
    outcome = run_cli("data", "info", other)
    assert outcome.code == 3
    assert "got 'weights: float64 (2, 3), names: text (1,)'" in outcome.stderr
    outcome = run_cli("fit", benchmark[0], "--max-size", "1kb")
    assert outcome.code == 4
    assert "allow more with --max-size" in outcome.stderr


def test_a_file_without_masks_lists_what_it_has(run_cli, benchmark, tmp_path):
    path = tmp_path / "bare.npz"
    np.savez(path, edges=np.array([[0, 1]]), node_features=np.eye(2), node_labels=np.arange(2))
    outcome = run_cli("fit", path, "--split", "file:0")
    assert outcome.code == 3
    assert "holds no splits in a known layout; got 'edges: int64 (1, 2)" in outcome.stderr
