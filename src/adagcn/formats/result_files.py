"""A table of results on its way to a file: format, decimals, and no formula to run.

A table may come in parts, so that it is never in memory as a whole.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from adagcn.errors import InputError
from adagcn.formats.atomic import atomic_file

if TYPE_CHECKING:
    import pyarrow as pa

TableFormat = Literal["csv", "jsonl", "parquet"]

_FORMATS: dict[str, TableFormat] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_DECIMALS = 6
_ROWS_AT_ONCE = 65_536
# What a spreadsheet takes for the start of a formula; a plain number as text ("-12") runs nothing.
_FORMULA = r"^[-=+@\t\r]"
_NUMBER = r"^[-+]?[0-9]*[.]?[0-9]+$"


def lists_as_text(table: pa.Table) -> pa.Table:
    """Return ``table`` with lists as JSON, since CSV has none.

    JSON keeps labels apart whatever their characters are, and no spreadsheet runs it as a formula.
    """
    import pyarrow as pa

    for position, name in enumerate(table.column_names):
        column = table.column(position)
        if pa.types.is_list(column.type):
            texts = [json.dumps(each, ensure_ascii=False) for each in column.to_pylist()]
            table = table.set_column(position, name, pa.array(texts, type=pa.string()))
    return table


def rounded(table: pa.Table) -> pa.Table:
    """Return ``table`` with the decimals of its numbers that mean something.

    The same node predicted among others can differ in the eighth digit: block sizes change the
    order of additions.
    """
    import pyarrow as pa
    from pyarrow import compute

    for position, name in enumerate(table.column_names):
        column = table.column(position)
        if pa.types.is_floating(column.type):
            numbers = compute.round(column.cast(pa.float64()), ndigits=_DECIMALS)
            table = table.set_column(position, name, numbers)
    return table


def defuse_formulas(table: pa.Table) -> tuple[pa.Table, int]:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    Parameters
    ----------
    table : pyarrow.Table
        Any table.

    Returns
    -------
    tuple of (pyarrow.Table, int)
        The table that is safe to open, and how many cells were changed.
    """
    import pyarrow as pa
    from pyarrow import compute

    n_changed = 0
    for position, name in enumerate(table.column_names):
        column = table.column(position)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        risky = compute.and_not(
            compute.match_substring_regex(column, _FORMULA),
            compute.match_substring_regex(column, _NUMBER),
        )
        n_changed += compute.sum(risky).as_py() or 0
        marked = compute.binary_join_element_wise("'", column, pa.scalar("", column.type))
        table = table.set_column(position, name, compute.if_else(risky, marked, column))
    return table, n_changed


def in_file_form(table: pa.Table, kind: TableFormat, *, verbatim: bool) -> tuple[pa.Table, int]:
    """Return a table as a file of some format has it, and how many cells were defused.

    Parameters
    ----------
    table : pyarrow.Table
        Numbers in full, lists as lists.
    kind : {"csv", "jsonl", "parquet"}
        The format.
    verbatim : bool
        Whether text stays as it is even if a spreadsheet would run it.
    """
    if kind == "parquet":
        return table, 0
    if kind == "csv":
        table = lists_as_text(table)
    table = rounded(table)
    return defuse_formulas(table) if kind == "csv" and not verbatim else (table, 0)


def table_format(path: Path | None, argument: str = "path") -> TableFormat:
    """Return the format that a file's ending asks for; without a file CSV is printed."""
    if path is None:
        return "csv"
    for ending, kind in _FORMATS.items():
        if path.name.lower().endswith(ending):
            return kind
    *most, last = _FORMATS
    raise InputError(
        "AGC-I808",
        f"{argument} must end in {', '.join(most)} or {last}",
        got=str(path),
        fix="change the ending",
    )


class TableParts(Protocol):
    """A file that takes a table part by part."""

    def write(self, part: pa.Table) -> None:
        """Write further rows, with the columns of the first ones."""

    def close(self) -> None:
        """Write what comes last."""


@contextmanager
def result_file(path: Path) -> Iterator[TableParts]:
    """Open a file for a table in the format of its ending; it appears once it is whole."""
    with atomic_file(path) as handle:
        parts = _parts(path, handle)
        try:
            yield parts
        except BaseException:
            with suppress(Exception):  # the disk may be full: the first error is the one to tell
                parts.close()
            raise
        parts.close()


def write_table(table: pa.Table, path: Path) -> None:
    """Write a whole table in the format of the file's ending, completely or not at all."""
    with result_file(path) as parts:
        parts.write(table)


def _parts(path: Path, handle: BinaryIO) -> TableParts:
    kind = table_format(path)
    if kind == "parquet":
        return _Parquet(handle)
    if kind == "jsonl":
        return _JsonLines(handle)
    return _PackedCsv(handle) if path.suffix.lower() == ".gz" else CsvParts(handle)


class CsvParts:
    """UTF-8 CSV; text is quoted, so that a line break stays in its cell."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._is_new = True

    def write(self, part: pa.Table) -> None:
        """Write further rows, below the names of the columns."""
        from pyarrow import csv

        csv.write_csv(part, self._handle, csv.WriteOptions(include_header=self._is_new))
        self._is_new = False

    def close(self) -> None:
        """Leave the file open for its owner."""


class _PackedCsv(CsvParts):
    """The same, compressed; without a name and a time, so that a table has the same bytes ever."""

    def __init__(self, handle: BinaryIO) -> None:
        super().__init__(gzip.GzipFile("", "wb", fileobj=handle, mtime=0))

    def close(self) -> None:
        self._handle.close()


class _JsonLines:
    """One JSON object per line, in UTF-8."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle

    def write(self, part: pa.Table) -> None:
        for batch in part.to_batches(max_chunksize=_ROWS_AT_ONCE):
            rows = batch.to_pylist()
            lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
            self._handle.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        pass


class _Parquet:
    """Parquet, a row group for each part."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self._writer: Any = None

    def write(self, part: pa.Table) -> None:
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._handle, part.schema)
        self._writer.write_table(part, row_group_size=max(len(part), 1))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
