"""PPNP: predictions spread by exact personalized PageRank."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.ppnp import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class PPNPClassifier(GraphModelClassifier):
    """A perceptron whose predictions are spread by exact personalized PageRank.

    Formula and presets: :mod:`adagcn.baselines.ppnp`. Needs an undirected graph. Methods and
    attributes: :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named
    here: :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors", "adagcn_paper"}
        PPNP's study, its authors' code, or the shortened rule of AdaGCN's "(ours)" rows.
    teleport : float
        γ, share of a node's own prediction.
    hidden_units : int
        Width of the hidden layer.
    tolerance : float
        Of the residual of the linear system, relative to its right-hand side.
    """

    model_key = "ppnp"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        teleport: float | None = None,
        hidden_units: int | None = None,
        dropout: float | None = None,
        tolerance: float | None = None,
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
