"""Graph attention networks (Veličković et al., ICLR 2018).

A layer with weight W and vectors a, a′ for each of its heads, over j ∈ N(i) ∪ {i}::

    e_ij = LeakyReLU(aᵀ W h_i + a′ᵀ W h_j)      slope 0.2
    α_ij = exp(e_ij) / Σ_k exp(e_ik)
    h′_i = Σ_j drop(α_ij) drop(W h_j)

Two layers: H = ELU(‖_heads h′ + b) on drop(X), Z = mean_heads h′ + b on drop(H).

Shapes: X (n_nodes, n_features); W of the first layer (n_features, n_heads · hidden_units), of the
second (n_heads · hidden_units, output_heads · n_classes); a and a′ (heads, units); Z (n_nodes,
n_classes), softmax on top. Glorot's uniform start, biases from zero, L2 on W of the first layer.

Only which nodes are neighbors counts: the weights of edges do not enter. W multiplies the sparse
features first, and :mod:`adagcn.baselines.attention` does the rest, since PyTorch Geometric's
``GATConv`` takes dense features and many times as long; the tests hold our numbers against it.
Two things differ from the authors' code: one draw of dropped features serves all heads, and the
scalar biases inside the LeakyReLU are left out, as in their paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu

from adagcn.baselines.attention import Arcs, arcs_of, softmax_by_center, weighted_sums
from adagcn.baselines.field_of_view import FieldOfView, field_of_view
from adagcn.baselines.network import GraphNetwork, glorot
from adagcn.baselines.settings import Count, NetworkSettings, NonNegative, Share
from adagcn.baselines.system import GraphInput, Recipe
from adagcn.baselines.training import NetworkSystem
from adagcn.learners.inputs import drop, dropout, times

SLOPE = 0.2


class GATSettings(NetworkSettings):
    """Settings of a graph attention network."""

    n_heads: Count = 8  # of the first layer
    hidden_units: Count = 8  # of each of them
    output_heads: Count = 1
    dropout: Share = 0.6  # on the input of both layers
    attention_dropout: Share = 0.6  # on α
    value_dropout: Share = 0.0  # on W h, once α is known
    first_layer_l2: NonNegative = 0.01  # λ of (λ/2)‖W‖² of the first layer


@dataclass(frozen=True)
class AttentionView:
    """A field of view of two steps, and who looks at whom in each."""

    field: FieldOfView
    arcs: tuple[Arcs, Arcs]


class GAT(GraphNetwork):
    """The network.

    Parameters
    ----------
    settings : GATSettings
        Heads, width, rates and L2.
    n_features, n_classes : int
        Sizes of input and output.
    generator : torch.Generator
        Draws the start.
    dtype : torch.dtype
        Type of the parameters.
    """

    def __init__(
        self,
        settings: GATSettings,
        n_features: int,
        n_classes: int,
        generator: torch.Generator,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(settings.first_layer_l2)
        self.rate = settings.dropout
        heads, units = settings.n_heads, settings.hidden_units
        rates = settings.value_dropout, settings.attention_dropout
        self.hidden = AttentionLayer((n_features, heads, units), rates, generator, dtype)
        sizes = heads * units, settings.output_heads, n_classes
        self.output = AttentionLayer(sizes, rates, generator, dtype)
        device = generator.device
        self.hidden_bias = nn.Parameter(torch.zeros(heads * units, dtype=dtype, device=device))
        self.output_bias = nn.Parameter(torch.zeros(n_classes, dtype=dtype, device=device))

    def penalized(self) -> list[nn.Parameter]:
        """Return W of the first layer."""
        return [self.hidden.weight]

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> AttentionView:
        """Return the nodes within two steps, and who looks at whom."""
        field = field_of_view(inputs, nodes, 2, self.hidden.weight)
        first, second = field.steps
        arcs = arcs_of(first, self.hidden.n_heads), arcs_of(second, self.output.n_heads)
        return AttentionView(field, arcs)

    def forward(self, view: AttentionView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.field.rows, self.rate, generator), self.hidden.weight)
        heads = self.hidden(view, 0, values, generator)
        hidden = elu(heads.flatten(1) + self.hidden_bias)
        values = dropout(hidden, self.rate, generator) @ self.output.weight
        logits: Tensor = self.output(view, 1, values, generator).mean(dim=1) + self.output_bias
        return logits


class AttentionLayer(nn.Module):
    """The heads of one layer, after the product with its weight.

    Parameters
    ----------
    sizes : tuple of int
        Columns of the input, heads, and units of each head.
    rates : tuple of float
        Dropout on W h and on α.
    generator : torch.Generator
        Draws the start.
    dtype : torch.dtype
        Type of the parameters.
    """

    def __init__(
        self,
        sizes: tuple[int, int, int],
        rates: tuple[float, float],
        generator: torch.Generator,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        n_in, n_heads, n_units = sizes
        self.n_heads = n_heads
        self.rates = rates
        self.weight = glorot(n_in, n_heads * n_units, generator, dtype)
        self.center = glorot(n_heads, n_units, generator, dtype)  # a
        self.neighbor = glorot(n_heads, n_units, generator, dtype)  # a′

    def forward(
        self, view: AttentionView, stage: int, values: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return h′ of shape (n_centers, n_heads, n_units) from W h of the nodes at a stage."""
        arcs = view.arcs[stage]
        by_head = values.reshape(len(values), self.n_heads, -1)
        of_centers = view.field.nearer((by_head * self.center).sum(dim=2), stage)
        of_neighbors = (by_head * self.neighbor).sum(dim=2)
        scores = leaky_relu(
            of_centers.index_select(0, arcs.centers) + of_neighbors.index_select(0, arcs.neighbors),
            SLOPE,
        )
        value_rate, attention_rate = self.rates
        weights = dropout(softmax_by_center(arcs, scores), attention_rate, generator)
        return weighted_sums(arcs, weights, dropout(by_head, value_rate, generator))


_AUTHORS = {
    "value_dropout": 0.6,  # in their code; their paper does not name it
    "learning_rate": 0.005,
    "first_layer_l2": 0.0,
    "weight_decay": 5e-4,  # on all parameters, and not in the stopping loss
    "max_epochs": 100_000,
    "stop_on": "both",
}

SYSTEM = NetworkSystem(
    GATSettings,
    {
        # PPNP's study: the original sizes and λ = 0.01, the same on all data sets. On the first
        # layer, as for its own models: on all parameters this λ leaves nothing but zeros.
        "paper": Recipe({}),
        "authors": Recipe(
            _AUTHORS, {"pubmed": {"output_heads": 8, "learning_rate": 0.01, "weight_decay": 1e-3}}
        ),
    },
    GAT,
)
