"""The hops X, ÂX, Â²X, … one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import TypeAlias

import numpy as np
from scipy import sparse

from adagcn.errors import InputError
from adagcn.graph import Features
from adagcn.propagation.blocks import BlockedPropagator, ColumnBlocks

# A sparse-sparse product of scipy costs about twenty times as much per stored value as a
# sparse-dense one does per entry, so a hop becomes dense when one entry in twenty is filled.
DENSE_ABOVE = 0.05

HopFeatures: TypeAlias = "Features | ColumnBlocks"


def hop_stream(
    propagator: sparse.csr_array | None, features: Features, *, teleport: float = 0.0
) -> Iterator[HopFeatures]:
    """Yield the features after 0, 1, 2, … hops, without end.

    Hop 0 is X itself, and X^(l+1) = (1 − γ) Â X^(l) + γ X with γ = ``teleport``; γ = 0 gives the
    paper's Â^l X (Algorithm 1, line 8). Whatever its form, ``hop[nodes]`` gives rows of a hop and
    ``hop[:]`` all of them. A hop can be read until the next one is asked for: only the newest is
    kept (and X where γ > 0).

    Parameters
    ----------
    propagator : csr_array of shape (n_nodes, n_nodes) or None
        Â; ``None`` stands for the identity: every hop is X.
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X. Not modified.
    teleport : float in [0, 1)
        Share of the input features that every hop keeps.

    Yields
    ------
    csr_array, ndarray or ColumnBlocks of shape (n_nodes, n_features)
        The features of hop 0, 1, 2, …: sparse while that is the cheaper form, dense from then on.
    """
    if not 0.0 <= teleport < 1.0:
        raise InputError(
            "AGC-I402",
            "teleport must be at least 0 and below 1",
            got=teleport,
            fix="0 gives the paper's hops, 0.1 is usual where teleport is wanted",
        )
    if propagator is None:
        return repeat(in_cheaper_form(features))
    return _hops(propagator, in_cheaper_form(features), teleport)


def _hops(
    propagator: sparse.csr_array, features: Features, teleport: float
) -> Iterator[HopFeatures]:
    sparse_hop = features
    while not isinstance(sparse_hop, np.ndarray):
        yield sparse_hop
        sparse_hop = propagator @ sparse_hop
        if teleport:
            sparse_hop = (1.0 - teleport) * sparse_hop + teleport * features
        sparse_hop = in_cheaper_form(sparse_hop)
    hop: HopFeatures = sparse_hop
    blocked = BlockedPropagator(propagator, features, teleport=teleport)
    del propagator, features, sparse_hop  # the memory of a graph, and perhaps of a hop
    while True:
        yield hop
        hop = blocked.step(hop)


def in_cheaper_form(features: Features) -> Features:
    """Return the features dense if more than ``DENSE_ABOVE`` of them are stored."""
    if isinstance(features, np.ndarray):
        return features
    n_entries = features.shape[0] * features.shape[1]
    return features.toarray() if features.nnz > DENSE_ABOVE * n_entries else features
