"""Tables: text, JSON and Parquet files and data frames as named columns."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from adagcn.errors import FormatError, InputError, counted
from adagcn.formats.json_files import is_records, read_json
from adagcn.formats.text_files import (
    LOOK,
    TextRules,
    dialect_of,
    is_svmlight,
    read_bytes,
    read_columns,
)

FileKind: TypeAlias = Literal["text", "json", "parquet", "svmlight"]

# What people hand in that is no table, by its first bytes, and what to do about it.
_NO_TABLES = {
    b"PK\x03\x04": (
        "a zip archive (an .npz graph, or an Excel workbook)",
        "save a workbook as CSV; an .npz graph is read whole, not as a table",
    ),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", "save it as CSV"),
    b"\x89HDF": ("an HDF5 file", "write its tables as Parquet or CSV"),
    b"%PDF": ("a PDF file", "save the table as CSV"),
    b"%%MatrixMarket": ("a Matrix Market file", "read it with scipy.io.mmread and pass the matrix"),
    b"SQLite format 3": ("an SQLite database", "export the table as CSV"),
    b"\x80": ("a Python pickle, which could run code", "write the table as CSV or Parquet"),
    b"\x93NUMPY": ("a NumPy array", "read it with numpy.load and pass the array"),
    b"\xfd7zXZ": ("compressed with xz", "unpack it, or compress it with gzip"),
    b"<": ("XML or HTML", "read GraphML or GEXF with networkx and pass the graph"),
    b"ARROW1": ("an Arrow file", "write it as Parquet"),
}


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
    form : str
        What the table was taken for, in words; empty for a frame.
    unread : tuple of str
        Columns that were there and not asked for.
    names_line : tuple of str
        The first line of a text file if it was taken for column names.
    has_names : bool
        Whether the columns have names of their own.
    """

    columns: dict[str, Any]
    argument: str
    untyped: bool = False
    form: str = ""
    unread: tuple[str, ...] = ()
    names_line: tuple[str, ...] = ()
    has_names: bool = True

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()))) if self.columns else 0


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are wanted.

    Parameters
    ----------
    text : sequence of str or None
        Columns of ids and labels: read as text from a text file, never as numbers. ``None`` in
        place i stands for the i-th column of the table.
    also : sequence of str or None
        Further columns; ``None`` for all that there are.
    text_if_few : bool
        Whether all columns of a table of two or three are read as text, since they may be names.
    """

    text: Sequence[str | None]
    also: Sequence[str] | None = None
    text_if_few: bool = False

    def resolved(
        self, available: Sequence[str], argument: str, hint: str | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the names that ``text`` stands for, and all columns to read.

        ``hint`` is what to do if there are fewer columns than wanted.
        """
        names = _resolve(self.text, available, argument, hint)
        if self.also is None:
            return names, list(available)
        check_there(self.also, available, argument)
        return names, list(dict.fromkeys([*names, *self.also]))


def is_table(value: Any) -> bool:
    """Return whether ``value`` is a data frame or the path of a file."""
    if is_path(value):
        return True
    return isinstance(_as_native(value), nw.DataFrame | nw.LazyFrame)


def is_path(value: Any) -> bool:
    """Return whether ``value`` names a file."""
    return isinstance(value, str | os.PathLike)


def file_kind(path: Path, argument: str) -> FileKind:
    """Return what kind of file this is, judged by its first bytes.

    Raises
    ------
    InputError
        If there is no such file, or it is of a kind that is no table.
    FormatError
        If it is empty.
    """
    if path.is_dir():
        return "parquet"
    head = read_bytes(path, argument, LOOK)
    if head.startswith(b"PAR1"):
        return "parquet"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        problem = f"{argument} {str(path)!r} is empty"
        raise FormatError("AGC-F1104", problem, fix="give a file with a line for each record")
    for magic, (what, fix) in _NO_TABLES.items():
        if start.startswith(magic):
            problem = f"{argument} is {what}, not a table"
            raise InputError("AGC-I120", problem, got=str(path), fix=fix)
    if start[:1] in b"{[":
        return "json"
    return "svmlight" if is_svmlight(start) else "text"


