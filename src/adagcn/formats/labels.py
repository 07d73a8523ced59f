"""Labels as indices into the sorted classes, −1 where unknown."""

from __future__ import annotations

import numbers
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.changes import Changes
from adagcn.formats.columns import (
    GAPS,
    are_decimals,
    as_array,
    as_objects,
    exact_integers,
    is_missing,
)

Encoded: TypeAlias = "tuple[NDArray[np.int64], NDArray[Any]]"

UNKNOWN = -1

_LARGEST_WHOLE = 2**53  # past it a float no longer tells neighboring integers apart
_MANY_CLASSES = 50  # more of them than half of the nodes are no classes
# In this order: a Python bool is also an integer, and an integer also a real number.
_KINDS: list[tuple[Any, type]] = [
    (str, str),
    (bool | np.bool_, bool),
    (numbers.Integral, int),
    (numbers.Real, float),
]


def encode_labels(
    values: Any,
    argument: str = "labels",
    *,
    untyped: bool = False,
    unlabeled: Any = None,
    changes: Changes | None = None,
) -> Encoded:
    """Return the labels as indices into their classes.

    Parameters
    ----------
    values : column of shape (n,)
        Integers, strings, booleans or whole floats; ``None``, NaN, masked and blank entries are
        unknown.
    argument : str
        What to call it in messages.
    untyped : bool
        Whether they come from a text file: they are then integers if every one is written as one,
        else strings without the spaces around them.
    unlabeled : value or list of values, optional
        What stands for an unknown label besides, such as −1.
    changes : Changes, optional
        Told what a user might not expect.

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
    changes = Changes() if changes is None else changes
    array = as_array(values, argument)
    if untyped:
        array = _stripped(array, argument, changes)
    known = _known(array)
    if untyped and are_decimals(array[known]).all():
        array[known] = exact_integers(array[known])
    classes, indices = np.unique(_of_one_kind(array[known], argument), return_inverse=True)
    labels = np.full(len(array), UNKNOWN, dtype=np.int64)
    labels[known] = indices
    labels, classes = _without(labels, classes, unlabeled, argument, changes)
    _tell_of_odd_classes(labels, classes, unlabeled, changes)
    return labels, classes


def _stripped(array: NDArray[Any], argument: str, changes: Changes) -> NDArray[Any]:
    """Return text without the spaces around it; blank entries are missing."""
    texts = [None if value is None else value.strip() for value in array.tolist()]
    n_changed = sum(new != old for new, old in zip(texts, array.tolist(), strict=True))
    if n_changed:
        changes.note(f"spaces around {counted(n_changed, 'value')} of {argument} removed")
    return as_objects([text or None for text in texts])


def _known(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.asarray(~np.isnan(array))
    if array.dtype.kind not in "OU":
        return np.ones(len(array), dtype=bool)
    return np.array([not (is_missing(v) or _is_blank(v)) for v in array.tolist()], dtype=bool)


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _without(
    labels: NDArray[np.int64],
    classes: NDArray[Any],
    unlabeled: Any,
    argument: str,
    changes: Changes,
) -> Encoded:
    """Return labels and classes without the values that stand for an unknown label."""
    if unlabeled is None:
        return labels, classes
    several = isinstance(unlabeled, list | tuple | set | frozenset | np.ndarray)
    given = unlabeled if several else [unlabeled]
    texts = {str(value) for value in given if not is_missing(value)}
    left = np.array([str(value) not in texts for value in classes.tolist()], dtype=bool)
    if texts and left.all():
        listed = ", ".join(map(repr, sorted(texts)))
        changes.note(f"no label is {listed}, given as unlabeled", surprising=True)
    renumbered = np.append(np.where(left, np.cumsum(left) - 1, UNKNOWN), UNKNOWN)
    n_unlabeled = int((~left[labels[labels >= 0]]).sum()) if len(classes) else 0
    if n_unlabeled:
        changes.note(f"{counted(n_unlabeled, 'node')} of {argument} unlabeled as asked")
    return renumbered[labels], classes[left]


def _tell_of_odd_classes(
    labels: NDArray[np.int64], classes: NDArray[Any], unlabeled: Any, changes: Changes
) -> None:
    """Tell of a class −1 beside two or more others, of too many classes and of odd names."""
    if classes.dtype.kind == "i" and len(classes) > 2 and classes[0] == UNKNOWN:
        n_nodes = int((labels == 0).sum())
        changes.note(
            f"-1 is a class like any other ({counted(n_nodes, 'node')}); unlabeled=-1 makes it "
            "mean that the label is unknown",
            surprising=unlabeled is None,
        )
    n_known = int((labels >= 0).sum())
    if len(classes) > max(_MANY_CLASSES, n_known // 2):
        phrase = f"the labels have {len(classes):,} different values for {n_known:,} nodes"
        changes.note(f"{phrase}: is this the label column?", surprising=True)
    if classes.dtype.kind == "U":
        _tell_of_odd_names(labels, classes.tolist(), changes)


def _tell_of_odd_names(labels: NDArray[np.int64], names: list[str], changes: Changes) -> None:
    """Tell of classes that differ by spaces or case only, and of words for nothing."""
    alike = [name for name in names if name != name.strip() and name.strip() in names]
    if alike:
        phrase = f"classes differ by spaces only: {alike[0]!r} and {alike[0].strip()!r}"
        changes.note(phrase, surprising=True)
    lower = {name.lower(): name for name in names}
    folded = [name for name in names if lower[name.lower()] != name]
    if folded:
        phrase = f"classes differ by case only: {folded[0]!r} and {lower[folded[0].lower()]!r}"
        changes.note(phrase, surprising=True)
    for place, name in enumerate(names):
        if name.lower() in GAPS:
            n_nodes = counted(int((labels == place).sum()), "node")
            phrase = f"{name!r} is a class like any other ({n_nodes}); unlabeled={name!r} makes it"
            changes.note(f"{phrase} mean that the label is unknown", surprising=True)


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
            fix="give integers or strings, and None where the label is unknown",
        )
    return array.astype(np.int64)


def _checked_integers(array: NDArray[Any], argument: str) -> NDArray[np.int64]:
    if array.dtype == object or (array.size and int(array.max()) > np.iinfo(np.int64).max):
        problem = f"{argument} holds an integer past 64 bits"
        raise InputError("AGC-I153", problem, got=int(max(array)), fix="use strings")
    return array.astype(np.int64)
