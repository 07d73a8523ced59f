"""What the settings of all models have in common: types, checks, and the words for them."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from adagcn.errors import InputError
from adagcn.training.stopping import StopPenalty, StopRule

Count = Annotated[int, Field(ge=1)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, lt=1.0)]
Teleport = Annotated[float, Field(gt=0.0, lt=1.0)]

# Settings that mean the same in several systems.
BatchSize = Annotated[Count, "training nodes of one step"]
HiddenUnits = Annotated[Count, "width of the hidden layers"]
LayerDropout = Annotated[Share, "rate on the input of every layer"]
LearningRate = Annotated[Positive, "learning rate of Adam"]

# The one list of constructor parameters that are not settings of a preset, with their defaults.
NOT_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "graph": None,
        "preset": None,
        "learner": None,
        "class_weight": None,
        "calibrate": None,
        "warm_start": False,
        "random_state": None,
        "device": "cpu",
        "n_threads": None,
        "row_memory": None,
    }
)


# What ``params_`` holds besides the settings of a fit.
NOT_IN_SETTINGS = ("preset", "look", "n_threads", "calibrate", "temperature")


class SystemSettings(BaseModel):
    """Settings that every system has; all of them are single numbers, words or truth values.

    The text beside a type is what the constructor's documentation says of the setting.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # Settings that came after the first runs were recorded. At their defaults, which change
    # nothing, they are left out of ``params_``, files and keys: old runs and models stay the same.
    later: ClassVar[frozenset[str]] = frozenset()

    validation_fraction: Annotated[
        Share, "share of the labeled nodes set aside for stopping where ``fit`` gets no ``X_val``"
    ] = 0.0
    feature_norm: Annotated[
        Literal["l1", "hellinger", "standard", "none", "graph"],
        'divide rows of features by their L1 norm ("hellinger": and take square roots), or columns '
        'by their standard deviation; "graph": as the graph\'s features are, or by deviations '
        "where these differ a thousandfold",
    ] = "graph"

    def flat(self) -> dict[str, Any]:
        """Return all settings by name, without later ones that have their defaults."""
        defaults = type(self).model_fields
        return {
            name: value
            for name, value in self.model_dump().items()
            if name not in self.later or value != defaults[name].default
        }


class NetworkSettings(SystemSettings):
    """Settings of every system that is trained epoch by epoch; the defaults are PPNP's."""

    learning_rate: LearningRate = 0.01
    weight_decay: Annotated[NonNegative, "coupled decay of all parameters"] = 0.0
    max_epochs: Annotated[Count, "maximum number of epochs"] = 10_000
    patience: Annotated[
        Count,
        "epochs that may bring no improvement on the stopping nodes; of ``stop_on='window'`` how "
        "many losses the newest is compared with",
    ] = 100
    stop_on: Annotated[
        StopRule, "the stopping rule; see :func:`adagcn.training.stopping.make_stopper`"
    ] = "ranked"
    stop_penalty: Annotated[StopPenalty, "the part of the L2 term in the stopping loss"] = "full"


Kind = TypeVar("Kind", bound=BaseModel)


def checked(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Return settings of a kind, or raise an :class:`InputError` that names the first wrong one."""
    plain = without_numpy(values)
    try:
        return kind(**plain)
    except ValidationError as error:
        raise wrong_setting(error, kind, plain) from None


def without_numpy(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with NumPy's numbers as Python's, as a grid search may give them."""
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}


def wrong_setting(
    error: ValidationError, kind: type[BaseModel], values: Mapping[str, Any], prefix: str = ""
) -> InputError:
    """Return our own error for the first setting that pydantic refuses."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    unknown = first["type"] == "extra_forbidden"
    if unknown:
        problem, fix = "is not a known setting", did_you_mean(name, kind.model_fields)
    else:
        problem, fix = _expected(name, error), None
    return InputError("AGC-I601", f"{prefix}{name}: {problem}", got=values.get(name), fix=fix)


def check_preset(preset: Any, known: Mapping[str, Any] | tuple[str, ...]) -> None:
    """Refuse a preset that a model does not have."""
    names = list(known)
    if preset in names:
        return
    near = difflib.get_close_matches(str(preset), names, n=1)
    raise InputError(
        "AGC-I602",
        f"preset must be one of {', '.join(names)}",
        got=preset,
        fix=f"did you mean {near[0]!r}?" if near else f"{names[0]!r} is the default",
    )


def _expected(name: str, error: ValidationError) -> str:
    """Return all that is allowed for a setting, in words."""
    messages = [e["msg"] for e in error.errors() if e["loc"][0] == name]
    wanted = dict.fromkeys(m.removeprefix("Input should be ") for m in messages)
    return "should be " + ", or ".join(wanted)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the known names that come nearest, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else f"the names are {', '.join(names)}"


# The words


class Params(dict[str, Any]):
    """The values in force, by name; printed one on a line."""

    def __str__(self) -> str:
        """Return a line for each value."""
        width = max(map(len, self), default=0)
        return "\n".join(f"{name.ljust(width)}  {value}" for name, value in self.items())


def meaning(field: FieldInfo) -> str:
    """Return what the documentation says of a setting."""
    return next((each for each in field.metadata if isinstance(each, str)), "")


def with_parameters(about: str, entries: Iterable[tuple[str, str, str]]) -> str:
    """Return documentation with a numpy section of parameters: name, type, text."""
    lines = [inspect.cleandoc(about).rstrip(), "", "Parameters", "----------"]
    for name, kind, text in entries:
        # A Greek letter at its start stays small.
        sentence = (text[0].upper() if text[0].isascii() else text[0]) + text[1:] + "."
        wrapped = textwrap.wrap(sentence, 88)
        lines += [f"{name} : {kind}", *(f"    {line}" for line in wrapped)]
    return "\n".join(lines)


def kind_of(field: FieldInfo) -> str:
    """Return the type of a setting as documentation writes it."""
    return " or ".join(dict.fromkeys(_kinds(field.annotation)))


def _kinds(annotation: Any) -> Iterator[str]:
    origin = get_origin(annotation)
    if origin is Literal:
        values = [f'"{value}"' for value in get_args(annotation)]
        yield values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"
    elif origin is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif get_args(annotation):
        for part in get_args(annotation):
            yield from _kinds(part)
    else:
        yield "None" if annotation is type(None) else annotation.__name__
