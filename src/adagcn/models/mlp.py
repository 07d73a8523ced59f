"""A plain perceptron on the features, without a look at the graph: the control for propagation.

f(X) = ReLU(X W0) W1, AdaGCN's network on hop 0 alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

from adagcn.models.adagcn import perceptron, perceptron_shapes
from adagcn.models.support.boosted import BoostedClassifier


class PerceptronClassifier(BoostedClassifier):
    """AdaGCN's network on hop 0 alone: f(X) = ReLU(X W0) W1.

    Trained, stopped and regularized as the layers of AdaGCN are under the same preset, so that the
    difference between the two is what the graph and boosting bring.
    """

    model_key = "mlp"
    parameters = (
        "hidden_units",
        "dropout",
        "hidden_dropout",
        "first_layer_l2",
        "weight_decay",
        "learning_rate",
        "max_epochs",
        "batch_size",
        "patience",
        "validation_fraction",
        "feature_norm",
    )
    switches = ("stop_on", "stop_penalty")
    beside = ("class_weight", "calibrate", "random_state", "device", "n_threads")
    _fixed: ClassVar[dict[str, Any]] = {"n_layers": 1}
    make_network = staticmethod(perceptron)
    parameter_shapes = staticmethod(perceptron_shapes)
