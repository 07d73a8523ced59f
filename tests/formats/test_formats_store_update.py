"""An updated store is the store of the old and the new tables together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from scipy import sparse

from adagcn import FormatError, Graph, GraphNotice, GraphStore, InputError, ResourceError
from adagcn.formats import store_update, updated_adjacency, updated_nodes
from adagcn.formats.build_folder import MANIFEST, updating
from adagcn.formats.graph_store import read_manifest


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Let every table be read in several parts."""
    monkeypatch.setattr(updated_adjacency, "_STORED_AT_ONCE", 50)
    monkeypatch.setattr(updated_adjacency, "_ROWS_AT_ONCE", 5)
    monkeypatch.setattr(updated_nodes, "_IDS_AT_ONCE", 16)
    monkeypatch.setattr(updated_nodes, "_VALUES_AT_ONCE", 30)


def drawn(seed, *, n_nodes=60, n_new=7, kind="text"):
    """Return ids, edges and features of nodes, the last of which are new."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(500)[: n_nodes + n_new]
    if kind == "text":
        ids = np.array([f"node {i}" for i in ids])
    edges = np.unique(rng.integers(0, n_nodes, (4 * n_nodes, 2)), axis=0)
    edges = edges[rng.permutation(len(edges))]
    more = rng.integers(0, n_nodes + n_new, (25, 2))
    more = np.unique(np.vstack([more, edges[:3]]), axis=0)
    weights = rng.uniform(0.1, 4, (len(edges) + len(more)))
    features = rng.normal(size=(n_nodes + n_new, 5)).astype(np.float32)
    return rng, ids, edges, more, weights, features


def columns_of(ids, pairs):
    return ids[pairs[:, 0]], ids[pairs[:, 1]]


def built(tmp_path, name="store", **tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphNotice)
        graph = Graph.from_edges(**tables)
    graph.to_store(tmp_path / name)
    return GraphStore(tmp_path / name)


def updated(store, **tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphNotice)
        return store.update(**tables)


def assert_equal(store, wanted):
    """Compare with a store that was built in one go."""
    found, manifest = store.info(), wanted.info()
    assert store.verify() == []
    for name in ("n_nodes", "n_stored", "n_features", "directed", "sparse_features"):
        assert getattr(found, name) == getattr(manifest, name), name
    graph, other = store.graph(), wanted.graph()
    assert graph.node_ids.tolist() == other.node_ids.tolist()
    assert graph.adjacency.indptr.tolist() == other.adjacency.indptr.tolist()
    assert graph.adjacency.indices.tolist() == other.adjacency.indices.tolist()
    assert np.array_equal(graph.adjacency.data, other.adjacency.data)
    assert graph.classes.tolist() == other.classes.tolist()
    assert graph.labels.tolist() == other.labels.tolist()
    assert (found.input_digest, found.digest) == (manifest.input_digest, manifest.digest)
    # ... and the digests are those of the arrays
    plain = Graph(
        *(
            getattr(graph, name)
            for name in ("adjacency", "features", "node_ids", "labels", "classes")
        )
    )
    assert (plain.input_digest, plain.digest) == (found.input_digest, found.digest)
    assert plain.is_directed == found.directed


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["text", "integers"])
@pytest.mark.parametrize("directed", ["ignore", "keep", "reverse"])
def test_new_nodes_edges_features_and_labels(seed, kind, directed, tmp_path):
    rng, ids, edges, more, weights, features = drawn(seed, kind=kind)
    n_old = len(ids) - 7
    labels = dict(zip(ids[:n_old:2].tolist(), rng.integers(0, 3, n_old).tolist(), strict=False))
    new_labels = {ids[1].tolist(): 7, ids[0].tolist(): 1, ids[-1].tolist(): 0}
    how = {"directed": directed, "self_loops": "drop" if seed == 1 else "keep"}
    store = built(
        tmp_path,
        edges=columns_of(ids, edges),
        weight=weights[: len(edges)],
        features=features[:n_old],
        node_ids=ids[:n_old],
        labels=labels,
        **how,
    )
    listed = np.array([3, *range(n_old, len(ids))])  # one that changes, and the new ones
    rows = features[listed] + np.float32(1)
    change = updated(
        store,
        edges=columns_of(ids, more),
        weight=weights[len(edges) :],
        features=rows,
        node_ids=ids[listed],
        labels=new_labels,
        **how,
    )
    features[listed] = rows
    wanted = built(
        tmp_path,
        "wanted",
        edges=columns_of(ids, np.vstack([edges, more])),
        weight=weights,
        features=features,
        node_ids=ids,
        labels={**labels, **new_labels},
        **how,
    )
    assert_equal(store, wanted)
    assert (change.nodes_added, change.features_changed) == (7, 1)
    assert change.edges_added == wanted.graph().n_edges - built_edges(edges, directed, seed, ids)


def built_edges(edges, directed, seed, ids):
    """Count edges as a graph does."""
    rows = edges if seed != 1 else edges[edges[:, 0] != edges[:, 1]]
    rows = rows if directed != "ignore" else np.sort(rows, axis=1)
    return len(np.unique(rows, axis=0))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("directed", ["ignore", "keep"])
def test_edges_that_are_gone_and_edges_of_another_weight(seed, directed, tmp_path):
    _, ids, edges, _, weights, features = drawn(seed, n_new=0)
    edges = np.unique(np.sort(edges, axis=1), axis=0) if directed == "ignore" else edges
    weights = weights[: len(edges)]
    common = {"features": features, "node_ids": ids, "directed": directed}
    store = built(tmp_path, edges=columns_of(ids, edges), weight=weights, **common)
    gone, other = edges[::5], edges[:20:5]
    change = updated(
        store,
        remove_edges=columns_of(ids, gone),
        edges=columns_of(ids, other),
        weight=weights[:20:5] / 3,
        directed=directed,
    )
    left = np.delete(edges, np.s_[::5], axis=0)
    wanted = built(
        tmp_path,
        "wanted",
        edges=columns_of(ids, np.vstack([left, other])),
        weight=np.concatenate([np.delete(weights, np.s_[::5]), weights[:20:5] / 3]),
        **common,
    )
    assert_equal(store, wanted)
    assert (change.edges_removed, change.edges_added) == (len(gone), len(other))


@pytest.mark.parametrize("kind", ["text", "integers"])
def test_nodes_of_a_graph_without_features_take_their_sorted_places(kind, tmp_path):
    _, ids, edges, more, _, _ = drawn(4, kind=kind)
    store = built(tmp_path, edges=columns_of(ids, edges))
    updated(store, edges=columns_of(ids, more))
    wanted = built(tmp_path, "wanted", edges=columns_of(ids, np.vstack([edges, more])))
    assert_equal(store, wanted)


def test_sparse_features_and_nodes_without_any(tmp_path):
    rng = np.random.default_rng(1)
    matrix = sparse.random(40, 90, 0.05, format="csr", rng=rng, dtype=np.float32)
    edges = rng.integers(0, 40, (80, 2))
    ids = np.arange(40)
    store = built(tmp_path, edges=edges, features=matrix, node_ids=ids)
    rows = sparse.csr_array(np.eye(3, 90, 4, dtype=np.float32))
    with pytest.warns(GraphNotice, match="1 new node without any feature"):
        store.update(edges=[(41, 3), (40, 41)], features=rows[:2], node_ids=np.array([40, 7]))
    whole = sparse.vstack([matrix, rows[:1], sparse.csr_array((1, 90))], format="lil")
    whole[[7]] = rows[[1]]
    wanted = built(
        tmp_path,
        "wanted",
        edges=np.vstack([edges, [[41, 3], [40, 41]]]),
        features=whole.tocsr().astype(np.float32),
        node_ids=np.arange(42),
    )
    assert_equal(store, wanted)


def test_several_updates_one_after_the_other(tmp_path):
    _, ids, edges, more, _, features = drawn(6, n_new=0)
    store = built(tmp_path, edges=columns_of(ids, edges), features=features, node_ids=ids)
    for pair in more:
        updated(store, edges=columns_of(ids, pair[None]))
    wanted = built(
        tmp_path,
        "wanted",
        edges=columns_of(ids, np.vstack([edges, more])),
        features=features,
        node_ids=ids,
    )
    assert_equal(store, wanted)
    names = {path.name for path in (tmp_path / "store").iterdir()}
    assert f"adjacency.indices.{len(more)}.npy" in names  # and no other of its kind
    assert len([name for name in names if name.startswith("adjacency.indices")]) == 1
    assert "features.npy" in names  # nobody has changed it
    assert read_manifest(tmp_path / "store").version == 2
    assert any(phrase.startswith("update 2: ") for phrase in store.info().changes)


def test_a_symmetric_graph_may_become_directed_and_back(tmp_path):
    ids = np.array(["a", "b", "c"])
    both = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
    store = built(tmp_path, edges=both, directed="keep", features=np.eye(3), node_ids=ids)
    assert not store.info().directed
    store.update(edges=[("a", "c")], directed="keep")
    assert store.info().directed
    with pytest.raises(InputError, match=r"have a direction.*AGC-I1905"):
        store.update(edges=[("c", "a")])
    store.update(edges=[("c", "a")], directed="keep")
    assert not store.info().directed
    store.update(remove_edges=[("b", "a")], directed="keep")
    assert store.info().directed
    left = [("a", "b"), ("b", "c"), ("c", "b"), ("a", "c"), ("c", "a")]
    wanted = built(tmp_path, "w", edges=left, directed="keep", features=np.eye(3), node_ids=ids)
    assert_equal(store, wanted)


def test_labels_lose_a_class_that_no_node_has(tmp_path):
    edges = [("a", "b"), ("b", "c")]
    store = built(tmp_path, edges=edges, labels={"a": "x", "b": "y", "c": "x"})
    assert store.update(labels={"b": "x", "c": None}).labels_changed == 2
    assert_equal(store, built(tmp_path, "w", edges=edges, labels={"a": "x", "b": "x", "c": None}))


@pytest.mark.parametrize("kind", ["text", "integers"])
def test_labels_of_nodes_that_are_not_there_are_counted(kind, tmp_path):
    a, b, c, y, z = "abcyz" if kind == "text" else (3, 5, 8, 40, 1)
    edges = [(a, b), (b, c)]
    store = built(tmp_path, edges=edges, labels={a: "x", b: "y"})
    said = "2 labels left out, since the graph has no such node"
    with pytest.warns(GraphNotice, match=said):
        change = store.update(labels={y: "new", c: "x", z: "y"})
    assert [each.partition(":")[0] for each in change.changes] == [said]
    assert change.labels_changed == 1
    assert_equal(store, built(tmp_path, "w", edges=edges, labels={a: "x", b: "y", c: "x"}))


def tables_in(folder):
    (folder / "e.csv").write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(30)))
    lines = "".join(f"{i},{i / 7},{1 / (i + 1)}\n" for i in range(31))
    (folder / "f.csv").write_text("id,left,right\n" + lines)
    (folder / "l.csv").write_text("id,label\n0,a\n5,b\n")


def test_tables_with_names_in_another_order(tmp_path):
    tables_in(tmp_path)
    files = {"edges": tmp_path / "e.csv", "features": tmp_path / "f.csv"}
    store = built(tmp_path, **files, labels=tmp_path / "l.csv")
    (tmp_path / "e2.csv").write_text("source,target\n31,4\n")
    (tmp_path / "f2.csv").write_text("id,right,left\n31,2,3\n4,5,6\n")
    (tmp_path / "l2.csv").write_text("id,label\n31,c\n")
    change = store.update(
        edges=tmp_path / "e2.csv", features=tmp_path / "f2.csv", labels=tmp_path / "l2.csv"
    )
    assert str(change) == "1 node added, 1 edge added, 1 feature row changed"
    graph = store.graph()
    assert graph.features[graph.positions([31, 4])].tolist() == [[3, 2], [6, 5]]
    assert graph.classes.tolist() == ["a", "b", "c"]


BAD = [
    ({}, r"nothing to update with.*AGC-I1906"),
    ({"edges": [(0, 99)]}, r"1 id that the graph does not have.*99.*AGC-I104"),
    ({"edges": [("x", "y")]}, r"integer ids but .* string ids.*AGC-I103"),
    ({"features": np.zeros((1, 3)), "node_ids": [4]}, r"2 feature columns; got 3.*AGC-I1903"),
    ({"features": np.zeros((1, 2))}, r"rows of features need ids.*AGC-I1908"),
    ({"features": np.zeros((2, 2)), "node_ids": [4, 4]}, r"more than once.*AGC-I193"),
    ({"features": np.array([[np.nan, 1]]), "node_ids": [4]}, "features"),
    ({"labels": {99: "a"}}, r"no id in labels is a node.*AGC-I1143"),
    ({"labels": {4: 3}}, r"of another kind than those of the store.*AGC-I1904"),
    ({"remove_edges": [(0, 5)]}, r"1 edge of remove_edges not in the store.*AGC-I1909"),
    ({"edges": [(0, 1)], "duplicates": "error"}, r"in the store already.*AGC-I1907"),
    ({"edges": [(0, 1)], "duplicates": "sum"}, r"added up.*AGC-I1907"),
    ({"edges": [(0, 7)], "weight": [-1.0]}, r"AGC-I163"),
    ({"edges": [(2**64, 1)]}, r"integers of 64 bits.*AGC-I1430"),
    ({"labels": {4: "a"}, "weight": "w"}, r"weight is for new edges.*AGC-I1911"),
    ({"edges": [(0, 7)], "directed": "sideways"}, r"directed must be one of"),
]


@pytest.mark.parametrize(("tables", "message"), BAD)
def test_what_does_not_fit_is_refused_and_leaves_the_store_as_it_was(tables, message, tmp_path):
    tables_in(tmp_path)
    files = {"edges": tmp_path / "e.csv", "features": tmp_path / "f.csv"}
    store = built(tmp_path, **files, labels=tmp_path / "l.csv")
    before = {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir()}
    with pytest.raises(InputError, match=message):
        store.update(**tables)
    after = {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir()}
    after.pop(".update.lock", None)
    assert after == before


def test_features_of_a_store_without_any_are_refused(tmp_path):
    store = built(tmp_path, edges=[("a", "b")])
    with pytest.raises(InputError, match=r"has no features.*AGC-I1910"):
        store.update(features=np.ones((1, 2)), node_ids=["a"])


def test_no_store_another_version_and_a_folder_that_cannot_be_written_to(tmp_path):
    with pytest.raises(FormatError, match="is no store"):
        GraphStore(tmp_path)
    store = built(tmp_path, edges=[("a", "b")])
    manifest = tmp_path / "store" / MANIFEST
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": 9}))
    with pytest.raises(FormatError, match="of version 9"):
        store.update(edges=[("a", "c")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_store_is_said(tmp_path):
    store = built(tmp_path, edges=[("a", "b")])
    (tmp_path / "store").chmod(0o500)
    with pytest.raises(ResourceError, match="cannot be written to"):
        store.update(edges=[("a", "c")])


def test_a_folder_that_cannot_hold_the_lock_is_said(tmp_path):
    store = built(tmp_path, edges=[("a", "b")])
    (tmp_path / "store" / ".update.lock").mkdir()
    with pytest.raises(ResourceError, match=r"cannot be written to.*AGC-R1411"):
        store.update(edges=[("a", "c")])


def test_only_one_update_at_a_time(tmp_path):
    store = built(tmp_path, edges=[("a", "b")])
    with updating(tmp_path / "store"):
        with pytest.raises(ResourceError, match=r"another process is updating the store"):
            store.update(edges=[("a", "c")])
    store.update(edges=[("a", "c")])


KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from adagcn import GraphStore
    from adagcn.formats import atomic, store_update

    at, n_calls = int(sys.argv[2]), 0

    def counting(name, real):
        def call(*args, **kwargs):
            global n_calls
            n_calls += 1
            if n_calls == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)
        return call

    os.fsync = counting("fsync", os.fsync)
    os.replace = counting("replace", os.replace)
    store_update.remove_strays = counting("strays", store_update.remove_strays)
    GraphStore(sys.argv[1]).update(
        edges=[("n1", "n9"), ("new", "n2")], features=[[1.0, 2.0]], node_ids=["new"],
        labels={"new": "c"},
    )
    print("finished")
    """
)


