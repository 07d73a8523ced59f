"""What the tests of the benchmarks share."""

from __future__ import annotations

from adagcn.bench.task import make_task
from adagcn.data import planted_partition


def tiny_task():
    """A graph of the smallest size that every contestant can train on."""
    return make_task(planted_partition(120, 3, 16, seed=0, mean_degree=5))


def no_tick():
    """Nothing to show."""
