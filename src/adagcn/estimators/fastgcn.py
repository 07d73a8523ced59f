"""FastGCN: graph convolutions on sampled nodes."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.fastgcn import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class FastGCNClassifier(GraphModelClassifier):
    """Graph convolutional network whose training products are estimated from sampled nodes.

    Formula and presets: :mod:`adagcn.baselines.fastgcn`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The size and the stopping rule of PPNP's study, or the original transductive runs.
    n_layers : int
        Products with Â, each with weights of its own; the first is multiplied out once.
    hidden_units : int
        Width of the hidden layers.
    n_samples : int
        Nodes drawn for each product.
    batch_size : int
        Training nodes of a step.
    dropout : float
        Rate on the input of every layer.
    """

    model_key = "fastgcn"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_layers: int | None = None,
        hidden_units: int | None = None,
        n_samples: int | None = None,
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