def read_table(
    source: Any, argument: str, wanted: Columns, rules: TextRules | None = None
) -> tuple[Table, list[str]]:
    """Read a file or a frame.

    Parameters
    ----------
    source : path or frame
        A text file, a Parquet file or a folder of them, a JSON file of records, or a frame of
        pandas, polars or pyarrow.
    argument : str
        What to call it in messages.
    wanted : Columns
        Which columns to read.
    rules : TextRules, optional
        What the user says of a text file.

    Returns
    -------
    table : Table
        The columns.
    names : list of str
        The names that ``wanted.text`` stands for.

    Raises
    ------
    InputError
        If there is no such file or column.
    FormatError
        If the file is damaged, not UTF-8, or its lines have different numbers of fields.
    """
    rules = rules or TextRules()
    if not is_path(source):
        return _read_frame(source, argument, wanted)
    path = Path(source)
    kind = file_kind(path, argument)
    if kind == "parquet":
        return _read_parquet(path, argument, wanted)
    if kind == "json":
        return _read_records(path, argument, wanted)
    if kind == "svmlight":
        problem = f"{argument} looks like svmlight, which holds features"
        raise InputError("AGC-I1105", problem, got=str(path), fix="pass it as features")
    return _read_text(path, argument, wanted, rules)


def _as_native(value: Any) -> Any:
    try:
        return nw.from_native(value, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            "AGC-I134", "a data frame has columns of the same name", fix="rename them"
        ) from error


def _read_frame(source: Any, argument: str, wanted: Columns) -> tuple[Table, list[str]]:
    frame = _as_native(source)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        problem = f"{argument} must be a data frame or the path of a file"
        raise InputError("AGC-I121", problem, got=type(source).__name__)
    named = {str(name): name for name in frame.columns}  # pandas also has columns 0, 1, …
    names, read = wanted.resolved(list(named), argument)
    columns = {name: _arrow_or_series(frame.get_column(named[name])) for name in read}
    has_names = not all(isinstance(name, int) for name in nw.to_native(frame).columns)
    unread = tuple(name for name in named if name not in columns)
    return Table(columns, argument, unread=unread, has_names=has_names), names


def with_index_as_column(source: Any) -> Any:
    """Return a pandas frame with its index as the first column, if the index holds ids.

    It does if it has a name or is of text; other indices only count the rows. An index of several
    levels is refused.
    """
    index: Any = getattr(source, "index", None)
    if not hasattr(source, "set_index") or not hasattr(index, "dtype"):
        return source
    if index.nlevels > 1:
        problem = "a pandas frame or column needs an index of one level"
        fix = "call reset_index(), and name the column of ids with id_column="
        raise InputError("AGC-I135", problem, got=list(index.names), fix=fix)
    if index.name is None and index.dtype.kind in "iu":
        return source
    name = index.name if index.name is not None else "index"
    return source if name in source.columns else source.reset_index(names=name)


def _arrow_or_series(series: nw.Series[Any]) -> Any:
    try:
        column = series.to_arrow()
    except (pa.ArrowException, OverflowError, TypeError):
        return series
    return pa.chunked_array([column]) if isinstance(column, pa.Array) else column


def _read_parquet(path: Path, argument: str, wanted: Columns) -> tuple[Table, list[str]]:
    form = "Parquet"
    try:
        if path.is_dir():
            files = parquet_files(path, argument)
            form = f"a folder of {counted(len(files), 'Parquet file')}"
            available = list(pq.read_schema(files[0]).names)
            names, read = wanted.resolved(available, argument)
            for file in files[1:]:
                check_there(
                    read, pq.read_schema(file).names, f"the file {file.name!r} of {argument}"
                )
            data = pa.concat_tables(
                [pq.read_table(file, columns=read) for file in files],
                promote_options="permissive",
            )
        else:
            with pq.ParquetFile(path) as file:
                available = list(file.schema_arrow.names)
                names, read = wanted.resolved(available, argument)
                data = file.read(columns=read)
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, argument, error) from error
    columns = dict(zip(data.column_names, data.columns, strict=True))
    unread = tuple(name for name in available if name not in columns)
    return Table(columns, argument, form=form, unread=unread), names


