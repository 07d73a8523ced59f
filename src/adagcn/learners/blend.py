"""A perceptron and a ridge on the same hop, which vote together.

They fail in different places: the perceptron learns combinations of columns, the ridge needs no
luck. log p = ((1 − s)/τ) log p_perceptron + s log p_ridge up to a constant, so that SAMME.R's votes
are summed in these shares. A penalized perceptron is less sure than it could be, and its
temperature τ makes up for that before the two are compared; the ridge has its own already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax
from torch import Tensor, nn

from adagcn.graph import Features
from adagcn.learners.inputs import Input
from adagcn.learners.ridge import RidgeFitter
from adagcn.training.hop_fitter import FittedHop, HopTask
from adagcn.training.loop import TrainingRecord

SHARES = tuple(i / 10 for i in range(11))  # of the ridge
TEMPERATURES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)  # of the perceptron
SHARE_WITHOUT_STOPPING = 0.3


class Blend(nn.Module):
    """Logits ((1 − s)/τ) log p_perceptron + s log p_ridge.

    Parameters
    ----------
    perceptron : Module
        The network.
    ridge : RidgeLearner
        The closed form.
    shares : Tensor of shape (2,)
        (1 − s)/τ and s: what each of them counts.
    """

    def __init__(self, perceptron: Any, ridge: Any, shares: Tensor) -> None:
        super().__init__()
        self.perceptron, self.ridge = perceptron, ridge
        self.shares = nn.Parameter(shares, requires_grad=False)

    def as_input(self, rows: Features) -> Input:
        """Return rows of a hop as both take them."""
        inputs: Input = self.perceptron.as_input(rows)
        return inputs

    def forward(self, inputs: Input) -> Tensor:
        """Return logits of shape (n_rows, n_classes)."""
        network = torch.log_softmax(self.perceptron(inputs), dim=1)
        ridge = torch.log_softmax(self.ridge(inputs), dim=1)
        return self.shares[0] * network + self.shares[1] * ridge

    @property
    def voters(self) -> tuple[Any, Any]:
        """The two, in the order of their pseudo-labels."""
        return self.perceptron, self.ridge

    def members(self) -> Any:
        """Return the networks that are trained one by one."""
        return self.perceptron.members()


@dataclass(frozen=True)
class BlendFitter:
    """Fits both on every hop; the boosting loop's ``fit_hop``.

    The share of the ridge has the lowest loss on the stopping rows; without any it is 30 %.

    Parameters
    ----------
    network : FitHop
        Fits the perceptron, from that of the hop before.
    ridge : RidgeFitter
        Fits the ridge.
    """

    network: Callable[[HopTask], Any]
    ridge: RidgeFitter

    def __call__(self, task: HopTask) -> FittedHop:
        """Return both, fitted on this hop."""
        before = task.previous
        if before is not None:
            before = replace(before, learner=before.learner.perceptron)
        taught = [None, None] if task.pseudo_labels is None else task.pseudo_labels
        network: FittedHop = self.network(replace(task, previous=before, pseudo_labels=taught[0]))
        in_closed_form = replace(self.ridge, tell_left_out=False)  # the network cannot tell it
        ridge = in_closed_form(replace(task, pseudo_labels=taught[1]))
        shares, record = _shares(network, ridge, task)
        learner = Blend(
            network.learner, ridge.learner, torch.tensor(shares, dtype=self.ridge.dtype)
        )
        return replace(network, learner=learner, record=record)


def _shares(
    network: FittedHop, ridge: FittedHop, task: HopTask
) -> tuple[tuple[float, float], TrainingRecord]:
    """Return what each of the two counts, and the record of both together."""
    epochs, labels = network.record.epochs, task.stop_labels
    if task.stop_rows is None or labels is None:
        return (1.0 - SHARE_WITHOUT_STOPPING, SHARE_WITHOUT_STOPPING), TrainingRecord(epochs)
    said = [each.log_proba(task.stop_rows) for each in (network, ridge)]
    alone = [(1.0 / temperature, 0.0) for temperature in TEMPERATURES]
    scale = min(alone, key=lambda shares: _loss(_blended(said, shares), labels))[0]
    pairs = [((1.0 - share) * scale, share) for share in SHARES]
    best = min(pairs, key=lambda shares: _loss(_blended(said, shares), labels))
    together = _blended(said, best)
    right = together.argmax(axis=1) == labels
    return best, TrainingRecord(epochs, float(right.mean()), _loss(together, labels))


def _blended(said: list[NDArray[np.float64]], shares: tuple[float, float]) -> NDArray[np.float64]:
    return np.asarray(log_softmax(shares[0] * said[0] + shares[1] * said[1], axis=1))


def _loss(log_proba: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    return float(-log_proba[np.arange(len(labels)), labels].mean())
