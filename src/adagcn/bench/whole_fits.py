"""``adagcn bench fits``: what a whole fit and a prediction cost, of every system, in CPU seconds.

All systems fit the same split (``val:0``) of the same graphs, one after the other in one process,
and then again with the next seed. A fit of more than :data:`LONG_SECONDS` is not repeated. A
recorded fit is known by its model, resolved settings, graph, split, seed, threads and processor;
the code that made it stands beside its result.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score

from adagcn.bench.kept_fits import KeptFits
from adagcn.bench.machine import machine
from adagcn.bench.task import Task
from adagcn.bench.timing import cpu_seconds_of
from adagcn.data.generators import planted_partition
from adagcn.errors import FormatError
from adagcn.graph import Graph
from adagcn.models.support.classifier import NodeClassifier
from adagcn.models.support.registry import build_model, model_class

LONG_SECONDS = 60.0


@dataclass(frozen=True)
class System:
    """A model with its settings.

    Parameters
    ----------
    label : str
        What tables call it.
    model, preset : str
        Key of the registry and name of a preset.
    settings : mapping
        What differs from the preset.
    left_out : tuple of str
        Data sets that it is not fitted on, since a fit would take too long.
    settings_on : mapping
        All that differs from the preset on single data sets, by name, instead of ``settings``.
    """

    label: str
    model: str
    preset: str
    settings: Mapping[str, Any]
    left_out: tuple[str, ...] = ()
    settings_on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def on(self, graph: Graph, seed: int | None = None) -> NodeClassifier:
        """Return the model for a graph, not fitted yet."""
        settings = self.settings_on.get(graph.name or "", self.settings)
        return build_model(
            self.model, graph, preset=self.preset, settings=settings, random_state=seed
        )


@dataclass(frozen=True)
class FitCost:
    """Medians over the recorded fits of a system on one data set.

    Parameters
    ----------
    fit_seconds, predict_seconds : float
        CPU seconds of a fit, and of predicting every node of the graph once.
    accuracy : float
        Mean on the scored nodes of ``val:0``, for a look only.
    n : int
        How many fits.
    clock_share : float
        Seconds by the clock over CPU seconds, the largest: far above 1, something else ran.
    """

    fit_seconds: float
    predict_seconds: float
    accuracy: float
    n: int
    clock_share: float

    @property
    def seconds(self) -> float:
        """CPU seconds of a fit and a prediction."""
        return self.fit_seconds + self.predict_seconds


def settings_digest(model: str, params: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a model's key and its resolved settings; None is not set."""
    there = {name: value for name, value in params.items() if value is not None}
    return hashlib.sha256(json.dumps([model, there], sort_keys=True).encode()).hexdigest()


def measure_fits(
    tasks: Sequence[Task],
    systems: Sequence[System],
    kept: KeptFits,
    code: Callable[[], Mapping[str, Any]],
    *,
    runs: int,
    threads: int,
) -> Iterator[str]:
    """Fit what is not recorded, and yield the name of each fit when it is over.

    Parameters
    ----------
    tasks : sequence of Task
        Graphs and splits; the seed of a task is that of its first fit.
    systems : sequence of System
        Who is fitted, in this order in each round.
    kept : KeptFits
        Where finished fits are, and go.
    code : callable
        Gives what is recorded of the code beside each result.
    runs : int
        Rounds through all systems, each with the next seed.
    threads : int
        Threads in force, which the caller sees to.
    """
    warm: set[str] = set()
    for repetition in range(runs):
        for task in tasks:
            for system in systems:
                if task.name in system.left_out:
                    continue
                words = _words(system, task, task.seed + repetition, threads)
                first = kept.find(_words(system, task, task.seed, threads))
                long = first is not None and first["fit_cpu_seconds"] > LONG_SECONDS
                if kept.find(words) is None and not (repetition and long):
                    if system.label not in warm:
                        warm_up(system)
                        warm.add(system.label)
                    kept.add(words, {**fit_once(system, task, words["seed"]), "code": dict(code())})
                yield f"{system.label} on {task.name}"


