"""Ledgers as compressed text: one JSON object per line, the same bytes for the same rows."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adagcn.errors import FormatError, InputError, IntegrityError, UnsafeFileError
from adagcn.experiments.ledger import BROUGHT, Ledger, LedgerRow, with_new_names
from adagcn.experiments.runs import canonical_json
from adagcn.formats.atomic import atomic_file

_FORMAT = "adagcn-ledger"
_VERSION = 4  # 1 had other names of settings, 1 and 2 no scores, 1 to 3 nothing of BROUGHT[4]
_LONGEST_LINE = 1 << 20
_LARGEST_TEXT = 1 << 30  # bytes when unpacked; a row is about a thousand


def export_ledger(ledger: Ledger, path: str | os.PathLike[str]) -> int:
    """Write every row to a small file that :func:`import_ledger` reads.

    Parameters
    ----------
    ledger : Ledger
        What to write.
    path : str or path-like
        The file, usually ``….jsonl.gz``; it is written completely or not at all.

    Returns
    -------
    int
        How many rows.
    """
    n_rows = 0
    # No name and no time in the header, so that equal ledgers give equal bytes.
    with (
        atomic_file(path) as handle,
        gzip.GzipFile(filename="", mode="wb", fileobj=handle, mtime=0) as packed,
    ):
        packed.write(f"{_header(_VERSION)}\n".encode())
        for row in ledger.rows():
            packed.write(f"{canonical_json(_content(row))}\n".encode())
            n_rows += 1
    return n_rows


def import_ledger(ledger: Ledger, path: str | os.PathLike[str]) -> int:
    """Add the rows of an exported ledger, all or none of them.

    Parameters
    ----------
    ledger : Ledger
        Where they go; existing rows stay unchanged.
    path : str or path-like
        A file written by :func:`export_ledger`.

    Returns
    -------
    int
        How many are new.

    Raises
    ------
    InputError
        There is no such file.
    FormatError
        The file is damaged or holds something else.
    IntegrityError
        A row's key does not match its content, or the ledger has it with another accuracy.
    UnsafeFileError
        The file unpacks to more data than any ledger holds.
    """
    if not Path(path).is_file():
        raise InputError(
            "AGC-I930", "there is no exported ledger", got=str(path), fix="check the path"
        )
    return ledger.merge(_rows(Path(path)))


def stored_rows(path: str | os.PathLike[str]) -> Iterator[LedgerRow]:
    """Yield every finished run of a ledger, or of an exported one; nothing is written.

    Parameters
    ----------
    path : str or path-like
        A ledger, or a file written by :func:`export_ledger`: its first bytes tell.

    Raises
    ------
    InputError
        There is no such file.
    FormatError
        The file is neither of the two, or is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("AGC-I934", "there is no such ledger", got=str(path), fix="check the path")
    with path.open("rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
    if packed:
        yield from _rows(path)
        return
    if not path.stat().st_size:  # opened as a ledger, it would become one
        return
    with Ledger(path, create=False) as ledger:
        yield from ledger.rows()


def _rows(path: Path) -> Iterator[LedgerRow]:
    try:
        with gzip.open(path, "rb") as unpacked:
            lines = _lines(path, unpacked)
            version = _version(path, next(lines)[1])
            for number, line in lines:
                row = _row(path, number, line)
                yield with_new_names(row) if version == 1 else row
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _damaged(path, f"cannot be unpacked: {error}") from error


def _lines(path: Path, unpacked: gzip.GzipFile) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines, of which none and not all together may be too large."""
    total = number = 0
    while line := unpacked.readline(_LONGEST_LINE + 1):
        total, number = total + len(line), number + 1
        if len(line) > _LONGEST_LINE or total > _LARGEST_TEXT:
            raise UnsafeFileError(
                "AGC-U931",
                f"{path} unpacks to more than a ledger holds, at line {number:,}",
                got=f"{total:,} bytes",
                fix="do not use this file",
            )
        yield number, line
    if number == 0:
        raise _damaged(path, "is empty")


def _content(row: LedgerRow) -> dict[str, Any]:
    """Return a row for JSON; one of an earlier release is written as that release wrote it."""
    content = row.model_dump()
    for name in BROUGHT[4]:
        if content["result"][name] in (None, {}):
            del content["result"][name]
    return content


def _header(version: int) -> str:
    return canonical_json({"format": _FORMAT, "version": version})


def _version(path: Path, line: bytes) -> int:
    """Return the version that the first line names, if this release reads it."""
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "does not begin like an export") from error
    versions = {_header(version): version for version in range(1, _VERSION + 1)}
    try:
        return versions[canonical_json(header)]
    except (KeyError, ValueError):
        raise _damaged(path, "is not an export, or one of a newer release") from None


def _row(path: Path, number: int, line: bytes) -> LedgerRow:
    try:
        row = LedgerRow.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise _damaged(path, f"has no run in line {number}: {place} {first['msg']}") from None
    if row.key != row.run.key:
        raise IntegrityError(
            "AGC-G932",
            f"{path} has a key in line {number} that does not match its content",
            got=row.key,
            fix="export the ledger again",
        )
    return row


def _damaged(path: Path, how: str) -> FormatError:
    return FormatError(
        "AGC-F933", f"{path} {how}", fix="use a file written by `adagcn ledger export`"
    )
