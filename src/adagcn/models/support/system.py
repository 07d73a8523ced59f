"""The contract of a system: what it is fitted on, what a fit gives, where its settings come from.

A system is any object with the members of :class:`System`. It need not be a network: what a fit
gives must only turn into log-probabilities of nodes and into named arrays, and back.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.boosting.fit_state import LabeledNodes
from adagcn.errors import PresetNotice
from adagcn.graph import Features
from adagcn.models.support.model_file import Tensors
from adagcn.models.support.settings import SystemSettings, check_preset, checked
from adagcn.propagation.normalize import make_propagator
from adagcn.training.events import Events
from adagcn.training.loop import TrainingRecord


@dataclass(frozen=True)
class GraphInput:
    """A graph as the systems see it: no labels.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X, rows already divided as the model wants them. Never modified.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A.
    node_ids : ndarray of shape (n_nodes,)
        The user's ids, for systems that must find their nodes again in another graph.
    """

    features: Features
    adjacency: sparse.csr_array
    node_ids: NDArray[Any]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @cached_property
    def propagator(self) -> sparse.csr_array:
        """Â = D̃^−½ (A + I) D̃^−½ in the type of the features, built once."""
        return make_propagator(self.adjacency, dtype=self.features.dtype)

    @cached_property
    def all_rows(self) -> Features:
        """A copy of all features: what torch shares memory with must be writable."""
        return self.features.copy()

    @cached_property
    def is_undirected(self) -> bool:
        """Whether Â is symmetric."""
        return not (self.adjacency != self.adjacency.T).nnz


@dataclass(frozen=True)
class NodeProblem:
    """Everything that a fit needs.

    Parameters
    ----------
    inputs : GraphInput
        Features and edges of all nodes, whether labeled or not.
    nodes : LabeledNodes
        Training nodes, each once, all of positive weight; the weights sum to one.
    n_classes : int
        K; a class may have no training node of positive weight.
    """

    inputs: GraphInput
    nodes: LabeledNodes
    n_classes: int


@dataclass(frozen=True)
class FitContext:
    """What a fit is given besides its problem and its settings.

    Parameters
    ----------
    seed : int
        Source of everything random: first parameters, dropout, batches, samples.
    device : str
        Where a network is trained.
    events : Events
        Told of every epoch.
    """

    seed: int = 0
    device: str = "cpu"
    events: Events = field(default_factory=Events)


class Fitted(Protocol):
    """What a fit gives."""

    @property
    def record(self) -> TrainingRecord:
        """How the training went."""

    def log_proba(self, inputs: GraphInput, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return log-probabilities of shape (len(positions), n_classes) on this or another graph.

        Positions may repeat and come in any order.
        """

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned as named arrays of numbers, for the model file."""


class Recipe:
    """A preset: values of settings, and what differs on the data sets that its study names.

    Parameters
    ----------
    by_graph : mapping of str to mapping, optional
        Settings of a data set, by its key in the catalog; they override ``values``.
    values
        Settings by name; those left out keep their defaults.
    """

    def __init__(
        self, by_graph: Mapping[str, Mapping[str, Any]] | None = None, /, **values: Any
    ) -> None:
        self.by_graph, self.values = by_graph or {}, values

    def on(self, graph_name: str | None) -> dict[str, Any]:
        """Return the values for a graph."""
        return {**self.values, **self.by_graph.get(graph_name or "", {})}

    def notice(self, graph_name: str | None) -> str | None:
        """Return what a user should know of the values for a graph, if anything."""
        return None


class RowsOfStudy(Recipe):
    """A preset with a row of settings for each graph of its study, one of which stands in.

    Parameters
    ----------
    by_graph : mapping of str to mapping
        Settings of a data set, by its key in the catalog.
    standing_in : str
        The data set whose row all other graphs get, with a notice.
    values
        Settings that all rows share.
    """

    def __init__(
        self, by_graph: Mapping[str, Mapping[str, Any]], /, standing_in: str, **values: Any
    ) -> None:
        super().__init__(by_graph, **values)
        self.standing_in = standing_in

    def on(self, graph_name: str | None) -> dict[str, Any]:
        """Return the values for a graph."""
        return super().on(graph_name if graph_name in self.by_graph else self.standing_in)

    def notice(self, graph_name: str | None) -> str | None:
        """Return which row stands in for a graph that the study does not name."""
        if graph_name in self.by_graph:
            return None
        return (
            f"its study has no settings for {graph_name or 'this graph'}: those of "
            f"{self.standing_in} are used"
        )


class System(Protocol):
    """What an estimator asks of a system."""

    @property
    def settings(self) -> type[SystemSettings]:
        """Every setting with its type, its range and a default."""

    @property
    def recipes(self) -> Mapping[str, Recipe]:
        """Presets by name; what a recipe leaves out has the default of ``settings``."""

    def fit(self, problem: NodeProblem, settings: Any, context: FitContext) -> Fitted:
        """Fit."""

    def restore(self, tensors: Tensors, settings: Any, n_features: int, n_classes: int) -> Fitted:
        """Return what :meth:`Fitted.tensors` came from; ``FormatError`` if they do not fit."""


Result = TypeVar("Result", bound=Fitted)


def measured(fitted: Result, problem: NodeProblem) -> Result:
    """Return a fitted dataclass, its record with the result on the stopping nodes, if any."""
    stop_nodes, labels = problem.nodes.stop_nodes, problem.nodes.stop_labels
    if stop_nodes is None or labels is None:
        return fitted
    log_proba = fitted.log_proba(problem.inputs, stop_nodes)
    accuracy = float((log_proba.argmax(axis=1) == labels).mean())
    loss = -float(log_proba[np.arange(len(labels)), labels].mean())
    record = TrainingRecord(fitted.record.epochs, accuracy, loss)
    complete: Result = replace(cast(Any, fitted), record=record)
    return complete


def resolve(
    system: System, preset: str, graph_name: str | None, given: Mapping[str, Any]
) -> SystemSettings:
    """Return the settings of a preset for a graph, with explicit values (not None) on top."""
    check_preset(preset, system.recipes)
    recipe = system.recipes[preset]
    notice = recipe.notice(graph_name)
    if notice is not None:
        warnings.warn(f"preset {preset!r}: {notice}", PresetNotice, stacklevel=6)
    defaults = system.settings().model_dump()
    explicit = {name: value for name, value in given.items() if value is not None}
    return checked(system.settings, {**defaults, **recipe.on(graph_name), **explicit})
