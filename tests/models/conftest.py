from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adagcn import Graph
from adagcn.boosting.fit_state import LabeledNodes
from adagcn.data import planted_partition
from adagcn.models.support.system import GraphInput, NodeProblem


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


@pytest.fixture
def inputs() -> GraphInput:
    """A random graph in float64 with two components, an isolated node and a self-loop."""
    rng = np.random.default_rng(5)
    n_nodes = 23
    dense = np.triu(rng.random((n_nodes, n_nodes)) < 0.2, k=1).astype(float)
    dense[:12, 12:] = 0.0  # 0–11 and 12–21 are not connected
    dense[:, 22] = 0.0
    for first, last in ((0, 12), (12, 22)):
        dense[np.arange(first, last - 1), np.arange(first + 1, last)] = 1.0
    dense += dense.T
    dense[4, 4] = 1.0
    features = rng.random((n_nodes, 9)) * (rng.random((n_nodes, 9)) < 0.4)
    return GraphInput(sparse.csr_array(features), sparse.csr_array(dense), np.arange(n_nodes))


@pytest.fixture
def problem(inputs: GraphInput) -> NodeProblem:
    labels = np.arange(23) % 3
    train, stop = np.array([0, 5, 13, 7, 20, 15]), np.array([1, 2, 14, 18])
    nodes = LabeledNodes(train, labels[train], np.full(6, 1 / 6), stop, labels[stop])
    return NodeProblem(inputs, nodes, 3)
