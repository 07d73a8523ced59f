"""The hops X, ÂX, Â²X, … one at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from adagcn.errors import InputError
from adagcn.graph import Features

# A sparse-sparse product of scipy costs about twenty times as much per stored value as a
# sparse-dense one does per entry, so a hop becomes dense when one entry in twenty is filled.
DENSE_ABOVE = 0.05

_ROWS_AT_ONCE = 1024  # of a sum in place: what is made besides stays in the cache


def hop_stream(
    propagator: sparse.csr_array | None, features: Features, *, teleport: float = 0.0
) -> Iterator[Features]:
    """Yield the features after 0, 1, 2, … hops, without end.

    Hop 0 is X itself, and X^(l+1) = (1 − γ) Â X^(l) + γ X with γ = ``teleport``; γ = 0 gives the
    paper's Â^l X (Algorithm 1, line 8). Only the newest hop is kept (and X where γ > 0). A hop is
    sparse while that is the cheaper form and a dense array from then on.

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
    csr_array or ndarray of shape (n_nodes, n_features)
        The features of hop 0, 1, 2, …
    """
    if not 0.0 <= teleport < 1.0:
        raise InputError(
            "AGC-I402",
            "teleport must be at least 0 and below 1",
            got=teleport,
            fix="0 gives the paper's hops, 0.1 is usual where teleport is wanted",
        )
    return _hops(propagator, _in_cheaper_form(features), teleport)


def _hops(
    propagator: sparse.csr_array | None, features: Features, teleport: float
) -> Iterator[Features]:
    hop_features = features
    start = features if teleport else None  # without teleport X itself may be forgotten
    del features
    while True:
        yield hop_features
        if propagator is None:
            continue
        hop_features = _in_cheaper_form(propagator @ hop_features)
        if start is not None:
            hop_features = _in_cheaper_form(_teleported(hop_features, start, teleport))


def _teleported(hop_features: Features, start: Features, teleport: float) -> Features:
    """Return (1 − γ) hop + γ X, in place where the hop is dense: it is as large as memory gets."""
    hop_features *= 1.0 - teleport
    if not isinstance(hop_features, np.ndarray):
        return hop_features + teleport * start
    if isinstance(start, np.ndarray):
        for first in range(0, len(start), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            hop_features[rows] += teleport * start[rows]
    else:
        rows_stored = np.repeat(np.arange(start.shape[0]), np.diff(start.indptr))
        hop_features[rows_stored, start.indices] += teleport * start.data  # each entry stored once
    return hop_features


def _in_cheaper_form(features: Features) -> Features:
    """Return the features dense if more than ``DENSE_ABOVE`` of them are stored."""
    if isinstance(features, np.ndarray):
        return features
    n_entries = features.shape[0] * features.shape[1]
    return features.toarray() if features.nnz > DENSE_ABOVE * n_entries else features
