"""Accuracy by depth as a figure: what each further hop brings, beside models without a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from adagcn.errors import ResourceError
from adagcn.formats.atomic import atomic_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by every kind of color vision, and in print.
_BLUE = "#0072B2"
_CONTROL_COLORS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00")
_GRAY = "#595959"
_LEAST_GAP = 0.05  # between two labels, as a share of the axis


def depth_figure(
    accuracy_by_depth: Sequence[float], controls: Mapping[str, float], *, title: str
) -> Figure:
    """Draw the accuracy of every prefix of a boosted model.

    Parameters
    ----------
    accuracy_by_depth : sequence of float
        ``accuracy_by_depth[l]`` is the accuracy (0 to 1) of the ensemble of hops 0 to l.
    controls : mapping of str to float
        Accuracy of models to compare with, drawn as horizontal lines that carry their names.
    title : str
        What was measured, on one line.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; no window is opened and no global state of matplotlib is touched.

    Raises
    ------
    ResourceError
        If matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise ResourceError(
            "AGC-R804",
            "the figure needs matplotlib",
            fix="install it with: pip install 'adagcn[report]'",
        )
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    _draw_depth(axes, accuracy_by_depth)
    _draw_controls(axes, controls)
    _label_lines(axes, {"AdaGCN": accuracy_by_depth[-1], **controls})
    _tidy(axes, len(accuracy_by_depth), title)
    return figure


def save_depth_figure(
    path: Path, accuracy_by_depth: Sequence[float], controls: Mapping[str, float], *, title: str
) -> None:
    """Write :func:`depth_figure` as a PNG file, whole or not at all, the same bytes each time.

    Parameters
    ----------
    path : Path
        The file; an older one is replaced.
    accuracy_by_depth, controls, title
        As in :func:`depth_figure`.
    """
    figure = depth_figure(accuracy_by_depth, controls, title=title)
    with atomic_file(path) as handle:
        figure.savefig(handle, format="png", dpi=160, metadata={"Software": None})


def _draw_depth(axes: Axes, accuracy_by_depth: Sequence[float]) -> None:
    hops = range(len(accuracy_by_depth))
    shares = [100 * accuracy for accuracy in accuracy_by_depth]
    axes.plot(hops, shares, color=_BLUE, linewidth=2.2, marker="o", markersize=5, zorder=3)


def _draw_controls(axes: Axes, controls: Mapping[str, float]) -> None:
    for accuracy, color in zip(controls.values(), _colors(len(controls)), strict=True):
        axes.axhline(100 * accuracy, color=color, linewidth=1.6, linestyle=(0, (4, 2)), zorder=2)


def _label_lines(axes: Axes, accuracies: Mapping[str, float]) -> None:
    """Write each name at the right end of its line, moved apart where lines nearly meet."""
    axes.set_ylim(*_limits(axes))
    low, high = axes.get_ylim()
    colors = (_BLUE, *_colors(len(accuracies) - 1))
    heights = _spread([100 * a for a in accuracies.values()], (high - low) * _LEAST_GAP)
    for (name, accuracy), height, color in zip(accuracies.items(), heights, colors, strict=True):
        axes.annotate(
            f"{name}  {100 * accuracy:.1f} %",
            xy=(1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            color=color,
            va="center",
            annotation_clip=False,
        )


def _limits(axes: Axes) -> tuple[float, float]:
    low, high = axes.get_ylim()
    room = max(0.06 * (high - low), 0.5)
    return max(0.0, low - room), min(100.0 + room, high + room)


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return ``heights`` with neighbors pushed up until they are ``gap`` apart, order kept.

    >>> _spread([3.0, 1.0, 1.1], 0.5)
    [3.0, 1.0, 1.5]
    """
    placed = list(heights)
    upward = sorted(range(len(placed)), key=placed.__getitem__)
    for below, above in pairwise(upward):
        placed[above] = max(placed[above], placed[below] + gap)
    return placed


def _colors(n_controls: int) -> list[str]:
    return [_CONTROL_COLORS[i % len(_CONTROL_COLORS)] for i in range(n_controls)]


def _tidy(axes: Axes, n_layers: int, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel("farthest hop in the ensemble", color=_GRAY)
    axes.set_ylabel("accuracy in %", color=_GRAY)
    axes.set_xlim(-0.3, n_layers - 0.7)
    axes.locator_params(axis="x", integer=True)
    axes.tick_params(colors=_GRAY, length=0)
    axes.grid(axis="y", color="#E5E5E5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
