"""How AdaGCN fits a learner on one hop, from that of the hop before (Algorithm 1, line 3)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from adagcn.graph import Features
from adagcn.propagation.gathered_rows import NO_LIMIT, RowRoom
from adagcn.training.adam import Adam, Moments
from adagcn.training.batches import BatchSize, batches, is_full
from adagcn.training.events import Events
from adagcn.training.loop import TrainingRecord, finite_log_proba, stopping_loss, train
from adagcn.training.random_streams import torch_stream
from adagcn.training.stopping import StopOn, StopPenalty, Stopper

ROWS_AT_ONCE = 4096


class Predictor(Protocol):
    """What was fitted on one hop: a torch module that takes its rows."""

    def as_input(self, rows: Features) -> Any:
        """Return rows of a hop as the module takes them."""

    def __call__(self, inputs: Any) -> Tensor:
        """Return logits, without dropout."""

    def members(self) -> Sequence[Learner]:
        """Return the networks inside that are trained one by one."""


class Learner(Predictor, Protocol):
    """What is fitted on one hop by epochs: a predictor with some methods more."""

    def loss_gradients(
        self, inputs: Any, target: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """Return the loss −Σ_ik T_ik log p_ik under dropout, and its gradient by each parameter."""

    def take(self, members: Sequence[Any]) -> None:
        """Put the trained networks back."""

    def penalty(self) -> Tensor:
        """Return the first-layer L2 term."""

    def decays(self, weight_decay: float) -> Sequence[float]:
        """Return the decay of each parameter, with the L2 term as part of it."""


@dataclass(frozen=True)
class HopTask:
    """What a learner is fitted on: the rows of one hop, gathered once.

    Parameters
    ----------
    hop : int
        Propagation steps behind the rows.
    rows : csr_array or ndarray of shape (n_rows, n_features)
        Labeled rows; behind them those with pseudo-labels, if there are any.
    labels : ndarray of shape (n_train,)
        Classes of the labeled rows.
    sample_weight : ndarray of shape (n_train,)
        Their weights; with those of the pseudo-labels they sum to one.
    stop_rows, stop_labels : optional
        Rows and classes of the stopping nodes.
    previous : FittedHop or another fitted learner, optional
        What was fitted on the hop before.
    pseudo_labels : ndarray of shape (n_pseudo, n_classes), optional
        What each class of an unlabeled row weighs in the loss; where several learners are fitted on
        the hop, one such array for each.
    room : RowRoom
        How much memory rows may take.
    """

    hop: int
    rows: Features
    labels: NDArray[np.int64]
    sample_weight: NDArray[np.float64]
    stop_rows: Features | None = None
    stop_labels: NDArray[np.int64] | None = None
    previous: Any | None = None
    pseudo_labels: NDArray[np.float64] | None = None
    room: RowRoom = NO_LIMIT


@dataclass(frozen=True)
class TrainingSettings:
    """How a layer is trained.

    Parameters
    ----------
    learning_rate, weight_decay : float
        Adam's; the decay is coupled (part of the gradient), as in the paper.
    max_epochs, patience : int
        Most epochs of a layer, and how many may bring no improvement on the stopping nodes.
    stop_on, stop_penalty : str
        See :class:`adagcn.training.stopping.Stopper` and :func:`stopping_loss`.
    align_weights : bool
        False permutes the node weights anew in every epoch, as the released code's shuffling
        loader does.
    carry_parameters : bool
        Start from the parameters of the hop before (the paper) or afresh.
    carry_optimizer : bool
        Keep Adam's moments and step count from the hop before, or start them afresh.
    share_stopping : bool
        One stopper for all layers, as in the released code, or a fresh one per layer.
    batch_size : int or "all"
        Rows of a step; see :mod:`adagcn.training.batches`.
    """

    learning_rate: float = 0.01
    weight_decay: float = 0.0
    max_epochs: int = 500
    patience: int = 300
    stop_on: StopOn = "ranked"
    stop_penalty: StopPenalty = "full"
    align_weights: bool = True
    carry_parameters: bool = True
    carry_optimizer: bool = False
    share_stopping: bool = False
    batch_size: BatchSize = "all"


@dataclass(frozen=True)
class FittedHop:
    """A learner after its fit on one hop, and what the next hop may carry on from."""

    learner: Predictor
    record: TrainingRecord
    moments: tuple[Sequence[Moments], ...] = ()  # Adam's, of each member, if carried
    stoppers: tuple[Stopper, ...] = ()  # of each member, if shared
    complete: bool = True  # False: a callback ended its training
    left_out: NDArray[np.float64] | None = None  # log p of labeled rows, each out of its own fit

    @property
    def parts(self) -> tuple[FittedHop, ...]:
        """The learners that vote on the hop: this one, or those inside of it."""
        inside = getattr(self.learner, "voters", None)
        return (self,) if inside is None else tuple(FittedHop(v, self.record) for v in inside)

    def log_proba(self, rows: Features) -> NDArray[np.float64]:
        """Return log-probabilities of shape (n_rows, n_classes), some rows at a time."""
        n_classes = self.learner(self.learner.as_input(rows[:0])).shape[1]
        result = np.empty((rows.shape[0], n_classes))
        start = 0
        for block in in_blocks(self.learner, rows):  # bounds the memory on the way
            log_proba = self._log_proba(block)
            result[start : start + len(log_proba)] = log_proba
            start += len(log_proba)
        return result

    @torch.no_grad()
    def _log_proba(self, block: Any) -> NDArray[np.float64]:
        return finite_log_proba(self.learner(block))


@dataclass(frozen=True)
class HopFitter:
    """Fits a learner on one hop after the other; an instance is the boosting loop's ``fit_hop``.

    Parameters
    ----------
    make_learner : callable
        Takes a generator and the number of features, returns a fresh learner.
    settings : TrainingSettings
        How each layer is trained.
    seed : int
        Every layer draws from its own stream of this seed, so that layers added later are the same
        as layers fitted in one go.
    events : Events
        Told of every epoch.
    device : str
        Where learners live.
    """

    make_learner: Callable[[torch.Generator, int], Learner]
    settings: TrainingSettings
    seed: int
    events: Events
    device: str = "cpu"

    def __call__(self, task: HopTask) -> FittedHop:
        """Return the learner fitted on this hop."""
        settings, previous = self.settings, task.previous
        if previous is None or not settings.carry_parameters:
            start = torch_stream(self.seed, "start", task.hop, device=self.device)
            learner = self.make_learner(start, task.rows.shape[1])
        else:
            learner = copy.deepcopy(previous.learner)
        rows = TrainingRows(learner, task, self.device)
        members = learner.members()
        fits = [self._fit_member(i, each, rows, task) for i, each in enumerate(members)]
        learner.take(members)
        return FittedHop(
            learner,
            self._joint_record(learner, rows, [record for record, _, _ in fits]),
            tuple(moments for _, moments, _ in fits) if settings.carry_optimizer else (),
            tuple(each for _, _, each in fits if each) if settings.share_stopping else (),
            complete=not self.events.stopped,
        )

    def _fit_member(
        self, index: int, member: Learner, rows: TrainingRows, task: HopTask
    ) -> tuple[TrainingRecord, Sequence[Moments], Stopper | None]:
        """Train one member, with an optimizer and a stopper of its own."""
        settings, previous = self.settings, task.previous
        carried = previous.moments[index] if previous is not None and previous.moments else ()
        stopper = None
        if rows.stop_blocks is not None:
            stopper = Stopper(settings.patience, settings.stop_on)
            if previous is not None and previous.stoppers:
                stopper = copy.deepcopy(previous.stoppers[index])
        place = (task.hop, index) if index else (task.hop,)
        trainee = HopTrainee(
            member,
            rows,
            settings,
            make_optimizer(member, settings, carried),
            torch_stream(self.seed, "training", *place, device=self.device),
        )
        record = train(
            trainee,
            max_epochs=settings.max_epochs,
            learning_rate=settings.learning_rate,
            stopper=stopper,
            events=self.events,
            layer=task.hop,
            member=index,
        )
        return record, trainee.optimizer.moments, stopper

    def _joint_record(
        self, learner: Learner, rows: TrainingRows, records: list[TrainingRecord]
    ) -> TrainingRecord:
        """Return the epochs of all members together, and their joint result on stopping nodes."""
        if len(records) == 1:
            return records[0]
        epochs = sum(record.epochs for record in records)
        if rows.stop_blocks is None:
            return TrainingRecord(epochs)
        return TrainingRecord(epochs, *rows.evaluate(learner, self.settings.stop_penalty))


class TrainingRows:
    """The rows of a task as the learner takes them, with targets as tensors on its device."""

    def __init__(self, learner: Learner, task: HopTask, device: str) -> None:
        self.rows, self.n_rows = task.rows, task.rows.shape[0]
        self.blocks = in_blocks(learner, task.rows)
        self.labels = torch.from_numpy(task.labels).to(device)
        self.weight = torch.from_numpy(task.sample_weight).to(device)
        self.pseudo_labels = None
        if task.pseudo_labels is not None:
            self.pseudo_labels = torch.from_numpy(task.pseudo_labels).to(device)
        self.stop_blocks = self.stop_labels = None
        if task.stop_rows is not None and task.stop_labels is not None:
            self.stop_blocks = in_blocks(learner, task.stop_rows)
            self.stop_labels = torch.from_numpy(task.stop_labels).to(device)

    def targets(self, weight: Tensor, like: Tensor) -> Iterator[Tensor]:
        """Yield T of each block of rows: w_i in the column of y_i, then the pseudo-labels.

        The loss picks −log p of the label by a product with it. One at a time: T of many labeled
        rows would be large, and a block's is made in no time.
        """
        for start in range(0, max(self.n_rows, 1), ROWS_AT_ONCE):
            end = min(start + ROWS_AT_ONCE, self.n_rows)
            yield self.target(torch.arange(start, end, device=weight.device), weight, like)

    def target(self, some: Tensor, weight: Tensor, like: Tensor) -> Tensor:
        """Return T of some rows, in ascending order."""
        n_labeled, pseudo = len(self.labels), self.pseudo_labels
        labeled = some[some < n_labeled]
        target = like.new_zeros(len(some), like.shape[1])
        target[: len(labeled)].scatter_(1, self.labels[labeled, None], weight[labeled, None])
        if pseudo is not None:
            target[len(labeled) :] = pseudo[some[len(labeled) :] - n_labeled]
        return target

    @torch.no_grad()
    def evaluate(self, learner: Learner, penalty: StopPenalty) -> tuple[float, float]:
        """Return accuracy and loss on the stopping rows, without dropout."""
        blocks, labels = self.stop_blocks, self.stop_labels
        if blocks is None or labels is None:
            raise TypeError("there are no stopping rows")
        logits = learner(blocks[0]) if len(blocks) == 1 else torch.cat([*map(learner, blocks)])
        return stopping_loss(logits, labels, learner.penalty, penalty)


class HopTrainee:
    """Minimizes Σ_i w_i (−log p_i,y_i) + (λ/2)‖W0‖² by Adam, a step per batch of rows.

    Rows with pseudo-labels add Σ_jk t_jk (−log p_jk) with their weighted targets t.
    """

    def __init__(
        self,
        learner: Learner,
        rows: TrainingRows,
        settings: TrainingSettings,
        optimizer: Adam,
        generator: torch.Generator,
    ) -> None:
        self.learner, self.rows, self.settings = learner, rows, settings
        self.optimizer, self.generator = optimizer, generator
        self._like = learner(rows.blocks[0]).detach()
        self._full = is_full(settings.batch_size, rows.n_rows)
        constant = settings.align_weights and len(rows.blocks) == 1 and self._full
        self._kept_targets = list(self._targets(rows.weight)) if constant else None

    @property
    def module(self) -> nn.Module:
        """What is trained."""
        return as_module(self.learner)

    def steps(self) -> Iterator[Tensor]:
        """Take the steps of one epoch; yield the loss of each."""
        weight = self.rows.weight
        if not self.settings.align_weights:
            order = torch.randperm(len(weight), generator=self.generator, device=weight.device)
            weight = weight[order]
        if not self._full:
            yield from self._batch_steps(weight.to(self._like.dtype))
            return
        targets = self._kept_targets or self._targets(weight)
        loss, gradients = self._loss_gradients(self.rows.blocks, targets)
        self.optimizer.step(gradients)
        yield loss

    def _batch_steps(self, weight: Tensor) -> Iterator[Tensor]:
        """Take a step for each batch of rows."""
        assert self.settings.batch_size != "all"
        drawn = batches(self.rows.n_rows, self.settings.batch_size, self.generator)
        for some, factor in drawn:
            blocks = in_blocks(self.learner, self.rows.rows[some.cpu().numpy()])
            target = self.rows.target(some, weight, self._like).mul_(factor)
            starts = range(0, len(some), ROWS_AT_ONCE)
            targets = [target[start : start + ROWS_AT_ONCE] for start in starts]
            loss, gradients = self._loss_gradients(blocks, targets)
            self.optimizer.step(gradients)
            yield loss

    def evaluate(self) -> tuple[float, float]:
        """Return accuracy and loss on the stopping rows."""
        return self.rows.evaluate(self.learner, self.settings.stop_penalty)

    def _targets(self, weight: Tensor) -> Iterator[Tensor]:
        return self.rows.targets(weight.to(self._like.dtype), self._like)

    def _loss_gradients(
        self, blocks: Sequence[Any], targets: Iterable[Tensor]
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """Return the loss and its gradients, summed over blocks of rows."""
        parts = zip(blocks, targets, strict=True)
        loss, gradients = self.learner.loss_gradients(*next(parts), self.generator)
        for block, target in parts:
            more, changes = self.learner.loss_gradients(block, target, self.generator)
            loss += more
            for gradient, change in zip(gradients, changes, strict=True):
                gradient += change
        return loss, gradients


def make_optimizer(
    learner: Learner, settings: TrainingSettings, carried: Sequence[Moments] = ()
) -> Adam:
    """Return Adam over the learner's parameters, with a copy of carried moments or fresh ones."""
    parameters = list(as_module(learner).parameters())
    moments = copy.deepcopy(list(carried)) or [Moments.fresh(each) for each in parameters]
    return Adam(parameters, learner.decays(settings.weight_decay), settings.learning_rate, moments)


def in_blocks(learner: Predictor, rows: Features) -> list[Any]:
    """Return rows as the learner takes them, ``ROWS_AT_ONCE`` at a time.

    So many rows pass through a learner at once: their hidden layer stays in the cache, and its
    memory does not grow with the number of rows.
    """
    starts = range(0, max(rows.shape[0], 1), ROWS_AT_ONCE)
    return [learner.as_input(rows[start : start + ROWS_AT_ONCE]) for start in starts]


def as_module(learner: Learner) -> nn.Module:
    """Return the learner as the torch module that it is."""
    if not isinstance(learner, nn.Module):
        raise TypeError(f"a learner is a torch module; got {type(learner).__name__}")
    return learner
