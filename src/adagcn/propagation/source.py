"""Where a stream of hops starts: features and a graph, in memory or in files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from adagcn.graph import Features
from adagcn.propagation.hops import Hop, first_hop, stream_from
from adagcn.propagation.normalize import Normalization, make_propagator


class HopSource(Protocol):
    """Where hops come from: a graph in memory, or one in files."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the features."""

    def first(self) -> Hop:
        """Return hop 0, from which a new stream of hops starts."""


class ResumableSource(HopSource, Protocol):
    """Where the hops of a fit come from, which may start at a later hop."""

    @property
    def n_columns(self) -> int:
        """Number of columns of every hop."""

    def at(self, number: int) -> Hop:
        """Return a hop, from which a stream goes on."""

    def keep(self) -> None:
        """Leave the files of streams that have not ended, for later ones to go on with."""


@dataclass(frozen=True)
class MemorySource:
    """Hops of features that are in memory.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X. Not modified.
    adjacency : csr_array of shape (n_nodes, n_nodes) or None
        A; ``None``: there is no graph, and every hop is X.
    normalization : {"symmetric", "random_walk"}
        How A becomes Â.
    teleport : float in [0, 1)
        γ: share of the input features that every hop keeps.
    """

    features: Features
    adjacency: sparse.csr_array | None
    normalization: Normalization = "symmetric"
    teleport: float = 0.0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the features."""
        return self.features.dtype

    def first(self) -> Hop:
        """Return hop 0. Â is made when the next hop is asked for, and belongs to the hops alone."""
        adjacency = self.adjacency
        if adjacency is None:
            return first_hop(None, self.features, teleport=self.teleport)

        def make() -> sparse.csr_array:
            return make_propagator(adjacency, self.normalization, dtype=self.dtype)

        return first_hop(make, self.features, teleport=self.teleport)

    @property
    def n_columns(self) -> int:
        """Number of columns of every hop."""
        return int(self.features.shape[1])

    def at(self, number: int) -> Hop:
        """Return a hop, after those before it."""
        return next(islice(stream_from(self.first()), number, None))

    def keep(self) -> None:
        """Do nothing: there are no files."""