def test_an_update_that_is_stopped_leaves_the_old_store_and_no_scraps(tmp_path, monkeypatch):
    store = built(tmp_path, edges=[("a", "b"), ("b", "c")])
    before = sorted(path.name for path in (tmp_path / "store").iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(store_update, "finish_store", stopped)
        with pytest.raises(KeyboardInterrupt):
            store.update(edges=[("a", "c")])
    after = sorted(path.name for path in (tmp_path / "store").iterdir())
    assert after == [".update.lock", *before]
    (tmp_path / "store" / "adagcn-is-not-mine.txt").write_text("stays")
    (tmp_path / "store" / "labels.7.npy").write_text("of an update that was killed")
    store.update(edges=[("a", "c")])
    assert not (tmp_path / "store" / "labels.7.npy").exists()
    assert (tmp_path / "store" / "adagcn-is-not-mine.txt").exists()


def stopped(*args):
    raise KeyboardInterrupt


@pytest.mark.full
def test_a_kill_at_any_instant_leaves_the_old_or_the_new_store(tmp_path):
    ids = [f"n{i}" for i in range(10)]
    common = {"features": np.arange(20.0).reshape(10, 2), "node_ids": ids, "labels": {"n1": "a"}}
    edges = [(ids[i], ids[i + 1]) for i in range(9)]
    more = {"edges": [("n1", "n9"), ("new", "n2")], "features": [[1.0, 2.0]], "node_ids": ["new"]}
    wanted = built(tmp_path, "wanted", edges=edges, **common)
    old = wanted.info().digest
    updated(wanted, **more, labels={"new": "c"})
    new, seen, at = wanted.info().digest, set(), 1
    while True:
        name = f"store-{at}"
        store = built(tmp_path, name, edges=edges, **common)
        command = [sys.executable, "-c", KILLED, str(tmp_path / name), str(at)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        assert store.verify() == []
        seen.add(store.info().digest)
        if store.info().digest == old:  # what was half done is no obstacle
            updated(store, **more, labels={"new": "c"})
        assert store.info().digest == new
        if done.returncode == 0:
            break
        at += 4
    assert seen == {old, new}
    assert at > 9


def test_loops_and_pairs_that_were_there_are_counted(tmp_path):
    store = built(tmp_path, edges=np.array([[0, 1], [1, 2], [2, 2]]))
    with pytest.warns(GraphNotice, match="2 new edges there already"):
        store.update(edges=np.array([[1, 0], [2, 2]]))
