"""Correct and smooth: label propagation around a perceptron."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.correct_and_smooth import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class CorrectAndSmoothClassifier(GraphModelClassifier):
    """A perceptron whose errors and predictions are spread over the graph.

    Formula and presets: :mod:`adagcn.baselines.correct_and_smooth`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The perceptron and the stopping rule of PPNP's study, or the original setting for arXiv.
    n_steps : int
        Steps of the correction, and of the smoothing.
    correction_teleport, smoothing_teleport : float
        Share of the start in every step of the two.
    autoscale : bool
        Scale the correction of every node to the mean error of the training nodes.
    scale : float
        Of the correction where ``autoscale`` is off.
    hidden_units : int
        Width of the perceptron's hidden layer.
    dropout : float
        Rate on the input and the hidden layer.
    """

    model_key = "correct_and_smooth"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_steps: int | None = None,
        correction_teleport: float | None = None,
        smoothing_teleport: float | None = None,
        autoscale: bool | None = None,
        scale: float | None = None,
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
