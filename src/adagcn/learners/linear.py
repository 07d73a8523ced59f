"""The base learner of AdaSGC: one linear map without bias (appendix A.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from adagcn.graph import Features
from adagcn.learners.inputs import Input, as_input, drop, times, transposed_times
from adagcn.learners.perceptron import cross_entropy_gradient, uniform_start


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

    @torch.no_grad()
    def loss_gradients(
        self, inputs: Input, target: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the loss −Σ_ik T_ik log p_ik and its gradient by W, Bᵀ ∂F with F = B W."""
        inputs = drop(inputs, self.input_dropout, generator)
        loss, by_logits = cross_entropy_gradient(times(inputs, self.output), target)
        return loss, [transposed_times(inputs, by_logits)]

    def members(self) -> list[Self]:
        """Return what is trained: this map."""
        return [self]

    def take(self, members: Sequence[Self]) -> None:
        """Nothing to put together."""

    def penalty(self) -> Tensor:
        """Return (λ/2)‖W‖²."""
        return 0.5 * self.first_layer_l2 * self.output.square().sum()

    def decays(self, weight_decay: float) -> list[float]:
        """Return the decay of W; see the two-layer perceptron for why λ is part of it."""
        return [weight_decay + self.first_layer_l2]
