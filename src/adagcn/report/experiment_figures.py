"""Figures of an experiment: models side by side with their intervals, and accuracy by depth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adagcn.errors import InputError
from adagcn.experiments.frontier import CostPanel
from adagcn.experiments.outcome import CellOutcome
from adagcn.experiments.statistics import DepthCurve, split_means, spread_by_depth
from adagcn.models.support.boosted import BoostedClassifier
from adagcn.models.support.registry import MODELS
from adagcn.report.cost_figure import cost_figure
from adagcn.report.drawing import (
    COLORS,
    GRAY,
    head,
    name_ends,
    name_rows,
    new_figure,
    tidy,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Finished and planned runs, by panel and model.
Unfinished: TypeAlias = Mapping[str, Mapping[str, tuple[int, int]]]


@dataclass(frozen=True)
class ComparedModel:
    """One row of :func:`comparison_figure`; scores are between 0 and 1.

    Attributes
    ----------
    label : str
        The name, with its preset.
    mean : float
        Mean score over all runs.
    interval : (float, float) or None
        95 % interval of the mean.
    split_means : sequence of float
        The mean score on each split.
    """

    label: str
    mean: float
    interval: tuple[float, float] | None
    split_means: Sequence[float]


def compared_models(found: Sequence[CellOutcome]) -> list[ComparedModel]:
    """Return what a figure of one column shows; rows without a run are left out."""
    return [
        ComparedModel(
            f"{each.cell.row.model}, {each.cell.row.preset}",
            summary.mean,
            summary.interval,
            split_means(each.scores),
        )
        for each in found
        if (summary := each.summary) is not None
    ]


def comparison_figure(
    rows: Sequence[ComparedModel], *, title: str, measure: str = "accuracy"
) -> Figure:
    """Draw each model with its mean, interval and splits, the best model on top.

    Parameters
    ----------
    rows : sequence of ComparedModel
        At least one model, in any order; models with equal means keep theirs.
    title : str
        What was measured, on one line.
    measure : str
        What the scores are called.
    """
    _check(rows, "rows", "AGC-I970")
    figure = new_figure(1.2 + 0.4 * len(rows))
    axes = figure.add_subplot()
    ranked = sorted(rows, key=lambda row: -row.mean)
    for height, row in enumerate(ranked):
        _draw_model(axes, height, row)
    axes.margins(x=0.04)
    axes.set_xlabel(f"{measure} in %", color=GRAY)
    name_rows(axes, [row.label for row in ranked])
    head(figure, title, "dots: splits; line: mean; bar: 95 % interval of the mean")
    return figure


def experiment_figure(
    title: str, found: Sequence[CellOutcome], costs: Sequence[CostPanel] | None = None
) -> Figure:
    """Draw an experiment: accuracy by number of layers or, with costs, against these."""
    if costs is not None:
        return cost_figure(costs, title=title)
    return depth_panels(depth_curves(found), title=title, unfinished=unfinished_curves(found))


def depth_curves(found: Sequence[CellOutcome]) -> dict[str, dict[str, DepthCurve]]:
    """Return accuracy by number of layers: a panel per column, a curve per model.

    A boosted model's curve comes from the first 1, 2, … layers of the same fits; any other model
    needs rows at several depths.
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


def unfinished_curves(found: Sequence[CellOutcome]) -> Unfinished:
    """Return how many runs a curve has and should have, by column, where some are missing.

    Models that have one depth only and no rows at several have no curve, and nothing is missing.
    """
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for each in found:
        row = each.cell.row
        if row.depth is None and not issubclass(MODELS[row.model], BoostedClassifier):
            continue
        panel = counts.setdefault(each.cell.column.label, {})
        curve = row.label if row.depth is None else row.depth.curve
        done, planned = panel.get(curve, (0, 0))
        panel[curve] = done + len(each.finished), planned + len(each.cell.places)
    return {
        column: {curve: (n, planned) for curve, (n, planned) in panel.items() if n < planned}
        for column, panel in counts.items()
    }


