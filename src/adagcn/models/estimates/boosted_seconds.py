"""The CPU time of a boosted fit: how often each part is done, times what it takes here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from adagcn.boosting import look
from adagcn.learners.ridge import LARGEST_SIDE, STRENGTHS
from adagcn.models.estimates.boosted_memory import BoostedMemory
from adagcn.models.estimates.rates import Rates
from adagcn.models.support import adapting
from adagcn.propagation.hops import DENSE_ABOVE

# Of the runs on record (presets tuned, boosted and adaptive, four graphs), a layer after the first
# takes 16 to 24 epochs more than its patience on average; the first takes nearly all it may.
_BEYOND_PATIENCE = 20
_SPARSE_WORK = 20.0  # of a stored value in a sparse-sparse product (see DENSE_ABOVE)
_OVERHEAD = 0.01  # seconds of a layer, whatever its size
_CHOLESKY = 0.05  # of an eigendecomposition's work


@dataclass(frozen=True)
class BoostedSeconds:
    """CPU seconds of a fit on one thread.

    Parameters
    ----------
    memory : BoostedMemory
        Sizes, settings and what follows from them.
    rates : Rates
        Of this machine.
    """

    memory: BoostedMemory
    rates: Rates

    def by_phase(self, *, to_the_last_epoch: bool = False) -> dict[str, float]:
        """Return seconds by phase; with ``to_the_last_epoch``, if no layer stops early."""
        settings = self.memory.settings
        found = {"look": self._look()} if adapting.is_open(settings) else {}
        n_hops = self.memory.n_layers - 1
        found["propagation"] = self._stream(n_hops)
        n_epochs = self._n_epochs(to_the_last_epoch=to_the_last_epoch)
        found["training"] = self._training(n_epochs)
        found["prediction"] = self._stream(n_hops) + self._scoring()
        return found

    def _n_epochs(self, *, to_the_last_epoch: bool) -> float:
        settings, labels = self.memory.settings, self.memory.labels
        most = settings.max_epochs
        later = min(most, settings.patience + _BEYOND_PATIENCE) if labels.n_stop else most
        each = most if to_the_last_epoch else later
        return float(most + (self.memory.n_layers - 1) * each)

    def _stream(self, n_hops: int) -> float:
        """Â made and laid out once; hops, the sparse ones by scipy's product."""
        if n_hops < 1:
            return 0.0
        memory, sizes = self.memory, self.memory.sizes
        n_sparse = min(max(len(memory.fills) - 1, 0), n_hops)
        n_entries = float(sizes.n_nodes) * memory.n_columns
        gathered = sum(
            min(fill, DENSE_ABOVE) * n_entries * sizes.mean_row for fill in memory.fills[:-1]
        )
        dense = (n_hops - n_sparse) * float(sizes.n_propagator) * memory.n_columns
        work = (dense + _SPARSE_WORK * gathered) * self.rates.product
        return work + self.rates.layout * sizes.n_propagator

    def _training(self, n_epochs: float) -> float:
        memory = self.memory
        n_rows = memory.labels.n_train + memory.n_pseudo
        seconds = _OVERHEAD * memory.n_layers
        if memory.settings.variant.learner != "ridge":
            seconds += n_epochs * self._epoch(n_rows + memory.labels.n_stop)
        if memory.settings.variant.learner != "perceptron":
            stop = memory.labels.n_stop
            seconds += memory.n_layers * self._ridge(n_rows, stop, memory.n_columns)
        return seconds

    def _epoch(self, n_rows: int) -> float:
        return self.rates.epoch * max(n_rows / self.rates.epoch_rows, 1.0)

    def _ridge(self, n_rows: int, n_stop: int, n_columns: int) -> float:
        """Products of rows, a decomposition, and the scores of every strength."""
        side = min(n_rows, n_columns + 1)
        classes = max(self.memory.sizes.n_classes, 1)
        products = float(n_rows) * n_columns * side
        judged = float(n_stop or n_rows) * n_columns * classes * len(STRENGTHS)
        pulled = float(n_rows) * n_columns * classes * len(STRENGTHS)
        solved = min(side, LARGEST_SIDE) ** 3 + (_CHOLESKY * side**3 if side > LARGEST_SIDE else 0)
        return (products + judged + pulled) * self.rates.flop + solved * self.rates.eigen

    @cached_property
    def _looked(self) -> tuple[int, int]:
        labels = self.memory.labels
        return (
            min(labels.n_train, look.MOST_ROWS["train"]),
            min(labels.n_stop, look.MOST_ROWS["stop"]),
        )

    def _look(self) -> float:
        """Ridges for every candidate, the hops that they share, and fits for the penalty."""
        memory, settings = self.memory, self.memory.settings
        train, stop = self._looked
        seconds = 0.0
        wide = memory.sizes.n_features
        if settings.feature_norm == "auto" and not memory.sizes.node_columns:
            seconds += 2 * self._ridge(train, stop, wide)
            seconds += self.rates.layout * memory.sizes.n_propagator
        if settings.max_features == "auto" and not memory.sizes.node_columns:
            counts = [count for count in look.COLUMN_COUNTS if count < wide]
            seconds += (2 if counts else 1) * self._ridge(train, stop, wide)
            seconds += sum(self._ridge(train, stop, count) for count in counts)
        if settings.teleport == "auto":
            n_hops = look.affordable_hops(memory.sizes.n_stored, memory.n_columns)
            tried = look.operators(look.TELEPORTS, look.PLAIN_HOPS, n_hops)
            seconds += len(tried) * self._ridge(train, stop, memory.n_columns)
            seconds += self._stream(n_hops)
        if settings.first_layer_l2 == "auto" and settings.variant.learner != "ridge":
            n_epochs = min(settings.max_epochs, settings.patience + 2 * _BEYOND_PATIENCE)
            seconds += 3 * n_epochs * self._epoch(train + stop)
        return seconds

    def _scoring(self) -> float:
        """Return the seconds of the forward passes of all nodes through the layers that vote."""
        memory = self.memory
        voters = memory.n_layers * memory.settings.variant.voting_share
        return 1.2 * voters * memory.sizes.n_nodes * memory.n_parameters * self.rates.flop
