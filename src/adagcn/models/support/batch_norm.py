"""Batch normalization whose running statistics are kept and restored with the parameters."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm

EPSILON = 1e-5  # torch's, added to the variance
MOMENTUM = 0.1  # torch's share of a new batch in the running statistics


class BatchNorm(nn.Module):
    """Every unit over the rows of a batch: (v − mean) / √(variance + ε) · scale + shift.

    Ioffe and Szegedy, "Batch Normalization", ICML 2015, with torch's constants. Predictions use
    running statistics. These are parameters without gradient, so that an epoch that is restored has
    its own; an optimizer passes them over.

    Parameters
    ----------
    n_units : int
        Columns.
    like : Tensor
        A parameter; the new ones have its type and are where it is.
    """

    def __init__(self, n_units: int, like: Tensor) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones_like(like[:1, :1]).repeat(1, n_units)[0])
        self.shift = nn.Parameter(torch.zeros_like(self.scale))
        self.mean = nn.Parameter(torch.zeros_like(self.scale), requires_grad=False)
        self.variance = nn.Parameter(torch.ones_like(self.scale), requires_grad=False)

    def forward(self, values: Tensor, *, training: bool) -> Tensor:
        """Return normalized values of shape (n_rows, n_units).

        A batch of one row has no variance: it is normalized by the running statistics.
        """
        by_batch = training and len(values) > 1
        mean, variance = self.mean.detach(), self.variance.detach()  # changed in place
        return batch_norm(
            values, mean, variance, self.scale, self.shift, by_batch, MOMENTUM, EPSILON
        )

    def as_affine(self) -> tuple[Tensor, Tensor]:
        """Return what a prediction multiplies every unit by, and what it adds then."""
        factor = self.scale * torch.rsqrt(self.variance + EPSILON)
        return factor, self.shift - self.mean * factor


def trained(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that an optimizer changes."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]
