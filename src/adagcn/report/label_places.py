"""Where names beside dots go, so that none covers another name or a dot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

Box: TypeAlias = tuple[float, float, float, float]  # left, bottom, right, top

_DISTANCES = (7.0, 11.0, 16.0, 22.0, 29.0, 37.0, 46.0, 56.0)
# To the right first, where one looks for a name; straight above and below last.
_ANGLES = (0, 30, -30, 180, 150, -150, 60, -60, 120, -120, 90, -90)


def place_labels(
    dots: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: Box,
    *,
    dot: float = 3.0,
) -> list[Box]:
    """Return a box for the name of each dot; earlier ones have the choice of the nearest place.

    Parameters
    ----------
    dots : sequence of (float, float)
        Places of the dots, in any unit of length.
    sizes : sequence of (float, float)
        Width and height of each name, in that unit.
    bounds : (float, float, float, float)
        Left, bottom, right and top of what the names must stay within.
    dot : float
        Radius that is kept free around each dot.

    Returns
    -------
    list of Box
        In the order of the dots. Where no place is free, the one that covers least.
    """
    around = [(x - dot, y - dot, x + dot, y + dot) for x, y in dots]
    placed: list[Box] = []
    for (x, y), size in zip(dots, sizes, strict=True):
        best, least = None, math.inf
        for candidate in _candidates(x, y, size):
            covered = _outside(candidate, bounds) + sum(
                _overlap(candidate, other) for other in (*placed, *around)
            )
            if covered < least:
                best, least = candidate, covered
            if covered == 0.0:
                break
        assert best is not None
        placed.append(best)
    return placed


def _candidates(x: float, y: float, size: tuple[float, float]) -> list[Box]:
    """Return boxes around a dot, the nearest first."""
    width, height = size
    found = []
    for distance in _DISTANCES:
        for angle in _ANGLES:
            across, up = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            # The near edge of the box, or its middle straight above and below, is so far away.
            left = x + distance * across - width * (1 - across) / 2
            bottom = y + distance * up - height / 2
            found.append((left, bottom, left + width, bottom + height))
    return found


def _overlap(one: Box, other: Box) -> float:
    across = min(one[2], other[2]) - max(one[0], other[0])
    up = min(one[3], other[3]) - max(one[1], other[1])
    return across * up if across > 0 and up > 0 else 0.0


def _outside(box: Box, bounds: Box) -> float:
    """Return the area of a box that lies outside of the bounds."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    return area - _overlap(box, bounds)
