"""The base learner of AdaGCN: a two-layer perceptron without biases, or several side by side."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from adagcn.engines.memory import ParameterCount
from adagcn.graph import Features
from adagcn.learners.inputs import (
    Input,
    as_input,
    drop,
    dropout,
    dropout_mask,
    times,
    transposed_times,
)


class TwoLayerPerceptron(nn.Module):
    """f(B) = ReLU(B W0) W1, or the mean of several f that start apart.

    Members are trained one by one and used as one product. The softmax of their mean logits is the
    geometric mean of their probabilities, so that SAMME.R sums the members' votes.

    Parameters
    ----------
    n_features, hidden_units, n_classes : int
        W0 has shape (n_features, n_members · hidden_units), W1 has shape
        (n_members, hidden_units, n_classes).
    n_members : int
        Perceptrons, each from its own random start.
    input_dropout, hidden_dropout : float
        Rates of dropout on B and on the hidden layer.
    first_layer_l2 : float
        λ of the penalty (λ/2)‖W0‖².
    relu_logits : bool
        Apply the ReLU to the logits as well, as the paper's released code does.
    generator : torch.Generator
        Draws the start: uniform within ±1/√(fan in).
    dtype : torch.dtype
        Type of the parameters.
    """

    def __init__(  # noqa: PLR0913
        self,
        n_features: int,
        n_classes: int,
        *,
        hidden_units: int,
        n_members: int = 1,
        input_dropout: float = 0.0,
        hidden_dropout: float = 0.0,
        first_layer_l2: float = 0.0,
        relu_logits: bool = False,
        generator: torch.Generator,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        widths = {"hidden_units": hidden_units, "variant.n_members": n_members}
        size = ParameterCount(dtype.itemsize, {k: v for k, v in widths.items() if v > 1})
        size.add(n_members * hidden_units * (n_features + n_classes))
        self.input_dropout = input_dropout
        self.hidden_dropout = hidden_dropout
        self.first_layer_l2 = first_layer_l2
        self.relu_logits = relu_logits
        self.n_members = n_members
        starts = [
            (
                uniform_start(n_features, hidden_units, generator, dtype),
                uniform_start(hidden_units, n_classes, generator, dtype),
            )
            for _ in range(n_members)
        ]
        self.hidden = nn.Parameter(torch.cat([hidden for hidden, _ in starts], dim=1))
        self.output = nn.Parameter(torch.stack([output for _, output in starts]))

    def as_input(self, rows: Features) -> Input:
        """Return rows of a hop as this network takes them."""
        return as_input(rows, self.hidden)

    def forward(self, inputs: Input, generator: torch.Generator | None = None) -> Tensor:
        """Return logits of shape (n_rows, n_classes); a generator switches dropout on."""
        hidden = times(drop(inputs, self.input_dropout, generator), self.hidden).relu()
        hidden = dropout(hidden, self.hidden_dropout, generator)
        if self.n_members == 1:
            logits = hidden @ self.output[0]
            return logits.relu() if self.relu_logits else logits
        by_member = hidden.reshape(len(hidden), *self.output.shape[:2]).transpose(0, 1)
        logits = by_member @ self.output
        logits = logits.relu() if self.relu_logits else logits
        return logits.mean(dim=0)

    @torch.no_grad()
    def loss_gradients(
        self, inputs: Input, target: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the loss −Σ_ik T_ik log p_ik of a lone member, and its gradients by W0 and W1.

        With D the factors of dropout, A = ReLU(B W0), H = A ∘ D and F = H W1:
        ∂W1 = Hᵀ ∂F,  ∂W0 = Bᵀ (∂F W1ᵀ ∘ D ∘ [A > 0]).
        Written out because on a few hundred rows autograd takes longer than the products. The bits
        are autograd's.
        """
        weight = self.output[0]
        inputs = drop(inputs, self.input_dropout, generator)
        active = times(inputs, self.hidden).relu_()
        factors = None
        if self.hidden_dropout:
            factors = dropout_mask(active, self.hidden_dropout, generator)
        hidden = active if factors is None else active * factors
        logits = hidden @ weight
        logits = logits.relu_() if self.relu_logits else logits
        loss, by_logits = cross_entropy_gradient(logits, target)
        if self.relu_logits:
            by_logits = _where_active(by_logits, logits)
        by_hidden = by_logits @ weight.t()
        by_hidden = by_hidden if factors is None else by_hidden.mul_(factors)
        by_input_weight = transposed_times(inputs, _where_active(by_hidden, active))
        return loss, [by_input_weight, (hidden.t() @ by_logits)[None]]

    def members(self) -> list[Self]:
        """Return the perceptrons that are trained one by one: this one, or copies of its parts."""
        if self.n_members == 1:
            return [self]
        width = self.output.shape[1]
        parts = []
        for i in range(self.n_members):
            part = copy.deepcopy(self)
            part.n_members = 1
            columns = slice(i * width, (i + 1) * width)
            part.hidden = nn.Parameter(self.hidden.detach()[:, columns].clone())
            part.output = nn.Parameter(self.output.detach()[i : i + 1].clone())
            parts.append(part)
        return parts

    @torch.no_grad()
    def take(self, members: Sequence[Self]) -> None:
        """Become the mean of trained members."""
        if self.n_members > 1:
            self.hidden.copy_(torch.cat([member.hidden for member in members], dim=1))
            self.output.copy_(torch.cat([member.output for member in members]))

    def penalty(self) -> Tensor:
        """Return (λ/2)‖W0‖², as it stands in the stopping loss."""
        return 0.5 * self.first_layer_l2 * self.hidden.square().sum()

    def decays(self, weight_decay: float) -> list[float]:
        """Return the decay of W0 and of W1, for an optimizer whose decay is a gradient.

        The gradient of (λ/2)‖W0‖² is λ W0, which is what Adam's (coupled) weight decay adds to a
        gradient: so λ is part of W0's decay, and the penalty has no gradient of its own.
        """
        return [weight_decay + self.first_layer_l2, weight_decay]


def _where_active(gradient: Tensor, active: Tensor) -> Tensor:
    """Return the gradient behind a ReLU: zero where its output is."""
    behind: Tensor = torch.ops.aten.threshold_backward(gradient, active, 0)
    return behind


def uniform_start(n_in: int, n_out: int, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Return a weight of shape (n_in, n_out), uniform within ±1/√n_in."""
    bound = n_in**-0.5
    start = torch.empty(n_in, n_out, dtype=dtype, device=generator.device)
    return start.uniform_(-bound, bound, generator=generator)


def cross_entropy_gradient(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return ℓ = −Σ_ik T_ik log p_ik with p = softmax(F), and ∂F = p ∘ (Σ_k T_ik) − T.

    Parameters
    ----------
    logits, target : Tensor of shape (n_rows, n_classes)
        F, and T: the weight of each row, spread over its classes.
    """
    log_proba = torch.log_softmax(logits, dim=-1)
    loss = -(log_proba * target).sum()
    gradient = torch.ops.aten._log_softmax_backward_data(-target, log_proba, -1, logits.dtype)
    return loss, gradient
