"""Tables in files, some rows at a time: what :mod:`adagcn.formats.tables` reads, but never whole.

The same first bytes and first lines tell what a file is, and the same parser reads it. What cannot
be read in pieces is said by :func:`not_out_of_core`; the reader in memory takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from adagcn.errors import InputError, counted
from adagcn.formats.node_ids import IdKind, as_id_column
from adagcn.formats.tables import (
    Columns,
    Table,
    check_there,
    file_kind,
    parquet_files,
    unreadable_parquet,
)
from adagcn.formats.text_files import TextRules, dialect_of, stream_columns

_ROWS_AT_ONCE = 2**18
_VALUES_AT_ONCE = 2**21


def not_out_of_core(problem: str, *, got: Any = ...) -> InputError:
    """Return the error for what can be read in memory only."""
    return InputError(
        "AGC-I1410",
        f"this cannot be built out of core: {problem}",
        got=got,
        fix="change the tables, or build the store in memory (Graph.from_edges and to_store)",
    )


@dataclass(frozen=True)
class TableStream:
    """A table that is read some rows at a time.

    Parameters
    ----------
    table : Table
        What it is, without its columns.
    names : list of str
        The columns of ids and labels, as they were asked for.
    types : dict of str to Arrow type
        The columns that can be read, in order, each with its type in the file.
    n_rows : int or None
        How many rows there are, if the file says so.
    read : callable
        Returns the batches of some columns.
    """

    table: Table
    names: list[str]
    types: dict[str, pa.DataType]
    n_rows: int | None
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield some columns, some rows at a time.

        Raises
        ------
        InputError
            If a column of numbers holds anything else.
        FormatError
            If the file is damaged.
        """
        try:
            for batch in self.read(columns):
                if len(batch):
                    yield batch
        except pa.ArrowInvalid as error:
            said = str(error).splitlines()[0]
            raise not_out_of_core(
                f"{self.table.argument} holds text among numbers ({said})"
            ) from None

    def id_kind(self, name: str) -> IdKind | None:
        """Return what the ids of a column are; None if its text may stand for either.

        Raises
        ------
        InputError
            If the column cannot hold ids.
        """
        kind = self.types[name]
        if self.table.untyped or self.n_rows == 0:
            return None
        if pa.types.is_integer(kind):
            return "integers"
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_string(plain) or pa.types.is_large_string(plain):
            return "strings"
        argument = f"column {name!r} of {self.table.argument}"
        first = next(self.batches([name]))
        as_id_column(pa.chunked_array([first.column(0)]), argument)  # says what is wrong
        raise not_out_of_core(f"{argument} is of the type {kind}")


def open_table(
    path: Path, argument: str, wanted: Columns, rules: TextRules | None = None
) -> TableStream:
    """Open a text file, a Parquet file or a folder of them; see :func:`tables.read_table`.

    Raises
    ------
    InputError
        If it is of a kind that is read whole.
    """
    kind = file_kind(path, argument)
    if kind == "text":
        return _text(path, argument, wanted, rules or TextRules())
    if kind == "parquet":
        return _parquet(path, argument, wanted)
    raise not_out_of_core(f"{argument} is {kind.replace('json', 'JSON')}", got=str(path))


def _text(path: Path, argument: str, wanted: Columns, rules: TextRules) -> TableStream:
    dialect = dialect_of(path, argument, rules)
    hint = "name the separator with separator= if the file has another"
    names, columns = wanted.resolved(dialect.names, argument, hint)
    types = {name: pa.string() if name in names else pa.float64() for name in columns}
    table = Table(
        {},
        argument,
        untyped=True,
        form=str(dialect),
        unread=tuple(name for name in dialect.names if name not in types),
        names_line=dialect.first if dialect.has_names and rules.header is None else (),
        has_names=dialect.has_names,
    )

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        kinds = {name: types[name] for name in columns}
        return stream_columns(path, argument, dialect, kinds, rules)

    return TableStream(table, names, types, None, read)


def _parquet(path: Path, argument: str, wanted: Columns) -> TableStream:
    form, files = "Parquet", [path]
    if path.is_dir():
        files = parquet_files(path, argument)
        form = f"a folder of {counted(len(files), 'Parquet file')}"
    try:
        schemas = [pq.read_schema(file) for file in files]
        n_rows = sum(pq.read_metadata(file).num_rows for file in files)
    except (pa.ArrowException, OSError) as error:
        raise unreadable_parquet(path, argument, error) from error
    names, columns = wanted.resolved(schemas[0].names, argument)
    types = {name: schemas[0].field(name).type for name in columns}
    for file, schema in zip(files[1:], schemas[1:], strict=True):
        check_there(columns, schema.names, f"the file {file.name!r} of {argument}")
        if any(schema.field(name).type != kind for name, kind in types.items()):
            problem = f"the files of {argument} have columns of different types"
            raise not_out_of_core(problem, got=[files[0].name, file.name])
    unread = tuple(name for name in schemas[0].names if name not in types)

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            yield from _parquet_batches(files, list(columns))
        except (pa.ArrowException, OSError) as error:
            raise unreadable_parquet(path, argument, error) from error

    table = Table({}, argument, form=form, unread=unread)
    return TableStream(table, names, types, n_rows, read)


def _parquet_batches(files: Sequence[Path], columns: list[str]) -> Iterator[pa.RecordBatch]:
    n_at_once = max(min(_ROWS_AT_ONCE, _VALUES_AT_ONCE // len(columns)), 1)
    for each in files:
        # Without pre_buffer, which holds far more than what is handed out.
        with pq.ParquetFile(each, pre_buffer=False) as file:
            for group in range(file.num_row_groups):
                yield from file.iter_batches(
                    n_at_once, row_groups=[group], columns=columns, use_threads=False
                )
