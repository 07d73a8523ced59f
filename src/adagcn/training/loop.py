"""Full-batch training of one learner with a weight per row."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from adagcn.errors import NumericalError
from adagcn.graph import Features
from adagcn.training.adam import Adam, Moments
from adagcn.training.stopping import StopOn, Stopper

ROWS_AT_ONCE = 4096

StopPenalty = Literal["full", "diluted", "none"]


class Learner(Protocol):
    """What the loop asks of a learner: a torch module with some methods more."""

    def as_input(self, rows: Features) -> Any:
        """Return rows of a hop as the module takes them."""

    def __call__(self, inputs: Any) -> Tensor:
        """Return logits, without dropout."""

    def loss_gradients(
        self, inputs: Any, target: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """Return the loss −Σ_ik T_ik log p_ik under dropout, and its gradient by each parameter."""

    def members(self) -> Sequence[Learner]:
        """Return the networks inside that are trained one by one."""

    def take(self, members: Sequence[Any]) -> None:
        """Put the trained networks back."""

    def penalty(self) -> Tensor:
        """Return the first-layer L2 term."""

    def decays(self, weight_decay: float) -> Sequence[float]:
        """Return the decay of each parameter, with the L2 term as part of it."""


@dataclass(frozen=True)
class TrainingSettings:
    """How a layer is trained.

    Parameters
    ----------
    learning_rate, weight_decay : float
        Adam's; the decay is coupled (part of the gradient), as in the paper.
    max_epochs : int
        Most epochs of a layer; all of them are run where there are no stopping nodes.
    patience : int
        Epochs without improvement before a layer stops.
    stop_on : {"ranked", "loss", "accuracy"}
        What the stopper watches; see :class:`adagcn.training.stopping.Stopper`.
    stop_penalty : {"full", "diluted", "none"}
        The L2 term in the stopping loss: whole (PPNP), divided by the number of stopping nodes
        (the released code), or left out.
    align_weights : bool
        False permutes the node weights anew in every epoch, as the released code's shuffling
        loader does.
    """

    learning_rate: float = 0.01
    weight_decay: float = 0.0
    max_epochs: int = 500
    patience: int = 300
    stop_on: StopOn = "ranked"
    stop_penalty: StopPenalty = "full"
    align_weights: bool = True


@dataclass(frozen=True)
class LabeledRows:
    """Inputs with their classes, as tensors on the learner's device.

    Parameters
    ----------
    blocks : sequence
        The rows as the learner takes them, some at a time: labeled ones, and behind them the
        adopted ones.
    labels : Tensor of shape (n_labeled,)
        Classes of the labeled rows.
    adopted : Tensor of shape (n_adopted, n_classes), optional
        Weighted target probabilities of the adopted rows.
    """

    blocks: Sequence[Any]
    labels: Tensor
    adopted: Tensor | None = None


def in_blocks(learner: Learner, rows: Features) -> list[Any]:
    """Return rows as the learner takes them, ``ROWS_AT_ONCE`` at a time.

    So many rows pass through a learner at once: their hidden layer stays in the cache, and its
    memory does not grow with the number of rows.
    """
    starts = range(0, max(rows.shape[0], 1), ROWS_AT_ONCE)
    return [learner.as_input(rows[start : start + ROWS_AT_ONCE]) for start in starts]


@dataclass(frozen=True)
class TrainingRecord:
    """How a training went: epochs run, and the kept epoch's result on the stopping nodes."""

    epochs: int
    stop_accuracy: float | None = None
    stop_loss: float | None = None


