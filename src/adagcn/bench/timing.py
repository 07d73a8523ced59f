"""How times are measured: contestants in turn, warmed up, by the difference of two lengths."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from adagcn.bench.measures import Samples

Tick = Callable[[], object]  # called after every sample

# Epochs of one sample. With fewer than the least, the flicker of the one epoch that is subtracted
# is as large as the difference, and a sample may say anything. Milliseconds flicker; of epochs that
# take long, two will do, and of those that take very long, one.
LEAST_EPOCHS = 10
LEAST_SLOW_EPOCHS = 2
LONG_SECONDS = 1.0
VERY_LONG_SECONDS = 10.0
MOST_EPOCHS = 400

# Before every sample: a library whose turn is over keeps its threads spinning for a while, and they
# would slow down whoever comes next.
PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Contestant:
    """Something that trains for as many epochs as it is told to.

    ``train`` takes a number of epochs and trains from the start for exactly that many; ``name`` and
    ``group`` are those of its :class:`adagcn.bench.measures.Row`.
    """

    name: str
    group: str
    train: Callable[[int], object]


def epoch_seconds(
    contestants: Sequence[Contestant], *, repetitions: int, sample_seconds: float, tick: Tick
) -> dict[str, Samples]:
    """Return seconds per epoch of every contestant, one sample per repetition.

    A sample is the time of k + 1 epochs minus that of one, divided by k: what happens before the
    first epoch cancels, and the measured loops are the real ones.

    Parameters
    ----------
    contestants : sequence of Contestant
        With different names. Each is trained once or twice to warm up.
    repetitions : int
        Rounds through all contestants.
    sample_seconds : float
        How long a sample should take; sets k.
    tick : callable
        Called after every sample.
    """
    lengths = {each.name: _sample_epochs(each, sample_seconds) for each in contestants}

    def sample(each: Contestant) -> float:
        k = lengths[each.name]
        long = seconds_of(lambda: each.train(k + 1))
        return _positive(long - seconds_of(lambda: each.train(1))) / k

    return _rounds({each.name: partial(sample, each) for each in contestants}, repetitions, tick)


def call_seconds(
    calls: dict[str, Callable[[], object]], *, repetitions: int, sample_seconds: float, tick: Tick
) -> dict[str, Samples]:
    """Return seconds per call of every function, one sample (of several calls) per repetition."""
    lengths = {}
    for name, call in calls.items():
        call()
        lengths[name] = _count(sample_seconds, seconds_of(call))

    def sample(name: str) -> float:
        return seconds_of(lambda: _repeat(calls[name], lengths[name])) / lengths[name]

    return _rounds({name: partial(sample, name) for name in calls}, repetitions, tick)


def seconds_of(call: Callable[[], object]) -> float:
    """Return how long a call takes, with Python's garbage collector switched off."""
    with _no_collection():
        start = time.perf_counter()
        call()
        return _positive(time.perf_counter() - start)


@dataclass(frozen=True)
class Taken:
    """What a call took: seconds of the processor over all threads, and seconds by the clock."""

    cpu: float
    clock: float


def cpu_seconds_of(call: Callable[[], object]) -> Taken:
    """Return what a call takes, with Python's garbage collector switched off."""
    with _no_collection():
        cpu, clock = time.process_time(), time.perf_counter()
        call()
        return Taken(time.process_time() - cpu, time.perf_counter() - clock)


def _rounds(
    samplers: dict[str, Callable[[], float]], repetitions: int, tick: Tick
) -> dict[str, Samples]:
    """Take one sample of each in turn, as many times as requested."""
    found: dict[str, list[float]] = {name: [] for name in samplers}
    for _ in range(repetitions):
        for name, sampler in samplers.items():
            time.sleep(PAUSE_SECONDS)
            found[name].append(sampler())
            tick()
    return {name: np.array(values) for name, values in found.items()}


def _sample_epochs(each: Contestant, sample_seconds: float) -> int:
    # The first run pays for what libraries put off.
    if seconds_of(lambda: each.train(1)) > VERY_LONG_SECONDS:
        return 1
    seconds = seconds_of(lambda: each.train(3)) / 3
    least = round(np.clip(LONG_SECONDS / seconds, LEAST_SLOW_EPOCHS, LEAST_EPOCHS))
    return _count(sample_seconds, seconds, least=least)


def _count(budget: float, seconds: float, *, least: int = 1) -> int:
    return int(np.clip(round(budget / seconds), least, MOST_EPOCHS))


def _repeat(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        call()


def _positive(seconds: float) -> float:
    """Return a time that can be divided by: at least the resolution of the clock."""
    return max(seconds, time.get_clock_info("perf_counter").resolution)


@contextmanager
def _no_collection() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
