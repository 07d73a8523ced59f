"""Rossi et al.: SIGN: Scalable Inception Graph Neural Networks, 2020.

https://arxiv.org/abs/2004.11198

One layer on several hops side by side, all of them computed before training::

    Z = drop(ReLU([drop(X) Θ_0 ‖ drop(ÂX) Θ_1 ‖ … ‖ drop(Â^r X) Θ_r])) Ω

Shapes: X (n_nodes, n_features); Θ_k (n_features, hidden_units); Ω ((r + 1) hidden_units,
n_classes); Z (n_nodes, n_classes), softmax on top. r is ``n_hops``. No biases, L2 on every Θ_k,
Glorot's uniform start. Of the operators that the authors name (powers of Â, personalized PageRank,
triangles) these are the powers of Â.

Training has the rows of all hops for its own nodes only. Predictions multiply by Θ_k first and by Â
afterwards, so that no hop of all nodes is ever held.

There is no preset ``authors``: the one setting that they released, for a graph of 111 million nodes
(learning rate 5e-5, 45 epochs), leaves the weights of a small graph where they started.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from adagcn.learners.inputs import Input, as_input, drop, dropout, times
from adagcn.models.support.field_of_view import FieldOfView, hop_rows, spread
from adagcn.models.support.graph_model import GraphModelClassifier
from adagcn.models.support.network import GraphNetwork, NetworkSystem, Start
from adagcn.models.support.settings import Count, NetworkSettings, NonNegative, Share
from adagcn.models.support.system import GraphInput, Recipe

Hops = tuple[Input, ...]


class SIGNSettings(NetworkSettings):
    """Settings of SIGN."""

    n_hops: Annotated[Count, "the largest power of Â, r"] = 3
    hidden_units: Annotated[Count, "hidden units of each hop"] = 64
    dropout: Annotated[Share, "rate on the features of every hop and on the hidden layer"] = 0.5
    first_layer_l2: Annotated[
        NonNegative, "λ of the penalty (λ/2) Σ_k ‖Θ_k‖² on the first weights"
    ] = 5e-3


class SIGN(GraphNetwork):
    """The network."""

    def __init__(self, settings: SIGNSettings, start: Start) -> None:
        super().__init__(settings.first_layer_l2, settings.n_hops)
        n_hops, units = settings.n_hops + 1, settings.hidden_units
        self.rate = settings.dropout
        self.hops = nn.ParameterList(start.glorot(start.n_features, units) for _ in range(n_hops))
        self.output = start.glorot(n_hops * units, start.n_classes)

    def penalized(self) -> list[nn.Parameter]:
        """Return every Θ_k."""
        return list(self.hops)

    def training_view(self, inputs: GraphInput, nodes: NDArray[np.intp]) -> Hops:
        """Return the nodes' rows of every hop."""
        rows = hop_rows(inputs, nodes, self.n_steps)
        return tuple(as_input(each, self.output) for each in rows)

    def forward(self, view: FieldOfView | Hops, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes)."""
        if isinstance(view, FieldOfView):
            parts = [self._spread(view, hop, generator) for hop in range(len(self.hops))]
        else:
            parts = [
                times(drop(rows, self.rate, generator), weight)
                for rows, weight in zip(view, self.hops, strict=True)
            ]
        hidden = torch.cat(parts, dim=1).relu()
        return dropout(hidden, self.rate, generator) @ self.output

    def _spread(self, view: FieldOfView, hop: int, generator: torch.Generator | None) -> Tensor:
        """Return Â^k (X Θ_k) by the last k steps of the view."""
        values = times(drop(view.rows, self.rate, generator), self.hops[hop])
        for stage, step in enumerate(view.steps):
            is_near = stage >= len(view.steps) - hop
            values = spread(step, values) if is_near else view.nearer(values, stage)
        return values


class SIGNClassifier(GraphModelClassifier):
    """Scalable inception graph network: X, ÂX, …, Â^r X, each with weights of its own.

    Its one preset, ``paper``, has the size and the stopping rule of PPNP's study.
    """

    model_key = "sign"
    # Not part of PPNP's study: its stopping rule, width, dropout and L2.
    system = NetworkSystem(SIGNSettings, {"paper": Recipe()}, SIGN)
