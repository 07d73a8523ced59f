"""Writes the adjacency of a store from a table of pairs of positions, sorted on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.array_files import ArrayFile, MatrixFiles, growing_array, stored_file
from adagcn.formats.graph_store import ArrayParts, StoredFile, write_array
from adagcn.formats.scratch_database import ScratchDatabase
from adagcn.formats.sorted_edges import EdgeCounts, SortedPart, adjacency_entries
from adagcn.formats.stored_nodes import StoredNodes


def write_adjacency(
    folder: Path, nodes: StoredNodes, rules: EdgeRules, counts: EdgeCounts
) -> dict[str, StoredFile]:
    """Write the three arrays of the adjacency.

    Parameters
    ----------
    folder : Path
        The folder of the store.
    nodes : StoredNodes
        The nodes. Their database holds ``ends``, the edges, and ``pairs``: numbers ``s`` and ``t``
        of their ends, and if there are weights ``w`` (0 for edges to leave out) and, where their
        order matters, ``n``.
    rules : EdgeRules
        What to do with edges that are not simple.
    counts : EdgeCounts
        Gets what was found.

    Returns
    -------
    dict
        The files by the names of their arrays.
    """
    paths = {name: folder / f"adjacency.{name}.npy" for name in ("indptr", "indices", "values")}
    base, n_nodes, places = nodes.base, nodes.n_nodes, nodes.places
    n_pairs = base.row("SELECT count(*) FROM ends")[0]
    # As SciPy chooses for the matrix in memory, unless merging alone brings it below 2³¹ entries.
    index_type = sparse.get_index_dtype(maxval=max(2 * n_pairs, n_nodes))
    per_row = np.zeros(n_nodes + 1, dtype=np.int64)
    parts = _sorted(base, nodes.span, counts)
    with (
        growing_array(paths["indices"], index_type) as indices,
        growing_array(paths["values"], np.float32) as values,
    ):
        for rows, columns, weights in adjacency_entries(parts, nodes.span, rules, counts):
            # Ids that are numbered only now were sorted all the same: positions are in their order.
            indices.append((columns if places is None else places[columns]).astype(index_type))
            values.append(weights)
            _count(per_row, rows if places is None else places[rows])
    if places is not None:
        counts.looped = places[counts.looped].tolist()
    indptr = np.cumsum(per_row, out=per_row).astype(index_type, copy=False)
    first = write_array(paths["indptr"], ArrayParts.of(indptr))
    return {
        "adjacency.indptr": first,
        **{f"adjacency.{name}": stored_file(paths[name]) for name in ("indices", "values")},
    }


def write_identity(folder: Path, n_nodes: int) -> dict[str, StoredFile]:
    """Write the features of a graph that has none: each node is a column of its own."""
    index_type = sparse.get_index_dtype(maxval=n_nodes)
    arrays = {
        "indptr": ArrayParts((n_nodes + 1,), index_type, _ranges(n_nodes + 1, index_type)),
        "indices": ArrayParts((n_nodes,), index_type, _ranges(n_nodes, index_type)),
        "values": ArrayParts(
            (n_nodes,),
            np.float32,
            (np.ones(len(part), np.float32) for part in _ranges(n_nodes, index_type)),
        ),
    }
    return {
        f"features.{name}": write_array(folder / f"features.{name}.npy", parts)
        for name, parts in arrays.items()
    }


def matrix_files(folder: Path, name: str, shape: tuple[int, int]) -> MatrixFiles:
    """Return a matrix of a store as its files."""
    parts = [
        ArrayFile.of(folder / f"{name}.{part}.npy") for part in ("values", "indices", "indptr")
    ]
    return MatrixFiles(shape, *parts)


def _sorted(base: ScratchDatabase, span: int, counts: EdgeCounts) -> Iterator[SortedPart]:
    """Yield both directions of every pair, sorted by place."""
    columns = {row[0] for row in base.rows("DESCRIBE pairs")}
    there, back = f"2 * (s * {span} + t)", f"2 * (t * {span} + s) + 1"
    more = ", w" if "w" in columns else ""
    order = ", n" if "n" in columns else ""
    both = f"SELECT unnest([{there}, {back}]) AS key{more}{order} FROM pairs"
    for batch in base.batches(f"SELECT key{more} FROM ({both}) ORDER BY key{order}"):
        keys = batch.column(0).to_numpy()
        counts.listed += len(keys)
        if not more:
            yield keys, None
            continue
        weights = batch.column(1).to_numpy()
        yield keys[weights > 0], weights[weights > 0]


def _count(per_row: NDArray[np.int64], rows: NDArray[Any]) -> None:
    """Add sorted rows to the counts; that of row i is in place i + 1."""
    if len(rows):
        first, last = int(rows[0]), int(rows[-1])
        per_row[first + 1 : last + 2] += np.bincount(rows - first, minlength=last - first + 1)


def _ranges(n: int, dtype: Any, n_at_once: int = 2**20) -> Iterator[NDArray[Any]]:
    for start in range(0, n, n_at_once):
        yield np.arange(start, min(start + n_at_once, n), dtype=dtype)
