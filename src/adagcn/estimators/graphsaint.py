"""GraphSAINT: graph convolutions on sampled subgraphs."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.graphsaint import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class GraphSAINTClassifier(GraphModelClassifier):
    """Graph convolutional network that is trained on sampled subgraphs.

    Formula and presets: :mod:`adagcn.baselines.graphsaint`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The size and the stopping rule of PPNP's study, or the original node sampler on Reddit.
    n_samples : int
        Draws that a subgraph is made of.
    """

    model_key = "graphsaint"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_layers: int | None = None,
        hidden_units: int | None = None,
        n_samples: int | None = None,
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
