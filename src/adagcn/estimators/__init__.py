"""The scikit-learn face: classifiers over node ids, presets, model files, the registry."""

from adagcn.estimators.adagcn import AdaGCNClassifier
from adagcn.estimators.adasgc import AdaSGCClassifier
from adagcn.estimators.appnp import APPNPClassifier
from adagcn.estimators.gcn import (
    EarlyStoppedGCNClassifier,
    GCNClassifier,
    ResidualGCNClassifier,
)
from adagcn.estimators.graph_model import GraphModelClassifier
from adagcn.estimators.logistic import LogisticClassifier
from adagcn.estimators.perceptron import PerceptronClassifier
from adagcn.estimators.ppnp import PPNPClassifier
from adagcn.estimators.presets import PRESETS
from adagcn.estimators.registry import (
    MODELS,
    NodeClassifier,
    default_preset,
    load_model,
    model_class,
    presets_of,
)

__all__ = [
    "MODELS",
    "PRESETS",
    "APPNPClassifier",
    "AdaGCNClassifier",
    "AdaSGCClassifier",
    "EarlyStoppedGCNClassifier",
    "GCNClassifier",
    "GraphModelClassifier",
    "LogisticClassifier",
    "NodeClassifier",
    "PPNPClassifier",
    "PerceptronClassifier",
    "ResidualGCNClassifier",
    "default_preset",
    "load_model",
    "model_class",
    "presets_of",
]
