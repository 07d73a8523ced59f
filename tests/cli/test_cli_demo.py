from __future__ import annotations

import importlib

import pytest

from adagcn.data import planted_partition
from adagcn.report import drawing

demo = importlib.import_module("adagcn.cli.demo")


@pytest.fixture
def small_demo(monkeypatch):
    """The demo on a graph of a few nodes."""
    graph = planted_partition(150, 3, 6, seed=1, homophily=0.95, mean_degree=8, feature_signal=2)
    monkeypatch.setattr("adagcn.data.load_dataset", lambda name: graph)
    monkeypatch.setattr(demo, "_SPLIT", "stratified:0")


@pytest.mark.parametrize("columns", [60, 80])
def test_the_demo_fits_the_terminal_and_leaves_a_figure_and_a_model(
    run_cli, small_demo, tmp_path, monkeypatch, columns
):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(tmp_path)
    outcome = run_cli("demo")
    assert outcome.code == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    commands = lines[lines.index("Next:") :]  # are not broken, so that they can be copied
    assert max(map(len, lines[1 : -len(commands)])) <= columns
    for word in ("AdaGCN", "perceptron", "logistic regression", "adaptive", "Chosen on", "●"):
        assert word in outcome.stdout
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["adagcn-demo.adagcn", "adagcn-demo.png"]


def test_the_demo_in_json(run_cli, small_demo, tmp_path):
    facts = run_cli("demo", "--out-dir", tmp_path, "--json").facts
    ours, perceptron, _ = facts["comparison"]
    assert ours["accuracy"] == facts["accuracy"] > perceptron["accuracy"]
    assert "propagation" in facts["look"] or "teleport" in facts["look"]
    assert "teleport" in facts["choices"]
    assert facts["figure"] == str(tmp_path / "adagcn-demo.png")
    again = run_cli("demo", "--out-dir", tmp_path, "--json").facts
    assert again["model_digest"] == facts["model_digest"]


def test_without_matplotlib_the_demo_goes_on(run_cli, small_demo, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    outcome = run_cli("demo", "--out-dir", tmp_path, "--json")
    assert outcome.code == 0
    assert outcome.facts["figure"] is None
    assert "pip install 'adagcn[report]'" in outcome.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["adagcn-demo.adagcn"]


def test_a_folder_that_is_not_there(run_cli, tmp_path):
    outcome = run_cli("demo", "--out-dir", tmp_path / "nowhere")
    assert outcome.code == 3
    assert "nowhere" in outcome.stderr


@pytest.mark.slow
def test_the_demo_on_the_packaged_graph(run_cli, tmp_path):
    facts = run_cli("demo", "--out-dir", tmp_path, "--json").facts
    assert facts["dataset"] == "cora"
    assert facts["split"] == "val:0"
    ours, *controls = (each["accuracy"] for each in facts["comparison"])
    assert ours > max(controls) + 0.15
