"""How large the features of a hop are made before a learner sees them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from adagcn.graph import Features
from adagcn.propagation.blocks import ColumnBlocks
from adagcn.propagation.hops import HopFeatures

HopScale = Literal["none", "row_l2", "hop"]


def hop_factor(hop_features: HopFeatures, input_size: float, how: HopScale) -> float:
    """Return the number that all features of this hop are multiplied by.

    ``"hop"`` brings every hop back to the size of the input features, measured by
    :func:`size`: smoothing shrinks features, and a learner that starts from the parameters of the
    hop before should find inputs of the same size. The factor belongs to the fitted layer, so that
    another graph is scaled as the first one was.
    """
    if how != "hop":
        return 1.0
    current = size(hop_features)
    return input_size / current if current > 0.0 else 1.0


def scale_hop(rows: Features, factor: float, how: HopScale) -> Features:
    """Return some rows of a hop as the learner sees them.

    Parameters
    ----------
    rows : csr_array or ndarray of shape (n_rows, n_features)
        Any rows of the hop, gathered for this purpose: they are scaled in place.
    factor : float
        What :func:`hop_factor` gave for the hop.
    how : {"none", "row_l2", "hop"}
        ``"row_l2"`` divides each row by its Euclidean norm (a zero row stays zero); ``"hop"``
        multiplies all by ``factor``.
    """
    if how == "row_l2":
        scaled = normalize(rows, norm="l2", axis=1, copy=False)
        return sparse.csr_array(scaled) if sparse.issparse(scaled) else scaled
    if how == "hop":
        rows *= np.asarray(factor, dtype=rows.dtype)
    return rows


def size(features: HopFeatures) -> float:
    """Return the root of the mean squared Euclidean norm of the rows."""
    if isinstance(features, ColumnBlocks):
        norm = np.hypot.reduce([np.linalg.norm(block) for block in features.blocks])
    else:
        norm = np.linalg.norm(features if isinstance(features, np.ndarray) else features.data)
    return float(norm / np.sqrt(features.shape[0]))
