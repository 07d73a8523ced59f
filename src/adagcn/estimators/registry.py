"""Every model by its key: what the command line, the experiments and the contract tests go by."""

from __future__ import annotations

import difflib
import inspect
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from adagcn.errors import FormatError, InputError
from adagcn.estimators.adagcn import AdaGCNClassifier
from adagcn.estimators.adasgc import AdaSGCClassifier
from adagcn.estimators.appnp import APPNPClassifier
from adagcn.estimators.bt_fp import BTFPClassifier
from adagcn.estimators.correct_and_smooth import CorrectAndSmoothClassifier
from adagcn.estimators.dagnn import DAGNNClassifier
from adagcn.estimators.deepgcn import DeepGCNClassifier
from adagcn.estimators.fastgcn import FastGCNClassifier
from adagcn.estimators.gat import GATClassifier
from adagcn.estimators.gcn import (
    EarlyStoppedGCNClassifier,
    GCNClassifier,
    ResidualGCNClassifier,
)
from adagcn.estimators.gcnii import GCNIIClassifier
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.estimators.graphsage import GraphSAGEClassifier
from adagcn.estimators.graphsaint import GraphSAINTClassifier
from adagcn.estimators.hop_classifier import HopBoostingClassifier
from adagcn.estimators.jk import JKClassifier
from adagcn.estimators.label_propagation import LabelPropagationClassifier
from adagcn.estimators.logistic import LogisticClassifier
from adagcn.estimators.mixhop import MixHopClassifier
from adagcn.estimators.model_file import read_model
from adagcn.estimators.ngcn import NGCNClassifier
from adagcn.estimators.perceptron import PerceptronClassifier
from adagcn.estimators.ppnp import PPNPClassifier
from adagcn.estimators.presets import PRESETS
from adagcn.estimators.sgc import SGCClassifier
from adagcn.estimators.sign import SIGNClassifier
from adagcn.graph import Graph

NodeClassifier: TypeAlias = HopBoostingClassifier | GraphModelClassifier

_CLASSES: tuple[type[NodeClassifier], ...] = (
    AdaGCNClassifier,
    AdaSGCClassifier,
    PerceptronClassifier,
    LogisticClassifier,
    GCNClassifier,
    EarlyStoppedGCNClassifier,
    ResidualGCNClassifier,
    PPNPClassifier,
    APPNPClassifier,
    BTFPClassifier,
    CorrectAndSmoothClassifier,
    FastGCNClassifier,
    GraphSAGEClassifier,
    LabelPropagationClassifier,
    SGCClassifier,
    SIGNClassifier,
    GATClassifier,
    JKClassifier,
    NGCNClassifier,
    MixHopClassifier,
    DAGNNClassifier,
    GCNIIClassifier,
    DeepGCNClassifier,
    GraphSAINTClassifier,
)

MODELS: MappingProxyType[str, type[NodeClassifier]] = MappingProxyType(
    {model.model_key: model for model in _CLASSES}
)


def model_class(key: str) -> type[NodeClassifier]:
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


def presets_of(key: str) -> tuple[str, ...]:
    """Return the names of a model's presets, its default first."""
    model = model_class(key)
    names = tuple(model.system.recipes) if issubclass(model, GraphModelClassifier) else PRESETS
    default = default_preset(key)
    return (default, *(name for name in names if name != default))


def default_preset(key: str) -> str:
    """Return the preset that a model has if none is asked for."""
    return str(inspect.signature(model_class(key)).parameters["preset"].default)


def load_model(path: str | Path, *, graph: Graph | None = None) -> NodeClassifier:
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
