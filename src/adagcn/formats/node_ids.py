"""Node ids: integers of any size, or strings, in one exact form."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.columns import are_decimals, as_array, exact_integers, is_missing

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
    is_sorted : bool
        Whether ``distinct`` is known to be in ascending order.
    n_stripped : int
        Rows from whose ids spaces were removed.
    """

    distinct: NDArray[Any]
    codes: NDArray[np.intp]
    argument: str
    untyped: bool = False
    is_sorted: bool = False
    n_stripped: int = 0

    @property
    def ids(self) -> NDArray[Any]:
        """The ids in the order of the rows."""
        return self.distinct[self.codes]

    def plain(self, row: int) -> Any:
        """Return the id of a row as a plain value."""
        return self.distinct[[self.codes[row]]].tolist()[0]


def as_ids(values: Any, argument: str) -> NDArray[Any]:
    """Return ids in their one form: strings, or int64 if all fit, uint64, or Python integers.

    Raises
    ------
    InputError
        If they are floats, booleans, missing, mixed, or neither integers nor strings.
    """
    return _canonical(as_array(values, argument), argument)


def as_id_column(values: Any, argument: str, *, untyped: bool = False) -> IdColumn:
    """Return ``values`` as an :class:`IdColumn`; see :func:`as_ids` for what is refused.

    Spaces around ids of a text file are removed.
    """
    return as_id_columns([values], [argument], untyped=untyped)[0]


def as_id_columns(
    columns: list[Any], arguments: Sequence[str], *, untyped: bool = False
) -> list[IdColumn]:
    """Return several columns of ids; text is looked at once for all, so they share ``distinct``.

    Columns of text are taken out of the list: millions of texts are not held longer than needed.
    """
    if all(_is_arrow_text(values) and not values.null_count for values in columns):
        # Millions of rows name far fewer nodes: only the different names become Python strings.
        return _text_columns(columns, arguments, untyped)
    return [_id_column(*each, untyped) for each in zip(columns, arguments, strict=True)]


def _id_column(values: Any, argument: str, untyped: bool) -> IdColumn:
    ids = as_ids(values, argument)
    if ids.dtype == object:
        return IdColumn(*np.unique(ids, return_inverse=True), argument)
    if ids.dtype.kind == "U":
        return _text_columns([pa.chunked_array([pa.array(ids)])], [argument], untyped)[0]
    distinct, codes = _encoded(pa.chunked_array([pa.array(ids)]))
    return IdColumn(_canonical(as_array(distinct, argument), argument), codes, argument, untyped)


def _text_columns(columns: list[Any], arguments: Sequence[str], untyped: bool) -> list[IdColumn]:
    ends = np.cumsum([len(values) for values in columns])[:-1]
    chunks = [chunk for values in columns for chunk in _plain_text(values).chunks]
    columns.clear()
    distinct, codes = _encoded(pa.chunked_array(chunks, pa.string()))
    chunks.clear()
    pa.default_memory_pool().release_unused()
    stripped = np.zeros(len(distinct), dtype=bool)
    if untyped:
        trimmed = pc.utf8_trim_whitespace(distinct)
        stripped = np.asarray(pc.not_equal(trimmed, distinct).to_numpy(zero_copy_only=False))
        if stripped.any():
            merged = trimmed.dictionary_encode()
            codes = merged.indices.to_numpy(zero_copy_only=False)[codes]
            distinct = merged.dictionary
    order = pc.sort_indices(distinct).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    ids = _strings(distinct.take(pa.array(order)), arguments[0])
    codes = np.take(rank, codes, out=codes.astype(np.int32, copy=False), mode="clip")
    n_stripped = int(stripped.sum())
    return [
        IdColumn(ids, each, argument, untyped, True, n_stripped)
        for each, argument in zip(np.split(codes, ends), arguments, strict=True)
    ]


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
        got = [integers.distinct[0], strings.distinct[0]]
        raise mixed_ids(integers.argument, strings.argument, got)
    wanted = next(iter(kinds)) if kinds else _kind_of_text(columns)
    settled: dict[int, tuple[NDArray[Any], NDArray[Any] | None]] = {}  # shared ids are settled once
    for column in columns:
        if column.untyped and id(column.distinct) not in settled:
            settled[id(column.distinct)] = _settled(column, wanted)
    return [_recoded(c, *settled[id(c.distinct)]) if c.untyped else c for c in columns]


def mixed_ids(integers: str, strings: str, got: list[Any]) -> InputError:
    """Return the error for two columns of different kinds."""
    problem = f"{integers} holds integer ids but {strings} holds string ids"
    return InputError("AGC-I103", problem, got=got, fix="use the same kind of id everywhere")


