"""``adagcn.estimate``: what a fit will cost on a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from adagcn.engines.memory import MemoryLimit, own_memory, tightest_limit
from adagcn.errors import InputError
from adagcn.graph import Graph
from adagcn.models.estimates.fit_memory import LOADED_BY_A_FIT, check_estimable, fit_moments
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts, Moment, peaks
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
    limit : MemoryLimit or None
        The limit that leaves the least room; None where nothing is known.
    held_bytes : int
        What the process holds now.
    """

    model: str
    preset: str
    graph: Mapping[str, Any]
    n_train: int
    n_stop: int
    base_bytes: int
    phases: tuple[Phase, ...]
    limit: MemoryLimit | None
    held_bytes: int

    @property
    def peak_bytes(self) -> int:
        """The most resident memory of the process."""
        return max(phase.n_bytes for phase in self.phases)

    @property
    def fits(self) -> bool | None:
        """Whether the limit leaves room for it; None where no limit is known."""
        if self.limit is None:
            return None
        return self.peak_bytes - self.held_bytes <= self.limit.room

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        limit = None if self.limit is None else self.limit
        return {
            "model": self.model,
            "preset": self.preset,
            "graph": dict(self.graph),
            "labels": {"train": self.n_train, "stop": self.n_stop},
            "peak_bytes": self.peak_bytes,
            "base_bytes": self.base_bytes,
            "phases": [asdict(phase) for phase in self.phases],
            "limit": None
            if limit is None
            else {"bytes": limit.n_bytes, "room": limit.room, "words": str(limit)},
            "fits": self.fits,
        }


def estimate(
    graph: Graph | GraphSizes,
    model: NodeClassifier | str = "adagcn",
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    n_train: int | None = None,
    n_stop: int | None = None,
) -> Estimate:
    """Tell what a fit will cost on a graph, before it starts.

    Parameters
    ----------
    graph : Graph or GraphSizes
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

    Returns
    -------
    Estimate
        Peak memory by phase, and whether it fits.

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
    if not isinstance(graph, Graph | GraphSizes):
        raise InputError(
            "AGC-I2002",
            "graph must be a Graph, or the sizes of one",
            got=graph,
            fix="use load_dataset('cora') for a named data set, or Graph.from_store(folder)",
        )
    sizes = GraphSizes.of(graph) if isinstance(graph, Graph) else graph
    labels = _label_counts(sizes, n_train, n_stop)
    where = graph if isinstance(graph, Graph) else _stand_in(sizes)
    fitted = _on_graph(model, where, preset, settings)
    check_estimable(fitted)
    held = own_memory()["VmRSS"] or _UNKNOWN_BASE
    in_memory = sizes.graph_bytes if isinstance(graph, Graph) else 0.0
    base = max(held - in_memory, 0.0) + LOADED_BY_A_FIT
    start = base + sizes.graph_bytes
    return Estimate(
        model=fitted.model_key,
        preset=str(fitted.preset),
        graph=MappingProxyType(sizes.facts()),
        n_train=labels.n_train,
        n_stop=labels.n_stop,
        base_bytes=round(base),
        phases=tuple(_phases(fit_moments(fitted, sizes, labels), start)),
        limit=tightest_limit(),
        held_bytes=held,
    )


def _phases(moments: list[Moment], start: float) -> list[Phase]:
    return [
        Phase(moment.phase, moment.what, round(start + moment.n_bytes)) for moment in peaks(moments)
    ]


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
