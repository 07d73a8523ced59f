"""AdaGCN and the systems of :mod:`adagcn.baselines` as contestants."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from adagcn.baselines import training
from adagcn.baselines.network import GraphNetwork
from adagcn.baselines.system import GraphInput, NodeProblem
from adagcn.baselines.training import NetworkSystem, random_stream
from adagcn.bench.task import Task
from adagcn.bench.timing import Contestant
from adagcn.estimators.adagcn import AdaGCNClassifier
from adagcn.estimators.graph_problem import make_graph_fit
from adagcn.estimators.network import network_fitter, torch_dtype
from adagcn.estimators.problem import FitProblem, make_problem
from adagcn.estimators.registry import MODELS
from adagcn.estimators.settings import Settings
from adagcn.graph import Features
from adagcn.propagation.hops import HopFeatures
from adagcn.propagation.normalize import make_propagator

AS_PUBLISHED = "as published"  # the group of what the paper's code does, and ours does not


@dataclass(frozen=True)
class HopRows:
    """What AdaGCN trains on at one hop, ready: rows of training, stopping and adopted nodes."""

    hop: int
    train_rows: Features
    stop_rows: Features
    adopted_rows: Features

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        return int(self.train_rows.shape[1])


@dataclass(frozen=True)
class AdaGCNTask:
    """AdaGCN's side of a task: its model, its settings and its checked problem."""

    model: AdaGCNClassifier
    settings: Settings
    problem: FitProblem
    seed: int

    def hop_rows(self, hops: Iterable[int]) -> list[HopRows]:
        """Return the rows of some hops, streaming to the farthest."""
        problem, wanted = self.problem, sorted(hops)
        nodes = problem.nodes
        if nodes.stop_nodes is None:
            raise TypeError("a task has stopping nodes")
        return [
            HopRows(
                hop,
                features[nodes.train_nodes],
                features[nodes.stop_nodes],
                features[problem.adoption.nodes],
            )
            for hop, features in enumerate(islice(self._hops(), wanted[-1] + 1))
            if hop in wanted
        ]

    def _hops(self) -> Iterator[HopFeatures]:
        return self.problem.source.hops()

    def contestant(
        self, rows: HopRows, name: str, *, stopping: bool = True, adopting: bool = False
    ) -> Contestant:
        """Return the training of one layer on rows that are ready."""
        weight = self.problem.nodes.sample_weight
        stop_rows = rows.stop_rows if stopping else None
        fit_rows, targets = rows.train_rows, None
        if adopting:
            fit_rows = stacked(rows.train_rows, rows.adopted_rows)
            shape = rows.adopted_rows.shape[0], len(self.problem.classes)
            targets = np.full(shape, 1.0 / np.prod(shape))

        def train(n_epochs: int) -> None:
            settings = self.settings.model_copy(update=_exactly(n_epochs))
            fit_hop = network_fitter(self.model, self.problem, settings, self.seed)
            fit_hop(rows.hop, fit_rows, weight, stop_rows, None, targets)

        return Contestant(name, "adagcn", train)

    def every_node(self, rows: HopRows, name: str) -> Contestant:
        """Return the same with a pass over all nodes in each epoch, as the released code has it."""
        training = self.contestant(rows, name)
        fit_hop = network_fitter(self.model, self.problem, self.settings, self.seed)
        learner = fit_hop.make_learner(random_stream(self.seed, "start", "cpu"), rows.n_features)
        everything = learner.as_input(next(islice(self._hops(), rows.hop, None))[:])

        @torch.no_grad()
        def train(n_epochs: int) -> None:
            with torch.enable_grad():
                training.train(n_epochs)
            for _ in range(n_epochs):
                learner(everything)

        return Contestant(name, AS_PUBLISHED, train)


def stacked(above: Features, below: Features) -> Features:
    """Return rows above rows, in the form that both have."""
    if isinstance(above, np.ndarray):
        return np.concatenate([above, below])
    return sparse.csr_array(sparse.vstack([above, below], format="csr"))


def adagcn_task(
    task: Task, *, hidden_units: int, max_features: int | Literal["all"] | None = None
) -> AdaGCNTask:
    """Return AdaGCN on a task: ``tuned`` at a width, and on other columns if told so."""
    model = AdaGCNClassifier(
        task.graph, hidden_units=hidden_units, max_features=max_features, random_state=task.seed
    )
    settings = model.resolved_settings()
    problem = make_problem(model, settings, task.seed, sample_weight=None, **task.labeled)
    return AdaGCNTask(model, settings, problem, task.seed)


def baseline(
    task: Task, key: str, *, name: str, stopping: bool = True, **settings: Any
) -> Contestant | None:
    """Return the training of one of our systems; None if there is no such network (yet).

    Parameters
    ----------
    task : Task
        What to train on.
    key : str
        A key of the registry.
    name : str
        What tables call it.
    stopping : bool
        Whether every epoch looks at the stopping nodes.
    **settings
        Its hyper-parameters, on top of its default preset.
    """
    if key not in MODELS:
        return None
    model: Any = MODELS[key](task.graph, random_state=task.seed, **settings)
    system = getattr(model, "system", None)
    if not isinstance(system, NetworkSystem):
        return None
    resolved = model.resolved_settings()
    problem = make_graph_fit(model, resolved, task.seed, sample_weight=None, **task.labeled).problem
    problem = problem if stopping else _without_stopping(problem)
    start = random_stream(task.seed, "start", "cpu")
    features = problem.inputs.features
    dtype = torch_dtype(features.dtype)
    network = system.make_network(resolved, features.shape[1], problem.n_classes, start, dtype)
    return Contestant(name, "ours", _training(network, problem, resolved, task.seed))


def graph_made_anew(training: Contestant, task: Task, name: str) -> Contestant:
    """Return a training that makes Â anew in every epoch, as the released code's GCN does."""

    def train(n_epochs: int) -> None:
        training.train(n_epochs)
        for _ in range(n_epochs):
            make_propagator(task.graph.adjacency)

    return Contestant(name, AS_PUBLISHED, train)


def _training(network: GraphNetwork, problem: NodeProblem, settings: Any, seed: int) -> Any:
    """Return the real training loop of a network, afresh at each call, on views made once."""
    views: dict[int, Any] = {}
    make_view = network.training_view

    def view_made_once(inputs: GraphInput, nodes: NDArray[np.intp]) -> Any:
        if id(nodes) not in views:
            views[id(nodes)] = make_view(inputs, nodes)
        return views[id(nodes)]

    network.training_view = view_made_once  # type: ignore[method-assign]
    start = copy.deepcopy(network.state_dict())

    def train(n_epochs: int) -> None:
        network.load_state_dict(start)
        exact = settings.model_copy(update=_exactly(n_epochs))
        training.train(network, problem, exact, random_stream(seed, "training", "cpu"))

    return train


def _without_stopping(problem: NodeProblem) -> NodeProblem:
    return replace(problem, nodes=replace(problem.nodes, stop_nodes=None), stop_labels=None)


def _exactly(n_epochs: int) -> dict[str, int]:
    """Return settings under which no stopping rule ends a training early."""
    return {"max_epochs": n_epochs, "patience": n_epochs + 1}
