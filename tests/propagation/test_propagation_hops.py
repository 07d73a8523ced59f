from __future__ import annotations

import gc
import weakref
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from adagcn.errors import InputError
from adagcn.propagation import blocks
from adagcn.propagation.blocks import BlockedPropagator, ColumnBlocks, column_blocks
from adagcn.propagation.hops import DENSE_ABOVE, MemoryHop, hop_stream, stream_from
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.ppr import appnp_coefficients, exact_ppr, power_iteration_ppr
from adagcn.propagation.scaling import hop_digest
from adagcn.propagation.source import MemorySource


@pytest.fixture
def propagator():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((60, 60)) < 0.05, 1)
    return make_propagator(sparse.csr_array((upper | upper.T).astype(float)), dtype=np.float64)


@pytest.fixture
def features():
    return sparse.random_array((60, 40), density=0.02, rng=np.random.default_rng(1), format="csr")


def dense(hop):
    rows = hop.rows(slice(None))
    return rows.toarray() if sparse.issparse(rows) else rows


def is_sparse(hop):
    return sparse.issparse(hop.rows([0]))


def test_hops_are_powers_of_the_propagator(propagator, features):
    for hop, got in enumerate(islice(hop_stream(propagator, features), 6)):
        power = np.linalg.matrix_power(propagator.toarray(), hop)
        np.testing.assert_allclose(dense(got), power @ features.toarray(), atol=1e-14)


def test_sparse_and_dense_input_give_the_same_hops(propagator, features):
    streams = (hop_stream(propagator, form) for form in (features, features.toarray()))
    for from_sparse, from_dense in zip(*(islice(s, 6) for s in streams), strict=True):
        np.testing.assert_allclose(dense(from_sparse), dense(from_dense), atol=1e-15)


def test_hops_start_sparse_and_become_dense_for_good(propagator, features):
    forms = [not is_sparse(hop) for hop in islice(hop_stream(propagator, features), 8)]
    assert forms == sorted(forms)
    assert not forms[0]
    assert forms[-1]


def test_a_hop_is_sparse_exactly_while_few_values_are_stored(propagator, features):
    for hop in islice(hop_stream(propagator, features), 8):
        filled = np.count_nonzero(dense(hop)) / features.shape[0] / features.shape[1]
        assert is_sparse(hop) == (filled <= DENSE_ABOVE)


def test_only_the_newest_hop_is_kept(propagator):
    stream = hop_stream(propagator, np.ones((60, 3)))
    alive = [weakref.ref(next(stream)) for _ in range(4)]
    gc.collect()
    assert [ref() is not None for ref in alive] == [False, False, False, True]


def test_with_teleport_the_input_is_kept_as_well(propagator):
    alive = []
    for teleport in (0.0, 0.1):
        features = np.ones((60, 3))
        stream = hop_stream(propagator, features, teleport=teleport)
        alive.append(weakref.ref(features))
        del features
        for _ in range(4):
            next(stream)
        gc.collect()
        assert (alive[-1]() is not None) == (teleport > 0.0)


def test_without_a_graph_every_hop_is_the_input():
    features = np.arange(6.0).reshape(3, 2)
    for hop in islice(hop_stream(None, features), 4):
        assert np.shares_memory(hop.rows(slice(None)), features)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_next_hop_is_not_computed_before_it_is_asked_for(propagator, form, monkeypatch):
    products = []
    step = BlockedPropagator._stepped
    monkeypatch.setattr(
        BlockedPropagator, "_stepped", lambda self, hop: products.append("dense") or step(self, hop)
    )

    class Counting(sparse.csr_array):
        def __matmul__(self, other):
            products.append("sparse")
            return super().__matmul__(other)

    thin = np.zeros((60, 40))
    thin[0, 0] = 1.0
    stream = hop_stream(Counting(propagator), form(thin))
    for n_before in range(3):
        next(stream)
        assert len(products) == n_before


