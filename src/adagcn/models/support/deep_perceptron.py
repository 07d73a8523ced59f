"""A perceptron of any depth, with biases: what EnGCN and GB-GNN fit on the hops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from adagcn.learners.inputs import Input, dropout, times
from adagcn.models.support.batch_norm import BatchNorm
from adagcn.models.support.network import Start


class DeepPerceptron(nn.Module):
    """F = H_d W_d + b_d with H_0 = B and H_l = drop(ReLU(norm(H_{l−1} W_{l−1} + b_{l−1}))).

    All starts are uniform within ±1/√(fan in).

    Parameters
    ----------
    widths : sequence of int
        Columns of B, of every hidden layer and of F; two numbers are a linear map.
    start : Start
        Draws the parameters.
    dropout : float
        Rate on every hidden layer.
    batch_norm : bool
        Whether hidden layers are normalized; see :class:`BatchNorm`.
    """

    def __init__(
        self, widths: Sequence[int], start: Start, *, dropout: float, batch_norm: bool = False
    ) -> None:
        super().__init__()
        self.rate = dropout
        pairs = [start.linear(n_in, n_out) for n_in, n_out in pairwise(widths)]
        self.weights = nn.ParameterList([weight for weight, _ in pairs])
        self.biases = nn.ParameterList([bias for _, bias in pairs])
        hidden = widths[1:-1] if batch_norm else ()
        self.norms = nn.ModuleList(BatchNorm(n_units, self.weights[0]) for n_units in hidden)

    def forward(self, inputs: Input, generator: torch.Generator | None = None) -> Tensor:
        """Return F of shape (n_rows, n_classes); a generator drops out, and batches normalize."""
        values: Tensor = times(inputs, self.weights[0]) + self.biases[0]
        for layer in range(1, len(self.weights)):
            if self.norms:
                values = self.norms[layer - 1](values, training=generator is not None)
            hidden = dropout(values.relu(), self.rate, generator)
            values = torch.addmm(self.biases[layer], hidden, self.weights[layer])
        return values
