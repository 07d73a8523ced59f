"""Columns of ids, some rows at a time, in one exact form: 64-bit integers or strings.

The rules are those of :mod:`adagcn.formats.node_ids`: ids of text files are integers if all of them
are written as integers, else strings without the spaces around them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from adagcn.formats.columns import are_decimals
from adagcn.formats.node_ids import IdKind, missing_ids, not_integers, nul_in_id
from adagcn.formats.table_streams import TableStream, not_out_of_core


class NotIntegers(Exception):  # noqa: N818
    """Text that does not stand for integers, where all ids so far did: they are strings."""


@dataclass
class IdColumnReader:
    """Reads one column of ids.

    Parameters
    ----------
    stream : TableStream
        The table.
    name : str
        The column.
    kind : {"integers", "strings"}
        What the ids of the graph are.
    is_certain : bool
        Whether some table says so; otherwise it is an attempt.
    spaced : list of pyarrow.Table
        Ids with spaces around them, as they were (``id``) and without (``trimmed``).
    n_rows, n_missing, first_missing : int
        Rows so far, those of them without an id, and the first of those.
    """

    stream: TableStream
    name: str
    kind: IdKind
    is_certain: bool
    spaced: list[pa.Table] = field(default_factory=list)
    n_rows: int = 0
    n_missing: int = 0
    first_missing: int = -1

    @property
    def argument(self) -> str:
        """What to call the column in messages."""
        return f"column {self.name!r} of {self.stream.table.argument}"

    def read(self, column: pa.Array) -> pa.Array:
        """Return further rows of the column in the form of the graph's ids.

        Raises
        ------
        NotIntegers
            If the attempt to read text as integers fails.
        InputError
            If an id cannot be one.
        """
        if column.null_count:
            if not self.n_missing:
                self.first_missing = self.n_rows + pc.index(pc.is_null(column), True).as_py()
            self.n_missing += column.null_count
        self.n_rows += len(column)
        if pa.types.is_integer(column.type):
            return self._within_64_bits(column)
        text = column if column.type == pa.string() else column.cast(pa.string())
        if self.kind == "strings":
            return self._strings(text)
        return self._integers(text)

    def check(self) -> None:
        """Refuse rows without an id, once all have been read."""
        if self.n_missing:
            raise missing_ids(self.argument, self.n_missing, self.first_missing)

    def _within_64_bits(self, column: pa.Array) -> pa.Array:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise not_out_of_core(f"{self.argument} holds integers past 64 bits") from None

    def _strings(self, text: pa.Array) -> pa.Array:
        nul = pc.match_substring(text, "\0")
        if pc.any(nul).as_py():
            raise nul_in_id(self.argument, text.filter(nul)[0].as_py())
        trimmed = pc.utf8_trim_whitespace(text)
        self._note_spaces(text, trimmed)
        return trimmed if self.stream.table.untyped else text

    def _integers(self, text: pa.Array) -> pa.Array:
        """Return text as integers; each must be written in the one way that integers are."""
        found = _canonical(text)
        if found is None:
            trimmed = pc.utf8_trim_whitespace(text)
            self._note_spaces(text, trimmed)
            found = _canonical(trimmed)
            if found is None:
                raise self._not_integers(trimmed)
        return found

    def _not_integers(self, text: pa.Array) -> Exception:
        values = text.drop_null().to_numpy(zero_copy_only=False)
        odd = values[~are_decimals(values.astype(str))]
        if not len(odd):
            return not_out_of_core(f"{self.argument} holds integers past 64 bits")
        if self.is_certain:
            return not_integers(self.argument, odd[:5].tolist())
        return NotIntegers()

    def _note_spaces(self, text: pa.Array, trimmed: pa.Array) -> None:
        changed = pc.not_equal(text, trimmed)
        if pc.any(changed).as_py():
            columns = {"id": text.filter(changed), "trimmed": trimmed.filter(changed)}
            self.spaced.append(pa.table(columns))

    def taken_spaced(self) -> list[pa.Table]:
        """Return the ids with spaces that were met since the last call."""
        taken, self.spaced = self.spaced, []
        return taken


def _canonical(text: pa.Array) -> Any:
    """Return text as 64-bit integers; None if some of it is written in another way."""
    try:
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    same = pc.all(pc.equal(integers.cast(pa.string()), text), min_count=0).as_py()
    return integers if same else None
