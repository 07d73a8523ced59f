"""What comes back from ``adagcn explain``."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from pyarrow import parquet
from rich.console import Console

from adagcn import AdaGCNClassifier, Graph, load_model
from adagcn.cli.explanation_view import Style, bars, explanation_view, headline, short
from adagcn.explain.explanations import HopPart, NeighborPart, NodeExplanation
from adagcn.models.support.boosted import BoostedClassifier
from adagcn.models.support.classifier import EXPLAINED
from adagcn.models.support.registry import CLASSES, MODELS

from .conftest import FRUIT

QUICK = ["--set", "n_layers=4", "--set", "max_epochs=20", "--set", "hidden_units=8"]
NASTY = ["<b>\x1b[31mred", "=cmd()\nnext line", "x" * 10_000]


def fit(tables, path, *words):
    words = ["fit", *tables.with_labels, "--split", "stratified:0", *words, "--out", str(path)]
    command = [sys.executable, "-m", "adagcn.cli", *words]
    subprocess.run(command, capture_output=True, text=True, check=True)
    return path


@pytest.fixture(scope="module")
def model(tables, tmp_path_factory):
    """A model fitted through the command line in a process of its own."""
    path = tmp_path_factory.mktemp("models") / "fruit.adagcn"
    return fit(tables, path, "--preset", "tuned", *QUICK)


def test_a_picture_says_what_was_predicted_and_why(run_cli, tables, model):
    outcome = run_cli("explain", model, *tables.with_labels, "--node", "person 7")
    assert outcome.code == 0, outcome.stderr
    said = " ".join(outcome.stdout.split())
    (row,) = csv.DictReader(
        line
        for number, line in enumerate(
            run_cli("predict", model, *tables.options).stdout.splitlines()
        )
        if number == 0 or '"person 7"' in line
    )
    percent = f"{100 * float(row['probability']):.1f} %"
    assert said.startswith(f"person 7 is labeled '{row['label']}' with {percent}; the runner-up is")
    for heading in ("by hop: +", "Features that counted most", "Nodes whose features carried most"):
        assert heading in said
    assert "hop 2 │" in outcome.stdout
    assert "x3" in outcome.stdout
    assert "log-odds" in outcome.stderr


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_picture_fits_its_terminal(run_cli, tables, model, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    words = ["--node", "person 7", "--node", "person 8"]
    outcome = run_cli("explain", model, *tables.with_labels, *words)
    lines = outcome.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert "person 8 is labeled" in " ".join(outcome.stdout.split())
    assert "\x1b" not in outcome.stdout


def test_as_json(run_cli, tables, model):
    words = ["--node", "person 7", "--node", "person 9", "--top-features", "2"]
    facts = run_cli("explain", model, *tables.options, *words, "--json").facts
    assert [each["node"] for each in facts["nodes"]] == ["person 7", "person 9"]
    for each in facts["nodes"]:
        assert sum(part["margin"] for part in each["parts"]) == pytest.approx(each["margin"])
        assert len(each["features"]) == 2
        assert each["label"] in FRUIT
    assert facts["notes"]


@pytest.mark.parametrize("rows", ["nodes", "hops", "features", "neighbors", "labeled"])
def test_files_of_every_kind(run_cli, tables, model, tmp_path, rows):
    ids = tmp_path / "ids.csv"
    ids.write_text("who\nperson 7\nperson 8\n")
    found = {}
    for ending in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"e.{ending}"
        words = ["--nodes", ids, "--rows", rows, "--out", out]
        outcome = run_cli("explain", model, *tables.with_labels, *words)
        assert outcome.code == 0, outcome.stderr
        assert "2 nodes" in outcome.stdout
        found[ending] = out
    exact = parquet.read_table(found["parquet"]).to_pylist()
    lines = [json.loads(line) for line in found["jsonl"].read_text().splitlines()]
    with found["csv"].open(newline="") as handle:
        table = list(csv.DictReader(handle))
    assert len(exact) == len(lines) == len(table) > 0
    assert {row["node"] for row in exact} == {"person 7", "person 8"}
    for row, line, text in zip(exact, lines, table, strict=True):
        assert line["margin"] == round(row["margin"], 6) == float(text["margin"])


def test_many_nodes_have_a_line_each(run_cli, tables, model, tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("who\n" + "".join(f"person {k}\n" for k in range(30)))
    outcome = run_cli("explain", model, *tables.options, "--nodes", ids)
    assert sum("person" in line for line in outcome.stdout.splitlines()) == 30
    assert "up to 20 nodes" in outcome.stderr


def test_labels_are_those_of_the_graph_where_the_file_does_not_name_training_nodes(
    run_cli, tables, model
):
    outcome = run_cli("explain", model, *tables.with_labels, "--node", "person 7")
    assert "does not say which nodes" in outcome.stderr
    without = run_cli("explain", model, *tables.options, "--node", "person 7")
    assert "Labeled nodes" not in without.stdout


def test_options_that_contradict_each_other(run_cli, tables, model):
    words = ["explain", model, *tables.options]
    assert "no node is given" in run_cli(*words).stderr
    both = run_cli(*words, "--node", "person 7", "--nodes", "x.csv")
    assert both.code == 3
    assert "--node cannot be combined with --nodes" in both.stderr
    alone = run_cli(*words, "--node", "person 7", "--rows", "hops")
    assert "--rows is only for --out" in alone.stderr
    ending = run_cli(*words, "--node", "person 7", "--out", "e.txt")
    assert "AGC-I808" in ending.stderr


def test_a_node_that_does_not_exist(run_cli, tables, model):
    outcome = run_cli("explain", model, *tables.options, "--node", "nobody")
    assert (outcome.code, outcome.stdout) == (3, "")
    assert "--node holds 1 id that the graph does not have; got" in outcome.stderr
    assert "nobody" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_models_that_are_no_sums_are_refused(run_cli, tables, tmp_path):
    path = fit(tables, tmp_path / "sgc.adagcn", "--model", "sgc")
    outcome = run_cli("explain", path, *tables.options, "--node", "person 7")
    assert (outcome.code, outcome.stdout) == (3, "")
    assert "a model of kind sgc is no sum over hops" in outcome.stderr
    assert "AGC-I1304" in outcome.stderr
    boosted = [key for key in CLASSES if issubclass(MODELS[key], BoostedClassifier)]
    assert tuple(boosted) == EXPLAINED


def test_another_graph_is_said(run_cli, tables, model, tmp_path):
    edges = tmp_path / "fewer.csv"
    edges.write_text("\n".join(tables.edges.read_text().splitlines()[:-1]) + "\n")
    words = ["--edges", edges, "--features", tables.features, "--node", "person 7"]
    outcome = run_cli("explain", model, *words)
    assert outcome.code == 0
    assert "fitted on another graph" in outcome.stderr


def test_escapes_formulas_and_long_names_are_text(run_cli, tmp_path):
    rows = [[float(i % 3 == k) + 0.1 for k in range(3)] for i in range(30)]
    graph = Graph.from_edges(
        (list(range(30)), [(i + 3) % 30 for i in range(30)]),
        features=rows,
        labels=[NASTY[i % 3] for i in range(30)],
        feature_names=["\x1b[2J", "=1+1", "y" * 5_000],
    )
    clf = AdaGCNClassifier(graph, preset="instant", n_layers=2, pseudo_labels=0, random_state=0)
    clf.fit(graph.node_ids[:15], graph.classes[graph.labels[:15]]).save(tmp_path / "m.adagcn")
    graph.to_npz(tmp_path / "g.npz")
    words = ["explain", tmp_path / "m.adagcn", tmp_path / "g.npz"]
    outcome = run_cli(*words, *(word for k in (20, 21, 22) for word in ("--node", k)))
    assert outcome.code == 0, outcome.stderr
    assert "\x1b" not in outcome.stdout + outcome.stderr
    assert max(map(len, outcome.stdout.splitlines())) <= 100
    assert "\\x1b[31mred" in outcome.stdout
    out = tmp_path / "e.csv"
    assert run_cli(*words, "--node", 21, "--out", out, "--rows", "features").code == 0
    assert "'=1+1" in out.read_text()
    shown = load_model(tmp_path / "m.adagcn", graph=graph).explain([20, 21, 22])._repr_html_()
    assert "<b>\\x1b" not in shown
    assert "&lt;b&gt;" in shown


@pytest.mark.parametrize("width", [24, 60, 200])
@pytest.mark.parametrize("values", [(1.0, -2.0), (0.0, 0.0), (-1e-9, 1e-12), (3.0, 2.0), (1e6, 5)])
def test_bars_fit_and_point_to_their_side(width, values):
    style = Style(width)
    lines = bars([(f"hop {k}", value) for k, value in enumerate(values)], style)
    for line, value in zip(lines, values, strict=True):
        text = str(line)
        assert len(text) <= width
        left, _, right = text.partition("│")
        assert (style.block in left) <= (value < 0)
        assert (style.block in right) <= (value > 0)
    longest = max(values, key=abs)
    if abs(longest) >= 0.01:
        assert style.block in str(lines[values.index(longest)])


def test_a_terminal_without_unicode_gets_ascii():
    lines = bars([("hop 0", -1.0), ("hop 1", 2.0)], Style(40, unicode=False))
    assert all(str(line).isascii() for line in lines)


def test_headlines():
    def sentence(*margins, last_change=0):
        parts = tuple(HopPart(hop, "ridge", margin) for hop, margin in enumerate(margins))
        deciding = max(range(len(margins)), key=lambda hop: margins[hop])
        total = sum(margins)
        each = NodeExplanation("ann", "Theory", "Rules", 0.93, total, parts, deciding, last_change)
        return headline(each)

    start = "ann is labeled 'Theory' with 93.0 %; the runner-up is 'Rules'."
    assert sentence(0.2, 1.0, 0.3) == f"{start} Hop 1 decided, with 66.7 % of the lead."
    assert sentence(0.5, 0.4, 0.3) == f"{start} Hop 0 counted most, with 41.7 % of the lead."
    assert sentence(-0.5, 0.7) == f"{start} Hop 1 decided: without it the runner-up would lead."
    assert sentence(0.5) == f"{start} Hop 0 alone voted."
    assert sentence(0.0, 0.0) == f"{start} The two are tied."


def test_training_nodes_are_listed_where_they_count():
    def shown(*labeled):
        near = (NeighborPart("bob", 1, 0.5, 0.6, "Rules", True),)
        parts = (HopPart(0, "ridge", 1.0),)
        each = NodeExplanation("ann", "Theory", "Rules", 0.9, 1.0, parts, 0, 0)
        console = Console(width=80, file=io.StringIO())
        console.print(explanation_view(replace(each, neighbors=near, labeled=labeled), Style(80)))
        return console.file.getvalue()

    known, unknown = (NeighborPart("eve", 2, 0.1, 0.2, "Theory", each) for each in (True, None))
    assert "Training nodes that carried most" in shown(known)
    assert "Labeled nodes that carried most" in shown(unknown)
    assert "Training" not in shown(replace(known, margin=0.001))
    again = NeighborPart("bob", 1, 0.5, 0.6, "Rules", None)
    assert "Labeled" not in shown(again)


def test_long_names_keep_their_ends():
    assert short("Machine_Learning/Theory", 15) == "Machine…/Theory"
    assert short("short") == "short"
