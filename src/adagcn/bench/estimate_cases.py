"""The fits that ``adagcn bench estimates`` compares estimates with, and their generated graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from adagcn.data.generators import planted_partition
from adagcn.errors import InputError
from adagcn.graph import Graph

N_CLASSES = 10


@dataclass(frozen=True)
class Case:
    """One fit.

    Parameters
    ----------
    name : str
        What is shown.
    model, preset : str
        What is fitted.
    n_nodes, n_features, mean_degree : int
        Of the generated graph.
    n_train, n_stop : int
        Labeled nodes.
    words : int
        Stored values in a row of sparse features; 0: they are dense.
    settings : mapping
        Changes to the preset.
    is_stored : bool
        Whether the graph is in a store.
    workers : int
        Processes that make the hops of a stored graph.
    """

    name: str
    model: str
    preset: str
    n_nodes: int
    n_features: int
    mean_degree: int
    n_train: int = 1000
    n_stop: int = 500
    words: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_stored: bool = False
    workers: int = 1


# Few epochs on large graphs: more would take time and no more memory.
_FEW = {"max_epochs": 3, "patience": 3}
_BRIEF = {**_FEW, "n_layers": 4}
_LARGE = (
    Case("tuned, dense", "adagcn", "tuned", 80_000, 500, 10, settings=_BRIEF),
    Case("tuned, sparse", "adagcn", "tuned", 60_000, 2_000, 8, words=30, settings=_BRIEF),
    Case("tuned, many labels", "adagcn", "tuned", 60_000, 400, 10, 40_000, 6_000, settings=_BRIEF),
    Case("tuned, many edges", "adagcn", "tuned", 60_000, 100, 120, settings=_BRIEF),
    Case("adaptive, dense", "adagcn", "adaptive", 80_000, 400, 10, 500, 300, settings=_FEW),
    Case("adaptive, sparse", "adagcn", "adaptive", 40_000, 900, 6, 500, 300, 20, _FEW),
    Case("instant, dense", "adagcn", "instant", 80_000, 500, 10, settings={"n_layers": 4}),
    Case("instant, sparse", "adagcn", "instant", 60_000, 1_000, 8, 1000, 0, 20, {"n_layers": 4}),
    Case("paper, dense", "adagcn", "paper", 60_000, 500, 10, 400, 400, settings=_BRIEF),
    Case("paper, sparse", "adagcn", "paper", 40_000, 1_000, 8, 400, 400, 20, _BRIEF),
    Case("adasgc, dense", "adasgc", "tuned", 80_000, 500, 10, settings=_BRIEF),
    Case("gcn, dense", "gcn", "paper", 80_000, 400, 10, settings={"max_epochs": 3}),
    Case("appnp, dense", "appnp", "paper", 60_000, 300, 10, settings={"max_epochs": 3}),
)
# Presets as they are, with all of their layers and epochs, on graphs as large as Cora and larger.
_WHOLE = (
    Case("whole fit, adaptive, small", "adagcn", "adaptive", 2_700, 1_433, 4, 140, 500, 18),
    Case("whole fit, adaptive", "adagcn", "adaptive", 20_000, 500, 5, 300, 500, 20),
    Case("whole fit, tuned", "adagcn", "tuned", 20_000, 300, 10, 600, 300),
    Case("whole fit, instant", "adagcn", "instant", 20_000, 500, 5, 600, 0, 20),
)
_STORED = (
    Case("store, tuned", "adagcn", "tuned", 200_000, 200, 10, settings=_BRIEF, is_stored=True),
    Case(
        "store, instant", "adagcn", "instant", 150_000, 200, 10, 1000, 0, 0, {"n_layers": 4}, True
    ),
    Case("store, sparse", "adagcn", "tuned", 150_000, 800, 6, 1000, 500, 20, _BRIEF, True),
    Case(
        "store, two processes", "adagcn", "tuned", 200_000, 200, 10, 1000, 500, 0, _BRIEF, True, 2
    ),
)
CASES: tuple[Case, ...] = (*_LARGE, *_WHOLE, *_STORED)


def cases_named(names: Sequence[str]) -> tuple[Case, ...]:
    """Return cases by their names."""
    by_name = {case.name: case for case in CASES}
    for name in names:
        if name not in by_name:
            problem, known = "there is no such case", ", ".join(map(repr, by_name))
            raise InputError("AGC-I2012", problem, got=name, fix=f"use one of {known}")
    return tuple(by_name[name] for name in names)


def case_graph(case: Case, seed: int) -> Graph:
    """Return the generated graph of a case, with dense features or with words."""
    width = 2 if case.words else case.n_features
    graph = planted_partition(
        case.n_nodes, N_CLASSES, width, seed=seed, mean_degree=case.mean_degree
    )
    if not case.words:
        return graph
    rng = np.random.default_rng(seed)
    shape = (case.n_nodes, case.words)
    drawn = (case.n_features * np.square(rng.random(shape))).astype(np.int32)  # some are frequent
    columns = (drawn + 7 * graph.labels[:, None].astype(np.int32)) % case.n_features
    ends = np.arange(0, case.words * (case.n_nodes + 1), case.words, dtype=np.int32)
    values = np.ones(case.words * case.n_nodes, dtype=np.float32)
    words = sparse.csr_array((values, columns.ravel(), ends), shape=(case.n_nodes, case.n_features))
    words.sum_duplicates()
    return Graph(graph.adjacency, words, graph.node_ids, graph.labels, graph.classes, name="words")
