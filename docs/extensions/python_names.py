"""The public names of the library, in groups, as blocks that Sphinx fills from docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import adagcn
from adagcn import data, doctor
from adagcn.explain import calibration, explanations, prediction_sets
from adagcn.models.support.registry import CLASSES, MODELS
from adagcn.training import events

# The group of a name, by the room that it comes from.
_GROUPS = {
    "graph": "graph",
    "data": "data",
    "explain": "explanations",
    "doctor": "doctor",
    "training": "callbacks",
    "errors": "errors",
}
GROUPS = tuple(dict.fromkeys((*_GROUPS.values(), "models", "certainty")))
# What models have for each other, for the commands and for scikit-learn.
_INTERNAL = {
    "check_coverage",
    "completed",
    "computing",
    "fitted_settings",
    "given_settings",
    "make_learner",
    "make_network",
    "parameter_shapes",
    "prepared",
    "preset_value",
    "proba_in_parts",
    "refuse_old_name",
    "resolved_params",
    "resolved_settings",
    "set_params",
    "sets_of",
    "settable",
    "setting_fields",
    "settings",
    "values_in_force",
}
_VALUES = {"adagcn.data.CATALOG": "Every data set by its key, each a :class:`adagcn.data.DataSet`."}
_IN_FULL = "adagcn.AdaGCNClassifier"  # the methods of the other models are the same


def public_names() -> dict[str, list[str]]:
    """Return the full names of each group; every name of the package is in one."""
    groups: dict[str, list[str]] = {each: [] for each in GROUPS}
    for name in adagcn.__all__:
        if not name.startswith("__"):
            room = adagcn._HOME[name].split(".")[1]
            groups[_GROUPS.get(room, "models")].append(f"adagcn.{name}")
    others = [f"adagcn.data.{name}" for name in data.__all__ if name != "load_dataset"]
    groups["data"] += sorted(others, key=lambda name: not inspect.isroutine(_found(name)))
    groups["doctor"] += [f"adagcn.doctor.{name}" for name in doctor.__all__]
    groups["callbacks"] += [name for name in _defined(events) if name.endswith("Event")]
    groups["explanations"] += _defined(explanations)
    groups["certainty"] += [f"{prediction_sets.__name__}.PredictionSets", *_defined(calibration)]
    return groups


def _defined(module: ModuleType) -> list[str]:
    """Return the full names of the public classes and functions that a module defines."""
    return [
        f"{module.__name__}.{name}"
        for name, each in vars(module).items()
        if getattr(each, "__module__", "") == module.__name__
        and callable(each)
        and not name.startswith("_")
    ]


def names_of(group: str) -> str:
    """Return Markdown with a block for each name of a group."""
    return "\n".join(_block(name) for name in public_names()[group])


def table_of_models() -> str:
    """Return a table of all models: the name at the command line, the class and what it is."""
    lines = ["| model | class | what it is |", "|---|---|---|"]
    for key, (file, name) in CLASSES.items():
        about = inspect.cleandoc(MODELS[key].__doc__ or "").split("\n\n")[0]
        shown = " ".join(about.split()).replace("|", "\\|")
        link = f"{{class}}`~{_home(file, name)}`"
        lines.append(f"| `{key}` | {link} | {shown} |")
    return "\n".join([*lines, ""])


def names_of_other_models() -> str:
    """Return blocks for the models that the package itself does not name."""
    return "\n".join(
        _block(_home(file, name)) for file, name in CLASSES.values() if name not in adagcn.__all__
    )


def _home(file: str, name: str) -> str:
    return f"adagcn.{name}" if name in adagcn.__all__ else f"adagcn.models.{file}.{name}"


def _block(name: str) -> str:
    what = _found(name)
    if inspect.isroutine(what):
        return _rst([f".. autofunction:: {name}"])
    if not inspect.isclass(what):
        return _rst([f".. py:data:: {name}", "", f"   {_VALUES[name]}"])
    options = [f".. autoclass:: {name}"]
    if issubclass(what, Exception) and what is not adagcn.AdaGCNError:
        return _rst([*options, "   :show-inheritance:"])
    if hasattr(what, "model_key") and name != _IN_FULL:
        return _rst(options)
    return _rst([*options, *_members(what)])


def _members(what: type) -> Iterable[str]:
    """Return options that name the methods of a class."""
    names = [n for n, each in inspect.getmembers(what) if _is_shown(n, each)]
    return [f"   :members: {', '.join(names)}"] if names else []


def _is_shown(name: str, member: Any) -> bool:
    """Return whether a member is one of ours that users call."""
    if name.startswith("_") or name in _INTERNAL:
        return False
    function = getattr(member, "fget", None) or inspect.unwrap(getattr(member, "__func__", member))
    home = getattr(function, "__module__", None) or ""
    return callable(function) and home.startswith("adagcn") and bool(function.__doc__)


def _found(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(__import__(module, fromlist=[last]), last)


def _rst(lines: Iterable[str]) -> str:
    return "\n".join(["```{eval-rst}", *lines, "```", ""])
