"""Klicpera, Bojchevski and Günnemann: Predict then Propagate, ICLR 2019: APPNP.

https://arxiv.org/abs/1810.05997

A two-layer perceptron predicts every node by itself; power iteration spreads the predictions::

    H       = drop(ReLU(drop(X) W0)) W1
    Z^(0)   = H
    Z^(k+1) = (1 − γ) drop(Â) Z^(k) + γ H      k = 0 … K − 1

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); Z^(K)
(n_nodes, n_classes), softmax on top. No biases, L2 on W0 alone. γ is ``teleport``, K ``n_steps``;
every step draws its own entries of Â to drop.

The products are our own, as in :mod:`adagcn.models.gcn`; the tests hold them against PyTorch
Geometric's ``APPNP``.
"""

from __future__ import annotations

from typing import Annotated

import torch
from torch import Tensor

from adagcn.models.support.field_of_view import FieldOfView, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import FirstLayerL2, NetworkSystem, Start
from adagcn.models.support.node_perceptron import NodePerceptron, PerceptronSettings
from adagcn.models.support.settings import Count, Share, Teleport
from adagcn.models.support.system import Recipe


class PredictThenPropagateSettings(PerceptronSettings):
    """Settings that APPNP and PPNP share."""

    teleport: Annotated[Teleport, "γ, share of a node's own prediction in every step"] = 0.1
    first_layer_l2: FirstLayerL2 = 5e-3


class APPNPSettings(PredictThenPropagateSettings):
    """Settings of APPNP."""

    n_steps: Annotated[Count, "K, products with Â"] = 10
    propagator_dropout: Annotated[Share, "rate on the entries of Â, drawn anew in every step"] = 0.5


class APPNP(NodePerceptron):
    """The network: H spread by power iteration."""

    def __init__(self, settings: APPNPSettings, start: Start) -> None:
        super().__init__(settings, start, settings.first_layer_l2, n_steps=settings.n_steps)
        self.teleport = settings.teleport
        self.step_rate = settings.propagator_dropout

    def forward(self, view: FieldOfView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        logits = self.local_logits(view.rows, generator)
        return spread_by_steps(view, logits, self.teleport, self.step_rate, generator)


def spread_by_steps(
    view: FieldOfView,
    values: Tensor,
    teleport: float,
    rate: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return Z^(K) of the nodes asked for, from values H of the farthest nodes of a view.

    With a generator, every step drops entries of Â at ``rate``.
    """
    restart = teleport * values
    for stage, step in enumerate(view.steps):
        restart = view.nearer(restart, stage)
        values = torch.add(restart, spread(step, values, rate, generator), alpha=1.0 - teleport)
    return values


# The rule that AdaGCN's released code trains PPNP and APPNP by: 500 epochs instead of 10,000,
# patience 300, nothing dropped from Â. The paper's "(ours)" rows rest on it, although its text
# names PPNP's own rule.
SHORTENED = {"max_epochs": 500, "patience": 300}
MS_ACADEMIC = {"ms_academic": {"teleport": 0.2}}


class APPNPClassifier(GraphModelClassifier):
    """A perceptron whose predictions are spread by approximate personalized PageRank.

    The preset ``paper`` is that of PPNP's study, ``authors`` that of its authors' code;
    ``adagcn_paper`` has the shortened training behind the "(ours)" rows of AdaGCN's paper.
    """

    model_key = "appnp"
    system = NetworkSystem(
        APPNPSettings,
        {
            "paper": Recipe(MS_ACADEMIC),
            # The authors' PyTorch code, which drops nothing from Â.
            "authors": Recipe(MS_ACADEMIC, propagator_dropout=0.0),
            "adagcn_paper": Recipe(MS_ACADEMIC, **SHORTENED, propagator_dropout=0.0),
        },
        APPNP,
    )
