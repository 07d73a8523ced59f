"""What a change of a graph costs when its hops are kept, against hops computed anew.

A power-law graph with communities gets 0.1 % more edges: inside one community, or scattered over
the graph. Timed hop by hop, in memory and in a store; the result is compared bit for bit. How far a
change reaches is a property of the graph: the more edges lead out of a community, the further.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.bench.measures import Row, Section, measure, ratio
from adagcn.data.power_law import PowerLaw
from adagcn.data.stores import GraphStore
from adagcn.graph import Graph
from adagcn.propagation.changed_rows import (
    EarlierNodes,
    HopUpdate,
    Reach,
    changed_edges,
    changed_propagator,
)
from adagcn.propagation.cut_rows import FOLDER
from adagcn.propagation.hops import Hop
from adagcn.propagation.kept_files import drop_kept
from adagcn.propagation.kept_hops import KeptHops
from adagcn.propagation.row_blocks import RowBlocks, degrees_of
from adagcn.propagation.scaling import hop_digest
from adagcn.propagation.source import HopSource, MemorySource
from adagcn.propagation.stored_hops import StoredSource

Where = Literal["one community", "scattered"]
NEW_EDGES = 0.001  # share of the edges that are new


@dataclass(frozen=True)
class UpdatesPlan:
    """Sizes, and how often each takes its turn in memory; in a store everything is timed once."""

    n_edges: int
    repetitions: int
    n_features: int = 64
    n_communities: int = 64
    homophily: float = 0.999
    n_hops: int = 4

    @property
    def graph(self) -> PowerLaw:
        """The graph before the change: a mean degree of twenty."""
        return PowerLaw(
            max(self.n_edges // 10, self.n_communities),
            self.n_edges,
            n_features=self.n_features,
            n_communities=self.n_communities,
            homophily=self.homophily,
        )


QUICK = UpdatesPlan(n_edges=1_000_000, repetitions=1)
FULL = UpdatesPlan(n_edges=10_000_000, repetitions=3)


def measure_updates(plan: UpdatesPlan, *, seed: int, tick: Callable[[], None]) -> Iterator[Section]:
    """Yield a section for each kind of change, in memory and in a store."""
    today = generated(plan.graph)
    for where in ("one community", "scattered"):
        pairs = new_edges(plan, where, seed)
        pairs = pairs[np.asarray(today.adjacency[pairs[:, 0], pairs[:, 1]]) == 0]
        tomorrow = with_edges(today, pairs)
        reached = shares_within_reach(today, tomorrow, plan.n_hops)
        for section in (
            _in_memory(plan, where, today, tomorrow, tick),
            _in_a_store(plan, where, today, tomorrow, pairs),
        ):
            rows = [
                replace(row, facts={**row.facts, "reached": share})
                for row, share in zip(section.rows, [*reached, None], strict=True)
            ]
            yield replace(section, rows=tuple(rows))
        tick()


def generated(drawn: PowerLaw) -> Graph:
    """Return a power-law graph in memory."""
    blocks = [drawn.rows(block) for block in range(drawn.n_blocks)]
    rows, columns = (np.concatenate([block[side] for block in blocks]) for side in (0, 1))
    ends = np.searchsorted(rows, np.arange(drawn.n_nodes + 1))
    parts = (np.ones(len(columns), dtype=np.float32), columns.astype(np.int32), ends)
    features = np.concatenate([drawn.features(block) for block in range(drawn.n_blocks)])
    return Graph(
        sparse.csr_array(parts, shape=(drawn.n_nodes, drawn.n_nodes)),
        features,
        np.arange(drawn.n_nodes),
        drawn.labels(slice(0, drawn.n_nodes)),
        np.arange(drawn.n_classes),
    )


def new_edges(plan: UpdatesPlan, where: Where, seed: int) -> NDArray[np.int64]:
    """Return pairs of nodes, drawn evenly within one community or from all nodes."""
    graph, rng = plan.graph, np.random.default_rng(seed)
    nodes = np.arange(graph.n_nodes)
    if where == "one community":
        nodes = nodes[graph.communities(slice(0, graph.n_nodes)) == 0]
    pairs = nodes[rng.integers(0, len(nodes), (max(int(NEW_EDGES * plan.n_edges), 1), 2))]
    return np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)


def with_edges(graph: Graph, pairs: NDArray[np.int64]) -> Graph:
    """Return a graph with further edges."""
    both = np.vstack([pairs, pairs[:, ::-1]])
    ones = np.ones(len(both), dtype=np.float32)
    more = sparse.coo_array((ones, (both[:, 0], both[:, 1])), shape=graph.adjacency.shape).tocsr()
    adjacency = sparse.csr_array(graph.adjacency.maximum(more))
    return Graph(adjacency, graph.features, graph.node_ids, graph.labels, graph.classes)


def shares_within_reach(today: Graph, tomorrow: Graph, n_hops: int) -> list[float]:
    """Return which share of the rows of each hop a change of edges reaches."""
    earlier = EarlierNodes.appended(today.n_nodes, tomorrow.n_nodes)
    graphs = (tomorrow, today)
    blocks = [RowBlocks.cut(graph.adjacency.indptr, 0, 2**26) for graph in graphs]
    now, then = (
        degrees_of(graph.adjacency, some, is_symmetric=True)
        for graph, some in zip(graphs, blocks, strict=True)
    )
    edges = changed_edges(today.adjacency, tomorrow.adjacency, earlier)
    propagator = changed_propagator(tomorrow.adjacency, edges, (now, then), earlier)
    changed = np.zeros(tomorrow.n_nodes, dtype=bool)
    reach = Reach(tomorrow.adjacency, changed, propagator, 0.0)
    shares = [0.0]
    for _ in range(1, n_hops):
        changed = reach.next(changed)
        shares.append(float(changed.mean()))
    return shares


def timed_hops(source: HopSource, n_hops: int) -> tuple[list[float], Hop]:
    """Return the seconds that each hop takes, hop 0 with what comes before it, and the last."""
    seconds, start = [], time.perf_counter()
    hop = source.first()
    seconds.append(time.perf_counter() - start)
    for _ in range(1, n_hops):
        start = time.perf_counter()
        hop = hop.next()
        seconds.append(time.perf_counter() - start)
    return seconds, hop


def _in_memory(
    plan: UpdatesPlan, where: str, today: Graph, tomorrow: Graph, tick: Callable[[], None]
) -> Section:
    before, after = (MemorySource(g.features, g.adjacency) for g in (today, tomorrow))
    kept = KeptHops.of(before, today.node_ids, plan.n_hops)
    _ = kept.degrees  # counted once, when hops are kept
    anew, updated = [], []
    for repetition in range(plan.repetitions):
        plain, last = timed_hops(after, plan.n_hops)
        wanted = hop_digest(last) if not repetition else ""
        del last
        found, last = timed_hops(kept.updated(after, tomorrow.node_ids), plan.n_hops)
        if not repetition and hop_digest(last) != wanted:
            raise AssertionError("hops from kept ones differ from new ones")
        anew.append(plain)
        updated.append(found)
        tick()
    assert kept.last_update is not None
    return _section(plan, f"{where}, in memory", (anew, updated), kept.last_update, {})


def _in_a_store(
    plan: UpdatesPlan, where: str, today: Graph, tomorrow: Graph, pairs: NDArray[np.int64]
) -> Section:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        today.to_store(path)
        store = GraphStore(path)
        kept = StoredSource(path, None, "none", None).keep_hops(plan.n_hops)
        start = time.perf_counter()
        change = store.update(edges=pairs, duplicates="max", self_loops="keep")
        seconds = time.perf_counter() - start
        if change.input_digest != tomorrow.input_digest:
            raise AssertionError("the updated store differs from the graph of all edges")
        updated, last = timed_hops(StoredSource(path, None, "none", None), plan.n_hops)
        found, update = hop_digest(last), kept.last_update
        del last
        drop_kept(path)
        shutil.rmtree(path / FOLDER)  # rows of Â are cut in both runs
        anew, last = timed_hops(StoredSource(path, None, "none", None), plan.n_hops)
        if hop_digest(last) != found:
            raise AssertionError("hops from kept ones differ from new ones")
        del last
        start = time.perf_counter()
        tomorrow.to_store(Path(folder) / "again")
        again = time.perf_counter() - start
    if update is None:  # all new edges were there already
        update = HopUpdate(tomorrow.n_nodes, (0,) * plan.n_hops)
    facts = {"seconds_of_store_update": seconds, "seconds_of_writing_the_store": again}
    return _section(plan, f"{where}, in a store", ([anew], [updated]), update, facts)


def _section(
    plan: UpdatesPlan,
    where: str,
    samples: tuple[list[list[float]], list[list[float]]],
    update: HopUpdate,
    facts: dict[str, Any],
) -> Section:
    anew, updated = (np.array(each) for each in samples)
    shares = [*update.shares, *[1.0] * (plan.n_hops - len(update.rows))]
    rows = [
        Row(
            "comparing the graphs" if hop == 0 else f"hop {hop}",
            "adagcn",
            measure(updated[:, hop]),
            None if hop == 0 else ratio(updated[:, hop], anew[:, hop]),
            {"share": shares[hop], "is_whole": hop >= len(update.rows)},
        )
        for hop in range(plan.n_hops)
    ]
    total = Row(
        "all",
        "adagcn",
        measure(updated.sum(axis=1)),
        ratio(updated.sum(axis=1), anew.sum(axis=1)),
        {"share": None, "is_whole": False},
    )
    return Section(
        key="updates",
        dataset=f"{plan.n_edges:,} edges, power law",
        title=f"0.1 % more edges, {where}",
        ratio_name="time over a new computation",
        rows=(*rows, total),
        facts={
            **facts,
            "n_nodes": update.n_nodes,
            "n_communities": plan.n_communities,
            "homophily": plan.homophily,
            "whole": update.whole,
        },
    )
