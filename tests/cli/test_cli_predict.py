"""What comes back from ``adagcn predict``, and in which form."""

from __future__ import annotations

import csv
import io
import json
import shlex
import subprocess
import sys

import pytest
from pyarrow import parquet

from adagcn.data.generators import planted_partition

from .conftest import FRUIT, write_rows

QUICK = ["--set", "n_layers=2", "--set", "max_epochs=20", "--set", "hidden_units=8"]


@pytest.fixture(scope="module")
def model(tables, tmp_path_factory):
    """A model fitted through the command line in a process of its own."""
    path = tmp_path_factory.mktemp("models") / "fruit.adagcn"
    words = ["fit", *tables.with_labels, *QUICK, "--split", "stratified:0", "--out", str(path)]
    command = [sys.executable, "-m", "adagcn.cli", *words]
    subprocess.run(command, capture_output=True, text=True, check=True)
    return path


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_four_columns_by_default(run_cli, tables, model):
    outcome = run_cli("predict", model, *tables.options)
    rows = rows_of(outcome.stdout)
    assert list(rows[0]) == ["id", "label", "probability", "margin"]
    assert [row["id"] for row in rows] == list(tables.truth)
    assert "adagcn: note: 160 nodes predicted, of Graph(" in outcome.stderr


def test_probabilities_have_six_decimals_but_not_in_parquet(run_cli, tables, model, tmp_path):
    printed = rows_of(run_cli("predict", model, *tables.options, "--proba").stdout)
    for suffix in ("parquet", "jsonl"):
        out = tmp_path / f"p.{suffix}"
        assert run_cli("predict", model, *tables.options, "--proba", "--out", out).code == 0
    exact = parquet.read_table(tmp_path / "p.parquet").to_pylist()
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    facts = run_cli("predict", model, *tables.options, "--proba", "--json").facts
    names = ["probability", "margin", *(f"proba_{fruit}" for fruit in FRUIT)]
    for text, line, listed, row in zip(printed, lines, facts["predictions"], exact, strict=True):
        assert sum(row[f"proba_{fruit}"] for fruit in FRUIT) == pytest.approx(1)
        for name in names:
            assert float(text[name]) == line[name] == listed[name] == round(row[name], 6)
            assert len(text[name].partition(".")[2]) <= 6
    assert any(row["probability"] != round(row["probability"], 6) for row in exact)


def test_a_node_is_predicted_alike_alone_and_among_all(run_cli, tables, model, tmp_path):
    asked = tmp_path / "asked.csv"
    asked.write_text("who\nperson 7\n")
    alone = rows_of(run_cli("predict", model, *tables.options, "--nodes", asked).stdout)
    among = rows_of(run_cli("predict", model, *tables.options).stdout)
    assert alone == [row for row in among if row["id"] == "person 7"]


def test_the_most_probable_labels(run_cli, tables, model):
    best = rows_of(run_cli("predict", model, *tables.options).stdout)
    two = rows_of(run_cli("predict", model, *tables.options, "--top", 2).stdout)
    assert list(two[0]) == ["id", "label_1", "probability_1", "label_2", "probability_2"]
    assert [row["label_1"] for row in two] == [row["label"] for row in best]
    outcome = run_cli("predict", model, *tables.options, "--top", 4)
    assert outcome.code == 3
    assert "--top must be a whole number from 1 to 3" in outcome.stderr


def test_a_file_is_described(run_cli, tables, model, tmp_path):
    outcome = run_cli("predict", model, *tables.options, "--out", tmp_path / "p.csv.gz")
    said = " ".join(outcome.stdout.split())
    assert "predicted 160 nodes as" in said
    assert f"as {FRUIT[0]}" in said


def test_quiet_prints_the_predictions_alone(run_cli, tables, model):
    outcome = run_cli("predict", model, *tables.options, "--quiet")
    assert outcome.stderr == ""
    assert len(rows_of(outcome.stdout)) == 160


@pytest.fixture
def new_tables(tmp_path):
    """Edges and features of people that no model has seen, without labels."""
    graph = planted_partition(40, 3, 6, seed=2, homophily=0.95, mean_degree=8, feature_signal=2)
    names = [f"stranger {node}" for node in range(40)]
    arcs = zip(*graph.adjacency.nonzero(), strict=True)
    write_rows(tmp_path / "new.csv", ["from", "to"], [[names[i], names[j]] for i, j in arcs])
    header = ["name", *(f"x{k}" for k in range(6))]
    rows = [[name, *row] for name, row in zip(names, graph.features.tolist(), strict=True)]
    write_rows(tmp_path / "new_features.csv", header, rows)
    return tmp_path


def test_new_nodes_without_labels_work_as_the_help_shows(run_cli, model, new_tables, monkeypatch):
    monkeypatch.chdir(new_tables)
    monkeypatch.setenv("COLUMNS", "80")
    (new_tables / "my.adagcn").write_bytes(model.read_bytes())
    shown = run_cli("predict", "--help").stdout
    (line,) = [each for each in shown.splitlines() if each.strip().startswith("adagcn predict")]
    outcome = run_cli(*shlex.split(line)[1:])
    assert outcome.code == 0, outcome.stderr
    rows = rows_of(outcome.stdout)
    assert len(rows) == 40
    assert {row["label"] for row in rows} <= set(FRUIT)
    assert "another graph" in outcome.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_leaves_early_is_no_error(tables, model):
    words = shlex.join([sys.executable, "-m", "adagcn.cli", "predict", f"{model}", *tables.options])
    for reader in ("--quiet | head -1", "| true"):
        command = f"{words} {reader}; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
