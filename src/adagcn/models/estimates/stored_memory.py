"""Memory and disk of a boosted fit whose hops are computed in files.

Pages of mapped files are not counted: the system drops them when memory is short.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adagcn.models.estimates.boosted_memory import BoostedMemory
from adagcn.models.estimates.moments import Moment
from adagcn.models.support import adapting
from adagcn.propagation.row_blocks import HALO_BYTES
from adagcn.propagation.stored_hops import BLOCK_BYTES

# Of a stored value of Â while its block is renumbered: in float64 twice, with degrees and places.
_RENUMBERED = 60.0


@dataclass(frozen=True)
class StoredMemory(BoostedMemory):
    """What a boosted fit from a store holds, moment by moment, in one process."""

    def moments(self) -> Iterator[Moment]:
        """Yield the moments of a whole fit, and of a prediction for all nodes."""
        if adapting.is_open(self.settings):  # a look holds hops in memory
            yield from self._look()
        degrees = 24.0 * self.sizes.n_nodes
        yield Moment("propagation", "a block of a hop", degrees + self._block)
        n_rows = self.labels.n_train + self.n_pseudo
        gathered = self._in_memory(self._rows(n_rows) + self._rows(self.labels.n_stop))
        kept = degrees + gathered + self._layers_kept
        for what, learner in self._learners(n_rows):
            yield Moment("training", what, kept + learner)
        model = self.n_parameters * self.sizes.value_bytes * self.n_layers
        n_some = min(self.sizes.n_nodes, 4 * 4096)
        scores = 5.0 * 8 * self.sizes.n_nodes * max(self.sizes.n_classes, 1)
        scoring = degrees + model + scores + max(self._block, 2.0 * self._rows(n_some))
        yield Moment("prediction", "scoring nodes", scoring)

    @property
    def _block(self) -> float:
        """Rows of Â while they are renumbered; the halo, the block, and its own input."""
        n_stored = min(float(self.sizes.n_propagator), BLOCK_BYTES / 12)
        rows = min(self._dense_hop, float(BLOCK_BYTES))
        halo = min(self._dense_hop, float(HALO_BYTES))
        return _RENUMBERED * n_stored + halo + 3.0 * rows

    @property
    def disk_bytes(self) -> float:
        """Two hops, dense in the end, and the degrees."""
        return 2.0 * self._dense_hop + 16.0 * self.sizes.n_nodes
