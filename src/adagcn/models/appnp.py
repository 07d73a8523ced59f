"""APPNP: approximate personalized propagation of predictions (Klicpera et al., ICLR 2019).

A two-layer perceptron predicts every node by itself; power iteration spreads the predictions::

    H       = drop(ReLU(drop(X) W0)) W1
    Z^(0)   = H
    Z^(k+1) = (1 − γ) drop(Â) Z^(k) + γ H      k = 0 … K − 1

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); Z^(K)
(n_nodes, n_classes), softmax on top. No biases, L2 on W0 alone. γ is ``teleport``, K ``n_steps``;
every step draws its own entries of Â to drop.

Our own products, as in :mod:`adagcn.models.gcn`; the tests hold them against PyTorch Geometric's
``APPNP``.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adagcn.learners.inputs import Input, drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, field_of_view, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, NetworkSettings, NonNegative, Share, Teleport
from adagcn.models.support.system import GraphInput, Recipe


class PredictThenPropagateSettings(NetworkSettings):
    """Settings that APPNP and PPNP share."""

    teleport: Annotated[Teleport, "γ, share of a node's own prediction in every step"] = 0.1
    hidden_units: Annotated[Count, "width of the hidden layer"] = 64
    dropout: Annotated[Share, "rate on the input and on the hidden layer"] = 0.5
    first_layer_l2: Annotated[NonNegative, "λ of the penalty (λ/2)‖W0‖² on the first weights"] = (
        5e-3
    )


class APPNPSettings(PredictThenPropagateSettings):
    """Settings of APPNP."""

    n_steps: Annotated[Count, "K, products with Â"] = 10
    propagator_dropout: Annotated[Share, "rate on the entries of Â, drawn anew in every step"] = 0.5


class PredictThenPropagate(GraphNetwork):
    """The perceptron that APPNP and PPNP share; a subclass says how predictions spread."""

    def __init__(self, settings: PredictThenPropagateSettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2)
        self.rate = settings.dropout
        self.teleport = settings.teleport
        units = settings.hidden_units
        self.hidden = start.uniform(start.n_features, units)
        self.output = start.uniform(units, start.n_classes)

    def local_logits(self, rows: Input, generator: torch.Generator | None) -> Tensor:
        """Return H, the predictions of nodes by themselves."""
        hidden = times(drop(rows, self.rate, generator), self.hidden).relu()
        return dropout(hidden, self.rate, generator) @ self.output


class APPNP(PredictThenPropagate):
    """The network: H spread by power iteration."""

    def __init__(self, settings: APPNPSettings, start: Start) -> None:
        super().__init__(settings, start)
        self.n_steps = settings.n_steps
        self.step_rate = settings.propagator_dropout

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> FieldOfView:
        """Return the nodes within n_steps steps, and the rows of Â between them."""
        return field_of_view(inputs, nodes, self.n_steps, self.hidden)

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        logits = self.local_logits(view.rows, generator)
        restart = self.teleport * logits
        for stage, step in enumerate(view.steps):
            restart = view.nearer(restart, stage)
            spread_logits = spread(step, logits, self.step_rate, generator)
            logits = torch.add(restart, spread_logits, alpha=1.0 - self.teleport)
        return logits


# The rule that AdaGCN's released code trains PPNP and APPNP by: half a thousand epochs instead of
# ten thousand, patience 300, nothing dropped from Â. The paper's "(ours)" rows rest on it, and its
# text names PPNP's own rule instead.
SHORTENED = {"max_epochs": 500, "patience": 300}
MS_ACADEMIC = {"ms_academic": {"teleport": 0.2}}

SYSTEM = NetworkSystem(
    APPNPSettings,
    {
        "paper": Recipe({}, MS_ACADEMIC),
        # The authors' PyTorch code, which drops nothing from Â.
        "authors": Recipe({"propagator_dropout": 0.0}, MS_ACADEMIC),
        "adagcn_paper": Recipe({**SHORTENED, "propagator_dropout": 0.0}, MS_ACADEMIC),
    },
    APPNP,
)


class APPNPClassifier(GraphModelClassifier):
    """A perceptron whose predictions are spread by approximate personalized PageRank.

    Presets (``paper``, ``authors``, ``adagcn_paper``): pPNP's study, its authors' code, or the
    shortened rule of AdaGCN's "(ours)" rows.
    """

    model_key = "appnp"
    system = SYSTEM
