"""How far an experiment is: which of its runs are missing, and about how long they would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from adagcn.experiments.campaign import PlannedCell
from adagcn.experiments.ledger import LedgerRow
from adagcn.experiments.runs import Run, RunResult

Seconds: TypeAlias = Mapping[tuple[str, ...], float]  # by model, preset and data set, or without


@dataclass(frozen=True)
class Gap:
    """A row on a column that lacks runs.

    Attributes
    ----------
    row, column : str
        Their labels.
    finished, planned : int
        Runs, with every combination of a grid.
    seconds : float or None
        About how long the missing ones take in all; None if no like run is known.
    """

    row: str
    column: str
    finished: int
    planned: int
    seconds: float | None

    @property
    def missing(self) -> int:
        """How many runs are missing."""
        return self.planned - self.finished


@dataclass(frozen=True)
class Standing:
    """How far an experiment is.

    Attributes
    ----------
    finished, planned : int
        Its runs, each once.
    gaps : tuple of Gap
        The cells that lack some; rows may share runs.
    seconds : float
        About how long the missing runs take, as far as that is known.
    n_unknown : int
        Missing runs of whose like none is finished.
    """

    finished: int
    planned: int
    gaps: tuple[Gap, ...]
    seconds: float
    n_unknown: int

    @property
    def missing(self) -> int:
        """How many runs are missing."""
        return self.planned - self.finished


def typical_seconds(rows: Iterable[LedgerRow]) -> Seconds:
    """Return the mean seconds of finished fits: by model, preset and data set, and by less.

    CPU seconds, or seconds by the clock of runs that lack them.
    """
    found: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        taken = row.result.fit_cpu_seconds
        seconds = row.result.seconds if taken is None else taken
        for place in _places(row.run):
            found.setdefault(place, []).append(seconds)
    return {place: fmean(values) for place, values in found.items()}


def standing(
    cells: Sequence[PlannedCell], results: Mapping[str, RunResult], seconds: Seconds
) -> Standing:
    """Return how far the cells of an experiment are.

    Parameters
    ----------
    cells : sequence of PlannedCell
        The planned cells.
    results : mapping
        Finished runs by key.
    seconds : mapping
        As :func:`typical_seconds` returns it.
    """
    runs = {run.key: run for cell in cells for run in cell.due(results, foreseen=True)}
    likes = [_like(run, seconds) for key, run in runs.items() if key not in results]
    gaps = (_gap(cell, results, seconds) for cell in cells)
    return Standing(
        finished=len(runs) - len(likes),
        planned=len(runs),
        gaps=tuple(gap for gap in gaps if gap is not None),
        seconds=sum(like for like in likes if like is not None),
        n_unknown=likes.count(None),
    )


def _gap(cell: PlannedCell, results: Mapping[str, RunResult], seconds: Seconds) -> Gap | None:
    due = cell.due(results, foreseen=True)
    missing = [run for run in due if run.key not in results]
    if not missing:
        return None
    like = _like(missing[0], seconds)
    return Gap(
        cell.row.label,
        cell.column.label,
        len(due) - len(missing),
        len(due),
        None if like is None else like * len(missing),
    )


def _like(run: Run, seconds: Seconds) -> float | None:
    """Return the mean seconds of the finished runs that are most like one, if there are any."""
    return next((seconds[place] for place in _places(run) if place in seconds), None)


def _places(run: Run) -> tuple[tuple[str, ...], ...]:
    """Return what a run's time is known by, the nearest first."""
    return (run.model, run.preset, run.dataset), (run.model, run.dataset)
