"""A hop from a store, against the same hop in memory and what writing its bytes costs anyway.

A stored hop must compute, write, sync and hash. So it is compared with the sum of the four, each
measured by itself in the same run: the hop in memory, and plain writing, syncing and hashing of as
many bytes in files of the same size. What is done once for all hops (degrees and row blocks of Â
for the store; Â in a cache-friendly order for the hop in memory) is listed apart.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adagcn.bench.kept_fits import KeptFits, circumstances
from adagcn.bench.measures import Row, Section, fit_exponent, measure, ratio
from adagcn.bench.memory import watched
from adagcn.bench.timing import Tick
from adagcn.data.power_law import NodeOrder, PowerLaw, write_power_law_store
from adagcn.graph import Graph
from adagcn.propagation.hops import Hop
from adagcn.propagation.source import MemorySource
from adagcn.propagation.stored_hops import StoredHop, StoredSource

SUM = "in memory, written, synced and hashed"
STORED = "from the store"
MOST = 2.0  # times the sum: the aim
_COMPARED = 100_000  # rows whose bits are compared


@dataclass(frozen=True)
class HopPlan:
    """Sizes, and how often each is measured.

    Parameters
    ----------
    n_stored : tuple of int
        Non-zeros of the adjacency, ascending.
    n_features : int
        Columns.
    order : {"scattered", "community"}
        Of the nodes; scattered is the harder one.
    repetitions : int
        Hops that are timed, after the first.
    """

    n_stored: tuple[int, ...] = (500_000, 1_000_000, 2_000_000)
    n_features: int = 64
    order: NodeOrder = "scattered"
    repetitions: int = 3


QUICK = HopPlan()
FULL = HopPlan(n_stored=(1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000))


def measure_stored_hops(
    plan: HopPlan, *, kept: KeptFits, seed: int, folder: Path | None = None, tick: Tick
) -> Iterator[Section]:
    """Yield the parts of a hop at every size, and how they grow.

    Parameters
    ----------
    plan : HopPlan
        How much.
    kept : KeptFits
        Recorded sizes, to which new ones are added.
    seed : int
        Of the graphs.
    folder : Path, optional
        Where stores are made for a while; default: the system's temporary folder.
    tick : callable
        Called after every size.
    """
    found = []
    for n_stored in plan.n_stored:
        words = {"bench": "stored hop", "seed": seed, **asdict(plan), **circumstances()}
        words["n_stored"] = n_stored
        known = kept.find(words)
        if known is None:
            known = hop_parts(_graph(plan, n_stored, seed), plan.repetitions, folder)
            kept.add(words, known)
        found.append(known)
        tick()
        yield _section(known)
    if len(found) > 1:
        yield _growth(found)


def _graph(plan: HopPlan, n_stored: int, seed: int) -> PowerLaw:
    return PowerLaw(
        max(n_stored // 20, 64),
        round(0.52 * n_stored),  # some are drawn twice
        n_features=plan.n_features,
        seed=seed,
        order=plan.order,
    )


def hop_parts(graph: PowerLaw, repetitions: int, folder: Path | None = None) -> dict[str, Any]:
    """Generate a store, and time the parts of a hop.

    Returns
    -------
    dict
        Seconds by part, one per repetition; sizes, bytes, and the most memory beyond mapped files.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix="adagcn-bench-") as work:
        store = Path(work) / "store"
        made = _seconds(lambda: write_power_law_store(graph, store))
        stored, rows = _stored_parts(store, repetitions)
        files = _file_parts(rows, Path(work))
        adjacency = Graph.from_store(store).adjacency
        nodes = np.linspace(0, graph.n_nodes - 1, min(_COMPARED, graph.n_nodes)).astype(np.int64)
        ours = rows.rows(nodes)
        memory, theirs = _memory_parts(store, repetitions, nodes)
        facts = {
            "n_nodes": graph.n_nodes,
            "n_stored": int(adjacency.nnz),
            "n_features": graph.n_features,
            "bytes_of_propagator": _bytes_below(store / "propagator"),
            "same_bits": bool(np.array_equal(ours, theirs)),
            "generated": made,
        }
        del rows, adjacency
        shutil.rmtree(store, ignore_errors=True)
    return {**facts, **stored, **files, **memory}


def _stored_parts(store: Path, repetitions: int) -> tuple[dict[str, Any], StoredHop]:
    source = StoredSource(store, None, "none", None)
    with watched() as seen:
        held: list[StoredHop] = []
        started = _seconds(lambda: held.append(source.first()))
        first = _seconds(lambda: held.append(held.pop().next()))
        times = [_seconds(lambda: held.append(held.pop().next())) for _ in range(repetitions)]
        n_blocks = len(list((store / "propagator").rglob("*.rows")))
    facts = {"stored": times, "stored_first": started + first, "n_blocks": n_blocks}
    facts["peak_anonymous"] = seen.peak
    return facts, held[0]


