"""The perceptron of systems that predict every node by itself, then spread the predictions."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from torch import Tensor

from adagcn.learners.inputs import Input, drop, dropout, times
from adagcn.models.support.network import GraphNetwork, Start
from adagcn.models.support.settings import Count, NetworkSettings, Share


class PerceptronSettings(NetworkSettings):
    """Settings of a two-layer perceptron."""

    hidden_units: Annotated[Count, "width of the hidden layer"] = 64
    dropout: Annotated[Share, "rate on the input and on the hidden layer"] = 0.5


class NodePerceptron(GraphNetwork):
    """H = drop(ReLU(drop(X) W0 + b0)) W1 + b1, on each node's own features.

    All starts are uniform within ±1/√(fan in).

    Parameters
    ----------
    settings : PerceptronSettings
        Width and dropout.
    start : Start
        Draws the parameters.
    l2 : float
        λ of the penalty on :meth:`penalized`, here W0.
    n_steps : int
        Steps that a subclass spreads H by.
    biases : bool
        Whether there are b0 and b1.
    """

    def __init__(
        self,
        settings: PerceptronSettings,
        start: Start,
        l2: float,
        *,
        n_steps: int = 0,
        biases: bool = False,
    ) -> None:
        super().__init__(l2, n_steps)
        self.rate = settings.dropout
        units = settings.hidden_units
        if biases:
            self.hidden, self.hidden_bias = start.linear(start.n_features, units)
            self.output, self.output_bias = start.linear(units, start.n_classes)
        else:
            self.hidden = start.uniform(start.n_features, units)
            self.output = start.uniform(units, start.n_classes)
        self.has_biases = biases

    def local_logits(self, rows: Input, generator: torch.Generator | None = None) -> Tensor:
        """Return H, the predictions of nodes by themselves."""
        values = times(drop(rows, self.rate, generator), self.hidden)
        if not self.has_biases:
            return dropout(values.relu(), self.rate, generator) @ self.output
        hidden = dropout((values + self.hidden_bias).relu(), self.rate, generator)
        return hidden @ self.output + self.output_bias

    def forward(self, view: Any, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_nodes of the view, n_classes); here H."""
        return self.local_logits(view.rows, generator)
