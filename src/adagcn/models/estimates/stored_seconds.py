"""The CPU time of a boosted fit whose hops are computed in files; what a disk takes is left out."""

from __future__ import annotations

from dataclasses import dataclass

from adagcn.models.estimates.boosted_seconds import BoostedSeconds
from adagcn.models.estimates.stored_memory import StoredMemory


@dataclass(frozen=True)
class StoredSeconds(BoostedSeconds):
    """CPU seconds of a fit from a store, on one thread and in one process."""

    memory: StoredMemory

    @property
    def _row_entry(self) -> float:
        return self.rates.graph.fetched

    def _stream(self, n_hops: int, *, teleport: bool) -> float:
        """Rows of Â cut once; a hop reads them, gathers halos, and is written and hashed."""
        if n_hops < 1:
            return 0.0
        memory, sizes, rates = self.memory, self.memory.sizes, self.rates.graph
        n_entries = float(sizes.n_nodes) * memory.n_columns
        read = sizes.n_propagator * (sizes.value_bytes + 4.0) * rates.hashed
        written = n_entries * sizes.value_bytes * rates.written
        dense = sizes.n_propagator * memory.n_columns * rates.product + written
        dense += memory.halo_share * n_entries * rates.fetched
        own = self._own_input() if teleport else 0.0
        n_sparse = min(max(len(memory.fills) - 1, 0), n_hops)
        gathered = sum(fill * n_entries * sizes.mean_row for fill in memory.fills[:n_sparse])
        found = gathered * rates.gathered
        if 0 < n_sparse < n_hops:  # the last sparse hop is written again, dense
            found += n_entries * rates.filled + written
        found += memory.halo_share * self._normed()  # hop 1 normalizes the rows of every halo
        found += sizes.n_propagator * rates.cut
        return found + (n_hops - n_sparse) * dense + n_hops * (read + own)

    def _own_input(self) -> float:
        """Return the seconds of adding γX: its rows are read, and normalized, at every hop."""
        rates = self.rates.graph
        n_entries = float(self.memory.sizes.n_nodes) * self.memory.n_columns
        return self._n_values * rates.normed + 2.0 * n_entries * rates.fetched
