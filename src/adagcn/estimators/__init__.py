"""The scikit-learn face: classifiers over node ids, presets, model files, the registry."""

from adagcn.estimators.adagcn import AdaGCNClassifier
from adagcn.estimators.adasgc import AdaSGCClassifier
from adagcn.estimators.logistic import LogisticClassifier
from adagcn.estimators.perceptron import PerceptronClassifier
from adagcn.estimators.presets import PRESETS
from adagcn.estimators.registry import MODELS, load_model, model_class

__all__ = [
    "MODELS",
    "PRESETS",
    "AdaGCNClassifier",
    "AdaSGCClassifier",
    "LogisticClassifier",
    "PerceptronClassifier",
    "load_model",
    "model_class",
]
