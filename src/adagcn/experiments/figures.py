"""Figures of the experiments: models side by side with their intervals, and accuracy by depth.

The house style is here too: a palette that every kind of color vision tells apart, names written
beside what they name instead of a legend, and files with the same bytes every time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adagcn.errors import InputError, ResourceError
from adagcn.formats.atomic import atomic_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adagcn.experiments.statistics import DepthCurve

# Okabe and Ito's palette without its yellow, which white paper swallows.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GRAY = "#595959"
LIGHT_GRAY = "#E5E5E5"
WIDTH = 7.2  # inches: as wide as a README shows
_FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"format": "png", "dpi": 160, "metadata": {"Software": None}},
    ".svg": {"format": "svg", "metadata": {"Date": None, "Creator": None}},
}


@dataclass(frozen=True)
class ComparedModel:
    """One row of :func:`compare_figure`; accuracies are shares of one.

    Attributes
    ----------
    label : str
        The name, with its preset.
    mean : float
        Over all runs.
    interval : (float, float) or None
        95 % interval of the mean.
    split_means : sequence of float
        The mean of every split.
    """

    label: str
    mean: float
    interval: tuple[float, float] | None
    split_means: Sequence[float]


def compare_figure(path: Path, rows: Sequence[ComparedModel], *, title: str) -> None:
    """Draw models as dots with intervals, the best on top, and write the figure.

    Parameters
    ----------
    path : Path
        A ``.png`` or ``.svg`` file; an older one is replaced.
    rows : sequence of ComparedModel
        The models, in any order; equal means keep theirs.
    title : str
        What was measured, on one line.

    Raises
    ------
    InputError
        If there is nothing to draw or the suffix is another.
    ResourceError
        If matplotlib is not installed or the file cannot be written.
    """
    _check(path, rows, "rows", "AGC-I970")
    save_figure(path, draw_comparison(rows, title=title))


def depth_figure(
    path: Path,
    curves: Mapping[str, Mapping[str, DepthCurve]],
    *,
    title: str,
    x_label: str = "farthest hop in the ensemble",
) -> None:
    """Draw mean accuracy by depth, with the band of single runs, and write the figure.

    Parameters
    ----------
    path : Path
        A ``.png`` or ``.svg`` file; an older one is replaced.
    curves : mapping of str to mapping of str to DepthCurve
        ``curves[panel][model]``: a panel per data set, a line per model. A model has one color in
        all panels.
    title : str
        What was measured, on one line.
    x_label : str
        What a depth is.

    Raises
    ------
    InputError
        If there is nothing to draw or the suffix is another.
    ResourceError
        If matplotlib is not installed or the file cannot be written.
    """
    _check(path, [curve for panel in curves.values() for curve in panel], "curves", "AGC-I971")
    save_figure(path, draw_depth(curves, title=title, x_label=x_label))


def save_figure(path: Path, figure: Figure) -> None:
    """Write a figure as PNG or SVG by its suffix, whole or not at all, the same bytes each time.

    Parameters
    ----------
    path : Path
        The file; an older one is replaced.
    figure : matplotlib.figure.Figure
        What to write.

    Raises
    ------
    InputError
        If the suffix is neither ``.png`` nor ``.svg``.
    """
    from matplotlib import rc_context

    options = _options(path)
    # Without a salt the ids inside an SVG are random.
    with rc_context({"svg.hashsalt": "adagcn"}), atomic_file(path) as handle:
        figure.savefig(handle, **options)


def new_figure(height: float) -> Figure:
    """Return an empty figure as wide as a page; no global state of matplotlib is touched.

    Parameters
    ----------
    height : float
        In inches.

    Raises
    ------
    ResourceError
        If matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise ResourceError(
            "AGC-R972",
            "the figure needs matplotlib",
            fix="install it with: pip install 'adagcn[report]'",
        )
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), layout="constrained")


