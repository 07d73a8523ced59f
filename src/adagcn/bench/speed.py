"""``adagcn bench speed``: epochs, real fits by layer, whole fits, wide layers, depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from adagcn.bench.depth import depth_section
from adagcn.bench.epochs import epoch_section
from adagcn.bench.fits import fit_section
from adagcn.bench.layers import layer_section
from adagcn.bench.measures import Section
from adagcn.bench.speed_plan import SpeedPlan
from adagcn.bench.task import Task
from adagcn.bench.timing import Tick
from adagcn.bench.wide import wide_section

PARTS: Mapping[str, Callable[[Task, SpeedPlan, Tick], Section]] = MappingProxyType(
    {
        "epoch": epoch_section,
        "layers": layer_section,
        "fit": fit_section,
        "wide": wide_section,
        "depth": depth_section,
    }
)


def measure_speed(
    tasks: Sequence[Task], plan: SpeedPlan, *, parts: Sequence[str] = tuple(PARTS), tick: Tick
) -> Iterator[Section]:
    """Yield the sections of the given parts on every task, each as soon as it is measured.

    Parameters
    ----------
    tasks : sequence of Task
        What to train on.
    plan : SpeedPlan
        How much.
    parts : sequence of str
        Keys of :data:`PARTS`.
    tick : callable
        Called after every sample.
    """
    return (PARTS[part](task, plan, tick) for task in tasks for part in parts)
