"""Results in the shape of a spec: cells with statistics, the rows of JSON, the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.experiments.campaign import PlannedCell
from adagcn.experiments.figures import ComparedModel
from adagcn.experiments.runs import Run, RunResult
from adagcn.experiments.spec import Column, Row, Spec
from adagcn.experiments.statistics import (
    DepthCurve,
    PairedComparison,
    Summary,
    compare_paired,
    split_means,
    spread_by_depth,
    summarize,
)
from adagcn.experiments.table_words import comparison_note
from adagcn.experiments.tables import Cell, Table, TimingRow, timing_table
from adagcn.experiments.tables import Row as TableRow


@dataclass(frozen=True)
class CellOutcome:
    """What a cell of a spec came to.

    Parameters
    ----------
    cell : PlannedCell
        Which.
    finished : tuple of (Run, RunResult)
        The runs that are there, in the order planned.
    against_first : PairedComparison or None
        Difference to the first row on the same column; None for that row itself, or where no run
        has its pair.
    """

    cell: PlannedCell
    finished: tuple[tuple[Run, RunResult], ...]
    against_first: PairedComparison | None = None

    @property
    def summary(self) -> Summary | None:
        """Mean and intervals; None if no run is there."""
        return summarize(self.accuracy) if self.finished else None

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Accuracy by split and initialization, NaN where a run is missing."""
        return _grid(self.finished, _shape(self.cell.runs))


def outcomes(cells: Sequence[PlannedCell], results: Mapping[str, RunResult]) -> list[CellOutcome]:
    """Return what each cell came to, compared with the first row of its column.

    Parameters
    ----------
    cells : sequence of PlannedCell
        As :func:`~adagcn.experiments.campaign.plan` gives them.
    results : mapping
        Result by key; runs may be missing.

    Returns
    -------
    list of CellOutcome
        In the order of the cells.
    """
    found = [
        CellOutcome(cell, tuple((r, results[r.key]) for r in cell.runs if r.key in results))
        for cell in cells
    ]
    label = cells[0].row.label
    first = {each.cell.column.label: each for each in found if each.cell.row.label == label}
    return [
        replace(each, against_first=_paired(each, first.get(each.cell.column.label)))
        for each in found
    ]


