"""AdaSGC: boosted linear classifiers over the hops of a graph.

Sun, Zhu and Lin, "AdaGCN: Adaboosting Graph Convolutional Networks into Deep Models", ICLR 2021
(https://arxiv.org/abs/1908.05081), appendix A.2: AdaGCN with f(B) = B W on every hop, as SGC is GCN
without its hidden layer. The paper's control for the hidden layer.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from adagcn.learners.linear import LinearLearner
from adagcn.models.support.boosted import BoostedClassifier
from adagcn.models.support.boosted_settings import BoostedSettings, Variant

_NO_HIDDEN_LAYER = {
    "max_features",
    "hidden_units",
    "hidden_dropout",
    "learner",
    "judge",
    "n_members",
    "relu_logits",
}


def linear_map(
    settings: BoostedSettings,
    n_features: int,
    n_classes: int,
    generator: torch.Generator,
    dtype: torch.dtype,
) -> LinearLearner:
    """Return the linear map of one hop, at its start."""
    assert settings.first_layer_l2 != "auto"
    return LinearLearner(
        n_features,
        n_classes,
        input_dropout=settings.dropout,
        first_layer_l2=settings.first_layer_l2,
        generator=generator,
        dtype=dtype,
    )


class AdaSGCClassifier(BoostedClassifier):
    """AdaGCN with a linear map in place of the perceptron: f(B) = B W on every hop.

    Attributes and methods are those of :class:`~adagcn.models.adagcn.AdaGCNClassifier`.
    """

    model_key = "adasgc"
    parameters = tuple(
        name
        for name in BoostedSettings.model_fields
        if name not in _NO_HIDDEN_LAYER and name != "variant"
    )
    switches = tuple(name for name in Variant.model_fields if name not in _NO_HIDDEN_LAYER)
    # A linear map has no hidden layer to grow: it needs longer steps and larger weights.
    _tuned: ClassVar[dict[str, Any]] = {"learning_rate": 0.2, "first_layer_l2": 1e-5}
    make_network = staticmethod(linear_map)
