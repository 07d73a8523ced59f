"""N-GCN: small GCNs over random walks of different lengths."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.ngcn import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class NGCNClassifier(GraphModelClassifier):
    """Many small GCNs, over random walks of 0, 1, … steps, with a learnt combination.

    Formula and presets: :mod:`adagcn.baselines.ngcn`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        PPNP's study, or the original publication.
    combination : {"attention", "fully_connected"}
        A weighted mean of the probabilities, or a linear map of all logits.
    n_steps : int
        Steps of the longest walk.
    n_heads : int
        GCNs for each length.
    hidden_units : int
        Width of the hidden layer of each.
    input_dropout, dropout : float
        Rates on the features and on the hidden layers.
    l2 : float
        λ of (λ/2)‖·‖² on all weights.
    joint : bool
        The loss of the combination reaches into the GCNs, beside their own.
    graph_norm : bool
        Normalize the hidden layer over all nodes of the graph.
    optimizer : {"adam", "slowing_sgd"}
        Adam, or gradient descent whose rate falls by 1 % of its start every 40 steps.
    """

    model_key = "ngcn"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        combination: str | None = None,
        n_steps: int | None = None,
        n_heads: int | None = None,
        hidden_units: int | None = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        l2: float | None = None,
        joint: bool | None = None,
        graph_norm: bool | None = None,
        optimizer: str | None = None,
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
