"""The ledger: one row per finished run, in one SQLite file that only driver processes open."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from adagcn.errors import FormatError, InputError, IntegrityError, ResourceError
from adagcn.experiments.runs import Digest, Run, RunResult, canonical_json
from adagcn.models.support.renamed import renamed

DEFAULT_PATH = Path("adagcn-ledger.sqlite")

_APPLICATION = 0x41474C31  # how an SQLite file says whose it is
_VERSION = 4  # 1 had other names of settings; what 3 and 4 brought is in BROUGHT
_FIRST_WITH_NAMES = 2
_PATIENCE = 60.0  # seconds to wait while another command writes
_AT_ONCE = 500  # keys in one question, fewer than SQLite allows

_COLUMNS = ("key", *Run.model_fields, *RunResult.model_fields)
BROUGHT = {  # the last columns, by the version that brought them
    3: ("scores",),
    4: ("right", "scored_digest", "fit_cpu_seconds", "predict_cpu_seconds", "choices"),
}
_AS_JSON = {
    *("params", "accuracy_by_depth", "epochs_by_layer", "notices", "versions", "scores"),
    "choices",
}
_ADD = f"INSERT OR IGNORE INTO runs VALUES ({', '.join('?' * len(_COLUMNS))})"


class LedgerRow(BaseModel):
    """A finished run as stored in the ledger."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    key: Digest
    run: Run
    result: RunResult


def with_new_names(row: LedgerRow) -> LedgerRow:
    """Return a row of an older ledger with the current names of settings, and its new key."""
    run = row.run.model_copy(update={"params": renamed(row.run.model, row.run.params)})
    return LedgerRow(key=run.key, run=run, result=row.result)


