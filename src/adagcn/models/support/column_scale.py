"""Feature columns of one size: each divided by its standard deviation.

A table of ages and incomes has columns whose sizes differ by thousands. A network sees only the
largest of them, and its products overflow the range in which it learns. Where columns differ by
that much, they are brought to one size and this is said; a model remembers by what.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import ScaleNotice
from adagcn.graph import Features, Graph
from adagcn.propagation.hops import blocks_of

# Deviations that differ by more than this, or are larger, cannot be learned from as they are.
TOO_FAR_APART = 1000.0


def column_scale(features: Features) -> NDArray[np.float64]:
    """Return the mean and the standard deviation of each column, of shape (2, n_features).

    The mean of a sparse column counts as zero, so that zeros stay zeros; a constant column has
    deviation 1.
    """
    n_rows, n_columns = features.shape
    center = np.zeros(n_columns)
    if isinstance(features, np.ndarray):
        center = sum(np.sum(b, axis=0, dtype=np.float64) for b in blocks_of(features)) / n_rows
    squares = np.zeros(n_columns)
    for block in blocks_of(features):
        if isinstance(block, np.ndarray):
            squares += np.square(block - center).sum(axis=0)
        else:
            weights = np.square(block.data, dtype=np.float64)
            squares += np.bincount(block.indices, weights, minlength=n_columns)
    deviation = np.sqrt(squares / n_rows)
    deviation[deviation <= 1e-7 * np.abs(center)] = 1.0
    deviation[deviation == 0.0] = 1.0
    return np.stack([center, deviation])


def scaled_columns(features: Features, scale: NDArray[np.float64]) -> Features:
    """Return the features with each column less its mean and over its deviation."""
    center, deviation = scale
    if isinstance(features, np.ndarray):
        return np.asarray((features - center) / deviation, dtype=features.dtype)
    values = (features.data / deviation[features.indices]).astype(features.dtype)
    return sparse.csr_array((values, features.indices, features.indptr), shape=features.shape)


def needs_scaling(graph: Graph) -> bool:
    """Return whether columns differ so much in size that a network cannot learn; say so."""
    if not isinstance(graph.features, np.ndarray):
        return False  # counts and ones of a bag of words, as the studies use them
    deviation = column_scale(graph.features)[1]
    largest, smallest = int(np.argmax(deviation)), int(np.argmin(deviation))
    if deviation[largest] <= TOO_FAR_APART * min(deviation[smallest], 1.0):
        return False
    warnings.warn(
        f"the feature columns differ in size (standard deviation {deviation[largest]:,.3g} in "
        f"{_called(graph, largest)}, {deviation[smallest]:,.3g} in {_called(graph, smallest)}): "
        "each was divided by its own (feature_norm='standard'); feature_norm='none' leaves them",
        ScaleNotice,
        stacklevel=7,
    )
    return True


def _called(graph: Graph, column: int) -> str:
    if graph.feature_names is None:
        return f"column {column}"
    return repr(str(graph.feature_names[column]))


def checked_scale(stored: Any, n_features: int) -> NDArray[np.float64] | None:
    """Return the scale that a file holds if it can be one, else None."""
    fits = stored.shape == (2, n_features) and stored.dtype == np.float64
    return stored if fits and bool((stored[1] > 0).all()) else None
