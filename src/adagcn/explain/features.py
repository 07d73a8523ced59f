"""How much of a margin came from which feature column.

Layer l says q_l(z)ᵀ z + d of the row z that it sees (:mod:`adagcn.explain.voters`), and its share
c_l of that counts: column k adds Σ_l c_l q_l,k z_l,k. z is the normalized and propagated row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.explain.voters import Voter
from adagcn.graph import Features


@dataclass(frozen=True)
class VotingLayer:
    """A layer of the ensemble on the nodes that are explained.

    Parameters
    ----------
    hop : int
        Its hop.
    share : float
        What its log-odds count in the margin: c_l / (T Σ c).
    rows : csr_array or ndarray of shape (n_nodes, n_columns)
        z: the rows of the hop as the layer sees them.
    size : ndarray of shape (n_nodes,)
        What each row was multiplied by after it was propagated.
    voters : tuple of Voter
        Its learners on these rows, each with its part of the margin.
    """

    hop: int
    share: float
    rows: Features
    size: NDArray[np.float64]
    voters: tuple[Voter, ...]

    @property
    def is_sum(self) -> bool:
        """Whether some of what the layer says is a sum over columns."""
        return any(voter.units is not None for voter in self.voters)

    def gradient(self, some: slice) -> NDArray[Any]:
        """Return c_l q(z) of some nodes, of shape (n_some, n_columns)."""
        parts = [voter.gradient(some) for voter in self.voters if voter.units is not None]
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)

    def input_gradient(self, some: slice) -> NDArray[np.float32]:
        """Return the same by the propagated rows, before they were brought to their size."""
        size = self.size[some, None].astype(np.float32)
        return np.asarray(self.gradient(some) * size, dtype=np.float32)


@dataclass(frozen=True)
class ColumnParts:
    """What the columns add to margins.

    Parameters
    ----------
    margins : ndarray of shape (n_nodes, n_columns)
        Σ_l c_l q_l,k z_l,k.
    values : ndarray of shape (n_nodes, n_columns)
        Σ_l c_l z_l,k / Σ_l c_l: the mean of what the layers saw.
    """

    margins: NDArray[np.float64]
    values: NDArray[np.float64]

    def strongest(self, most: int) -> NDArray[np.intp]:
        """Return the columns with the largest parts of every node, of shape (n_nodes, most).

        Of equals the first; fewer where there are fewer columns.
        """
        n_columns = self.margins.shape[1]
        most = min(most, n_columns)
        sizes = -np.abs(self.margins)
        found = np.arange(n_columns)[None, :].repeat(len(sizes), axis=0)
        if most < n_columns:
            found = np.sort(np.argpartition(sizes, most, axis=1)[:, :most], axis=1)
        order = np.argsort(np.take_along_axis(sizes, found, axis=1), axis=1, kind="stable")
        return np.asarray(np.take_along_axis(found, order, axis=1))


def column_parts(layers: Sequence[VotingLayer], n_nodes: int, n_columns: int) -> ColumnParts:
    """Return what each column adds to the margins of all nodes, over layers that are sums."""
    margins = np.zeros((n_nodes, n_columns))
    values = np.zeros((n_nodes, n_columns))
    for layer in layers:
        rows = layer.rows if isinstance(layer.rows, np.ndarray) else layer.rows.toarray()
        margins += layer.gradient(slice(None)) * rows
        values += layer.share * rows
    total = sum(layer.share for layer in layers)
    return ColumnParts(margins, values / total if total else values)
