"""Tables: CSV and Parquet files and data frames as named Arrow columns."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from adagcn.errors import FormatError, InputError, counted

_BLOCK_BYTES = 16 * 2**20  # the longest line that a CSV file may have
_DELIMITERS = "\t,; "


@dataclass(frozen=True)
class Table:
    """Columns by name.

    Parameters
    ----------
    columns : dict of str to column
        Arrow columns, or narwhals ones where Arrow has no type for what is in them.
    argument : str
        What to call the table in messages.
    untyped : bool
        Whether it was read from a text file, so that its ids and labels are strings even if they
        stand for integers.
    """

    columns: dict[str, Any]
    argument: str
    untyped: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.columns)


def is_table(value: Any) -> bool:
    """Return whether ``value`` is a data frame or the path of a file."""
    if is_path(value):
        return True
    return isinstance(_as_native(value), nw.DataFrame | nw.LazyFrame)


def is_path(value: Any) -> bool:
    """Return whether ``value`` names a file."""
    return isinstance(value, str | os.PathLike)


def read_table(
    source: Any,
    argument: str,
    *,
    text: Sequence[str | None],
    only_text: bool = False,
    also: Sequence[str] = (),
    header: bool | None = None,
) -> tuple[Table, list[str]]:
    """Read a file or a frame.

    Parameters
    ----------
    source : path or frame
        CSV (comma, tab, semicolon or space between the fields; UTF-8; one header line), Parquet,
        or a frame of pandas, polars or pyarrow.
    argument : str
        What to call it in messages.
    text : sequence of str or None
        Columns of ids and labels: read as text from CSV, never as numbers, while the others must
        be numbers. ``None`` in place i stands for the i-th column of the table.
    only_text : bool
        Whether to read no other columns than ``text`` and ``also``.
    also : sequence of str
        Further columns that must be there.
    header : bool or None
        Whether a CSV file starts with a line of names. ``None``: yes, but refuse a first line that
        looks like data. Without names the columns are called ``"0"``, ``"1"`` and so on.

    Returns
    -------
    table : Table
        The columns.
    names : list of str
        The names that ``text`` stands for.

    Raises
    ------
    InputError
        If there is no such file or column.
    FormatError
        If the file is damaged, not UTF-8, or its lines have different numbers of fields.
    """
    if not is_path(source):
        return _read_frame(source, argument, text, also if only_text else None)
    path = Path(source)
    if _starts_with(path, argument, b"PAR1"):
        return _read_parquet(path, argument, text, also if only_text else None)
    if _starts_with(path, argument, b"PK\x03\x04"):
        problem = f"{argument} is a zip archive, not a table"
        fix = "read an .npz graph with Graph.from_npz"
        raise InputError("AGC-I120", problem, got=str(path), fix=fix)
    return _read_csv(path, argument, text, also if only_text else None, header)


def _as_native(value: Any) -> Any:
    try:
        return nw.from_native(value, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            "AGC-I134", "a data frame has columns of the same name", fix="rename them"
        ) from error


def _read_frame(
    source: Any, argument: str, text: Sequence[str | None], also: Sequence[str] | None
) -> tuple[Table, list[str]]:
    frame = _as_native(source)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        problem = f"{argument} must be a data frame or the path of a CSV or Parquet file"
        raise InputError("AGC-I121", problem, got=type(source).__name__)
    named = {str(name): name for name in frame.columns}  # pandas also has columns 0, 1, …
    names = _resolve(text, list(named), argument)
    wanted = _wanted(names, also, list(named), argument)
    columns = {name: _arrow_or_series(frame.get_column(named[name])) for name in wanted}
    return Table(columns, argument), names


def _arrow_or_series(series: nw.Series[Any]) -> Any:
    try:
        column = series.to_arrow()
    except (pa.ArrowException, OverflowError, TypeError):
        return series
    return pa.chunked_array([column]) if isinstance(column, pa.Array) else column


def _read_parquet(
    path: Path, argument: str, text: Sequence[str | None], also: Sequence[str] | None
) -> tuple[Table, list[str]]:
    try:
        with pq.ParquetFile(path) as file:
            available = list(file.schema_arrow.names)
            names = _resolve(text, available, argument)
            data = file.read(columns=_wanted(names, also, available, argument))
    except (pa.ArrowException, OSError) as error:
        problem = f"{argument} {str(path)!r} is not a readable Parquet file: {_first_line(error)}"
        raise FormatError("AGC-F122", problem, fix="write the file again") from error
    return Table(dict(zip(data.column_names, data.columns, strict=True)), argument), names


def _read_csv(
    path: Path,
    argument: str,
    text: Sequence[str | None],
    also: Sequence[str] | None,
    header: bool | None,
) -> tuple[Table, list[str]]:
    delimiter, fields = _first_fields(path, argument)
    if header is None:
        _check_is_header(fields, path, argument)
    available = [str(i) for i in range(len(fields))] if header is False else fields
    names = _resolve(text, available, argument)
    wanted = _wanted(names, also, available, argument)
    convert = pacsv.ConvertOptions(
        # Never guessed: a guess from the first lines can be wrong for the last.
        column_types={name: pa.string() if name in names else pa.float64() for name in wanted},
        include_columns=wanted,
        null_values=[""],  # "NA" and "null" are names like any other
        strings_can_be_null=True,
    )
    parse = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=False)
    skip = 0 if header is False else 1
    options = {"block_size": _BLOCK_BYTES, "column_names": available, "skip_rows": skip}
    data = _parse_csv(path, argument, options, parse, convert)
    return Table(dict(zip(data.column_names, data.columns, strict=True)), argument, True), names


def _parse_csv(
    path: Path,
    argument: str,
    options: dict[str, Any],
    parse: pacsv.ParseOptions,
    convert: pacsv.ConvertOptions,
) -> pa.Table:
    try:
        return pacsv.read_csv(path, pacsv.ReadOptions(**options), parse, convert)
    except (pa.ArrowException, OSError):
        pass
    try:  # again in one thread, which knows the number of the line
        serial = pacsv.ReadOptions(use_threads=False, **options)
        return pacsv.read_csv(path, serial, parse, convert)
    except (pa.ArrowException, OSError) as error:
        problem = f"{argument} {str(path)!r} cannot be read: {_first_line(error)}"
        fix = "use UTF-8, the same number of fields in each line, and numeric features and weights"
        raise FormatError("AGC-F123", problem, fix=fix) from error


def _first_fields(path: Path, argument: str) -> tuple[str, list[str]]:
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            line = stream.read(_BLOCK_BYTES).split(b"\n", 1)[0]
        first = line.decode("utf-8-sig").rstrip("\r")
    except (UnicodeDecodeError, pa.ArrowException, OSError) as error:
        problem = f"{argument} {str(path)!r} is not UTF-8 text: {_first_line(error)}"
        raise FormatError("AGC-F124", problem, fix="save it as UTF-8") from error
    if not first.strip():
        problem = f"{argument} {str(path)!r} starts with an empty line"
        raise FormatError("AGC-F125", problem, fix="start the file with a line of column names")
    delimiter = next((d for d in _DELIMITERS if d in first), ",")
    fields = next(csv.reader([first], delimiter=delimiter))
    return delimiter, fields


def _check_is_header(fields: Sequence[str], path: Path, argument: str) -> None:
    if _is_number(fields[0]):
        raise InputError(
            "AGC-I126",
            f"the first line of {argument} {str(path)!r} looks like data, not column names",
            got=",".join(fields[:5]),
            fix="start the file with column names (edges need none with header=False)",
        )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _starts_with(path: Path, argument: str, magic: bytes) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(len(magic)) == magic
    except OSError as error:
        problem = f"{argument} cannot be opened: {error.strerror or error}"
        raise InputError("AGC-I127", problem, got=str(path), fix="check the path") from error


def _resolve(names: Sequence[str | None], available: Sequence[str], argument: str) -> list[str]:
    """Return the names of the columns, filling each gap with the column in that place."""
    if len(set(available)) < len(available):
        twice = sorted({name for name in available if list(available).count(name) > 1})
        problem = f"{argument} has columns of the same name"
        raise InputError("AGC-I128", problem, got=twice, fix="rename them")
    if len(available) < len(names):
        problem = f"{argument} needs at least {counted(len(names), 'column')}"
        raise InputError("AGC-I129", problem, got=list(available))
    resolved = [available[i] if name is None else name for i, name in enumerate(names)]
    _check_there(resolved, available, argument)
    if len(set(resolved)) < len(resolved):
        problem = f"{argument} needs a different column for each purpose"
        raise InputError("AGC-I130", problem, got=resolved, fix="name every column")
    return resolved


def _wanted(
    names: list[str], also: Sequence[str] | None, available: Sequence[str], argument: str
) -> list[str]:
    if also is None:
        return list(available)
    _check_there(also, available, argument)
    return list(dict.fromkeys([*names, *also]))


def _check_there(names: Sequence[str], available: Sequence[str], argument: str) -> None:
    for name in names:
        if name not in available:
            problem = f"{argument} has no column {name!r}"
            raise InputError("AGC-I131", problem, got=list(available), fix="use one of these")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
