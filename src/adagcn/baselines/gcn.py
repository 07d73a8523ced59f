"""Graph convolutional networks (Kipf and Welling, ICLR 2017), of any depth.

With H^(0) = X, L layers and weights of their own for each::

    H^(l+1) = ReLU(Â drop(H^(l)) W^(l))        l = 0 … L − 2
    Z       = Â drop(H^(L−1)) W^(L−1)

Shapes: X (n_nodes, n_features); W^(0) (n_features, hidden_units), W^(l) (hidden_units,
hidden_units), W^(L−1) (hidden_units, n_classes); Z (n_nodes, n_classes), softmax on top. No biases,
Glorot's uniform start, L2 on W^(0) alone.

Why these are our own products and not PyTorch Geometric's ``GCNConv``: that layer takes features as
a dense tensor only, and a dropout over Cora-ML's dense 2,810 × 2,879 matrix alone costs ten times
our whole epoch. The tests hold our numbers against it, forward and backward.
"""

from __future__ import annotations

from itertools import pairwise

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


class GCNSettings(NetworkSettings):
    """Settings of a graph convolutional network."""

    n_layers: Count = 2  # products with Â, each with its own weight
    hidden_units: Count = 16
    dropout: Share = 0.5  # on the input of every layer
    first_layer_l2: NonNegative = 5e-4  # λ of (λ/2)‖W0‖²


class GCN(GraphNetwork):
    """The network.

    Parameters
    ----------
    settings : GCNSettings
        Depth, width, dropout and L2.
    n_features, n_classes : int
        Sizes of input and output.
    generator : torch.Generator
        Draws the start.
    dtype : torch.dtype
        Type of the parameters.
    residual : bool
        Add H^(l) to H^(l+1) between hidden layers; see :mod:`adagcn.baselines.gcn_res`.
    """

    def __init__(
        self,
        settings: GCNSettings,
        n_features: int,
        n_classes: int,
        generator: torch.Generator,
        dtype: torch.dtype,
        *,
        residual: bool = False,
    ) -> None:
        super().__init__(settings.first_layer_l2)
        hidden = [settings.hidden_units] * (settings.n_layers - 1)
        sizes = [n_features, *hidden, n_classes]
        self.rate = settings.dropout
        self.residual = residual
        self.weights = nn.ParameterList(
            glorot(n_in, n_out, generator, dtype) for n_in, n_out in pairwise(sizes)
        )

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the nodes within n_layers steps, and the rows of Â between them."""
        return field_of_view(inputs, nodes, len(self.weights), self.weights[0])

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.rows, self.rate, generator), self.weights[0])
        values = spread(view.steps[0], values)
        hidden = None
        for layer in range(1, len(self.weights)):
            shortcut = None
            if hidden is not None and self.residual:
                shortcut = view.nearer(hidden, layer - 1)
            hidden = values.relu() if shortcut is None else values.relu() + shortcut
            values = dropout(hidden, self.rate, generator) @ self.weights[layer]
            values = spread(view.steps[layer], values)
        return values


# The study of PPNP took over the original settings for its vanilla row.
_ORIGINAL = Recipe({"max_epochs": 200, "stop_on": "window", "patience": 10})

VANILLA = NetworkSystem(GCNSettings, {"paper": _ORIGINAL, "authors": _ORIGINAL}, GCN)
