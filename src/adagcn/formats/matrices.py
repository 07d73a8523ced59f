"""Matrices from outside: checked, finite, and in the form that the library computes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import FormatError, InputError, counted
from adagcn.formats.columns import is_missing, is_tensor, tensor_to_numpy

Matrix: TypeAlias = "NDArray[np.floating[Any]] | sparse.csr_array"


@dataclass(frozen=True)
class Places:
    """What the rows and columns of a matrix are called, for messages.

    Parameters
    ----------
    ids : sequence or None
        The node of each row; rows are counted from 0 where there are none.
    names : sequence of str or None
        The names of the columns; likewise.
    """

    ids: Any = None
    names: Sequence[str] | None = None

    def row(self, place: int) -> str:
        """Return a row in words."""
        return (
            f"row {place}"
            if self.ids is None
            else f"node {self.ids[place : place + 1].tolist()[0]!r}"
        )

    def column(self, place: int) -> str:
        """Return a column in words."""
        return f"column {place}" if self.names is None else f"column {self.names[place]!r}"


def as_features(
    values: Any,
    argument: str = "features",
    dtype: Any = np.float32,
    *,
    places: Places | None = None,
    gaps: bool = False,
) -> Matrix:
    """Return a feature matrix of finite floats; sparse stays sparse, nothing is modified.

    Parameters
    ----------
    values : array, tensor or sparse matrix of shape (n_nodes, n_features)
        Booleans, integers or floats of any size and memory layout. Masked entries are missing.
    argument : str
        What to call it in messages.
    dtype : dtype
        float32 or float64.
    places : Places, optional
        What to call its rows and columns in messages.
    gaps : bool
        Whether values may be missing (NaN), to be filled in later.

    Returns
    -------
    ndarray or csr_array
        A view of ``values`` where nothing had to change.

    Raises
    ------
    InputError
        If it is not a matrix of real, finite numbers within the range of ``dtype``.
    """
    places = places or Places()
    matrix = as_csr(values, argument) if sparse.issparse(values) else as_dense(values, argument)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        problem = f"{argument} must be a matrix with one row per node and at least one column"
        raise InputError("AGC-I140", problem, got=matrix.shape or type(values).__name__)
    if matrix.dtype.kind not in "biuf":
        problem = f"{argument} must hold real numbers"
        raise InputError("AGC-I141", problem, got=str(matrix.dtype), fix="encode them as numbers")
    check_finite(matrix, argument, places, gaps=gaps)
    with np.errstate(over="ignore"):
        converted = matrix.astype(dtype, copy=False)
    check_finite(converted, f"{argument}, as {np.dtype(dtype).name},", places, gaps=gaps)
    if isinstance(converted, np.ndarray):
        return np.ascontiguousarray(converted)
    if not converted.data.all():
        converted = converted.copy()
        converted.eliminate_zeros()
    return converted


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


def check_finite(
    matrix: Any, argument: str, places: Places | None = None, *, gaps: bool = False
) -> None:
    """Raise an :class:`InputError` with counts and the first place if a value is not finite."""
    values = matrix.data if sparse.issparse(matrix) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        # One pass without a temporary: a sum is finite only if every term is.
        if values.dtype.kind != "f" or np.isfinite(np.sum(values, dtype=np.float64)):
            return
    bad = np.isinf(values) if gaps else ~np.isfinite(values)
    if not bad.any():
        return  # finite terms whose sum overflows
    places = places or Places()
    row, column = _first_place(matrix, bad)
    what = "(NaN, infinite or too large) " if not np.isnan(values[bad]).all() else "(missing) "
    fix = "fill them in with missing='mean' or missing='neighbors', or remove them"
    raise InputError(
        "AGC-I145",
        f"{argument} holds {counted(int(np.count_nonzero(bad)), 'value')} {what}that cannot be "
        f"used, {_by_column(matrix, bad, places)}; the first is at {places.row(row)}, "
        f"{places.column(column)}",
        fix=fix if "missing" in what else "correct or remove them, and scale large values",
    )


def _by_column(matrix: Any, bad: NDArray[np.bool_], places: Places) -> str:
    """Return how many bad values each column has, the worst ones first."""
    if sparse.issparse(matrix):
        counts = np.bincount(matrix.indices[bad], minlength=matrix.shape[1])
    else:
        counts = bad.sum(axis=0)
    worst = np.argsort(-counts, kind="stable")[:3]
    named = [f"{counts[c]:,} in {places.column(int(c))}" for c in worst if counts[c]]
    more = int(np.count_nonzero(counts)) - len(named)
    return ", ".join([*named, *([f"others in {counted(more, 'column')}"] if more else [])])


def _first_place(matrix: Any, bad: NDArray[np.bool_]) -> tuple[int, int]:
    if not sparse.issparse(matrix):
        row, column = np.argwhere(bad)[0]
        return int(row), int(column)
    entry = int(np.flatnonzero(bad)[0])
    row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
    return row, int(matrix.indices[entry])


def as_dense(values: Any, argument: str) -> NDArray[Any]:
    """Return a tensor, an array or rows as an array; masked and missing entries are NaN.

    Raises
    ------
    InputError
        If rows have different lengths.
    """
    if is_tensor(values):
        return tensor_to_numpy(values)
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        problem = f"{argument} must be a matrix of numbers"
        raise InputError("AGC-I146", problem, got=type(values).__name__) from error
    return _floats(array) if array.dtype == object else array


def _floats(array: NDArray[Any]) -> NDArray[Any]:
    """Return objects as floats if all are numbers, some of them missing or past 64 bits."""
    if not all(is_missing(value) or isinstance(value, Real) for value in array.flat):
        return array
    try:
        numbers = [np.nan if is_missing(value) else float(value) for value in array.flat]
    except OverflowError:  # an integer that no float holds
        return array
    return np.array(numbers).reshape(array.shape)


def _member(members: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in members or members[name].ndim != 1:
        problem = f"the file needs a one-dimensional array {name!r}"
        raise FormatError("AGC-F148", problem, got=sorted(members), fix="write the file again")
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
