"""Building a store out of core, against what DuckDB alone needs to sort the same edges.

Edges of a power-law graph with integer ids stand in a CSV file in random order. DuckDB reads them,
sorts them by their two columns and writes them as Parquet. The store needs more: ids are numbered,
every edge is sorted in both directions, repeated edges are merged, and everything is hashed. Both
have the same memory limit and one thread. CPU time, not seconds, since disks differ.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.memory import peak_growth
from adagcn.errors import ResourceError
from adagcn.formats.nodes import NodeSource
from adagcn.formats.scratch_database import Limits
from adagcn.formats.store_build import EdgeTable, build_store

DUCKDB = "DuckDB, the edges sorted"
STORE = "adagcn, the store"

_MEMORY = 2**29
_FLATNESS = 0.6  # degrees fall with the rank of a node to this power


@dataclass(frozen=True)
class BuildingPlan:
    """Sizes, and how often each takes its turn."""

    n_edges: int
    repetitions: int

    @property
    def n_nodes(self) -> int:
        """A tenth of the edges: a mean degree of twenty."""
        return max(self.n_edges // 10, 2)


QUICK = BuildingPlan(n_edges=2_000_000, repetitions=3)
FULL = BuildingPlan(n_edges=20_000_000, repetitions=3)


def measure_building(
    plan: BuildingPlan, *, seed: int, tick: Callable[[], None]
) -> Iterator[Section]:
    """Yield the section of one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        write_power_law(path, plan, seed)
        yield _section(path, plan, tick)


def write_power_law(path: Path, plan: BuildingPlan, seed: int) -> None:
    """Write random edges whose ends are drawn by a power of their rank; ids have gaps."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, plan.n_nodes + 1) ** -_FLATNESS
    until = np.cumsum(shares / shares.sum())
    ids = 7 * rng.permutation(plan.n_nodes) + 13
    ends = [np.searchsorted(until, rng.random(plan.n_edges)) for _ in range(2)]
    sources, targets = (ids[np.minimum(each, plan.n_nodes - 1)] for each in ends)
    pacsv.write_csv(pa.table({"source": sources, "target": targets}), path)


def sort_edges(path: Path) -> None:
    """Sort the edges with DuckDB and write them as Parquet."""
    try:
        import duckdb
    except ImportError as error:
        raise ResourceError(
            "AGC-R1429",
            "this benchmark needs the package duckdb",
            fix="install it with pip install 'adagcn[scale]'",
        ) from error
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        settings: dict[str, Any] = {
            "memory_limit": f"{_MEMORY // 2**20}MiB",
            "threads": 1,
            "temp_directory": folder,
        }
        with duckdb.connect(config=settings) as connection:
            connection.execute("SET enable_progress_bar = false")  # it would print
            connection.execute(
                f"COPY (SELECT * FROM read_csv('{path}') ORDER BY 1, 2) TO '{folder}/e.parquet'"
            )


def build(path: Path) -> None:
    """Build a store of the edges, and remove it again."""
    store = path.with_name("store")
    build_store(store, EdgeTable(path), NodeSource(), limits=Limits(_MEMORY))
    shutil.rmtree(store)


def _section(path: Path, plan: BuildingPlan, tick: Callable[[], None]) -> Section:
    ways: dict[str, Callable[[Path], None]] = {DUCKDB: sort_edges, STORE: build}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    wall: dict[str, list[float]] = {name: [] for name in ways}
    for repetition in range(plan.repetitions + 1):
        for name, use in ways.items():
            start, clock = time.process_time(), time.perf_counter()
            use(path)
            if repetition:  # the first one loads libraries and fills the cache of the disk
                cpu[name].append(time.process_time() - start)
                wall[name].append(time.perf_counter() - clock)
            tick()
    size = path.stat().st_size
    small = path.with_name("small.csv")
    small.write_text("source,target\n1,2\n", encoding="utf-8")
    peaks = {
        name: peak_growth(Path, use, (str(path),), warm_up=(str(small),))
        for name, use in ways.items()
    }
    return Section(
        key="building",
        dataset=f"{plan.n_edges:,} edges, power law",
        title=f"CPU time of a store from {size / 2**20:,.0f} MB of edges",
        ratio_name="CPU time over DuckDB's sort",
        rows=tuple(
            Row(
                name,
                "adagcn" if name == STORE else "bound",
                measure(np.array(cpu[name])),
                ratio(np.array(cpu[name]), np.array(cpu[DUCKDB])),
                {
                    "peak_bytes": peaks[name],
                    "peak_over_data": (peaks[name] or 0) / size,
                    "seconds": float(np.median(wall[name])),
                },
            )
            for name in ways
        ),
        facts={"file_bytes": size, "n_nodes": plan.n_nodes, "memory_limit": _MEMORY},
    )
