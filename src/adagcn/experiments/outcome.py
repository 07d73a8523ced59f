"""The outcome of each cell of a spec: its accuracies, and their differences from other cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adagcn.experiments.campaign import PlannedCell
from adagcn.experiments.runs import Run, RunResult
from adagcn.experiments.spec import Column
from adagcn.experiments.statistics import PairedComparison, Summary, compare_paired, summarize


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell of a spec.

    Parameters
    ----------
    cell : PlannedCell
        Its row and column, and all of its runs.
    finished : tuple of (Run, RunResult)
        The finished runs, in the order planned.
    against_first : PairedComparison or None
        Difference from the first row on the same column; None for that row itself, or if no run
        has a counterpart.
    against_most_labels : PairedComparison or None
        That difference minus the one on the same data set with the most training nodes per class:
        whether the lead of one model over another depends on the number of labels. None on that
        column itself.
    """

    cell: PlannedCell
    finished: tuple[tuple[Run, RunResult], ...]
    against_first: PairedComparison | None = None
    against_most_labels: PairedComparison | None = None

    @property
    def summary(self) -> Summary | None:
        """Mean and intervals; None if no run is finished."""
        return summarize(self.accuracy) if self.finished else None

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Accuracy by split and initialization, NaN where a run is missing."""
        return _grid(self.finished, _shape(self.cell.runs))


def outcomes(cells: Sequence[PlannedCell], results: Mapping[str, RunResult]) -> list[CellOutcome]:
    """Return the outcome of each cell, compared with the first row of its column.

    Parameters
    ----------
    cells : sequence of PlannedCell
        As returned by :func:`~adagcn.experiments.campaign.plan`.
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
    richest = most_labels([cell.column for cell in cells])

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


def most_labels(columns: Sequence[Column]) -> dict[str, Column]:
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
    """Return the lead of a pair minus the lead of another pair, on the same splits."""
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
