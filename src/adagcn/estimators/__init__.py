"""The scikit-learn face: classifiers over node ids, presets, model files, the registry.

Each name is imported when it is first used: one model alone starts without the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from adagcn.estimators.jk import JKClassifier
    from adagcn.estimators.label_propagation import LabelPropagationClassifier
    from adagcn.estimators.logistic import LogisticClassifier
    from adagcn.estimators.mixhop import MixHopClassifier
    from adagcn.estimators.ngcn import NGCNClassifier
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
    from adagcn.estimators.sgc import SGCClassifier
    from adagcn.estimators.sign import SIGNClassifier

__all__ = [
    "MODELS",
    "PRESETS",
    "APPNPClassifier",
    "AdaGCNClassifier",
    "AdaSGCClassifier",
    "BTFPClassifier",
    "CorrectAndSmoothClassifier",
    "DAGNNClassifier",
    "DeepGCNClassifier",
    "EarlyStoppedGCNClassifier",
    "FastGCNClassifier",
    "GATClassifier",
    "GCNClassifier",
    "GCNIIClassifier",
    "GraphModelClassifier",
    "GraphSAGEClassifier",
    "GraphSAINTClassifier",
    "JKClassifier",
    "LabelPropagationClassifier",
    "LogisticClassifier",
    "MixHopClassifier",
    "NGCNClassifier",
    "NodeClassifier",
    "PPNPClassifier",
    "PerceptronClassifier",
    "ResidualGCNClassifier",
    "SGCClassifier",
    "SIGNClassifier",
    "default_preset",
    "load_model",
    "model_class",
    "presets_of",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'adagcn.estimators' has no attribute {name!r}")
    return getattr(import_module("adagcn.estimators.registry"), name)
