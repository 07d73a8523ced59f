"""DAGNN: deep adaptive graph neural network (Liu, Gao and Ji, KDD 2020).

A two-layer perceptron predicts every node by itself; every node then weighs the predictions that
have come to it over 0 … K steps, by a projection that all share::

    H_0 = drop(ReLU(drop(X) W0 + b0)) W1 + b1
    H_k = Â H_{k−1}                              k = 1 … K
    Z   = Σ_k sigmoid(H_k s + c) H_k             one gate for every node and k

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); s
(n_classes,), c a number; Z (n_nodes, n_classes), softmax on top. K is ``n_steps``. All starts are
uniform within ±1/√(fan in). L2 on all parameters.

Our own products, as in :mod:`adagcn.models.gcn`; the tests hold them against the dense formula.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, field_of_view, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, NetworkSettings, NonNegative, Share
from adagcn.models.support.system import GraphInput, Recipe


class DAGNNSettings(NetworkSettings):
    """Settings of DAGNN."""

    n_steps: Annotated[Count, "K, products with Â"] = 10
    hidden_units: Annotated[Count, "width of the hidden layer"] = 64
    dropout: Annotated[Share, "rate on the input and on the hidden layer"] = 0.8
    l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖·‖² on all weights"] = 5e-3


class DAGNN(GraphNetwork):
    """The network."""

    def __init__(self, settings: DAGNNSettings, start: Start) -> None:
        super().__init__(settings.l2)
        self.n_steps = settings.n_steps
        self.rate = settings.dropout
        units = settings.hidden_units
        self.hidden, self.hidden_bias = start.linear(start.n_features, units)
        self.output, self.output_bias = start.linear(units, start.n_classes)
        self.gate, self.gate_bias = start.linear(start.n_classes, 1)

    def penalized(self) -> list[nn.Parameter]:
        """Return all parameters."""
        return list(self.parameters())

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the nodes within n_steps steps, and the rows of Â between them."""
        return field_of_view(inputs, nodes, self.n_steps, self.hidden)

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.rows, self.rate, generator), self.hidden) + self.hidden_bias
        logits = dropout(values.relu(), self.rate, generator) @ self.output + self.output_bias
        weighed = self._gated(logits)
        for stage, step in enumerate(view.steps):
            logits = spread(step, logits)
            weighed = view.nearer(weighed, stage) + self._gated(logits)
        return weighed

    def _gated(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits @ self.gate + self.gate_bias) * logits


# Their scripts; rates for data sets that they do not have are those of Cora.
_BY_GRAPH: dict[str, dict[str, Any]] = {
    "citeseer": {"l2": 0.02, "dropout": 0.5},
    "pubmed": {"n_steps": 20},
}

SYSTEM = NetworkSystem(
    DAGNNSettings,
    {
        # Not in PPNP's study: the authors' network, trained and stopped as all there.
        "paper": Recipe({}, _BY_GRAPH),
        "authors": Recipe(
            {"max_epochs": 1000, "stop_on": "loss", "stop_penalty": "none"}, _BY_GRAPH
        ),
    },
    DAGNN,
)


class DAGNNClassifier(GraphModelClassifier):
    """A perceptron whose predictions spread; each node weighs what came over each number of steps.

    Presets (``paper``, ``authors``): the authors' network by the training of PPNP's study, or by
    their own.
    """

    model_key = "dagnn"
    system = SYSTEM