def train(  # noqa: PLR0913
    learner: Learner,
    rows: LabeledRows,
    sample_weight: Tensor,
    settings: TrainingSettings,
    *,
    optimizer: Adam,
    generator: torch.Generator,
    stop_rows: LabeledRows | None = None,
    stopper: Stopper | None = None,
) -> TrainingRecord:
    """Minimize Σ_i w_i (−log p_i,y_i) + (λ/2)‖W0‖² by Adam, one step per epoch over all rows.

    Adopted rows add Σ_jk t_jk (−log p_jk) with their weighted targets t.

    Afterwards the learner holds the parameters of the best epoch on the stopping rows, or of the
    last epoch where there are none.

    Parameters
    ----------
    learner : Learner
        Trained in place.
    rows : LabeledRows
        Training rows.
    sample_weight : Tensor of shape (n_train,)
        Weight of each labeled row, in the same order; with those of adopted rows they sum to one.
    settings : TrainingSettings
        How.
    optimizer : Adam
        Made by :func:`make_optimizer`; its moments are the caller's to carry or drop.
    generator : torch.Generator
        Draws the dropout.
    stop_rows, stopper : LabeledRows and Stopper, optional
        Stopping rows, and the stopper that watches them.

    Returns
    -------
    TrainingRecord
        What happened.
    """
    logits = learner(rows.blocks[0]).detach()
    weight = sample_weight.to(logits.dtype)
    constant = settings.align_weights and len(rows.blocks) == 1
    kept_targets = list(_targets(rows, weight, logits)) if constant else None
    epoch = 0
    for epoch in range(1, settings.max_epochs + 1):
        if not settings.align_weights:
            order = torch.randperm(len(weight), generator=generator, device=weight.device)
            weight = sample_weight[order].to(logits.dtype)
        targets = kept_targets or _targets(rows, weight, logits)
        loss, gradients = _summed(learner, rows.blocks, targets, generator)
        optimizer.step(gradients)
        if not math.isfinite(loss.item()):
            raise _diverged(epoch, loss.item(), settings.learning_rate)
        if stop_rows is not None and stopper is not None:
            accuracy, stop_loss = evaluate(learner, stop_rows, settings.stop_penalty)
            if stopper.should_stop(accuracy, stop_loss, _module(learner)):
                break
    if stopper is None:
        return TrainingRecord(epoch)
    stopper.restore(_module(learner))
    return TrainingRecord(epoch, stopper.kept_accuracy, stopper.kept_loss)


@torch.no_grad()
def evaluate(learner: Learner, rows: LabeledRows, penalty: StopPenalty) -> tuple[float, float]:
    """Return accuracy and loss on the stopping rows, without dropout."""
    logits = _logits(learner, rows.blocks)
    n_rows = len(rows.labels)
    correct = (logits.argmax(dim=1) == rows.labels).sum().item()
    loss = torch.nn.functional.cross_entropy(logits, rows.labels)
    if penalty != "none":
        loss = loss + learner.penalty() / (n_rows if penalty == "diluted" else 1)
    return correct / n_rows, loss.item()


def make_optimizer(
    learner: Learner, settings: TrainingSettings, carried: Sequence[Moments] = ()
) -> Adam:
    """Return Adam over the learner's parameters, with a copy of carried moments or fresh ones."""
    parameters = list(_module(learner).parameters())
    moments = copy.deepcopy(list(carried)) or [Moments.fresh(each) for each in parameters]
    return Adam(parameters, learner.decays(settings.weight_decay), settings.learning_rate, moments)


def _summed(
    learner: Learner, blocks: Sequence[Any], targets: Iterable[Tensor], generator: torch.Generator
) -> tuple[Tensor, Sequence[Tensor]]:
    """Return the loss and its gradients, summed over blocks of rows."""
    parts = zip(blocks, targets, strict=True)
    loss, gradients = learner.loss_gradients(*next(parts), generator)
    for block, target in parts:
        more, changes = learner.loss_gradients(block, target, generator)
        loss += more
        for gradient, change in zip(gradients, changes, strict=True):
            gradient += change
    return loss, gradients


def _logits(learner: Learner, blocks: Sequence[Any]) -> Tensor:
    return learner(blocks[0]) if len(blocks) == 1 else torch.cat([*map(learner, blocks)])


def _targets(rows: LabeledRows, weight: Tensor, logits: Tensor) -> Iterator[Tensor]:
    """Yield T of each block of rows: w_i in the column of y_i, then the adopted rows' targets.

    The loss picks −log p of the label by a product with it. One at a time: T of many labeled rows
    would be large, and a block's is made in no time.
    """
    n_labeled = len(rows.labels)
    n_rows = n_labeled + (0 if rows.adopted is None else len(rows.adopted))
    for start in range(0, max(n_rows, 1), ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, n_rows)
        labels = rows.labels[start:end]
        target = logits.new_zeros(end - start, logits.shape[1])
        target[: len(labels)].scatter_(1, labels[:, None], weight[start:end, None])
        if rows.adopted is not None:
            adopted = slice(max(start - n_labeled, 0), max(end - n_labeled, 0))
            target[len(labels) :] = rows.adopted[adopted]
        yield target


def _module(learner: Learner) -> nn.Module:
    if not isinstance(learner, nn.Module):
        raise TypeError(f"a learner is a torch module; got {type(learner).__name__}")
    return learner


def _diverged(epoch: int, loss: float, learning_rate: float) -> NumericalError:
    return NumericalError(
        "AGC-N503",
        f"the training loss is no longer a finite number at epoch {epoch} "
        f"(learning_rate={learning_rate})",
        got=loss,
        fix="lower learning_rate, or scale the features (feature_norm='l1', hop_scale='row_l2')",
    )
