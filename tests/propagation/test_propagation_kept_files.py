"""Hops that a store keeps follow its updates, with the bits of new ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from adagcn import AdaGCNClassifier, Graph, GraphStore, IntegrityError
from adagcn.engines import engine_named, using
from adagcn.formats.build_folder import KEPT_HOPS
from adagcn.propagation import hop_refill, stored_hops
from adagcn.propagation.changed_rows import HopCosts
from adagcn.propagation.hops import stream_from
from adagcn.propagation.kept_files import drop_kept, kept_folders
from adagcn.propagation.source import MemorySource
from adagcn.propagation.stored_hops import StoredSource

N_HOPS = 4


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 4000)


def ring(tmp_path, *, directed=False, n_nodes=400, n_columns=6, wide=False):
    """Return the store of a long ring, so that a change reaches little of it."""
    rng = np.random.default_rng(3)
    edges = np.column_stack([np.arange(n_nodes), (np.arange(n_nodes) + 1) % n_nodes])
    features = rng.normal(size=(n_nodes, n_columns)).astype(np.float32)
    if wide:
        from scipy import sparse

        features = sparse.random(n_nodes, 200, 0.02, format="csr", rng=rng, dtype=np.float32)
    graph = Graph.from_edges(
        edges,
        weight=rng.uniform(0.5, 2, n_nodes),
        features=features,
        labels=np.arange(n_nodes) * 3 // n_nodes,
        node_ids=np.arange(n_nodes),
        directed="keep" if directed else "ignore",
    )
    graph.to_store(tmp_path / "store")
    return GraphStore(tmp_path / "store")


def source_of(store, **how):
    return StoredSource(store.graph().store, None, "none", None, **how)


def assert_same_hops(store, **how):
    """Compare the hops of a store with those of the same graph in memory."""
    graph = store.graph()
    memory = MemorySource(graph.features, graph.adjacency, **how)
    everything = np.arange(graph.n_nodes)
    pairs = zip(
        stream_from(source_of(store, **how).first()), stream_from(memory.first()), strict=False
    )
    for number, (found, wanted) in enumerate(itertools.islice(pairs, N_HOPS)):
        a, b = found.rows(everything), wanted.rows(everything)
        assert isinstance(a, np.ndarray) == isinstance(b, np.ndarray)
        a, b = (x if isinstance(x, np.ndarray) else x.toarray() for x in (a, b))
        assert np.array_equal(a, b), number


def only_record(store):
    ((folder, record),) = kept_folders(store.path)
    return folder, record


UPDATES = {
    "edges": {"edges": [(10, 14), (50, 57)], "weight": [0.7, 1.5]},
    "gone": {"remove_edges": [(10, 11)]},
    "features": {"features": np.ones((2, 6)), "node_ids": [7, 300]},
    "new nodes": {
        "edges": [(400, 3), (401, 400)],
        "weight": [1.0, 0.3],
        "features": np.ones((2, 6)),
        "node_ids": [400, 401],
    },
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("directed", "how"),
    [
        (False, {}),
        pytest.param(True, {"normalization": "symmetric", "teleport": 0.1}, marks=pytest.mark.full),
        pytest.param(
            False, {"normalization": "random_walk", "teleport": 0.0}, marks=pytest.mark.full
        ),
    ],
)
def test_kept_hops_follow_an_update_to_the_bit(update, directed, how, tmp_path):
    store = ring(tmp_path, directed=directed)
    source_of(store, **how).keep_hops(N_HOPS)
    folder, _ = only_record(store)
    assert len([*folder.glob("hop-*")]) == N_HOPS - 1
    inodes = {path.stat().st_ino for path in folder.glob("hop-0001/*.npy")}
    store.update(**UPDATES[update], directed="keep" if directed else "ignore")
    assert_same_hops(store, **how)
    new_folder, new = only_record(store)  # the old one is gone
    assert new_folder != folder
    assert new.updated
    assert new.whole is None
    assert len(new.rows) == N_HOPS
    assert all(0 < n_rows < 60 for n_rows in new.rows[1:])
    linked = {path.stat().st_ino for path in new_folder.glob("hop-0001/*.npy")} & inodes
    assert len(linked) >= len(inodes) // 2
    assert_same_hops(store, **how)  # once more, from what is kept now


def test_the_log_tells_linked_blocks_from_made_ones(tmp_path, caplog):
    store = ring(tmp_path)
    source_of(store).keep_hops(N_HOPS)
    store.update(edges=np.array([[10, 200]]))
    caplog.clear()
    with caplog.at_level("DEBUG", logger="adagcn"):
        hop = source_of(store).first().next()
    told = [(record.args["event"], record.args.get("found")) for record in caplog.records]
    n_blocks = len(hop._plan.blocks)
    assert told[0] == ("hop", 0)
    assert sorted(event for event, _ in told[1:]) == ["block"] * 2 + ["linked"] * (n_blocks - 2)


def test_several_updates_before_the_hops_are_asked_for(tmp_path):
    store = ring(tmp_path)
    source_of(store).keep_hops(N_HOPS)
    for update in UPDATES.values():
        store.update(**update)
    assert_same_hops(store)
    assert sum(only_record(store)[1].rows) > 0


def test_an_update_bears_with_a_prediction_that_removes_earlier_hops(tmp_path, monkeypatch):
    store = ring(tmp_path)
    source_of(store).keep_hops(N_HOPS)
    removed, read = [], Path.read_bytes

    def removed_first(path):
        if path.name == KEPT_HOPS:
            path.unlink()
            removed.append(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", removed_first)
    assert not store.update(**UPDATES["edges"]).hops_to_update
    assert len(removed) == 1


def test_an_update_says_whether_kept_hops_have_to_follow(tmp_path):
    store = ring(tmp_path)
    assert str(store.update(**UPDATES["edges"])) == "2 edges added"
    source_of(store).keep_hops(N_HOPS)
    labeled = store.update(labels={7: 2})
    assert (labeled.hops_to_update, str(labeled)) == (False, "1 label changed")
    assert "1 edge removed; the next prediction updates the kept" in str(
        store.update(**UPDATES["gone"])
    )
    assert store.update(labels={7: 1}).hops_to_update  # still
    assert not any("kept hops" in phrase for phrase in store.info().changes)
    assert_same_hops(store)
    assert not store.update(labels={7: 2}).hops_to_update


def test_sparse_hops_are_made_anew_until_they_are_dense(tmp_path):
    store = ring(tmp_path, wide=True)
    source_of(store).keep_hops(N_HOPS)
    store.update(**UPDATES["edges"])
    assert_same_hops(store)
    assert only_record(store)[1].updated


def test_a_change_that_reaches_most_is_computed_anew_and_said(tmp_path):
    store = ring(tmp_path, n_columns=64)
    source_of(store).keep_hops(N_HOPS)
    store.update(edges=[(0, node) for node in range(5, 300)], weight=[1.0] * 295)
    assert_same_hops(store)
    record = only_record(store)[1]
    said = "patching would cost more, since 75% of the rows of hop 1 are within reach of the change"
    assert record.whole == said
    assert record.rows == [0]


@pytest.mark.parametrize("n_patched", range(N_HOPS))
def test_any_number_of_patched_hops_gives_the_bits_of_new_ones(n_patched, tmp_path, monkeypatch):
    store = ring(tmp_path)
    source_of(store).keep_hops(N_HOPS)
    store.update(**UPDATES["edges"])
    monkeypatch.setattr(HopCosts, "hops_to_patch", lambda self, shares: n_patched)
    assert_same_hops(store)
    record = only_record(store)[1]
    assert len(record.rows) == n_patched + 1
    assert (record.whole is None) == (n_patched == N_HOPS - 1)


@pytest.mark.full
def test_several_workers_patch_the_same_bits(tmp_path):
    store = ring(tmp_path)
    source_of(store).keep_hops(N_HOPS)
    store.update(**UPDATES["new nodes"])
    with using(engine_named("processes", workers=2)):
        assert_same_hops(store)


def test_a_damaged_kept_block_is_not_used(tmp_path):
    store = ring(tmp_path)
    source_of(store).keep_hops(N_HOPS)
    folder, _ = only_record(store)
    path = sorted(folder.glob("hop-0002/*.npy"))[1]
    octets = bytearray(path.read_bytes())
    octets[-1] ^= 1
    path.write_bytes(bytes(octets))
    store.update(**UPDATES["edges"])
    assert_same_hops(store)
    assert only_record(store)[1].rows[2] == 400  # that hop was made anew


def test_a_patch_that_is_stopped_goes_on(tmp_path, monkeypatch):
    store = ring(tmp_path)
    source_of(store).keep_hops(N_HOPS)
    store.update(**UPDATES["edges"])
    real, calls = hop_refill.patch_block, itertools.count()

    def stopping(step, plan):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return real(step, plan)

    with monkeypatch.context() as patch:
        patch.setattr(hop_refill, "patch_block", stopping)
        with pytest.raises(KeyboardInterrupt):
            assert_same_hops(store)
    assert len([*kept_folders(store.path)]) == 2  # the old one is needed still
    assert_same_hops(store)
    assert only_record(store)[1].whole is None


def test_a_store_that_is_updated_while_hops_are_read_is_said(tmp_path):
    store = ring(tmp_path)
    hop = source_of(store).first().next()
    store.update(**UPDATES["edges"])
    with pytest.raises(IntegrityError, match=r"was updated while.*AGC-G1912"):
        hop.next()


def test_hops_that_nobody_asked_to_keep_are_removed(tmp_path):
    store = ring(tmp_path)
    assert_same_hops(store)
    assert [*kept_folders(store.path)] == []
    assert not any((store.path / "hops").iterdir())
    source_of(store).keep_hops(N_HOPS)
    assert_same_hops(store, teleport=0.2)  # another stream, which takes its own folder with it
    assert [*(store.path / "hops").iterdir()] == [only_record(store)[0]]
    assert drop_kept(store.path) > 0
    assert not any((store.path / "hops").iterdir())


def test_a_model_predicts_from_kept_hops_of_a_store(tmp_path):
    store = ring(tmp_path)
    graph = store.graph()
    model = AdaGCNClassifier(graph, preset="tuned", n_layers=4, max_epochs=3, random_state=0)
    model.fit(*graph.ids_and_labels(graph.labeled_nodes[::7])).keep_hops()
    assert model.kept_hops_.n_bytes > 3 * 400 * 6 * 4
    assert model.kept_hops_.last_update is None
    store.update(**UPDATES["new nodes"])
    tomorrow = store.graph()
    found = model.predict_proba(tomorrow.node_ids, graph=tomorrow)
    assert all(share < 0.1 for share in model.kept_hops_.last_update.shares)
    del model.kept_hops_
    drop_kept(store.path)
    assert np.array_equal(model.predict_proba(tomorrow.node_ids, graph=tomorrow), found)
    in_memory = Graph(
        *(
            getattr(tomorrow, name)
            for name in ("adjacency", "features", "node_ids", "labels", "classes")
        )
    )
    assert np.array_equal(model.predict_proba(tomorrow.node_ids, graph=in_memory), found)
