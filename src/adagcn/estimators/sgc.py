"""SGC: a linear model on smoothed features."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.sgc import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class SGCClassifier(GraphModelClassifier):
    """Simplified graph convolution: logistic regression on Â^K X.

    Formula and presets: :mod:`adagcn.baselines.sgc`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        The original learning rate under PPNP's stopping rule, or the original citation runs.
    n_layers : int
        K, products with Â.
    precompute : bool
        Multiply Â^K X out once, or with Â in every epoch; the numbers are the same.
    """

    model_key = "sgc"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_layers: int | None = None,
        precompute: bool | None = None,
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
