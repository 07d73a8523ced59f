"""DeepGCN: residual or dense blocks."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.deepgcn import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class DeepGCNClassifier(GraphModelClassifier):
    """Deep graph convolutional network of residual or dense blocks, normalized node by node.

    Formula and presets: :mod:`adagcn.baselines.deepgcn`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        Sizes and training of PPNP's study for GCN, or the original depth.
    blocks : {"residual", "dense"}
        Each layer is added to what it was made from, or set beside it.
    n_layers : int
        Products with Â, each with weights of its own.
    hidden_units : int
        Width of the layers; what each adds if dense.
    dropout : float
        Rate on the input of every layer.
    """

    model_key = "deepgcn"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        blocks: str | None = None,
        n_layers: int | None = None,
        hidden_units: int | None = None,
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
