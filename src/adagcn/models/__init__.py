"""The models, one system in one file: citation, formula, network, recipe and estimator class.

Each name is imported when it is first used: one model alone starts without the others.
"""

from importlib import import_module
from typing import Any

_SUPPORT = {
    "MODELS": "registry",
    "PRESETS": "presets",
    "Variant": "boosted_settings",
    "NodeClassifier": "classifier",
    "default_preset": "registry",
    "load_model": "registry",
    "model_class": "registry",
    "presets_of": "registry",
}


def __getattr__(name: str) -> Any:
    if name in _SUPPORT:
        return getattr(import_module(f"adagcn.models.support.{_SUPPORT[name]}"), name)
    if not name.endswith("Classifier"):
        raise AttributeError(f"module 'adagcn.models' has no attribute {name!r}")
    from adagcn.models.support.registry import CLASSES

    for file, classifier in CLASSES.values():
        if classifier == name:
            return getattr(import_module(f"adagcn.models.{file}"), name)
    raise AttributeError(f"module 'adagcn.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    from adagcn.models.support.registry import CLASSES

    return sorted([*_SUPPORT, *(name for _, name in CLASSES.values())])
