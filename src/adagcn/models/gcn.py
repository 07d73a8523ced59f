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

@@gcn_es
GCN with the early stopping of PPNP's study (Klicpera, Bojchevski and Günnemann, ICLR 2019).

The network is that of :mod:`adagcn.models.gcn`; what differs is when it stops (PPNP's rule: up
to 10,000 epochs, 100 without improvement of accuracy or loss, the best epoch restored) and the size
that the study chose under that rule: 64 hidden units, λ = 0.02.

@@gcn_res
GCN with residual connections (Kipf and Welling, ICLR 2017, appendix B).

With H^(1) = ReLU(Â X W^(0)) and hidden layers of one width::

    H^(l+1) = ReLU(Â H^(l) W^(l)) + H^(l)      l = 1 … L − 2
    Z       = Â H^(L−1) W^(L−1)

The output layer has no shortcut, so that two layers are a plain GCN. Shapes, start, dropout and L2
are those of :mod:`adagcn.models.gcn`.

"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Annotated

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


class GCNSettings(NetworkSettings):
    """Settings of a graph convolutional network."""

    n_layers: Annotated[Count, "products with Â, each with weights of its own"] = 2
    hidden_units: Annotated[Count, "width of the hidden layers"] = 16
    dropout: Annotated[Share, "rate on the input of every layer"] = 0.5
    first_layer_l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖W0‖² on the first weights"] = (
        5e-4
    )


class GCN(GraphNetwork):
    """The network."""

    def __init__(self, settings: GCNSettings, start: Start, *, residual: bool = False) -> None:
        super().__init__(settings.first_layer_l2)
        hidden = [settings.hidden_units] * (settings.n_layers - 1)
        sizes = [start.n_features, *hidden, start.n_classes]
        self.rate = settings.dropout
        self.residual = residual
        self.weights = nn.ParameterList(
            start.glorot(n_in, n_out) for n_in, n_out in pairwise(sizes)
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


# gcn_es
EARLY_STOPPED = NetworkSystem(
    GCNSettings,
    {
        "paper": Recipe({"hidden_units": 64, "first_layer_l2": 0.02}),
        # Kipf and Welling's width and λ; only the stopping is PPNP's.
        "authors": Recipe({"hidden_units": 16, "first_layer_l2": 5e-4}),
    },
    GCN,
)


# gcn_res
RESIDUAL = NetworkSystem(
    GCNSettings,
    {
        # AdaGCN's Figure 3: sizes of the original, and PPNP's stopping as for all its methods.
        "paper": Recipe({}),
        # Appendix B: 400 epochs, no stopping.
        "authors": Recipe({"max_epochs": 400, "stop_on": "never"}),
    },
    partial(GCN, residual=True),
)


class GCNClassifier(GraphModelClassifier):
    """Graph convolutional network, trained as its authors did.

    Presets (``paper``, ``authors``): where unset hyper-parameters come from: PPNP's study, or the
    original publication.

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
    system = VANILLA


class EarlyStoppedGCNClassifier(GCNClassifier):
    """GCN of the size and with the early stopping of PPNP's study; parameters as of GCN."""

    model_key = "gcn_es"
    system = EARLY_STOPPED


class ResidualGCNClassifier(GCNClassifier):
    """GCN with residual connections between hidden layers; parameters as of GCN."""

    model_key = "gcn_res"
    system = RESIDUAL
