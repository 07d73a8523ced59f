"""Adam (Kingma and Ba, 2015), with a decay of its own for each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.optim.adam import adam

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Moments:
    """What Adam remembers of one parameter: running means of the gradient and of its square."""

    mean: Tensor
    square: Tensor
    n_steps: Tensor

    @classmethod
    def fresh(cls, parameter: Tensor) -> Self:
        """Return what Adam starts from."""
        value = parameter.detach()
        n_steps = torch.zeros((), dtype=torch.float32, device=value.device)
        return cls(torch.zeros_like(value), torch.zeros_like(value), n_steps)


@dataclass(frozen=True)
class Adam:
    """Steps of torch's fused Adam, called without the bookkeeping of an optimizer object.

    That bookkeeping takes as long as a step over the small matrices of a layer.

    Parameters
    ----------
    parameters : sequence of Tensor
        Changed in place by :meth:`step`.
    decays : sequence of float
        Coupled decay of each parameter: δ θ is added to its gradient, as in the paper.
    learning_rate : float
        Of all parameters.
    moments : sequence of Moments
        Of each parameter, changed in place too.
    """

    parameters: Sequence[Tensor]
    decays: Sequence[float]
    learning_rate: float
    moments: Sequence[Moments]

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        """Move the parameters by one step."""
        for parameter, decay, gradient, moments in zip(
            self.parameters, self.decays, gradients, self.moments, strict=True
        ):
            adam(
                [parameter],
                [gradient],
                [moments.mean],
                [moments.square],
                [],
                [moments.n_steps],
                fused=True,
                amsgrad=False,
                beta1=_BETA1,
                beta2=_BETA2,
                lr=self.learning_rate,
                weight_decay=decay,
                eps=_EPSILON,
                maximize=False,
            )
