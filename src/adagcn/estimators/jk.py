"""JK: every layer has a say in the output."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.jk import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class JKClassifier(GraphModelClassifier):
    """Jumping knowledge network: the layers of a GCN, joined for the output.

    Formula and presets: :mod:`adagcn.baselines.jk`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        PPNP's study, or the original publication.
    jump : {"concatenation", "max"}
        How the layers are joined: side by side, or the largest of each unit.
    n_layers : int
        Products with Â, each with weights of its own.
    hidden_units : int
        Width of the layers.
    dropout, propagator_dropout : float
        Rates on the features and every layer, and on the entries of Â.
    l2 : float
        λ of (λ/2)‖·‖² on all weights.
    """

    model_key = "jk"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        jump: str | None = None,
        n_layers: int | None = None,
        hidden_units: int | None = None,
        dropout: float | None = None,
        propagator_dropout: float | None = None,
        l2: float | None = None,
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
