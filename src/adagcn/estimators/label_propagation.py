"""Label propagation: what the edges alone tell."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.label_propagation import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class LabelPropagationClassifier(GraphModelClassifier):
    """Known labels spread over the edges; the features are not looked at.

    Formula and presets: :mod:`adagcn.baselines.label_propagation`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper", "authors"}
        APPNP's teleport, or the original one.
    n_steps : int
        Steps.
    teleport : float
        Share of the known labels in every step.
    feature_norm : {"l1", "none", "graph"}
        Checked as for every model; it changes nothing here.
    """

    model_key = "label_propagation"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_steps: int | None = None,
        teleport: float | None = None,
        validation_fraction: float | None = None,
        feature_norm: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
    ) -> None:
        self._store(locals())