def unreadable_parquet(path: Path, argument: str, error: Exception) -> FormatError:
    """Return the error for a Parquet file that cannot be read."""
    problem = f"{argument} {str(path)!r} is not a readable Parquet file: {_first_line(error)}"
    return FormatError("AGC-F122", problem, fix="write the file again")


def parquet_files(folder: Path, argument: str) -> list[Path]:
    """Return the Parquet files of a folder, sorted by name."""
    # Spark and others leave files beside the data whose names start with _ or a dot.
    files = sorted(f for f in folder.glob("*.parquet") if not f.name.startswith(("_", ".")))
    if not files:
        problem = f"{argument} is a folder without Parquet files"
        raise InputError("AGC-I1106", problem, got=str(folder), fix="give a file")
    return files


def _read_records(path: Path, argument: str, wanted: Columns) -> tuple[Table, list[str]]:
    records = read_json(path, argument)
    if not is_records(records):
        problem = f"{argument} is JSON, but not a list of records such as [{{…}}, {{…}}]"
        fix = "write it as records, or as CSV"
        raise InputError("AGC-I1107", problem, got=str(path), fix=fix)
    available = list(dict.fromkeys(name for record in records for name in record))
    names, read = wanted.resolved(available, argument)
    columns = {name: _column([record.get(name) for record in records]) for name in read}
    unread = tuple(name for name in available if name not in columns)
    return Table(columns, argument, form="JSON records", unread=unread), names


def _column(values: list[Any]) -> Any:
    try:
        return pa.chunked_array([pa.array(values)])
    except (pa.ArrowException, OverflowError, TypeError):
        return values


def _read_text(
    path: Path, argument: str, wanted: Columns, rules: TextRules
) -> tuple[Table, list[str]]:
    dialect = dialect_of(path, argument, rules)
    available = dialect.names
    hint = "name the separator with separator= if the file has another"
    names, read = wanted.resolved(available, argument, hint)
    text = set(names) | (set(read) if wanted.text_if_few and len(available) <= 3 else set())
    kinds = {name: pa.string() if name in text else pa.float64() for name in read}
    data = read_columns(path, argument, dialect, kinds, rules)
    table = Table(
        dict(zip(data.column_names, data.columns, strict=True)),
        argument,
        untyped=True,
        form=str(dialect),
        unread=tuple(name for name in available if name not in kinds),
        names_line=dialect.first if dialect.has_names and rules.header is None else (),
        has_names=dialect.has_names,
    )
    return table, names


def _resolve(
    names: Sequence[str | None], available: Sequence[str], argument: str, hint: str | None
) -> list[str]:
    """Return the names of the columns, filling each gap with the column in that place."""
    if len(set(available)) < len(available):
        twice = sorted(name for name, n in Counter(available).items() if n > 1)
        problem = f"{argument} has columns of the same name"
        raise InputError("AGC-I128", problem, got=twice[:5], fix="rename them")
    if len(available) < len(names):
        problem = f"{argument} needs at least {counted(len(names), 'column')}"
        raise InputError("AGC-I129", problem, got=list(available), fix=hint)
    resolved = [available[i] if name is None else name for i, name in enumerate(names)]
    check_there(resolved, available, argument)
    if len(set(resolved)) < len(resolved):
        problem = f"{argument} needs a different column for each purpose"
        raise InputError("AGC-I130", problem, got=resolved, fix="name every column")
    return resolved


def check_there(names: Sequence[str], available: Sequence[str], argument: str) -> None:
    """Refuse names of columns that a table does not have."""
    known = set(available)
    for name in names:
        if name not in known:
            problem = f"{argument} has no column {name!r}"
            raise InputError("AGC-I131", problem, got=list(available), fix="use one of these")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