def missing_ids(argument: str, n_missing: int, first: int) -> InputError:
    """Return the error for rows without an id."""
    problem = f"{argument} has {counted(n_missing, 'missing id')}, the first in row {first}"
    return InputError("AGC-I106", problem, fix="remove those rows or give them an id")


def nul_in_id(argument: str, got: str) -> InputError:
    """Return the error for an id that NumPy would shorten."""
    problem = f"{argument} holds an id with a NUL character"
    return InputError("AGC-I111", problem, got=got, fix="remove the character")


def not_integers(argument: str, got: list[str]) -> InputError:
    """Return the error for text beside integer ids that does not stand for integers."""
    problem = f"{argument} holds ids that are not integers, unlike the other ids"
    return InputError("AGC-I112", problem, got=got, fix="use the same kind of id everywhere")


def union(columns: Sequence[IdColumn]) -> NDArray[Any]:
    """Return the different ids of columns of one kind, sorted."""
    arrays = {id(column.distinct): column for column in columns if column.distinct.size}
    if len(arrays) == 1 and next(iter(arrays.values())).is_sorted:
        return next(iter(arrays.values())).distinct
    found = [column.distinct for column in arrays.values()]
    if len({array.dtype.kind for array in found}) > 1:
        # int64 meets uint64 in NumPy as float64, which would blur ids past 2^53.
        return np.sort(exact_integers(set().union(*(array.tolist() for array in found))))
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


def alike_but_for_spaces(ids: NDArray[Any]) -> list[str]:
    """Return an id with spaces around it and the same without, if there are two such ids."""
    if ids.dtype.kind != "U" or not len(ids):
        return []
    texts = pa.array(ids)
    trimmed = pc.utf8_trim_whitespace(texts)
    changed = pc.not_equal(trimmed, texts)
    if not pc.any(changed).as_py():
        return []
    both = pc.and_(changed, pc.is_in(trimmed, texts))
    found = texts.filter(both).to_pylist()
    return [found[0], found[0].strip()] if found else []


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
    missing = [i for i, value in enumerate(array.tolist()) if is_missing(value)]
    if missing:
        raise missing_ids(argument, len(missing), missing[0])
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
    if letter == "f" and argument.startswith("column "):
        return InputError(
            "AGC-I113",
            f"{argument} holds floats, but ids cannot be floats",
            got=values.tolist(),
            fix="name the columns of the ends with source= and target="
            if argument.endswith("of edges")
            else "name the column of ids with id_column=, or make it the index of a pandas frame",
        )
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


def _strings(texts: NDArray[Any] | pa.Array, argument: str) -> NDArray[Any]:
    values = texts.to_pylist() if isinstance(texts, pa.Array) else texts.tolist()
    if not values:
        return np.empty(0, dtype=np.int64)
    if "\0" in "".join(values):  # NumPy drops trailing NULs, which would make ids equal
        raise nul_in_id(argument, next(value for value in values if "\0" in value))
    return np.array(values, dtype=str)


def _smallest_integers(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
        return array.astype(np.uint64)
    return array.astype(np.int64, copy=False)


def _plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text as one type; categories are spelled out.

    A category that no row uses is then not a node.
    """
    return column if column.type == pa.string() else column.cast(pa.string())


def _encoded(column: pa.ChunkedArray) -> tuple[pa.Array, NDArray[Any]]:
    """Return the different values of a column, and the place of each row's value among them."""
    if not len(column):
        return pa.array([], column.type), np.empty(0, dtype=np.intp)
    encoded = column.dictionary_encode()  # chunk by chunk, with one dictionary for all
    codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    return encoded.chunk(encoded.num_chunks - 1).dictionary, np.concatenate(codes)


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
    texts = {id(c.distinct): c.distinct for c in columns if c.distinct.size}
    return "integers" if all(are_decimals(text).all() for text in texts.values()) else "strings"


def _settled(column: IdColumn, wanted: IdKind) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the ids of a text column as what they stand for, and each one's new place."""
    if wanted == "strings" or not column.distinct.size:
        return column.distinct, None
    decimal = are_decimals(column.distinct)
    if not decimal.all():
        raise not_integers(column.argument, first_few(column.distinct[~decimal]))
    integers = exact_integers(column.distinct)
    order = np.argsort(integers, kind="stable")
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return integers[order], places


def _recoded(column: IdColumn, distinct: NDArray[Any], places: NDArray[Any] | None) -> IdColumn:
    codes = column.codes if places is None else places[column.codes]
    return replace(column, distinct=distinct, codes=codes, untyped=False, is_sorted=True)


def _is_bool(kind: type) -> bool:
    return issubclass(kind, bool | np.bool_)


def first_few(ids: NDArray[Any]) -> list[Any]:
    """Return a few ids to show in a message."""
    few: list[Any] = ids[:_SHOWN_IDS].tolist()
    return few
