"""Every hyper-parameter with its meaning, its type and its range."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from adagcn.baselines.settings import Count, NonNegative, Positive, Share, Teleport
from adagcn.boosting.combination import Combine, Vote
from adagcn.boosting.samme_r import WeightUpdate
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.scaling import HopScale
from adagcn.training.loop import StopPenalty
from adagcn.training.stopping import StopOn


class Settings(BaseModel):
    """The resolved hyper-parameters of a model, as a model file remembers them.

    The defaults are Algorithm 1 with the paper's values, those of Cora-ML where it has one per data
    set; :mod:`adagcn.estimators.presets` says what each preset changes. A model sets those that it
    has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # Depth and hops
    n_layers: Count | Literal["auto"] = 12  # boosted learners, on hops 0 … n_layers − 1 (L + 1)
    normalization: Normalization = "symmetric"  # of the adjacency
    teleport: Share = 0.0  # γ: share of the input features that every hop keeps
    hop_scale: HopScale = "none"  # size of hop features
    feature_norm: Literal["l1", "none", "graph"] = "graph"  # rows of X; "graph": as the graph's are
    max_features: Count | Literal["all"] = "all"  # columns of X, those with the largest squares

    # The learner
    hidden_units: Count = 5000
    n_members: Count = 1  # networks side by side, each from its own start
    dropout: Share = 0.0  # on the learner's input
    hidden_dropout: Share = 0.0
    first_layer_l2: NonNegative = 5e-3  # λ of (λ/2)‖W0‖²
    relu_logits: bool = False  # released code only

    # Training of a layer
    learning_rate: Positive = 0.01  # Adam's
    weight_decay: NonNegative = 1e-4
    max_epochs: Count = 500
    patience: Count = 300
    stop_on: StopOn = "ranked"
    stop_penalty: StopPenalty = "full"
    validation_fraction: Share = 0.0  # of the labeled nodes, set aside if there is no X_val
    carry_parameters: bool = True  # start from the hop before
    carry_optimizer: bool = False
    share_stopping: bool = False  # released code only
    align_weights: bool = True  # False: released code only

    # Boosting
    weight_update: WeightUpdate = "onehot"
    reweight_rate: NonNegative = 1.0  # on the exponent of the update: 1 is the paper, 0 none
    combine: Combine = "samme_r"
    vote: Vote = "hard"  # of combine="samme"
    ema_teleport: Teleport = 0.1  # γ of combine="ema"
    on_perfect: Literal["stop", "continue"] = "stop"  # of combine="samme"
    voting_share: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0  # of the layers, the last ones

    # Unlabeled nodes to learn from
    adopted_nodes: Annotated[int, Field(ge=0)] = 0  # how many, drawn by chance
    adopted_from: Count = 8  # the first layer that does
    adopted_weight: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.7  # their share of the loss
    adopted_sharpness: Positive = 2.0  # β


DEFAULTS: Mapping[str, Any] = MappingProxyType(Settings().model_dump())


def fitted_settings(params: dict[str, Any]) -> Settings:
    """Return the settings inside a fitted model's ``params_``."""
    return Settings(**{name: value for name, value in params.items() if name != "preset"})
