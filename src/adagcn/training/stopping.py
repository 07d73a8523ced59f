"""When training stops, and which epoch's parameters are kept: the rule of each study."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

StopOn = Literal["ranked", "loss", "accuracy"]
StopRule = Literal["ranked", "loss", "accuracy", "both", "lowest_loss", "window", "never"]
StopPenalty = Literal["full", "diluted", "none"]


@dataclass
class Stopper:
    """Early stopping by PPNP's rule (Klicpera, Bojchevski and Günnemann, 2019), or on one quantity.

    An epoch improves if a watched quantity is at least as good as its best so far; that refills the
    patience, any other epoch uses it up, and training stops when none is left. Of the improving
    epochs the best one's parameters are remembered, as a copy.

    Parameters
    ----------
    patience : int
        Epochs without improvement that are allowed.
    stop_on : {"ranked", "loss", "accuracy"}
        ``"ranked"`` watches accuracy and loss, and remembers by accuracy, then loss: PPNP's rule.
        ``"loss"`` watches and remembers the loss alone. ``"accuracy"`` watches accuracy, and
        remembers by accuracy, then loss.
    """

    patience: int
    stop_on: StopOn = "ranked"
    patience_left: int = field(init=False)
    best_accuracy: float = float("-inf")
    best_loss: float = float("inf")
    kept_accuracy: float = float("-inf")
    kept_loss: float = float("inf")
    kept_state: list[Tensor] | None = None

    def __post_init__(self) -> None:
        self.patience_left = self.patience

    def should_stop(self, accuracy: float, loss: float, learner: nn.Module) -> bool:
        """Take in one epoch's result on the stopping nodes; return whether to stop."""
        if self._improves(accuracy, loss):
            self.best_accuracy = max(self.best_accuracy, accuracy)
            self.best_loss = min(self.best_loss, loss)
            self.patience_left = self.patience
            if self._ranks_higher(accuracy, loss):
                self.kept_accuracy, self.kept_loss = accuracy, loss
                self._keep(learner)
        else:
            self.patience_left -= 1
        # Exactly zero: a stopper that is carried over after it ran out does not fire again before
        # an epoch improves, which is what the released code does.
        return self.patience_left == 0

    def restore(self, learner: nn.Module) -> None:
        """Put the remembered parameters back into the learner."""
        if self.kept_state is not None:
            with torch.no_grad():
                for parameter, kept in zip(learner.parameters(), self.kept_state, strict=True):
                    parameter.copy_(kept)

    def _improves(self, accuracy: float, loss: float) -> bool:
        by_accuracy = accuracy >= self.best_accuracy
        by_loss = loss <= self.best_loss
        watched = {"ranked": by_accuracy or by_loss, "loss": by_loss, "accuracy": by_accuracy}
        return watched[self.stop_on]

    def _ranks_higher(self, accuracy: float, loss: float) -> bool:
        if self.stop_on == "loss":
            return loss < self.kept_loss
        return (accuracy, -loss) > (self.kept_accuracy, -self.kept_loss)

    def _keep(self, learner: nn.Module) -> None:
        parameters = [parameter.detach() for parameter in learner.parameters()]
        if self.kept_state is None:
            self.kept_state = [parameter.clone() for parameter in parameters]
        for kept, parameter in zip(self.kept_state, parameters, strict=True):
            kept.copy_(parameter)


class BothStopper(Stopper):
    """The rule of GAT's code (Veličković et al., 2018)."""

    def _ranks_higher(self, accuracy: float, loss: float) -> bool:
        # The best values already count this epoch.
        return accuracy >= self.best_accuracy and loss <= self.best_loss


class LowestLossStopper(Stopper):
    """The rule of GRAND's code (Feng et al., 2020)."""

    def _ranks_higher(self, accuracy: float, loss: float) -> bool:
        return loss < self.kept_loss


@dataclass
class LastEpoch:
    """The rule of GCN's code (Kipf and Welling, 2017): a window of losses, nothing is restored.

    Parameters
    ----------
    window : int or None
        Losses that the newest one is compared with, once there is one more; None: never stop.
    """

    window: int | None
    kept_accuracy: float = float("-inf")
    kept_loss: float = float("inf")
    recent: deque[float] = field(default_factory=deque)

    def should_stop(self, accuracy: float, loss: float, learner: nn.Module) -> bool:
        """Take in one epoch's result on the stopping nodes; return whether to stop."""
        self.kept_accuracy, self.kept_loss = accuracy, loss
        if self.window is None:
            return False
        before = list(self.recent)
        self.recent.append(loss)
        if len(before) <= self.window:
            return False
        self.recent.popleft()
        return loss > sum(before[1:]) / self.window

    def restore(self, learner: nn.Module) -> None:
        """Leave the last epoch's parameters where they are."""


AnyStopper: TypeAlias = Stopper | LastEpoch


def make_stopper(rule: StopRule, patience: int) -> AnyStopper:
    """Return a fresh stopper.

    Parameters
    ----------
    rule : str
        ``"ranked"`` (PPNP), ``"loss"`` and ``"accuracy"``: see
        :class:`Stopper`. ``"both"`` (GAT): accuracy or loss refills the
        patience, and an epoch is kept if both are at least as good as ever before.
        ``"lowest_loss"`` (GRAND): the same, and the epoch of the lowest loss is kept. ``"window"``
        (GCN): stops when the loss is above the mean of the ``patience`` losses before it, and keeps
        the last epoch. ``"never"``: trains to the end and keeps the last epoch.
    patience : int
        Epochs without improvement, or the length of the window.
    """
    if rule == "window":
        return LastEpoch(patience)
    if rule == "never":
        return LastEpoch(None)
    if rule == "lowest_loss":
        return LowestLossStopper(patience)
    return BothStopper(patience) if rule == "both" else Stopper(patience, rule)
