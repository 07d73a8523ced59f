"""How large the features of a hop are made before a learner sees them, and a hop's digest."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from adagcn.errors import InputError
from adagcn.graph import Features
from adagcn.propagation.hops import Hop

HopScale = Literal["none", "row_l2", "hop"]


def check_magnitude(features: Features) -> None:
    """Refuse features so large that their squares do not add up to a finite number."""
    values = features if isinstance(features, np.ndarray) else features.data
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    most = math.sqrt(float(np.finfo(values.dtype).max) / max(values.size, 1))
    if not largest <= most:
        raise InputError(
            "AGC-I404",
            f"features must be below {most:.0e} in size, or sums of their squares leave the range "
            f"of {values.dtype}",
            got=largest,
            fix="divide the features by their scale, or use feature_norm='l1'",
        )


def hop_factor(hop: Hop, input_size: float | None, how: HopScale) -> float:
    """Return the number that all features of this hop are multiplied by.

    ``"hop"`` brings every hop back to the size of the input features: smoothing shrinks features,
    and a learner that starts from the parameters of the hop before should find inputs of the same
    size. The factor belongs to the fitted layer, so that another graph is scaled as the first was.
    """
    if how != "hop" or input_size is None:
        return 1.0
    current = hop.size()
    return input_size / current if current > 0.0 else 1.0


class GivesRows(Protocol):
    """Whatever has the rows of a hop."""

    def rows(self, nodes: Any) -> Features:
        """Return the rows of some nodes, gathered for the caller."""


def scaled_rows(hop: GivesRows, nodes: NDArray[Any], factor: float, how: HopScale) -> Features:
    """Return some rows of a hop as the learner sees them.

    Parameters
    ----------
    hop : Hop or HopRows
        The hop.
    nodes : ndarray of shape (n_rows,)
        Positions of the nodes.
    factor : float
        What :func:`hop_factor` gave for the hop.
    how : {"none", "row_l2", "hop"}
        ``"row_l2"`` divides each row by its Euclidean norm (a zero row stays zero); ``"hop"``
        multiplies all by ``factor``.
    """
    rows = hop.rows(nodes)  # gathered for this purpose: scaled in place
    if how == "row_l2":
        scaled = normalize(rows, norm="l2", axis=1, copy=False)
        return sparse.csr_array(scaled) if sparse.issparse(scaled) else scaled
    if how == "hop":
        rows *= np.asarray(factor, dtype=rows.dtype)
    return rows


def hop_digest(hop: Hop) -> str:
    """Return the SHA-256 of the values of a hop, row by row: the same however it is kept."""
    total = hashlib.sha256(repr(hop.shape).encode())
    for block in hop.blocks():
        dense = block if isinstance(block, np.ndarray) else block.toarray()
        total.update(np.ascontiguousarray(dense, dtype=dense.dtype.newbyteorder("<")).data)
    return total.hexdigest()
