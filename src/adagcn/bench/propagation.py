"""``adagcn bench propagation``: ways to compute ÂX, against the speed of memory.

By definition a product moves nnz·(4F + 8) + 4NF bytes: for every stored value its weight and its
column (4 bytes each) and a row of X, and the result once. The speed of memory is that of a copy in
the same run, counting bytes read plus bytes written. If X fits into the cache, a product may be
faster than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from adagcn.bench.measures import Row, Samples, Section, measure, ratio
from adagcn.bench.timing import Tick, call_seconds, seconds_of
from adagcn.errors import counted
from adagcn.graph import Features, Graph
from adagcn.propagation.blocks import near_order
from adagcn.propagation.hops import Hop, first_hop
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.screening import strongest_columns
from adagcn.propagation.sparse_tensors import torch_csr

Dense = NDArray[np.float32]

OURS = "AdaGCN's hop"
REFERENCE = "scipy"
COPY = "copy"
BLOCKS = (64, 256)  # columns multiplied at once


@dataclass(frozen=True)
class PropagationPlan:
    """How much is measured.

    Parameters
    ----------
    repetitions : int
        Samples of each product.
    sample_seconds : float
        How long a sample should take.
    max_columns : int or None
        Columns of X, the strongest ones; None for all.
    copy_bytes : int
        Size of the array that is copied; should exceed the cache.
    """

    repetitions: int = 7
    sample_seconds: float = 0.05
    max_columns: int | None = 1000
    copy_bytes: int = 2**26


QUICK = PropagationPlan()
FULL = PropagationPlan(repetitions=15, sample_seconds=0.3, max_columns=None, copy_bytes=2**28)


def measure_propagation(
    graphs: Sequence[Graph], plan: PropagationPlan, *, tick: Tick
) -> Iterator[Section]:
    """Yield one section per graph."""
    return (_section(graph, plan, tick) for graph in graphs)


def bytes_moved(propagator: sparse.csr_array, n_columns: int) -> int:
    """Return nnz·(4F + 8) + 4NF.

    >>> bytes_moved(sparse.eye_array(3, format="csr"), 10)
    264
    """
    return int(propagator.nnz * (4 * n_columns + 8) + 4 * propagator.shape[0] * n_columns)


def products(propagator: sparse.csr_array, features: Dense) -> dict[str, Callable[[], Any]]:
    """Return every way to compute ÂX; each returns the rows in its own order of nodes."""
    ways: dict[str, Callable[[], Any]] = {
        OURS: _hop_by_hop(propagator, features),
        REFERENCE: lambda: propagator @ features,
    }
    dense, out = torch.from_numpy(features), torch.empty(features.shape)
    for bits in (32, 64):
        matrix = torch_csr(propagator, bits=bits)
        ways[f"torch, {bits}-bit indices"] = _times(matrix, dense)
        ways[f"torch, {bits}-bit, into place"] = _times(matrix, dense, out)
    for block in BLOCKS:
        if block < features.shape[1]:
            ways[f"scipy, {block} columns at once"] = _by_columns(propagator, features, block)
    for name, order in node_orders(propagator).items():
        ways[f"scipy, {name}"] = _times(*reordered(propagator, features, order))
    return ways


def node_orders(propagator: sparse.csr_array) -> dict[str, NDArray[np.intp]]:
    """Return orders of the nodes that place rows read together near each other."""
    degrees = np.diff(propagator.indptr)
    return {
        "reverse Cuthill–McKee": near_order(propagator).astype(np.intp),
        "by degree": np.argsort(-degrees, kind="stable"),
    }


def reordered(
    propagator: sparse.csr_array, features: Dense, order: NDArray[np.intp]
) -> tuple[sparse.csr_array, Dense]:
    """Return both with their nodes in another order."""
    matrix = propagator[order][:, order]
    matrix.sort_indices()
    return matrix, np.ascontiguousarray(features[order])


def _times(matrix: Any, features: Any, out: torch.Tensor | None = None) -> Callable[[], Any]:
    if out is None:
        return lambda: matrix @ features
    return lambda: torch.mm(matrix, features, out=out)


def _hop_by_hop(propagator: sparse.csr_array, features: Dense) -> Callable[[], Hop]:
    """Return a stream of hops: each call computes the next hop."""
    hop: Hop = first_hop(lambda: propagator, features, teleport=0.0)

    def step() -> Hop:
        nonlocal hop
        hop = hop.next()
        return hop

    return step


def _by_columns(propagator: sparse.csr_array, features: Dense, block: int) -> Callable[[], Dense]:
    """Return a product by blocks of columns, including the cost of cutting them out."""
    out = np.empty_like(features)

    def multiply() -> Dense:
        for first in range(0, features.shape[1], block):
            columns = slice(first, first + block)
            out[:, columns] = propagator @ np.ascontiguousarray(features[:, columns])
        return out

    return multiply


def _section(graph: Graph, plan: PropagationPlan, tick: Tick) -> Section:
    propagator = make_propagator(graph.adjacency)
    features = _dense(graph.features, plan.max_columns)
    ways = products(propagator, features)
    source = torch.ones(plan.copy_bytes // 4)
    target = torch.empty_like(source)
    samples = call_seconds(
        {COPY: lambda: target.copy_(source), **ways},
        repetitions=plan.repetitions,
        sample_seconds=plan.sample_seconds,
        tick=tick,
    )
    moved = bytes_moved(propagator, features.shape[1])
    copied = 2 * source.nbytes
    return Section(
        key="propagation",
        dataset=graph.name or "graph",
        title=f"ÂX with {counted(features.shape[1], 'column')}",
        ratio_name="times scipy's speed",
        rows=tuple(propagation_rows(samples, moved, copied)),
        facts={
            "nnz": propagator.nnz,
            "n_nodes": graph.n_nodes,
            "n_columns": features.shape[1],
            "bytes_moved": moved,
            "reorder_seconds": seconds_of(lambda: node_orders(propagator)),
        },
    )


def propagation_rows(samples: Mapping[str, Samples], moved: int, copied: int) -> list[Row]:
    """Return rows with their bandwidth, and its share of the copy's bandwidth.

    Parameters
    ----------
    samples : mapping of str to array of shape (n_repetitions,)
        Seconds of the copy and of every way to multiply.
    moved, copied : int
        Bytes that a product and the copy move.
    """
    copy_speed = copied / samples[COPY]
    rows = []
    for name, seconds in samples.items():
        speed = (copied if name == COPY else moved) / seconds
        facts = {
            "gb_per_second": float(np.median(speed)) / 1e9,
            "share_of_copy": vars(ratio(speed, copy_speed)),
        }
        compared = None if name == COPY else ratio(samples[REFERENCE], seconds)
        group = "bound" if name == COPY else "product"
        rows.append(Row(name, group, measure(seconds), compared, facts))
    return rows


def _dense(features: Features, max_columns: int | None) -> Dense:
    columns = strongest_columns([features], features.shape[1], max_columns or "all")
    kept = features if columns is None else features[:, columns]
    dense = kept if isinstance(kept, np.ndarray) else kept.toarray()
    return np.array(dense, dtype=np.float32, order="C")
