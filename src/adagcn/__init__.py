"""Node classification from few labels by boosting over the hops of a graph.

Implements AdaGCN (Sun, Zhu and Lin, ICLR 2021). Importing the package loads nothing heavy: each
public name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adagcn.data import load_dataset
    from adagcn.data.stores import GraphStore
    from adagcn.errors import (
        AdaGCNError,
        AdaGCNWarning,
        CalibrationNotice,
        CheckpointNotice,
        FormatError,
        GraphNotice,
        InputError,
        IntegrityError,
        LayerWarning,
        NumericalError,
        OtherGraphWarning,
        PresetNotice,
        ResourceError,
        ScaleNotice,
        UnsafeFileError,
        WeightCollapseWarning,
    )
    from adagcn.graph import Graph
    from adagcn.models.adagcn import AdaGCNClassifier
    from adagcn.models.adasgc import AdaSGCClassifier
    from adagcn.models.estimates.estimate import Estimate, estimate
    from adagcn.models.hop_features import HopFeatures
    from adagcn.models.support.boosted_settings import Variant
    from adagcn.models.support.registry import load_model
    from adagcn.training.events import Callback, Checkpoint
    from adagcn.training.tracking import MLflowCallback, TensorBoardCallback

__version__ = "0.1.0"
__all__ = [
    "AdaGCNClassifier",
    "AdaGCNError",
    "AdaGCNWarning",
    "AdaSGCClassifier",
    "CalibrationNotice",
    "Callback",
    "Checkpoint",
    "CheckpointNotice",
    "Estimate",
    "FormatError",
    "Graph",
    "GraphNotice",
    "GraphStore",
    "HopFeatures",
    "InputError",
    "IntegrityError",
    "LayerWarning",
    "MLflowCallback",
    "NumericalError",
    "OtherGraphWarning",
    "PresetNotice",
    "ResourceError",
    "ScaleNotice",
    "TensorBoardCallback",
    "UnsafeFileError",
    "Variant",
    "WeightCollapseWarning",
    "__version__",
    "estimate",
    "load_dataset",
    "load_model",
]

_HOME = {
    "AdaGCNClassifier": "adagcn.models.adagcn",
    "AdaGCNError": "adagcn.errors",
    "AdaGCNWarning": "adagcn.errors",
    "AdaSGCClassifier": "adagcn.models.adasgc",
    "CalibrationNotice": "adagcn.errors",
    "Callback": "adagcn.training.events",
    "Checkpoint": "adagcn.training.events",
    "CheckpointNotice": "adagcn.errors",
    "Estimate": "adagcn.models.estimates.estimate",
    "FormatError": "adagcn.errors",
    "Graph": "adagcn.graph",
    "GraphNotice": "adagcn.errors",
    "GraphStore": "adagcn.data.stores",
    "HopFeatures": "adagcn.models.hop_features",
    "InputError": "adagcn.errors",
    "IntegrityError": "adagcn.errors",
    "LayerWarning": "adagcn.errors",
    "MLflowCallback": "adagcn.training.tracking",
    "NumericalError": "adagcn.errors",
    "OtherGraphWarning": "adagcn.errors",
    "PresetNotice": "adagcn.errors",
    "ResourceError": "adagcn.errors",
    "ScaleNotice": "adagcn.errors",
    "TensorBoardCallback": "adagcn.training.tracking",
    "UnsafeFileError": "adagcn.errors",
    "Variant": "adagcn.models.support.boosted_settings",
    "WeightCollapseWarning": "adagcn.errors",
    "estimate": "adagcn.models.estimates.estimate",
    "load_dataset": "adagcn.data",
    "load_model": "adagcn.models.support.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'adagcn' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
