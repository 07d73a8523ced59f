"""Liu, Gao and Ji: Towards Deeper Graph Neural Networks, KDD 2020: DAGNN.

https://arxiv.org/abs/2007.09296

A two-layer perceptron predicts every node by itself; every node then weighs the predictions that
have come to it over 0 … K steps, by a projection that all nodes share::

    H_0 = drop(ReLU(drop(X) W0 + b0)) W1 + b1
    H_k = Â H_{k−1}                              k = 1 … K
    Z   = Σ_k sigmoid(H_k s + c) H_k             one gate for every node and k

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); s
(n_classes,), c a number; Z (n_nodes, n_classes), softmax on top. K is ``n_steps``. All starts are
uniform within ±1/√(fan in). L2 on all parameters.

The products are our own, as in :mod:`adagcn.models.gcn`; the tests hold them against the dense
formula.
"""

from __future__ import annotations

from typing import Annotated, Any

import torch
from torch import Tensor, nn

from adagcn.models.support.field_of_view import FieldOfView, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import EveryLayerL2, NetworkSystem, Start
from adagcn.models.support.node_perceptron import NodePerceptron, PerceptronSettings
from adagcn.models.support.settings import Count, Share
from adagcn.models.support.system import Recipe


class DAGNNSettings(PerceptronSettings):
    """Settings of DAGNN."""

    n_steps: Annotated[Count, "K, products with Â"] = 10
    dropout: Annotated[Share, "rate on the input and on the hidden layer"] = 0.8
    l2: EveryLayerL2 = 5e-3


class DAGNN(NodePerceptron):
    """The network."""

    def __init__(self, settings: DAGNNSettings, start: Start) -> None:
        super().__init__(settings, start, settings.l2, n_steps=settings.n_steps, biases=True)
        self.gate, self.gate_bias = start.linear(start.n_classes, 1)

    def penalized(self) -> list[nn.Parameter]:
        """Return all parameters."""
        return list(self.parameters())

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        logits = self.local_logits(view.rows, generator)
        weighed = self._gated(logits)
        for stage, step in enumerate(view.steps):
            logits = spread(step, logits)
            weighed = view.nearer(weighed, stage) + self._gated(logits)
        return weighed

    def _gated(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits @ self.gate + self.gate_bias) * logits


# The authors' scripts; on data sets that they do not have, their rates for Cora.
_BY_GRAPH: dict[str, dict[str, Any]] = {
    "citeseer": {"l2": 0.02, "dropout": 0.5},
    "pubmed": {"n_steps": 20},
}
_AUTHORS = Recipe(_BY_GRAPH, max_epochs=1000, stop_on="loss", stop_penalty="none")


class DAGNNClassifier(GraphModelClassifier):
    """A perceptron whose predictions spread; each node weighs what came over each number of steps.

    Both presets have the authors' network: ``paper`` trains it as PPNP's study trains its models,
    ``authors`` as they did.
    """

    model_key = "dagnn"
    # "paper" is not in PPNP's study: its training and stopping.
    system = NetworkSystem(DAGNNSettings, {"paper": Recipe(_BY_GRAPH), "authors": _AUTHORS}, DAGNN)
