"""``adagcn.estimate``: what a fit will cost on a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.base import clone

from adagcn.engines import Engine, current_engine
from adagcn.engines.memory import MemoryLimit, own_memory, tightest_limit
from adagcn.errors import InputError
from adagcn.graph import Graph
from adagcn.models.estimates.boosted_memory import BoostedMemory
from adagcn.models.estimates.boosted_seconds import BoostedSeconds
from adagcn.models.estimates.cheaper import Change, Cheaper, cheaper_of, possible_changes
from adagcn.models.estimates.disk_room import DiskRoom
from adagcn.models.estimates.file_sizes import FileSizes
from adagcn.models.estimates.fit_memory import (
    FitMemory,
    check_estimable,
    fit_memory,
    loaded_by_a_fit,
)
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts, Moment, peaks
from adagcn.models.estimates.rate_samples import Sample
from adagcn.models.estimates.rates import Rates, Work, measured_rates, rates_of_other_work
from adagcn.models.estimates.stored_memory import StoredMemory
from adagcn.models.estimates.stored_seconds import StoredSeconds
from adagcn.models.estimates.worker_memory import Workers
from adagcn.models.support.classifier import NodeClassifier
from adagcn.models.support.registry import build_model

_UNKNOWN_BASE = 400 * 2**20  # of interpreter and libraries, where the system does not tell
_STOP_SHARE = 0.2  # of the labels, where nobody says how many are stopped on


@dataclass(frozen=True)
class Phase:
    """A part of a fit and the most memory that it takes.

    Parameters
    ----------
    name : {"reading", "look", "propagation", "training", "prediction"}
        Which part.
    what : str
        What is going on at its peak.
    n_bytes : int
        Resident memory of the whole process then.
    """

    name: str
    what: str
    n_bytes: int


@dataclass(frozen=True)
class Estimate:
    """What a fit costs, before it starts.

    Parameters
    ----------
    model, preset : str
        What is fitted.
    graph : dict
        Counts of the graph.
    n_train, n_stop : int
        Nodes that are trained on and stopped on.
    base_bytes : int
        Interpreter, libraries and whatever else this process holds beside the graph.
    phases : tuple of Phase
        In the order of a fit; the last one is a prediction for all nodes.
    disk_bytes : int
        What a fit writes at least, where the graph is in a store: hops and all else; else 0.
    most_disk_bytes : int
        The same if the disk has room for all hops: one command keeps them for what follows.
    seconds : mapping or None
        CPU seconds of each phase on one thread; None if they were not asked for or are not known.
    most_seconds : float or None
        CPU seconds of the fit if no layer stops early.
    limit : MemoryLimit or None
        The limit that leaves the least room; None where nothing is known.
    held_bytes : int
        What the process holds now.
    missing_disk_bytes : int
        What of ``disk_bytes`` is not in the store yet: an interrupted fit leaves hops and layers,
        every fit the row blocks of Â.
    free_disk_bytes : int or None
        What is free where the hops go, or allowed by ``ADAGCN_DISK_LIMIT``; None without a store,
        or if nobody tells.
    cheaper : tuple of Cheaper
        Changes that would save memory or time, the least memory first.
    is_exact : bool
        False: nodes and edges of large tables were counted from a sample, within one percent.
    n_workers : int
        Processes beside the fit whose memory is counted.
    """

    model: str
    preset: str
    graph: Mapping[str, Any]
    n_train: int
    n_stop: int
    base_bytes: int
    phases: tuple[Phase, ...]
    disk_bytes: int
    most_disk_bytes: int
    seconds: Mapping[str, float] | None
    most_seconds: float | None
    limit: MemoryLimit | None
    held_bytes: int
    missing_disk_bytes: int = 0
    free_disk_bytes: int | None = None
    cheaper: tuple[Cheaper, ...] = ()
    is_exact: bool = True
    n_workers: int = 0

    @property
    def peak_bytes(self) -> int:
        """The most resident memory of the process, and of those that work beside it."""
        return max(phase.n_bytes for phase in self.phases)

    @property
    def fits(self) -> bool | None:
        """Whether memory and the disk of a store have room; None where no limit is known."""
        return self.has_room_for(self.peak_bytes, self.missing_disk_bytes)

    @property
    def fits_on_disk(self) -> bool | None:
        """Whether the disk of a store has room; None where that is not known."""
        return self._has_disk_for(self.missing_disk_bytes)

    def has_room_for(self, peak_bytes: float, missing_disk_bytes: float = 0.0) -> bool | None:
        """Return whether there is room for a peak, and for what is to be written to a store."""
        if self._has_disk_for(missing_disk_bytes) is False:
            return False
        if self.limit is None:
            return None
        return peak_bytes - self.held_bytes <= self.limit.room

    def _has_disk_for(self, n_bytes: float) -> bool | None:
        return None if self.free_disk_bytes is None else n_bytes <= self.free_disk_bytes

    @property
    def fit_seconds(self) -> float | None:
        """CPU seconds of the fit, without a prediction; None if not known."""
        return _fit_seconds(self.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        limit = self.limit
        return {
            "model": self.model,
            "preset": self.preset,
            "graph": {**self.graph, "exact": self.is_exact},
            "labels": {"train": self.n_train, "stop": self.n_stop},
            "peak_bytes": self.peak_bytes,
            "base_bytes": self.base_bytes,
            "workers": self.n_workers,
            "phases": [asdict(phase) for phase in self.phases],
            "disk_bytes": self.disk_bytes,
            "most_disk_bytes": self.most_disk_bytes,
            "missing_disk_bytes": self.missing_disk_bytes,
            "free_disk_bytes": self.free_disk_bytes,
            "fits_on_disk": self.fits_on_disk,
            "cpu_seconds": None if self.seconds is None else dict(self.seconds),
            "fit_cpu_seconds": self.fit_seconds,
            "most_fit_cpu_seconds": self.most_seconds,
            "limit": None
            if limit is None
            else {"bytes": limit.n_bytes, "room": limit.room, "words": str(limit)},
            "fits": self.fits,
            "cheaper": [
                {
                    "settings": dict(each.change.settings),
                    "change": str(each.change),
                    "peak_bytes": each.peak_bytes,
                    "disk_bytes": each.disk_bytes,
                    "fit_cpu_seconds": each.seconds,
                    "fits": self.has_room_for(each.peak_bytes, each.missing_bytes),
                }
                for each in self.cheaper
            ],
        }


def estimate(  # noqa: PLR0913
    graph: Graph | GraphSizes | FileSizes,
    model: NodeClassifier | str = "adagcn",
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    n_train: int | None = None,
    n_stop: int | None = None,
    timed: bool = False,
    engine: Engine | None = None,
) -> Estimate:
    """Tell what a fit will cost on a graph, before it starts.

    Parameters
    ----------
    graph : Graph, GraphSizes or FileSizes
        The graph, or its counts alone.
    model : NodeClassifier or str
        A model, or the key of one.
    preset : str, optional
        The preset, where ``model`` is a key.
    settings : mapping
        Settings by name, where ``model`` is a key; a switch is ``"variant.stop_on"``.
    n_train, n_stop : int, optional
        Labeled nodes that will be trained on and stopped on. By default four fifths and one fifth
        of the graph's labels.
    timed : bool
        Whether to estimate CPU time as well, for which this machine is measured for about a second.
        Known for AdaGCN's family alone.
    engine : Engine, optional
        Who makes the hops of a stored graph: the memory of its processes on this machine counts.
        By default the engine in force (:func:`adagcn.engines.using`).

    Returns
    -------
    Estimate
        Peak memory by phase, disk, time, whether it fits, and what would be cheaper.

    Raises
    ------
    InputError
        The cost of the model cannot be told in advance, or a number is wrong.

    Examples
    --------
    >>> from adagcn import load_dataset
    >>> found = estimate(load_dataset("cora"), n_train=140, n_stop=500)
    >>> [phase.name for phase in found.phases]
    ['look', 'propagation', 'training', 'prediction']
    """
    if not isinstance(graph, Graph | GraphSizes | FileSizes):
        raise InputError(
            "AGC-I2002",
            "graph must be a Graph, or the sizes of one",
            got=graph,
            fix="use load_dataset('cora') for a named data set, or Graph.from_store(folder)",
        )
    question = _Question.about(graph, engine or current_engine())
    fitted = _on_graph(model, question.stand_in, preset, settings)
    check_estimable(fitted)
    labels = _label_counts(question.sizes, n_train, n_stop)
    memory = fit_memory(fitted, question.sizes, labels, question.workers)
    machine = _Machine.measured(fitted, memory) if timed else None
    now = question.cost(fitted, labels, machine, Change())
    changes = possible_changes(fitted, question.sizes, labels)
    cost = partial(question.cost, fitted, labels, machine)
    return Estimate(
        model=fitted.model_key,
        preset=str(fitted.preset),
        graph=MappingProxyType(question.sizes.facts()),
        n_train=labels.n_train,
        n_stop=labels.n_stop,
        base_bytes=round(question.base(fitted)),
        phases=tuple(question.phases(fitted, memory)),
        disk_bytes=now.disk_bytes,
        most_disk_bytes=round(memory.most_disk_bytes) if isinstance(memory, StoredMemory) else 0,
        seconds=_seconds(memory, machine),
        most_seconds=_fit_seconds(_seconds(memory, machine, to_the_last_epoch=True)),
        limit=tightest_limit(),
        held_bytes=question.held,
        missing_disk_bytes=now.missing_bytes,
        free_disk_bytes=None if question.disk is None else question.disk.free,
        cheaper=cheaper_of(changes, cost, now),
        is_exact=not isinstance(graph, FileSizes) or graph.is_exact,
        n_workers=max(question.workers.hops, question.workers.training),
    )


@dataclass(frozen=True)
class _Question:
    """What is asked about: a graph, where it is, and what the process holds already."""

    sizes: GraphSizes
    stand_in: Graph
    held: int
    graph_in_memory: float
    workers: Workers
    reading: float = 0.0
    disk: DiskRoom | None = None

    @classmethod
    def about(cls, graph: Graph | GraphSizes | FileSizes, engine: Engine) -> _Question:
        held = own_memory()["VmRSS"] or _UNKNOWN_BASE
        if isinstance(graph, Graph):
            sizes = GraphSizes.of(graph)
            workers = Workers.of(engine) if sizes.is_stored else Workers()
            disk = DiskRoom.of(graph.store)
            return cls(sizes, graph, held, sizes.graph_bytes, workers, disk=disk)
        sizes = graph if isinstance(graph, GraphSizes) else graph.sizes
        workers = Workers.of(engine) if sizes.is_stored else Workers()
        if isinstance(graph, GraphSizes):
            return cls(sizes, _stand_in(sizes), held, 0.0, workers)
        disk = DiskRoom.of(graph.store)
        return cls(sizes, _stand_in(sizes), held, 0.0, workers, graph.reading_bytes, disk)

    def base(self, model: Any) -> float:
        """Return the bytes of interpreter, libraries and all else beside the graph."""
        return max(self.held - self.graph_in_memory, 0.0) + loaded_by_a_fit(model)

    def phases(self, model: Any, memory: FitMemory) -> list[Phase]:
        base, moments = self.base(model), list(memory.moments())
        start = base + memory.sizes.graph_bytes
        reading = [Phase("reading", "reading the file", round(base + self.reading))]
        found = [_phase(moment, start) for moment in peaks(moments)]
        return [*(reading if self.reading else []), *found]

    def cost(
        self, model: Any, labels: LabelCounts, machine: _Machine | None, change: Change
    ) -> Cheaper:
        """Return what the fit costs with something changed."""
        changed = clone(model).set_params(**change.settings)
        memory = fit_memory(changed, change.on(self.sizes), labels, self.workers)
        peak = max(phase.n_bytes for phase in self.phases(changed, memory))
        parts = memory.disk_parts if isinstance(memory, StoredMemory) else {}
        disk = change.disk_on(self.sizes) + sum(parts.values())
        missing = disk if self.disk is None else self.disk.missing(parts)
        seconds = None
        if machine is not None and not change.to_store:  # files were not measured
            other = machine.with_settings(changed, memory, change.settings)
            seconds = _fit_seconds(_seconds(memory, other))
        return Cheaper(change, peak, round(disk), round(missing), seconds)


def _phase(moment: Moment, start: float) -> Phase:
    return Phase(moment.phase, moment.what, round(start + moment.n_bytes))


@dataclass(frozen=True)
class _Machine:
    """How fast this machine is at the work of a fit."""

    sample: Sample
    rates: Rates

    @classmethod
    def measured(cls, model: Any, memory: FitMemory) -> _Machine | None:
        """Measure it; None where the time of a model is not known."""
        if not isinstance(memory, BoostedMemory):
            return None
        sample = Sample(memory.sizes)
        return cls(sample, measured_rates(sample, _work(model, memory)))

    def with_settings(
        self, model: Any, memory: FitMemory, settings: Mapping[str, Any]
    ) -> _Machine | None:
        """Measure what other settings change; fewer layers are as fast as more."""
        if not isinstance(memory, BoostedMemory):
            return None
        if not settings or settings.keys() == {"n_layers"}:
            return self
        return replace(
            self, rates=rates_of_other_work(self.rates, self.sample, _work(model, memory))
        )


def _work(model: Any, memory: BoostedMemory) -> Work:
    """Return the work of a fit that is to be measured."""
    settings, n_classes = memory.settings, max(memory.sizes.n_classes, 2)
    if settings.first_layer_l2 == "auto":
        settings = settings.model_copy(update={"first_layer_l2": 0.0})

    def made(make: Callable[..., Any]) -> Callable[..., Any]:
        def of(generator: Any, n_columns: int) -> Any:
            return make(settings, n_columns, n_classes, generator, torch.float32)

        return of

    trains = settings.variant.learner != "ridge"
    return Work(
        n_columns=memory.n_columns,
        n_rows=memory.labels.n_train + memory.n_pseudo,
        feature_norm=memory.norm,
        max_features=settings.max_features,
        make_learner=made(model.make_learner),
        make_network=made(model.make_network) if trains else None,
    )


def _seconds(
    memory: FitMemory, machine: _Machine | None, *, to_the_last_epoch: bool = False
) -> dict[str, float] | None:
    if machine is None or not isinstance(memory, BoostedMemory):
        return None
    seconds = BoostedSeconds(memory, machine.rates)
    if isinstance(memory, StoredMemory):
        seconds = StoredSeconds(memory, machine.rates)
    return seconds.by_phase(to_the_last_epoch=to_the_last_epoch)


def _fit_seconds(seconds: Mapping[str, float] | None) -> float | None:
    """Return the seconds of all phases of the fit itself."""
    if seconds is None:
        return None
    return sum(each for name, each in seconds.items() if name != "prediction")


def _on_graph(
    model: NodeClassifier | str, graph: Graph, preset: str | None, settings: Mapping[str, Any]
) -> Any:
    """Return a model that is not fitted and has the graph."""
    if isinstance(model, str):
        return build_model(model, graph, preset=preset, settings=settings)
    if not isinstance(model, NodeClassifier):
        problem = "model must be a model of adagcn or the key of one"
        raise InputError("AGC-I2003", problem, got=model, fix="use 'adagcn'")
    if preset is not None or settings:
        raise InputError(
            "AGC-I2004",
            "preset and settings are for a model that is named by its key",
            got={"preset": preset, **settings},
            fix="set them where the model is made",
        )
    return clone(model).set_params(graph=graph)


def _label_counts(sizes: GraphSizes, n_train: int | None, n_stop: int | None) -> LabelCounts:
    stop = round(_STOP_SHARE * sizes.n_labeled) if n_stop is None else n_stop
    train = max(sizes.n_labeled - stop, 1) if n_train is None else n_train
    for name, number, least in (("n_train", train, 1), ("n_stop", stop, 0)):
        if not least <= number <= sizes.n_nodes:
            raise InputError(
                "AGC-I2005",
                f"{name} must be a number of nodes from {least} to {sizes.n_nodes:,}",
                got=number,
                fix="give as many as will be labeled",
            )
    return LabelCounts(int(train), int(stop))


def _stand_in(sizes: GraphSizes) -> Graph:
    """Return a graph of one node: settings depend on a graph's name, and on there being one."""
    return Graph(
        adjacency=sparse.csr_array((1, 1), dtype=np.float32),
        features=np.zeros((1, 1), dtype=np.float32),
        node_ids=np.arange(1),
        labels=np.zeros(1, dtype=np.int64),
        classes=np.arange(1),
        name=sizes.name,
    )
