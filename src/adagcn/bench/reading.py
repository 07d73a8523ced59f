"""Reading a file of edges with string ids, against what pyarrow needs to read its columns.

CPU time, not seconds: pyarrow reads with several threads. Two files: edges in the order in which
most exports have them (grouped by their source), and edges in random order, the worst case for
looking up ids.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.bench.memory import peak_growth
from adagcn.graph import Graph

PYARROW = "pyarrow, the two columns"
GRAPH = "adagcn, the graph"


@dataclass(frozen=True)
class ReadingPlan:
    """Sizes, and how often each reader takes its turn."""

    n_edges: int
    repetitions: int

    @property
    def n_nodes(self) -> int:
        """A tenth of the edges: a mean degree of twenty."""
        return max(self.n_edges // 10, 2)


QUICK = ReadingPlan(n_edges=1_000_000, repetitions=3)
FULL = ReadingPlan(n_edges=10_000_000, repetitions=5)


def measure_reading(plan: ReadingPlan, *, seed: int, tick: Callable[[], None]) -> Iterator[Section]:
    """Yield a section for each order of the edges."""
    for order in ("grouped by source", "in random order"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "edges.csv"
            write_edges(path, plan, seed, grouped=order.startswith("grouped"))
            yield _section(path, plan, order, tick)


def write_edges(path: Path, plan: ReadingPlan, seed: int, *, grouped: bool) -> None:
    """Write random edges between nodes that are called user_00000000 and so on."""
    rng = np.random.default_rng(seed)
    ids = pa.array([f"user_{i:08d}" for i in range(plan.n_nodes)])
    sources, targets = rng.integers(plan.n_nodes, size=(2, plan.n_edges))
    if grouped:
        sources.sort()
    columns = {"source": ids.take(pa.array(sources)), "target": ids.take(pa.array(targets))}
    pacsv.write_csv(pa.table(columns), path, pacsv.WriteOptions(quoting_style="none"))


def read_columns(path: Path) -> pa.Table:
    """Read the columns as strings, and nothing more."""
    kinds = {"source": pa.string(), "target": pa.string()}
    return pacsv.read_csv(path, convert_options=pacsv.ConvertOptions(column_types=kinds))


def read_graph(path: Path) -> Graph:
    """Read the file as a graph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # random edges repeat
        return Graph.from_edges(path)


def _section(path: Path, plan: ReadingPlan, order: str, tick: Callable[[], None]) -> Section:
    readers: dict[str, Callable[[Path], Any]] = {PYARROW: read_columns, GRAPH: read_graph}
    samples: dict[str, list[float]] = {name: [] for name in readers}
    for repetition in range(plan.repetitions + 1):
        for name, read in readers.items():
            start = time.process_time()
            read(path)
            if repetition:  # the first one loads libraries and fills the cache of the disk
                samples[name].append(time.process_time() - start)
            tick()
    size = path.stat().st_size
    peak = peak_growth(Path, read_graph, (str(path),), warm_up=(str(_small(path)),))
    return Section(
        key="reading",
        dataset=f"{plan.n_edges:,} edges, {order}",
        title=f"CPU time of reading {size / 2**20:,.0f} MB with string ids",
        ratio_name="CPU time over pyarrow's",
        rows=tuple(
            Row(
                name,
                "adagcn" if name == GRAPH else "bound",
                measure(np.array(samples[name])),
                ratio(np.array(samples[name]), np.array(samples[PYARROW])),
                {
                    "peak_bytes": peak if name == GRAPH else None,
                    "peak_over_data": peak / size if peak and name == GRAPH else None,
                },
            )
            for name in readers
        ),
        facts={"file_bytes": size, "n_nodes": plan.n_nodes},
    )


def _small(path: Path) -> Path:
    small = path.with_name("small.csv")
    small.write_text("source,target\na,b\n", encoding="utf-8")
    return small
