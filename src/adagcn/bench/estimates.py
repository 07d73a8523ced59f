"""``adagcn bench estimates``: what a fit was estimated to take, against what it took.

Every case is fitted in a fresh process, which first asks :func:`adagcn.estimate` about the fit and
then measures its own peak of resident memory and its CPU time, of the fit and of a prediction for
all nodes.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from adagcn.bench.measures import Measure, Row, Section
from adagcn.bench.memory import forget_peak, peak_memory
from adagcn.bench.timing import Tick
from adagcn.data.generators import planted_partition
from adagcn.graph import Graph
from adagcn.models.estimates.estimate import estimate
from adagcn.models.support.registry import build_model

N_CLASSES = 10


@dataclass(frozen=True)
class Case:
    """One fit.

    Parameters
    ----------
    name : str
        What is shown.
    model, preset : str
        What is fitted.
    n_nodes, n_features, mean_degree : int
        Of the generated graph.
    n_train, n_stop : int
        Labeled nodes.
    words : int
        Stored values in a row of sparse features; 0: they are dense.
    settings : mapping
        Changes to the preset; few epochs, since more take no more memory.
    """

    name: str
    model: str
    preset: str
    n_nodes: int
    n_features: int
    mean_degree: int
    n_train: int = 1000
    n_stop: int = 500
    words: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


_FEW = {"max_epochs": 3, "patience": 3}
_BRIEF = {**_FEW, "n_layers": 4}
CASES: tuple[Case, ...] = (
    Case("tuned, dense", "adagcn", "tuned", 80_000, 500, 10, settings=_BRIEF),
    Case("tuned, sparse", "adagcn", "tuned", 60_000, 2_000, 8, words=30, settings=_BRIEF),
    Case("tuned, many labels", "adagcn", "tuned", 60_000, 400, 10, 40_000, 6_000, settings=_BRIEF),
    Case("tuned, many edges", "adagcn", "tuned", 60_000, 100, 120, settings=_BRIEF),
    Case("adaptive, dense", "adagcn", "adaptive", 80_000, 400, 10, 500, 300, settings=_FEW),
    Case("adaptive, sparse", "adagcn", "adaptive", 40_000, 900, 6, 500, 300, 20, _FEW),
    Case("instant, dense", "adagcn", "instant", 80_000, 500, 10, settings={"n_layers": 4}),
    Case("instant, sparse", "adagcn", "instant", 60_000, 1_000, 8, 1000, 0, 20, {"n_layers": 4}),
    Case("paper, dense", "adagcn", "paper", 60_000, 500, 10, 400, 400, settings=_BRIEF),
    Case("paper, sparse", "adagcn", "paper", 40_000, 1_000, 8, 400, 400, 20, _BRIEF),
    Case("adasgc, dense", "adasgc", "tuned", 80_000, 500, 10, settings=_BRIEF),
    Case("gcn, dense", "gcn", "paper", 80_000, 400, 10, settings={"max_epochs": 3}),
    Case("appnp, dense", "appnp", "paper", 60_000, 300, 10, settings={"max_epochs": 3}),
)


@dataclass(frozen=True)
class EstimatesPlan:
    """Which fits are measured; ``repetitions`` is there for the options and must be 1 in effect."""

    cases: Sequence[Case] = CASES
    repetitions: int = 1


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
    context = multiprocessing.get_context("spawn")
    for case in plan.cases:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            found = pool.submit(measured_case, case, seed).result()
        rows.append(_row(case, found))
        tick()
    ratios = [row.ratio.median for row in rows if row.ratio is not None]
    times = [row.facts["time_ratio"] for row in rows if row.facts["time_ratio"] is not None]
    yield Section(
        key="estimates",
        dataset="generated graphs",
        title="peak memory and CPU time of fits, estimated over measured",
        ratio_name="memory: estimated over measured",
        rows=tuple(rows),
        facts={
            "within_20_percent": sum(1 / 1.2 <= each <= 1.2 for each in ratios),
            "times_within_two": sum(0.5 <= each <= 2.0 for each in times),
            "cases": len(ratios),
            "timed": len(times),
        },
    )


def measured_case(case: Case, seed: int) -> dict[str, float | None]:
    """Return what one fit was estimated to take, and what it took; for a process of its own."""
    graph = case_graph(case, seed)
    order = np.random.default_rng(seed).permutation(case.n_nodes)
    train, stop = order[: case.n_train], order[case.n_train :][: case.n_stop]
    settings = dict(case.settings)
    model = build_model(case.model, graph, preset=case.preset, settings=settings, random_state=seed)
    told = estimate(graph, model, n_train=case.n_train, n_stop=case.n_stop, timed=True)
    phases = {phase.name: phase.n_bytes for phase in told.phases}
    words: dict[str, Any] = {}
    if len(stop):
        words = {"X_val": graph.node_ids[stop], "y_val": graph.labels[stop]}
    forget_peak()
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(graph.node_ids[train], graph.labels[train], **words)
        seconds, fit_peak = time.process_time() - start, peak_memory()
        forget_peak()
        model.predict(graph.node_ids)
    fitted = [n_bytes for name, n_bytes in phases.items() if name != "prediction"]
    return {
        "estimated_bytes": max(fitted),
        "peak_bytes": fit_peak,
        "estimated_prediction_bytes": phases["prediction"],
        "prediction_bytes": peak_memory(),
        "estimated_seconds": told.fit_seconds,
        "seconds": seconds,
    }


def case_graph(case: Case, seed: int) -> Graph:
    """Return the generated graph of a case, with dense features or with words."""
    width = 2 if case.words else case.n_features
    graph = planted_partition(
        case.n_nodes, N_CLASSES, width, seed=seed, mean_degree=case.mean_degree
    )
    if not case.words:
        return graph
    rng = np.random.default_rng(seed)
    shape = (case.n_nodes, case.words)
    drawn = (case.n_features * np.square(rng.random(shape))).astype(np.int32)  # some are frequent
    columns = (drawn + 7 * graph.labels[:, None].astype(np.int32)) % case.n_features
    ends = np.arange(0, case.words * (case.n_nodes + 1), case.words, dtype=np.int32)
    values = np.ones(case.words * case.n_nodes, dtype=np.float32)
    words = sparse.csr_array((values, columns.ravel(), ends), shape=(case.n_nodes, case.n_features))
    words.sum_duplicates()
    return Graph(graph.adjacency, words, graph.node_ids, graph.labels, graph.classes, name="words")


def _row(case: Case, found: dict[str, Any]) -> Row:
    memory, seconds = found["peak_bytes"], found["estimated_seconds"]
    ratio = None if memory is None else Measure(found["estimated_bytes"] / memory)
    later = found["prediction_bytes"]
    facts = {
        **found,
        "time_ratio": None if seconds is None else seconds / found["seconds"],
        "prediction_ratio": later and found["estimated_prediction_bytes"] / later,
        "model": case.model,
        "preset": case.preset,
    }
    return Row(case.name, case.model, Measure(found["seconds"]), ratio, facts)
