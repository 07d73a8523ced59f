"""The page of a ledger: all of its finished runs, compared within each data set and protocol."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adagcn.data.splits import parse_split
from adagcn.errors import InputError, counted
from adagcn.experiments.ledger import LedgerRow
from adagcn.experiments.provenance import code_versions
from adagcn.experiments.runs import canonical_json
from adagcn.experiments.statistics import compare_paired, split_means, summarize
from adagcn.models.support.measures import METRICS, Metric
from adagcn.report.page import Page
from adagcn.report.panels import PanelRow, panel
from adagcn.report.table_page import mean_seconds

_MOST_PANELS = 12
_MOST_ROWS = 60  # of a panel


class _Protocol(NamedTuple):
    """What runs must share to be compared: the data, the kind of split and the threads."""

    dataset: str
    data_digest: str
    splits: str
    train_per_class: int
    threads: int


class _Row(NamedTuple):
    label: str
    preset: str
    runs: list[LedgerRow]


def ledger_page(finished: Iterable[LedgerRow], name: str, *, metric: Metric = "accuracy") -> Page:
    """Return the page of finished runs.

    Runs are compared where they share the graph, the kind of split and the number of labels.

    Parameters
    ----------
    finished : iterable of LedgerRow
        The runs of a ledger, or of an exported one.
    name : str
        What to call them.
    metric : str
        The measure to show; runs without it are left out.

    Raises
    ------
    InputError
        If there is no run with the measure.
    """
    groups: dict[_Protocol, list[LedgerRow]] = defaultdict(list)
    n_without = 0
    for row in finished:
        if row.result.score(metric) is None:
            n_without += 1
        else:
            groups[_protocol(row)].append(row)
    if not groups:
        raise InputError(
            "AGC-I1406",
            f"the ledger has no run with {METRICS[metric]}",
            got=name,
            fix="give the --ledger of adagcn compare or reproduce, after they have trained a run",
        )
    largest = sorted(groups, key=lambda each: -len(groups[each]))[:_MOST_PANELS]
    shown = [each for each in groups if each in largest]
    panels = [_panel(number, each, groups, metric) for number, each in enumerate(sorted(shown))]
    n_runs = sum(map(len, groups.values()))
    content = {
        "title": f"Finished runs of {name}",
        "lead": "",
        "runs": _said(n_runs, n_without, len(groups) - len(shown), metric),
        "measure": METRICS[metric],
        "panels": panels,
        "notes": [],
        "versions": {key: value for key, value in code_versions().items() if value is not None},
        "about": "Means over splits and fits, with 95 % bootstrap intervals over splits "
        "(too narrow with fewer than ten). Differences are over the runs that both models have.",
    }
    facts = {
        "metric": metric,
        "runs": n_runs,
        "without_metric": n_without,
        "columns": len(panels),
        "means": [
            {"column": each["name"], "label": row["label"], "n": row["n"], "mean": row["mean"]}
            for each in panels
            for row in each["rows"]
        ],
    }
    return Page("table.html", content, facts)


def _said(n_runs: int, n_without: int, n_left: int, metric: Metric) -> str:
    text = f"{counted(n_runs, 'finished run')}."
    if n_without:
        text += f" {counted(n_without, 'run')} without {METRICS[metric]} left out."
    if n_left:
        text += f" {counted(n_left, 'data set or protocol')} with fewer runs not shown."
    return text


def _protocol(row: LedgerRow) -> _Protocol:
    run = row.run
    kind = parse_split(run.split).kind
    return _Protocol(run.dataset, run.data_digest, kind, run.train_per_class or 0, run.threads)


def _panel(
    number: int, key: _Protocol, groups: dict[_Protocol, list[LedgerRow]], metric: Metric
) -> dict[str, Any]:
    rows = _variants(groups[key])[:_MOST_ROWS]
    reference = _reference(rows, metric)
    grids = _grids(rows, metric)
    base = grids[rows.index(reference)]
    made = [
        PanelRow(
            label=row.label,
            preset=row.preset,
            summary=summarize(grid),
            split_means=split_means(grid),
            versus=None if row is reference else _compared(grid, base),
            seconds=mean_seconds([each.result for each in row.runs]),
        )
        for row, grid in zip(rows, grids, strict=True)
    ]
    return panel(_name(key, groups), number, made, reference.label)


def _name(key: _Protocol, groups: dict[_Protocol, list[LedgerRow]]) -> str:
    """Return the data set and its splits; with more where another panel would have that name."""
    text = f"{key.dataset}, {key.splits} splits"
    text += f", {key.train_per_class} labels per class" if key.train_per_class else ""
    alike = [each for each in groups if (each.dataset, each.splits) == (key.dataset, key.splits)]
    text += f" (data {key.data_digest[:8]})" if len({each[1] for each in alike}) > 1 else ""
    return text + (f", {key.threads} threads" if len({each[4] for each in alike}) > 1 else "")


def _variants(runs: Sequence[LedgerRow]) -> list[_Row]:
    """Return the runs by model, preset and settings; AdaGCN's first, then by name."""
    kinds: dict[tuple[str, str], dict[str, list[LedgerRow]]] = defaultdict(dict)
    for row in runs:
        same = kinds[row.run.model, row.run.preset]
        same.setdefault(canonical_json(row.run.params), []).append(row)
    found = []
    models = [model for model, _ in kinds]
    for (model, preset), by_params in sorted(kinds.items(), key=lambda each: _rank(each[0])):
        for variant in by_params.values():
            others = [each[0].run.params for each in by_params.values()]
            own = _differing(variant[0].run.params, others)
            name = f"{model}, {preset}" if models.count(model) > 1 else model
            found.append(_Row(f"{name} ({own})" if own else name, preset, variant))
    return found


def _rank(kind: tuple[str, str]) -> tuple[bool, str, str]:
    return kind[0] != "adagcn", *kind


def _differing(params: dict[str, Any], others: Sequence[dict[str, Any]]) -> str:
    """Return the settings in which some runs of a model and preset differ."""
    names = {name for each in others for name in each}
    differ = sorted(name for name in names if len({str(each.get(name)) for each in others}) > 1)
    return ", ".join(f"{name}={params.get(name)}" for name in differ)


def _reference(rows: Sequence[_Row], metric: Metric) -> _Row:
    """Return what the others are compared with: AdaGCN, or the best where it is not there."""
    if rows[0].runs[0].run.model == "adagcn":
        return rows[0]
    return max(rows, key=lambda row: np.mean([_score(each, metric) for each in row.runs]))


def _score(row: LedgerRow, metric: Metric) -> float:
    score = row.result.score(metric)
    assert score is not None
    return score


def _grids(rows: Sequence[_Row], metric: Metric) -> list[NDArray[np.float64]]:
    """Return the scores of all rows in tables of one shape: splits by seeds, NaN where missing."""
    runs = [each.run for row in rows for each in row.runs]
    names = sorted({run.split for run in runs}, key=lambda name: parse_split(name).number)
    splits = {name: place for place, name in enumerate(names)}
    n_inits = 1 + max(run.init for run in runs)
    grids = []
    for row in rows:
        grid = np.full((len(splits), n_inits), np.nan)
        for each in row.runs:
            grid[splits[each.run.split], each.run.init] = _score(each, metric)
        grids.append(grid)
    return grids


def _compared(grid: NDArray[np.float64], base: NDArray[np.float64]) -> Any:
    """Return the difference on the runs that both have; None if there are none."""
    return None if np.isnan(grid - base).all() else compare_paired(grid, base)
