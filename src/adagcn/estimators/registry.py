"""Every model by its key: what the command line, the experiments and the contract tests go by."""

from __future__ import annotations

import difflib
from pathlib import Path
from types import MappingProxyType

from adagcn.errors import FormatError, InputError
from adagcn.estimators.adagcn import AdaGCNClassifier
from adagcn.estimators.adasgc import AdaSGCClassifier
from adagcn.estimators.hop_classifier import HopBoostingClassifier
from adagcn.estimators.logistic import LogisticClassifier
from adagcn.estimators.model_file import read_model
from adagcn.estimators.perceptron import PerceptronClassifier
from adagcn.graph import Graph

MODELS: MappingProxyType[str, type[HopBoostingClassifier]] = MappingProxyType(
    {
        model.model_key: model
        for model in (AdaGCNClassifier, AdaSGCClassifier, PerceptronClassifier, LogisticClassifier)
    }
)


def model_class(key: str) -> type[HopBoostingClassifier]:
    """Return the class of a model key such as ``"adagcn"``."""
    if key not in MODELS:
        near = difflib.get_close_matches(key, MODELS, n=1)
        raise InputError(
            "AGC-I643",
            f"model must be one of {', '.join(MODELS)}",
            got=key,
            fix=f"did you mean {near[0]!r}?" if near else "'adagcn' is the default",
        )
    return MODELS[key]


def load_model(path: str | Path, *, graph: Graph | None = None) -> HopBoostingClassifier:
    """Read a model file of any kind."""
    key = read_model(path).manifest.model
    if key not in MODELS:
        raise FormatError(
            "AGC-F711",
            f"{path} holds a model that this release does not know",
            got=key,
            fix="use the release of adagcn that wrote the file, or a newer one",
        )
    return MODELS[key].load(path, graph=graph)
