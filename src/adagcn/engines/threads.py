"""How many threads compute: those of PyTorch and BLAS, and a pool of our own.

The last bits of a product by PyTorch or BLAS can depend on their number of threads, and threads of
theirs that wait keep a core busy: beside other work, a fit on all cores can take a hundred times
as long as on one. What runs on our own pool has the same bits with any number of threads, and a
thread of it that waits sleeps. So a model that is not told a number leaves PyTorch and BLAS one
thread each, and has as many in its pool as :func:`default_threads` says.
"""

from __future__ import annotations

import numbers
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from adagcn.errors import InputError

# From so many values of features (nodes times columns) on, a model has two threads, or four.
TWO_FROM = 2**20
FOUR_FROM = 2**24
MOST_THREADS = 1024

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Block:
    """What is in force inside a ``with`` block."""

    n_threads: int
    asked: bool  # somebody named the number, for PyTorch and BLAS too
    pool: Executor


@dataclass(eq=False)
class _Change:
    """A change of PyTorch's and BLAS's threads, and how to undo it."""

    undo: Callable[[], None]


_BLOCK: ContextVar[_Block | None] = ContextVar("threads", default=None)
_CHANGES: list[_Change] = []  # of the whole process, the latest last
_LOCK = threading.Lock()


@contextmanager
def threads(n_threads: int) -> Iterator[None]:
    """Limit PyTorch, BLAS and our own pool to this many threads; put the caller's limits back.

    Models inside the block that are not told a number of their own keep to it. Only libraries that
    are already loaded are limited: import what computes before the block.

    Parameters
    ----------
    n_threads : int
        Threads to compute with.
    """
    with _limited(n_threads), _block(n_threads, asked=True):
        yield


@contextmanager
def threads_of_a_model(n_threads: int) -> Iterator[None]:
    """Limit PyTorch and BLAS to one thread, and our own pool to this many.

    Inside a block of :func:`threads`, the limits are that block's.

    Parameters
    ----------
    n_threads : int
        Threads for what has the same bits with any number of them.
    """
    if asked_threads() is not None:
        yield
        return
    with _limited(1), _block(n_threads, asked=False):
        yield


def asked_threads() -> int | None:
    """Return the number that the innermost block of :func:`threads` names; None outside of one."""
    block = _BLOCK.get()
    return block.n_threads if block is not None and block.asked else None


def default_threads(n_values: int) -> int:
    """Return how many threads a model takes that is told nothing, by its features alone.

    The machine has no say in it, neither with its cores nor with what else it does.

    Parameters
    ----------
    n_values : int
        Nodes times columns.

    >>> [default_threads(n) for n in (150 * 20, 2708 * 1433, 232_965 * 602)]
    [1, 2, 4]
    """
    return 1 + (n_values >= TWO_FROM) + 2 * (n_values >= FOUR_FROM)


def checked_threads(n_threads: Any) -> int | None:
    """Return a number of threads that somebody asked for, or None, if it is one."""
    if n_threads is None:
        return None
    whole = isinstance(n_threads, numbers.Integral) and not isinstance(n_threads, bool)
    if not whole or not 1 <= n_threads <= MOST_THREADS:
        raise InputError(
            "AGC-I910",
            f"n_threads must be a whole number from 1 to {MOST_THREADS}, or None",
            got=n_threads,
            fix="use None for a number that the size of the graph decides",
        )
    return int(n_threads)


def pool_threads() -> int:
    """Return how many threads :func:`spread` uses; outside of all blocks, as many as PyTorch."""
    import torch

    block = _BLOCK.get()
    return torch.get_num_threads() if block is None else block.n_threads


def torch_callers() -> int:
    """Return how many threads may call PyTorch at once: one where it has threads of its own."""
    import torch

    return pool_threads() if torch.get_num_threads() == 1 else 1


def spread(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the function of each item, computed on the threads of our pool.

    The caller's thread computes too. What is set for a thread alone does not hold in the others:
    gradients are on, for example.
    """
    first, *others = items
    if not others or pool_threads() == 1:
        return [function(first), *map(function, others)]
    block = _BLOCK.get()
    if block is not None:
        return _spread_over(block.pool, function, first, others)
    with _pool(pool_threads()) as pool:
        return _spread_over(pool, function, first, others)


def _spread_over(
    pool: Executor, function: Callable[[Item], Result], first: Item, others: list[Item]
) -> list[Result]:
    waiting = [pool.submit(function, item) for item in others]
    begun = function(first)
    # From the last one on, the caller takes what no other thread has begun.
    taken = {
        place: function(others[place])
        for place in reversed(range(len(others)))
        if waiting[place].cancel()
    }
    found = [
        taken[place] if place in taken else each.result() for place, each in enumerate(waiting)
    ]
    return [begun, *found]


def _pool(n_threads: int) -> Executor:
    """Return a pool for all threads but the caller's.

    PyTorch finds out in a new thread how many threads it may have there when it is first asked,
    and MKL does not ask: its first product would start threads for every core, which then wait.
    """
    import torch

    return ThreadPoolExecutor(max(n_threads - 1, 1), "adagcn", torch.get_num_threads)


@contextmanager
def _block(n_threads: int, *, asked: bool) -> Iterator[None]:
    """Set what is in force inside a block; the pool starts its threads when they are needed."""
    with _pool(n_threads) as pool:
        token = _BLOCK.set(_Block(n_threads, asked, pool))
        try:
            yield
        finally:
            _BLOCK.reset(token)


@contextmanager
def _limited(n_threads: int) -> Iterator[None]:
    """Limit PyTorch and BLAS, and undo it at the end.

    These limits are the process's. Where blocks of several threads overlap, the last one to end
    restores what the first one found.
    """
    with _LOCK:
        change = _Change(_limit(n_threads))
        _CHANGES.append(change)
    try:
        yield
    finally:
        with _LOCK:
            place = _CHANGES.index(change)
            if change is _CHANGES[-1]:
                change.undo()
            else:
                _CHANGES[place + 1].undo = change.undo
            del _CHANGES[place]


def _limit(n_threads: int) -> Callable[[], None]:
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = torch.get_num_threads()
    of_blas = threadpool_limits(n_threads)
    torch.set_num_threads(n_threads)

    def undo() -> None:
        torch.set_num_threads(before)
        of_blas.restore_original_limits()

    return undo
