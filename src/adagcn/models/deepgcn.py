"""Li et al.: DeepGCNs: Can GCNs Go as Deep as CNNs?, ICCV 2019: residual or dense blocks.

https://arxiv.org/abs/1904.03751

With H^(1) = Â drop(X) W^(0) and the block::

    F_l(H)  = Â drop(ReLU(norm_l(H))) W^(l)
    H^(l+1) = H^(l) + F_l(H^(l))                  blocks="residual"
    H^(l+1) = [H^(l) ‖ F_l(H^(l))]                blocks="dense"        l = 1 … L − 1
    Z       = drop(ReLU(norm_L(H^(L)))) W + b

A block has the order norm, ReLU, convolution of the authors' later work (DeeperGCN, 2020,
https://arxiv.org/abs/2006.07739), which keeps activations off the path of the sums; dense blocks
follow DenseNet, whose order it is. The norm is over the units of each node (layer normalization,
with a learned scale and shift), so that a node's answer does not depend on which others are asked
for; the authors' is over all nodes of a batch.

Shapes: X (n_nodes, n_features); W^(0) (n_features, hidden_units); W^(l) (units of H^(l),
hidden_units), where H^(l) has hidden_units columns, or l · hidden_units if dense; W (units of
H^(L), n_classes); Z (n_nodes, n_classes), softmax on top. Glorot's uniform start, b from zero, L2
on W^(0) alone.

The products are our own, as in :mod:`adagcn.models.gcn`; the tests hold them against PyTorch
Geometric's ``DeepGCNLayer`` and ``GCNConv``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from torch import Tensor, nn

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import FirstLayerL2, GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, LayerDropout, NetworkSettings
from adagcn.models.support.system import Recipe


class DeepGCNSettings(NetworkSettings):
    """Settings of DeepGCN."""

    blocks: Annotated[
        Literal["residual", "dense"],
        "how layers are joined: added to the layer before, or put beside all layers before",
    ] = "residual"
    n_layers: Annotated[Count, "L, products with Â"] = 4
    hidden_units: Annotated[
        Count, "width of a residual network, or what each layer of a dense one adds"
    ] = 64
    dropout: LayerDropout = 0.5
    first_layer_l2: FirstLayerL2 = 0.02


class DeepGCN(GraphNetwork):
    """The network."""

    def __init__(self, settings: DeepGCNSettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2, settings.n_layers)
        self.dense = settings.blocks == "dense"
        self.rate = settings.dropout
        units, depth = settings.hidden_units, settings.n_layers
        columns = [units * (number if self.dense else 1) for number in range(1, depth + 1)]
        self.weights = nn.ParameterList(
            start.glorot(n_in, units) for n_in in [start.n_features, *columns[:-1]]
        )
        self.norms = nn.ModuleList(
            nn.LayerNorm(n_in, dtype=start.dtype, device=start.device) for n_in in columns
        )
        self.output = start.glorot(columns[-1], start.n_classes)
        self.bias = start.zeros(start.n_classes)

    def penalized(self) -> list[nn.Parameter]:
        """Return W^(0); torch lists the parameters outside the list first."""
        return [self.weights[0]]

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        values = times(drop(view.rows, self.rate, generator), self.weights[0])
        hidden = spread(view.steps[0], values)
        for layer in range(1, len(self.weights)):
            values = self._activated(hidden, layer - 1, generator) @ self.weights[layer]
            added = spread(view.steps[layer], values)
            kept = view.nearer(hidden, layer)
            hidden = torch.cat([kept, added], dim=1) if self.dense else kept + added
        return self._activated(hidden, -1, generator) @ self.output + self.bias

    def _activated(self, hidden: Tensor, norm: int, generator: torch.Generator | None) -> Tensor:
        return dropout(self.norms[norm](hidden).relu(), self.rate, generator)


class DeepGCNClassifier(GraphModelClassifier):
    """Deep graph convolutional network of residual or dense blocks, normalized node by node.

    The preset ``paper`` has the sizes and the training of PPNP's study for GCN, ``authors`` the
    original depth.
    """

    model_key = "deepgcn"
    system = NetworkSystem(
        DeepGCNSettings,
        {
            # Not in PPNP's study: its sizes and rates for GCN, four layers deep.
            "paper": Recipe(),
            # ResGCN-28 of 64 units. The authors train on point clouds, which is no guide here.
            "authors": Recipe(n_layers=28, dropout=0.3, learning_rate=1e-3),
        },
        DeepGCN,
    )
