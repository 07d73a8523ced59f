"""Which feature columns a model looks at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adagcn.graph import Features


def strongest_columns(
    blocks: Iterable[Features], n_features: int, max_features: int | Literal["all"]
) -> NDArray[np.int64] | None:
    """Return the columns with the largest sums of squares, in ascending order.

    Words that stand in few documents say little about a class and cost as much as any other: a
    tenth of the columns of a bag of words holds half of its squares. No label is looked at.

    Parameters
    ----------
    blocks : iterable of csr_array or ndarray of shape (n_rows, n_features)
        X, some rows at a time. Not modified.
    n_features : int
        Number of columns.
    max_features : int or "all"
        How many columns to keep; of equal columns the first ones.

    Returns
    -------
    ndarray of shape (max_features,) or None
        Kept columns; ``None`` where that is all of them.
    """
    if max_features == "all" or max_features >= n_features:
        return None
    energy = np.zeros(n_features)
    for block in blocks:
        energy = _with_squares(energy, block)
    strongest = np.argsort(-energy, kind="stable")[:max_features]
    return np.sort(strongest).astype(np.int64)


def _with_squares(energy: NDArray[np.float64], block: Features) -> NDArray[np.float64]:
    """Return the sums with the squares of more rows, added one row after the other.

    So the sums do not depend on how the rows are cut into blocks.
    """
    if isinstance(block, np.ndarray):
        squares = np.square(block, dtype=np.float64)
        return np.asarray(np.add.reduce(np.vstack([energy, squares]), axis=0))
    columns = np.concatenate([np.arange(len(energy)), block.indices])
    values = np.concatenate([energy, np.square(block.data, dtype=np.float64)])
    return np.asarray(np.bincount(columns, weights=values, minlength=len(energy)), dtype=float)
