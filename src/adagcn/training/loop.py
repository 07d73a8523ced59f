"""The epoch loop of every network here; it knows a network only as a :class:`Trainee`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax
from torch import Tensor, nn

from adagcn.errors import NumericalError
from adagcn.training.events import EpochEvent, Events
from adagcn.training.stopping import AnyStopper, StopPenalty


@dataclass(frozen=True)
class TrainingRecord:
    """How a training went: epochs run, and the kept epoch's result on the stopping nodes."""

    epochs: int
    stop_accuracy: float | None = None
    stop_loss: float | None = None


class Trainee(Protocol):
    """A network with its data and its optimizer, as the loop sees it."""

    @property
    def module(self) -> nn.Module:
        """What is trained."""

    def steps(self) -> Iterator[Tensor]:
        """Take the steps of one epoch; yield the loss of each, after it."""

    def evaluate(self) -> tuple[float, float]:
        """Return accuracy and loss on the stopping nodes, without dropout."""


def train(  # noqa: PLR0913
    trainee: Trainee,
    *,
    max_epochs: int,
    learning_rate: float,
    stopper: AnyStopper | None,
    events: Events,
    layer: int = 0,
    member: int = 0,
) -> TrainingRecord:
    """Train for up to ``max_epochs``, with a look at the stopping nodes after every epoch.

    Afterwards the network holds the parameters that the stopper keeps, or those of the last epoch
    where there are no stopping nodes (``stopper=None``). The other arguments are for messages.
    """
    epoch = 0
    for epoch in range(1, max_epochs + 1):
        loss = math.nan
        for step_loss in trainee.steps():
            loss = step_loss.item()
            if not math.isfinite(loss):
                raise diverged(epoch, loss, learning_rate)
        accuracy, stop_loss, done = None, None, False
        if stopper is not None:
            accuracy, stop_loss = trainee.evaluate()
            done = stopper.should_stop(accuracy, stop_loss, trainee.module)
        if events.has_epoch_callbacks:
            events.epoch(EpochEvent(layer, member, epoch, max_epochs, loss, accuracy, stop_loss))
        if done or events.stopped:
            break
    if stopper is None:
        return TrainingRecord(epoch)
    stopper.restore(trainee.module)
    return TrainingRecord(epoch, stopper.kept_accuracy, stopper.kept_loss)


def stopping_loss(
    logits: Tensor, labels: Tensor, penalty: Callable[[], Tensor], how: StopPenalty
) -> tuple[float, float]:
    """Return accuracy and loss on the stopping nodes.

    The L2 term is part of the loss: whole (``"full"``, PPNP's study), divided by the number of
    stopping nodes (``"diluted"``, the released code of AdaGCN), or left out (``"none"``).
    """
    n_rows = len(labels)
    correct = (logits.argmax(dim=1) == labels).sum().item()
    loss = torch.nn.functional.cross_entropy(logits, labels)
    if how != "none":
        loss = loss + penalty() / (n_rows if how == "diluted" else 1)
    return correct / n_rows, loss.item()


def diverged(epoch: int, loss: float, learning_rate: float) -> NumericalError:
    """Return the error of a loss that is not a number."""
    return NumericalError(
        "AGC-N503",
        f"the training loss is not a finite number at epoch {epoch} "
        f"(learning_rate={learning_rate})",
        got=loss,
        fix="lower learning_rate, or scale the features (feature_norm='l1')",
    )


def finite_log_proba(logits: Tensor) -> NDArray[np.float64]:
    """Return log softmax in float64, or say that the logits have left the finite numbers."""
    values = logits.cpu().numpy().astype(np.float64)
    if not np.isfinite(values).all():
        raise NumericalError(
            "AGC-N504",
            "the network's scores are not finite numbers",
            got=f"{np.count_nonzero(~np.isfinite(values))} of {values.size}",
            fix="scale the features (feature_norm='l1')",
        )
    return np.asarray(log_softmax(values, axis=1))
