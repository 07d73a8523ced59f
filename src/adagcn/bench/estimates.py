"""``adagcn bench estimates``: what a fit was estimated to take, against what it took.

Every case is fitted in a fresh process, which first asks :func:`adagcn.estimate` about the fit and
then measures its own peak of memory and the CPU time of all of its threads, of the fit and of a
prediction for all nodes. Of a graph in a store, pages of mapped files do not count, and the
processes that make the hops do; the files of the fit are counted as well.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adagcn.bench.estimate_cases import CASES, Case, case_graph
from adagcn.bench.measures import Measure, Row, Section
from adagcn.bench.memory import forget_peak, peak_memory, watched
from adagcn.bench.timing import Tick
from adagcn.engines import Engine, Serial, engine_named, using
from adagcn.engines.memory import own_memory
from adagcn.engines.processes import Processes
from adagcn.graph import Graph
from adagcn.models.estimates.estimate import Estimate, estimate
from adagcn.models.support.registry import build_model


@dataclass(frozen=True)
class EstimatesPlan:
    """Which fits are measured, each once."""

    cases: Sequence[Case] = CASES


def measure_estimates(plan: EstimatesPlan, *, seed: int = 0, tick: Tick) -> Iterator[Section]:
    """Yield one section: estimated over measured, a row for each case.

    Parameters
    ----------
    plan : EstimatesPlan
        Which cases.
    seed : int
        Seed of graphs and fits.
    tick : callable
        Called after every fit.
    """
    rows = []
    for case in plan.cases:
        rows.append(_row(case, _measured(case, seed)))
        tick()
    memory, predictions, times = (
        [row.facts[name] for row in rows if row.facts[name] is not None]
        for name in ("memory_ratio", "prediction_ratio", "time_ratio")
    )
    yield Section(
        key="estimates",
        dataset="generated graphs",
        title="peak memory and CPU time of fits, estimated over measured",
        ratio_name="memory: estimated over measured",
        rows=tuple(rows),
        facts={
            "peaks": [_within(1.2, memory), len(memory)],
            "predictions": [_within(1.2, predictions), len(predictions)],
            "times": [_within(2.0, times), len(times)],
        },
    )


def _measured(case: Case, seed: int) -> dict[str, Any]:
    """Return what a case was estimated to take and what it took, measured in a new process."""
    with tempfile.TemporaryDirectory(prefix="adagcn-bench-") as folder:
        store = Path(folder) / "store" if case.is_stored else None
        if store is not None:
            _in_new_process(_make_store, case, seed, store)
        found: dict[str, Any] = _in_new_process(measured_case, case, seed, store)
    return found


def _in_new_process(fn: Callable[..., Any], *words: Any) -> Any:
    """Return what a function returns in a process of its own, which ends with this one."""
    found: list[Any] = []
    engine = Processes(1)
    engine.map(_called, [words], fn, on_result=lambda _, result: found.append(result), retries=0)
    return found[0]


def _called(words: tuple[Any, ...], fn: Callable[..., Any]) -> Any:
    return fn(*words)


def _make_store(case: Case, seed: int, folder: Path) -> None:
    case_graph(case, seed).to_store(folder)


def measured_case(case: Case, seed: int, store: Path | None = None) -> dict[str, Any]:
    """Return what one fit was estimated to take, and what it took; for a process of its own."""
    graph = case_graph(case, seed) if store is None else Graph.from_store(store)
    order = np.random.default_rng(seed).permutation(case.n_nodes)
    train, stop = order[: case.n_train], order[case.n_train :][: case.n_stop]
    settings = dict(case.settings)
    model = build_model(case.model, graph, preset=case.preset, settings=settings, random_state=seed)
    start = time.process_time()
    engine, counts = engine_named(workers=case.workers), (case.n_train, case.n_stop)
    told = _asked(graph, model, counts, engine)
    calibration = time.process_time() - start
    words: dict[str, Any] = {}
    if len(stop):
        words = {"X_val": graph.node_ids[stop], "y_val": graph.labels[stop]}
    held = own_memory()
    libraries = held["VmRSS"] - held["RssAnon"]
    with warnings.catch_warnings(), using(engine):
        warnings.simplefilter("ignore")
        fit = _cost(
            lambda: model.fit(graph.node_ids[train], graph.labels[train], **words), store, libraries
        )
        prediction = _cost(lambda: model.predict(graph.node_ids), store, libraries)
    return {**_told(told), "calibration_seconds": calibration, "fit": fit, "prediction": prediction}


def _asked(graph: Graph, model: Any, counts: tuple[int, int], engine: Engine) -> Estimate:
    """Ask about a fit; the CPU time of other processes is not ours to measure."""
    timed = isinstance(engine, Serial)
    return estimate(graph, model, n_train=counts[0], n_stop=counts[1], timed=timed, engine=engine)


def _cost(do: Callable[[], object], store: Path | None, libraries: int) -> dict[str, Any]:
    """Return CPU seconds and the peak of memory, of a store beyond its mapped files.

    ``libraries`` are the mapped files of the process that are not of the store.
    """
    forget_peak()
    start = time.process_time()
    if store is None:
        do()
        return {"seconds": time.process_time() - start, "bytes": peak_memory()}
    with watched(store) as seen:
        do()
    seconds = time.process_time() - start - seen.own_seconds
    peak = None if seen.peak is None else libraries + seen.peak
    return {"seconds": seconds, "bytes": peak, "disk": seen.disk}


def _told(told: Estimate) -> dict[str, Any]:
    phases = {phase.name: phase.n_bytes for phase in told.phases}
    seconds = told.seconds
    return {
        "told_bytes": max(each for name, each in phases.items() if name != "prediction"),
        "told_prediction_bytes": phases["prediction"],
        "told_disk": told.disk_bytes,
        "told_seconds": told.fit_seconds,
        "told_prediction_seconds": None if seconds is None else seconds["prediction"],
    }


def _row(case: Case, found: dict[str, Any]) -> Row:
    fit, prediction = found["fit"], found["prediction"]
    memory = _ratio(found["told_bytes"], fit["bytes"])
    facts = {
        **found,
        "memory_ratio": memory,
        "prediction_ratio": _ratio(found["told_prediction_bytes"], prediction["bytes"]),
        "disk_ratio": _ratio(found["told_disk"], fit.get("disk")),
        "time_ratio": _ratio(found["told_seconds"], fit["seconds"]),
        "prediction_time_ratio": _ratio(found["told_prediction_seconds"], prediction["seconds"]),
        "model": case.model,
        "preset": case.preset,
    }
    shown = None if memory is None else Measure(memory)
    return Row(case.name, case.model, Measure(fit["seconds"]), shown, facts)


def _within(factor: float, ratios: Sequence[float]) -> int:
    """Return how many ratios are within a factor of 1."""
    return sum(1 / factor <= each <= factor for each in ratios)


def _ratio(told: float | None, taken: float | None) -> float | None:
    return None if told is None or not taken else told / taken
