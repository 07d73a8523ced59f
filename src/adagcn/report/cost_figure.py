"""A figure of accuracy against cost: a dot per system, the frontier, and names beside the dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adagcn.errors import InputError, counted
from adagcn.experiments.frontier import CostPanel, CostPoint
from adagcn.report.drawing import COLORS, GRAY, head, new_figure, tidy
from adagcn.report.label_places import place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = 3.3  # inches
_LOWEST = 9.0  # points of accuracy below the best that a panel still shows to scale
_FAR = 9.0  # points from a dot to its name, beyond which a line leads there
_OURS, _OTHER, _LINE = COLORS[0], GRAY, COLORS[1]
_KEY = (
    "up is more accurate, left is cheaper; blue: ours; hollow: runs are missing; bar: 95 % "
    "interval of the mean;\norange: the frontier, systems that no other beats in both; "
    "triangle: farther down than drawn"
)


def cost_figure(panels: Sequence[CostPanel], *, title: str) -> Figure:
    """Draw accuracy against CPU seconds, a panel per data set.

    Parameters
    ----------
    panels : sequence of CostPanel
        At least one with a point. What a panel lacks is written below its name.
    title : str
        What was measured, on one line.
    """
    drawn = [panel for panel in panels if panel.points]
    if not drawn:
        raise InputError(
            "AGC-I2204",
            "no system has both runs and a recorded fit: there is nothing to draw",
            got=[panel.column for panel in panels],
            fix="measure fits with adagcn bench fits --keep results/fits.jsonl",
        )
    figure = new_figure(0.9 + _PANEL * len(drawn))
    low = 0.6 * min(point.seconds for panel in drawn for point in panel.points)
    high = 2.5 * max(point.seconds for panel in drawn for point in panel.points)
    made = []
    for place, panel in enumerate(drawn, start=1):
        axes = figure.add_subplot(len(drawn), 1, place)
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        made.append((axes, panel, _draw(axes, panel)))
        axes.set_title(panel.column, loc="left", fontsize=10, parse_math=False)
        axes.set_title(_lacking(panel), loc="right", fontsize=8, color=GRAY, parse_math=False)
        axes.set_ylabel("accuracy in %", color=GRAY)
    made[-1][0].set_xlabel("CPU seconds of a fit and a prediction, one thread", color=GRAY)
    head(figure, title, _KEY, lines=2)
    figure.draw_without_rendering()  # the layout decides where dots are; names go by that
    figure.set_layout_engine("none")
    for axes, panel, heights in made:
        _name(axes, panel, heights)
    return figure


def _draw(axes: Axes, panel: CostPanel) -> list[float]:
    """Draw the dots of a panel, and return the height of each in percent."""
    best = 100 * max(point.mean for point in panel.points)
    floor = max(best - _LOWEST, 100 * min(point.mean for point in panel.points) - 0.5)
    heights = [max(100 * point.mean, floor) for point in panel.points]
    axes.set_ylim(floor - 0.05 * (best - floor + 1), best + 0.12 * (best - floor + 1))
    _draw_frontier(axes, panel, best)
    for point, height in zip(panel.points, heights, strict=True):
        _draw_point(axes, point, height, is_below=100 * point.mean < floor)
    tidy(axes, grid="y")
    _plain_seconds(axes)
    return heights


def _draw_frontier(axes: Axes, panel: CostPanel, best: float) -> None:
    """Draw the frontier as stairs, up to the edges of the panel."""
    line = panel.frontier
    seconds = [line[0].seconds, *(point.seconds for point in line), axes.get_xlim()[1]]
    heights = [axes.get_ylim()[0], *(100 * point.mean for point in line), best]
    style: dict[str, Any] = {"color": _LINE, "linewidth": 1.4, "alpha": 0.8, "zorder": 1}
    axes.plot(seconds, heights, drawstyle="steps-post", **style)


def _draw_point(axes: Axes, point: CostPoint, height: float, *, is_below: bool) -> None:
    color = _OURS if point.is_ours else _OTHER
    if point.interval is not None and not is_below:
        ends = [100 * end for end in point.interval]
        axes.plot([point.seconds] * 2, ends, color=color, linewidth=1.2, alpha=0.35, zorder=2)
    is_whole = point.n >= point.planned
    axes.plot(
        [point.seconds],
        [height],
        "v" if is_below else "o",
        color=color if is_whole else "white",
        markeredgecolor=color,
        markersize=7 if point.is_ours else 4.5,
        zorder=4 if point.is_ours else 3,
    )


def _name(axes: Axes, panel: CostPanel, heights: Sequence[float]) -> None:
    """Write the names of a panel: ours first, then the frontier, then from the top down."""
    figure: Any = axes.figure
    unit = 72 / figure.dpi  # places are in points, whatever the pixels
    first = {point.label for point in panel.frontier}
    pairs = sorted(
        zip(panel.points, heights, strict=True),
        key=lambda pair: (not pair[0].is_ours, pair[0].label not in first, -pair[0].mean),
    )
    dots = [
        tuple(unit * axes.transData.transform((point.seconds, height))) for point, height in pairs
    ]
    texts = [_written(axes, point, height) for point, height in pairs]
    boxes = [text.get_window_extent() for text in texts]
    edge = axes.get_window_extent()
    placed = place_labels(
        dots,
        [(unit * box.width, unit * box.height) for box in boxes],
        (unit * edge.x0, unit * edge.y0, unit * edge.x1, unit * edge.y1),
    )
    for text, (x, y), box in zip(texts, dots, placed, strict=True):
        text.set_position(((box[0] + box[2]) / 2 - x, (box[1] + box[3]) / 2 - y))
        near = min(max(x, box[0]), box[2]) - x, min(max(y, box[1]), box[3]) - y
        if near[0] ** 2 + near[1] ** 2 > _FAR**2:
            _lead(axes, text.xy, near)


def _written(axes: Axes, point: CostPoint, height: float) -> Any:
    """Write a name over its dot; it is moved from there, in points."""
    from matplotlib.patheffects import withStroke

    return axes.annotate(
        point.label,
        xy=(point.seconds, height),
        xytext=(0, 0),
        textcoords="offset points",
        fontsize=8.5 if point.is_ours else 7,
        fontweight="bold" if point.is_ours else "normal",
        color=_OURS if point.is_ours else _OTHER,
        ha="center",
        va="center",
        parse_math=False,
        annotation_clip=False,
        path_effects=[withStroke(linewidth=2, foreground="white")],  # readable across lines
        zorder=5,
    )


def _lead(axes: Axes, dot: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a thin line from a dot to its name."""
    line = {"arrowstyle": "-", "color": GRAY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
    axes.annotate("", xy=dot, xytext=end, textcoords="offset points", arrowprops=line, zorder=2)


def _lacking(panel: CostPanel) -> str:
    lacking = []
    if panel.without_runs:
        lacking.append(f"{counted(len(panel.without_runs), 'system')} without runs")
    if panel.without_cost:
        lacking.append(f"{counted(len(panel.without_cost), 'system')} without a recorded fit")
    return f"not shown: {', '.join(lacking)}" if lacking else ""


def _plain_seconds(axes: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
