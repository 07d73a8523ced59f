"""The time of a training step by depth, and its slope: AdaGCN's should be zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from adagcn.bench.measures import Row, Samples, Section, fit_line, measure, ratio, slopes
from adagcn.bench.our_models import adagcn_task, baseline
from adagcn.bench.speed_plan import ADAGCN, HIDDEN_UNITS, SpeedPlan
from adagcn.bench.task import Task
from adagcn.bench.timing import Contestant, Tick


def depth_section(task: Task, plan: SpeedPlan, tick: Tick) -> Section:
    """Return the time of a training step by depth; as in the paper, without stopping evaluation.

    AdaGCN's depth l is its layer on hop l, whose rows are ready.
    """
    ada = adagcn_task(task, hidden_units=HIDDEN_UNITS, max_features="all")
    lines: dict[str, list[Contestant]] = {
        ADAGCN: [
            ada.contestant(rows, f"{ADAGCN} {rows.hop}", stopping=False)
            for rows in ada.hop_tasks(plan.depths)
        ],
        **_by_depth(task, plan.depths, "gcn_es", "GCN", {"hidden_units": HIDDEN_UNITS}),
        **_by_depth(task, plan.depths, "sgc", "SGC (Â inside)", {"precompute": False}),
    }
    samples = plan.epochs([each for line in lines.values() for each in line], tick)
    tables = {
        name: np.stack([samples[each.name] for each in line], axis=1)
        for name, line in lines.items()
    }
    return Section(
        key="depth",
        dataset=task.name,
        title=f"one training step by depth, {HIDDEN_UNITS} hidden units",
        ratio_name="AdaGCN's slope over its",
        rows=tuple(depth_rows(plan.depths, tables)),
        facts={"hidden_units": HIDDEN_UNITS, "depths": list(plan.depths)},
    )


def depth_rows(depths: Sequence[int], tables: Mapping[str, Samples]) -> list[Row]:
    """Return a row per system: the slope in seconds per layer, and AdaGCN's as a share of it.

    Parameters
    ----------
    depths : sequence of int
        Depths of the columns of the tables.
    tables : mapping of str to array of shape (n_repetitions, n_depths)
        Seconds of each system, including AdaGCN.
    """
    own = slopes(depths, tables[ADAGCN])
    return [
        Row(
            name,
            "adagcn" if name == ADAGCN else "ours",
            measure(np.median(table, axis=1)),
            ratio(own, slopes(depths, table)),
            {
                "slope": asdict(fit_line(depths, table)),
                "by_depth": [asdict(measure(column)) for column in table.T],
            },
        )
        for name, table in tables.items()
    ]


def _by_depth(
    task: Task, depths: Sequence[int], key: str, name: str, given: Mapping[str, Any]
) -> dict[str, list[Contestant]]:
    """Return one of our systems at every depth; empty if there is no such system."""
    line = [
        baseline(task, key, name=f"{name} {depth}", stopping=False, n_layers=depth, **given)
        for depth in depths
    ]
    there = [each for each in line if each is not None]
    return {name: there} if there else {}
