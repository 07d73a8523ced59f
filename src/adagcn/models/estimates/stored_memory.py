"""Memory and disk of a boosted fit whose hops are computed in files.

Pages of mapped files are not counted: the system drops them when memory is short. Processes that
make the hops are, where they run on this machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from adagcn.models.estimates.boosted_memory import BoostedMemory
from adagcn.models.estimates.disk_room import BLOCKS, FITS, HOPS, ROWS
from adagcn.models.estimates.moments import Moment
from adagcn.models.estimates.worker_memory import Workers
from adagcn.models.support import adapting
from adagcn.propagation.hops import DENSE_ABOVE
from adagcn.propagation.row_blocks import HALO_BYTES
from adagcn.propagation.stored_hops import BLOCK_BYTES

# Of a stored value of Â while its block is renumbered: in float64 twice, with degrees and places.
_RENUMBERED = 60.0
_SCORED_AT_ONCE = 2**14  # rows that are scored together


@dataclass(frozen=True)
class StoredMemory(BoostedMemory):
    """What a boosted fit from a store holds, moment by moment, with its workers.

    Parameters
    ----------
    workers : Workers
        Processes beside the fit.
    """

    workers: Workers = field(default_factory=Workers)

    def moments(self) -> Iterator[Moment]:
        """Yield the moments of a whole fit, and of a prediction for all nodes."""
        if adapting.is_open(self.settings):  # a look holds hops in memory
            yield from self._look()
        degrees = 24.0 * self.sizes.n_nodes
        n_rows = self.labels.n_train + self.n_pseudo
        rows = self._in_memory(self._rows(n_rows) + self._rows(self.labels.n_stop))
        if self.n_layers > 1:
            yield Moment("propagation", "a block of a hop", degrees + self._hop)
        for what, learner in self._learners(n_rows):
            held = degrees + rows + self._layers_kept
            yield Moment("training", what, held + self.workers.trained(rows, learner))
        n_some = min(self.sizes.n_nodes, _SCORED_AT_ONCE)
        scored = 2.0 * self._rows(n_some) + self._hidden(n_some)
        scores = 5.0 * 8 * self.sizes.n_nodes * max(self.sizes.n_classes, 1)
        held = degrees + self._model + scores
        yield Moment("prediction", "scoring nodes", held + max(self._hop, scored))

    # A block of a hop (propagation/row_blocks.py, stored_hops.py)

    @property
    def _hop(self) -> float:
        """Blocks in work: one, or one for each worker."""
        return self.workers.making(self._block, self._n_blocks)

    @property
    def _n_blocks(self) -> float:
        return max(self.sizes.n_nodes / self._block_nodes, 1.0)

    @property
    def _block_nodes(self) -> float:
        """Nodes of a block (:meth:`RowBlocks.cut`)."""
        row_bytes = self.n_columns * self.sizes.value_bytes
        rounded = 2.0 ** math.ceil(math.log2(max(row_bytes, 1)))
        a_node = rounded + 12.0 * self.sizes.n_stored / max(self.sizes.n_nodes, 1)
        return min(float(self.sizes.n_nodes), max(BLOCK_BYTES / a_node, 1.0))

    @property
    def _halo(self) -> float:
        """Nodes that a block needs, as if neighbors were drawn at random."""
        n_nodes = max(self.sizes.n_nodes, 1)
        return -n_nodes * math.expm1(-self._block_nodes * self.sizes.mean_row / n_nodes)

    @property
    def halo_share(self) -> float:
        """How often a row is gathered for a hop."""
        return self._halo / self._block_nodes

    @property
    def _block(self) -> float:
        """Rows of Â while they are renumbered; then the halo, the block, and its own input."""
        n_stored = self._block_nodes * self.sizes.mean_row
        pair = self.sizes.value_bytes + 4
        return max(_RENUMBERED * n_stored, pair * n_stored + self._product(self._halo))

    def _product(self, halo: float) -> float:
        """Rows of a halo, what they are made of, and the block in the making."""
        if self._stays_sparse:
            fill = self.fills[-1] * self.n_columns * self.sizes.pair_bytes
            return 2.0 * halo * fill + 3.0 * self._block_nodes * fill
        row = float(self.n_columns) * self.sizes.value_bytes
        gathered = min(halo * row, float(HALO_BYTES))
        if gathered == halo * row:  # the input is gathered whole, with all of its columns
            gathered = max(gathered, halo * self._input_row)
        made = 2.0 + self.has_teleport
        return gathered + made * self._block_nodes * row

    @property
    def _stays_sparse(self) -> bool:
        return not self.starts_dense and self.fills[-1] <= DENSE_ABOVE

    @property
    def _input_row(self) -> float:
        """A row of the input while it is normalized and its columns are cut out."""
        sizes = self.sizes
        if sizes.n_values is None:
            stored = float(sizes.n_features) * sizes.value_bytes
        else:
            stored = float(sizes.n_values) / max(sizes.n_nodes, 1) * sizes.pair_bytes
        copies = 1.0 + (2.0 if self._normed else 0.0)
        kept = self.n_columns * sizes.value_bytes if self.n_columns < sizes.n_features else 0.0
        return copies * stored + kept

    @property
    def _model(self) -> float:
        return float(self.n_parameters * self.sizes.value_bytes * self.n_layers)

    # The disk (propagation/stored_hops.py, cut_rows.py, gathered_rows.py)

    @property
    def disk_bytes(self) -> float:
        """What a fit needs at least: two hops, the row blocks of Â, degrees, finished layers."""
        return sum(self.disk_parts.values())

    @property
    def most_disk_bytes(self) -> float:
        """The same with all hops, which a command keeps where there is room."""
        return sum(self._disk(self.n_layers - 1).values())

    @property
    def disk_parts(self) -> dict[str, float]:
        """The bytes that a fit needs at least in each folder of the store."""
        return self._disk(min(self.n_layers - 1, 2))

    def _disk(self, n_hops: int) -> dict[str, float]:
        """Return the bytes of the last hops, and of all else, by folder."""
        parts = {FITS: self._model, ROWS: self._rows_in_files}
        if not n_hops:
            return parts
        numbers = range(self.n_layers - n_hops, self.n_layers)
        values = float(self.sizes.n_propagator) * (self.sizes.value_bytes + 4)
        return {
            HOPS: sum(self._hop_files(number) for number in numbers),
            BLOCKS: values + 16.0 * self.sizes.n_nodes,
            **parts,
        }

    def _hop_files(self, number: int) -> float:
        """Return the bytes of a hop: dense, or sparse as long as few entries are filled."""
        if self.starts_dense or (number >= len(self.fills) - 1 and not self._stays_sparse):
            return self._dense_hop
        n_values = self.fills[number] * self.sizes.n_nodes * self.n_columns
        return n_values * self.sizes.pair_bytes + self.sizes.column_bytes * self.sizes.n_nodes

    @property
    def _rows_in_files(self) -> float:
        """Rows of a layer, where they are more than may be in memory."""
        n_rows = self.labels.n_train + self.n_pseudo + self.labels.n_stop
        rows = self._rows(n_rows)
        return rows if self._in_memory(rows) < rows else 0.0
