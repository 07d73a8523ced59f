"""Jumping knowledge networks (Xu et al., ICML 2018): every layer has a say in the output.

With H^(0) = drop(X) and L layers::

    H^(l) = drop(ReLU(drop(Â) H^(l−1) W^(l)))      l = 1 … L
    Z     = [H^(1) ‖ … ‖ H^(L)] W                  jump="concatenation"
    Z     = max(H^(1), …, H^(L)) W                 jump="max", element by element

Shapes: X (n_nodes, n_features); W^(1) (n_features, hidden_units), the other W^(l) (hidden_units,
hidden_units); W (L · hidden_units, n_classes), or (hidden_units, n_classes) with the maximum; Z
(n_nodes, n_classes), softmax on top. No biases, Glorot's uniform start, L2 on all weights.

Our own products, as in :mod:`adagcn.baselines.gcn`; the tests hold them against PyTorch Geometric's
``GCNConv`` and ``JumpingKnowledge``. The authors published no code.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from adagcn.baselines.field_of_view import FieldOfView, field_of_view, spread
from adagcn.baselines.network import GraphNetwork, glorot
from adagcn.baselines.settings import Count, NetworkSettings, NonNegative, Share
from adagcn.baselines.system import GraphInput, Recipe
from adagcn.baselines.training import NetworkSystem
from adagcn.learners.inputs import drop, dropout, times


class JKSettings(NetworkSettings):
    """Settings of a jumping knowledge network."""

    jump: Literal["concatenation", "max"] = "concatenation"
    n_layers: Count = 3  # products with Â
    hidden_units: Count = 64
    dropout: Share = 0.5  # on X and on every H
    propagator_dropout: Share = 0.5  # on the entries of Â, anew in every layer
    l2: NonNegative = 1e-3  # λ of (λ/2)‖·‖² on all weights


class JK(GraphNetwork):
    """The network.

    Parameters
    ----------
    settings : JKSettings
        Depth, width, the way of jumping, rates and L2.
    n_features, n_classes : int
        Sizes of input and output.
    generator : torch.Generator
        Draws the start.
    dtype : torch.dtype
        Type of the parameters.
    """

    def __init__(
        self,
        settings: JKSettings,
        n_features: int,
        n_classes: int,
        generator: torch.Generator,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(settings.l2)
        self.jump = settings.jump
        self.rate = settings.dropout
        self.step_rate = settings.propagator_dropout
        units, depth = settings.hidden_units, settings.n_layers
        self.weights = nn.ParameterList(
            glorot(n_in, units, generator, dtype) for n_in in [n_features, *[units] * (depth - 1)]
        )
        n_joined = units * (depth if self.jump == "concatenation" else 1)
        self.output = glorot(n_joined, n_classes, generator, dtype)

    def penalized(self) -> list[nn.Parameter]:
        """Return all weights."""
        return list(self.parameters())

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the nodes within n_layers steps, and the rows of Â between them."""
        return field_of_view(inputs, nodes, len(self.weights), self.output)

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


SYSTEM = NetworkSystem(
    JKSettings,
    {
        "paper": Recipe({}),
        # Xu et al. on Cora: up to six layers of 16 or 32 units. They name no stopping rule: PPNP's.
        "authors": Recipe(
            {
                "n_layers": 6,
                "hidden_units": 16,
                "propagator_dropout": 0.0,
                "learning_rate": 0.005,
                "l2": 5e-4,
            }
        ),
    },
    JK,
)