def json_rows(spec: Spec, found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Return every cell ready for JSON: no times, so that the same runs give the same bytes."""
    return [_json_row(spec, each) for each in found]


def accuracy_table(spec: Spec, found: Sequence[CellOutcome]) -> Table:
    """Return the table of a spec, with paired comparisons to the first row in its notes."""
    cells = {(each.cell.row.label, each.cell.column.label): each for each in found}
    rows = tuple(
        TableRow(
            row.label,
            row.model,
            row.preset,
            tuple(
                _table_cell(spec, row, column, cells.get((row.label, column.label)))
                for column in spec.columns
            ),
        )
        for row in spec.rows
    )
    columns = tuple(column.label for column in spec.columns)
    notes = tuple(_comparisons(spec, found))
    return Table(spec.title, columns, rows, notes, published_decimals=spec.published_decimals)


def time_table(spec: Spec, found: Sequence[CellOutcome]) -> Table:
    """Return the seconds that the fits took when they were trained."""
    seconds = {
        (each.cell.row.label, each.cell.column.label): [r.seconds for _, r in each.finished]
        for each in found
    }
    rows = [
        TimingRow(
            row.label,
            row.model,
            row.preset,
            tuple(seconds.get((row.label, column.label), []) for column in spec.columns),
        )
        for row in spec.rows
    ]
    columns = [column.label for column in spec.columns]
    return timing_table(f"{spec.title}: seconds of a fit", columns, rows)


def json_times(found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Return the times and the memory of every cell's runs, ready for JSON."""
    return [
        {
            "label": each.cell.row.label,
            "column": each.cell.column.label,
            "seconds": [result.seconds for _, result in each.finished],
            "peak_memory_mb": [result.peak_memory_mb for _, result in each.finished],
        }
        for each in found
    ]


def compared_models(found: Sequence[CellOutcome]) -> list[ComparedModel]:
    """Return what a figure of one column shows; rows without a run are left out."""
    return [
        ComparedModel(
            f"{each.cell.row.model}, {each.cell.row.preset}",
            summary.mean,
            summary.interval,
            split_means(each.accuracy),
        )
        for each in found
        if (summary := each.summary) is not None
    ]


def depth_curves(found: Sequence[CellOutcome]) -> dict[str, dict[str, DepthCurve]]:
    """Return accuracy by number of layers: a panel per column, a curve per model.

    A boosted model's curve comes from the first 1, 2, … layers of the same fits; any other needs
    rows at several depths.
    """
    panels: dict[str, dict[str, dict[int, list[float]]]] = {}
    for each in found:
        panel = panels.setdefault(each.cell.column.label, {})
        for curve, n_layers, accuracy in _depth_points(each):
            panel.setdefault(curve, {}).setdefault(n_layers, []).append(accuracy)
    return {
        column: {curve: _depth_curve(points) for curve, points in panel.items()}
        for column, panel in panels.items()
        if panel
    }


def _depth_points(each: CellOutcome) -> Iterator[tuple[str, int, float]]:
    """Yield curve, number of layers and accuracy of every run of a cell."""
    depth = each.cell.row.depth
    for _, result in each.finished:
        if depth is not None:
            yield depth.curve, depth.n_layers, result.accuracy
        elif len(result.accuracy_by_depth) > 1:
            for n_layers, accuracy in enumerate(result.accuracy_by_depth, start=1):
                yield each.cell.row.label, n_layers, accuracy


def _depth_curve(points: Mapping[int, list[float]]) -> DepthCurve:
    depths = sorted(points)
    runs = np.full((max(map(len, points.values())), len(depths)), np.nan)
    for column, n_layers in enumerate(depths):
        runs[: len(points[n_layers]), column] = points[n_layers]
    return spread_by_depth(runs, depths=depths)


def _json_row(spec: Spec, each: CellOutcome) -> dict[str, Any]:
    row, column, summary = each.cell.row, each.cell.column, each.summary
    published = spec.published(row, column)
    mean = None if summary is None else summary.mean
    return {
        "label": row.label,
        "model": row.model,
        "preset": row.preset,
        "settings": spec.settings_of(row),
        "dataset": column.dataset,
        "column": column.label,
        "train_per_class": column.train_per_class,
        "n": len(each.finished),
        "planned": len(each.cell.runs),
        "mean": mean,
        "interval": None if summary is None else summary.interval,
        "run_interval": None if summary is None else summary.run_interval,
        "std": None if summary is None else summary.std,
        "paper": published,
        "difference": None if None in (mean, published) else mean - published[0],  # type: ignore
        "against_first": None if each.against_first is None else asdict(each.against_first),
        "runs": [
            {"split": run.split, "init": run.init, "accuracy": result.accuracy}
            for run, result in each.finished
        ],
    }


def _table_cell(spec: Spec, row: Row, column: Column, each: CellOutcome | None) -> Cell:
    published = spec.published(row, column)
    if each is None:  # not part of the experiment, so nothing is missing
        return Cell.of(None, row.preset, published=published, planned=0)
    planned = len(each.cell.runs)
    return Cell.of(each.summary, row.preset, published=published, planned=planned)


def _comparisons(spec: Spec, found: Sequence[CellOutcome]) -> list[str]:
    several = len(spec.columns) > 1
    return [
        comparison_note(
            f"{each.cell.column.label}: {each.cell.row.label}" if several else each.cell.row.label,
            spec.rows[0].label,
            each.against_first,
        )
        for each in found
        if each.against_first is not None
    ]


def _paired(one: CellOutcome, first: CellOutcome | None) -> PairedComparison | None:
    if first is None or first is one:
        return None
    shape = tuple(np.maximum(_shape(one.cell.runs), _shape(first.cell.runs)))
    a, b = (_grid(each.finished, shape) for each in (one, first))
    return None if np.isnan(a - b).all() else compare_paired(a, b)


def _shape(runs: Sequence[Run]) -> tuple[int, int]:
    return 1 + max(_number(run) for run in runs), 1 + max(run.init for run in runs)


def _grid(finished: Sequence[tuple[Run, RunResult]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    grid = np.full(shape, np.nan)
    for run, result in finished:
        grid[_number(run), run.init] = result.accuracy
    return grid


def _number(run: Run) -> int:
    return int(run.split.rpartition(":")[2])
