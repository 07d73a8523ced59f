"""Personalized PageRank over the propagator, and its expansion by hops (Proposition 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg

from adagcn.propagation.hops import hop_stream


def power_iteration_ppr(
    propagator: sparse.csr_array, signal: NDArray[Any], *, teleport: float, n_steps: int
) -> NDArray[Any]:
    """Return APPNP's Z^(L): L times Z ← (1 − γ) Â Z + γ H, from Z = H.

    Parameters
    ----------
    propagator : csr_array of shape (n_nodes, n_nodes)
        Â.
    signal : ndarray of shape (n_nodes, n_columns)
        H, what is spread over the graph.
    teleport : float
        γ.
    n_steps : int
        L.
    """
    stream = hop_stream(propagator, signal, teleport=teleport)
    for _ in range(n_steps):
        next(stream)
    return np.asarray(next(stream).rows(slice(None)))


def exact_ppr(
    propagator: sparse.csr_array, signal: NDArray[Any], *, teleport: float
) -> NDArray[Any]:
    """Return PPNP's Z = γ (I − (1 − γ) Â)^−1 H by a sparse direct solve."""
    n_nodes = propagator.shape[0]
    system = sparse.eye_array(n_nodes) - (1.0 - teleport) * propagator
    solution = linalg.spsolve(sparse.csc_array(system), teleport * signal)
    return np.asarray(solution).reshape(signal.shape)


def appnp_coefficients(teleport: float, n_steps: int) -> NDArray[np.float64]:
    """Return the weight of Â^l H in APPNP's Z^(L), for l = 0 … L; they sum to one.

    Proposition 1: γ(1 − γ)^l for l < L, and (1 − γ)^L for the last hop.
    """
    coefficients = teleport * (1.0 - teleport) ** np.arange(n_steps + 1, dtype=np.float64)
    coefficients[-1] = (1.0 - teleport) ** n_steps
    return coefficients
