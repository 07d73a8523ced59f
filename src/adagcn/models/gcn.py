"""Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017.

https://arxiv.org/abs/1609.02907

With H^(0) = X, L layers and weights of their own for each::

    H^(l+1) = ReLU(Â drop(H^(l)) W^(l))        l = 0 … L − 2
    Z       = Â drop(H^(L−1)) W^(L−1)

Shapes: X (n_nodes, n_features); W^(0) (n_features, hidden_units), W^(l) (hidden_units,
hidden_units), W^(L−1) (hidden_units, n_classes); Z (n_nodes, n_classes), softmax on top. No biases,
Glorot's uniform start, L2 on W^(0) alone.

Three systems have this network:

- ``gcn``: trained as its authors did;
- ``gcn_es``: with the early stopping of PPNP's study (up to 10,000 epochs, 100 without improvement
  of accuracy or loss, the best epoch restored), and the size that the study chose under that rule;
- ``gcn_res``: with the residual connections of appendix B between hidden layers, ReLU(…) + H^(l)
  for l ≥ 1. The output layer has no shortcut, so that two layers are a plain GCN.

The products are our own and not PyTorch Geometric's ``GCNConv``: that layer takes features as a
dense tensor only, and dropout over Cora-ML's dense 2,810 × 2,879 matrix alone costs ten times our
whole epoch. The tests hold our numbers against it, forward and backward.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

import torch
from torch import Tensor, nn

from adagcn.learners.inputs import drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import FirstLayerL2, GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, HiddenUnits, LayerDropout, NetworkSettings
from adagcn.models.support.system import Recipe


class GCNSettings(NetworkSettings):
    """Settings of a graph convolutional network."""

    n_layers: Annotated[Count, "products with Â, each with weights of its own"] = 2
    hidden_units: HiddenUnits = 16
    dropout: LayerDropout = 0.5
    first_layer_l2: FirstLayerL2 = 5e-4


class GCN(GraphNetwork):
    """The network."""

    residual = False

    def __init__(self, settings: GCNSettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2, settings.n_layers)
        hidden = [settings.hidden_units] * (settings.n_layers - 1)
        sizes = [start.n_features, *hidden, start.n_classes]
        self.rate = settings.dropout
        self.weights = nn.ParameterList(
            start.glorot(n_in, n_out) for n_in, n_out in pairwise(sizes)
        )

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


class ResidualGCN(GCN):
    """The network with shortcuts between its hidden layers."""

    residual = True


class GCNClassifier(GraphModelClassifier):
    """Graph convolutional network, trained as its authors did.

    The presets ``paper`` (PPNP's study) and ``authors`` (the original publication) are the same.

    Examples
    --------
    >>> from adagcn.data import planted_partition
    >>> graph = planted_partition(n_nodes=200, n_classes=3, n_features=32, seed=0)
    >>> clf = GCNClassifier(graph, max_epochs=20, random_state=0)
    >>> clf = clf.fit(graph.node_ids[:60], graph.labels[:60])
    >>> clf.predict(graph.node_ids[60:]).shape
    (140,)
    """

    model_key = "gcn"
    system = NetworkSystem(
        GCNSettings,
        # PPNP's study took over the original settings for its vanilla row.
        dict.fromkeys(("paper", "authors"), Recipe(max_epochs=200, stop_on="window", patience=10)),
        GCN,
    )


class EarlyStoppedGCNClassifier(GraphModelClassifier):
    """Graph convolutional network with the early stopping of PPNP's study.

    The preset ``paper`` has the size that the study chose, ``authors`` the original one.
    """

    model_key = "gcn_es"
    system = NetworkSystem(
        GCNSettings,
        {
            "paper": Recipe(hidden_units=64, first_layer_l2=0.02),
            # Kipf and Welling's width and λ; only the stopping is PPNP's.
            "authors": Recipe(hidden_units=16, first_layer_l2=5e-4),
        },
        GCN,
    )


class ResidualGCNClassifier(GraphModelClassifier):
    """Graph convolutional network with residual connections between hidden layers.

    The preset ``paper`` is that of AdaGCN's Figure 3, ``authors`` that of appendix B.
    """

    model_key = "gcn_res"
    system = NetworkSystem(
        GCNSettings,
        {
            # AdaGCN's Figure 3: sizes of the original, and PPNP's stopping as for all its methods.
            "paper": Recipe(),
            # Appendix B: 400 epochs, no stopping.
            "authors": Recipe(max_epochs=400, stop_on="never"),
        },
        ResidualGCN,
    )
