from __future__ import annotations

import errno
import json
import os
import pickle

import numpy as np
import pytest

from adagcn import FormatError, Graph, InputError, IntegrityError, ResourceError
from adagcn.data import planted_partition
from adagcn.formats.graph_store import MANIFEST, verify_store


def small(name="toy"):
    return planted_partition(30, 2, 4, seed=1, homophily=0.8, mean_degree=4)


@pytest.fixture
def store(tmp_path):
    small().to_store(tmp_path / "store")
    return tmp_path / "store"


def test_a_stored_graph_is_the_graph(store):
    graph, opened = small(), Graph.from_store(store)
    assert opened.digest == graph.digest
    assert opened.store == store
    assert (repr(opened), opened.changes) == (repr(graph), graph.changes)
    np.testing.assert_array_equal(opened.features, graph.features)
    np.testing.assert_array_equal(opened.adjacency.toarray(), graph.adjacency.toarray())
    assert not opened.features.flags.writeable
    again = pickle.loads(pickle.dumps(opened))
    assert again.store == store


def test_digests_belong_to_the_arrays(store):
    """A graph made of a stored one is in memory, and its digests are its own."""
    opened = Graph.from_store(store)
    part = opened.subgraph(np.arange(10))
    assert part.store is None
    assert part.digest == small().subgraph(np.arange(10)).digest
    assert opened.without_features().store is None


def test_text_and_feature_names_come_back(tmp_path):
    edges = [("ann", "bob"), ("bob", "<script>")]
    features = {"id": ["ann", "bob", "<script>"], "=age": [1.0, 2.0, 3.0]}
    pandas = pytest.importorskip("pandas")
    graph = Graph.from_edges(edges, features=pandas.DataFrame(features), labels={"ann": "é"})
    graph.to_store(tmp_path / "s")
    opened = Graph.from_store(tmp_path / "s")
    assert opened.digest == graph.digest
    assert opened.feature_names.tolist() == ["=age"]
    assert opened.positions(["<script>"]).tolist() == graph.positions(["<script>"]).tolist()


def test_ids_of_more_than_64_bits_are_refused(tmp_path):
    graph = Graph.from_edges([(2**70, 1), (1, 2)])
    with pytest.raises(InputError, match="text or integers of 64 bits"):
        graph.to_store(tmp_path / "s")


def test_a_folder_with_files_is_not_written_into(store):
    with pytest.raises(InputError, match="a folder that is empty or new"):
        small().to_store(store)


def test_a_folder_without_a_manifest_is_no_store(tmp_path):
    with pytest.raises(FormatError, match="is no store"):
        Graph.from_store(tmp_path)


def test_another_version_is_named(store):
    manifest = json.loads((store / MANIFEST).read_text())
    (store / MANIFEST).write_text(json.dumps({**manifest, "version": 3}))
    with pytest.raises(FormatError, match="of version 3, and this release reads versions 1 to 2"):
        Graph.from_store(store)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 1}'])
def test_a_damaged_manifest_is_refused(store, text):
    (store / MANIFEST).write_text(text)
    with pytest.raises(FormatError, match=r"damaged|is of version"):
        Graph.from_store(store)


def test_a_missing_or_cut_file_is_named(store):
    path = store / "features.npy"
    octets = path.read_bytes()
    path.write_bytes(octets[:-8])
    with pytest.raises(IntegrityError, match=r"features\.npy.*missing or damaged"):
        Graph.from_store(store)
    path.unlink()
    with pytest.raises(IntegrityError, match="no such file"):
        Graph.from_store(store)


def test_too_many_open_files_are_no_damage(store, monkeypatch):
    def refused(*args, **more):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(np, "load", refused)
    with pytest.raises(ResourceError, match=r"too many files are open.*ulimit -n"):
        Graph.from_store(store)


def test_a_flipped_bit_is_found(store):
    assert all(is_whole for _, is_whole in verify_store(store))
    path = store / "adjacency.indices.npy"
    octets = bytearray(path.read_bytes())
    octets[-1] ^= 1
    path.write_bytes(bytes(octets))
    assert [name for name, is_whole in verify_store(store) if not is_whole] == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="a path below a file")
def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="could not be made"):
        small().to_store(tmp_path / "file" / "store")