def fit_once(system: System, task: Task, seed: int) -> dict[str, Any]:
    """Fit one system, predict every node, and return what both took."""
    graph = task.graph
    _ = (
        graph.digest,
        graph.is_directed,
        graph.has_node_columns,
    )  # a graph keeps these: not one fit's
    graph.positions(graph.node_ids[:1], "ids")
    model = system.on(graph, seed)
    arguments = task.labeled
    fit = cpu_seconds_of(lambda: model.fit(**arguments))
    predict = cpu_seconds_of(lambda: model.predict_proba(graph.node_ids))
    ids, labels = graph.ids_and_labels(task.split.score_nodes)
    return {
        "fit_cpu_seconds": round(fit.cpu, 4),
        "predict_cpu_seconds": round(predict.cpu, 4),
        "seconds": round(fit.clock + predict.clock, 4),
        "accuracy": float(accuracy_score(labels, model.predict(ids))),
    }


def warm_up(system: System) -> None:
    """Fit a few nodes for a few epochs, so that no timed fit loads what libraries put off."""
    graph = planted_partition(60, 3, 16, seed=0, mean_degree=5)
    short = {"max_epochs": 2} if "max_epochs" in model_class(system.model).settable() else {}
    settings = {**system.settings, **short}
    model = build_model(
        system.model, graph, preset=system.preset, settings=settings, random_state=0
    )
    X, y = graph.ids_and_labels(np.arange(30))
    X_val, y_val = graph.ids_and_labels(np.arange(30, 60))
    model.fit(X, y, X_val=X_val, y_val=y_val).predict_proba(graph.node_ids)


def recorded_costs(kept: KeptFits, *, threads: int = 1) -> tuple[str | None, dict[Any, FitCost]]:
    """Return the processor with the most recorded fits, and the costs that were measured on it.

    Times of two processors are not compared.

    Parameters
    ----------
    kept : KeptFits
        The record.
    threads : int
        Fits with as many threads.

    Returns
    -------
    processor : str or None
        None if nothing is recorded.
    costs : dict
        By digest of the settings and name of the data set.
    """
    there = [(words, result) for words, result in _entries(kept) if words["threads"] == threads]
    if not there:
        return None, {}
    # The name decides between equal counts, not the order of the file.
    counts = Counter(words["processor"] for words, _ in there)
    processor = min(counts, key=lambda name: (-counts[name], name))
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for words, result in there:
        if words["processor"] == processor:
            found.setdefault((words["settings"], words["dataset"]), []).append(result)
    return processor, {place: _cost(results) for place, results in found.items()}


def _entries(kept: KeptFits) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the fits of a record; refuse a record of something else."""
    for words, result in kept.entries():
        if not ({"settings", "processor"} <= set(words) and "fit_cpu_seconds" in result):
            raise FormatError(
                "AGC-F2201",
                "the record holds other fits than those of adagcn bench fits",
                got=sorted(words),
                fix="give the file that adagcn bench fits --keep wrote",
            )
        yield words, result


def _cost(results: Sequence[Mapping[str, Any]]) -> FitCost:
    cpu = [each["fit_cpu_seconds"] + each["predict_cpu_seconds"] for each in results]
    return FitCost(
        fit_seconds=median(each["fit_cpu_seconds"] for each in results),
        predict_seconds=median(each["predict_cpu_seconds"] for each in results),
        accuracy=sum(each["accuracy"] for each in results) / len(results),
        n=len(results),
        clock_share=max(
            each["seconds"] / max(t, 1e-9) for each, t in zip(results, cpu, strict=True)
        ),
    )


def place_of(system: System, graph: Graph) -> tuple[str, str]:
    """Return where the cost of a system on a graph stands among the recorded ones."""
    params = system.on(graph).resolved_params()
    return settings_digest(system.model, params), graph.name or "graph"


def _words(system: System, task: Task, seed: int, threads: int) -> dict[str, Any]:
    """Return all that determines a fit and its time, but for the code."""
    digest, dataset = place_of(system, task.graph)
    return {
        "model": system.model,
        "preset": system.preset,
        "settings": digest,
        "dataset": dataset,
        "data": task.graph.digest,
        "split": task.split.name,
        "seed": seed,
        "threads": threads,
        "processor": machine()["processor"],
    }
