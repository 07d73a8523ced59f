"""The hops X, ÂX, Â²X, … one at a time, behind one protocol (Algorithm 1, line 8).

Whoever works with hops knows a :class:`Hop` and nothing of how it is kept. In memory a hop is a
:class:`MemoryHop`, sparse or dense, and later :class:`~adagcn.propagation.blocks.ColumnBlocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from adagcn.errors import InputError
from adagcn.graph import Features
from adagcn.propagation.blocks import (
    BlockedPropagator,
    as_dense_hop,
    root_mean_square,
    row_blocks,
    used_up,
)

# A sparse-sparse product of scipy costs about twenty times as much per stored value as a
# sparse-dense one does per entry, so a hop becomes dense when one entry in twenty is filled.
DENSE_ABOVE = 0.05


class Hop(Protocol):
    """Features of all nodes after some steps of propagation, wherever they are kept."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of features."""

    def rows(self, nodes: Any) -> Features:
        """Return the rows of some nodes, gathered for the caller."""

    def blocks(self) -> Iterator[Features]:
        """Yield all rows in the order of the nodes, some at a time."""

    def size(self) -> float:
        """Return the root of the mean squared Euclidean norm of the rows."""

    def next(self) -> Hop:
        """Return the next hop, once; this one may be gone afterwards."""


def hop_stream(
    propagator: sparse.csr_array | None, features: Features, *, teleport: float = 0.0
) -> Iterator[Hop]:
    """Yield the features after 0, 1, 2, … hops, without end.

    Hop 0 is X itself, and X^(l+1) = (1 − γ) Â X^(l) + γ X with γ = ``teleport``; γ = 0 gives the
    paper's Â^l X (Algorithm 1, line 8). A hop can be read until the next one is asked for: only the
    newest is kept (and X where γ > 0).

    Parameters
    ----------
    propagator : csr_array of shape (n_nodes, n_nodes) or None
        Â; ``None`` stands for the identity: every hop is X.
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X. Not modified.
    teleport : float in [0, 1)
        Share of the input features that every hop keeps.
    """
    make = None if propagator is None else lambda: propagator
    return stream_from(first_hop(make, features, teleport=teleport))


def stream_from(hop: Hop) -> Iterator[Hop]:
    """Yield a hop and those after it, without end."""
    while True:
        yield hop
        hop = hop.next()


def first_hop(
    make_propagator: Callable[[], sparse.csr_array] | None, features: Features, *, teleport: float
) -> MemoryHop:
    """Return hop 0 of a stream; see :func:`hop_stream`."""
    if not 0.0 <= teleport < 1.0:
        raise InputError(
            "AGC-I402",
            "teleport must be at least 0 and below 1",
            got=teleport,
            fix="0 gives the paper's hops, 0.1 is usual where teleport is wanted",
        )
    features = in_cheaper_form(features)
    steps = None if make_propagator is None else _Steps(make_propagator, features, teleport)
    return MemoryHop(features, steps)


class MemoryHop:
    """A hop as one matrix: sparse while that is the cheaper form, dense from then on.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_nodes, n_features)
        The rows.
    steps : _Steps or None
        What leads to the next hop; None: every hop is this one.
    """

    def __init__(self, features: Features, steps: _Steps | None) -> None:
        self._features = features
        self._steps = steps
        self._used_up = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of features."""
        n_nodes, n_features = self._features.shape
        return n_nodes, n_features

    def rows(self, nodes: Any) -> Features:
        """Return the rows of some nodes."""
        return self._features[nodes]

    def blocks(self) -> Iterator[Features]:
        """Yield all rows, some at a time."""
        return blocks_of(self._features)

    def size(self) -> float:
        """Return the root of the mean squared Euclidean norm of the rows."""
        stored = self._features
        values = stored if isinstance(stored, np.ndarray) else stored.data
        return root_mean_square([values], stored.shape[0])

    def next(self) -> Hop:
        """Return (1 − γ) Â times this hop, plus γ X."""
        if self._used_up:
            raise used_up()
        if self._steps is None:
            return self
        steps, self._steps, self._used_up = self._steps, None, True
        if not isinstance(self._features, np.ndarray):
            return MemoryHop(in_cheaper_form(steps.sparse_step(self._features)), steps)
        blocked = BlockedPropagator(steps.propagator(), steps.features, teleport=steps.teleport)
        del steps  # the memory of a graph
        return blocked.step(self._features)


class _Steps:
    """Â, X and γ: what the hops of one stream share while they are matrices."""

    def __init__(
        self, make: Callable[[], sparse.csr_array], features: Features, teleport: float
    ) -> None:
        self._make: Callable[[], sparse.csr_array] | None = make
        self._propagator: sparse.csr_array | None = None
        self.features = features
        self.teleport = teleport

    def propagator(self) -> sparse.csr_array:
        """Return Â, made once."""
        if self._make is not None:
            self._propagator, self._make = self._make(), None
        return self._propagator

    def sparse_step(self, hop: sparse.csr_array) -> sparse.csr_array:
        """Return the next hop of a sparse one."""
        moved = self.propagator() @ hop
        return (
            (1.0 - self.teleport) * moved + self.teleport * self.features
            if self.teleport
            else moved
        )


def blocks_of(features: Features) -> Iterator[Features]:
    """Yield all rows of a matrix, some at a time; as views where they are dense."""
    n_rows, n_features = features.shape
    rows = row_blocks(n_rows, n_features * features.dtype.itemsize)
    return (features[some] for some in rows)


def in_cheaper_form(features: Features) -> Features:
    """Return the features dense if more than ``DENSE_ABOVE`` of them are stored."""
    if isinstance(features, np.ndarray):
        return features
    n_entries = features.shape[0] * features.shape[1]
    return as_dense_hop(features) if features.nnz > DENSE_ABOVE * n_entries else features
