"""Whole fits: ``tuned``, and GCN and APPNP by PPNP's rule, with accuracy on the scored nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.speed_plan import ADAGCN, SpeedPlan
from adagcn.bench.task import Task
from adagcn.bench.timing import Tick, seconds_of
from adagcn.models.support.registry import model_class

_PEER = "PyG APPNP"

# Fits with a seed; returns the seconds of the fit alone, the accuracy, and whether it was finished.
Fit = Callable[[int], tuple[float, float, bool]]


def fit_section(task: Task, plan: SpeedPlan, tick: Tick) -> Section:
    """Return the time of whole fits with all layers, and their accuracy."""
    fits = _fits(task, plan)
    found: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in fits}
    for repetition in range(plan.fits):
        for name, fit in fits.items():
            found[name].append(fit(task.seed + repetition))
            tick()
    tables = {name: np.array(values) for name, values in found.items()}
    rows = [
        Row(
            name,
            {ADAGCN: "adagcn", _PEER: "peer"}.get(name, "ours"),
            measure(table[:, 0]),
            ratio(table[:, 0], tables[ADAGCN][:, 0]),
            {"accuracy": float(table[:, 1].mean()), **_unfinished(table[:, 2], plan)},
        )
        for name, table in tables.items()
    ]
    return Section(
        key="fit",
        dataset=task.name,
        title=f"whole fit on {task.split.name}; GCN and APPNP by PPNP's rule",
        ratio_name="AdaGCN is faster by",
        rows=tuple(rows),
        facts={"split": task.split.name, "fits": plan.fits},
    )


def _fits(task: Task, plan: SpeedPlan) -> dict[str, Fit]:
    fits: dict[str, Fit] = {
        ADAGCN: partial(_fit, task, "adagcn", "tuned"),
        "GCN": partial(_fit, task, "gcn_es", "paper"),
        "APPNP": partial(_fit, task, "appnp", "paper"),
    }
    if plan.fit_peers and any(peer.name == _PEER and peer.is_installed for peer in plan.peers):
        fits[_PEER] = _pyg_fit(task, plan)
    return fits


def _unfinished(finished: NDArray[np.float64], plan: SpeedPlan) -> dict[str, str]:
    """Return a note if the clock ended a fit: then the times and ratios are too small."""
    if finished.all():
        return {}
    return {"note": f"cut off after {plan.most_fit_seconds:g} s: it takes longer than shown"}


def _fit(task: Task, key: str, preset: str, seed: int) -> tuple[float, float, bool]:
    model: Any = model_class(key)(task.graph, preset=preset, random_state=seed)
    seconds = seconds_of(lambda: model.fit(**task.labeled))
    nodes, labels = task.graph.ids_and_labels(task.split.score_nodes)
    return seconds, float(accuracy_score(labels, model.predict(nodes))), True


def _pyg_fit(task: Task, plan: SpeedPlan) -> Fit:
    from adagcn.bench.pyg_models import fit_appnp, make_data

    data = make_data(task)

    def fit(seed: int) -> tuple[float, float, bool]:
        ends: list[tuple[float, bool]] = []
        limit = plan.most_fit_seconds
        seconds = seconds_of(lambda: ends.append(fit_appnp(data, seed, max_seconds=limit)))
        return seconds, *ends[0]

    return fit