@pytest.mark.parametrize("teleport", [0.0, 0.2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("directed", [False, True])
def test_blocks_give_the_bits_of_the_plain_product(teleport, dtype, form, directed, monkeypatch):
    monkeypatch.setattr(blocks, "LEAST_COLUMNS", 3)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    rng = np.random.default_rng(4)
    links = rng.random((70, 70)) < 0.06
    links = links if directed else links | links.T
    links[:, 5] = links[5] = False  # a node alone
    propagator = make_propagator(sparse.csr_array(links.astype(float)), dtype=dtype)
    features = np.where(rng.random((70, 11)) < 0.3, rng.normal(size=(70, 11)), 0.0).astype(dtype)
    expected = features
    for hop in islice(hop_stream(propagator, form(features), teleport=teleport), 6):
        np.testing.assert_array_equal(dense(hop), expected)
        some = hop.rows([7, 3, 7])
        some = some.toarray() if sparse.issparse(some) else some
        np.testing.assert_array_equal(some, expected[[7, 3, 7]])
        whole = MemoryHop(expected, None)
        assert hop.shape == (70, 11)
        assert hop.size() == pytest.approx(whole.size())
        assert hop_digest(hop) == hop_digest(whole)
        assert some.dtype == dtype
        expected = propagator @ expected
        if teleport:
            expected = (1 - teleport) * expected + teleport * features
    assert isinstance(hop, ColumnBlocks)
    assert len(hop._columns) == 4


def test_what_the_memory_held_before_does_not_matter(propagator, monkeypatch):
    """Without MKL, torch's product scales the result's old content, which may be anything."""
    features = np.random.default_rng(6).normal(size=(60, 9))

    def scaling(_, matrix, block, *, beta, out):
        out.mul_(beta).add_(matrix @ block)

    monkeypatch.setattr(torch, "addmm", scaling)
    blocked = BlockedPropagator(propagator, features, teleport=0.0)
    monkeypatch.setattr(np, "empty", lambda shape, **more: np.full(shape, np.nan, **more))
    hop = blocked.step(features).next()
    np.testing.assert_allclose(dense(hop), propagator @ (propagator @ features))


def test_threads_do_not_change_a_bit_of_a_hop(propagator):
    features = np.random.default_rng(5).normal(size=(60, 300)).astype(np.float32)
    found = []
    before = torch.get_num_threads()
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        stream = hop_stream(propagator, features, teleport=0.1)
        found.append(dense(next(islice(stream, 3, None))))
    torch.set_num_threads(before)
    np.testing.assert_array_equal(*found)


def test_a_hop_that_was_passed_by_says_so(propagator):
    stream = hop_stream(propagator, np.ones((60, 3)))
    _, hop, _ = (next(stream) for _ in range(3))
    with pytest.raises(InputError, match="only until the next one is asked for"):
        hop.rows([0])


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_a_hop_leads_to_the_next_one_once(propagator, form):
    hop = next(hop_stream(propagator, form(np.eye(60))))
    hop.next()
    with pytest.raises(InputError, match="only until the next one is asked for"):
        hop.next()


def test_all_rows_come_in_blocks_in_the_order_of_the_nodes(propagator, features, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 7 * 40 * 8 + 5)
    for hop in islice(hop_stream(propagator, features), 6):
        parts = [part.toarray() if sparse.issparse(part) else part for part in hop.blocks()]
        assert [len(part) for part in parts] == [7] * 8 + [4]
        np.testing.assert_array_equal(np.concatenate(parts), dense(hop))


def test_a_source_makes_the_propagator_only_when_a_second_hop_is_asked_for(monkeypatch):
    made = []
    monkeypatch.setattr(
        "adagcn.propagation.source.make_propagator",
        lambda *a, **kw: made.append(1) or make_propagator(*a, **kw),
    )
    links = sparse.csr_array(np.ones((5, 5)) - np.eye(5))
    source = MemorySource(np.eye(5), links)
    stream = stream_from(source.first())
    next(stream)
    assert made == []
    for _ in range(3):
        next(stream)
    assert made == [1]


def test_the_input_is_not_modified(propagator):
    features = np.random.default_rng(6).normal(size=(60, 5))
    before = features.copy()
    list(islice(hop_stream(propagator, features, teleport=0.3), 4))
    np.testing.assert_array_equal(features, before)


@given(st.integers(1, 10**7), st.integers(1, 3000), st.sampled_from([4, 8]))
def test_blocks_cover_all_columns_once(n_nodes, n_columns, itemsize):
    found = column_blocks(n_nodes, n_columns, itemsize=itemsize)
    columns = [column for block in found for column in range(block.start, block.stop)]
    assert columns == list(range(n_columns))
    widths = [block.stop - block.start for block in found]
    assert max(widths) - min(widths) <= 1
    least = max(blocks.LEAST_COLUMNS, blocks.BLOCK_BYTES // (n_nodes * itemsize))
    assert len(found) == -(-n_columns // least)


@pytest.mark.parametrize("teleport", [0.05, 0.1, 0.9])
def test_proposition_1_expands_appnp_by_hops(propagator, teleport):
    signal = np.random.default_rng(2).normal(size=(60, 4))
    coefficients = appnp_coefficients(teleport, n_steps=7)
    expected = sum(
        c * dense(hop) for c, hop in zip(coefficients, hop_stream(propagator, signal), strict=False)
    )
    got = power_iteration_ppr(propagator, signal, teleport=teleport, n_steps=7)
    np.testing.assert_allclose(got, expected, atol=1e-14)
    assert coefficients.sum() == pytest.approx(1.0, abs=1e-15)


def test_proposition_1_needs_the_last_coefficient(propagator):
    signal = np.random.default_rng(2).normal(size=(60, 4))
    without = 0.1 * 0.9 ** np.arange(8)  # γ(1 − γ)^l to the end: the last hop weighs too little
    total = sum(c * dense(h) for c, h in zip(without, hop_stream(propagator, signal), strict=False))
    got = power_iteration_ppr(propagator, signal, teleport=0.1, n_steps=7)
    assert np.abs(got - total).max() > 0.01


def test_power_iteration_converges_to_exact_ppr_at_the_bound_of_proposition_1(propagator):
    signal = np.random.default_rng(3).normal(size=(60, 4))
    exact = exact_ppr(propagator, signal, teleport=0.1)
    for n_steps in (0, 1, 5, 20, 200):
        got = power_iteration_ppr(propagator, signal, teleport=0.1, n_steps=n_steps)
        bound = 0.9**n_steps * np.linalg.norm(signal - exact)
        assert np.linalg.norm(exact - got) <= bound + 1e-13
    dense_inverse = 0.1 * np.linalg.inv(np.eye(60) - 0.9 * propagator.toarray()) @ signal
    np.testing.assert_allclose(exact, dense_inverse, atol=1e-13)


def test_very_deep_coefficients_stay_finite():
    coefficients = appnp_coefficients(0.1, n_steps=10_000)
    assert np.isfinite(coefficients).all()
    assert (np.diff(coefficients) <= 0).all()


@pytest.mark.parametrize("teleport", [-0.1, 1.0, float("nan")])
def test_teleport_outside_its_range_is_refused(propagator, teleport):
    with pytest.raises(InputError, match="teleport must be at least 0 and below 1"):
        hop_stream(propagator, np.ones((60, 1)), teleport=teleport)
