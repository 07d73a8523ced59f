"""Wu et al.: Simplifying Graph Convolutional Networks, ICML 2019: SGC, of any depth.

https://arxiv.org/abs/1902.07153

A linear model on smoothed features::

    Z = Â^K X W + b

Shapes: X (n_nodes, n_features); W (n_features, n_classes); b (n_classes,); Z (n_nodes, n_classes),
softmax on top. K is ``n_layers``. L2 on W, Glorot's uniform start.

``precompute=True`` computes Â^K X once, for the rows that training looks at, so that an epoch costs
the same at any depth. ``precompute=False`` multiplies by Â in every epoch, as AdaGCN's timing
figure does (the product with W comes first, which makes the K others narrow). Both compute the same
numbers; the tests hold them against PyTorch Geometric's ``SGConv``.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adagcn.learners.inputs import as_input, times
from adagcn.models.support.field_of_view import FieldOfView, hop_rows, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, LearningRate, NetworkSettings, NonNegative
from adagcn.models.support.system import GraphInput, Recipe


class SGCSettings(NetworkSettings):
    """Settings of SGC."""

    n_layers: Annotated[Count, "K, products with Â"] = 2
    precompute: Annotated[bool, "multiply the features by Â once, before training"] = True
    first_layer_l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖W‖²"] = 0.0
    learning_rate: LearningRate = 0.2


class SGC(GraphNetwork):
    """The network."""

    def __init__(self, settings: SGCSettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2, settings.n_layers)
        self.precompute = settings.precompute
        self.weight = start.glorot(start.n_features, start.n_classes)
        self.bias = start.zeros(start.n_classes)

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the nodes' rows of Â^K X, from which no step is left to take."""
        if not self.precompute:
            whole: FieldOfView = self.view(inputs, nodes)
            return whole
        return FieldOfView(as_input(hop_rows(inputs, nodes, self.n_steps)[-1], self.weight), (), ())

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(view.rows, self.weight)
        for step in view.steps:
            values = spread(step, values)
        return values + self.bias


class SGCClassifier(GraphModelClassifier):
    """Simplified graph convolution: logistic regression on Â^K X.

    The preset ``paper`` has the original learning rate under PPNP's stopping rule, ``authors`` is
    that of the original runs on citation graphs.
    """

    model_key = "sgc"
    system = NetworkSystem(
        SGCSettings,
        {
            # Not part of PPNP's study: its stopping rule, the original learning rate, the λ of GCN.
            "paper": Recipe(first_layer_l2=5e-4),
            # Their citation runs, with the decays that they tuned.
            "authors": Recipe(
                {
                    "citeseer": {"max_epochs": 150, "weight_decay": 2.3546e-5},
                    "pubmed": {"weight_decay": 7.4039e-5},
                },
                max_epochs=100,
                stop_on="never",
                weight_decay=1.3027e-5,
            ),
        },
        SGC,
    )
