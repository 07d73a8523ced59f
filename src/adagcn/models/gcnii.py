"""Chen et al.: Simple and Deep Graph Convolutional Networks, ICML 2020: GCNII.

https://arxiv.org/abs/2007.02133

Every layer keeps a share of the first one, and its map is near the identity. With
H^(0) = ReLU(drop(X) W + b) and L layers::

    S^(l) = (1 − α) Â drop(H^(l−1)) + α H^(0)
    H^(l) = ReLU((1 − β_l) S^(l) + β_l S^(l) W^(l))      β_l = log(λ/l + 1),  l = 1 … L
    Z     = drop(H^(L)) W′ + b′

Shapes: X (n_nodes, n_features); W (n_features, hidden_units); W^(l) (hidden_units, hidden_units);
W′ (hidden_units, n_classes); Z (n_nodes, n_classes), softmax on top. α is ``teleport``, λ is
``identity``. All starts are uniform within ±1/√(fan in). Two L2 terms: one on the W^(l), one on the
first and the last map with their biases.

The products are our own, as in :mod:`adagcn.models.gcn`; the tests hold them against PyTorch
Geometric's ``GCN2Conv``.
"""

from __future__ import annotations

from math import log
from typing import Annotated

import torch
from torch import Tensor, nn

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import (
    Count,
    HiddenUnits,
    LayerDropout,
    NetworkSettings,
    NonNegative,
    Positive,
    Teleport,
)
from adagcn.models.support.system import Recipe


class GCNIISettings(NetworkSettings):
    """Settings of GCNII."""

    n_layers: Annotated[Count, "products with Â"] = 8
    hidden_units: HiddenUnits = 64
    teleport: Annotated[Teleport, "α, share of H^(0) in every layer"] = 0.1
    identity: Annotated[Positive, "λ of β_l = log(λ/l + 1), the share of W^(l) in layer l"] = 0.5
    dropout: LayerDropout = 0.6
    convolution_l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖·‖² on the W^(l)"] = 0.01
    dense_l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖·‖² on the first and the last map"] = (
        5e-4
    )


class GCNII(GraphNetwork):
    """The network."""

    def __init__(self, settings: GCNIISettings, start: Start) -> None:
        super().__init__(settings.dense_l2, settings.n_layers)
        self.convolution_l2 = settings.convolution_l2
        self.rate = settings.dropout
        self.teleport = settings.teleport
        self.shares = [log(settings.identity / n + 1.0) for n in range(1, settings.n_layers + 1)]
        units = settings.hidden_units
        self.first, self.first_bias = start.linear(start.n_features, units)
        self.last, self.last_bias = start.linear(units, start.n_classes)
        self.weights = nn.ParameterList(start.uniform(units, units) for _ in self.shares)

    def penalized(self) -> list[nn.Parameter]:
        """Return the first and the last map; the others have an L2 term of their own."""
        return [self.first, self.first_bias, self.last, self.last_bias]

    def penalty(self) -> Tensor:
        """Return both L2 terms."""
        total = torch.stack([weight.square().sum() for weight in self.weights]).sum()
        return super().penalty() + 0.5 * self.convolution_l2 * total

    def make_optimizer(self, settings: NetworkSettings) -> torch.optim.Optimizer:
        """Return Adam, with the gradients of both L2 terms as part of the decay."""
        decay = settings.weight_decay
        groups = [
            {"params": self.penalized(), "weight_decay": decay + self.l2},
            {"params": list(self.weights), "weight_decay": decay + self.convolution_l2},
        ]
        return torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.rows, self.rate, generator), self.first) + self.first_bias
        hidden = values.relu()
        initial = self.teleport * hidden
        for layer, step in enumerate(view.steps):
            initial = view.nearer(initial, layer)
            near = spread(step, dropout(hidden, self.rate, generator))
            mixed = torch.add(initial, near, alpha=1.0 - self.teleport)
            share = self.shares[layer]
            hidden = torch.addmm(
                mixed, mixed, self.weights[layer], beta=1.0 - share, alpha=share
            ).relu()
        return dropout(hidden, self.rate, generator) @ self.last + self.last_bias


_AUTHORS = Recipe(
    {
        "citeseer": {"n_layers": 32, "hidden_units": 256, "identity": 0.6, "dropout": 0.7},
        "pubmed": {
            "n_layers": 16,
            "hidden_units": 256,
            "identity": 0.4,
            "dropout": 0.5,
            "convolution_l2": 5e-4,
        },
    },
    n_layers=64,
    max_epochs=1500,
    stop_on="loss",
    stop_penalty="none",
)


class GCNIIClassifier(GraphModelClassifier):
    """Deep graph convolutional network; its layers keep a share of the first one.

    The preset ``paper`` has the authors' rates on eight layers, trained as PPNP's study trains its
    models; ``authors`` is what they did.
    """

    model_key = "gcnii"
    # "paper" is not in PPNP's study: the authors' rates by its training and stopping. Eight layers
    # instead of 64: most of the accuracy at an eighth of the time.
    system = NetworkSystem(GCNIISettings, {"paper": Recipe(), "authors": _AUTHORS}, GCNII)