class Ledger:
    """All finished runs, by key. Every row is on disk before :meth:`add` returns.

    Parameters
    ----------
    path : str or path-like
        The file. Several processes may have it open; a writer waits for another one.
    create : bool
        Whether to create a new ledger if there is no file.

    Raises
    ------
    InputError
        There is no file and ``create`` is off.
    FormatError
        The file is not a ledger, or is one of a newer release.
    """

    def __init__(self, path: str | os.PathLike[str] = DEFAULT_PATH, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise InputError(
                "AGC-I920", "there is no ledger", got=str(path), fix="give its path with --ledger"
            )
        with self._translated():
            self._connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return the ledger."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, run: Run, result: RunResult) -> None:
        """Save a finished run; an existing row stays unchanged."""
        self._bring_up_to_date()
        with self._translated():
            self._connection.execute(_ADD, _values(LedgerRow(key=run.key, run=run, result=result)))

    def add_scores(self, run: Run, result: RunResult) -> None:
        """Add the measures of a run that is there without them, if its accuracy is the same."""
        self._bring_up_to_date()
        with self._translated():
            known = self._accuracy(run.key)
            if known != result.accuracy:
                raise IntegrityError(
                    "AGC-G926",
                    f"{run} was trained again for its measures, but has accuracy {known} in "
                    f"{self.path}",
                    got=result.accuracy,
                    fix="use a new ledger: this one is of another version of the code",
                )
            question = "UPDATE runs SET scores = ? WHERE key = ?"
            self._connection.execute(question, [canonical_json(result.scores), run.key])

    def results(self, runs: Iterable[Run]) -> dict[str, RunResult]:
        """Return the results of those runs that are finished, by key."""
        keys = list(dict.fromkeys(run.key for run in runs))
        if self._has_old_names:  # and with them other keys
            known = {row.key: row.result for row in self.rows()}
            return {key: known[key] for key in keys if key in known}
        found: dict[str, RunResult] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._rows(f"WHERE key IN ({marks})", some)
            found.update((row.key, row.result) for row in rows)
        return found

    def rows(self) -> Iterator[LedgerRow]:
        """Yield every row, in the order of the keys."""
        rows = self._rows("ORDER BY key")
        return iter(sorted(rows, key=lambda row: row.key)) if self._has_old_names else rows

    def merge(self, rows: Iterable[LedgerRow]) -> int:
        """Add rows of another ledger, all or none of them, and return how many are new.

        Existing rows stay unchanged; an ``IntegrityError`` if a run exists with another accuracy.
        """
        self._bring_up_to_date()
        with self._translated(), self._transaction():
            before = self._connection.total_changes
            for row in rows:
                known = self._accuracy(row.key)
                if known not in (None, row.result.accuracy):
                    raise IntegrityError(
                        "AGC-G921",
                        f"{row.run} (key {row.key[:12]}) has accuracy {known} in {self.path}",
                        got=row.result.accuracy,
                        fix="merge into a new ledger, and find out which accuracy is right",
                    )
                self._connection.execute(_ADD, _values(row))
            return self._connection.total_changes - before

    def _accuracy(self, key: str) -> Any:
        question = "SELECT accuracy FROM runs WHERE key = ?"
        found = self._connection.execute(question, [key]).fetchone()
        return None if found is None else found[0]

    def _rows(self, which: str, values: Sequence[str] = ()) -> Iterator[LedgerRow]:
        lacking = _columns_since(self._version)
        there = [name for name in _COLUMNS if name not in lacking]
        with self._translated():
            question = f"SELECT {', '.join(map(_quoted, there))} FROM runs {which}"
            for record in self._connection.execute(question, values):
                yield self._row(dict(zip(there, record, strict=True)))

    def _row(self, record: dict[str, Any]) -> LedgerRow:
        try:
            plain = {k: json.loads(v) if k in _AS_JSON else v for k, v in record.items()}
            row = LedgerRow(
                key=plain["key"],
                run=Run(**{name: plain[name] for name in Run.model_fields}),
                result=RunResult(**{k: v for k, v in plain.items() if k in RunResult.model_fields}),
            )
            return with_new_names(row) if self._has_old_names else row
        except (ValidationError, ValueError, TypeError, RecursionError) as error:
            raise FormatError(
                "AGC-F922",
                f"{self.path} has a row that is not a run",
                got=record["key"],
                fix="use an older copy, or import an export into a new ledger",
            ) from error

    def _open(self) -> None:
        """Check whose file this is, and make a ledger of an empty one."""
        with self._translated():
            if self._is_empty():
                with self._transaction():
                    if self._is_empty():  # no other command was faster
                        self._begin()
            owner, version = (self._pragma(name) for name in ("application_id", "user_version"))
        if owner != _APPLICATION or version > _VERSION:
            raise FormatError(
                "AGC-F923",
                f"{self.path} is "
                + ("a ledger of a newer release" if owner == _APPLICATION else "not a ledger"),
                got=f"application {owner}, version {version}",
                fix="give another file with --ledger",
            )
        self._version = version

    @property
    def _has_old_names(self) -> bool:
        return self._version < _FIRST_WITH_NAMES

    def _bring_up_to_date(self) -> None:
        """Write an older ledger with the names and columns of now, all rows or none.

        Only where something is added: looking at a ledger changes no byte of it.
        """
        if self._version == _VERSION:
            return
        with self._translated(), self._transaction():
            if self._pragma("user_version") != _VERSION:  # no other command was faster
                rows = list(self.rows())
                for name in _columns_since(self._version):
                    self._connection.execute(f"ALTER TABLE runs ADD COLUMN {_quoted(name)}")
                self._connection.execute("DELETE FROM runs")
                self._connection.executemany(_ADD, map(_values, rows))
                self._connection.execute(f"PRAGMA user_version = {_VERSION}")
        self._version = _VERSION

    def _begin(self) -> None:
        columns = ", ".join(map(_quoted, _COLUMNS[1:]))
        self._connection.execute(f"CREATE TABLE runs (key TEXT PRIMARY KEY, {columns})")
        self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _is_empty(self) -> bool:
        (n_tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return n_tables == 0 and self._pragma("application_id") == 0

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
                raise FormatError(
                    "AGC-F924",
                    f"{self.path} is not a ledger, or is damaged: {error}",
                    fix="give another file with --ledger",
                ) from error
            raise ResourceError(
                "AGC-R925",
                f"the ledger {self.path} cannot be used: {error}",
                fix="check that its folder exists, is writable and has free space",
            ) from error


def _columns_since(version: int) -> list[str]:
    """Return the columns that a ledger of an earlier version lacks."""
    return [name for brought, names in BROUGHT.items() if brought > version for name in names]


def _quoted(column: str) -> str:
    return f'"{column}"'  # "right" is a word of SQL


def _values(row: LedgerRow) -> list[Any]:
    fields = {"key": row.key, **row.run.model_dump(), **row.result.model_dump()}
    return [canonical_json(v) if k in _AS_JSON else v for k, v in fields.items()]
