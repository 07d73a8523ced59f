"""PyTorch Geometric's models, built and trained as in its examples.

That is: features as one dense tensor with dropout, all nodes in every pass, and after each step a
second pass without dropout for the stopping nodes. Widths are those of the comparison.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, elu

from adagcn.bench.task import Task
from adagcn.training.stopping import Stopper

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what torch says about its own import is not ours
    from torch_geometric import nn as pyg  # type: ignore[import-untyped]


@dataclass(frozen=True)
class DenseData:
    """A task in the form that PyTorch Geometric takes."""

    features: Tensor
    edge_index: Tensor
    labels: Tensor
    train_nodes: Tensor
    stop_nodes: Tensor
    score_nodes: Tensor

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.labels.max()) + 1


class TwoConvolutions(nn.Module):
    """Two layers of one kind with dropout before each: the shape of the GCN, GAT, SAGE examples.

    Parameters
    ----------
    first, second : torch.nn.Module
        Take features and edges.
    activation : callable
        Between them.
    rate : float
        Of the dropout.
    """

    def __init__(
        self,
        first: nn.Module,
        second: nn.Module,
        activation: Callable[[Tensor], Tensor],
        rate: float,
    ) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.activation, self.rate = activation, rate

    def forward(self, features: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits of all nodes."""
        hidden = self.first(dropout(features, self.rate, self.training), edge_index)
        hidden = dropout(self.activation(hidden), self.rate, self.training)
        logits: Tensor = self.second(hidden, edge_index)
        return logits


class PredictThenSpread(nn.Module):
    """Two linear maps and APPNP's propagation: the shape of the APPNP example.

    Parameters
    ----------
    n_features, hidden_units, n_classes : int
        Sizes.
    """

    def __init__(self, n_features: int, hidden_units: int, n_classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(n_features, hidden_units)
        self.second = nn.Linear(hidden_units, n_classes)
        self.spread = pyg.APPNP(K=10, alpha=0.1)

    def forward(self, features: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits of all nodes."""
        hidden = self.first(dropout(features, 0.5, self.training)).relu()
        logits: Tensor = self.spread(self.second(dropout(hidden, 0.5, self.training)), edge_index)
        return logits


def make_data(task: Task) -> DenseData:
    """Return a task as dense features and a list of edges."""
    graph, split = task.graph, task.split
    features = (
        graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    )
    sources, targets = graph.adjacency.nonzero()
    nodes = (torch.from_numpy(np.array(part)) for part in _parts(split))
    return DenseData(
        torch.from_numpy(np.array(features, dtype=np.float32)),
        torch.from_numpy(np.stack([sources, targets]).astype(np.int64)),
        torch.from_numpy(np.array(graph.labels, dtype=np.int64)),
        *nodes,
    )


def make_model(kind: str, data: DenseData, hidden_units: int) -> nn.Module:
    """Return a new gcn, gat, sage or appnp, initialized from torch's global generator."""
    n_in, n_out = data.features.shape[1], data.n_classes
    if kind == "gcn":
        layers = (
            pyg.GCNConv(n_in, hidden_units, cached=True),
            pyg.GCNConv(hidden_units, n_out, cached=True),
        )
        return TwoConvolutions(*layers, torch.relu, 0.5)
    if kind == "gat":
        units = hidden_units // 8
        first = pyg.GATConv(n_in, units, heads=8, dropout=0.6)
        second = pyg.GATConv(8 * units, n_out, heads=1, concat=False, dropout=0.6)
        return TwoConvolutions(first, second, elu, 0.6)
    if kind == "sage":
        sage = pyg.SAGEConv(n_in, hidden_units), pyg.SAGEConv(hidden_units, n_out)
        return TwoConvolutions(*sage, torch.relu, 0.5)
    return PredictThenSpread(n_in, hidden_units, n_out)


@dataclass
class Trainer:
    """One training: a step over all nodes, then an evaluation on the stopping nodes."""

    model: Any
    data: DenseData
    decay: float = 5e-4  # on the first layer, as the GCN example has it

    def __post_init__(self) -> None:
        groups = [
            {"params": self.model.first.parameters(), "weight_decay": self.decay},
            {"params": self.model.second.parameters(), "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.Adam(groups, lr=0.01)

    def epoch(self) -> tuple[float, float]:
        """Train for one epoch; return accuracy and loss on the stopping nodes."""
        data = self.data
        self.model.train()
        self.optimizer.zero_grad()
        logits = self.model(data.features, data.edge_index)[data.train_nodes]
        loss = cross_entropy(logits, data.labels[data.train_nodes])
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return self.look_at(data.stop_nodes)

    @torch.no_grad()
    def look_at(self, nodes: Tensor) -> tuple[float, float]:
        """Return accuracy and loss on some nodes, without dropout."""
        self.model.eval()
        logits = self.model(self.data.features, self.data.edge_index)[nodes]
        labels = self.data.labels[nodes]
        accuracy = (logits.argmax(dim=1) == labels).double().mean().item()
        return accuracy, cross_entropy(logits, labels).item()


def train_for(kind: str, data: DenseData, hidden_units: int, n_epochs: int) -> None:
    """Train a new model for a number of epochs."""
    trainer = Trainer(make_model(kind, data, hidden_units), data)
    for _ in range(n_epochs):
        trainer.epoch()


def fit_appnp(
    data: DenseData, seed: int, *, max_epochs: int = 10_000, max_seconds: float = np.inf
) -> tuple[float, bool]:
    """Train APPNP by PPNP's rule, patience 100, or until time runs out.

    Returns
    -------
    accuracy : float
        On the scored nodes.
    finished : bool
        Whether the rule ended the training, not the time limit.
    """
    end = time.monotonic() + max_seconds
    finished = True
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = make_model("appnp", data, 64)
        trainer = Trainer(model, data, decay=5e-3)
        stopper = Stopper(100, "ranked")
        for _ in range(max_epochs):
            if stopper.should_stop(*trainer.epoch(), model):
                break
            if time.monotonic() > end:
                finished = False
                break
        stopper.restore(model)
    return trainer.look_at(data.score_nodes)[0], finished


def _parts(split: Any) -> tuple[Any, Any, Any]:
    return split.train_nodes, split.stop_nodes, split.score_nodes
