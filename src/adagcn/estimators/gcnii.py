"""GCNII: deep graph convolution by initial residual and identity mapping."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.gcnii import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class GCNIIClassifier(GraphModelClassifier):
    """Deep graph convolutional network; its layers keep a share of the first one.

    Formula and presets: :mod:`adagcn.baselines.gcnii`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The authors' network by the training of PPNP's study, or by their own.
    n_layers : int
        Products with Â, each with weights of its own.
    hidden_units : int
        Width of the layers.
    teleport : float
        α, share of the first layer in every other.
    identity : float
        λ; layer l takes log(λ/l + 1) of its weights and the rest of the identity.
    dropout : float
        Rate on the input of every layer.
    convolution_l2, dense_l2 : float
        λ of the L2 terms on the layers' weights, and on the first and the last map.
    """

    model_key = "gcnii"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_layers: int | None = None,
        hidden_units: int | None = None,
        teleport: float | None = None,
        identity: float | None = None,
        dropout: float | None = None,
        convolution_l2: float | None = None,
        dense_l2: float | None = None,
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
