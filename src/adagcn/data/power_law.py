"""Random graphs larger than memory: communities, and degrees with a power law.

Nodes are cut into blocks, and edges are drawn for two blocks at a time, each pair of blocks with
random numbers of its own. So the rows of one block can be made without those of any other: a graph
is written straight to a store or to tables, and only some bytes per node are held.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError
from adagcn.formats.array_files import growing_array, stored_file
from adagcn.formats.build_folder import building
from adagcn.formats.changes import Changes
from adagcn.formats.graph_store import ArrayParts, StoredFile, write_array
from adagcn.formats.sorted_edges import EdgeCounts
from adagcn.formats.store_parts import StoreParts

_STORED_AT_ONCE = 2**21  # stored values of a block of rows
_BYTES_AT_ONCE = 2**27  # of its features
_TAIL = 1 / 1.5  # weights u^−_TAIL have a density that falls as w^−2.5
_LARGEST = 500.0  # of a node's weight; the smallest is 1
_WEIGHTS, _EDGES, _FEATURES, _CENTERS = range(4)  # streams of random numbers

NodeOrder = Literal["scattered", "community"]


@dataclass(frozen=True)
class PowerLaw:
    """A random graph, as the numbers that determine it.

    Every edge is drawn within a community with chance ``homophily``, and between any two nodes
    otherwise. Its ends are drawn by weights with a power law. The class of a node is that of its
    community, and shifts the mean of its features.

    Parameters
    ----------
    n_nodes : int
        Nodes.
    n_edges : int
        Edges as drawn; one that is drawn twice counts once, so the graph has a few percent less.
    n_features, n_classes, n_communities : int
        Sizes.
    seed : int
        Seed of the random numbers.
    order : {"scattered", "community"}
        Whether the nodes of a community stand apart from each other or next to each other.
    homophily : float
        0 to 1.
    feature_signal : float
        Distance of each class's mean from the origin, in standard deviations of the noise.

    Examples
    --------
    >>> rows, columns = PowerLaw(100, 300, seed=0).rows(0)
    >>> bool((rows != columns).all())
    True
    """

    n_nodes: int
    n_edges: int
    n_features: int = 64
    n_classes: int = 8
    n_communities: int = 64
    seed: int = 0
    order: NodeOrder = "scattered"
    homophily: float = 0.8
    feature_signal: float = 1.0

    def __post_init__(self) -> None:
        sizes = (self.n_nodes, self.n_edges, self.n_features, self.n_classes, self.n_communities)
        if min(sizes) < 1 or self.n_nodes < self.n_communities or not 0 <= self.homophily <= 1:
            raise InputError(
                "AGC-I2101",
                "sizes must be at least 1, communities at most as many as nodes, and homophily "
                "between 0 and 1",
                got=(*sizes, self.homophily),
            )

    @property
    def n_blocks(self) -> int:
        """Number of row blocks."""
        by_edges = math.ceil(2 * self.n_edges / _STORED_AT_ONCE)
        by_features = math.ceil(4 * self.n_nodes * self.n_features / _BYTES_AT_ONCE)
        return min(max(by_edges, by_features), self.n_nodes)

    def nodes(self, block: int) -> slice:
        """Return the nodes of a block."""
        ends = [self.n_nodes * place // self.n_blocks for place in (block, block + 1)]
        return slice(*ends)

    def communities(self, nodes: slice) -> NDArray[np.int64]:
        """Return the community of some nodes."""
        places = np.arange(nodes.start, nodes.stop)
        if self.order == "community":
            return places * self.n_communities // self.n_nodes
        return places % self.n_communities

    def labels(self, nodes: slice) -> NDArray[np.int64]:
        """Return the class of some nodes."""
        return self.communities(nodes) % self.n_classes

    def features(self, block: int) -> NDArray[np.float32]:
        """Return the features of a block, of shape (n_rows, n_features)."""
        nodes, shape = self.nodes(block), (self.n_classes, self.n_features)
        centers = self._random(_CENTERS).standard_normal(shape, dtype=np.float32)
        centers *= self.feature_signal / np.linalg.norm(centers, axis=1, keepdims=True)
        size = (nodes.stop - nodes.start, self.n_features)
        values = self._random(_FEATURES, block).standard_normal(size, dtype=np.float32)
        values += centers[self.labels(nodes)]
        return values

    def pairs(self, one: int, other: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of the edges between two blocks, the first block not after the other."""
        rng, ends = self._random(_EDGES, one, other), (self._ends[one], self._ends[other])
        share = self.n_edges * (1.0 if one == other else 2.0) / self._totals.sum()
        within = ends[0].weights * ends[1].weights / self._totals
        n_within = rng.poisson(share * self.homophily * within)
        across = math.prod(float(each.weights.sum()) for each in ends) / self._totals.sum()
        n_across = int(rng.poisson(share * (1.0 - self.homophily) * across))
        drawn = [
            np.concatenate([each.of_communities(n_within, rng), each.of_any(n_across, rng)])
            for each in ends
        ]
        apart = drawn[0] != drawn[1]
        return drawn[0][apart], drawn[1][apart]

    def rows(self, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and columns of the values that a block of A stores, in their order."""
        keys = []
        for other in range(self.n_blocks):
            sources, targets = self.pairs(min(block, other), max(block, other))
            if other >= block:
                keys.append(sources * self.n_nodes + targets)
            if other <= block:
                keys.append(targets * self.n_nodes + sources)
        found = np.sort(np.concatenate(keys))  # np.unique takes several times as long
        found = found[np.diff(found, prepend=-1) > 0]
        return found // self.n_nodes, found % self.n_nodes

    @cached_property
    def _ends(self) -> list[_Ends]:
        return [
            _Ends.of(self.nodes(block), self.communities(self.nodes(block)), self._weights(block),
                     self.n_communities)
            for block in range(self.n_blocks)
        ]  # fmt: skip

    @cached_property
    def _totals(self) -> NDArray[np.float64]:
        """The weight of every community."""
        totals: NDArray[np.float64] = np.sum([each.weights for each in self._ends], axis=0)
        return totals

    def _weights(self, block: int) -> NDArray[np.float64]:
        nodes = self.nodes(block)
        chance = 1.0 - self._random(_WEIGHTS, block).random(nodes.stop - nodes.start)
        weights: NDArray[np.float64] = np.minimum(chance**-_TAIL, _LARGEST)
        return weights

    def _random(self, stream: int, *places: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, stream, *places])


@dataclass(frozen=True)
class _Ends:
    """The nodes of a block as ends of edges.

    Parameters
    ----------
    nodes : ndarray of shape (n_rows,)
        By community.
    until : ndarray of shape (n_rows,)
        Their weights, added up.
    starts, weights : ndarray of shape (n_communities,)
        Where among the sums a community starts, and its weight in this block.
    """

    nodes: NDArray[np.int64]
    until: NDArray[np.float64]
    starts: NDArray[np.float64]
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        nodes: slice,
        communities: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_communities: int,
    ) -> _Ends:
        order = np.argsort(communities, kind="stable")
        until = np.cumsum(weights[order])
        ends = np.searchsorted(communities[order], np.arange(n_communities + 1))
        sums = np.concatenate([[0.0], until])[ends]
        return cls(order + nodes.start, until, sums[:-1], np.diff(sums))

    def of_communities(
        self, counts: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw so many nodes of every community."""
        starts, weights = np.repeat(self.starts, counts), np.repeat(self.weights, counts)
        return self._at(starts + weights * rng.random(len(starts)))

    def of_any(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw so many nodes."""
        return self._at(self.until[-1] * rng.random(count))

    def _at(self, sums: NDArray[np.float64]) -> NDArray[np.int64]:
        places = np.searchsorted(self.until, sums, "right")
        return self.nodes[np.minimum(places, len(self.nodes) - 1)]


def write_power_law_store(graph: PowerLaw, folder: Path) -> None:
    """Write the graph as a store, block by block; ids are positions.

    Parameters
    ----------
    graph : PowerLaw
        The graph.
    folder : Path
        A folder that is empty or new.
    """
    with building(folder):
        counts = EdgeCounts()
        files = _write_adjacency(graph, folder, counts)
        features, ids = folder / "features.npy", folder / "node_ids.npy"
        with growing_array(features, np.float32, (graph.n_features,)) as array:
            for block in range(graph.n_blocks):
                array.append(graph.features(block))
        files["features"] = stored_file(features)
        files["node_ids"] = write_array(ids, ArrayParts.of(np.arange(graph.n_nodes)))
        parts = StoreParts(folder, graph.n_nodes, (graph.n_nodes, graph.n_features))
        everybody = slice(0, graph.n_nodes)
        described = (graph.labels(everybody), np.arange(graph.n_classes))
        parts.finish(files, counts, (described, None), Changes())


def _write_adjacency(graph: PowerLaw, folder: Path, counts: EdgeCounts) -> dict[str, StoredFile]:
    paths = {name: folder / f"adjacency.{name}.npy" for name in ("indptr", "indices", "values")}
    kind = sparse.get_index_dtype(maxval=max(2 * graph.n_edges, graph.n_nodes))
    per_row = np.zeros(graph.n_nodes + 1, dtype=np.int64)
    with (
        growing_array(paths["indices"], kind) as indices,
        growing_array(paths["values"], np.float32) as values,
    ):
        for block in range(graph.n_blocks):
            rows, columns = graph.rows(block)
            indices.append(columns.astype(kind))
            values.append(np.ones(len(columns), dtype=np.float32))
            nodes = graph.nodes(block)
            size = nodes.stop - nodes.start
            per_row[nodes.start + 1 : nodes.stop + 1] = np.bincount(rows - nodes.start, None, size)
            counts.stored += len(rows)
    indptr = np.cumsum(per_row).astype(kind)
    return {
        "adjacency.indptr": write_array(paths["indptr"], ArrayParts.of(indptr)),
        **{f"adjacency.{name}": stored_file(paths[name]) for name in ("indices", "values")},
    }


def write_power_law_tables(graph: PowerLaw, folder: Path) -> dict[str, Path]:
    """Write ``edges.csv``, ``features.csv`` and ``labels.csv``, some rows at a time.

    Parameters
    ----------
    graph : PowerLaw
        The graph.
    folder : Path
        A folder that exists.

    Returns
    -------
    dict
        The three files by what they hold.
    """
    import pyarrow as pa
    import pyarrow.csv as pacsv

    names = [f"f{column}" for column in range(graph.n_features)]
    tables: dict[str, tuple[list[str], Iterator[list[Any]]]] = {
        "edges": (["source", "target"], _listed_edges(graph)),
        "features": (["id", *names], _listed_features(graph)),
        "labels": (["id", "label"], _listed_labels(graph)),
    }
    paths = {}
    for name, (header, parts) in tables.items():
        paths[name] = folder / f"{name}.csv"
        writer = None
        for columns in parts:
            table = pa.table(columns, names=header)
            writer = writer or pacsv.CSVWriter(paths[name], table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
    return paths


def _listed_edges(graph: PowerLaw) -> Iterator[list[Any]]:
    for one in range(graph.n_blocks):
        found = [graph.pairs(one, other) for other in range(one, graph.n_blocks)]
        yield [np.concatenate([pair[end] for pair in found]) for end in (0, 1)]


def _listed_features(graph: PowerLaw) -> Iterator[list[Any]]:
    for block in range(graph.n_blocks):
        nodes = graph.nodes(block)
        values = np.round(graph.features(block), 4)  # as many digits as anybody needs
        yield [np.arange(nodes.start, nodes.stop), *values.T]


def _listed_labels(graph: PowerLaw) -> Iterator[list[Any]]:
    for block in range(graph.n_blocks):
        nodes = graph.nodes(block)
        yield [np.arange(nodes.start, nodes.stop), graph.labels(nodes)]
