"""Rows of features divided by their L1 norm, and the square roots of what that gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

_SMALLEST_NORM = 1e-12
_VALUES_AT_ONCE = 2**20


def normalize_rows_l1(features: Any) -> Any:
    """Return the features with each row divided by max(its L1 norm, 1e-12).

    Parameters
    ----------
    features : ndarray or sparse matrix of shape (n_nodes, n_features)
        Floats; other numbers are converted to float32.

    Returns
    -------
    ndarray or csr_array
        The same kind and float type; rows of zeros stay.
    """
    if features.dtype.kind != "f":
        features = features.astype(np.float32)
    if sparse.issparse(features):
        return _normalize_sparse(sparse.csr_array(features))
    result = np.empty_like(features)
    for rows in _some_rows(*features.shape):
        norms = np.abs(features[rows]).sum(axis=1, dtype=np.float64, keepdims=True)
        result[rows] = features[rows] / np.maximum(norms, _SMALLEST_NORM)
    return result


def hellinger_rows(features: Any) -> Any:
    """Return sign(x) √(|x| / ‖row‖₁): rows of Euclidean norm one, in which no word outweighs all.

    The Hellinger transformation of counts. Dividing a row by its L1 norm first changes nothing, so
    that features may come as measured or already divided.
    """
    shares = normalize_rows_l1(features)
    if sparse.issparse(shares):
        data = _signed_roots(shares.data)
        return sparse.csr_array((data, shares.indices, shares.indptr), shape=shares.shape)
    return _signed_roots(shares)


def _signed_roots(values: Any) -> Any:
    """Return sign(x) √|x|, with memory for the result alone: features can be large."""
    roots = np.abs(values)
    np.sqrt(roots, out=roots)
    return np.copysign(roots, values, out=roots)


def _normalize_sparse(features: sparse.csr_array) -> sparse.csr_array:
    data = np.empty_like(features.data)
    for rows in _some_rows(*features.shape):
        norms = np.asarray(abs(features[rows].astype(np.float64)).sum(axis=1)).ravel()
        ends = features.indptr[rows.start : rows.stop + 1]
        per_entry = np.repeat(np.maximum(norms, _SMALLEST_NORM), np.diff(ends))
        stored = slice(int(ends[0]), int(ends[-1]))
        data[stored] = features.data[stored] / per_entry
    return sparse.csr_array((data, features.indices, features.indptr), shape=features.shape)


def _some_rows(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield rows that are divided together; whole, their norms would cost a copy of all."""
    n_some = max(_VALUES_AT_ONCE // max(n_columns, 1), 1)
    return (slice(start, min(start + n_some, n_rows)) for start in range(0, n_rows, n_some))
