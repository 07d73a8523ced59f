"""The problem that all contestants train on: a graph and one split of its labels."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adagcn.data.catalog import CATALOG
from adagcn.data.load import load_graph
from adagcn.data.nodesets import Split
from adagcn.data.splits import make_split
from adagcn.graph import Graph


@dataclass(frozen=True)
class Task:
    """A graph with training, stopping and scored nodes; test nodes are never among them."""

    graph: Graph
    split: Split
    seed: int = 0

    @property
    def name(self) -> str:
        """What tables call the graph."""
        return self.graph.name or "graph"

    @cached_property
    def labeled(self) -> dict[str, Any]:
        """The arguments of any model's ``fit``."""
        X, y = self.graph.ids_and_labels(self.split.train_nodes)
        X_val, y_val = self.graph.ids_and_labels(self.split.stop_nodes)
        return {"X": X, "y": y, "X_val": X_val, "y_val": y_val}


def make_task(graph: Graph, *, seed: int = 0) -> Task:
    """Return the task on a graph: ``val:0`` of a named data set, ``stratified:0`` of another."""
    kind = "val" if graph.name in CATALOG else "stratified"
    return Task(graph, make_split(graph, f"{kind}:0"), seed)


def load_tasks(
    names: Iterable[str],
    *,
    seed: int = 0,
    data_dir: str | os.PathLike[str] | None = None,
    offline: bool | None = None,
) -> list[Task]:
    """Return the tasks on data sets of the catalog, or ``.npz`` files."""
    graphs = [load_graph(name, data_dir=data_dir, offline=offline) for name in names]
    return [make_task(graph, seed=seed) for graph in graphs]