def depth_panels(
    curves: Mapping[str, Mapping[str, DepthCurve]],
    *,
    title: str,
    unfinished: Unfinished = MappingProxyType({}),
) -> Figure:
    """Draw mean accuracy by depth, with a band for the spread of single runs.

    Parameters
    ----------
    curves : mapping of str to mapping of str to DepthCurve
        ``curves[panel][model]``: a panel per data set, a line per model, at least one line. A model
        has the same color in all panels.
    title : str
        What was measured, on one line.
    unfinished : mapping of str to mapping of str to (int, int)
        ``unfinished[panel][model]``: finished and planned runs of lines that lack some. The figure
        says so, of lines without any run too.
    """
    models = dict.fromkeys(model for panel in curves.values() for model in panel)
    _check(list(models), "curves", "AGC-I971")
    n_columns = min(2, len(curves))
    n_rows = math.ceil(len(curves) / n_columns)
    panel_height = 3.4 if n_columns == 1 else 2.5
    figure = new_figure(0.6 + panel_height * n_rows)
    color_of = {model: COLORS[i % len(COLORS)] for i, model in enumerate(models)}
    for place, (name, panel) in enumerate(curves.items(), start=1):
        axes = figure.add_subplot(n_rows, n_columns, place)
        lacking = unfinished.get(name, {})
        _draw_panel(axes, panel, color_of, lacking, least_gap=0.21 / panel_height)
        axes.set_title(name, loc="left", fontsize=10, parse_math=False)
        _tell_lacking(axes, lacking)
    figure.supxlabel("layers", color=GRAY, fontsize=10)
    figure.supylabel("accuracy in %", color=GRAY, fontsize=10)
    head(figure, title, "band: the middle 95 % of runs")
    return figure


def _check(drawn: Sequence[object], name: str, code: str) -> None:
    if not drawn:
        problem = f"{name} is empty: there is nothing to draw"
        raise InputError(code, problem, got=drawn, fix="give at least one")


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


def _draw_model(axes: Axes, height: int, row: ComparedModel) -> None:
    color = COLORS[0]
    value = f"{100 * row.mean:.2f}"
    if row.interval is not None:
        low, high = (100 * end for end in row.interval)
        bar: dict[str, Any] = {"linewidth": 9, "alpha": 0.25, "solid_capstyle": "butt"}
        axes.plot([low, high], [height, height], color=color, **bar)
        value = f"{value}  [{low:.2f}, {high:.2f}]"
    axes.plot([100 * row.mean], [height], "|", color=color, markersize=14, markeredgewidth=2)
    # Last, so that they lie on top: with few splits the interval is wider than all of them.
    splits = [100 * mean for mean in row.split_means]
    dots: dict[str, Any] = {"markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.7}
    axes.plot(splits, [height] * len(splits), "o", color=color, alpha=0.75, **dots)
    write_beside(axes, height, value, "black")


def _draw_panel(
    axes: Axes,
    panel: Mapping[str, DepthCurve],
    color_of: Mapping[str, str],
    lacking: Mapping[str, tuple[int, int]],
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
    colors = [color_of[model] for model in panel]
    names = [f"{model}†" if model in lacking else model for model in panel]
    name_ends(axes, ends, names, colors, gap=least_gap * (top - bottom))
    axes.margins(x=0.02)
    axes.locator_params(axis="x", integer=True)
    tidy(axes, grid="y")


def _tell_lacking(axes: Axes, lacking: Mapping[str, tuple[int, int]]) -> None:
    """Write on the right above a panel which of its lines lack runs."""
    lines = [f"† {model}: {n:,} of {planned:,} runs" for model, (n, planned) in lacking.items()]
    axes.set_title("\n".join(lines), loc="right", fontsize=8, color=GRAY, parse_math=False)
