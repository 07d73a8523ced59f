"""Row blocks of Â are cut once, checked whenever they are read, and cut again if damaged."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from scipy import sparse

from adagcn.data import planted_partition
from adagcn.errors import IntegrityError
from adagcn.propagation import cut_rows, stored_hops
from adagcn.propagation.row_blocks import RowBlocks, degrees_of
from adagcn.propagation.source import MemorySource
from adagcn.propagation.stored_hops import StoredSource

EVERYBODY = np.arange(200)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 4000)


@pytest.fixture
def cuts(monkeypatch):
    """Count the blocks that are cut."""
    found = []
    make = cut_rows.propagator_rows

    def counted(adjacency, rows, *others):
        found.append(rows.start)
        return make(adjacency, rows, *others)

    monkeypatch.setattr(cut_rows, "propagator_rows", counted)
    return found


def graph(seed=1, n_features=17):
    return planted_partition(200, 3, n_features, seed=seed, homophily=0.8, mean_degree=7)


def stored(folder, each):
    each.to_store(folder)
    return StoredSource(folder, None, "none", None)


def blocks_of(folder):
    return sorted((folder / cut_rows.FOLDER).rglob("*.rows"))


def memory_hop(each, number):
    hop = MemorySource(each.features, each.adjacency).first()
    for _ in range(number):
        hop = hop.next()
    return hop.rows(EVERYBODY)


def test_rows_are_cut_once_for_all_hops_and_streams(tmp_path, cuts):
    source = stored(tmp_path / "store", graph())
    first = source.first()
    n_blocks = len(first._plan.blocks)
    first.next().next().next()
    assert len(cuts) == len(blocks_of(tmp_path / "store")) == n_blocks > 3
    source.first().next()
    teleporting = StoredSource(source.store, None, "none", None, "symmetric", 0.3)
    teleporting.first().next()
    assert len(cuts) == n_blocks
    StoredSource(source.store, None, "none", None, "random_walk").first().next()
    assert len(cuts) == 2 * n_blocks


def test_streams_of_about_as_many_columns_share_blocks(tmp_path, cuts):
    source = stored(tmp_path / "store", graph(n_features=32))
    source.first().next()
    n_cut = len(cuts)
    StoredSource(source.store, None, "none", np.arange(20)).first().next()
    assert len(cuts) == n_cut
    StoredSource(source.store, None, "none", np.arange(16)).first().next()
    assert len(cuts) > n_cut


@pytest.mark.parametrize("damage", [lambda old: old[:-1] + b"\x07", lambda old: old[:40], None])
def test_a_damaged_block_is_cut_again(tmp_path, cuts, damage):
    each = graph()
    source = stored(tmp_path / "store", each)
    hop = source.first().next()
    path = blocks_of(tmp_path / "store")[1]
    whole = path.read_bytes()
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(whole))
    cuts.clear()
    np.testing.assert_array_equal(hop.next().rows(EVERYBODY), memory_hop(each, 2))
    assert len(cuts) == 1
    assert path.read_bytes() == whole


def test_damaged_degrees_are_counted_again(tmp_path):
    each = graph()
    source = stored(tmp_path / "store", each)
    folder = source.first()._plan.cut.folder
    path = folder / "in_degree.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\x55")
    np.testing.assert_array_equal(source.first().next().rows(EVERYBODY), memory_hop(each, 1))


def test_blocks_of_another_adjacency_are_removed(tmp_path):
    folder = tmp_path / "store"
    stored(folder, graph(seed=1)).first().next()
    kept = tmp_path / "kept"
    shutil.move(folder / cut_rows.FOLDER, kept)
    shutil.rmtree(folder)
    source = stored(folder, graph(seed=2))
    shutil.move(kept, folder / cut_rows.FOLDER)
    hop = source.first().next()
    assert len(list((folder / cut_rows.FOLDER).iterdir())) == 1
    np.testing.assert_array_equal(hop.rows(EVERYBODY), memory_hop(graph(seed=2), 1))


@pytest.mark.parametrize(("span", "is_sorted"), [(50, False), (10**7, True)])
@pytest.mark.parametrize("first", [0, 10**8])
def test_columns_far_apart_are_sorted_and_others_marked(monkeypatch, span, is_sorted, first):
    from adagcn.propagation.row_blocks import _renumbered

    columns = np.random.default_rng(0).integers(0, span, 500) + first
    wanted, unique, asked = np.unique(columns), np.unique, []
    monkeypatch.setattr(np, "unique", lambda *a, **k: asked.append(a) or unique(*a, **k))
    halo, places = _renumbered(columns)
    assert bool(asked) == is_sorted
    np.testing.assert_array_equal(halo, wanted)
    np.testing.assert_array_equal(halo[places], columns)


def test_no_columns_have_no_halo():
    from adagcn.propagation.row_blocks import _renumbered

    assert [len(each) for each in _renumbered(np.empty(0, dtype=np.int32))] == [0, 0]


@pytest.mark.parametrize("is_symmetric", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_degrees_are_the_sums_of_the_rows_in_their_order(is_symmetric, weighted):
    rng = np.random.default_rng(0)
    matrix = sparse.random(70, 70, 0.1, format="csr", rng=rng, dtype=np.float32)
    if not weighted:
        matrix.data[:] = 1
    matrix = sparse.csr_array(matrix.maximum(matrix.T) if is_symmetric else matrix)
    looped = sparse.csr_array(matrix.astype(np.float64) + sparse.eye_array(70))
    looped.sort_indices()
    blocks = RowBlocks.cut(matrix.indptr, 0, 900)
    assert len(blocks) > 3
    found = degrees_of(matrix, blocks, is_symmetric=is_symmetric)
    for degrees, wanted in zip(found, (looped, looped.T), strict=True):
        assert degrees.dtype == np.float64
        assert np.array_equal(degrees, wanted @ np.ones(70))


@pytest.mark.parametrize("name", ["indptr", "indices", "values"])
def test_an_adjacency_that_is_damaged_is_not_cut(tmp_path, name):
    source = stored(tmp_path / "store", graph())
    path = source.store / f"adjacency.{name}.npy"
    octets = bytearray(path.read_bytes())
    octets[-5] ^= 1
    path.write_bytes(bytes(octets))
    with pytest.raises(IntegrityError, match=rf"adjacency\.{name}.*Make the store again"):
        source.first()
    octets[-5] ^= 1
    path.write_bytes(bytes(octets))
    np.testing.assert_array_equal(source.first().next().rows(EVERYBODY), memory_hop(graph(), 1))
