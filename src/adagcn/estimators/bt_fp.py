"""BT.FP: bootstrapped feature propagation."""

from __future__ import annotations

from typing import Any

from adagcn.baselines.bt_fp import SYSTEM
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.graph import Graph


class BTFPClassifier(GraphModelClassifier):
    """Logistic regression on spread features that labels more and more nodes for itself.

    Formula and presets: :mod:`adagcn.baselines.bt_fp`. Methods and attributes:
    :class:`~adagcn.estimators.graph_model.GraphModelClassifier`; parameters not named here:
    :class:`~adagcn.estimators.gcn.GCNClassifier`.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``predict`` take.
    preset : {"paper"}
        The setting of PPNP's study.
    n_steps : int
        Steps that the features are spread by.
    teleport : float
        Return probability: share of a node's own features in every step.
    normalization : {"symmetric", "random_walk"}
        What a step multiplies with: Â, or the matrix whose rows sum to one.
    n_bootstraps : int
        Times that nodes are labeled by the model and the model is fitted again.
    added_share : float
        Share of all nodes that is labeled each time.
    C : float
        Inverse strength of the penalty against the mean loss. By default a few are tried before
        the bootstraps, and the one with the lowest loss on the stopping nodes is kept (without
        those, 10⁶).
    """

    model_key = "bt_fp"
    system = SYSTEM

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "paper",
        n_steps: int | None = None,
        teleport: float | None = None,
        normalization: str | None = None,
        n_bootstraps: int | None = None,
        added_share: float | None = None,
        C: float | None = None,
        validation_fraction: float | None = None,
        feature_norm: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
    ) -> None:
        self._store(locals())
