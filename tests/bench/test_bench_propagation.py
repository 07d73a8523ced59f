from __future__ import annotations

import numpy as np
import pytest
from bench_fixtures import no_tick, tiny_task

from adagcn.bench.propagation import (
    COPY,
    OURS,
    PropagationPlan,
    bytes_moved,
    measure_propagation,
    node_orders,
    products,
    propagation_rows,
    reordered,
)
from adagcn.propagation.normalize import make_propagator


@pytest.fixture(scope="module")
def parts():
    graph = tiny_task().graph
    wide = np.random.default_rng(0).random((graph.n_nodes, 300), dtype=np.float32)
    return make_propagator(graph.adjacency), wide


def test_every_way_computes_the_same_product(parts):
    propagator, features = parts
    expected = propagator.astype(np.float64) @ features
    orders = node_orders(propagator)
    ways = products(propagator, features)
    assert len(ways) == 10
    assert next(iter(ways)) == OURS
    for name, multiply in ways.items():
        order = orders.get(name.removeprefix("scipy, "), slice(None))
        found = multiply()
        found = found.rows(slice(None)) if hasattr(found, "rows") else found
        assert np.abs(np.asarray(found) - expected[order]).max() < 1e-5, name


def test_orders_hold_every_node_once_and_keep_the_product(parts):
    propagator, features = parts
    for order in node_orders(propagator).values():
        assert np.array_equal(np.sort(order), np.arange(propagator.shape[0]))
        matrix, moved = reordered(propagator, features, order)
        assert matrix.has_sorted_indices
        assert np.abs(matrix @ moved - (propagator @ features)[order]).max() < 1e-5


def test_bytes_moved_are_as_defined(parts):
    propagator, features = parts
    n_nodes, n_columns = features.shape
    assert bytes_moved(propagator, n_columns) == (
        propagator.nnz * (4 * n_columns + 8) + 4 * n_nodes * n_columns
    )


def test_shares_are_of_the_copy_in_the_same_repetition():
    samples = {
        COPY: np.array([1.0, 2.0]),
        "scipy": np.array([2.0, 4.0]),
        "other": np.array([4.0, 8.0]),
    }
    copy, scipy, other = propagation_rows(samples, moved=6_000_000_000, copied=4_000_000_000)
    assert copy.ratio is None
    assert scipy.facts["share_of_copy"]["median"] == pytest.approx(0.75)
    assert scipy.facts["gb_per_second"] == pytest.approx(2.25)
    assert other.ratio.median == 0.5


def test_a_graph_gives_a_section():
    plan = PropagationPlan(repetitions=2, sample_seconds=0.0, max_columns=8, copy_bytes=2**12)
    (section,) = measure_propagation([tiny_task().graph], plan, tick=no_tick)
    assert section.rows[0].name == COPY
    assert section.facts["n_columns"] == 8
    assert section.row("scipy").ratio.median == 1.0
