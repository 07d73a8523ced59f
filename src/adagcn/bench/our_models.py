"""AdaGCN and the systems of :mod:`adagcn.models` as contestants."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from adagcn.bench.task import Task
from adagcn.bench.timing import Contestant
from adagcn.models.adagcn import AdaGCNClassifier
from adagcn.models.support.boosted import PreparedFit
from adagcn.models.support.labels import FitCall
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start, train_network
from adagcn.models.support.registry import MODELS
from adagcn.models.support.system import FitContext, GraphInput, NodeProblem
from adagcn.propagation.hops import Hop, stream_from
from adagcn.propagation.normalize import make_propagator
from adagcn.training.events import Events
from adagcn.training.hop_fitter import HopTask
from adagcn.training.random_streams import torch_stream

AS_PUBLISHED = "as published"  # the group of what the paper's code does, and ours does not


@dataclass(frozen=True)
class AdaGCNTask:
    """AdaGCN on a task: its model, and the prepared fit."""

    model: AdaGCNClassifier
    fit: PreparedFit
    seed: int

    def hop_tasks(self, hops: Iterable[int], *, pseudo: bool = False) -> list[HopTask]:
        """Return what the given hops are trained on, streaming to the farthest.

        With ``pseudo``, unlabeled rows with targets of equal weight are included.
        """
        wanted = sorted(hops)
        return [
            self._task(number, hop, pseudo)
            for number, hop in enumerate(islice(self._hops(), wanted[-1] + 1))
            if number in wanted
        ]

    def _task(self, number: int, hop: Hop, pseudo: bool) -> HopTask:
        nodes, unlabeled = self.fit.boosting.nodes, self.fit.boosting.pseudo_labels.nodes
        rows, targets = nodes.train_nodes, None
        if pseudo:
            rows = np.concatenate([rows, unlabeled])
            assert self.fit.state.basis is not None
            shape = len(unlabeled), len(self.fit.state.basis.classes)
            targets = np.full(shape, 1.0 / np.prod(shape))
        return HopTask(
            hop=number,
            rows=hop.rows(rows),
            labels=nodes.labels,
            sample_weight=nodes.sample_weight,
            stop_rows=hop.rows(nodes.stop_nodes),
            stop_labels=nodes.stop_labels,
            pseudo_labels=targets,
        )

    def _hops(self) -> Iterator[Hop]:
        return stream_from(self.fit.source.first())

    def contestant(self, task: HopTask, name: str, *, stopping: bool = True) -> Contestant:
        """Return the training of one layer on rows that are ready."""
        if not stopping:
            task = replace(task, stop_rows=None, stop_labels=None)
        fit_hop: Any = self.fit.boosting.fit_hop

        def train(n_epochs: int) -> None:
            exact = replace(fit_hop.settings, **_exactly(n_epochs))
            replace(fit_hop, settings=exact)(task)

        return Contestant(name, "adagcn", train)

    def every_node(self, task: HopTask, name: str) -> Contestant:
        """Return the same with a pass over all nodes in each epoch, as in the released code."""
        training = self.contestant(task, name)
        fit_hop: Any = self.fit.boosting.fit_hop
        learner = fit_hop.make_learner(torch_stream(self.seed, "start"), task.rows.shape[1])
        hop = next(islice(self._hops(), task.hop, None))
        everything = learner.as_input(hop.rows(slice(None)))

        @torch.no_grad()
        def train(n_epochs: int) -> None:
            with torch.enable_grad():
                training.train(n_epochs)
            for _ in range(n_epochs):
                learner(everything)

        return Contestant(name, AS_PUBLISHED, train)


def adagcn_task(
    task: Task, *, hidden_units: int, max_features: int | Literal["all"] | None = None
) -> AdaGCNTask:
    """Return AdaGCN on a task: ``tuned`` at the given width, on the given columns."""
    model = AdaGCNClassifier(
        task.graph,
        preset="tuned",
        hidden_units=hidden_units,
        max_features=max_features,
        random_state=task.seed,
    )
    return AdaGCNTask(model, model.prepared(FitCall(**task.labeled), Events()), task.seed)


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
        Whether every epoch evaluates the stopping nodes.
    **settings
        Its hyper-parameters, on top of its default preset.
    """
    if key not in MODELS:
        return None
    model: Any = MODELS[key](task.graph, random_state=task.seed, **settings)
    system = getattr(model, "system", None)
    if not isinstance(system, NetworkSystem):
        return None
    problem, resolved, _ = model.prepared(FitCall(**task.labeled), task.seed)
    problem = problem if stopping else _without_stopping(problem)
    network = system.make_network(resolved, Start.of(problem, FitContext(task.seed)))
    return Contestant(name, "ours", _training(network, problem, resolved, task.seed))


def graph_made_anew(training: Contestant, task: Task, name: str) -> Contestant:
    """Return a training that computes Â anew in every epoch, as the released code's GCN does."""

    def train(n_epochs: int) -> None:
        training.train(n_epochs)
        for _ in range(n_epochs):
            make_propagator(task.graph.adjacency)

    return Contestant(name, AS_PUBLISHED, train)


def _training(network: GraphNetwork, problem: NodeProblem, settings: Any, seed: int) -> Any:
    """Return the real training loop of a network: each call starts anew, on cached views."""
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
        train_network(network, problem, exact, FitContext(seed))

    return train


def _without_stopping(problem: NodeProblem) -> NodeProblem:
    return replace(problem, nodes=replace(problem.nodes, stop_nodes=None, stop_labels=None))


def _exactly(n_epochs: int) -> dict[str, int]:
    """Return settings under which no stopping rule ends a training early."""
    return {"max_epochs": n_epochs, "patience": n_epochs + 1}
