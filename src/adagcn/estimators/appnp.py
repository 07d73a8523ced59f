"""APPNP: predictions spread by power iteration."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.appnp import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class APPNPClassifier(GraphModelClassifier):
    """A perceptron whose predictions are spread by approximate personalized PageRank.

    Formula and presets: :mod:`adagcn.baselines.appnp`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors", "adagcn_paper"}
        PPNP's study, its authors' code, or the shortened rule of AdaGCN's "(ours)" rows.
    n_steps : int
        K, products with Â.
    teleport : float
        γ, share of a node's own prediction in every step.
    hidden_units : int
        Width of the hidden layer.
    dropout, propagator_dropout : float
        Rates on the input and the hidden layer, and on the entries of Â in every step.
    """

    model_key = "appnp"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_steps: int | None = None,
        teleport: float | None = None,
        hidden_units: int | None = None,
        dropout: float | None = None,
        propagator_dropout: float | None = None,
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
