"""How much of a margin came from which node.

Propagation is linear. The row of node i on hop l is z = s Σ_j P_l[i, j] x_j, with s the size that
the hop was brought to, and each layer says q(z)ᵀ z + d (:mod:`adagcn.explain.voters`). So node j
adds

    m_ij = Σ_l  s_l P_l[i, j] q_l(z)ᵀ x_j

to the margin of node i, and all nodes together what the features add. |m_ij| is at most
Σ_l s_l P_l[i, j] ‖q_l‖ ‖x_j‖; the nodes with the largest of these bounds are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.explain.features import VotingLayer
from adagcn.explain.operator_rows import OperatorRows, operator_rows
from adagcn.graph import Features

LOOKED_AT = 128  # nodes whose part is computed for each node, those with the largest bounds
_MOST_VALUES = 2**24  # of operator rows in memory at once; more would only leave the caches


@dataclass(frozen=True)
class Reach:
    """The nodes that carried most to one node, strongest first.

    Parameters
    ----------
    nodes : ndarray of shape (n_found,)
        Positions.
    hops_away : ndarray of shape (n_found,)
        Steps on the shortest way.
    weights : ndarray of shape (n_found,)
        Σ_l share_l P_l[i, j] / Σ_l share_l: the mean share of node j in the hops that vote.
    margins : ndarray of shape (n_found,)
        m_ij.
    """

    nodes: NDArray[np.intp]
    hops_away: NDArray[np.intp]
    weights: NDArray[np.float64]
    margins: NDArray[np.float64]

    def strongest(self, most: int) -> Reach:
        """Return the nodes with the largest |m_ij|; of equals the first."""
        return self.some(np.argsort(-np.abs(self.margins), kind="stable")[:most])

    def some(self, which: NDArray[Any]) -> Reach:
        """Return some of the nodes, by places or by a mask."""
        nodes, hops_away = self.nodes[which], self.hops_away[which]
        return Reach(nodes, hops_away, self.weights[which], self.margins[which])


@dataclass(frozen=True)
class Carriers:
    """What finds the nodes that carried the evidence.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_nodes, n_columns)
        x_j, as the hops start from them.
    transposed : csr_array of shape (n_nodes, n_nodes) or None
        Âᵀ; None: every hop is the input.
    teleport : float
        γ.
    labeled : ndarray of shape (n_labeled,)
        Positions of the labeled nodes, which are asked about as well.
    most : int
        How many nodes to return.
    """

    features: Features
    transposed: sparse.csr_array | None
    teleport: float
    labeled: NDArray[np.intp]
    most: int

    def find(
        self, nodes: NDArray[np.intp], layers: Sequence[VotingLayer]
    ) -> Iterator[tuple[Reach, Reach]]:
        """Yield for each node those that carried most to it, and the labeled ones among all.

        Parameters
        ----------
        nodes : ndarray of shape (n_explained,)
            Positions of the nodes that are explained, in the order of the layers' rows.
        layers : sequence of VotingLayer
            The layers whose votes are sums over columns.
        """
        n_nodes, sizes = self.features.shape[0], _row_sizes(self.features)
        n_some = max(1, _MOST_VALUES // (n_nodes * (len(layers) + 2)))
        for start in range(0, len(nodes), n_some):
            some = slice(start, start + n_some)
            hops = [layer.hop for layer in layers]
            rows = operator_rows(self.transposed, nodes[some], n_nodes, hops, self.teleport)
            yield from self._block(some, rows, layers, sizes)

    def _block(
        self,
        some: slice,
        rows: OperatorRows,
        layers: Sequence[VotingLayer],
        sizes: NDArray[np.float32],
    ) -> Iterator[tuple[Reach, Reach]]:
        """Yield the carriers of a block of nodes whose operator rows are given."""
        gradients = np.stack([layer.input_gradient(some) for layer in layers])
        norms = np.sqrt(np.einsum("lbc,lbc->lb", gradients, gradients))
        bounds = np.zeros(rows.weights.shape[1:], dtype=np.float32)
        for weights, norm in zip(rows.weights, norms, strict=True):
            bounds += weights * norm
        bounds *= sizes[:, None]
        by_node = np.ascontiguousarray(bounds.T)
        shares = np.array([layer.share for layer in layers])
        for place, bound in enumerate(by_node):
            labeled = self.labeled[_largest(bound[self.labeled])]
            looked_at = np.union1d(_largest(bound), labeled)
            whole = self._parts(looked_at, place, rows, gradients, shares)
            found = whole.some(np.isin(whole.nodes, labeled))
            yield whole.strongest(self.most), found.strongest(self.most)

    def _parts(
        self,
        looked_at: NDArray[np.intp],
        place: int,
        rows: OperatorRows,
        gradients: NDArray[np.float32],
        shares: NDArray[np.float64],
    ) -> Reach:
        """Return what some nodes carried to one."""
        weights = rows.weights[:, looked_at, place]
        reached = np.flatnonzero(weights.any(axis=0))
        looked_at, weights = looked_at[reached], weights[:, reached]
        said = np.asarray(self.features[looked_at] @ gradients[:, place].T)
        return Reach(
            looked_at,
            rows.hops_away[looked_at, place].astype(np.intp),
            np.asarray(shares @ weights / shares.sum()),
            np.einsum("jl,lj->j", said, weights, dtype=np.float64),
        )


def _largest(bound: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return where the largest bounds are, ascending."""
    if len(bound) <= LOOKED_AT:
        return np.arange(len(bound))
    return np.sort(np.argpartition(bound, -LOOKED_AT)[-LOOKED_AT:])


def _row_sizes(features: Features) -> NDArray[np.float32]:
    """Return ‖x_j‖ of every node."""
    if isinstance(features, np.ndarray):
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", features, features)), dtype=np.float32)
    squares = features.multiply(features).sum(axis=1)
    return np.sqrt(np.asarray(squares, dtype=np.float32).ravel())
