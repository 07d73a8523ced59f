"""Layers trained by several workers of Ray Train, each on its part of the rows.

Worker r has the rows r, r + n, r + 2n, … of the labeled, pseudo-labeled and stopping nodes. In an
epoch each computes Σ_{i∈r} w_i ∇(−log p_i), and these *sums* are added over the workers: the
gradient is that of all rows. (Averaged instead, as data-parallel wrappers do, it would be n times
too small beside the L2 terms.) All take the same step with it and hold the same parameters.

Ray Train joins the workers (gloo), and starts all of them again from the last checkpoint when one
dies. Dropout draws from a stream per worker and block of epochs, so that a restart changes no bit,
and the same number of workers gives the same model.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from adagcn.errors import InputError
from adagcn.training.adam import Adam, Moments
from adagcn.training.hop_fitter import (
    HopFitter,
    HopTask,
    HopTrainee,
    Learner,
    TrainingRows,
    TrainingSettings,
    as_module,
    make_optimizer,
)
from adagcn.training.loop import TrainingRecord, diverged
from adagcn.training.random_streams import torch_stream
from adagcn.training.stopping import Stopper

EPOCHS_AT_ONCE = 25  # between checkpoints
RESTARTS = 3
Report: TypeAlias = Callable[[Callable[[Path], None]], None]
_STOPPER = ("patience_left", "best_accuracy", "best_loss", "kept_accuracy", "kept_loss")


@dataclass(frozen=True)
class DataParallelFitter(HopFitter):
    """Fits a learner on one hop after the other, by workers of Ray Train.

    Takes the parameters of :class:`~adagcn.training.hop_fitter.HopFitter` and two more. Callbacks
    hear of layers, but not of epochs.

    Parameters
    ----------
    workers : int
        Parts of the rows.
    engine : RayTasks
        Where the workers run.
    """

    workers: int = 2
    engine: Any = None

    def _fit_member(
        self, index: int, member: Learner, rows: TrainingRows, task: HopTask
    ) -> tuple[TrainingRecord, Sequence[Moments], Stopper | None]:
        """Train one member on all workers."""
        if self.settings.batch_size != "all":
            raise InputError(
                "AGC-I1712",
                "workers train on all of their rows in every step",
                got=f"batch_size={self.settings.batch_size}",
                fix="leave batch_size or train_workers out",
            )
        previous = task.previous
        carried = previous.moments[index] if previous is not None and previous.moments else ()
        stopper = None
        if task.stop_rows is not None:
            stopper = Stopper(self.settings.patience, self.settings.stop_on)
            if previous is not None and previous.stoppers:
                stopper = copy.deepcopy(previous.stoppers[index])
        job = ShardJob(member, self.settings, self.seed, (task.hop, index), carried, stopper)
        trained = _run(job, task, min(self.workers, len(task.labels)), self.engine)
        return trained.put_into(member)


@dataclass(frozen=True)
class ShardJob:
    """What every worker starts from."""

    learner: Learner
    settings: TrainingSettings
    seed: int
    place: tuple[int, int]
    carried: Sequence[Moments]
    stopper: Stopper | None


def shard_of(task: HopTask, rank: int, n_shards: int) -> HopTask:
    """Return the part of a task that one worker has."""
    n_labeled = len(task.labels)
    labeled = np.arange(rank, n_labeled, n_shards)
    others = np.arange(n_labeled + rank, task.rows.shape[0], n_shards)
    pseudo = task.pseudo_labels
    stop_rows, stop_labels = task.stop_rows, task.stop_labels
    if stop_rows is not None and stop_labels is not None:
        stopping = np.arange(rank, len(stop_labels), n_shards)
        stop_rows, stop_labels = stop_rows[stopping], stop_labels[stopping]
    return replace(
        task,
        rows=task.rows[np.concatenate([labeled, others])],
        labels=task.labels[labeled],
        sample_weight=task.sample_weight[labeled],
        stop_rows=stop_rows,
        stop_labels=stop_labels,
        pseudo_labels=None if pseudo is None else pseudo[others - n_labeled],
        previous=None,
    )


class ShardTrainee(HopTrainee):
    """A trainee with a part of the rows; what it computes is summed over all workers."""

    def _loss_gradients(
        self, blocks: Sequence[Any], targets: Iterable[Tensor]
    ) -> tuple[Tensor, Sequence[Tensor]]:
        loss, gradients = super()._loss_gradients(blocks, targets)
        for part in (loss, *gradients):
            add_up(part)
        return loss, gradients

    @torch.no_grad()
    def evaluate(self) -> tuple[float, float]:
        """Return accuracy and loss on the stopping rows of all workers."""
        rows, how = self.rows, self.settings.stop_penalty
        assert rows.stop_blocks is not None
        assert rows.stop_labels is not None
        logits = torch.cat([self.learner(block) for block in rows.stop_blocks])
        right = (logits.argmax(dim=1) == rows.stop_labels).sum()
        loss = torch.nn.functional.cross_entropy(logits, rows.stop_labels, reduction="sum")
        sums = torch.stack(
            [right.double(), loss.double(), torch.tensor(float(len(logits))).double()]
        )
        add_up(sums)
        n_correct, total, n_rows = sums.tolist()
        mean = total / n_rows
        if how != "none":
            mean += float(self.learner.penalty()) / (n_rows if how == "diluted" else 1)
        return n_correct / n_rows, mean


def add_up(part: Tensor) -> None:
    """Sum a tensor over all workers, in place."""
    torch.distributed.all_reduce(part, op=torch.distributed.ReduceOp.SUM)


@dataclass
class TrainingState:
    """A training between two blocks of epochs."""

    parameters: list[Tensor]
    moments: Sequence[Moments]
    stopper: Stopper | None
    epoch: int = 0
    done: bool = False

    def put_into(self, member: Learner) -> tuple[TrainingRecord, Sequence[Moments], Stopper | None]:
        """Give a learner what was trained; return what the fit of a hop wants to know."""
        with torch.no_grad():
            for parameter, value in zip(
                as_module(member).parameters(), self.parameters, strict=True
            ):
                parameter.copy_(value)
        if self.stopper is None:
            return TrainingRecord(self.epoch), self.moments, None
        self.stopper.restore(as_module(member))
        kept = self.stopper.kept_accuracy, self.stopper.kept_loss
        return TrainingRecord(self.epoch, *kept), self.moments, self.stopper

    def save(self, folder: Path) -> None:
        """Write it to two files, neither of them a pickle."""
        import safetensors.torch

        tensors = {f"parameter.{i}": part.detach() for i, part in enumerate(self.parameters)}
        for i, moments in enumerate(self.moments):
            tensors |= {
                f"moments.{i}.{k}": getattr(moments, k) for k in ("mean", "square", "n_steps")
            }
        said: dict[str, Any] = {"epoch": self.epoch, "done": self.done}
        if self.stopper is not None:
            kept = self.stopper.kept_state or []
            tensors |= {f"kept.{i}": part for i, part in enumerate(kept)}
            said["stopper"] = {name: getattr(self.stopper, name) for name in _STOPPER}
        safetensors.torch.save_file(
            {name: part.clone().contiguous() for name, part in tensors.items()}, folder / "tensors"
        )
        (folder / "state.json").write_text(json.dumps(said), encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Take over what was written."""
        import safetensors.torch

        tensors = safetensors.torch.load_file(folder / "tensors")
        said = json.loads((folder / "state.json").read_text("utf-8"))
        self.epoch, self.done = said["epoch"], said["done"]
        n_parts = range(len(self.parameters))
        with torch.no_grad():
            for i, parameter in enumerate(self.parameters):
                parameter.copy_(tensors[f"parameter.{i}"])
        self.moments = [
            Moments(*(tensors[f"moments.{i}.{k}"] for k in ("mean", "square", "n_steps")))
            for i in n_parts
        ]
        if self.stopper is not None:
            for name, value in said["stopper"].items():
                setattr(self.stopper, name, value)
            self.stopper.kept_state = [tensors[f"kept.{i}"] for i in n_parts]


