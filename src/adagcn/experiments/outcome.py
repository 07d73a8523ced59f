"""The outcome of each cell of a spec: its scores, and their differences from other cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from adagcn.data.splits import Split, parse_split
from adagcn.experiments.campaign import PlannedCell
from adagcn.experiments.node_intervals import SplitNodes, node_interval
from adagcn.experiments.runs import Run, RunResult, right_nodes
from adagcn.experiments.spec import Column
from adagcn.experiments.statistics import (
    Interval,
    PairedComparison,
    Summary,
    compare_paired,
    summarize,
)
from adagcn.models.support.measures import Metric

_Place: TypeAlias = tuple[int, int]  # number of the split, number of the initialization
_Rights: TypeAlias = dict[_Place, tuple[Split, NDArray[np.bool_]]]


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell of a spec.

    Parameters
    ----------
    cell : PlannedCell
        Its row and column, and all of its runs.
    finished : tuple of (Run, RunResult)
        The finished runs that have the metric, in the order planned; of a row with a grid, those
        that were chosen.
    metric : str
        The measure that is compared.
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
    metric: Metric = "accuracy"
    against_first: PairedComparison | None = None
    against_most_labels: PairedComparison | None = None

    @cached_property
    def summary(self) -> Summary | None:
        """Mean and intervals; None if no run is finished."""
        if not self.finished:
            return None
        return replace(summarize(self.scores), node_interval=_over_nodes(self))

    @property
    def has_right_nodes(self) -> bool:
        """Whether every finished run says which nodes it got right."""
        return all(result.right is not None for _, result in self.finished)

    @property
    def unseen_accuracy(self) -> float | None:
        """Mean accuracy of fresh runs on the scored nodes that no validation split has seen.

        None for other splits, and if a run does not say which nodes it got right.
        """
        if self.cell.seen_nodes is None or not self.finished or not self.has_right_nodes:
            return None
        shares = [
            right[~np.isin(split.score_nodes, self.cell.seen_nodes)].mean()
            for split, right in _rights(self).values()
        ]
        return float(np.mean(shares))

    @property
    def scores(self) -> NDArray[np.float64]:
        """The metric by split and initialization, NaN where a run is missing."""
        return _grids([self])[0]

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Accuracy by split and initialization, NaN where a run is missing."""
        return _grids([replace(self, metric="accuracy")])[0]


def outcomes(
    cells: Sequence[PlannedCell], results: Mapping[str, RunResult], metric: Metric = "accuracy"
) -> list[CellOutcome]:
    """Return the outcome of each cell, compared with the first row of its column.

    Parameters
    ----------
    cells : sequence of PlannedCell
        As returned by :func:`~adagcn.experiments.campaign.plan`.
    results : mapping
        Result by key; runs may be missing.
    metric : str
        The measure to compare; a result without it counts as missing.

    Returns
    -------
    list of CellOutcome
        In the order of the cells.
    """
    done = {key: each for key, each in results.items() if each.score(metric) is not None}
    found = [CellOutcome(cell, _finished(cell, done), metric) for cell in cells]
    at = {(each.cell.row.label, each.cell.column.label): each for each in found}
    label = cells[0].row.label
    richest = most_labels([cell.column for cell in cells])

    def compared(each: CellOutcome) -> CellOutcome:
        row, column = each.cell.row.label, each.cell.column
        pair = each, at.get((label, column.label))
        rich, interaction = richest.get(column.dataset), None
        if rich is not None and rich != column and column.regime is None:
            rich_pair = at.get((row, rich.label)), at.get((label, rich.label))
            interaction = _interaction(pair, rich_pair)
        return replace(each, against_first=_paired(*pair), against_most_labels=interaction)

    return [compared(each) for each in found]


def _finished(
    cell: PlannedCell, done: Mapping[str, RunResult]
) -> tuple[tuple[Run, RunResult], ...]:
    """Return a run for each split and initialization whose candidates are all finished.

    Of several candidates, the first with the best accuracy on the stopping nodes; the scored nodes
    have no part in it. With ``grid_splits``, the one that was chosen for all splits.
    """
    if cell.row.grid_splits is not None:
        place = cell.chosen(done)
        runs = [] if place is None else [each[place] for each in cell.places.values()]
        return tuple((run, done[run.key]) for run in runs if run.key in done)
    return tuple(
        max(((run, done[run.key]) for run in runs), key=_stop_accuracy)
        for runs in cell.places.values()
        if all(run.key in done for run in runs)
    )


def _stop_accuracy(finished: tuple[Run, RunResult]) -> float:
    return finished[1].stop_accuracy or 0.0


def most_labels(columns: Sequence[Column]) -> dict[str, Column]:
    """Return the column of each data set with the most training nodes per class.

    Columns whose labels are odd (wrong, uneven, as they fall) are no label rates.
    """
    richest: dict[str, Column] = {}
    for column in (each for each in columns if each.regime is None):
        best = richest.setdefault(column.dataset, column)
        if (column.train_per_class or 0) > (best.train_per_class or 0):
            richest[column.dataset] = column
    return richest


