"""Small inputs like a graph's own, on which this machine is measured before a fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.graph import Features, Graph
from adagcn.models.estimates.graph_sizes import GraphSizes

# Enough to be past the caches of a core, as the whole is, and made in a tenth of a second.
FEATURE_BYTES, MOST_STORED = 2**25, 500_000
_SPARSE_NODES = 4000


@dataclass(frozen=True)
class Sample:
    """As many nodes of a graph's kind as can be measured at once: random edges and features.

    Parameters
    ----------
    sizes : GraphSizes
        The graph that it stands for.
    """

    sizes: GraphSizes

    @cached_property
    def n_nodes(self) -> int:
        """Nodes of the sample."""
        row_bytes = max(self.sizes.n_features * self.sizes.value_bytes, 1)
        most = FEATURE_BYTES // row_bytes if self.sizes.is_dense else _SPARSE_NODES
        return max(min(self.sizes.n_nodes, most, MOST_STORED), 2)

    @cached_property
    def features(self) -> Features:
        """Features as full as the graph's."""
        rng, sizes = np.random.default_rng(0), self.sizes
        kind = np.float64 if sizes.value_bytes == 8 else np.float32
        if sizes.n_values is None:
            return rng.random((self.n_nodes, sizes.n_features), dtype=kind)
        a_row = max(round(sizes.n_values / max(sizes.n_nodes, 1)), 1)
        columns = rng.integers(sizes.n_features, size=self.n_nodes * a_row)
        ends = np.arange(0, self.n_nodes * a_row + 1, a_row)
        values = rng.random(len(columns), dtype=kind)
        shape = (self.n_nodes, sizes.n_features)
        words = sparse.csr_array((values, columns, ends), shape=shape)
        words.sum_duplicates()
        return words

    @property
    def n_values(self) -> int:
        """Stored feature values."""
        return int(self.features.size)

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """As many edges per node as the graph has."""
        rng, sizes = np.random.default_rng(0), self.sizes
        wanted = min(sizes.n_stored * self.n_nodes // max(sizes.n_nodes, 1), MOST_STORED)
        return random_edges(rng, (self.n_nodes, self.n_nodes), max(wanted, 1))

    @cached_property
    def graph(self) -> Graph:
        """Both together."""
        return Graph(
            self.adjacency,
            self.features,
            np.arange(self.n_nodes),
            np.zeros(self.n_nodes, dtype=np.int64),
            np.arange(1),
            feature_norm=self.sizes.feature_norm,  # type: ignore[arg-type]
        )


def random_edges(
    rng: np.random.Generator, shape: tuple[int, int], n_stored: int
) -> sparse.csr_array:
    """Return ones at so many random places, some of them drawn twice."""
    places: tuple[NDArray[Any], ...] = tuple(
        rng.integers(size, size=n_stored, dtype=np.int32) for size in shape
    )
    values = np.ones(n_stored, dtype=np.float32)
    return sparse.coo_array((values, places), shape=shape).tocsr()
