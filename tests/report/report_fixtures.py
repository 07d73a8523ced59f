"""Small graphs with hostile labels, and models of them, for the tests of the pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adagcn.data import make_split, planted_partition
from adagcn.data.nodesets import fit_on_split
from adagcn.experiments.runs import Run, RunResult
from adagcn.models.support.registry import build_model

HOSTILE = (
    "<script>alert(1)</script>",
    "=cmd()|'/C calc'!A0",
    '\x1b[31mred\x1b[0m & "quoted" </text></svg> $x^2$',
)


def hostile_graph(n_nodes=150, *, n_classes=3, seed=0):
    """A graph that is easy to learn, whose labels, ids and columns try to break the page."""
    graph = planted_partition(n_nodes, n_classes, 8, seed=seed, homophily=0.9, mean_degree=6)
    return replace(
        graph,
        name="<b>my</b> graph",
        classes=np.array(HOSTILE[:n_classes]),
        node_ids=np.array([f"<i>node</i> {node}" for node in range(n_nodes)]),
        feature_names=np.array([f"<u>column</u> {k}" for k in range(8)]),
        changes=("7 rows left out: <img src=x onerror=alert(1)>",),
    )


def fitted(graph, key="adagcn", *, preset="instant", split="holdout:0", **settings):
    """A fitted model and its split."""
    chosen = make_split(graph, split)
    model = build_model(key, graph, preset=preset, settings=settings, random_state=0)
    fit_on_split(model, graph, chosen)
    return model, chosen


def finished_run(model, split, *, init=0, preset="tuned", accuracy=None, **params):
    """A run that somebody might have finished, and its result."""
    run = Run(
        model=model,
        preset=preset,
        params=params,
        dataset="<b>toy</b>",
        data_digest="0" * 64,
        split=f"val:{split}",
        split_digest=f"{split:064d}",
        train_per_class=None,
        init=init,
        seed=init,
    )
    found = 0.5 + ord(model[0]) / 1000 + split / 100 if accuracy is None else accuracy
    result = RunResult(
        accuracy=found,
        stop_accuracy=None,
        accuracy_by_depth=[found],
        epochs_by_layer=[],
        seconds=1.0,
        peak_memory_mb=None,
        model_digest="1" * 64,
        notices=[],
        versions={},
        finished="once",
        fit_cpu_seconds=2.0,
    )
    return run, result
