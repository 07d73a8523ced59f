"""Print the table of docs/cost-model.md: bytes, seconds and money of a hop, by graph and machines.

``python tools/cost_model.py`` computes it from the rates below; the page says where they come from.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

MULTIPLICATIONS = 1.0e9  # per second and core, of a sparse product: results/bench/scale-hop.json
WRITING = 1.1e9  # bytes per second and machine, with syncing and hashing: the same record
CORES = 16
MEMORY = 64e9
FROM_MEMORY = 20e9  # bytes per second and machine, rows gathered
FROM_DISK = 2e9
NETWORK = 1.25e9
PRICE = 1.0  # of a machine and hour
PAGE = 4096  # bytes that are read at least, of a disk or a shared folder
BLOCK = 2**26  # bytes of a block: its rows, and 12 for each of its non-zeros


@dataclass(frozen=True)
class Order:
    """Where nodes stand: how many rows blocks need, and which of them share pages.

    Both are shares of the rows that scattered nodes need, from 128 blocks of ``adagcn bench halo``.
    """

    name: str
    needed: float
    together: float  # rows that fill whole pages: they stand side by side


ORDERS = (
    Order("scattered", 1.0, 0.0),
    Order("by community", 0.34, 0.12),  # the community of a block is two of the 128 blocks
)


@dataclass(frozen=True)
class Sizes:
    """A graph: nodes, non-zeros of the symmetric adjacency, columns."""

    name: str
    nodes: float
    stored: float
    columns: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in float32."""
        return 4 * self.columns

    @property
    def hop_bytes(self) -> float:
        """Bytes of one hop."""
        return self.nodes * self.row_bytes

    @property
    def most_rows(self) -> float:
        """Rows of all halos at most: one for every non-zero and for every node."""
        return self.stored + self.nodes

    def needed(self, order: Order) -> float:
        """Return the bytes of the rows of all halos."""
        return order.needed * self.most_rows * self.row_bytes

    def read(self, machines: float, order: Order) -> float:
        """Return the bytes that all machines together read of the files of a hop.

        For each block, the pages of the rows that it needs, or all pages if that is less. A machine
        whose memory holds the hop reads each page once.
        """
        alone = (order.needed - order.together) * max(self.row_bytes, PAGE)
        pages = self.most_rows * (alone + order.together * self.row_bytes)
        times = machines if self.hop_bytes < MEMORY / 2 else self.blocks
        return min(pages, times * self.hop_bytes)

    @property
    def blocks(self) -> float:
        """Number of blocks: no more machines than these have something to do."""
        return (self.hop_bytes + 12 * self.stored) / BLOCK

    def seconds(self, machines: int, order: Order) -> float:
        """Return the time of one hop, nothing overlapped."""
        busy = min(machines, self.blocks)
        own = 1 / busy
        local = FROM_MEMORY if own * self.hop_bytes < MEMORY / 2 else FROM_DISK
        computed = self.stored * self.columns / (MULTIPLICATIONS * CORES)
        read = self.read(busy, order) * ((1 - own) / NETWORK + own / local)
        gathered = self.needed(order) / FROM_MEMORY
        kept = self.hop_bytes / WRITING + 8 * self.stored / FROM_DISK
        return (computed + read + gathered + kept) / busy


GRAPHS = (
    Sizes("ogbn-products", 2_449_029, 2 * 61_859_140, 100),
    Sizes("ogbn-papers100M", 111_059_956, 2 * 1_615_685_872, 128),
    Sizes("ten billion edges", 500e6, 20e9, 128),
)


def table() -> str:
    """Return the table in Markdown."""
    lines = [
        "| graph | order | a hop | rows needed | read by one "
        "| 1 machine | 16 machines | 128 machines |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for graph in GRAPHS:
        for order in ORDERS:
            cells = [_time(graph.seconds(machines, order), machines) for machines in (1, 16, 128)]
            bytes_ = (graph.hop_bytes, graph.needed(order), graph.read(1, order))
            sizes = " | ".join(_size(each) for each in bytes_)
            lines.append(f"| {graph.name} | {order.name} | {sizes} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e12:,.1f} TB" if n_bytes >= 1e12 else f"{n_bytes / 1e9:,.0f} GB"


def _time(seconds: float, machines: int) -> str:
    said = f"{seconds:,.0f} s"
    if seconds >= 60:
        said = f"{seconds / 60:,.1f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"
    return f"{said}, ${seconds / 3600 * machines * PRICE:,.2f}"


if __name__ == "__main__":
    sys.stdout.write(table())
