"""``adagcn bench scale``: time and memory of a fit by every size, on generated graphs.

One size grows at a time, the others stay. A fit trains for a fixed number of epochs, so that only
the work per epoch grows. The exponent k of time ∝ size^k is 0 if a size does not matter, and 1 if
nothing else does; several costs together give something in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from adagcn.bench.measures import Row, Samples, Section, fit_exponent, measure, ratio
from adagcn.bench.memory import data_bytes, peak_growth
from adagcn.bench.timing import Tick, call_seconds
from adagcn.data.generators import planted_partition
from adagcn.graph import Graph
from adagcn.models.adagcn import AdaGCNClassifier

N_CLASSES = 5
EPOCHS = 20  # of every layer
_N_STOP = 200


@dataclass(frozen=True)
class Sizes:
    """The sizes of a fit."""

    nodes: int = 8_000
    edges: int = 32_000
    features: int = 64
    labeled: int = 100
    hidden: int = 32
    depth: int = 3


_SMALL = Sizes(nodes=500, edges=1_000, features=8, labeled=20, hidden=4, depth=2)

AXES: Mapping[str, str] = MappingProxyType(
    {
        "nodes": "nodes, edges as many as before",
        "edges": "edges",
        "features": "features",
        "labeled": "labeled nodes",
        "hidden": "hidden units",
        "depth": "layers",
    }
)


@dataclass(frozen=True)
class ScalePlan:
    """How much is measured.

    Parameters
    ----------
    start : Sizes
        The smallest fit, whose sizes are multiplied.
    factors : tuple of int
        Factors that multiply one size at a time.
    repetitions : int
        Fits of each size.
    memory : bool
        Whether peak memory is measured, in a separate process per size.
    """

    start: Sizes = Sizes()
    factors: tuple[int, ...] = (1, 2, 4, 8)
    repetitions: int = 3
    memory: bool = True


QUICK = ScalePlan()
FULL = ScalePlan(
    start=Sizes(nodes=20_000, edges=100_000, features=128, labeled=400, hidden=64, depth=3),
    factors=(1, 2, 4, 8, 16),
    repetitions=7,
)


@dataclass(frozen=True)
class Job:
    """A generated graph and the fit on it."""

    graph: Graph
    sizes: Sizes
    seed: int


def make_job(sizes: Sizes, seed: int) -> Job:
    """Generate a graph of these sizes."""
    graph = planted_partition(
        sizes.nodes,
        N_CLASSES,
        sizes.features,
        seed=seed,
        mean_degree=2 * sizes.edges / sizes.nodes,
    )
    return Job(graph, sizes, seed)


def fit_job(job: Job) -> None:
    """Fit AdaGCN: ``tuned``, except for sizes and a fixed number of epochs."""
    graph, sizes = job.graph, job.sizes
    model = AdaGCNClassifier(
        graph,
        preset="tuned",
        n_layers=sizes.depth,
        hidden_units=sizes.hidden,
        max_features="all",
        max_epochs=EPOCHS,
        patience=EPOCHS + 1,
        random_state=job.seed,
    )
    order = np.random.default_rng(job.seed).permutation(graph.n_nodes)
    train, stop = order[: sizes.labeled], order[sizes.labeled : sizes.labeled + _N_STOP]
    X_val, y_val = graph.ids_and_labels(stop)
    model.fit(*graph.ids_and_labels(train), X_val=X_val, y_val=y_val)


def measure_scale(
    plan: ScalePlan, *, axes: Sequence[str] = tuple(AXES), seed: int = 0, tick: Tick
) -> Iterator[Section]:
    """Yield one section per size that grows.

    Parameters
    ----------
    plan : ScalePlan
        How much.
    axes : sequence of str
        Keys of :data:`AXES`.
    seed : int
        Seed of the graphs and the fits.
    tick : callable
        Called after every sample.
    """
    return (_section(axis, plan, seed, tick) for axis in axes)


def _section(axis: str, plan: ScalePlan, seed: int, tick: Tick) -> Section:
    sizes = [getattr(plan.start, axis) * factor for factor in plan.factors]
    jobs = [make_job(replace(plan.start, **{axis: size}), seed) for size in sizes]
    found = call_seconds(
        {str(size): partial(fit_job, job) for size, job in zip(sizes, jobs, strict=True)},
        repetitions=plan.repetitions,
        sample_seconds=0.0,
        tick=tick,
    )
    seconds = np.stack([found[str(size)] for size in sizes], axis=1)
    peaks = [_peak(job) if plan.memory else None for job in jobs]
    return Section(
        key="scale",
        dataset=axis,
        title=f"one fit ({EPOCHS} epochs a layer) against {AXES[axis]}",
        ratio_name="over the smallest",
        rows=tuple(scale_rows(sizes, seconds, peaks, [data_bytes(job.graph) for job in jobs])),
        facts={"start": asdict(plan.start), "exponents": exponents(sizes, seconds, peaks)},
    )


def scale_rows(
    sizes: Sequence[int],
    seconds: Samples,
    peaks: Sequence[int | None],
    data_bytes: Sequence[int],
) -> list[Row]:
    """Return a row per size: time, its ratio to the smallest, peak memory over the data's bytes."""
    return [
        Row(
            f"{size:,}",
            "adagcn",
            measure(seconds[:, place]),
            ratio(seconds[:, place], seconds[:, 0]),
            {
                "size": size,
                "peak_bytes": peaks[place],
                "data_bytes": data_bytes[place],
                "peak_over_data": _over(peaks[place], data_bytes[place]),
            },
        )
        for place, size in enumerate(sizes)
    ]


def exponents(
    sizes: Sequence[int], seconds: Samples, peaks: Sequence[int | None]
) -> dict[str, dict[str, float | None]]:
    """Return k of time ∝ size^k and of memory ∝ size^k, each with its interval."""
    found = {"time": asdict(fit_exponent(sizes, seconds))}
    if all(peak is not None and peak > 0 for peak in peaks):
        memory = np.array([[float(peak or 0) for peak in peaks]])
        found["memory"] = asdict(fit_exponent(sizes, memory))
    return found


def _peak(job: Job) -> int | None:
    """Return the bytes of graph, features and fit, beyond what a small fit leaves behind."""
    return peak_growth(make_job, fit_job, (job.sizes, job.seed), warm_up=(_SMALL, job.seed))


def _over(peak: int | None, data_bytes: int) -> float | None:
    return None if peak is None else peak / data_bytes
