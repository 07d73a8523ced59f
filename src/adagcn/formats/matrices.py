"""Matrices from outside: checked, finite, and in the form that the library computes with."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import FormatError, InputError, counted
from adagcn.formats.columns import as_array, is_tensor, tensor_to_numpy
from adagcn.formats.tables import Table

Matrix: TypeAlias = "NDArray[np.floating[Any]] | sparse.csr_array"


def as_features(values: Any, argument: str = "features", dtype: Any = np.float32) -> Matrix:
    """Return a feature matrix of finite floats; sparse stays sparse, nothing is modified.

    Parameters
    ----------
    values : array, tensor or sparse matrix of shape (n_nodes, n_features)
        Booleans, integers or floats of any size and memory layout.
    argument : str
        What to call it in messages.
    dtype : dtype
        float32 or float64.

    Returns
    -------
    ndarray or csr_array
        A view of ``values`` where nothing had to change.

    Raises
    ------
    InputError
        If it is not a matrix of real, finite numbers within the range of ``dtype``.
    """
    matrix = as_csr(values, argument) if sparse.issparse(values) else _as_dense(values, argument)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        problem = f"{argument} must be a matrix with one row per node and at least one column"
        raise InputError("AGC-I140", problem, got=matrix.shape)
    if matrix.dtype.kind not in "biuf":
        problem = f"{argument} must hold real numbers"
        raise InputError("AGC-I141", problem, got=str(matrix.dtype), fix="encode them as numbers")
    check_finite(matrix, argument)
    with np.errstate(over="ignore"):
        converted = matrix.astype(dtype, copy=False)
    check_finite(converted, f"{argument}, as {np.dtype(dtype).name},")
    if isinstance(converted, np.ndarray):
        return np.ascontiguousarray(converted)
    if not converted.data.all():
        converted = converted.copy()
        converted.eliminate_zeros()
    return converted


def table_features(table: Table, skip: set[str]) -> NDArray[np.floating[Any]]:
    """Return the columns of a table other than ``skip`` as a matrix.

    Raises
    ------
    InputError
        If a column is not numeric or has missing values.
    """
    names = [name for name in table.names if name not in skip]
    n_rows = len(next(iter(table.columns.values())))
    matrix = np.empty((n_rows, len(names)), dtype=np.float32)
    with np.errstate(over="ignore"):  # what overflows is found as infinite later
        for place, name in enumerate(names):
            matrix[:, place] = numeric_column(table, name)
    return matrix


def numeric_column(table: Table, name: str) -> NDArray[Any]:
    """Return a column of numbers, NaN where one is missing.

    Raises
    ------
    InputError
        If it is not numeric.
    """
    column = table.columns[name]
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            return np.asarray(column.to_numpy())  # Arrow turns gaps into NaN
    values = as_array(column, f"column {name!r} of {table.argument}")
    if values.dtype.kind not in "biuf":
        raise InputError(
            "AGC-I147",
            f"column {name!r} of {table.argument} is not numeric",
            got=values[:3].tolist(),
            fix="encode it as numbers, drop it, or name it as id_column or label_column",
        )
    return values


def as_csr(values: Any, argument: str) -> sparse.csr_array:
    """Return a sparse matrix as a CSR array: consistent, sorted, without duplicates (added up).

    Raises
    ------
    InputError
        If the index arrays contradict each other.
    """
    try:
        if hasattr(values, "check_format"):
            _check_consistent(values)
        return _canonical(sparse.csr_array(values))
    except (ValueError, TypeError, IndexError) as error:
        problem = f"{argument} is not a consistent sparse matrix: {error}"
        raise InputError("AGC-I142", problem, got=values.shape, fix="rebuild it") from error


def csr_from_members(members: dict[str, NDArray[Any]], key: str) -> sparse.csr_array:
    """Return the CSR matrix whose raw arrays a file holds as ``key.data``, ``key.indices``, ….

    Raises
    ------
    FormatError
        If an array is missing, of the wrong kind, or they contradict each other.
    """
    data, indices, indptr, shape = (
        _member(members, f"{key}.{part}") for part in ("data", "indices", "indptr", "shape")
    )
    if {a.dtype.kind for a in (indices, indptr, shape)} - set(
        "iu"
    ) or data.dtype.kind not in "biuf":
        kinds = [str(a.dtype) for a in (data, indices, indptr, shape)]
        problem = f"{key} must hold numbers, and its indices, indptr and shape integers"
        raise FormatError("AGC-F143", problem, got=kinds)
    if data.dtype == np.float16:  # SciPy has no such matrices
        data = data.astype(np.float32)
    try:
        matrix = sparse.csr_array((data, indices, indptr), shape=tuple(map(int, shape)))
        _check_consistent(matrix)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        problem = f"the arrays of {key} contradict each other: {error}"
        raise FormatError("AGC-F144", problem, fix="write the file again") from error
    return _canonical(matrix)


def check_finite(matrix: Any, argument: str) -> None:
    """Raise an :class:`InputError` with the count and the first place if a value is not finite."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without a temporary: a sum is finite only if every term is.
        if values.dtype.kind != "f" or np.isfinite(np.sum(values, dtype=np.float64)):
            return
    bad = ~np.isfinite(values)
    if not bad.any():
        return  # finite terms whose sum overflows
    row, column = _first_place(matrix, bad)
    n_bad = int(np.count_nonzero(bad))
    raise InputError(
        "AGC-I145",
        f"{argument} holds {counted(n_bad, 'value')} (NaN, infinite or too large) "
        f"that cannot be used, the first in row {row}, column {column}",
        fix="fill in missing values and scale large ones first",
    )


def _first_place(matrix: Any, bad: NDArray[np.bool_]) -> tuple[int, int]:
    if not sparse.issparse(matrix):
        row, column = np.argwhere(bad)[0]
        return int(row), int(column)
    entry = int(np.flatnonzero(bad)[0])
    row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
    return row, int(matrix.indices[entry])


def _as_dense(values: Any, argument: str) -> NDArray[Any]:
    if is_tensor(values):
        return tensor_to_numpy(values)
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        problem = f"{argument} must be a matrix of numbers"
        raise InputError("AGC-I146", problem, got=type(values).__name__) from error


def _member(members: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in members or members[name].ndim != 1:
        problem = f"the file needs a one-dimensional array {name!r}"
        raise FormatError("AGC-F148", problem, got=sorted(members))
    return members[name]


def _check_consistent(matrix: Any) -> None:
    if len(matrix.indptr) and matrix.indptr[-1] < 0:  # SciPy takes that for an empty matrix
        raise ValueError("the last value of indptr is negative")
    matrix.check_format(full_check=True)


def _canonical(matrix: sparse.csr_array) -> sparse.csr_array:
    # A new object over the same arrays, so that the caller's flags stay; copied before any change.
    arrays = (matrix.data, matrix.indices, matrix.indptr)
    matrix = sparse.csr_array(arrays, shape=matrix.shape, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix
