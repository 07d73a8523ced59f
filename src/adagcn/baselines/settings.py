"""What the settings of all systems have in common, and how a wrong one is refused."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adagcn.baselines.stopping import StopRule
from adagcn.errors import InputError
from adagcn.training.loop import StopPenalty

Count = Annotated[int, Field(ge=1)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, lt=1.0)]
Teleport = Annotated[float, Field(gt=0.0, lt=1.0)]


class SystemSettings(BaseModel):
    """Settings that every system has; all of them are single numbers, words or truth values."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    validation_fraction: Share = 0.0  # of the labeled nodes, set aside if there is no X_val
    feature_norm: Literal["l1", "none", "graph"] = "graph"  # rows of X; "graph": as the graph's are


class NetworkSettings(SystemSettings):
    """Settings of every system that is trained epoch by epoch; the defaults are PPNP's."""

    learning_rate: Positive = 0.01
    weight_decay: NonNegative = 0.0  # coupled, on all parameters
    max_epochs: Count = 10_000
    patience: Count = 100  # epochs without improvement; of stop_on="window" its length
    stop_on: StopRule = "ranked"
    stop_penalty: StopPenalty = "full"


Kind = TypeVar("Kind", bound=BaseModel)


def checked(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Return settings of a kind, or raise an :class:`InputError` that names the first wrong one."""
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
    try:
        return kind(**plain)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        unknown = first["type"] == "extra_forbidden"
        raise InputError(
            "AGC-I601",
            f"{name}: {_expected(name, error)}",
            got=plain.get(name),
            fix=_closest(name, kind) if unknown else None,
        ) from None


def _expected(name: str, error: ValidationError) -> str:
    """Return all that is allowed for a setting, in words."""
    messages = [e["msg"] for e in error.errors() if e["loc"][0] == name]
    wanted = dict.fromkeys(m.removeprefix("Input should be ") for m in messages)
    return "should be " + ", or ".join(wanted)


def _closest(name: str, kind: type[BaseModel]) -> str:
    near = difflib.get_close_matches(name, kind.model_fields, n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else f"see {kind.__name__} for the names"
