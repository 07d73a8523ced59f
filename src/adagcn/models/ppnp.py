"""Klicpera, Bojchevski and Günnemann: Predict then Propagate, ICLR 2019: PPNP, exact.

https://arxiv.org/abs/1810.05997

A two-layer perceptron predicts every node by itself; personalized PageRank spreads the
predictions::

    H = drop(ReLU(drop(X) W0)) W1
    Z = Π H,   Π = γ (I − (1 − γ) Â)^−1

Shapes: X (n_nodes, n_features); W0 (n_features, hidden_units); W1 (hidden_units, n_classes); Π
(n_nodes, n_nodes); Z (n_nodes, n_classes), softmax on top. No biases, L2 on W0 alone. γ is
``teleport``.

Π is never built. Training needs its rows of the training and stopping nodes only, which are solved
for once (:mod:`adagcn.models.support.page_rank`); where even those are too many, and for
predictions, the system is solved for the columns of H. So the two data sets on which the paper
reports "out of memory" are ordinary ones. Nothing is dropped from Â or Π: that would end the
symmetry on which the solver rests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from adagcn.errors import InputError
from adagcn.learners.inputs import Input, as_input
from adagcn.models.appnp import MS_ACADEMIC, SHORTENED, PredictThenPropagateSettings
from adagcn.models.support.field_of_view import as_step
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import NetworkSystem, Start
from adagcn.models.support.node_perceptron import NodePerceptron
from adagcn.models.support.page_rank import PageRank, page_rank_rows
from adagcn.models.support.system import GraphInput, Recipe

# Entries of Π that may be kept for training: 256 MB in float32.
MOST_ENTRIES = 2**26


class PPNPSettings(PredictThenPropagateSettings):
    """Settings of PPNP."""

    tolerance: Annotated[
        float, Field(gt=0.0, lt=1.0), "relative residual at which the solver stops"
    ] = 1e-6


@dataclass(frozen=True)
class PageRankView:
    """Features of all nodes, and what takes their predictions to the nodes asked for."""

    rows: Input
    spread: Callable[[Tensor], Tensor]


class PPNP(NodePerceptron):
    """The network: H spread by exact personalized PageRank."""

    def __init__(self, settings: PPNPSettings, start: Start) -> None:
        super().__init__(settings, start, settings.first_layer_l2)
        self.teleport = settings.teleport
        self.tolerance = settings.tolerance

    def view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> PageRankView:
        """Return a view that solves the system for the columns of H."""
        _refuse_directed(inputs)
        rank = PageRank(as_step(inputs.propagator, self.hidden), self.teleport, self.tolerance)
        asked = torch.from_numpy(nodes).to(self.hidden.device)
        return PageRankView(
            as_input(inputs.all_rows, self.hidden), lambda logits: rank(logits)[asked]
        )

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> PageRankView:
        """Return a view that holds the nodes' rows of Π where there is room for them."""
        if len(nodes) * inputs.n_nodes > MOST_ENTRIES:
            return self.view(inputs, nodes)
        _refuse_directed(inputs)
        found = page_rank_rows(inputs.propagator, nodes, self.teleport, self.tolerance)
        rows = torch.from_numpy(found).to(self.hidden)
        # Transposed, a product with few columns takes a quarter of the time.
        return PageRankView(
            as_input(inputs.all_rows, self.hidden),
            lambda logits: (logits.t().contiguous() @ rows.t()).t(),
        )

    def forward(self, view: PageRankView, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        return view.spread(self.local_logits(view.rows, generator))


def _refuse_directed(inputs: GraphInput) -> None:
    if not inputs.is_undirected:
        raise InputError(
            "AGC-I1007",
            "graph must be undirected: ppnp solves a symmetric system",
            got="a directed graph",
            fix="use appnp, or make the edges undirected with adagcn.data.clean",
        )


class PPNPClassifier(GraphModelClassifier):
    """A perceptron whose predictions are spread by exact personalized PageRank.

    The presets ``paper`` (PPNP's study) and ``authors`` (its authors' code) are the same;
    ``adagcn_paper`` has the shortened training behind the "(ours)" rows of AdaGCN's paper.
    """

    model_key = "ppnp"
    system = NetworkSystem(
        PPNPSettings,
        {
            "paper": Recipe(MS_ACADEMIC),
            "authors": Recipe(MS_ACADEMIC),  # their PyTorch code drops nothing from Π either
            "adagcn_paper": Recipe(MS_ACADEMIC, **SHORTENED),
        },
        PPNP,
    )
