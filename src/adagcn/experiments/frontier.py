"""Accuracy against cost: which systems nobody beats in both, and whether they are ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adagcn.experiments.outcome import CellOutcome

OURS = ("adagcn",)


@dataclass(frozen=True)
class CostPoint:
    """One system on one data set.

    Attributes
    ----------
    label, column : str
        The system and the data set.
    is_ours : bool
        Whether it is a preset of AdaGCN.
    mean : float
        Mean accuracy, a share of one. Of a system with fewer splits than the first row, the first
        row's mean plus the paired difference: the few splits may be easy ones.
    interval : (float, float) or None
        Its 95 % interval over splits.
    seconds : float
        CPU seconds of a fit and a prediction.
    n, planned : int
        Runs behind the accuracy, and those that there should be.
    """

    label: str
    column: str
    is_ours: bool
    mean: float
    interval: tuple[float, float] | None
    seconds: float
    n: int
    planned: int


@dataclass(frozen=True)
class CostPanel:
    """All systems on one data set.

    Attributes
    ----------
    column : str
        The data set.
    points : tuple of CostPoint
        Systems whose accuracy and cost are known.
    without_runs, without_cost : tuple of str
        Systems that lack the one or, having it, the other.
    """

    column: str
    points: tuple[CostPoint, ...]
    without_runs: tuple[str, ...]
    without_cost: tuple[str, ...]

    @property
    def frontier(self) -> list[CostPoint]:
        """The systems that no other is at least as accurate and as fast as, the fastest first."""
        kept: list[CostPoint] = []
        for point in sorted(self.points, key=lambda each: (each.seconds, -each.mean)):
            if not kept or point.mean > kept[-1].mean:
                kept.append(point)
        return kept

    @property
    def beyond_ours(self) -> list[CostPoint]:
        """The systems that are both more accurate and faster than every preset of ours."""
        ours = [point for point in self.points if point.is_ours]
        return [
            point
            for point in self.points
            if ours
            and not point.is_ours
            and all(point.mean > each.mean and point.seconds < each.seconds for each in ours)
        ]


def cost_panels(
    found: Sequence[CellOutcome], seconds: Mapping[tuple[str, str], float]
) -> list[CostPanel]:
    """Return a panel for each column.

    Parameters
    ----------
    found : sequence of CellOutcome
        The cells of an experiment.
    seconds : mapping of (str, str) to float
        CPU seconds by the labels of row and column; cells may be missing.
    """
    columns = dict.fromkeys(each.cell.column.label for each in found)
    return [_panel(column, found, seconds) for column in columns]


def _panel(
    column: str, found: Sequence[CellOutcome], seconds: Mapping[tuple[str, str], float]
) -> CostPanel:
    points, without_runs, without_cost = [], [], []
    first = next(each for each in found if each.cell.column.label == column)
    for each in found:
        label = each.cell.row.label
        if each.cell.column.label != column:
            continue
        cost = seconds.get((label, column))
        placed = _placed(each, first)
        if placed is None:
            without_runs.append(label)
        elif cost is None:
            without_cost.append(label)
        else:
            points.append(
                CostPoint(
                    label,
                    column,
                    each.cell.row.model in OURS,
                    *placed,
                    cost,
                    len(each.finished),
                    len(each.cell.places),
                )
            )
    return CostPanel(column, tuple(points), tuple(without_runs), tuple(without_cost))


def _placed(
    each: CellOutcome, first: CellOutcome
) -> tuple[float, tuple[float, float] | None] | None:
    """Return mean and interval of a system, as if it had the splits of the first row."""
    if each.summary is None:
        return None
    mean, interval = each.summary.mean, each.summary.interval
    if first.summary is None or each.against_first is None:
        return mean, interval
    if each.summary.n_splits >= first.summary.n_splits:
        return mean, interval
    shift = first.summary.mean + each.against_first.difference - mean
    moved = None if interval is None else (interval[0] + shift, interval[1] + shift)
    return mean + shift, moved


def frontier_notes(panels: Sequence[CostPanel]) -> list[str]:
    """Return in sentences who is on the frontier, who beats all of ours, and what is missing."""
    notes = []
    for panel in panels:
        notes += [f"{panel.column}: {sentence}" for sentence in _sentences(panel)]
    return notes


def _sentences(panel: CostPanel) -> list[str]:
    said = []
    if any(point.is_ours for point in panel.points):
        better = "; ".join(map(_described, panel.beyond_ours))
        said.append(
            f"both more accurate and faster than every preset of ours: {better}."
            if better
            else "no system is both more accurate and faster than every preset of ours."
        )
    if panel.points:
        listed = "; ".join(map(_described, panel.frontier))
        n_ours = sum(point.is_ours for point in panel.frontier)
        whose = f"{n_ours} of {len(panel.frontier)} ours"
        said.append(f"nobody is at least as accurate and as fast as {listed} ({whose}).")
    for labels, what in (
        (panel.without_runs, "no accuracy yet"),
        (panel.without_cost, "no recorded fit yet"),
    ):
        if labels:
            said.append(f"{what}: {'; '.join(labels)}.")
    short = [point for point in panel.points if point.n < point.planned]
    if short:
        counts = "; ".join(f"{point.label}, {point.n} of {point.planned}" for point in short)
        said.append(f"fewer runs than planned: {counts}.")
    return said


def _described(point: CostPoint) -> str:
    seconds = f"{point.seconds:.2g}" if point.seconds < 10 else f"{point.seconds:.0f}"
    return f"{point.label} ({100 * point.mean:.2f} %, {seconds} s)"
