"""A small experiment that the tests of the harness share."""

from __future__ import annotations

from adagcn.data import planted_partition
from adagcn.experiments.runs import RunResult
from adagcn.experiments.spec_files import make_spec

QUICK = {"n_layers": 2, "max_epochs": 8, "hidden_units": 4}
GRAPH = planted_partition(90, 3, 6, seed=1, homophily=0.9, mean_degree=6)
GRAPHS = {"toy": GRAPH}


def toy_fields(**changes):
    fields = {
        "title": "Toy",
        "splits": "stratified",
        "n_splits": 2,
        "n_inits": 2,
        "columns": [{"label": "Toy", "dataset": "toy", "train_per_class": 6}],
        "rows": [
            {"label": "AdaGCN", "model": "adagcn", "settings": QUICK},
            {"label": "logistic", "model": "logistic", "settings": {"C": 100.0}, "n_inits": 1},
        ],
    }
    return {**fields, **changes}


def toy_spec(**changes):
    return make_spec(toy_fields(**changes), "toy")


def some_result(accuracy=0.5, **changes):
    fields = {
        "accuracy": accuracy,
        "stop_accuracy": None,
        "accuracy_by_depth": [0.25, accuracy],
        "epochs_by_layer": [3, None],
        "seconds": 1.5,
        "peak_memory_mb": None,
        "model_digest": "ab" * 32,
        "notices": ["careful"],
        "versions": {"adagcn": "0", "commit": None},
        "finished": "2021-05-03T12:00:00+00:00",
    }
    return RunResult(**{**fields, **changes})
