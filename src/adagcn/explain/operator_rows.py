"""Rows of the hop operator: how much of every node's features is in the hop of one node.

Hop l of node i is Σ_j P_l[i, j] x_j with P_0 = I and P_{l+1} = (1 − γ) Â P_l + γ I. Â commutes with
P_l, so that the row p_l of node i follows p_{l+1} = (1 − γ) p_l Â + γ e_iᵀ: its transpose is a
stream of hops of the indicator e_i under Âᵀ. It starts with one value and reaches the neighborhood,
step by step; no power of Â is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.propagation.hops import Hop, hop_stream

_FARTHEST = 255  # steps that are counted


@dataclass(frozen=True)
class OperatorRows:
    """The rows of some nodes in the hops that count, each as a column, and how far each reaches.

    Parameters
    ----------
    weights : ndarray of shape (n_hops, n_nodes, n_some), float32
        P_l[i, j] for each hop l that was asked for, at the place of j and i.
    hops_away : ndarray of shape (n_nodes, n_some), uint8
        Steps on the shortest way from i to j; one more than the last hop where there is no way that
        short, and at most 255.
    """

    weights: NDArray[np.float32]
    hops_away: NDArray[np.uint8]


def operator_rows(
    transposed: sparse.csr_array | None,
    nodes: NDArray[np.intp],
    n_nodes: int,
    hops: Sequence[int],
    teleport: float,
) -> OperatorRows:
    """Return the rows of some nodes in some hops.

    Parameters
    ----------
    transposed : csr_array of shape (n_nodes, n_nodes) or None
        Âᵀ; None stands for the identity.
    nodes : ndarray of shape (n_some,)
        Positions.
    n_nodes : int
        Number of nodes.
    hops : sequence of int
        Which hops to keep, ascending.
    teleport : float
        γ.
    """
    places = {hop: place for place, hop in enumerate(hops)}
    ones = (np.ones(len(nodes), dtype=np.float32), (nodes, np.arange(len(nodes))))
    indicators = sparse.csr_array(ones, shape=(n_nodes, len(nodes)))
    weights = np.empty((len(hops), n_nodes, len(nodes)), dtype=np.float32)
    hops_away = np.zeros((n_nodes, len(nodes)), dtype=np.uint8)
    current = np.empty((n_nodes, len(nodes)), dtype=np.float32)
    stream = hop_stream(transposed, indicators, teleport=teleport)
    for number, hop in enumerate(islice(stream, hops[-1] + 1)):
        rows = weights[places[number]] if number in places else current
        _fill(rows, hop)
        if number < _FARTHEST:
            hops_away += rows == 0.0  # a node is reached from the first hop on that is not zero
    return OperatorRows(weights, hops_away)


def _fill(array: NDArray[np.float32], hop: Hop) -> None:
    """Write all rows of a hop into an array."""
    start = 0
    for block in hop.blocks():
        dense = block if isinstance(block, np.ndarray) else block.toarray()
        array[start : start + len(dense)] = dense
        start += len(dense)
