"""Fits a network on one hop, starting from the network of the hop before."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax
from torch import Tensor

from adagcn.errors import NumericalError
from adagcn.graph import Features
from adagcn.training.adam import Moments
from adagcn.training.loop import (
    LabeledRows,
    Learner,
    TrainingRecord,
    TrainingSettings,
    evaluate,
    in_blocks,
    make_optimizer,
    train,
)
from adagcn.training.stopping import Stopper


@dataclass(frozen=True)
class FittedNetwork:
    """A network after its fit on one hop, and what the next hop may carry on from."""

    learner: Learner
    record: TrainingRecord | None = None
    moments: tuple[Sequence[Moments], ...] = ()  # Adam's, of each member, if carried
    stoppers: tuple[Stopper, ...] = ()  # of each member, if shared

    def log_proba(self, rows: Features) -> NDArray[np.float64]:
        """Return log-probabilities of shape (n_rows, n_classes), block by block."""
        n_classes = self.learner(self.learner.as_input(rows[:0])).shape[1]
        result = np.empty((rows.shape[0], n_classes))
        start = 0
        for block in in_blocks(self.learner, rows):  # bounds the memory on the way
            said = self._log_proba(block)
            result[start : start + len(said)] = said
            start += len(said)
        return result

    @torch.no_grad()
    def _log_proba(self, block: Any) -> NDArray[np.float64]:
        logits = self.learner(block).cpu().numpy().astype(np.float64)
        if not np.isfinite(logits).all():
            raise NumericalError(
                "AGC-N504",
                "the scores of a layer are not finite numbers",
                got=f"{np.count_nonzero(~np.isfinite(logits))} of {logits.size}",
                fix="scale the features (feature_norm='l1', hop_scale='row_l2')",
            )
        return np.asarray(log_softmax(logits, axis=1))


@dataclass(frozen=True)
class _MemberFit:
    record: TrainingRecord
    moments: Sequence[Moments]
    stopper: Stopper | None


@dataclass(frozen=True)
class NetworkFitter:
    """Fits networks hop by hop; an instance is the boosting loop's ``fit_hop``.

    Parameters
    ----------
    make_learner : callable
        Takes a generator and the number of features, returns a fresh network.
    labels, stop_labels : ndarray of int64
        Classes of the training and stopping rows, in their order.
    settings : TrainingSettings
        How each layer is trained.
    seed : int
        Every layer draws from its own stream of this seed, so that layers added later are the same
        as layers fitted in one go.
    carry_parameters : bool
        Start from the parameters of the hop before (the paper) or afresh.
    carry_optimizer : bool
        Keep Adam's moments and step count from the hop before, or start them afresh.
    share_stopping : bool
        One stopper for all layers, as in the released code, or a fresh one per layer.
    device : str
        Where networks live.
    """

    make_learner: Callable[[torch.Generator, int], Learner]
    labels: NDArray[np.int64]
    stop_labels: NDArray[np.int64] | None
    settings: TrainingSettings
    seed: int
    carry_parameters: bool = True
    carry_optimizer: bool = False
    share_stopping: bool = False
    device: str = "cpu"

    def __call__(
        self,
        hop: int,
        rows: Features,
        sample_weight: NDArray[np.float64],
        stop_rows: Features | None,
        previous: FittedNetwork | None,
        adopted: NDArray[np.float64] | None = None,
    ) -> FittedNetwork:
        """Return the network fitted on this hop, as the boosting loop asks for it."""
        if previous is None or not self.carry_parameters:
            learner = self.make_learner(self._generator("start", hop), rows.shape[1])
        else:
            learner = copy.deepcopy(previous.learner)
        labeled = self._labeled(learner, rows, self.labels)
        if adopted is not None:
            labeled = replace(labeled, adopted=torch.from_numpy(adopted).to(self.device))
        weight = torch.from_numpy(sample_weight).to(self.device)
        stop = None if stop_rows is None else self._stop_rows(learner, stop_rows)
        members = learner.members()
        fits = [
            self._train(hop, i, member, labeled, weight, stop_rows=stop, previous=previous)
            for i, member in enumerate(members)
        ]
        learner.take(members)
        return FittedNetwork(
            learner,
            self._joint_record(learner, [fit.record for fit in fits], stop),
            tuple(fit.moments for fit in fits) if self.carry_optimizer else (),
            tuple(fit.stopper for fit in fits if fit.stopper) if self.share_stopping else (),
        )

    def _train(  # noqa: PLR0913
        self,
        hop: int,
        index: int,
        member: Learner,
        rows: LabeledRows,
        sample_weight: Tensor,
        *,
        stop_rows: LabeledRows | None,
        previous: FittedNetwork | None,
    ) -> _MemberFit:
        """Train one member, with an optimizer and a stopper of its own."""
        optimizer = make_optimizer(member, self.settings, self._carried(previous, index))
        stopper = None if stop_rows is None else self._stopper(previous, index)
        record = train(
            member,
            rows,
            sample_weight,
            self.settings,
            optimizer=optimizer,
            generator=self._generator("training", hop, index),
            stop_rows=stop_rows,
            stopper=stopper,
        )
        return _MemberFit(record, optimizer.moments, stopper)

    def _joint_record(
        self, learner: Learner, records: list[TrainingRecord], stop_rows: LabeledRows | None
    ) -> TrainingRecord:
        """Return the epochs of all members together, and what they say of the stopping nodes."""
        if len(records) == 1:
            return records[0]
        epochs = sum(record.epochs for record in records)
        if stop_rows is None:
            return TrainingRecord(epochs)
        return TrainingRecord(epochs, *evaluate(learner, stop_rows, self.settings.stop_penalty))

    def _labeled(self, learner: Learner, rows: Features, labels: NDArray[np.int64]) -> LabeledRows:
        return LabeledRows(in_blocks(learner, rows), torch.from_numpy(labels).to(self.device))

    def _stop_rows(self, learner: Learner, stop_rows: Features) -> LabeledRows:
        if self.stop_labels is None:
            raise TypeError("stopping rows need stop_labels")
        return self._labeled(learner, stop_rows, self.stop_labels)

    def _carried(self, previous: FittedNetwork | None, index: int) -> Sequence[Moments]:
        if self.carry_optimizer and previous is not None and previous.moments:
            return previous.moments[index]
        return ()

    def _stopper(self, previous: FittedNetwork | None, index: int) -> Stopper:
        if previous is not None and previous.stoppers:
            return copy.deepcopy(previous.stoppers[index])
        return Stopper(self.settings.patience, self.settings.stop_on)

    def _generator(self, purpose: str, hop: int, index: int = 0) -> torch.Generator:
        """Return the stream of random numbers for one purpose on one hop of one member."""
        key: tuple[int, ...] = ({"start": 0, "training": 1}[purpose], hop)
        key = (*key, index) if index else key
        state = np.random.SeedSequence(self.seed, spawn_key=key).generate_state(1, np.uint64)
        return torch.Generator(self.device).manual_seed(int(state[0] >> np.uint64(1)))
