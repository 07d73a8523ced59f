"""Labels as indices into the sorted classes, −1 where unknown."""

from __future__ import annotations

import numbers
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError
from adagcn.formats.columns import are_decimals, as_array, exact_integers

Encoded: TypeAlias = "tuple[NDArray[np.int64], NDArray[Any]]"

UNKNOWN = -1

_LARGEST_WHOLE = 2**53  # past it a float no longer tells neighboring integers apart
# In this order: a Python bool is also an integer, and an integer also a real number.
_KINDS: list[tuple[Any, type]] = [
    (str, str),
    (bool | np.bool_, bool),
    (numbers.Integral, int),
    (numbers.Real, float),
]


def encode_labels(values: Any, argument: str = "labels") -> Encoded:
    """Return the labels as indices into their classes.

    Parameters
    ----------
    values : column of shape (n,)
        Integers (−1 is unknown), strings, booleans or whole floats; ``None`` is unknown.
    argument : str
        What to call it in messages.

    Returns
    -------
    labels : ndarray of shape (n,), int64
        Index into ``classes``, −1 where unknown.
    classes : ndarray
        The different labels, sorted.

    Raises
    ------
    InputError
        If they are not one column of one of these kinds.
    """
    array = as_array(values, argument)
    known = np.ones(len(array), dtype=bool)
    if array.dtype.kind == "O":
        known = np.array([value is not None for value in array], dtype=bool)
    typed = _of_one_kind(array[known], argument)
    if typed.dtype == np.int64:
        known[known] = typed != UNKNOWN
        typed = typed[typed != UNKNOWN]
    classes, indices = np.unique(typed, return_inverse=True)
    labels = np.full(len(array), UNKNOWN, dtype=np.int64)
    labels[known] = indices
    return labels, classes


def encode_text_labels(values: Any, argument: str = "labels") -> Encoded:
    """Return labels of a text file: integers if every one is written as one, else strings."""
    array = as_array(values, argument)
    known = np.array([value is not None for value in array], dtype=bool)
    if are_decimals(array[known]).all():
        array[known] = exact_integers(array[known])
    return encode_labels(array, argument)


def _of_one_kind(array: NDArray[Any], argument: str) -> NDArray[Any]:
    if array.dtype.kind == "O":
        array = _from_objects(array, argument)
    if array.dtype.kind == "f":
        array = _whole_floats(array, argument)
    if array.dtype.kind in "iuO":
        return _checked_integers(array, argument)
    if array.dtype.kind not in "bU":
        problem = f"{argument} must be integers, strings or booleans"
        raise InputError("AGC-I150", problem, got=str(array.dtype))
    return array


def _from_objects(array: NDArray[Any], argument: str) -> NDArray[Any]:
    values = array.tolist()
    types = {type(value) for value in values}
    for kind, dtype in _KINDS:
        if types and all(issubclass(t, kind) for t in types):
            return exact_integers(values) if dtype is int else np.array(values, dtype=dtype)
    if not types:
        return np.empty(0, dtype=np.int64)
    names = sorted(t.__name__ for t in types)
    problem = f"{argument} must all be of one kind: integers, strings or booleans"
    raise InputError("AGC-I151", problem, got=names, fix="convert them to strings")


def _whole_floats(array: NDArray[Any], argument: str) -> NDArray[Any]:
    odd = ~np.isfinite(array) | (array != np.trunc(array)) | (np.abs(array) >= _LARGEST_WHOLE)
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise InputError(
            "AGC-I152",
            f"{argument} must be classes, but row {row} is not a whole number",
            got=float(array[row]),
            fix="give integers or strings, with None or -1 where the label is unknown",
        )
    return array.astype(np.int64)


def _checked_integers(array: NDArray[Any], argument: str) -> NDArray[np.int64]:
    if array.dtype == object or (array.size and int(array.max()) > np.iinfo(np.int64).max):
        problem = f"{argument} holds an integer past 64 bits"
        raise InputError("AGC-I153", problem, got=int(max(array)), fix="use strings")
    array = array.astype(np.int64)
    if (array < UNKNOWN).any():
        row = int(np.flatnonzero(array < UNKNOWN)[0])
        raise InputError(
            "AGC-I154",
            f"{argument} must not be negative, except -1 for unknown; row {row} is",
            got=int(array[row]),
            fix="renumber the classes, or use strings",
        )
    return array
