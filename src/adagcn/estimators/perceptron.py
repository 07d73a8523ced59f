"""A plain perceptron on the features, without a look at the graph: the control for propagation."""

from __future__ import annotations

from typing import Any, ClassVar

from adagcn.boosting.hop_boosting import FitHop
from adagcn.estimators.adagcn import AdaGCNClassifier
from adagcn.estimators.hop_classifier import HopBoostingClassifier
from adagcn.estimators.network import network_fitter
from adagcn.estimators.problem import FitProblem
from adagcn.estimators.settings import Settings
from adagcn.graph import Graph


class PerceptronClassifier(HopBoostingClassifier):
    """AdaGCN's network on hop 0 alone: f(X) = ReLU(X W0) W1.

    Trained, stopped and regularized as the layers of AdaGCN are under the same preset, so that the
    difference between the two is what the graph and boosting bring. Parameters, attributes and
    methods are those of :class:`~adagcn.estimators.adagcn.AdaGCNClassifier`, less what only more
    than one hop needs.
    """

    model_key = "mlp"
    _fixed: ClassVar[dict[str, Any]] = {"n_layers": 1}

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "tuned",
        hidden_units: int | None = None,
        learning_rate: float | None = None,
        first_layer_l2: float | None = None,
        weight_decay: float | None = None,
        dropout: float | None = None,
        hidden_dropout: float | None = None,
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
        self.graph = graph
        self.preset = preset
        self.hidden_units = hidden_units
        self.learning_rate = learning_rate
        self.first_layer_l2 = first_layer_l2
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.hidden_dropout = hidden_dropout
        self.max_epochs = max_epochs
        self.patience = patience
        self.stop_on = stop_on
        self.stop_penalty = stop_penalty
        self.validation_fraction = validation_fraction
        self.feature_norm = feature_norm
        self.class_weight = class_weight
        self.random_state = random_state
        self.device = device

    make_network = staticmethod(AdaGCNClassifier.make_network)

    def _fit_hop(self, problem: FitProblem, settings: Settings, seed: int) -> FitHop:
        return network_fitter(self, problem, settings, seed)