def _file_parts(hop: StoredHop, folder: Path) -> dict[str, Any]:
    """Write, sync and hash all rows of a hop, one thing at a time."""
    seconds = {"write": 0.0, "sync": 0.0, "hash": 0.0}
    n_nodes = hop.shape[0]
    n_bytes, at_once = 0, max(2**26 // (4 * hop.shape[1]), 1)  # as many as in a block
    for start in range(0, n_nodes, at_once):
        rows = np.ascontiguousarray(hop.rows(slice(start, min(start + at_once, n_nodes))))
        content = rows.reshape(-1).view(np.uint8).data
        path = folder / f"rows-{start}.bin"
        with path.open("wb") as handle:
            seconds["write"] += _seconds(lambda h=handle, c=content: h.write(c))  # type: ignore[misc]
            seconds["sync"] += _seconds(lambda h=handle: _sync(h))  # type: ignore[misc]
        seconds["hash"] += _seconds(lambda c=content: hashlib.sha256(c).digest())  # type: ignore[misc]
        n_bytes += len(content)
        path.unlink()
    return {**seconds, "n_bytes": n_bytes}


def _sync(handle: Any) -> None:
    handle.flush()
    os.fsync(handle.fileno())


def _memory_parts(
    store: Path, repetitions: int, nodes: np.ndarray[Any, Any]
) -> tuple[dict[str, Any], Any]:
    graph = Graph.from_store(store)
    hop: list[Hop] = [MemorySource(np.array(graph.features), graph.adjacency).first()]
    first = _seconds(lambda: hop.append(hop.pop().next()))
    times = [_seconds(lambda: hop.append(hop.pop().next())) for _ in range(repetitions)]
    return {"memory": times, "memory_first": first}, hop[0].rows(nodes)


def _section(found: dict[str, Any]) -> Section:
    memory, stored = np.array(found["memory"]), np.array(found["stored"])
    written = found["write"] + found["sync"] + found["hash"]
    total = memory + written
    parts = {
        "the hop in memory": memory,
        "its bytes written": np.array([found["write"]]),
        "synced": np.array([found["sync"]]),
        "hashed": np.array([found["hash"]]),
        SUM: total,
        STORED: stored,
        "once: Â in memory, first hop with it": np.array([found["memory_first"]]),
        "once: Â cut into files, first hop with it": np.array([found["stored_first"]]),
    }
    reference = float(np.median(total))
    rows = [
        Row(
            name,
            "adagcn" if name == STORED else "bound",
            measure(seconds),
            ratio(stored, total) if name == STORED else measure(seconds / reference),
            {"peak_bytes": found["peak_anonymous"] if name == STORED else None},
        )
        for name, seconds in parts.items()
    ]
    said = "the same bits" if found["same_bits"] else "OTHER BITS THAN IN MEMORY"
    return Section(
        key="stored_hop",
        dataset=f"{found['n_stored']:,} non-zeros × {found['n_features']} features",
        title=f"one hop, {found['n_bytes'] / 1e6:,.0f} MB in {found['n_blocks']} blocks; {said}",
        ratio_name="over the sum",
        rows=tuple(rows),
        facts={**found, "most": MOST},
    )


def _growth(found: list[dict[str, Any]]) -> Section:
    sizes = [each["n_stored"] for each in found]
    seconds = np.array([each["stored"] for each in found]).T
    memory = np.array([each["memory"] for each in found]).T
    first = np.array([[each["stored_first"] for each in found]])
    return Section(
        key="stored_growth",
        dataset="a hop from the store",
        title=f"{found[0]['n_features']} features, against the non-zeros of the adjacency",
        ratio_name="over the smallest",
        rows=tuple(
            Row(
                f"{size:,}",
                "adagcn",
                measure(seconds[:, place]),
                ratio(seconds[:, place], seconds[:, 0]),
                {"size": size, "peak_bytes": found[place]["peak_anonymous"]},
            )
            for place, size in enumerate(sizes)
        ),
        facts={
            "exponents": {
                "time from the store": asdict(fit_exponent(sizes, seconds)),
                "time of the first hop, with the cut,": asdict(fit_exponent(sizes, first)),
                "time in memory": asdict(fit_exponent(sizes, memory)),
            }
        },
    )


def _seconds(do: Callable[[], Any]) -> float:
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
