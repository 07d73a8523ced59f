"""A figure of accuracy by depth: what each hop adds, compared with models that see no edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adagcn.report.drawing import COLORS, GRAY, name_ends, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST_GAP = 0.05  # between two labels, as a share of the axis


def depth_figure(
    accuracy_by_depth: Sequence[float], controls: Mapping[str, float], *, title: str
) -> Figure:
    """Draw the accuracy of a boosted model with its first 1, 2, … layers.

    Parameters
    ----------
    accuracy_by_depth : sequence of float
        ``accuracy_by_depth[l]`` is the accuracy (0 to 1) of the ensemble of hops 0 to l.
    controls : mapping of str to float
        Accuracy of models to compare with, drawn as horizontal lines with their names.
    title : str
        What was measured, on one line.
    """
    figure = new_figure(4.2)
    axes = figure.add_subplot()
    _draw_depth(axes, accuracy_by_depth)
    _draw_controls(axes, controls)
    _label_lines(axes, {"AdaGCN": accuracy_by_depth[-1], **controls})
    _tidy(axes, len(accuracy_by_depth), title)
    return figure


def _draw_depth(axes: Axes, accuracy_by_depth: Sequence[float]) -> None:
    hops = range(len(accuracy_by_depth))
    shares = [100 * accuracy for accuracy in accuracy_by_depth]
    axes.plot(hops, shares, color=COLORS[0], linewidth=2.2, marker="o", markersize=5, zorder=3)


def _draw_controls(axes: Axes, controls: Mapping[str, float]) -> None:
    for accuracy, color in zip(controls.values(), _colors(len(controls)), strict=True):
        axes.axhline(100 * accuracy, color=color, linewidth=1.6, linestyle=(0, (4, 2)), zorder=2)


def _label_lines(axes: Axes, accuracies: Mapping[str, float]) -> None:
    """Write each name at the right end of its line, moved apart where lines nearly meet."""
    axes.set_ylim(*_limits(axes))
    low, high = axes.get_ylim()
    colors = (COLORS[0], *_colors(len(accuracies) - 1))
    ends = [100 * accuracy for accuracy in accuracies.values()]
    names = [f"{name}  {end:.1f} %" for name, end in zip(accuracies, ends, strict=True)]
    name_ends(axes, ends, names, colors, gap=(high - low) * _LEAST_GAP)


def _limits(axes: Axes) -> tuple[float, float]:
    low, high = axes.get_ylim()
    room = max(0.06 * (high - low), 0.5)
    return max(0.0, low - room), min(100.0 + room, high + room)


def _colors(n_controls: int) -> list[str]:
    return [COLORS[1:][i % len(COLORS[1:])] for i in range(n_controls)]


def _tidy(axes: Axes, n_layers: int, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel("farthest hop in the ensemble", color=GRAY)
    axes.set_ylabel("accuracy in %", color=GRAY)
    axes.set_xlim(-0.3, n_layers - 0.7)
    axes.locator_params(axis="x", integer=True)
    tidy(axes, grid="y")
