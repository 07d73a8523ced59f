"""From a user's tables to a model to predictions under the user's ids."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import parquet

from adagcn.models.support.registry import load_model

QUICK = ["--set", "n_layers=3", "--set", "max_epochs=40", "--set", "hidden_units=16"]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture(scope="module")
def model(tables, tmp_path_factory):
    """A model fitted through the command line in a process of its own, and what it reported."""
    path = tmp_path_factory.mktemp("models") / "fruit.adagcn"
    words = ["fit", *tables.with_labels, *QUICK, "--out", str(path), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "adagcn.cli", *words], capture_output=True, text=True, check=True
    )
    return path, json.loads(done.stdout)


def test_fit_reports_everything_that_is_promised(model):
    path, facts = model
    assert path.exists()
    assert {
        "accuracy", "stop_accuracy", "n_layers", "epochs", "seconds", "preset", "split",
        "model_digest", "model", "dataset", "graph", "seed", "threads", "accuracy_by_depth",
        "effective_sample_size", "params", "out",
    } <= set(facts)  # fmt: skip
    assert facts["split"] == "holdout:0"
    assert facts["n_layers"] == len(facts["accuracy_by_depth"]) == 3
    assert facts["accuracy"] == facts["accuracy_by_depth"][-1] > 0.8
    assert facts["graph"]["nodes"] == 160
    assert facts["graph"]["labeled"] == 120
    assert facts["params"]["hidden_units"] == 16
    assert 0 < facts["epochs"] <= 3 * 40


def test_the_same_command_gives_the_same_model(run_cli, tables, model):
    again = run_cli("fit", *tables.with_labels, *QUICK, "--json").facts
    for name in ("accuracy", "model_digest", "epochs", "accuracy_by_depth"):
        assert again[name] == model[1][name]
    other = run_cli("fit", *tables.with_labels, *QUICK, "--json", "--seed", 1).facts
    assert other["model_digest"] != again["model_digest"]


def test_the_same_command_without_epochs_gives_the_same_model(run_cli):
    first, again, other = (
        run_cli("fit", "cora", "--preset", "instant", "--seed", seed, "--json").facts
        for seed in ("0", "0", "1")
    )
    assert first["model_digest"] == again["model_digest"] != other["model_digest"]


def test_predictions_come_back_under_the_users_ids(run_cli, tables, model, tmp_path):
    out = tmp_path / "predictions.csv"
    outcome = run_cli("predict", model[0], *tables.options, "--proba", "--out", out)
    assert outcome.code == 0, outcome.stderr
    rows = rows_of(out.read_text())
    assert [row["id"] for row in rows] == list(tables.truth)
    right = sum(row["label"] == tables.truth[row["id"]] for row in rows)
    assert right / len(rows) > 0.8
    for row in rows:
        shares = {fruit: float(row[f"proba_{fruit}"]) for fruit in ("apple", "banana", "cherry")}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
        assert row["label"] == max(shares, key=shares.get)
        assert float(row["probability"]) == max(shares.values())


def test_the_order_of_the_rows_is_free(run_cli, tables, model, tmp_path):
    lines = tables.features.read_text().splitlines(keepends=True)
    turned = tmp_path / "features.csv"
    turned.write_text("".join([lines[0], *reversed(lines[1:])]))
    straight = run_cli("predict", model[0], *tables.options)
    backward = run_cli("predict", model[0], "--edges", tables.edges, "--features", turned)
    first = {row["id"]: row for row in rows_of(straight.stdout)}
    for row in rows_of(backward.stdout):
        assert row["label"] == first[row["id"]]["label"]
        assert float(row["margin"]) == pytest.approx(float(first[row["id"]]["margin"]), abs=1e-5)


def test_predictions_go_to_standard_output_or_parquet_alike(run_cli, tables, model, tmp_path):
    printed = rows_of(run_cli("predict", model[0], *tables.options).stdout)
    out = tmp_path / "p.parquet"
    run_cli("predict", model[0], *tables.options, "--out", out)
    stored = parquet.read_table(out).to_pylist()
    assert [row["id"] for row in printed] == [row["id"] for row in stored]
    exact = [row["probability"] for row in stored]
    assert [float(row["probability"]) for row in printed] == pytest.approx(exact, abs=1e-6)


def test_json_predictions_are_one_object(run_cli, tables, model):
    facts = run_cli("predict", model[0], *tables.options, "--json").facts
    assert facts["nodes"] == len(facts["predictions"]) == 160
    assert facts["model_digest"] == model[1]["model_digest"]


def test_only_the_nodes_that_are_asked_for(run_cli, tables, model, tmp_path, monkeypatch):
    asked = tmp_path / "asked.csv"
    asked.write_text("who\nperson 7\nperson 3\n")
    rows = rows_of(run_cli("predict", model[0], *tables.options, "--nodes", asked).stdout)
    assert [row["id"] for row in rows] == ["person 7", "person 3"]
    monkeypatch.setattr("sys.stdin", io.StringIO("person 3\n\nperson 7\n"))
    rows = rows_of(run_cli("predict", model[0], *tables.options, "--nodes", "-").stdout)
    assert [row["id"] for row in rows] == ["person 3", "person 7"]


def test_an_unknown_node_is_named(run_cli, tables, model, tmp_path):
    asked = tmp_path / "asked.csv"
    asked.write_text("who\nnobody\n")
    outcome = run_cli("predict", model[0], *tables.options, "--nodes", asked)
    assert outcome.code == 3
    assert "nobody" in outcome.stderr
    assert outcome.stdout == ""


def test_the_next_command_works_as_it_is_printed(run_cli, tables, tmp_path):
    out = tmp_path / "m.adagcn"
    fitted = run_cli("fit", *tables.with_labels, "--self-loops", "drop", *QUICK, "--out", out)
    (line,) = [each for each in fitted.stdout.splitlines() if each.startswith("Next: ")]
    words = shlex.split(line.removeprefix("Next: adagcn "))
    assert words[-2:] == ["--self-loops", "drop"]
    assert "--labels" not in words
    assert run_cli(*words).code == 0


def test_with_no_split_four_fifths_are_trained_on_and_nothing_is_scored(run_cli, tables):
    words = ["fit", *tables.with_labels, *QUICK, "--split", "none"]
    facts = run_cli(*words, "--json").facts
    assert facts["accuracy"] is None
    assert facts["accuracy_by_depth"] == []
    assert facts["scores"] == {}
    assert facts["split"] == "none"
    assert facts["labels"] == {"known": 120, "train": 96, "stop": 24, "score": 0}
    assert facts["stop_accuracy"] > 0.5
    shown = " ".join(run_cli(*words).stdout.split())
    assert "120 known, 96 trained on, 24 stopped on, 0 scored" in shown
    assert "not measured: no label is scored" in shown


def test_evaluate_repeats_the_accuracy_of_the_fit(run_cli, tables, model):
    facts = run_cli("evaluate", model[0], *tables.with_labels, "--json").facts
    assert facts["accuracy"] == model[1]["accuracy"]
    assert facts["nodes"] == sum(map(sum, facts["confusion"]["matrix"]))
    assert {"macro_f1", "log_loss", "per_class", "split"} <= set(facts)


@pytest.mark.parametrize("command", ["fit", "evaluate"])
@pytest.mark.parametrize("columns", [60, 100])
def test_people_get_tables_that_fit_their_terminal(
    run_cli, tables, model, monkeypatch, command, columns
):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    words = QUICK if command == "fit" else []
    first = [model[0]] if command == "evaluate" else []
    outcome = run_cli(command, *first, *tables.with_labels, *words)
    assert outcome.code == 0, outcome.stderr
    assert "accuracy" in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines())) <= columns
    assert "\x1b" not in outcome.stdout


# What cannot be used


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 3, "no graph is given"),
        (["coral"], 3, "cora"),
        (["nowhere/graph.npz"], 3, "nowhere/graph.npz"),
        (["--edges", "nowhere.csv"], 3, "nowhere.csv"),
        (["cora", "--edges", "e.csv"], 3, "--edges cannot be combined with DATA"),
        (
            ["cora", "--labels", "l.csv", "--no-header"],
            3,
            "--labels, --no-header cannot be combined",
        ),
        (["--edges", "e.csv", "--data-dir", "."], 3, "--data-dir"),
        (["--model", "gcn9", "cora"], 3, "adagcn"),
        (["cora", "--set", "hiden_units=3"], 3, "hidden_units"),
        (["cora", "--set", "n_layers=-1"], 3, "n_layers"),
        (["cora", "--preset", "tunned"], 3, "tuned"),
        (["cora", "--split", "val:20"], 3, "val:19"),
        (["cora", "--threads", "0"], 2, "--threads"),
        (["cora", "--nonsense"], 2, "--nonsense"),
    ],
)
def test_what_cannot_be_used_is_one_line(run_cli, words, code, message):
    outcome = run_cli("fit", *words, "--json")
    assert outcome.code == code
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("adagcn: error: ")
    assert outcome.stderr.count("\n") == 1
    assert message in outcome.stderr


@pytest.mark.parametrize("command", ["fit", "evaluate"])
def test_labels_are_needed(run_cli, tables, model, command):
    first = [model[0]] if command == "evaluate" else []
    outcome = run_cli(command, *first, *tables.options)
    assert outcome.code == 3
    assert "the graph has no labels" in outcome.stderr


def test_however_few_labels_there_are_they_are_used(run_cli, tables, tmp_path):
    labels = tmp_path / "few.csv"
    labels.write_text("name,fruit\nperson 1,apple\nperson 2,banana\nperson 3,apple\n")
    words = ["fit", *tables.options, "--labels", labels, *QUICK, "--json"]
    outcome = run_cli(*words)
    assert outcome.code == 0, outcome.stderr
    assert outcome.facts["labels"] == {"known": 3, "train": 2, "stop": 0, "score": 1}
    assert outcome.facts["stop_accuracy"] is None
    assert "note: no label is left to stop on" in outcome.stderr
    labels.write_text("name,fruit\nperson 1,apple\nperson 2,banana\n")
    outcome = run_cli(*words)
    assert outcome.facts["labels"] == {"known": 2, "train": 2, "stop": 0, "score": 0}
    assert outcome.facts["accuracy"] is None
    assert "no label is left to score beside the 2 labels trained on" in outcome.stderr
    facts = run_cli(*words, "--split", "none", "--stop", 0).facts
    assert facts["labels"] == {"known": 2, "train": 2, "stop": 0, "score": 0}


def test_labels_of_another_kind_are_not_compared(run_cli, tables, model, tmp_path):
    labels = tmp_path / "numbers.csv"
    rows = "".join(f"person {k},{k % 3}\n" for k in range(160))
    labels.write_text(f"name,fruit\n{rows}")
    outcome = run_cli("evaluate", model[0], *tables.options, "--labels", labels)
    assert outcome.code == 3
    assert "labels are numbers, the model's are not" in outcome.stderr


def test_an_existing_file_is_kept_unless_forced(run_cli, tables, tmp_path):
    out = tmp_path / "old.adagcn"
    out.write_text("precious")
    start = time.perf_counter()
    outcome = run_cli("fit", *tables.with_labels, "--out", out)
    assert outcome.code == 3
    assert "--force" in outcome.stderr
    assert time.perf_counter() - start < 1  # before any training
    assert out.read_text() == "precious"
    assert run_cli("fit", *tables.with_labels, *QUICK, "--out", out, "--force").code == 0
    assert out.read_bytes() != b"precious"


def test_a_damaged_model_is_refused(run_cli, tables, model, tmp_path):
    bad = tmp_path / "bad.adagcn"
    content = bytearray(model[0].read_bytes())
    content[len(content) // 2] ^= 1
    bad.write_bytes(content)
    outcome = run_cli("predict", bad, *tables.options)
    assert outcome.code == 4
    assert outcome.stderr.count("\n") == 1


def _wait_for_torch(pid: int) -> None:
    """Wait until a process has loaded torch, where the system tells; a busy machine may stall."""
    maps = Path(f"/proc/{pid}/maps")
    deadline = time.monotonic() + 60
    while maps.exists() and "libtorch" not in maps.read_text() and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupted_training_leaves_nothing_behind(tables, tmp_path):
    out = tmp_path / "model.adagcn"
    words = ["fit", *tables.with_labels, "--set", "n_layers=100000", "--set", "patience=100000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "adagcn.cli", *words, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_for_torch(process.pid)
        time.sleep(4)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    told = f"adagcn: interrupted; {out} was not written\n"
    assert (process.returncode, stdout, stderr) == (130, "", told)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_while_a_class_is_being_built_ends_with_its_code(tmp_path):
    """Dataclasses run strings while modules load; CPython remembers an interrupt in those."""
    (tmp_path / "typer.py").write_text("exec('raise KeyboardInterrupt')")
    done = subprocess.run(
        [sys.executable, "-m", "adagcn.cli", "--version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "adagcn: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_early_is_no_error(tables, model):
    words = ["predict", str(model[0]), *tables.options]
    command = " ".join(f"'{word}'" for word in [sys.executable, "-m", "adagcn.cli", *words])
    done = subprocess.run(
        f"{command} | true", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


# Ids of all kinds


@pytest.fixture
def odd_ids(tmp_path):
    """Edges among a few nodes whose ids are the given texts, each node with a label."""

    def write(names):
        edges = tmp_path / "edges.csv"
        with edges.open("w", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(["a", "b"])
            writer.writerows(zip(names, names[1:] + names[:1], strict=True))
        labels = tmp_path / "labels.csv"
        with labels.open("w", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(["id", "label"])
            writer.writerows([name, "yes" if k % 2 else "no"] for k, name in enumerate(names))
        return ["--edges", edges, "--labels", labels]

    return write


def fitted(run_cli, words, tmp_path):
    out = tmp_path / "model.adagcn"
    quick = ["--set", "n_layers=1", "--set", "max_epochs=2", "--split", "none", "--stop", 0]
    outcome = run_cli("fit", *words, *quick, "--out", out)
    assert outcome.code == 0, outcome.stderr
    return out


def test_formulas_in_ids_are_defused_in_csv_only(run_cli, odd_ids, tmp_path):
    names = ["=1+1", "@home", "plain", "-12", "tab\there", "é"]
    words = odd_ids(names)
    model = fitted(run_cli, words, tmp_path)
    safe = run_cli("predict", model, *words)
    assert {row["id"] for row in rows_of(safe.stdout)} == {
        "'=1+1", "'@home", "plain", "-12", "tab\there", "é"
    }  # fmt: skip
    assert "2 cells" in safe.stderr
    verbatim = run_cli("predict", model, *words, "--verbatim")
    assert {row["id"] for row in rows_of(verbatim.stdout)} == set(names)
    assert "cells" not in verbatim.stderr
    facts = run_cli("predict", model, *words, "--json").facts
    assert {row["id"] for row in facts["predictions"]} == set(names)


def test_large_integer_ids_are_never_rounded(run_cli, odd_ids, tmp_path):
    names = [str(2**53 + k) for k in range(5)] + [str(2**70)]
    words = odd_ids(names)
    model = fitted(run_cli, words, tmp_path)
    rows = rows_of(run_cli("predict", model, *words).stdout)
    assert {row["id"] for row in rows} == set(names)
    asked = tmp_path / "asked.csv"
    asked.write_text(f"id\n{2**53 + 1}\n")
    rows = rows_of(run_cli("predict", model, *words, "--nodes", asked).stdout)
    assert [row["id"] for row in rows] == [str(2**53 + 1)]


def test_escapes_in_labels_do_not_reach_the_terminal(run_cli, odd_ids, tmp_path):
    words = odd_ids([f"n{k}" for k in range(6)])
    labels = tmp_path / "labels.csv"
    labels.write_text(labels.read_text().replace("yes", "\x1b[31myes [bold]"))
    outcome = run_cli(
        "predict", fitted(run_cli, words, tmp_path), *words[:2], "--out", tmp_path / "p.csv"
    )
    assert outcome.code == 0
    assert "\x1b" not in outcome.stdout


@pytest.mark.parametrize(
    ("split", "counts"),
    [
        ("val:0", {"known": 2485, "train": 140, "stop": 500, "score": 860}),
        ("none", {"known": 2485, "train": 1988, "stop": 497, "score": 0}),
    ],
)
def test_fit_says_how_many_labels_it_used_and_for_what(run_cli, split, counts):
    words = ["fit", "cora", "--split", split, "--set", "n_layers=1", "--set", "max_epochs=1"]
    facts = json.loads(run_cli(*words, "--json").stdout)
    assert facts["labels"] == counts
    shown = run_cli(*words).stdout
    expected = f"2,485 known, {counts['train']:,} trained on, {counts['stop']} stopped on, "
    assert f"{expected}{counts['score']} scored" in " ".join(shown.split())


# Classes of unequal size


@pytest.fixture
def uneven(tables, tmp_path):
    """The same graph, of whose cherries a tenth has a label."""
    rows = tables.labels.read_text().splitlines()
    cherries = [row for row in rows if row.endswith("cherry")]
    kept = [row for row in rows if row not in cherries[len(cherries) // 10 + 3 :]]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(kept) + "\n")
    return [*tables.options, "--labels", path]


def test_class_weights_reach_the_model_and_its_file(run_cli, uneven, tmp_path):
    out = tmp_path / "m.adagcn"
    words = ["fit", *uneven, *QUICK]
    plain = run_cli(*words, "--json").facts
    weighed = run_cli(*words, "--class-weight", "balanced", "--out", out, "--json").facts
    assert (plain["class_weight"], weighed["class_weight"]) == (None, "balanced")
    assert weighed["model_digest"] != plain["model_digest"]
    by_set = run_cli(*words, "--set", "class_weight=balanced", "--json").facts
    assert by_set["model_digest"] == weighed["model_digest"]
    none = run_cli(*words, "--class-weight", "none", "--json").facts
    assert none["model_digest"] == plain["model_digest"]
    assert load_model(out).class_weight == "balanced"
    shown = " ".join(run_cli("evaluate", out, *uneven).stdout.split())
    assert "adagcn, preset adaptive, class weight balanced chosen" in shown
    shown = " ".join(run_cli(*words, "--class-weight", "balanced").stdout.split())
    assert "adagcn, preset adaptive, class weight balanced, seed 0" in shown


def test_uneven_classes_are_told_once_with_their_balanced_accuracy(run_cli, uneven, tmp_path):
    out = tmp_path / "m.adagcn"
    fitted = run_cli("fit", *uneven, *QUICK, "--out", out, "--json")
    found = fitted.facts["balanced_accuracy"]
    assert found == fitted.facts["scores"]["balanced_accuracy"]
    told = f"labels): balanced accuracy {100 * found:.1f} %; "
    assert fitted.stderr.count("classes are uneven (largest ") == 1
    assert f"{told}--class-weight balanced weighs them equally\n" in fitted.stderr
    again = run_cli("evaluate", out, *uneven, "--json")
    assert again.facts["balanced_accuracy"] == found
    assert f"{told}adagcn fit --class-weight balanced weighs them equally\n" in again.stderr
    asked = run_cli("fit", *uneven, *QUICK, "--metric", "balanced_accuracy")
    assert f"balanced accuracy {100 * found:.1f} %" in " ".join(asked.stdout.split())
    assert "labels); --class-weight balanced weighs them equally\n" in asked.stderr
    weighed = ["--class-weight", "balanced", "--metric", "balanced_accuracy"]
    assert "uneven" not in run_cli("fit", *uneven, *QUICK, *weighed).stderr
    assert run_cli("fit", *uneven, *QUICK, "--quiet").stderr == ""


def test_even_classes_are_not_spoken_of(run_cli, tables):
    outcome = run_cli("fit", *tables.with_labels, *QUICK, "--json")
    assert "uneven" not in outcome.stderr
    assert 0 < outcome.facts["balanced_accuracy"] <= 1


def test_where_nothing_is_scored_uneven_classes_have_no_accuracy(run_cli, uneven):
    outcome = run_cli("fit", *uneven, *QUICK, "--split", "none", "--json")
    assert outcome.facts["balanced_accuracy"] is None
    assert "labels); --class-weight balanced weighs them equally\n" in outcome.stderr


def test_a_wrong_class_weight_is_refused_with_the_right_ones(run_cli, uneven):
    outcome = run_cli("fit", *uneven, "--class-weight", "balance")
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "'balance' is not one of 'balanced', 'none'" in outcome.stderr
    outcome = run_cli("fit", *uneven, "--class-weight", "none", "--set", "class_weight=balanced")
    assert outcome.code == 3
    assert "--class-weight and --set class_weight exclude each other; got 'none'" in outcome.stderr


def test_what_was_chosen_is_said_in_a_row_and_in_json(run_cli, tables, tmp_path, monkeypatch):
    out = tmp_path / "m.adagcn"
    words = [*tables.with_labels, *QUICK]
    facts = run_cli("fit", *words, "--out", out, "--json").facts
    assert facts["preset"] == "adaptive"
    assert {"teleport", "feature_norm", "max_features"} <= set(facts["choices"])
    assert len(facts["look"]) < 250
    assert re.search(r"(no teleport, best at hop \d+|teleport 0\.\d+) \(", facts["look"])
    monkeypatch.setenv("COLUMNS", "60")
    sentence = f"chosen on the stopping nodes: {facts['look']}"
    shown = run_cli("fit", *words).stdout
    assert sentence in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 60
    saved = run_cli("evaluate", out, *tables.with_labels)
    assert sentence in " ".join(saved.stdout.split())
    saved = run_cli("evaluate", out, *tables.with_labels, "--json").facts
    assert (saved["choices"], saved["look"]) == (facts["choices"], facts["look"])


def test_where_nothing_is_chosen_nothing_is_said(run_cli, tables):
    words = ["fit", *tables.with_labels, *QUICK, "--preset", "tuned"]
    facts = run_cli(*words, "--json").facts
    assert (facts["choices"], facts["look"]) == ({}, None)
    assert "chosen" not in run_cli(*words).stdout
    one = run_cli(*words, "--set", "teleport=auto", "--json").facts
    assert set(one["choices"]) == {"teleport"}


def test_without_stopping_nodes_the_default_says_what_it_does(run_cli, tables):
    outcome = run_cli("fit", *tables.with_labels, "--split", "none", "--stop", 0, "--json")
    assert "falls back to preset 'instant'" in outcome.stderr
    assert "raise --stop" in outcome.stderr
    assert "X_val" not in outcome.stderr
    assert "validation_fraction" not in outcome.stderr
    assert (outcome.facts["epochs"], outcome.facts["look"]) == (0, None)
