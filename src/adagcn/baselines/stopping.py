"""When the training of a network ends, by the rule of each study, and which epoch is kept."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from torch import nn

from adagcn.training.stopping import Stopper

StopRule = Literal["ranked", "loss", "accuracy", "both", "window", "never"]


def make_stopper(rule: StopRule, patience: int) -> Stopper | LastEpoch:
    """Return a fresh stopper.

    Parameters
    ----------
    rule : str
        ``"ranked"`` (PPNP), ``"loss"`` and ``"accuracy"``: see
        :class:`adagcn.training.stopping.Stopper`. ``"both"`` (GAT): accuracy or loss refills the
        patience, and an epoch is kept if both are at least as good as ever before. ``"window"``
        (GCN): stops when the loss is above the mean of the ``patience`` losses before it, and keeps
        the last epoch. ``"never"``: trains to the end and keeps the last epoch.
    patience : int
        Epochs without improvement, or the length of the window.
    """
    if rule == "window":
        return LastEpoch(patience)
    if rule == "never":
        return LastEpoch(None)
    return BothStopper(patience) if rule == "both" else Stopper(patience, rule)


class BothStopper(Stopper):
    """The rule of GAT's code (Veličković et al., 2018)."""

    def _ranks_higher(self, accuracy: float, loss: float) -> bool:
        # The best values already count this epoch.
        return accuracy >= self.best_accuracy and loss <= self.best_loss


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
