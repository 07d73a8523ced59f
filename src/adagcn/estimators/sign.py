"""SIGN: one layer over several hops side by side."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.sign import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class SIGNClassifier(GraphModelClassifier):
    """Scalable inception graph network: X, ÂX, …, Â^r X, each with weights of its own.

    Formula and presets: :mod:`adagcn.baselines.sign`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper"}
        The size and the stopping rule of PPNP's study.
    n_hops : int
        r, the largest power of Â.
    hidden_units : int
        Width of each hop's part of the hidden layer.
    dropout : float
        Rate on the features of every hop and on the hidden layer.
    """

    model_key = "sign"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_hops: int | None = None,
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