def train_block(job: ShardJob, shard: HopTask, rank: int, state: TrainingState) -> None:
    """Train for a block of epochs on one part of the rows, together with the other workers."""
    settings = job.settings
    block = state.epoch // EPOCHS_AT_ONCE
    optimizer = make_optimizer(job.learner, settings, state.moments)
    generator = torch_stream(job.seed, "training", *job.place, 1 + rank, block)
    rows = TrainingRows(job.learner, shard, "cpu")
    trainee = ShardTrainee(job.learner, rows, settings, optimizer, generator)
    last = min(state.epoch + EPOCHS_AT_ONCE, settings.max_epochs)
    while state.epoch < last and not state.done:
        for loss in trainee.steps():
            _check_finite(loss.item(), state.epoch + 1, settings.learning_rate)
        state.epoch += 1
        if state.stopper is not None:
            result = trainee.evaluate()
            state.done = state.stopper.should_stop(*result, trainee.module)
    state.done = state.done or state.epoch == settings.max_epochs
    state.moments = optimizer.moments


def start_of(job: ShardJob) -> TrainingState:
    """Return a training before its first epoch."""
    optimizer: Adam = make_optimizer(job.learner, job.settings, job.carried)
    parameters = list(as_module(job.learner).parameters())
    return TrainingState(parameters, optimizer.moments, job.stopper)  # type: ignore[arg-type]


def _check_finite(loss: float, epoch: int, learning_rate: float) -> None:
    if not math.isfinite(loss):
        raise diverged(epoch, loss, learning_rate)


def train_shard(
    shard: HopTask, job: ShardJob, rank: int, before: Path | None, report: Report
) -> None:
    """Train on one part of the rows to the end; what a worker does.

    Parameters
    ----------
    shard : HopTask
        The part of this worker.
    job : ShardJob
        What all start from.
    rank : int
        Which worker.
    before : Path or None
        What the last block of epochs has left, after a restart.
    report : callable
        Keeps the state after a block of epochs.
    """
    torch.set_num_threads(1)
    state = start_of(job)
    if before is not None:
        state.load(before)
    while not state.done:
        train_block(job, shard, rank, state)
        report(state.save)


def _run(job: ShardJob, task: HopTask, n_workers: int, engine: Any) -> TrainingState:
    """Return the training of a learner, after its last epoch."""
    from adagcn.engines.ray_training import TogetherPlan, train_together

    shards = (shard_of(task, rank, n_workers) for rank in range(n_workers))
    trained = start_of(replace(job, learner=copy.deepcopy(job.learner)))
    plan = TogetherPlan(n_workers, RESTARTS, task.room.folder)
    train_together(engine, plan, train_shard, shards, job, take=trained.load)
    return trained
