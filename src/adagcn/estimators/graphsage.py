"""GraphSAGE: a node beside the mean of its neighbors, sampled in training."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.graphsage import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class GraphSAGEClassifier(GraphModelClassifier):
    """GraphSAGE with the mean aggregator, trained on sampled neighbors.

    Formula and presets: :mod:`adagcn.baselines.graphsage`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The size and the stopping rule of PPNP's study, or the original supervised runs.
    n_layers : int
        Aggregations, each with weights of its own.
    hidden_units : int
        Width of a node's own part of a layer, and of its neighbors' part.
    fan_out, farther_fan_out : int
        Neighbors drawn for a node of a batch, and for a node farther away.
    batch_size : int
        Training nodes of a step.
    dropout : float
        Rate on the input of every layer.
    """

    model_key = "graphsage"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_layers: int | None = None,
        hidden_units: int | None = None,
        fan_out: int | None = None,
        farther_fan_out: int | None = None,
        batch_size: int | None = None,
        dropout: float | None = None,
        first_layer_l2: float | None = None,
        weight_decay: float | None = None,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        stop_on: str | None = None,
        stop_penalty: str | None = None,
        validation_fraction: float | None = None,
        feature_norm: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        device: str = "cpu",
    ) -> None:
        self._store(locals())
