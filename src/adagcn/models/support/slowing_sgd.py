"""Gradient descent whose learning rate falls in equal steps, as N-GCN's and MixHop's authors train.

The rate is lowered by 1 % of its first value after every 40 steps, down to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import torch

Optimizer = Literal["adam", "slowing_sgd"]

EVERY = 40
SHARE = 0.01


class SlowingSGD(torch.optim.SGD):
    """Plain gradient descent with that schedule.

    Parameters
    ----------
    groups : iterable of dict
        Parameters with their (coupled) decay.
    lr : float
        The first learning rate.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], lr: float) -> None:
        super().__init__(groups, lr=lr)
        self.first_rate = lr
        self.n_steps = 0

    def step(self, closure: Any = None) -> Any:
        """Take a step, and lower the rate where it is due."""
        outcome = super().step(closure)
        self.n_steps += 1
        share = max(0.0, 1.0 - SHARE * (self.n_steps // EVERY))
        for group in self.param_groups:
            group["lr"] = share * self.first_rate
        return outcome


def slowed(optimizer: torch.optim.Optimizer, learning_rate: float) -> SlowingSGD:
    """Return gradient descent on the parameters of another optimizer, with their decay."""
    groups = [
        {"params": group["params"], "weight_decay": group["weight_decay"]}
        for group in optimizer.param_groups
    ]
    return SlowingSGD(groups, learning_rate)
