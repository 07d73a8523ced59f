"""Converts any column to a NumPy array, exactly: no integer ever passes through a float."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adagcn.errors import InputError

# What people write for nothing, in lower case.
GAPS = frozenset(("na", "n/a", "#n/a", "nan", "null", "none", "?", "-"))
_CANONICAL_DECIMAL = r"\A(?:0|-?[1-9][0-9]*)\z"


def as_array(values: Any, argument: str) -> NDArray[Any]:
    """Return ``values`` as a one-dimensional array; missing entries are ``None``.

    Parameters
    ----------
    values : object
        A list, an array, a tensor, or a column or one-column frame of pandas, polars or pyarrow.
        Shape (n, 1) counts as (n,).
    argument : str
        What to call it in messages.

    Returns
    -------
    ndarray of shape (n,)
        Numbers keep their type; text and everything with missing entries is an object array.

    Raises
    ------
    InputError
        If ``values`` is not one column.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return arrow_to_numpy(values)
    series = _as_series(values)
    array = _plain_array(values, argument) if series is None else _series_to_numpy(series)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        problem = f"{argument} must be one column"
        raise InputError("AGC-I101", problem, got=array.shape, fix="give a flat list or array")
    return array


def arrow_to_numpy(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return an Arrow column as an array: numbers without gaps as they are, else objects."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count == 0 and pa.types.is_primitive(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return as_objects(column.to_pylist())


def exact_integers(values: Iterable[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return integers, or their decimal text, as int64 if all fit, else uint64, else objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        try:
            return np.asarray(pa.array(values).cast(pa.int64()).to_numpy())
        except pa.ArrowInvalid:
            pass  # past 64 bits
    exact = [int(value) for value in values]
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if not exact or (min(exact) >= limits.min and max(exact) <= limits.max):
            return np.array(exact, dtype=dtype)
    return as_objects(exact)


def are_decimals(texts: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which texts are integers as Python would print them: ``7``, not ``007``."""
    matches = pc.match_substring_regex(pa.array(texts, pa.string()), _CANONICAL_DECIMAL)
    return np.asarray(matches.to_numpy(zero_copy_only=False), dtype=bool)


def is_missing(value: Any) -> bool:
    """Return whether one value stands for none: ``None``, NaN, or what pandas has for them."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def is_tensor(value: Any) -> bool:
    """Return whether ``value`` looks like a torch tensor, without importing torch."""
    return hasattr(value, "detach") and hasattr(value, "cpu")


def tensor_to_numpy(tensor: Any) -> NDArray[Any]:
    """Return a torch tensor's values, wherever it lives and whatever it tracks.

    Raises
    ------
    InputError
        If the tensor is sparse: as an array it could exhaust memory.
    """
    if str(tensor.layout) != "torch.strided":
        problem = "a sparse tensor cannot be read"
        fix = "pass a SciPy matrix, or tensor.to_dense() if it is small"
        raise InputError("AGC-I136", problem, got=tuple(tensor.shape), fix=fix)
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no such type
        tensor = tensor.float()
    return np.asarray(tensor.numpy())


def _as_series(values: Any) -> nw.Series[Any] | None:
    """Return ``values`` as a narwhals column if it is one, or a frame of one column."""
    native: Any = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
        return native.get_column(native.columns[0])
    return native if isinstance(native, nw.Series) else None


def _series_to_numpy(series: nw.Series[Any]) -> NDArray[Any]:
    try:
        return arrow_to_numpy(series.to_arrow())
    except (pa.ArrowException, OverflowError, TypeError):
        # Arrow has no column for mixed types or integers past 64 bits; Python objects do.
        return as_objects(series.to_list())


def _plain_array(values: Any, argument: str) -> NDArray[Any]:
    if isinstance(values, str | bytes | set | frozenset | Mapping):  # no items, or none in order
        problem = f"{argument} must be a list, an array or a column"
        raise InputError("AGC-I100", problem, got=values, fix="put it in a list")
    if is_tensor(values):
        return tensor_to_numpy(values)
    if isinstance(values, np.ma.MaskedArray):
        array = np.asarray(values.data)
        if np.any(values.mask):
            array = array.astype(object)
            array[np.ma.getmaskarray(values)] = None
        return array
    if hasattr(values, "__array__"):
        array = np.asarray(values)
        return array.astype(object) if array.dtype.kind == "T" else array
    try:
        # As objects: left to itself NumPy makes floats of big integers and text of mixed lists.
        return np.array(list(values), dtype=object)
    except (TypeError, ValueError) as error:
        problem = f"{argument} must be a list, an array or a column"
        raise InputError("AGC-I102", problem, got=values) from error


def as_objects(values: list[Any]) -> NDArray[Any]:
    """Return a flat array with the list's items as they are, even if they are lists themselves."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
