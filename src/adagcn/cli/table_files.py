"""A table of results on its way to a file: format, decimals, and no formula to run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from adagcn.cli.output import note
from adagcn.errors import InputError, counted
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


def spreadsheet_safe(table: pa.Table) -> pa.Table:
    """Return the table without formulas, and say how many cells were changed."""
    safe, n_changed = defuse_formulas(table)
    if n_changed:
        note(
            f"an apostrophe was put before {counted(n_changed, 'cell')} that a spreadsheet would "
            "run as a formula; --verbatim, a .jsonl or a .parquet file avoids this"
        )
    return safe


def table_format(path: Path | None) -> TableFormat:
    """Return the format that a file's ending asks for; without a file CSV is printed."""
    if path is None:
        return "csv"
    for ending, kind in _FORMATS.items():
        if path.name.lower().endswith(ending):
            return kind
    *most, last = _FORMATS
    raise InputError(
        "AGC-I808",
        f"--out must end in {', '.join(most)} or {last}",
        got=str(path),
        fix="change the ending",
    )


def write_table(table: pa.Table, path: Path) -> None:
    """Write ``table`` in the format of the file's ending, whole or not at all."""
    kind = table_format(path)
    with atomic_file(path) as handle:
        if kind == "parquet":
            from pyarrow import parquet

            parquet.write_table(table, handle)
        elif kind == "jsonl":
            write_json_lines(table, handle)
        elif path.suffix.lower() == ".gz":
            # Without a name and a time, so that the same table gives the same bytes.
            with gzip.GzipFile("", "wb", fileobj=handle, mtime=0) as packed:
                write_csv(table, packed)
        else:
            write_csv(table, handle)


def write_csv(table: pa.Table, handle: BinaryIO | gzip.GzipFile) -> None:
    """Write ``table`` as UTF-8 CSV; text is quoted, so that a line break stays in its cell."""
    from pyarrow import csv

    csv.write_csv(table, handle)


def write_json_lines(table: pa.Table, handle: BinaryIO) -> None:
    """Write ``table`` as one JSON object per line, in UTF-8."""
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in batch.to_pylist()]
        handle.write("".join(f"{line}\n" for line in lines).encode())
