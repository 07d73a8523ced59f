"""The base learner of AdaSGC: one linear map without bias (appendix A.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn

from adagcn.graph import Features
from adagcn.learners.inputs import Input, as_input, drop, times
from adagcn.learners.mlp import uniform_start


class LinearLearner(nn.Module):
    """f(B) = B W, with W of shape (n_features, n_classes).

    Parameters
    ----------
    n_features, n_classes : int
        Shape of W.
    input_dropout : float
        Rate of dropout on B.
    first_layer_l2 : float
        λ of the penalty (λ/2)‖W‖².
    generator : torch.Generator
        Draws the start: uniform within ±1/√n_features.
    dtype : torch.dtype
        Type of the parameters.
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        input_dropout: float = 0.0,
        first_layer_l2: float = 0.0,
        generator: torch.Generator,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.input_dropout = input_dropout
        self.first_layer_l2 = first_layer_l2
        self.output = nn.Parameter(uniform_start(n_features, n_classes, generator, dtype))

    def as_input(self, rows: Features) -> Input:
        """Return rows of a hop as this learner takes them."""
        return as_input(rows, self.output)

    def forward(self, inputs: Input, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_rows, n_classes); a generator switches dropout on."""
        return times(drop(inputs, self.input_dropout, generator), self.output)

    def members(self) -> list[Self]:
        """Return what is trained: this map."""
        return [self]

    def take(self, members: Sequence[Self]) -> None:
        """Nothing to put together."""

    def penalty(self) -> Tensor:
        """Return (λ/2)‖W‖²."""
        return 0.5 * self.first_layer_l2 * self.output.square().sum()

    def parameter_groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """Return W with its whole decay; see the two-layer perceptron for why λ is part of it."""
        return [{"params": [self.output], "weight_decay": weight_decay + self.first_layer_l2}]
