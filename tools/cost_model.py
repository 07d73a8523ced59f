"""Print the table of docs/cost-model.md: bytes, seconds and money of a hop, by graph and machines.

``python tools/cost_model.py`` computes it from the rates below; the page says where they come from.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

MULTIPLICATIONS = 1.0e9  # per second and core, of a sparse product: results/bench/scale-hop.json
CORES = 16
MEMORY = 64e9
FROM_MEMORY = 20e9  # bytes per second and machine, rows gathered
FROM_DISK = 2e9
NETWORK = 1.25e9
WRITING = 0.5e9  # with syncing and hashing
PRICE = 1.0  # of a machine and hour
NEAR = 0.34  # halos of nodes by community over those of scattered ones: 128 blocks, bench halo


@dataclass(frozen=True)
class Sizes:
    """A graph: nodes, non-zeros of the symmetric adjacency, columns."""

    name: str
    nodes: float
    stored: float
    columns: int

    @property
    def hop_bytes(self) -> float:
        """Bytes of one hop in float32."""
        return 4 * self.nodes * self.columns

    def moved(self, near: float) -> float:
        """Return the bytes of all halos: at most a row for every non-zero and for every node."""
        return near * (self.stored + self.nodes) * 4 * self.columns

    def seconds(self, machines: int, near: float) -> float:
        """Return the time of one hop, nothing overlapped."""
        computed = self.stored * self.columns / (MULTIPLICATIONS * CORES)
        fits = self.hop_bytes < MEMORY * machines / 2
        local = FROM_MEMORY if fits else FROM_DISK
        others = (machines - 1) / machines
        gathered = self.moved(near) * (others / NETWORK + (1 - others) / local)
        kept = self.hop_bytes / WRITING + 8 * self.stored / FROM_DISK
        return (computed + gathered + kept) / machines


GRAPHS = (
    Sizes("ogbn-products", 2_449_029, 2 * 61_859_140, 100),
    Sizes("ogbn-papers100M", 111_059_956, 2 * 1_615_685_872, 128),
    Sizes("ten billion edges", 500e6, 20e9, 128),
)


def table() -> str:
    """Return the table in Markdown."""
    lines = [
        "| graph | order | a hop | rows moved | 1 machine | 16 machines | 128 machines |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for graph in GRAPHS:
        for order, near in (("scattered", 1.0), ("by community", NEAR)):
            cells = [_time(graph.seconds(machines, near), machines) for machines in (1, 16, 128)]
            sizes = f"{_size(graph.hop_bytes)} | {_size(graph.moved(near))}"
            lines.append(f"| {graph.name} | {order} | {sizes} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e12:,.1f} TB" if n_bytes >= 1e12 else f"{n_bytes / 1e9:,.0f} GB"


def _time(seconds: float, machines: int) -> str:
    said = f"{seconds / 60:,.1f} min" if seconds >= 60 else f"{seconds:,.0f} s"
    return f"{said}, ${seconds / 3600 * machines * PRICE:,.2f}"


if __name__ == "__main__":
    sys.stdout.write(table())
