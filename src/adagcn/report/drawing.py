"""The house style of every figure: size, colors, labels and files.

The palette can be told apart with any kind of color vision, names stand beside what they name
instead of in a legend, and the same figure is always written as the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

# Okabe and Ito's palette without its yellow, which is hard to see on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GRAY = "#595959"
LIGHT_GRAY = "#E5E5E5"
WIDTH = 7.2  # inches: as wide as a README shows
_FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"format": "png", "dpi": 160, "metadata": {"Software": None}},
    ".svg": {"format": "svg", "metadata": {"Date": None, "Creator": None}},
}


def new_figure(height: float) -> Figure:
    """Return an empty figure of page width; matplotlib's global state stays as it is.

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


def save_figure(path: Path, figure: Figure) -> None:
    """Write a figure; the same figure always gives the same bytes.

    Parameters
    ----------
    path : Path
        A ``.png`` or ``.svg`` file, written completely or not at all. An existing file is replaced.
    figure : matplotlib.figure.Figure
        What to write.

    Raises
    ------
    InputError
        If ``path`` has any other suffix.
    ResourceError
        If the file cannot be written.
    """
    from matplotlib import rc_context

    options = _FORMATS.get(path.suffix.lower())
    if options is None:
        problem = "the file name of a figure must end in .png or .svg"
        raise InputError("AGC-I973", problem, got=str(path), fix="use one of the two suffixes")
    # Without a salt the ids inside an SVG are random.
    with rc_context({"svg.hashsalt": "adagcn"}), atomic_file(path) as handle:
        figure.savefig(handle, **options)


def head(figure: Figure, title: str, key: str, *, lines: int = 1) -> None:
    """Write the title and, smaller below it, how to read the figure, in a strip kept free."""
    height = figure.get_figheight()
    # Placed in inches: a share of the height would tear them apart or push them together.
    style: dict[str, Any] = {"x": 0.012, "va": "top", "parse_math": False}
    figure.text(y=1 - 0.08 / height, s=shorten(title, 88, placeholder=" …"), fontsize=11, **style)
    figure.text(y=1 - 0.30 / height, s=key, fontsize=9, color=GRAY, **style)
    strip = 0.5 + 0.16 * (lines - 1)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - strip / height))


def spread_apart(heights: Sequence[float], gap: float) -> list[float]:
    """Return ``heights`` moved as little as possible until neighbors are ``gap`` apart.

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
    """Remove what carries no information and leave a faint grid along one axis."""
    axes.tick_params(colors=GRAY, length=0)
    axes.grid(axis=grid, color=LIGHT_GRAY, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(LIGHT_GRAY)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Let each row of dots carry its name at the left, the first row on top."""
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    tidy(axes, grid="x")
    axes.tick_params(axis="y", labelcolor="black", pad=8)


def name_ends(
    axes: Axes, ends: Sequence[float], names: Iterable[str], colors: Iterable[str], *, gap: float
) -> None:
    """Write each line's name at its right end, names at least ``gap`` apart."""
    for height, name, color in zip(spread_apart(ends, gap), names, colors, strict=True):
        write_beside(axes, height, name, color)


def write_beside(axes: Axes, height: float, text: str, color: str) -> None:
    """Write ``text`` literally to the right of ``axes``, at ``height`` in data units."""
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
