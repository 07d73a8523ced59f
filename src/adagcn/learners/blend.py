"""A perceptron and a ridge on the same hop, which vote together.

They fail in different places: the perceptron learns combinations of columns, the ridge needs no
luck. log p = (1 − s) log p_perceptron + s log p_ridge up to a constant, so that SAMME.R's votes are
summed in the shares 1 − s and s.
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
SHARE_WITHOUT_STOPPING = 0.3


class Blend(nn.Module):
    """Logits (1 − s) log p_perceptron + s log p_ridge.

    Parameters
    ----------
    perceptron : Module
        The network.
    ridge : RidgeLearner
        The closed form.
    share : Tensor of shape ()
        s, the share of the ridge.
    """

    def __init__(self, perceptron: Any, ridge: Any, share: Tensor) -> None:
        super().__init__()
        self.perceptron, self.ridge = perceptron, ridge
        self.share = nn.Parameter(share, requires_grad=False)

    def as_input(self, rows: Features) -> Input:
        """Return rows of a hop as both take them."""
        inputs: Input = self.perceptron.as_input(rows)
        return inputs

    def forward(self, inputs: Input) -> Tensor:
        """Return logits of shape (n_rows, n_classes)."""
        network = torch.log_softmax(self.perceptron(inputs), dim=1)
        ridge = torch.log_softmax(self.ridge(inputs), dim=1)
        return (1.0 - self.share) * network + self.share * ridge

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
        network: FittedHop = self.network(replace(task, previous=before))
        ridge = replace(self.ridge, tell_left_out=False)(task)  # the network cannot tell it
        share, record = _share(network, ridge, task)
        learner = Blend(network.learner, ridge.learner, torch.tensor(share, dtype=self.ridge.dtype))
        return replace(network, learner=learner, record=record)


def _share(network: FittedHop, ridge: FittedHop, task: HopTask) -> tuple[float, TrainingRecord]:
    """Return the share of the ridge, and the record of both together."""
    epochs, labels = network.record.epochs, task.stop_labels
    if task.stop_rows is None or labels is None:
        return SHARE_WITHOUT_STOPPING, TrainingRecord(epochs)
    said = [each.log_proba(task.stop_rows) for each in (network, ridge)]
    losses = [_loss(_blended(said, share), labels) for share in SHARES]
    best = int(np.argmin(losses))
    right = _blended(said, SHARES[best]).argmax(axis=1) == labels
    return SHARES[best], TrainingRecord(epochs, float(right.mean()), losses[best])


def _blended(said: list[NDArray[np.float64]], share: float) -> NDArray[np.float64]:
    return np.asarray(log_softmax((1.0 - share) * said[0] + share * said[1], axis=1))


def _loss(log_proba: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    return float(-log_proba[np.arange(len(labels)), labels].mean())
