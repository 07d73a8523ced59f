"""Items one after another, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def map_in_turn(
    fn: Callable[[Any, Any], Any],
    items: Sequence[Any],
    shared: Any,
    on_result: Callable[[int, Any], None],
) -> None:
    """Do what :func:`adagcn.engines.map_items` says, with one worker: this process."""
    errors = []
    for position, item in enumerate(items):
        try:
            result = fn(item, shared)
        except Exception as error:  # the others are still worth having
            errors.append(error)
        else:
            on_result(position, result)
    if errors:
        raise errors[0]
