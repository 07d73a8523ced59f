"""Xu et al.: Representation Learning on Graphs with Jumping Knowledge Networks, ICML 2018.

https://arxiv.org/abs/1806.03536

Every layer has a say in the output. With H^(0) = drop(X) and L layers::

    H^(l) = drop(ReLU(drop(Â) H^(l−1) W^(l)))      l = 1 … L
    Z     = [H^(1) ‖ … ‖ H^(L)] W                  jump="concatenation"
    Z     = max(H^(1), …, H^(L)) W                 jump="max", element by element

Shapes: X (n_nodes, n_features); W^(1) (n_features, hidden_units), the other W^(l) (hidden_units,
hidden_units); W (L · hidden_units, n_classes), or (hidden_units, n_classes) with the maximum; Z
(n_nodes, n_classes), softmax on top. No biases, Glorot's uniform start, L2 on all weights.

The products are our own, as in :mod:`adagcn.models.gcn`; the tests hold them against PyTorch
Geometric's ``GCNConv`` and ``JumpingKnowledge``. The authors published no code.
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from torch import Tensor, nn

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import EveryLayerL2, GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, NetworkSettings, Share
from adagcn.models.support.system import Recipe


class JKSettings(NetworkSettings):
    """Settings of a jumping knowledge network."""

    jump: Annotated[
        Literal["concatenation", "max"],
        "how the layers are joined: side by side, or their largest values",
    ] = "concatenation"
    n_layers: Annotated[Count, "products with Â"] = 3
    hidden_units: Annotated[Count, "width of every layer"] = 64
    dropout: Annotated[Share, "rate on X and on every H"] = 0.5
    propagator_dropout: Annotated[Share, "rate on the entries of Â, drawn anew in every layer"] = (
        0.5
    )
    l2: EveryLayerL2 = 1e-3


class JK(GraphNetwork):
    """The network."""

    def __init__(self, settings: JKSettings, start: Start) -> None:
        super().__init__(settings.l2, settings.n_layers)
        self.jump = settings.jump
        self.rate = settings.dropout
        self.step_rate = settings.propagator_dropout
        units, depth = settings.hidden_units, settings.n_layers
        self.weights = nn.ParameterList(
            start.glorot(n_in, units) for n_in in [start.n_features, *[units] * (depth - 1)]
        )
        n_joined = units * (depth if self.jump == "concatenation" else 1)
        self.output = start.glorot(n_joined, start.n_classes)

    def penalized(self) -> list[nn.Parameter]:
        """Return all weights."""
        return list(self.parameters())

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.rows, self.rate, generator), self.weights[0])
        layers: list[Tensor] = []
        for layer, step in enumerate(view.steps):
            if layer > 0:
                values = values @ self.weights[layer]
            values = spread(step, values, self.step_rate, generator).relu()
            values = dropout(values, self.rate, generator)
            layers = [*(view.nearer(earlier, layer) for earlier in layers), values]
        if self.jump == "max":
            return torch.stack(layers).amax(dim=0) @ self.output
        return torch.cat(layers, dim=1) @ self.output


# Xu et al. on Cora: up to six layers of 16 or 32 units. They name no stopping rule; it is PPNP's.
_AUTHORS = Recipe(n_layers=6, hidden_units=16, propagator_dropout=0.0, learning_rate=0.005, l2=5e-4)


class JKClassifier(GraphModelClassifier):
    """Jumping knowledge network: the layers of a GCN, joined for the output.

    The preset ``paper`` is that of PPNP's study, ``authors`` that of the original publication.
    """

    model_key = "jk"
    system = NetworkSystem(JKSettings, {"paper": Recipe(), "authors": _AUTHORS}, JK)
