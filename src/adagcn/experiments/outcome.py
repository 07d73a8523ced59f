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
    against_most_labels : PairedComparison or None
        That difference less the one on the same data set with the most training nodes per class:
        whether the lead of one model over another depends on the number of labels. None on that
        column itself.
    """

    cell: PlannedCell
    finished: tuple[tuple[Run, RunResult], ...]
    against_first: PairedComparison | None = None
    against_most_labels: PairedComparison | None = None

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
    at = {(each.cell.row.label, each.cell.column.label): each for each in found}
    label = cells[0].row.label
    richest = _most_labels([cell.column for cell in cells])

    def compared(each: CellOutcome) -> CellOutcome:
        row, column = each.cell.row.label, each.cell.column
        rich = richest[column.dataset]
        pair = each, at.get((label, column.label))
        rich_pair = at.get((row, rich.label)), at.get((label, rich.label))
        return replace(
            each,
            against_first=_paired(*pair),
            against_most_labels=None if rich == column else _interaction(pair, rich_pair),
        )

    return [compared(each) for each in found]


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
        "against_first": _facts(each.against_first),
        "against_most_labels": _facts(each.against_most_labels),
        "runs": [
            {"split": run.split, "init": run.init, "accuracy": result.accuracy}
            for run, result in each.finished
        ],
    }


def _table_cell(spec: Spec, row: Row, column: Column, each: CellOutcome | None) -> Cell:
    if each is None:  # not part of the experiment, so nothing is missing
        return Cell.of(None, row.preset, planned=0)
    published, planned = spec.published(row, column), len(each.cell.runs)
    return Cell.of(each.summary, row.preset, published=published, planned=planned)


def _facts(comparison: PairedComparison | None) -> dict[str, Any] | None:
    return None if comparison is None else asdict(comparison)


def _comparisons(spec: Spec, found: Sequence[CellOutcome]) -> list[str]:
    several = len(spec.columns) > 1
    richest = _most_labels(spec.columns)
    notes = []
    for each in found:
        column, first = each.cell.column, spec.rows[0].label
        label = f"{column.label}: {each.cell.row.label}" if several else each.cell.row.label
        if each.against_first is not None:
            notes.append(comparison_note(label, first, each.against_first))
        if each.against_most_labels is not None:
            other = f"the same on {richest[column.dataset].label}"
            notes.append(comparison_note(f"{label} − {first}", other, each.against_most_labels))
    return notes


def _most_labels(columns: Sequence[Column]) -> dict[str, Column]:
    """Return the column of each data set with the most training nodes per class."""
    richest: dict[str, Column] = {}
    for column in columns:
        best = richest.setdefault(column.dataset, column)
        if (column.train_per_class or 0) > (best.train_per_class or 0):
            richest[column.dataset] = column
    return richest


def _paired(one: CellOutcome, first: CellOutcome | None) -> PairedComparison | None:
    if first is None or first is one:
        return None
    a, b = _grids([one, first])
    return None if np.isnan(a - b).all() else compare_paired(a, b)


def _interaction(
    pair: tuple[CellOutcome, CellOutcome | None],
    rich_pair: tuple[CellOutcome | None, CellOutcome | None],
) -> PairedComparison | None:
    """Return the lead of a pair less the lead of another pair, on the same splits."""
    four = [each for each in (*pair, *rich_pair) if each is not None]
    if len(four) < 4 or pair[0] is pair[1]:
        return None
    one, first, rich_one, rich_first = _grids(four)
    a, b = one - first, rich_one - rich_first
    return None if np.isnan(a - b).all() else compare_paired(a, b)


def _grids(cells: Sequence[CellOutcome]) -> list[NDArray[np.float64]]:
    """Return the accuracies of several cells in tables of one shape."""
    shape = tuple(np.max([_shape(each.cell.runs) for each in cells], axis=0))
    return [_grid(each.finished, shape) for each in cells]


def _shape(runs: Sequence[Run]) -> tuple[int, int]:
    return 1 + max(_number(run) for run in runs), 1 + max(run.init for run in runs)


def _grid(finished: Sequence[tuple[Run, RunResult]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    grid = np.full(shape, np.nan)
    for run, result in finished:
        grid[_number(run), run.init] = result.accuracy
    return grid


def _number(run: Run) -> int:
    return int(run.split.rpartition(":")[2])
