"""Which feature columns a model looks at."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adagcn.graph import Features


def strongest_columns(
    features: Features, max_features: int | Literal["all"]
) -> NDArray[np.int64] | None:
    """Return the columns with the largest sums of squares, in ascending order.

    Words that stand in few documents say little about a class and cost as much as any other: a
    tenth of the columns of a bag of words holds half of its squares. No label is looked at.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_nodes, n_features)
        X. Not modified.
    max_features : int or "all"
        How many columns to keep; of equal columns the first ones.

    Returns
    -------
    ndarray of shape (max_features,) or None
        Kept columns; ``None`` where that is all of them.
    """
    if max_features == "all" or max_features >= features.shape[1]:
        return None
    if isinstance(features, np.ndarray):
        energy = np.einsum("ij,ij->j", features, features, dtype=np.float64)
    else:
        squares = np.square(features.data, dtype=np.float64)
        energy = np.bincount(features.indices, weights=squares, minlength=features.shape[1])
    strongest = np.argsort(-energy, kind="stable")[:max_features]
    return np.sort(strongest).astype(np.int64)
