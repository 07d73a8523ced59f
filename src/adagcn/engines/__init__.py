"""Runs many independent items, one after another or in parallel processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from adagcn.engines.processes import map_in_processes
from adagcn.errors import InputError

__all__ = ["map_items"]

Item = TypeVar("Item")
Shared = TypeVar("Shared")
Result = TypeVar("Result")


def map_items(
    fn: Callable[[Item, Shared], Result],
    items: Sequence[Item],
    shared: Shared,
    *,
    workers: int,
    on_result: Callable[[int, Result], None],
) -> None:
    """Call ``fn(item, shared)`` for every item and pass on each result as soon as it is ready.

    An item that fails does not stop the others: the first error is raised when all are done. An
    error in ``on_result`` ends everything at once, as does Ctrl-C.

    Parameters
    ----------
    fn : callable
        What to do with an item; with several workers, a function defined in a module.
    items : sequence
        The items.
    shared : object
        What every call needs; sent to each process once.
    workers : int
        1 runs in this process, more run in that many new processes.
    on_result : callable
        Called in this process, one call at a time, with an item's position and result.

    Raises
    ------
    ResourceError
        Worker processes died repeatedly.
    Exception
        The first error of ``fn``, as it was raised.
    """
    if workers < 1:
        raise InputError("AGC-I900", "workers must be at least 1", got=workers, fix="use 1")
    if workers == 1:
        _map_in_turn(fn, items, shared, on_result)
    else:
        map_in_processes(fn, items, shared, workers, on_result)


def _map_in_turn(
    fn: Callable[[Item, Shared], Result],
    items: Sequence[Item],
    shared: Shared,
    on_result: Callable[[int, Result], None],
) -> None:
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
