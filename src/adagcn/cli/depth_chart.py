"""Accuracy by depth as lines of text, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adagcn.cli.output import percent

_LEAST_SCALE = 8  # columns; narrower charts show nothing


class _Signs(NamedTuple):
    """The characters that a chart is drawn with."""

    dot: str
    trail: str
    mark: str


_UNICODE = _Signs(dot="●", trail="·", mark="┊")
_ASCII = _Signs(dot="o", trail=".", mark="|")


def depth_chart(
    accuracy_by_depth: Sequence[float],
    *,
    mark: tuple[str, float],
    width: int,
    unicode: bool = True,
) -> list[str]:
    r"""Draw one line per hop with a dot at the accuracy of the ensemble up to that hop.

    Parameters
    ----------
    accuracy_by_depth : sequence of float
        ``accuracy_by_depth[l]`` is the accuracy (0 to 1) of the ensemble of hops 0 to l.
    mark : tuple of (str, float)
        Name and accuracy of a model to compare with, drawn as a vertical line.
    width : int
        Columns to draw in.
    unicode : bool
        Whether the terminal can show more than ASCII.

    Returns
    -------
    list of str
        The lines of the chart, the scale first and the meaning of the vertical line last.

    Examples
    --------
    >>> chart = depth_chart([0.5, 0.75], mark=("MLP", 0.6), width=40, unicode=False)
    >>> print("\n".join(chart))
            50.0 %            75.0 %
     hop 0  o        |               50.0 %
     hop 1  .........|.............o 75.0 %
    | MLP: 60.0 %
    """
    signs = _UNICODE if unicode else _ASCII
    name, reference = mark
    low, high = min(*accuracy_by_depth, reference), max(*accuracy_by_depth, reference)
    labels = [f" hop {hop}" for hop in range(len(accuracy_by_depth))]
    margin = max(map(len, labels)) + 2
    scale = max(_LEAST_SCALE, width - margin - len(percent(1.0)) - 1)

    def column(accuracy: float) -> int:
        return round((accuracy - low) / (high - low or 1.0) * (scale - 1))

    ends = percent(low) + percent(high).rjust(scale - len(percent(low)))
    lines = [" " * margin + ends]
    for label, accuracy in zip(labels, accuracy_by_depth, strict=True):
        row = _row(column(accuracy), column(reference), scale, signs)
        lines.append(f"{label.ljust(margin)}{row} {percent(accuracy)}")
    return [*lines, f"{signs.mark} {name}: {percent(reference)}"]


def _row(dot: int, mark: int, scale: int, signs: _Signs) -> str:
    cells = [signs.trail] * dot + [" "] * (scale - dot)
    cells[mark] = signs.mark
    cells[dot] = signs.dot
    return "".join(cells)
