from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adagcn import Graph
from adagcn.data import planted_partition


@dataclass(frozen=True)
class Task:
    """A small graph with training, stopping and other nodes, as ids and label values."""

    graph: Graph
    train: np.ndarray
    stop: np.ndarray
    rest: np.ndarray

    def labels(self, ids: np.ndarray) -> np.ndarray:
        return self.graph.classes[self.graph.labels[self.graph.positions(ids)]]

    def stopping(self) -> dict[str, Any]:
        return {"X_val": self.stop, "y_val": self.labels(self.stop)}


@pytest.fixture(scope="session")
def task() -> Task:
    graph = planted_partition(150, 3, 20, seed=1, feature_signal=1.5)
    order = np.random.default_rng(0).permutation(graph.node_ids)
    return Task(graph, order[:45], order[45:75], order[75:])
