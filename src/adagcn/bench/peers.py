"""Other libraries' models as contestants; a library is loaded when one of its models is built."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse

from adagcn.bench.task import Task
from adagcn.bench.timing import Contestant
from adagcn.errors import InputError
from adagcn.training.hop_fitter import HopTask

EXTRA = "bench"  # the extra of this package that brings every peer

MakeTraining = Callable[[Task, HopTask, int], Callable[[int], object]]


@dataclass(frozen=True)
class Peer:
    """A model of another library.

    Parameters
    ----------
    key, name : str
        What the command line calls it, and what tables call it.
    module, package : str
        Module that must be importable, and the package that provides it.
    make : callable
        Takes a task, AdaGCN's rows of a hop and the hidden units; returns a function that trains
        for a number of epochs.
    note : str
        What a reader should know before comparing.
    """

    key: str
    name: str
    module: str
    package: str
    make: MakeTraining
    note: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether the library is installed; it is not loaded."""
        return find_spec(self.module) is not None

    @property
    def missing(self) -> str:
        """The note for a peer that is not installed."""
        return f"not installed: pip install 'adagcn[{EXTRA}]' (or {self.package})"

    def contestant(self, task: Task, rows: HopTask, hidden_units: int) -> Contestant:
        """Return the peer on a task."""
        return Contestant(self.name, "peer", self.make(task, rows, hidden_units))


def find_peers(keys: Iterable[str]) -> list[Peer]:
    """Return the peers with the given keys."""
    return [_find(key) for key in keys]


def _find(key: str) -> Peer:
    if key not in PEERS:
        near = difflib.get_close_matches(key, PEERS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(
            "AGC-I1201", "unknown peer", got=key, fix=f"{hint}Choose from {', '.join(PEERS)}"
        )
    return PEERS[key]


def _pyg(kind: str, task: Task, rows: HopTask, hidden_units: int) -> Callable[[int], object]:
    from adagcn.bench.pyg_models import make_data, train_for

    return partial(train_for, kind, make_data(task), hidden_units)


def _scikit_network(task: Task, rows: HopTask, hidden_units: int) -> Callable[[int], object]:
    from sknetwork.gnn import GNNClassifier  # type: ignore[import-untyped]

    graph = task.graph
    labels = np.full(graph.n_nodes, -1)
    labels[task.split.train_nodes] = graph.labels[task.split.train_nodes]
    adjacency, features = sparse.csr_matrix(graph.adjacency), sparse.csr_matrix(graph.features)

    def train(n_epochs: int) -> None:
        model = GNNClassifier(dims=[hidden_units, graph.n_classes], early_stopping=False)
        model.fit(adjacency, features, labels, n_epochs=n_epochs)

    return train


def _scikit_learn(task: Task, rows: HopTask, hidden_units: int) -> Callable[[int], object]:
    from sklearn.neural_network import MLPClassifier

    labels = task.labeled["y"]
    classes = np.unique(labels)
    train_rows, stop_rows = _dense(rows.rows), _dense(rows.stop_rows)

    def train(n_epochs: int) -> None:
        model = MLPClassifier(
            (hidden_units,),
            batch_size=len(labels),
            alpha=5e-3,
            learning_rate_init=0.01,
            random_state=task.seed,
        )
        for _ in range(n_epochs):
            model.partial_fit(train_rows, labels, classes=classes)
            model.predict_proba(stop_rows)

    return train


def _dense(rows: Any) -> Any:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


_PYG = {"gcn": "GCN", "gat": "GAT", "appnp": "APPNP", "sage": "GraphSAGE"}

PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        peer.key: peer
        for peer in (
            *(
                Peer(
                    f"pyg_{kind}",
                    f"PyG {name}",
                    "torch_geometric",
                    "torch_geometric",
                    partial(_pyg, kind),
                    "dense features, all nodes in each of two passes",
                )
                for kind, name in _PYG.items()
            ),
            Peer(
                "sknetwork",
                "scikit-network GNN",
                "sknetwork",
                "scikit-network",
                _scikit_network,
                "one pass serves training and evaluation; no dropout",
            ),
            Peer(
                "sklearn_mlp",
                "scikit-learn MLP",
                "sklearn",
                "scikit-learn",
                _scikit_learn,
                "on AdaGCN's rows; full batch, stopping rows scored after each epoch",
            ),
        )
    }
)
