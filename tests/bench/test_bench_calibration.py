"""``adagcn bench calibration``: the rows, the record, and what stands in it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adagcn.bench import calibration
from adagcn.cli import main
from adagcn.data import load_dataset, make_split, with_calibration
from adagcn.models import AdaGCNClassifier


@pytest.fixture
def on_cora(monkeypatch):
    """One quick row of each part, on the packaged data set."""
    rows = {"error": (("adagcn", "instant", "cora"),), "sets": (("adagcn", "instant", "cora"),)}
    monkeypatch.setattr(calibration, "ROWS", rows)


def test_fits_are_recorded_and_not_repeated(on_cora, tmp_path, capsys, monkeypatch):
    keep = tmp_path / "fits.jsonl"
    words = ["bench", "calibration", "--splits", "2", "--keep", str(keep)]
    assert main(words) == 0
    lines = [json.loads(line) for line in keep.read_text().splitlines()]
    assert [(each["fit"]["part"], each["fit"]["split"]) for each in lines] == [
        ("error", "val:0"), ("error", "val:1"), ("sets", "val:0"), ("sets", "val:1"),
    ]  # fmt: skip
    assert all(each["result"]["code"]["adagcn"] for each in lines)
    capsys.readouterr()
    monkeypatch.setattr(calibration, "measured", None)  # would fail
    assert main([*words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    coverage = [each["result"]["coverage"] for each in lines[2:]]
    assert facts["sets"][0]["coverage"]["mean"] == pytest.approx(np.mean(coverage))
    assert main([*words, "--no-training", "--format", "md", "--part", "error"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].startswith("| data set, model and preset | splits | accuracy, % |")
    assert len(table) == 3
    before = [100 * each["result"]["error_before"] for each in lines[:2]]
    assert f" {np.mean(before):.2f} [" in table[2]


def test_a_result_is_that_of_the_model_itself(on_cora):
    graph = load_dataset("cora")
    fit = calibration.planned(["sets"], 1, 0)[0]
    found = calibration.measured(fit, graph)
    split = with_calibration(make_split(graph, "val:0"), 0.5)
    ids = {role: graph.ids_and_labels(getattr(split, f"{role}_nodes"))
           for role in ("train", "stop", "calibration", "score")}  # fmt: skip
    clf = AdaGCNClassifier(graph, preset="instant", random_state=0)
    (X_val, y_val), (X_cal, y_cal) = ids["stop"], ids["calibration"]
    clf.fit(*ids["train"], X_val=X_val, y_val=y_val, X_cal=X_cal, y_cal=y_cal)
    nodes, labels = ids["score"]
    assert found["coverage"] == clf.predict_set(nodes, 0.9).covers(labels).mean()
    assert found["accuracy"] == clf.score(nodes, labels)
    assert found["sizes"]["calibration"] == found["sizes"]["stop"] == 250


def test_too_many_splits_are_refused(capsys):
    assert main(["bench", "calibration", "--part", "error", "--splits", "11"]) == 3
    assert "--splits is more than the 10 of the part error" in capsys.readouterr().err
