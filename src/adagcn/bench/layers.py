"""Real fits, counted per epoch: what the epoch of a layer leaves out, and AdaGCN's layer by layer.

An epoch alone is trained on rows that are ready. In a fit, a layer also propagates its hop, gathers
rows, learns from pseudo-labels from the ninth on, and scores the stopping and unlabeled nodes. All
of that is in the seconds here, divided by the epochs; columns, width and data are those of
:mod:`adagcn.bench.epochs`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.speed_plan import ADAGCN, HIDDEN_UNITS, SpeedPlan
from adagcn.bench.task import Task
from adagcn.bench.timing import Tick, seconds_of
from adagcn.models.support.registry import build_model
from adagcn.training.events import Callback, LayerEvent

WHOLE = "whole fit"
# Whose fits stand beside AdaGCN's: key, and settings at the width of everybody.
SYSTEMS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "GCN": ("gcn_es", {"hidden_units": HIDDEN_UNITS}),
        "APPNP": ("appnp", {"hidden_units": HIDDEN_UNITS}),
    }
)


@dataclass(frozen=True)
class TimedFit:
    """One fit: seconds and epochs of every layer, and of the whole fit."""

    seconds: NDArray[np.float64]
    epochs: NDArray[np.int64]
    whole: float

    def per_epoch(self, layers: slice) -> float:
        """Return seconds over epochs of some layers."""
        return float(self.seconds[layers].sum() / self.epochs[layers].sum())

    @property
    def whole_per_epoch(self) -> float:
        """Seconds of the fit over all epochs: what stands before and after the layers too."""
        return float(self.whole / self.epochs.sum())


@dataclass
class _LayerClock(Callback):
    """Notes when each layer ends, and after how many epochs."""

    ends: list[float] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)

    def on_layer(self, event: LayerEvent) -> None:
        """Take note of a layer."""
        self.ends.append(time.perf_counter())
        self.epochs.append(event.epochs or 0)


def layer_section(task: Task, plan: SpeedPlan, tick: Tick) -> Section:
    """Return seconds per epoch of real fits: AdaGCN's by layer, and those of GCN and APPNP."""
    fits: dict[str, Callable[[int], TimedFit]] = {
        ADAGCN: partial(timed_fit, task, "adagcn", "tuned", _like_all()),
        **{
            name: partial(timed_fit, task, key, "paper", settings)
            for name, (key, settings) in SYSTEMS.items()
        },
    }
    found: dict[str, list[TimedFit]] = {name: [] for name in fits}
    for repetition in range(plan.fits):
        for name, fit in fits.items():
            found[name].append(fit(task.seed + repetition))
            tick()
    first = first_pseudo_layer(task)
    return Section(
        key="layers",
        dataset=task.name,
        title=f"real fits, seconds per epoch with all around it, {HIDDEN_UNITS} hidden units",
        ratio_name="AdaGCN is faster by",
        rows=tuple(layer_rows(found, first)),
        facts={
            "hidden_units": HIDDEN_UNITS,
            "fits": plan.fits,
            "split": task.split.name,
            "first_pseudo_layer": first,
            "by_layer": by_layer(found[ADAGCN]),
        },
    )


def layer_rows(found: Mapping[str, Sequence[TimedFit]], first: int) -> list[Row]:
    """Return AdaGCN's layers before and from the first with pseudo-labels, and all whole fits.

    Parameters
    ----------
    found : mapping
        The fits of every system, AdaGCN's among them, with the same seeds in the same order.
    first : int
        The first layer with pseudo-labels.
    """
    own = found[ADAGCN]
    parts = {
        f"{ADAGCN}, layers 1–{first}": slice(first),
        f"{ADAGCN}, layers from {first + 1}, pseudo-labels too": slice(first, None),
    }
    samples = {name: [fit.per_epoch(layers) for fit in own] for name, layers in parts.items()}
    epochs = {name: [fit.epochs[layers].sum() for fit in own] for name, layers in parts.items()}
    for name, fits in found.items():
        samples[f"{name}, {WHOLE}"] = [fit.whole_per_epoch for fit in fits]
        epochs[f"{name}, {WHOLE}"] = [fit.epochs.sum() for fit in fits]
    reference = samples[f"{ADAGCN}, {WHOLE}"]
    return [
        Row(
            name,
            "adagcn" if name.startswith(ADAGCN) else "ours",
            measure(values),
            ratio(values, reference),
            {"epochs": float(np.mean(epochs[name]))},
        )
        for name, values in samples.items()
    ]


def by_layer(fits: Sequence[TimedFit]) -> list[float]:
    """Return the median seconds per epoch of every layer, as far as all fits go."""
    depth = min(len(fit.seconds) for fit in fits)
    table = [fit.seconds[:depth] / np.maximum(fit.epochs[:depth], 1) for fit in fits]
    return [float(value) for value in np.median(table, axis=0)]


def timed_fit(
    task: Task, key: str, preset: str, settings: Mapping[str, Any], seed: int
) -> TimedFit:
    """Fit one system, and note the time at the end of every layer."""
    model = build_model(key, task.graph, preset=preset, settings=settings, random_state=seed)
    clock = _LayerClock()
    start = time.perf_counter()
    whole = seconds_of(lambda: model.fit(**task.labeled, callbacks=[clock]))
    seconds = np.diff([start, *clock.ends])
    return TimedFit(seconds, np.array(clock.epochs, dtype=np.int64), whole)


def first_pseudo_layer(task: Task) -> int:
    """Return the first layer, from 0, that learns from pseudo-labels."""
    model = build_model("adagcn", task.graph, preset="tuned", settings=_like_all())
    return int(model.resolved_params()["variant.pseudo_label_from"])


def _like_all() -> dict[str, Any]:
    """Return what makes AdaGCN's epochs comparable: all columns, and the width of everybody."""
    return {"hidden_units": HIDDEN_UNITS, "max_features": "all"}