def spread_apart(heights: Sequence[float], gap: float) -> list[float]:
    """Return ``heights`` moved as little as it takes for neighbors to be ``gap`` apart.

    >>> spread_apart([3.0, 1.0, 1.2], 0.5)
    [3.0, 0.85, 1.35]
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.empty(len(order))
    # Least squares under "each at least gap above the one before" is a monotone regression.
    placed[order] = isotonic_regression(np.asarray(heights)[order] - steps).x + steps
    return [round(float(height), 9) for height in placed]


def tidy(axes: Axes, *, grid: Literal["x", "y"]) -> None:
    """Take away what carries no information, and leave a faint grid along one axis."""
    axes.tick_params(colors=GRAY, length=0)
    axes.grid(axis=grid, color=LIGHT_GRAY, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(LIGHT_GRAY)


def write_beside(axes: Axes, height: float, text: str, color: str) -> None:
    """Write at the right edge of ``axes``, at a height of the data, letter by letter."""
    axes.annotate(
        text,
        xy=(1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        color=color,
        fontsize=9,
        va="center",
        annotation_clip=False,
        parse_math=False,
    )


def draw_comparison(rows: Sequence[ComparedModel], *, title: str) -> Figure:
    """Return the figure that :func:`compare_figure` writes."""
    figure = new_figure(1.2 + 0.4 * len(rows))
    axes = figure.add_subplot()
    ranked = sorted(rows, key=lambda row: -row.mean)
    for height, row in enumerate(ranked):
        _draw_model(axes, height, row)
    axes.set_yticks(range(len(ranked)), [row.label for row in ranked], parse_math=False)
    axes.set_ylim(len(ranked) - 0.4, -0.6)
    axes.margins(x=0.04)
    axes.set_xlabel("accuracy in %", color=GRAY)
    tidy(axes, grid="x")
    axes.tick_params(axis="y", labelcolor="black", pad=8)
    _head(figure, title, "faint dots: splits; bar: 95 % interval of the mean")
    return figure


def draw_depth(
    curves: Mapping[str, Mapping[str, DepthCurve]], *, title: str, x_label: str
) -> Figure:
    """Return the figure that :func:`depth_figure` writes."""
    n_columns = min(2, len(curves))
    n_rows = math.ceil(len(curves) / n_columns)
    panel_height = 3.4 if n_columns == 1 else 2.5
    figure = new_figure(0.6 + panel_height * n_rows)
    models = dict.fromkeys(model for panel in curves.values() for model in panel)
    color_of = {model: COLORS[i % len(COLORS)] for i, model in enumerate(models)}
    for place, (name, panel) in enumerate(curves.items(), start=1):
        axes = figure.add_subplot(n_rows, n_columns, place)
        _draw_panel(axes, panel, color_of, least_gap=0.21 / panel_height)
        axes.set_title(name, loc="left", fontsize=10, parse_math=False)
    figure.supxlabel(x_label, color=GRAY, fontsize=10)
    figure.supylabel("accuracy in %", color=GRAY, fontsize=10)
    _head(figure, title, "band: the middle 95 % of runs")
    return figure


def _check(path: Path, drawn: Sequence[object], name: str, code: str) -> None:
    _options(path)
    if not drawn:
        raise InputError(code, f"{name} is empty: there is nothing to draw", got=drawn)


def _options(path: Path) -> dict[str, Any]:
    if path.suffix.lower() not in _FORMATS:
        raise InputError(
            "AGC-I973", "path ends neither in .png nor in .svg", got=str(path), fix="choose one"
        )
    return _FORMATS[path.suffix.lower()]


def _draw_model(axes: Axes, height: int, row: ComparedModel) -> None:
    color = COLORS[0]
    splits = [100 * mean for mean in row.split_means]
    style: dict[str, Any] = {"color": color, "alpha": 0.22, "markersize": 5.5, "markeredgewidth": 0}
    axes.plot(splits, [height] * len(splits), "o", **style)
    value = f"{100 * row.mean:.2f}"
    if row.interval is not None:
        low, high = (100 * end for end in row.interval)
        axes.plot([low, high], [height, height], color=color, linewidth=4.5, solid_capstyle="butt")
        value = f"{value}  [{low:.2f}, {high:.2f}]"
    axes.plot([100 * row.mean], [height], "o", color="white", markersize=5, markeredgecolor=color)
    write_beside(axes, height, value, "black")


def _draw_panel(
    axes: Axes,
    panel: Mapping[str, DepthCurve],
    color_of: Mapping[str, str],
    *,
    least_gap: float,
) -> None:
    for model, curve in panel.items():
        mean, low, high = (np.multiply(100, part) for part in (curve.mean, curve.lo, curve.hi))
        axes.fill_between(curve.depths, low, high, color=color_of[model], alpha=0.15, linewidth=0)
        axes.plot(curve.depths, mean, color=color_of[model], linewidth=2, marker="o", markersize=3)
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, top)
    ends = [100 * curve.mean[-1] for curve in panel.values()]
    for model, height in zip(panel, spread_apart(ends, least_gap * (top - bottom)), strict=True):
        write_beside(axes, height, model, color_of[model])
    axes.margins(x=0.02)
    axes.locator_params(axis="x", integer=True)
    tidy(axes, grid="y")


def _head(figure: Figure, title: str, key: str) -> None:
    """Write the title and, smaller below it, how to read the figure, in a strip kept free."""
    height = figure.get_figheight()
    # Placed in inches: a share of the height would tear them apart or push them together.
    style: dict[str, Any] = {"x": 0.012, "va": "top", "parse_math": False}
    figure.text(y=1 - 0.08 / height, s=shorten(title, 88, placeholder=" …"), fontsize=11, **style)
    figure.text(y=1 - 0.30 / height, s=key, fontsize=9, color=GRAY, **style)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - 0.5 / height))
