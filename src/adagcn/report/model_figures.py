"""Figures of one fitted model: accuracy by depth, what each hop adds, node weights, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adagcn.report.drawing import COLORS, GRAY, new_figure, tidy
from adagcn.report.inline_svg import PAGE_WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FONT = 9.5
_BANDS = ((5, 95, 0.18), (25, 75, 0.35))  # percentiles of the node weights, and how dark


def depth_curve(
    accuracy: Sequence[float], intervals: Sequence[tuple[float, float]], chance: float
) -> Figure:
    """Draw the accuracy of the first 1, 2, … layers with its interval.

    Parameters
    ----------
    accuracy : sequence of float
        Share of the scored nodes that is right with hops 0 to l.
    intervals : sequence of (float, float)
        Its interval at each depth.
    chance : float
        Share that is right if every node gets the most frequent label.
    """
    figure, axes = _panel(2.7)
    hops = np.arange(len(accuracy))
    low, high = 100 * np.array(intervals).T
    axes.fill_between(hops, low, high, color=COLORS[0], alpha=0.18, linewidth=0)
    marker = "o" if len(accuracy) <= 40 else ""
    axes.plot(hops, 100 * np.array(accuracy), color=COLORS[0], linewidth=2, marker=marker, ms=4)
    bottom = min(low.min(), 100 * accuracy[0])
    if 100 * chance > bottom - 25:
        axes.axhline(100 * chance, color=GRAY, linewidth=1.2, linestyle=(0, (3, 3)))
        _note(axes, hops[-1], 100 * chance, "most frequent label")
    (cursor,) = axes.plot([hops[-1]], [100 * accuracy[-1]], "o", color=COLORS[1], ms=7, zorder=5)
    cursor.set_gid("cursor")
    _axes(axes, "farthest hop that votes", "accuracy in %")
    axes.margins(x=0.03)
    return figure


def cursor_places(figure: Figure, accuracy: Sequence[float]) -> list[tuple[float, float]]:
    """Return how far the cursor of a drawn :func:`depth_curve` is moved for each depth."""
    axes = figure.axes[0]
    points = np.column_stack([np.arange(len(accuracy)), 100 * np.array(accuracy)])
    places = axes.transData.transform(points)
    moves = (places - places[-1]) * (1, -1)
    return [(round(float(x), 1), round(float(y), 1)) for x, y in moves]


def hop_bars(
    hops: Sequence[int], right: NDArray[np.float64], wrong: NDArray[np.float64] | None
) -> Figure:
    """Draw the mean part of the margin that each hop brings.

    Parameters
    ----------
    hops : sequence of int
        The hops that vote.
    right, wrong : ndarrays of the same length
        Mean over the nodes that are labeled right and wrong; ``wrong`` may be None.
    """
    figure, axes = _panel(2.7)
    places = np.asarray(hops)
    width = 0.8 if wrong is None else 0.4
    shift = 0.0 if wrong is None else 0.2
    axes.bar(places - shift, right, width, color=COLORS[0], label="labeled right")
    if wrong is not None:
        axes.bar(places + shift, wrong, width, color=COLORS[1], label="labeled wrong")
        look: dict[str, Any] = {"frameon": False, "fontsize": _FONT, "labelcolor": GRAY}
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderpad=0.2, **look)
    axes.axhline(0, color=GRAY, linewidth=0.8)
    _axes(axes, "hop", "mean part of the margin")
    return figure


def weight_bands(weights: NDArray[np.float64]) -> Figure:
    """Draw how the weights of the training nodes spread from layer to layer.

    Parameters
    ----------
    weights : ndarray of shape (n_layers, n_train)
        Each layer's weights, as multiples of an equal share.
    """
    figure, axes = _panel(2.7)
    layers = np.arange(len(weights))
    for low, high, alpha in _BANDS:
        ends = np.percentile(weights, [low, high], axis=1)
        axes.fill_between(layers, *ends, color=COLORS[0], alpha=alpha, linewidth=0)
    axes.plot(layers, np.median(weights, axis=1), color=COLORS[0], linewidth=2)
    axes.plot(layers, weights.max(axis=1), color=COLORS[1], linewidth=1.4, linestyle=(0, (4, 2)))
    axes.set_yscale("log")
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=7))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    _axes(axes, "layer", "weight, 1 = equal share")
    return figure


def reliability_figure(
    confidence: Sequence[float], accuracy: Sequence[float], sizes: Sequence[int]
) -> Figure:
    """Draw how often the model is right where it says how sure it is.

    Parameters
    ----------
    confidence, accuracy : sequences of float
        Mean probability and share of right nodes in each bin that has nodes.
    sizes : sequence of int
        Nodes in each of these bins.
    """
    figure, axes = _panel(3.4)
    axes.plot([0, 100], [0, 100], color=GRAY, linewidth=1.2, linestyle=(0, (3, 3)))
    area = 12 + 240 * np.array(sizes) / max(sizes)
    x, y = 100 * np.array(confidence), 100 * np.array(accuracy)
    axes.plot(x, y, color=COLORS[0], linewidth=1.2, alpha=0.5)
    axes.scatter(x, y, s=area, color=COLORS[0], alpha=0.85, linewidths=0, clip_on=False, zorder=3)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 104)
    _note(axes, 24, 20, "as sure as right", align="left", above=False)
    _axes(axes, "mean probability of the predicted label in %", "labeled right in %")
    axes.locator_params(axis="x", nbins=6)
    return figure


def _panel(height: float) -> tuple[Figure, Axes]:
    """Return a figure as wide as a phone, with its one panel."""
    figure = new_figure(height)
    figure.set_size_inches(PAGE_WIDTH, height)
    return figure, figure.add_subplot()


def _axes(axes: Axes, across: str, up: str) -> None:
    axes.set_xlabel(across, color=GRAY, fontsize=_FONT)
    axes.set_ylabel(up, color=GRAY, fontsize=_FONT)
    axes.tick_params(labelsize=_FONT)
    axes.locator_params(axis="x", integer=True)
    tidy(axes, grid="y")


def _note(
    axes: Axes, x: Any, y: float, text: str, *, align: str = "right", above: bool = True
) -> None:
    axes.annotate(
        text,
        xy=(x, y),
        xytext=(0, 4 if above else -4),
        textcoords="offset points",
        color=GRAY,
        fontsize=_FONT - 1,
        ha=align,
        va="bottom" if above else "top",
        parse_math=False,
    )
