"""``adagcn doctor``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adagcn.graph import Graph

# Tiny graphs made by hand have a few repeated edges.
pytestmark = pytest.mark.filterwarnings("ignore::adagcn.errors.GraphNotice")


def test_advice_comes_first_and_sections_follow(run_cli, tables):
    outcome = run_cli("doctor", *tables.with_labels)
    assert outcome.code == 0
    places = [
        outcome.stdout.index(each)
        for each in ("Advice", "Structure", "Labels", "Features", "Learning curve", "Hops")
    ]
    assert places == sorted(places)
    assert "The graph helps" in outcome.stdout


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_it_fits_the_terminal(run_cli, monkeypatch, tables, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = run_cli("doctor", *tables.with_labels)
    assert outcome.code == 0
    assert max(map(len, outcome.stdout.splitlines())) <= columns
    assert ("█" in outcome.stdout) == (columns >= 60)


def test_json_is_one_object_with_the_same_numbers_for_the_same_seed(run_cli, tables):
    first = run_cli("doctor", *tables.with_labels, "--json", "--seed", 3).facts
    assert first == run_cli("doctor", *tables.with_labels, "--json", "--seed", 3).facts
    assert first["seed"] == 3
    assert first["graph"]["nodes"] == first["structure"]["n_nodes"] == 160
    assert {"topic", "sentence"} == set(first["advice"][0])


def test_without_labels_it_says_so(run_cli, tables):
    outcome = run_cli("doctor", *tables.options)
    assert outcome.code == 0
    assert "There are no labels" in outcome.stdout
    assert "too few labels to tell" in outcome.stdout


def test_edges_alone_are_enough(run_cli, tables):
    outcome = run_cli("doctor", "--edges", tables.edges, "--labels", tables.labels)
    assert outcome.code == 0
    assert "There are no features, and the edges alone tell the labels" in outcome.stdout


def test_names_of_users_cannot_move_the_cursor(run_cli, tmp_path):
    rng = np.random.default_rng(4)
    labels = np.array(["\x1b[2J\x1b[31mred", "two\nlines", "=cmd()"])[np.arange(60) % 3]
    names = [f"\x1b]0;t{k}\x07" + "y" * 300 for k in range(3)]
    features = rng.standard_normal((60, 3))
    features[:, 0] = np.arange(60) % 3
    graph = Graph.from_edges(
        rng.integers(60, size=(100, 2)), features=features, labels=labels, feature_names=names
    )
    graph.to_npz(tmp_path / "odd.npz")
    outcome = run_cli("doctor", tmp_path / "odd.npz")
    assert outcome.code == 0
    assert "\x1b" not in outcome.stdout
    assert "\x07" not in outcome.stdout
    assert "tells the labels apart by itself" in outcome.stdout
    assert json.loads(run_cli("doctor", tmp_path / "odd.npz", "--json").stdout)


def test_no_graph_is_one_line(run_cli):
    outcome = run_cli("doctor")
    assert outcome.code == 3
    assert outcome.stderr.count("\n") == 1
    assert "AGC-I810" in outcome.stderr
