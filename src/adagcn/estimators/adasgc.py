"""AdaSGC: boosted linear classifiers over the hops of a graph (appendix A.2)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch

from adagcn.boosting.hop_boosting import FitHop
from adagcn.estimators.hop_classifier import HopBoostingClassifier
from adagcn.estimators.network import network_fitter
from adagcn.estimators.problem import FitProblem
from adagcn.estimators.settings import Settings
from adagcn.graph import Graph
from adagcn.learners.linear import LinearLearner


class AdaSGCClassifier(HopBoostingClassifier):
    """AdaGCN with a linear map in place of the perceptron: f(B) = B W on every hop.

    The paper's control for the hidden layer. Parameters, attributes and methods are those of
    :class:`~adagcn.estimators.adagcn.AdaGCNClassifier`, less what only a hidden layer needs.
    """

    model_key = "adasgc"
    # A linear map has no hidden layer to grow: it needs longer steps and larger weights.
    _tuned: ClassVar[dict[str, Any]] = {"learning_rate": 0.2, "first_layer_l2": 1e-5}

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "tuned",
        n_layers: int | Literal["auto"] | None = None,
        learning_rate: float | None = None,
        reweight_rate: float | None = None,
        weight_update: str | None = None,
        combine: str | None = None,
        vote: str | None = None,
        ema_teleport: float | None = None,
        on_perfect: str | None = None,
        voting_share: float | None = None,
        adopted_nodes: int | None = None,
        adopted_from: int | None = None,
        adopted_weight: float | None = None,
        adopted_sharpness: float | None = None,
        first_layer_l2: float | None = None,
        weight_decay: float | None = None,
        dropout: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        stop_on: str | None = None,
        stop_penalty: str | None = None,
        validation_fraction: float | None = None,
        carry_parameters: bool | None = None,
        carry_optimizer: bool | None = None,
        share_stopping: bool | None = None,
        align_weights: bool | None = None,
        normalization: str | None = None,
        teleport: float | None = None,
        hop_scale: str | None = None,
        feature_norm: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        device: str = "cpu",
    ) -> None:
        self.graph = graph
        self.preset = preset
        self.n_layers = n_layers
        self.learning_rate = learning_rate
        self.reweight_rate = reweight_rate
        self.weight_update = weight_update
        self.combine = combine
        self.vote = vote
        self.ema_teleport = ema_teleport
        self.on_perfect = on_perfect
        self.voting_share = voting_share
        self.adopted_nodes = adopted_nodes
        self.adopted_from = adopted_from
        self.adopted_weight = adopted_weight
        self.adopted_sharpness = adopted_sharpness
        self.first_layer_l2 = first_layer_l2
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.max_epochs = max_epochs
        self.patience = patience
        self.stop_on = stop_on
        self.stop_penalty = stop_penalty
        self.validation_fraction = validation_fraction
        self.carry_parameters = carry_parameters
        self.carry_optimizer = carry_optimizer
        self.share_stopping = share_stopping
        self.align_weights = align_weights
        self.normalization = normalization
        self.teleport = teleport
        self.hop_scale = hop_scale
        self.feature_norm = feature_norm
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device

    def _fit_hop(self, problem: FitProblem, settings: Settings, seed: int) -> FitHop:
        return network_fitter(self, problem, settings, seed)

    @staticmethod
    def make_network(
        settings: Settings,
        n_features: int,
        n_classes: int,
        generator: torch.Generator,
        dtype: torch.dtype,
    ) -> LinearLearner:
        """Return the linear map of one hop, at its start."""
        return LinearLearner(
            n_features,
            n_classes,
            input_dropout=settings.dropout,
            first_layer_l2=settings.first_layer_l2,
            generator=generator,
            dtype=dtype,
        )
