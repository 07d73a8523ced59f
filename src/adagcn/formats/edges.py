"""Edge lists in every supported form: file, frame, array, pair of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.columns import as_array, is_tensor, tensor_to_numpy
from adagcn.formats.matrices import numeric_column
from adagcn.formats.node_ids import IdColumn, as_id_column
from adagcn.formats.tables import is_table, read_table


@dataclass(frozen=True)
class EdgeList:
    """Edges, given by the ids of their ends.

    Parameters
    ----------
    sources, targets : IdColumn
        The ends, one row per edge.
    weights : ndarray of shape (n_edges,) or None
        The weights, if there are any.
    both_ways_expected : bool
        Whether an undirected graph lists each edge in both directions in this form.
    """

    sources: IdColumn
    targets: IdColumn
    weights: NDArray[Any] | None
    both_ways_expected: bool = False


def read_edges(
    edges: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: Any = None,
    header: bool | None = None,
) -> EdgeList:
    """Read a list of edges; :meth:`adagcn.Graph.from_edges` lists the supported forms.

    Raises
    ------
    InputError
        If the form is not supported, or the numbers of ends and weights differ.
    FormatError
        If a file cannot be read.
    """
    if is_table(edges):
        return _from_table(edges, (source, target), weight, header)
    named = {"source": source, "target": target, "header": header}
    for name, value in named.items():
        if value is not None:
            problem = f"{name} is for edges in a file or a frame"
            raise InputError("AGC-I170", problem, got=value, fix=f"leave {name} out")
    sources, targets = _two_columns(edges)
    weights = None if weight is None else _weights(weight, len(sources.codes))
    return EdgeList(sources, targets, weights)


def _from_table(
    edges: Any, ends: tuple[str | None, str | None], weight: Any, header: bool | None
) -> EdgeList:
    also = (weight,) if isinstance(weight, str) else ()
    table, names = read_table(edges, "edges", text=ends, also=also, only_text=True, header=header)
    sources, targets = (
        as_id_column(table.columns[name], f"column {name!r} of edges", untyped=table.untyped)
        for name in names
    )
    if isinstance(weight, str):
        return EdgeList(sources, targets, numeric_column(table, weight))
    weights = None if weight is None else _weights(weight, len(sources.codes))
    return EdgeList(sources, targets, weights)


def _two_columns(edges: Any) -> tuple[IdColumn, IdColumn]:
    if isinstance(edges, tuple) and len(edges) == 2:
        sources, targets = edges
    else:
        rows = _rows(edges)
        sources, targets = rows[:, 0], rows[:, 1]
    columns = as_id_column(sources, "sources of edges"), as_id_column(targets, "targets of edges")
    n_sources, n_targets = (len(column.codes) for column in columns)
    if n_sources != n_targets:
        problem = "edges must have as many sources as targets"
        raise InputError("AGC-I171", problem, got=(n_sources, n_targets))
    return columns


def _rows(edges: Any) -> NDArray[Any]:
    if is_tensor(edges):
        rows = tensor_to_numpy(edges)
    elif isinstance(edges, np.ndarray):
        rows = edges
    else:
        rows = _objects(edges)
    if rows.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InputError(
            "AGC-I172",
            "edges must be a file, a frame, rows of two ids, or a pair (sources, targets)",
            got=rows.shape,
            fix="for an array of shape (2, n_edges) pass tuple(array)",
        )
    return rows


def _objects(edges: Any) -> NDArray[Any]:
    try:
        return np.array([tuple(edge) for edge in edges], dtype=object)
    except (TypeError, ValueError) as error:
        problem = "edges must be a file, a frame, rows of two ids, or a pair (sources, targets)"
        raise InputError("AGC-I173", problem, got=edges) from error


def _weights(weight: Any, n_edges: int) -> NDArray[Any]:
    if isinstance(weight, str):
        problem = "weight names a column, but edges is not a table"
        raise InputError("AGC-I174", problem, got=weight, fix="give the weights as an array")
    weights = as_array(weight, "weight")
    if weights.dtype == object:
        weights = np.array([np.nan if w is None else w for w in weights])
    if len(weights) != n_edges:
        problem = f"weight must have one value for each of the {counted(n_edges, 'edge')}"
        raise InputError("AGC-I175", problem, got=len(weights))
    return weights
