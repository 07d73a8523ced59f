"""``adagcn reproduce --metric``: any measure of the runs, and what is told of regimes."""

from __future__ import annotations

import pytest

SPEC = """
title = "Uneven labels on Cora"
splits = "val"
n_splits = 2

columns = [
  { label = "Cora, uneven", dataset = "cora", imbalance = [20, 2] },
  { label = "Cora, all", dataset = "cora", n_train = 600 },
]
rows = [{ label = "logistic", model = "logistic" }]

[paper.logistic]
"Cora, uneven" = [61.5, 0.4]
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metric")
    (folder / "mine.toml").write_text(SPEC, "utf-8")
    return ["reproduce", folder / "mine.toml", "--ledger", folder / "ledger.sqlite"]


def test_a_measure_is_shown_without_training_again(run_cli, command):
    accuracy = run_cli(*command, "--json").facts
    outcome = run_cli(*command, "--json", "--no-training", "--metric", "balanced_accuracy")
    balanced = outcome.facts
    assert (accuracy["metric"], balanced["metric"]) == ("accuracy", "balanced_accuracy")
    for one, other in zip(accuracy["rows"], balanced["rows"], strict=True):
        assert one["n"] == other["n"] == 2
        runs = [run["balanced_accuracy"] for run in other["runs"]]
        assert other["mean"] == pytest.approx(sum(runs) / 2)
        assert other["mean"] != one["mean"]


def test_published_accuracies_are_not_compared_with_another_measure(run_cli, command):
    assert "paper 61.50" in run_cli(*command, "--no-training").stdout
    text = run_cli(*command, "--no-training", "--metric", "f1_macro").stdout
    assert "61.50" not in text
    assert "macro F1" in text


def test_counts_of_labels_as_they_fall_are_told(run_cli, command):
    told = run_cli(*command, "--no-training").stderr
    assert "Cora, all: " in told
    assert " training nodes of each class" in told
    assert "uneven" not in told


def test_a_figure_is_of_accuracy(run_cli, command, tmp_path):
    words = ["--no-training", "--figure", tmp_path / "x.png", "--metric", "roc_auc"]
    outcome = run_cli(*command, *words)
    assert outcome.code == 3
    assert "--figure draws accuracy" in outcome.stderr
