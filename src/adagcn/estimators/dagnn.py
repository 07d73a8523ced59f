"""DAGNN: predictions from every distance, weighed by each node."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.dagnn import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class DAGNNClassifier(GraphModelClassifier):
    """A perceptron whose predictions spread; each node weighs what came over each number of steps.

    Formula and presets: :mod:`adagcn.baselines.dagnn`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The authors' network by the training of PPNP's study, or by their own.
    n_steps : int
        K, products with Â.
    hidden_units : int
        Width of the hidden layer.
    dropout : float
        Rate on the input and on the hidden layer.
    l2 : float
        λ of (λ/2)‖·‖² on all parameters.
    """

    model_key = "dagnn"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_steps: int | None = None,
        hidden_units: int | None = None,
        dropout: float | None = None,
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
