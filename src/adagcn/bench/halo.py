"""How many rows of other blocks a block of nodes needs, by the order of the nodes.

A worker that makes a block of the next hop reads the rows of its halo: those of its own nodes and
of all their neighbors. Halos of all blocks together, over the number of nodes, say how often a row
is moved in one hop, and so what a cluster's network or disk must carry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.bench.measures import Row, Section, measure
from adagcn.bench.timing import Tick, seconds_of
from adagcn.data.power_law import PowerLaw
from adagcn.propagation.blocks import near_order


@dataclass(frozen=True)
class HaloPlan:
    """Sizes.

    Parameters
    ----------
    n_nodes, n_edges : int
        Of the generated graph.
    n_blocks : tuple of int
        Into how many blocks the nodes are cut.
    repetitions : int
        How often an order is computed, for its time.
    """

    n_nodes: int = 50_000
    n_edges: int = 500_000
    n_blocks: tuple[int, ...] = (16, 128, 1024)
    repetitions: int = 1


QUICK = HaloPlan()
FULL = HaloPlan(n_nodes=500_000, n_edges=5_000_000)


def measure_halos(plan: HaloPlan, *, seed: int, tick: Tick) -> Iterator[Section]:
    """Yield the halos under every order, for every number of blocks."""
    graph = PowerLaw(plan.n_nodes, plan.n_edges, seed=seed)
    adjacency = whole_adjacency(graph)
    tick()
    found: list[NDArray[Any]] = []
    took = [seconds_of(lambda: found.append(near_order(adjacency)))]
    took += [seconds_of(lambda: near_order(adjacency)) for _ in range(plan.repetitions - 1)]
    communities = graph.communities(slice(0, graph.n_nodes))
    orders = {
        "as given (scattered)": (np.arange(graph.n_nodes), [0.0]),
        "reverse Cuthill–McKee": (found[0], took),
        "by community": (np.argsort(communities, kind="stable"), [0.0]),
    }
    shares = {
        name: {n: halo_share(adjacency, order, n) for n in plan.n_blocks}
        for name, (order, _) in orders.items()
    }
    tick()
    for n_blocks in plan.n_blocks:
        yield Section(
            key="halo",
            dataset=f"{n_blocks:,} blocks",
            title=f"halos of a graph with {graph.n_nodes:,} nodes and {adjacency.nnz:,} non-zeros",
            ratio_name="rows read, over rows",
            rows=tuple(
                Row(name, "adagcn", measure(took), measure([shares[name][n_blocks]]), {})
                for name, (_, took) in orders.items()
            ),
            facts={"shares": {name: each[n_blocks] for name, each in shares.items()}},
        )


def whole_adjacency(graph: PowerLaw) -> sparse.csr_array:
    """Return the adjacency of a generated graph that fits into memory."""
    parts = [graph.rows(block) for block in range(graph.n_blocks)]
    rows, columns = (np.concatenate([each[end] for each in parts]) for end in (0, 1))
    shape = (graph.n_nodes, graph.n_nodes)
    return sparse.csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)


def halo_share(adjacency: sparse.csr_array, order: NDArray[Any], n_blocks: int) -> float:
    """Return the sizes of the halos of all blocks together, over the number of nodes.

    >>> ring = sparse.csr_array(np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1))
    >>> halo_share(ring, np.arange(8), 2)  # each half and one node on either side
    1.5
    """
    ends = np.linspace(0, len(order), n_blocks + 1).astype(int)
    total = 0
    for start, end in pairwise(ends):
        rows = order[start:end]
        marks = np.zeros(len(order), dtype=bool)
        marks[rows] = True
        marks[adjacency[rows].indices] = True
        total += int(np.count_nonzero(marks))
    return total / len(order)
