"""Every hyper-parameter with its meaning, its type and its range."""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adagcn.boosting.combination import Combine, Vote
from adagcn.boosting.samme_r import WeightUpdate
from adagcn.errors import InputError
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.scaling import HopScale
from adagcn.training.loop import StopPenalty
from adagcn.training.stopping import StopOn

Count = Annotated[int, Field(ge=1)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, lt=1.0)]


class Settings(BaseModel):
    """The resolved hyper-parameters of a boosted model, as a model file remembers them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # Depth and hops
    n_layers: Count | Literal["auto"]  # boosted learners, on hops 0 … n_layers − 1 (paper: L + 1)
    normalization: Normalization  # of the adjacency: the paper's is symmetric
    teleport: Share  # γ: share of the input features that every hop keeps
    hop_scale: HopScale  # size of hop features: as they are, rows of length one, one size per hop
    feature_norm: Literal["l1", "none", "graph"]  # rows of X; "graph": whatever the graph has

    # The learner
    dropout: Share  # on the learner's input
    first_layer_l2: NonNegative  # λ of (λ/2)‖W0‖²

    # The learner's hidden layer; a linear learner has none of these
    hidden_units: Count = 1
    hidden_dropout: Share = 0.0
    relu_logits: bool = False  # released code only

    # Training of a layer
    learning_rate: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]  # Adam's
    weight_decay: NonNegative
    max_epochs: Count
    patience: Count
    stop_on: StopOn
    stop_penalty: StopPenalty
    validation_fraction: Share  # of the labelled nodes, set aside for stopping if no X_val; 0: none
    carry_parameters: bool  # start from the hop before
    carry_optimizer: bool
    share_stopping: bool  # released code only
    align_weights: bool  # False: released code only

    # Boosting
    weight_update: WeightUpdate
    reweight_rate: NonNegative  # on the exponent of the update: 1 is the paper, 0 none
    combine: Combine
    vote: Vote  # of combine="samme"
    ema_teleport: Annotated[float, Field(gt=0.0, lt=1.0)]  # γ of combine="ema"
    on_perfect: Literal["stop", "continue"]  # of combine="samme"


def checked(values: dict[str, Any]) -> Settings:
    """Return the settings, or raise an :class:`InputError` that names the first wrong one."""
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
    try:
        return Settings(**plain)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise InputError(
            "AGC-I601",
            f"{name}: {_expected(name, error)}",
            got=plain.get(name),
            fix=_closest(name) if first["type"] == "extra_forbidden" else None,
        ) from None


def _expected(name: str, error: ValidationError) -> str:
    """Return all that is allowed for a setting, in words."""
    messages = [e["msg"] for e in error.errors() if e["loc"][0] == name]
    wanted = dict.fromkeys(m.removeprefix("Input should be ") for m in messages)
    return "should be " + ", or ".join(wanted)


def _closest(name: str) -> str:
    near = difflib.get_close_matches(name, Settings.model_fields, n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else "see Settings for the names"
