"""What the figures of a spec show: models side by side, and accuracy by depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from adagcn.experiments.figures import ComparedModel
from adagcn.experiments.outcome import CellOutcome
from adagcn.experiments.statistics import DepthCurve, split_means, spread_by_depth


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
