"""Models side by side on one data set: the panel that pages of finished runs are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adagcn.errors import counted
from adagcn.experiments.statistics import PairedComparison, Summary
from adagcn.report.drawing import COLORS, GRAY, name_rows, new_figure
from adagcn.report.inline_svg import PAGE_WIDTH, inline_svg
from adagcn.report.scored_nodes import plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST = 48
_MOST_DRAWN = 40  # rows of a figure that can still be read


@dataclass(frozen=True)
class PanelRow:
    """One model on one data set.

    Attributes
    ----------
    label, preset : str
        What was run.
    summary : Summary or None
        Mean and interval; None without runs.
    split_means : sequence of float
        The mean of each split.
    planned : int or None
        Runs that there should be; None if not known.
    published : (float, float) or None
        The paper's mean and half width.
    versus : PairedComparison or None
        This row minus the reference.
    seconds : float or None
        Mean processor time of a fit.
    """

    label: str
    preset: str
    summary: Summary | None
    split_means: Sequence[float]
    planned: int | None = None
    published: tuple[float, float] | None = None
    versus: PairedComparison | None = None
    seconds: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, if there are both."""
        if self.summary is None or self.published is None:
            return None
        return self.summary.mean - self.published[0]


def panel(name: str, number: int, rows: Sequence[PanelRow], reference: str) -> dict[str, Any]:
    """Return a data set's table and figure, ready for a page.

    Parameters
    ----------
    name : str
        The data set, and how it was split.
    number : int
        Which panel of the page this is.
    rows : sequence of PanelRow
        The models.
    reference : str
        The row that the others are compared with.
    """
    done = [row for row in rows if row.summary is not None]
    ranked = sorted(done, key=lambda row: -row.summary.mean)  # type: ignore[union-attr]
    drawn = ranked[:_MOST_DRAWN]
    shown = plain_text(name, 80)
    described = _described(ranked)
    svg = None
    if drawn:
        svg = inline_svg(panel_figure(drawn), f"panel-{number}", title=shown, description=described)
    return {
        "id": f"panel-{number}",
        "name": shown,
        "svg": svg,
        "described": described,
        "n_not_drawn": len(ranked) - len(drawn),
        "has_paper": any(row.published for row in rows),
        "has_versus": any(row.versus for row in rows),
        "has_seconds": any(row.seconds is not None for row in rows),
        "reference": plain_text(reference, _LONGEST),
        "rows": [_plain(row) for row in rows],
    }


def panel_figure(rows: Sequence[PanelRow]) -> Figure:
    """Draw means with their intervals and splits, and the paper's numbers where there are any.

    Parameters
    ----------
    rows : sequence of PanelRow
        Each with a summary, the best on top.
    """
    height = 0.9 + 0.27 * len(rows)
    figure = new_figure(height)
    figure.set_size_inches(PAGE_WIDTH, height)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        _draw(axes, place, row)
    axes.margins(x=0.05)
    name_rows(axes, [plain_text(row.label, 28) for row in rows])
    axes.tick_params(labelsize=9)
    axes.set_xlabel("mean in %", color=GRAY, fontsize=9.5)
    return figure


def _draw(axes: Axes, place: int, row: PanelRow) -> None:
    assert row.summary is not None
    if row.summary.interval is not None:
        ends = [100 * end for end in row.summary.interval]
        bar: dict[str, Any] = {"linewidth": 8, "alpha": 0.28, "solid_capstyle": "butt"}
        axes.plot(ends, [place, place], color=COLORS[0], **bar)
    splits = [100 * mean for mean in row.split_means]
    axes.plot(splits, [place] * len(splits), "o", color=COLORS[0], ms=2.6, alpha=0.5, mew=0)
    axes.plot([100 * row.summary.mean], [place], "|", color=COLORS[0], ms=12, mew=2.2)
    if row.published is not None:
        mean = 100 * row.published[0]
        axes.plot([mean], [place], "D", color="none", markeredgecolor=COLORS[1], ms=5, mew=1.6)


def _described(ranked: Sequence[PanelRow]) -> str:
    if not ranked:
        return "No run is finished."
    best = ranked[0]
    assert best.summary is not None
    text = f"{plain_text(best.label, _LONGEST)} is highest with {100 * best.summary.mean:.2f} %"
    if best.summary.interval is not None:
        low, high = best.summary.interval
        text += f" (95 % interval {100 * low:.2f} to {100 * high:.2f} %)"
    runs = counted(best.summary.n, "run")
    return f"{text} over {runs}, of {counted(len(ranked), 'row')} with finished runs."


def _plain(row: PanelRow) -> dict[str, Any]:
    summary, versus = row.summary, row.versus
    low, high = (None, None) if summary is None else summary.interval or (None, None)
    versus_ends = (None, None) if versus is None else versus.interval or (None, None)
    return {
        "label": plain_text(row.label, _LONGEST),
        "preset": plain_text(row.preset, _LONGEST),
        "n": 0 if summary is None else summary.n,
        "n_splits": 0 if summary is None else summary.n_splits,
        "planned": row.planned,
        "mean": None if summary is None else summary.mean,
        "low": low,
        "high": high,
        "paper": None if row.published is None else row.published[0],
        "paper_half": None if row.published is None else row.published[1],
        "difference": row.difference,
        "versus": None if versus is None else versus.difference,
        "versus_low": versus_ends[0],
        "versus_high": versus_ends[1],
        "seconds": row.seconds,
    }