def against_best(found: Sequence[CellOutcome]) -> list[tuple[CellOutcome, PairedComparison]]:
    """Compare the first row with the best other model of each column.

    The best of many is partly the luckiest. So it is picked by its mean on the splits of even
    number, among the cells whose model is not the first row's, and compared on those of odd number.

    Parameters
    ----------
    found : sequence of CellOutcome
        The cells of a table, row by row.

    Returns
    -------
    list of (CellOutcome, PairedComparison)
        For each column with runs in both halves: the cell that was picked, and the first row minus
        it.
    """
    row = found[0].cell.row
    first = {each.cell.column.label: each for each in found if each.cell.row == row}
    made = []
    for label, one in first.items():
        others = [
            each
            for each in found
            if each.cell.column.label == label and each.cell.row.model != one.cell.row.model
        ]
        able = [each for each in others if _half(each, 0).finished]
        picked = max(able, key=_even_mean, default=None)
        pair = None if picked is None else _paired(_half(one, 1), _half(picked, 1))
        if picked is not None and pair is not None:
            made.append((picked, pair))
    return made


def against_controls(
    found: Sequence[CellOutcome], controls: Sequence[str]
) -> list[tuple[CellOutcome, CellOutcome, PairedComparison | None]]:
    """Compare every row with the controls.

    Parameters
    ----------
    found : sequence of CellOutcome
        The cells of a table.
    controls : sequence of str
        Labels of the rows to compare with; these are not compared with each other.

    Returns
    -------
    list of (CellOutcome, CellOutcome, PairedComparison or None)
        A cell, a control on the same column, and their difference; None if they share no split.
    """
    return [
        (each, other, _paired(each, other))
        for each in found
        if each.cell.row.label not in controls
        for other in found
        if other.cell.row.label in controls and other.cell.column == each.cell.column
    ]


def _half(each: CellOutcome, remainder: int) -> CellOutcome:
    """Return a cell with its runs on splits of even (0) or odd (1) number."""
    kept = tuple(pair for pair in each.finished if _number(pair[0]) % 2 == remainder)
    return replace(each, finished=kept)


def _even_mean(each: CellOutcome) -> float:
    return float(np.nanmean(_half(each, 0).scores))


def _paired(one: CellOutcome, first: CellOutcome | None) -> PairedComparison | None:
    if first is None or first is one:
        return None
    a, b = _grids([one, first])
    if np.isnan(a - b).all():
        return None
    return replace(compare_paired(a, b), node_interval=_over_nodes(one, first))


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
    if np.isnan(a - b).all():
        return None
    return replace(compare_paired(a, b), node_interval=_over_nodes(*four))


def _over_nodes(*cells: CellOutcome) -> Interval | None:
    """Return the interval over splits and nodes of what is made of one, two or four cells.

    One is a mean, two are a difference, four the difference of two differences. None for another
    metric than accuracy, and if a run does not say which nodes it got right.
    """
    if not all(each.metric == "accuracy" and each.has_right_nodes for each in cells):
        return None
    rights = [_rights(each) for each in cells]
    places = sorted(set.intersection(*map(set, rights)))
    pairs = [rights[:2], rights[2:]] if len(rights) > 2 else [rights]
    return node_interval(*(_split_nodes(pair, places) for pair in pairs))


def _rights(each: CellOutcome) -> _Rights:
    """Return the split and the right nodes of every finished run."""
    splits = {split.digest: split for split in each.cell.splits}
    found: _Rights = {}
    for run, result in each.finished:
        split = splits[run.split_digest]
        right = right_nodes(result, split)
        if right is not None:
            found[_number(run), run.init] = split, right
    return found


def _split_nodes(pair: Sequence[_Rights], places: Sequence[_Place]) -> list[SplitNodes]:
    """Return the runs at ``places``, first minus second if there are two, split by split."""
    found = []
    for _, group in groupby(places, key=lambda place: place[0]):
        runs = list(group)
        totals = [np.sum([each[place][1] for place in runs], axis=0) for each in pair]
        total = totals[0] if len(pair) == 1 else totals[0] - totals[1]
        split, _ = pair[0][runs[0]]
        found.append(SplitNodes(split.score_nodes, total, len(runs)))
    return found


def _grids(cells: Sequence[CellOutcome]) -> list[NDArray[np.float64]]:
    """Return the scores of several cells in tables of one shape: splits by initializations."""
    runs = [run for each in cells for run in each.cell.runs]
    numbers = sorted({_number(run) for run in runs})
    rows = {number: row for row, number in enumerate(numbers)}
    shape = len(rows), 1 + max(run.init for run in runs)
    return [_grid(each, rows, shape) for each in cells]


def _grid(
    each: CellOutcome, rows: Mapping[int, int], shape: tuple[int, int]
) -> NDArray[np.float64]:
    grid = np.full(shape, np.nan)
    for run, result in each.finished:
        grid[rows[_number(run)], run.init] = result.score(each.metric)
    return grid


def _number(run: Run) -> int:
    return parse_split(run.split).number
