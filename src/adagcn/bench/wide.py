"""An epoch of a wide layer, against the matrix products that it cannot avoid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.our_models import adagcn_task
from adagcn.bench.speed_plan import ADAGCN, HOP, SpeedPlan
from adagcn.bench.task import Task
from adagcn.bench.timing import Contestant, Tick
from adagcn.training.hop_fitter import HopTask

BARE = "bare products"


def wide_section(task: Task, plan: SpeedPlan, tick: Tick) -> Section:
    """Return the speed of an epoch relative to its bare products, including stopping evaluation."""
    wide = adagcn_task(task, hidden_units=plan.wide_units, max_features="all")
    (rows,) = wide.hop_tasks([HOP])
    contestants = [
        wide.contestant(rows, ADAGCN),
        Contestant(BARE, "bound", bare_products(rows, plan.wide_units)),
    ]
    samples = plan.epochs(contestants, tick)
    operations = n_operations(rows, plan.wide_units)
    share = ratio(samples[BARE], samples[ADAGCN]).median
    return Section(
        key="wide",
        dataset=task.name,
        title=f"one epoch with {plan.wide_units:,} hidden units against its bare products",
        ratio_name="share of the bare speed",
        rows=tuple(
            Row(
                each.name,
                each.group,
                measure(samples[each.name]),
                ratio(samples[BARE], samples[each.name]),
                {"gflops": operations / float(np.median(samples[each.name])) / 1e9},
            )
            for each in contestants
        ),
        facts={
            "hidden_units": plan.wide_units,
            "hop": HOP,
            "operations": operations,
            # An epoch does these products and more: a share above one is noise, not speed.
            "plausible": share <= 1.0,
        },
    )


def bare_products(rows: HopTask, hidden_units: int) -> Callable[[int], object]:
    """Return a function that only multiplies rows by weights, as often as epochs must.

    In each epoch these are: the training rows forward, their transpose for the gradient of the
    weight, and the stopping rows forward.
    """
    train_rows, stop_rows = _tensor(rows.rows), _tensor(rows.stop_rows)
    weight = torch.full((train_rows.shape[1], hidden_units), 0.01)
    hidden = torch.empty(len(train_rows), hidden_units)
    gradient = torch.empty_like(weight)
    stop_hidden = torch.empty(len(stop_rows), hidden_units)

    def multiply(n_epochs: int) -> None:
        for _ in range(n_epochs):
            torch.mm(train_rows, weight, out=hidden)
            torch.mm(train_rows.t(), hidden, out=gradient)
            torch.mm(stop_rows, weight, out=stop_hidden)

    return multiply


def n_operations(rows: HopTask, hidden_units: int) -> int:
    """Return the multiplications and additions of :func:`bare_products` in one epoch."""
    n_rows = 2 * rows.rows.shape[0] + _tensor(rows.stop_rows).shape[0]
    return int(2 * n_rows * rows.rows.shape[1] * hidden_units)


def _tensor(rows: Any) -> torch.Tensor:
    dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return torch.from_numpy(np.require(dense, np.float32, ["C", "W"]))
