from __future__ import annotations

import gc

import pytest

from adagcn.bench import timing
from adagcn.bench.timing import Contestant, call_seconds, epoch_seconds, seconds_of


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", found.perf_counter)
    return found


def test_what_comes_before_the_first_epoch_drops_out(clock):
    def contestant(name, setup, epoch):
        def train(n_epochs):
            clock.now += setup + n_epochs * epoch

        return Contestant(name, "ours", train)

    found = epoch_seconds(
        [contestant("light", 0.0, 0.25), contestant("heavy to start", 100.0, 0.5)],
        repetitions=3,
        sample_seconds=1.0,
        tick=lambda: None,
    )
    assert found["light"].tolist() == [0.25] * 3
    assert found["heavy to start"].tolist() == pytest.approx([0.5] * 3)


@pytest.mark.parametrize(
    ("seconds", "least"),
    [(0.05, timing.LEAST_EPOCHS), (0.2, 5), (5.0, timing.LEAST_SLOW_EPOCHS), (60.0, 1)],
)
def test_enough_epochs_are_subtracted_from_however_slow_they_are(clock, seconds, least):
    lengths = []

    def train(n_epochs):
        lengths.append(n_epochs)
        clock.now += seconds * n_epochs

    epoch_seconds(
        [Contestant("slow", "peer", train)], repetitions=1, sample_seconds=0.1, tick=lambda: None
    )
    assert lengths[-2:] == [least + 1, 1]
    assert len(lengths) == (3 if least == 1 else 4)  # what takes very long is tried but once


def test_contestants_take_turns(clock):
    order = []

    def contestant(name):
        def train(n_epochs):
            clock.now += n_epochs
            order.append(name)

        return Contestant(name, "ours", train)

    ticks = []
    epoch_seconds(
        [contestant("a"), contestant("b")],
        repetitions=2,
        sample_seconds=1.0,
        tick=lambda: ticks.append(1),
    )
    warm_up, measured = order[:4], order[4:]
    assert warm_up == ["a", "a", "b", "b"]
    assert measured == ["a", "a", "b", "b"] * 2  # a long and a short training each
    assert len(ticks) == 4


def test_calls_are_repeated_to_fill_a_sample(clock):
    calls = []

    def call():
        calls.append(1)
        clock.now += 0.5

    found = call_seconds({"x": call}, repetitions=2, sample_seconds=2.0, tick=lambda: None)
    assert found["x"].tolist() == [0.5, 0.5]
    assert len(calls) == 2 + 2 * 4  # two to warm up


def test_no_time_is_zero_and_garbage_waits(clock):
    assert gc.isenabled()
    seen = []
    assert seconds_of(lambda: seen.append(gc.isenabled())) > 0.0
    assert seen == [False]
    assert gc.isenabled()
