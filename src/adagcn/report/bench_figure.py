"""A figure of what ``adagcn bench`` measured: a panel per section, an epoch beside real fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adagcn.bench.measures import Measure, Row, Section
from adagcn.report.drawing import (
    COLORS,
    GRAY,
    name_ends,
    name_rows,
    new_figure,
    spread_apart,
    tidy,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_COLOR_OF = {"adagcn": COLORS[0], "ours": COLORS[2], "product": COLORS[2], "peer": COLORS[1]}
_ROW = 0.3  # inches
_FRAME = 1.0  # inches around the rows of a panel
_CURVE = 2.6  # inches of a panel with lines
_LEAST_GAP = 0.09  # between two names beside lines, of the panel's height
_WIDE = 1.6  # times the page's width, where two panels stand side by side
_SHARES = (1.3, 1.0)  # of their widths
# Shorter than those of the tables, where two panels stand side by side.
_TITLES = {"epoch": "one epoch, all columns", "layers": "real fits, with all around the epochs"}


def bench_figure(sections: Sequence[Section]) -> Figure:
    """Draw every section: lines if a size or the depth grows, else dots with intervals.

    Parameters
    ----------
    sections : sequence of Section
        What was measured; rows without a time are left out.
    """
    lines = _lines(sections)
    heights = [max(map(_height, line)) for line in lines]
    figure = new_figure(sum(heights))
    if any(len(line) > 1 for line in lines):
        figure.set_figwidth(_WIDE * figure.get_figwidth())
    for line, strip in zip(
        lines,
        figure.subfigures(len(lines), 1, squeeze=False, height_ratios=heights)[:, 0],
        strict=True,
    ):
        panels = strip.subplots(1, len(line), squeeze=False, width_ratios=_SHARES[: len(line)])[0]
        for axes, section in zip(panels, line, strict=True):
            draw = _DRAWN.get(section.key, _draw_dots)
            draw(axes, section)
            words = _TITLES[section.key] if len(line) > 1 else section.title
            title = f"{section.dataset}: {words}"
            axes.set_title(title, loc="left", fontsize=10, parse_math=False)
    return figure


def _lines(sections: Sequence[Section]) -> list[list[Section]]:
    """Return the sections in lines: real fits beside the epochs of the same graph."""
    lines: list[list[Section]] = []
    for section in sections:
        before = lines[-1][-1] if lines else None
        if before is not None and (before.key, section.key) == ("epoch", "layers"):
            lines[-1].append(section)
        else:
            lines.append([section])
    return lines


def _height(section: Section) -> float:
    if section.key in ("depth", "scale", "layers"):
        return _CURVE
    return _FRAME + _ROW * len(_measured(section))


def _measured(section: Section) -> list[tuple[Row, Measure]]:
    return [(row, row.seconds) for row in section.rows if row.seconds is not None]


def _draw_dots(axes: Axes, section: Section) -> None:
    rows = _measured(section)
    for height, (row, seconds) in enumerate(rows):
        color = _COLOR_OF.get(row.group, GRAY)
        _draw_interval(axes, height, seconds, color)
        axes.plot([1e3 * seconds.median], [height], "o", color=color, markersize=5)
        if row.ratio is not None:
            write_beside(axes, height, f"{row.ratio.median:.3g}×", "black")
    axes.set_xscale("log")
    _plain_numbers(axes.xaxis)
    axes.set_xlabel(f"milliseconds; beside: {section.ratio_name}", color=GRAY)
    name_rows(axes, [row.name for row, _ in rows])


def _draw_interval(axes: Axes, height: int, seconds: Measure, color: str) -> None:
    if seconds.low is not None and seconds.high is not None:
        ends = [1e3 * seconds.low, 1e3 * seconds.high]
        axes.plot(ends, [height, height], color=color, linewidth=4, alpha=0.35)


def _draw_depth(axes: Axes, section: Section) -> None:
    depths = section.facts["depths"]
    times = [[1e3 * point["median"] for point in row.facts["by_depth"]] for row in section.rows]
    colors = COLORS[: len(times)]
    for line, color in zip(times, colors, strict=True):
        axes.plot(depths, line, color=color, linewidth=2, marker="o", markersize=3)
    names = [
        f"{row.name}  {1e3 * row.facts['slope']['slope']:+.3f} ms a layer" for row in section.rows
    ]
    ends = [line[-1] for line in times]
    name_ends(axes, ends, names, colors, gap=_LEAST_GAP * max(ends))
    axes.set_xlabel("layers", color=GRAY)
    axes.set_ylabel("milliseconds", color=GRAY)
    axes.locator_params(axis="x", integer=True)
    tidy(axes, grid="y")


def _draw_layers(axes: Axes, section: Section) -> None:
    """Draw AdaGCN's layers, and the whole fits of all as level lines."""
    line = [1e3 * seconds for seconds in section.facts["by_layer"]]
    layers = range(1, len(line) + 1)
    axes.plot(layers, line, color=COLORS[0], linewidth=2, marker="o", markersize=3)
    axes.axvline(section.facts["first_pseudo_layer"] + 0.5, color=GRAY, linewidth=1, linestyle=":")
    whole = [each for each in _measured(section) if each[0].name.endswith("whole fit")]
    levels = [1e3 * seconds.median for _, seconds in whole]
    for level, color in zip(levels, COLORS, strict=False):
        axes.axhline(level, color=color, linewidth=1.5, linestyle="--")
    axes.set_yscale("log")
    _plain_numbers(axes.yaxis)
    axes.minorticks_off()
    room = math.log10(max(*line, *levels) / min(*line, *levels))
    heights = spread_apart([math.log10(level) for level in levels], _LEAST_GAP * room)
    for (row, _), height, level, color in zip(whole, heights, levels, COLORS, strict=False):
        write_beside(axes, 10**height, f"{row.name}  {level:.3g} ms", color)
    axes.set_xlim(0, len(line) + 1)
    axes.set_xlabel("layer; right of the dotted line with pseudo-labels", color=GRAY)
    axes.set_ylabel("milliseconds per epoch", color=GRAY)
    axes.locator_params(axis="x", integer=True)
    tidy(axes, grid="y")


def _draw_growth(axes: Axes, section: Section) -> None:
    sizes: list[Any] = [row.facts["size"] for row, _ in _measured(section)]
    times = [1e3 * seconds.median for _, seconds in _measured(section)]
    axes.plot(sizes, times, color=COLORS[0], linewidth=2, marker="o", markersize=4)
    exponent = section.facts["exponents"]["time"]["slope"]
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain_numbers(axes.xaxis)
    _plain_numbers(axes.yaxis)
    write_beside(axes, times[-1], f"exponent {exponent:.2f}", COLORS[0])
    axes.set_xlabel(section.dataset, color=GRAY, parse_math=False)
    axes.set_ylabel("milliseconds", color=GRAY)
    tidy(axes, grid="y")


def _plain_numbers(axis: Axis) -> None:
    """Write 1, 2, 5, 10, … along a logarithmic axis instead of powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


_DRAWN = {"depth": _draw_depth, "scale": _draw_growth, "layers": _draw_layers}
