"""``adagcn bench start``: how long a fresh process takes to start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.timing import Tick, call_seconds

REFERENCE = "torch and scikit-learn"

STARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "an empty interpreter": ("-c", "pass"),
        REFERENCE: ("-c", "import torch, sklearn"),
        "adagcn": ("-c", "import adagcn"),
        "adagcn with its classifier": ("-c", "from adagcn import AdaGCNClassifier"),
        "adagcn --help": ("-m", "adagcn.cli", "--help"),
    }
)


@dataclass(frozen=True)
class StartPlan:
    """How much is measured: samples of each start."""

    repetitions: int = 5


QUICK = StartPlan()
FULL = StartPlan(repetitions=15)


def measure_start(plan: StartPlan, *, tick: Tick) -> Iterator[Section]:
    """Yield one section: every start in turn, each in a separate process."""
    calls = {name: _start(words) for name, words in STARTS.items()}
    samples = call_seconds(calls, repetitions=plan.repetitions, sample_seconds=0.0, tick=tick)
    rows = [
        Row(
            name,
            "reference" if name == REFERENCE else "adagcn" if "adagcn" in name else "bound",
            measure(samples[name]),
            ratio(samples[name], samples[REFERENCE]),
            {"beyond_reference": measure(samples[name] - samples[REFERENCE]).median},
        )
        for name in STARTS
    ]
    yield Section(
        key="start",
        dataset="a fresh process",
        title="until it has imported, or printed its help",
        ratio_name=f"of {REFERENCE}",
        rows=tuple(rows),
        facts={},
    )


def _start(words: tuple[str, ...]) -> Callable[[], object]:
    command = [sys.executable, *words]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
