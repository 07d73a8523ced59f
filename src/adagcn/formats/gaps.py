"""Missing features, filled in from the column or from the neighbors of a node."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.changes import Changes

Missing: TypeAlias = Literal["error", "mean", "neighbors"]

_FILLING_HOPS = 10  # how far a missing value is looked for
_TINY = 1e-30


def filled(values: Any, missing: Missing, adjacency: sparse.csr_array, changes: Changes) -> Any:
    """Return features without gaps.

    Parameters
    ----------
    values : ndarray or csr_array
        NaN where a value is missing.
    missing : {"mean", "neighbors"}
        What to fill in: the mean of the column, or first the mean of the neighbors that have it.
    adjacency : csr_array
        Whose neighbors are asked.
    changes : Changes
        Told how many were filled in.
    """
    n_missing = int(np.isnan(values.data if sparse.issparse(values) else values).sum())
    if not n_missing:
        return values
    dense = values.toarray() if sparse.issparse(values) else np.array(values)
    known = ~np.isnan(dense)
    if not known.any(axis=0).all():
        problem = "features has columns without any value, which nothing can be filled in from"
        got = np.flatnonzero(~known.any(axis=0))[:5].tolist()
        raise InputError("AGC-I1135", problem, got=f"columns {got}", fix="leave them out")
    means = np.where(known, dense, 0.0).sum(axis=0) / known.sum(axis=0)
    dense[~known] = 0.0
    from_neighbors = 0
    if missing == "neighbors":
        given, known = _neighbor_means(adjacency, dense, known)
        from_neighbors = n_missing - int((~known).sum())
        dense = given
    gaps = np.nonzero(~known)
    dense[gaps] = means[gaps[1]]
    how = "the mean of the column"
    if missing == "neighbors":
        how = f"neighbors ({from_neighbors:,}) or the mean of the column ({len(gaps[0]):,})"
    changes.note(f"{counted(n_missing, 'missing value')} of features filled in from {how}")
    return sparse.csr_array(dense) if sparse.issparse(values) else dense


def _neighbor_means(
    adjacency: sparse.csr_array, values: NDArray[Any], known: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return values with gaps filled from the neighbors that have them, hop after hop."""
    values, known = values.copy(), known.copy()
    for _ in range(_FILLING_HOPS):
        if known.all():
            break
        weights = adjacency @ known.astype(np.float32)
        reached = (weights > 0) & ~known
        if not reached.any():
            break
        means = (adjacency @ np.where(known, values, 0.0)) / np.maximum(weights, _TINY)
        values[reached] = means[reached]
        known |= reached
    return values, known
