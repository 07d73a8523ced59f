"""The CPU time of a boosted fit: how often each part is done, times what it takes here."""

from __future__ import annotations

import math
from dataclasses import dataclass

from adagcn.boosting import look
from adagcn.learners import blend
from adagcn.models.estimates.boosted_memory import BoostedMemory
from adagcn.models.estimates.rates import Rates
from adagcn.models.estimates.ridge_seconds import RidgeSeconds
from adagcn.models.support import adapting
from adagcn.propagation.hops import DENSE_ABOVE

# Of the runs on record (presets tuned, boosted and adaptive, four graphs), a layer after the first
# takes 16 to 24 epochs more than its patience on average; the first takes nearly all it may.
_BEYOND_PATIENCE = 20


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
        is_open = adapting.is_open(self.memory.settings)
        found = {"look": self._look()} if is_open else {}
        n_hops, teleport = self.memory.n_layers - 1, self.memory.has_teleport
        hops = self._stream(n_hops, teleport=teleport)
        found["propagation"] = self._input() + hops
        found["training"] = self._training(to_the_last_epoch=to_the_last_epoch)
        found["prediction"] = self._normed() + hops + self._scoring()
        return found

    # The input (models/support/problem.py)

    @property
    def _n_values(self) -> float:
        sizes = self.memory.sizes
        return float(sizes.n_nodes) * sizes.n_features if sizes.is_dense else float(sizes.n_values)  # type: ignore[arg-type]

    def _input(self) -> float:
        """Return the seconds before the first hop: a digest, a look at the sizes, columns cut."""
        memory, rates = self.memory, self.rates.graph
        found = rates.hashed * memory.sizes.digest_bytes + self._checked()
        if not adapting.is_open(memory.settings):
            found += self._normed()
        return found + rates.screened * self._n_values

    def _checked(self) -> float:
        asked = self.memory.settings.feature_norm in ("graph", "auto")
        return self.rates.graph.checked * self._n_values if asked else 0.0

    def _normed(self) -> float:
        return self.rates.graph.normed * self._n_values

    # Hops (propagation/hops.py, blocks.py)

    @property
    def _row_entry(self) -> float:
        """Seconds of an entry of a row that is gathered from a hop."""
        return self.rates.graph.moved

    def _stream(self, n_hops: int, *, teleport: bool) -> float:
        """Â made and laid out once; hops, the sparse ones by scipy's product."""
        if n_hops < 1:
            return 0.0
        memory, sizes, rates = self.memory, self.memory.sizes, self.rates.graph
        n_sparse = min(max(len(memory.fills) - 1, 0), n_hops)
        n_entries = float(sizes.n_nodes) * memory.n_columns
        gathered = sum(fill * n_entries * sizes.mean_row for fill in memory.fills[:n_sparse])
        found = gathered * rates.gathered + rates.made * sizes.n_propagator
        n_dense = n_hops - n_sparse
        if not n_dense:
            return found
        each = sizes.n_propagator * memory.n_columns * rates.product
        if teleport:
            each += self._kept()
        begun = n_entries * (rates.moved + (0.0 if memory.starts_dense else rates.filled))
        return found + rates.layout * sizes.n_propagator + begun + n_dense * each

    def _kept(self) -> float:
        """Return the seconds of adding γX to a dense hop: every entry, or those that are stored."""
        memory, rates = self.memory, self.rates.graph
        is_dense = memory.starts_dense or memory.fills[0] > DENSE_ABOVE
        n_entries = float(memory.sizes.n_nodes) * memory.n_columns
        return rates.kept * (n_entries if is_dense else memory.n_kept_values)

    # Layers (boosting/hop_boosting.py, training/hop_fitter.py, learners/)

    @property
    def _kind(self) -> str:
        return str(self.memory.settings.variant.learner)

    @property
    def _n_classes(self) -> int:
        return max(self.memory.sizes.n_classes, 2)

    def _training(self, *, to_the_last_epoch: bool) -> float:
        """Return the seconds of all layers; later ones learn from pseudo-labels as well."""
        memory, n_layers = self.memory, self.memory.n_layers
        settings, n_train = memory.settings, memory.labels.n_train
        taught = max(n_layers - settings.variant.pseudo_label_from, 0) if memory.n_pseudo else 0
        found = 0.0
        for number, n_rows in ((n_layers - taught, n_train), (taught, n_train + memory.n_pseudo)):
            if self._kind != "perceptron":
                found += number * self._ridge(n_rows, memory.labels.n_stop, memory.n_columns)
        if self._kind != "ridge":
            first = float(settings.max_epochs)
            later = first if to_the_last_epoch else self._later_epochs
            plain = first + (n_layers - taught - 1) * later
            found += plain * self._epoch(n_train, memory.labels.n_stop)
            found += taught * later * self._epoch(n_train + memory.n_pseudo, memory.labels.n_stop)
        return found + n_layers * self._around_a_layer()

    @property
    def _later_epochs(self) -> float:
        settings = self.memory.settings
        if not self.memory.labels.n_stop:
            return float(settings.max_epochs)
        return float(min(settings.max_epochs, settings.patience + _BEYOND_PATIENCE))

    def _epoch(self, n_rows: int, n_stop: int) -> float:
        rates = self.rates.learner
        return rates.step + n_rows * rates.trained + n_stop * rates.passed

    def _around_a_layer(self) -> float:
        """Return the seconds of a layer beside its fit: rows gathered, and what it says of them."""
        memory, rates = self.memory, self.rates.learner
        n_rows, n_stop = memory.labels.n_train + memory.n_pseudo, memory.labels.n_stop
        gathered = float(n_rows + n_stop) * memory.n_columns * self._row_entry
        said = (n_rows + n_stop) * rates.passed
        voted = float(n_rows + n_stop) * self._n_classes * rates.voted
        if self._kind == "both":  # shares and temperature are chosen, each of the two is asked
            tried = len(blend.SHARES) + len(blend.TEMPERATURES)
            voted += tried * n_stop * self._n_classes * rates.voted
            said += (n_stop + memory.n_pseudo) * rates.passed
        if memory.settings.n_layers == "auto":  # the loss of the layers so far, after each
            voted += 0.5 * memory.n_layers * n_stop * self._n_classes * rates.voted
        return rates.start + gathered + said + voted

    def _ridge(self, n_rows: int, n_stop: int, n_columns: int) -> float:
        return RidgeSeconds(self.rates.learner, self._n_classes).of(n_rows, n_stop, n_columns)

    # The look (boosting/look.py, models/support/adapting.py)

    def _look(self) -> float:
        """Ridges for every candidate, the hops that they share, and fits for the penalty."""
        settings, labels = self.memory.settings, self.memory.labels
        train = min(labels.n_train, look.MOST_ROWS["train"])
        stop = min(labels.n_stop, look.MOST_ROWS["stop"])
        found = self._checked() + self._normed()
        if not self.memory.sizes.node_columns:
            found += self._norm_and_columns(train, stop)
        if settings.teleport == "auto":
            found += self._operator(train, stop)
        if settings.first_layer_l2 == "auto" and self._kind != "ridge":
            n_epochs = min(settings.max_epochs, settings.patience + 2 * _BEYOND_PATIENCE)
            fit = self.rates.learner.start + n_epochs * self._epoch(train, stop)
            found += max(map(len, look.PENALTIES.values())) * fit
        return found

    def _norm_and_columns(self, train: int, stop: int) -> float:
        settings, sizes = self.memory.settings, self.memory.sizes
        wide, made = sizes.n_features, self.rates.graph.made * sizes.n_propagator
        near, ridge_of_all = self._near(train + stop), self._ridge(train, stop, wide)
        found = 0.0
        if settings.feature_norm == "auto":
            found += made + 2 * (near + ridge_of_all)
        if settings.max_features == "auto":
            counts = [count for count in look.COLUMN_COUNTS if count < wide]
            found += made + near + (2 if counts else 1) * ridge_of_all
            found += sum(self._ridge(train, stop, count) for count in counts)
        return found

    def _near(self, n_rows: int) -> float:
        """Return the seconds of a step and of two steps of some rows, for all columns."""
        sizes, rates = self.memory.sizes, self.rates.graph
        reached = sizes.mean_row + sizes.mean_row**2
        if n_rows * sizes.mean_row**2 > look.MOST_ENTRIES:
            reached = sizes.mean_row
        if sizes.n_values is None:
            return n_rows * reached * sizes.n_features * rates.product
        return n_rows * reached * sizes.n_values / max(sizes.n_nodes, 1) * rates.gathered

    def _operator(self, train: int, stop: int) -> float:
        memory = self.memory
        n_hops = look.affordable_hops(memory.sizes.n_stored, memory.n_columns)
        tried = look.operators(look.TELEPORTS, look.PLAIN_HOPS, n_hops)
        n_entries = float(train + stop) * memory.n_columns
        rows = (n_hops + 1) * n_entries * self.rates.graph.moved
        smoothed = len(tried) * n_hops * n_entries * self.rates.graph.moved
        ridges = len(tried) * self._ridge(train, stop, memory.n_columns)
        return self._stream(n_hops, teleport=False) + rows + smoothed + ridges

    # Prediction (models/support/boosted_scoring.py)

    def _scoring(self) -> float:
        """Return the seconds of all nodes' rows, class scores and votes in the layers that vote."""
        memory, rates = self.memory, self.rates
        voters = math.ceil(memory.n_layers * memory.settings.variant.voting_share)
        a_row = memory.n_columns * self._row_entry + rates.learner.passed
        a_row += self._n_classes * rates.learner.voted
        return voters * memory.sizes.n_nodes * a_row
