"""MixHop: powers of the propagator side by side."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.mixhop import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class MixHopClassifier(GraphModelClassifier):
    """Two layers that mix powers of Â, each power of its own width.

    Formula and presets: :mod:`adagcn.baselines.mixhop`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The authors' network by the training of PPNP's study, or by their own.
    hidden_widths : str
        Units for each power of Â from 0 on, such as ``"24/18/18"``; 0 leaves a power out.
    output_slices : str
        Slices of n_classes units for each power, such as ``"0/1/1"``.
    input_dropout, dropout : float
        Rates on the features and on the hidden layer.
    l2 : float
        λ of (λ/2)‖·‖² on all weights.
    graph_norm : bool
        Normalize the hidden layer over all nodes of the graph.
    optimizer : {"adam", "slowing_sgd"}
        Adam, or gradient descent whose rate falls by 1 % of its start every 40 steps.
    """

    model_key = "mixhop"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        hidden_widths: str | None = None,
        output_slices: str | None = None,
        input_dropout: float | None = None,
        dropout: float | None = None,
        l2: float | None = None,
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
