"""Other libraries' files as one ``.npz`` file, with the split that they come with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.data.nodesets import Split
from adagcn.formats.npz import write_npz

STORED_SPLIT = ("split.train", "split.stop", "split.score")


def write_converted(
    out: str | os.PathLike[str],
    adjacency: sparse.csr_array,
    features: NDArray[Any] | sparse.csr_array,
    labels: NDArray[np.int64],
    split: Split,
) -> Path:
    """Write a graph and its public split to one ``.npz`` file.

    Parameters
    ----------
    out : str or path-like
        The file to write.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        The edges.
    features : ndarray or csr_array of shape (n_nodes, n_features)
        Dense features are stored dense.
    labels : ndarray of shape (n_nodes,)
        −1 where unknown.
    split : Split
        The file's ``public`` split.

    Returns
    -------
    Path
        The file written.
    """
    split.check_range(len(labels))
    nodes = (split.train_nodes, split.stop_nodes, split.score_nodes)
    arrays = {**_matrix_arrays("adj_matrix", adjacency), **_matrix_arrays("attr_matrix", features)}
    arrays |= {"labels": labels, **dict(zip(STORED_SPLIT, nodes, strict=True))}
    write_npz(out, arrays)
    return Path(out)


def checked_csr(parts: Mapping[str, Any], shape: Iterable[Any]) -> sparse.csr_array:
    """Return a CSR matrix from untrusted arrays.

    Parameters
    ----------
    parts : mapping
        The arrays ``data``, ``indices`` and ``indptr``.
    shape : iterable of int
        Rows and columns.

    Returns
    -------
    csr_array
        With sorted columns, duplicates summed.

    Raises
    ------
    ValueError
        If the arrays contradict each other.
    """
    data, indices, indptr = (np.asarray(parts[key]) for key in ("data", "indices", "indptr"))
    # SciPy's own check passes over a last pointer below zero and crashes on it later.
    if indptr.dtype.kind not in "iu" or indptr.size == 0 or not 0 <= indptr[-1] <= len(data):
        raise ValueError("row pointers beyond the data")
    rows, columns = (int(size) for size in shape)
    matrix = sparse.csr_array((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    if (np.diff(indptr) < 0).any():
        raise ValueError("row pointers that decrease")
    matrix.sum_duplicates()
    return matrix


def _matrix_arrays(key: str, matrix: NDArray[Any] | sparse.csr_array) -> dict[str, NDArray[Any]]:
    if not sparse.issparse(matrix):
        return {key: np.asarray(matrix, dtype=np.float32)}
    matrix = sparse.csr_array(matrix, dtype=np.float32)
    matrix.sort_indices()
    return {
        f"{key}.data": matrix.data,
        f"{key}.indices": matrix.indices,
        f"{key}.indptr": matrix.indptr,
        f"{key}.shape": np.array(matrix.shape, dtype=np.int64),
    }
