"""The scikit-learn face of the systems on a graph that are not boosted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic.fields import FieldInfo
from sklearn.utils.validation import check_is_fitted

from adagcn.boosting.fit_state import LabeledNodes
from adagcn.engines.threads import pool_threads
from adagcn.errors import InputError
from adagcn.graph import Graph
from adagcn.models.support.classifier import NodeClassifier
from adagcn.models.support.feature_columns import remember_columns
from adagcn.models.support.labels import FitCall, hold_out
from adagcn.models.support.problem import (
    checked_device,
    fit_data,
    fitted_scale,
    graph_to_score,
    normalized_features,
    seed_of,
)
from adagcn.models.support.settings import NetworkSettings, Params, SystemSettings
from adagcn.models.support.system import (
    FitContext,
    Fitted,
    GraphInput,
    NodeProblem,
    System,
    resolve,
)
from adagcn.training.events import Events, LayerEvent, Reason, StopEvent


class GraphModelClassifier(NodeClassifier):
    """A system on a graph behind scikit-learn's contract; a subclass names it.

    ``n_epochs_`` is a list of one number, as if it were a boosted model with a single stage.
    """

    system: ClassVar[System]
    default_preset = "paper"
    _needs_graph = True

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Return the names of the presets, the default first."""
        return tuple(cls.system.recipes)

    @classmethod
    def setting_fields(cls) -> Mapping[str, FieldInfo]:
        """Return every setting of the constructor by name, the system's own first."""
        fields = cls.system.settings.model_fields
        shared = NetworkSettings.model_fields.keys()
        own_first = sorted(fields, key=lambda name: name in shared)
        return {name: fields[name] for name in own_first}

    @classmethod
    def completed(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a record with the defaults of later ones that it leaves out."""
        kind = cls.system.settings
        return {**{name: kind.model_fields[name].default for name in kind.later}, **params}

    @classmethod
    def preset_value(cls, preset: str, name: str) -> Any:
        """Return what a preset sets on a graph that no study names."""
        default = cls.system.settings.model_fields[name].default
        return cls.system.recipes[preset].on(None).get(name, default)

    def resolved_settings(self) -> SystemSettings:
        """Return the hyper-parameters that ``fit`` will use: the user's, else the preset's."""
        name = None if self.graph is None else self.graph.name
        return resolve(self.system, self.preset, name, self.given_settings())

    def _fit(self, call: FitCall, events: Events) -> None:
        if events.checkpoint is not None:
            raise InputError(
                "AGC-I1706",
                f"a model of kind {self.model_key} is trained in one go: it has no layers to keep",
                fix="leave the Checkpoint out",
            )
        context = FitContext(seed_of(self.random_state), checked_device(self.device), events)
        problem, settings, classes = self.prepared(call, context.seed)
        ended = StopEvent("error", 0)
        try:
            self.fitted_: Fitted = self.system.fit(problem, settings, context)
            self.record_ = record = self.fitted_.record
            self.classes_ = classes
            remember_columns(self, self._graph())
            self._set_uncalibrated()
            self._set_temperature(*self._on_stopping_nodes(problem))
            values = {"preset": self.preset, **settings.flat(), "n_threads": pool_threads()}
            self.params_ = Params({**values, **self._calibration_params()})
            self.column_scale_ = fitted_scale(self.graph, settings.feature_norm)
            self.seed_ = context.seed
            self.stop_accuracy_ = record.stop_accuracy
            self.on_graph_ = True
            self.input_digest_ = self._graph().input_digest
            events.layer(LayerEvent(0, 1, record.epochs, None, record.stop_accuracy))
            reason: Reason = "callback" if events.stopped else "finished"
            ended = StopEvent(reason, 1, dict(self.params_), record.stop_accuracy)
        finally:
            events.stop(ended)

    def _on_stopping_nodes(
        self, problem: NodeProblem
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.int64] | None]:
        """Return what a calibration rests on: log-probabilities of stopping nodes, and labels."""
        nodes = problem.nodes
        if self.calibrate is None or nodes.stop_nodes is None:
            return None, None
        return self.fitted_.log_proba(problem.inputs, nodes.stop_nodes), nodes.stop_labels

    def prepared(
        self, call: FitCall, seed: int
    ) -> tuple[NodeProblem, SystemSettings, NDArray[Any]]:
        """Return the checked problem behind a call of ``fit``, its settings and label values."""
        settings, graph = self.resolved_settings(), self._graph()
        data = fit_data(self, settings.feature_norm, call)
        nodes = hold_out(data.nodes, settings.validation_fraction, seed)
        inputs = GraphInput(data.features, graph.adjacency, graph.node_ids)
        problem = NodeProblem(inputs, _weighted_only(nodes), len(data.classes))
        return (
            problem,
            settings.model_copy(update={"feature_norm": data.feature_norm}),
            data.classes,
        )

    def _graph(self) -> Graph:
        if self.graph is None:
            name = type(self).__name__
            raise InputError(
                "AGC-I1020",
                f"{name} needs a graph: X is ids of its nodes",
                got="graph=None",
                fix=f"{name}(graph).fit(ids, labels)",
            )
        return self.graph

    @property
    def n_epochs_(self) -> list[int | None]:
        """Epochs trained, of the one stage that there is."""
        return [self.record_.epochs]

    def _log_proba(self, X: ArrayLike, graph: Graph | None) -> NDArray[np.float64]:
        check_is_fitted(self, "fitted_")
        graph = graph_to_score(self, graph)
        positions = graph.positions(X, "X")
        norm = self.params_["feature_norm"]
        features = normalized_features(graph, norm, self.column_scale_)
        inputs = GraphInput(features, graph.adjacency, graph.node_ids)
        with self.computing(X, graph):
            return self.fitted_.log_proba(inputs, positions)


def _weighted_only(nodes: LabeledNodes) -> LabeledNodes:
    """Return the nodes without those of weight zero, the other weights summing to one."""
    kept = nodes.sample_weight > 0.0
    weights = nodes.sample_weight[kept]
    return LabeledNodes(
        nodes.train_nodes[kept],
        nodes.labels[kept],
        weights / weights.sum(),
        nodes.stop_nodes,
        nodes.stop_labels,
    )
