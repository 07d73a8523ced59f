"""Node ids: integers of any size, or strings, in one exact form."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.columns import are_decimals, as_array, exact_integers

IdKind = Literal["integers", "strings"]

_SHOWN_IDS = 5


@dataclass(frozen=True)
class IdColumn:
    """A column of ids, each different id stored once.

    Parameters
    ----------
    distinct : ndarray of shape (n_distinct,)
        The different ids: int64, uint64, Python integers (object) or strings.
    codes : ndarray of shape (n,)
        Row i holds ``distinct[codes[i]]``.
    argument : str
        What to call the column in messages.
    untyped : bool
        Whether it was read from a text file, so that its strings may stand for integers.
    """

    distinct: NDArray[Any]
    codes: NDArray[np.intp]
    argument: str
    untyped: bool = False

    @property
    def ids(self) -> NDArray[Any]:
        """The ids in the order of the rows."""
        return self.distinct[self.codes]


def as_ids(values: Any, argument: str) -> NDArray[Any]:
    """Return ids in their one form: strings, or int64 if all fit, uint64, or Python integers.

    Raises
    ------
    InputError
        If they are floats, booleans, missing, mixed, or neither integers nor strings.
    """
    return _canonical(as_array(values, argument), argument)


def as_id_column(values: Any, argument: str, *, untyped: bool = False) -> IdColumn:
    """Return ``values`` as an :class:`IdColumn`; see :func:`as_ids` for what is refused."""
    if _is_arrow_text(values) and not values.null_count:
        # Millions of rows name far fewer nodes: only the different names become Python strings.
        distinct, codes = _encoded(values)
        return IdColumn(as_ids(distinct, argument), codes, argument, untyped)
    ids = as_ids(values, argument)
    if ids.dtype == object:
        return IdColumn(*np.unique(ids, return_inverse=True), argument)
    dictionary, codes = _encoded(pa.array(ids))
    return IdColumn(_canonical(as_array(dictionary, argument), argument), codes, argument, untyped)


def of_one_kind(columns: Sequence[IdColumn]) -> list[IdColumn]:
    """Return the columns as all integers or all strings.

    Columns of a text file follow the others; among themselves they are integers if every value is
    written as one (``7`` is, ``007`` and ``+7`` are not), else strings.

    Raises
    ------
    InputError
        If one column holds integers and another strings.
    """
    kinds = {_kind(c.distinct): c for c in columns if not c.untyped and c.distinct.size}
    if len(kinds) > 1:
        integers, strings = kinds["integers"], kinds["strings"]
        raise InputError(
            "AGC-I103",
            f"{integers.argument} holds integer ids but {strings.argument} holds string ids",
            got=[integers.distinct[0], strings.distinct[0]],
            fix="use the same kind of id everywhere",
        )
    wanted = next(iter(kinds)) if kinds else _kind_of_text(columns)
    return [_settled(column, wanted) if column.untyped else column for column in columns]


def union(columns: Sequence[IdColumn]) -> NDArray[Any]:
    """Return the different ids of columns of one kind, sorted."""
    arrays = [column.distinct for column in columns if column.distinct.size]
    if len({array.dtype.kind for array in arrays}) > 1:
        # int64 meets uint64 in NumPy as float64, which would blur ids past 2^53.
        return np.sort(exact_integers(set().union(*(array.tolist() for array in arrays))))
    return np.unique(np.concatenate(arrays)) if arrays else np.empty(0, dtype=np.int64)


def _canonical(array: NDArray[Any], argument: str) -> NDArray[Any]:
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind in "iu":
        return _smallest_integers(array)
    if array.dtype.kind == "U":
        return array.astype(str)
    if array.dtype.kind == "O":
        return _from_objects(array, argument)
    raise _not_ids(array.dtype.kind, array[:_SHOWN_IDS], argument)


def _from_objects(array: NDArray[Any], argument: str) -> NDArray[Any]:
    types = {type(value) for value in array.tolist()}
    if all(issubclass(kind, str) for kind in types):
        return _strings(array, argument)
    if all(issubclass(kind, numbers.Integral) and not _is_bool(kind) for kind in types):
        return exact_integers(array.tolist())
    missing = [i for i, value in enumerate(array.tolist()) if value is None or value != value]
    if missing:
        problem = (
            f"{argument} has {counted(len(missing), 'missing id')}, the first in row {missing[0]}"
        )
        raise InputError("AGC-I106", problem, fix="remove those rows or give them an id")
    if all(issubclass(kind, numbers.Number) for kind in types):
        letter = "b" if all(_is_bool(kind) for kind in types) else "f"
        raise _not_ids(letter, array[:_SHOWN_IDS], argument)
    names = sorted(kind.__name__ for kind in types)
    raise InputError(
        "AGC-I107",
        f"{argument} must hold integers or strings, all of one kind",
        got=names,
        fix="convert the ids to strings",
    )


def _not_ids(letter: str, values: NDArray[Any], argument: str) -> InputError:
    if letter == "f":
        return InputError(
            "AGC-I108",
            f"{argument} holds floats, but ids cannot be floats: is there a scaler in front?",
            got=values.tolist(),
            fix="give the ids as integers or strings; a missing id also turns a column into floats",
        )
    if letter == "b":
        return InputError(
            "AGC-I109",
            f"{argument} holds booleans, but ids cannot be a mask",
            got=values.tolist(),
            fix="for a mask over all nodes use graph.node_ids[mask]",
        )
    problem = f"{argument} must hold integers or strings"
    return InputError("AGC-I110", problem, got=values.tolist(), fix="convert the ids to strings")


def _strings(array: NDArray[Any], argument: str) -> NDArray[Any]:
    values = array.tolist()
    if "\0" in "".join(values):  # NumPy drops trailing NULs, which would make ids equal
        problem = f"{argument} holds an id with a NUL character"
        got = next(value for value in values if "\0" in value)
        raise InputError("AGC-I111", problem, got=got, fix="remove the character")
    return np.array(values, dtype=str)


def _smallest_integers(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
        return array.astype(np.uint64)
    return array.astype(np.int64, copy=False)


def _encoded(column: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.intp]]:
    if pa.types.is_dictionary(column.type):
        # Decoded first: a category that no row uses is not a node.
        column = column.cast(column.type.value_type)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    encoded = column.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)
    return encoded.dictionary, codes


def _is_arrow_text(values: Any) -> bool:
    if not isinstance(values, pa.ChunkedArray):
        return False
    kind = values.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _kind(ids: NDArray[Any]) -> IdKind:
    return "strings" if ids.dtype.kind == "U" else "integers"


def _kind_of_text(columns: Sequence[IdColumn]) -> IdKind:
    texts = [column.distinct for column in columns if column.distinct.size]
    return "integers" if all(are_decimals(text).all() for text in texts) else "strings"


def _settled(column: IdColumn, wanted: IdKind) -> IdColumn:
    if wanted == "strings" or not column.distinct.size:
        return replace(column, untyped=False)
    decimal = are_decimals(column.distinct)
    if not decimal.all():
        raise InputError(
            "AGC-I112",
            f"{column.argument} holds ids that are not integers, unlike the other ids",
            got=first_few(column.distinct[~decimal]),
            fix="use the same kind of id everywhere",
        )
    return replace(column, distinct=exact_integers(column.distinct.tolist()), untyped=False)


def _is_bool(kind: type) -> bool:
    return issubclass(kind, bool | np.bool_)


def first_few(ids: NDArray[Any]) -> list[Any]:
    """Return a few ids to show in a message."""
    few: list[Any] = ids[:_SHOWN_IDS].tolist()
    return few
