"""GAT: attention over the neighbors."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.gat import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class GATClassifier(GraphModelClassifier):
    """Graph attention network: every node learns how much to listen to each of its neighbors.

    Formula and presets: :mod:`adagcn.baselines.gat`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        PPNP's study, or the original publication.
    n_heads, output_heads : int
        Heads of the first and of the second layer.
    hidden_units : int
        Width of each head of the first layer.
    dropout, attention_dropout, value_dropout : float
        Rates on the input of each layer, on the weights of neighbors, and on what is weighed.
    """

    model_key = "gat"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_heads: int | None = None,
        hidden_units: int | None = None,
        output_heads: int | None = None,
        dropout: float | None = None,
        attention_dropout: float | None = None,
        value_dropout: float | None = None,
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
