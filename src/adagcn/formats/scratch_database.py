"""A DuckDB database in a temporary folder, within a memory limit: sorts and joins on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from adagcn.errors import InputError, ResourceError

DEFAULT_MEMORY = 2**30
_LEAST_MEMORY = 64 * 2**20
_ROWS_AT_ONCE = 2**18


@dataclass(frozen=True)
class Limits:
    """What DuckDB may use.

    Parameters
    ----------
    memory : int
        Bytes; what does not fit goes to temporary files. The rest of the process adds up to 0.6 GB.
    threads : int
        Threads; more of them sort faster and need more memory. The result is the same.
    """

    memory: int = DEFAULT_MEMORY
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse limits within which nothing can be sorted."""
        if self.memory < _LEAST_MEMORY or self.threads < 1:
            raise InputError(
                "AGC-I1413",
                "building a store needs a memory limit of at least 64MB and one thread",
                got=f"{self.memory:,} bytes, {self.threads} threads",
                fix="raise the limit; 1GB is usual",
            )


class ScratchDatabase:
    """Tables on the disk.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        The open database.
    limits : Limits
        For messages.
    """

    def __init__(self, connection: Any, limits: Limits) -> None:
        self._connection, self._limits = connection, limits

    def run(self, statement: str) -> None:
        """Run a statement."""
        with self._explained():
            self._connection.execute(statement)

    def insert(self, table: str, rows: pa.Table) -> None:
        """Add rows to a table, which has the columns of ``rows`` in their order."""
        with self._explained(), self._registered(rows):
            self._connection.execute(f"INSERT INTO {table} SELECT * FROM given")

    def row(self, query: str, given: pa.Table | None = None) -> tuple[Any, ...]:
        """Return the only row of a query; ``given`` is a table that it may name."""
        return self.rows(query, given)[0]

    def rows(self, query: str, given: pa.Table | None = None) -> list[tuple[Any, ...]]:
        """Return the few rows of a query."""
        with self._explained(), self._registered(given):
            found: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
            return found

    def column(self, query: str, given: pa.Table) -> pa.ChunkedArray:
        """Return the one column of a query about a given table."""
        with self._explained(), self._registered(given):
            return pa.Table.from_batches(self._reader(query)).column(0)

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query, some at a time."""
        with self._explained():
            reader = self._reader(query)
        while True:
            with self._explained():
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def _reader(self, query: str) -> Iterator[pa.RecordBatch]:
        relation = self._connection.sql(query)
        # The first releases have another name for it.
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        return iter(read(_ROWS_AT_ONCE))

    @contextmanager
    def _registered(self, given: pa.Table | None) -> Iterator[None]:
        if given is None:
            yield
            return
        self._connection.register("given", given)
        try:
            yield
        finally:
            self._connection.unregister("given")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what DuckDB cannot do into an error that says what to do."""
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise ResourceError(
                "AGC-R1414",
                f"building the store does not fit into {self._limits.memory / 2**20:,.0f} MB of "
                "memory and the free disk space",
                got=str(error).splitlines()[0],
                fix="raise the memory limit, or free space on the disk of the store",
            ) from error
        except (duckdb.IOException, OSError) as error:
            raise ResourceError(
                "AGC-R1415",
                "a temporary file of the store could not be written or read",
                got=str(error).splitlines()[0],
                fix="check that the disk of the store is writable and has free space",
            ) from error


@contextmanager
def scratch_database(folder: Path, limits: Limits) -> Iterator[ScratchDatabase]:
    """Open an empty database in a folder.

    Raises
    ------
    ResourceError
        If DuckDB is not installed, or later if memory or disk do not suffice.
    """
    try:
        import duckdb
    except ImportError as error:
        raise ResourceError(
            "AGC-R1416",
            "building a store out of core needs the package duckdb",
            fix="install it with pip install 'adagcn[scale]', or build the store in memory",
        ) from error
    settings: dict[str, Any] = {
        "memory_limit": f"{limits.memory // 2**20}MiB",
        "threads": limits.threads,
        "temp_directory": str(folder / "spilled"),
        "preserve_insertion_order": False,  # every query that cares sorts
        "autoinstall_known_extensions": False,  # nothing is downloaded
        "autoload_known_extensions": False,
    }
    with duckdb.connect(str(folder / "tables.duckdb"), config=settings) as connection:
        connection.execute("SET enable_progress_bar = false")
        yield ScratchDatabase(connection, limits)
