"""Rows beyond a limit are in a file, and the model has the bits of rows in memory."""

from __future__ import annotations

import tempfile
import tracemalloc

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from adagcn import AdaGCNClassifier, AdaSGCClassifier, Graph, load_model
from adagcn.data import make_split, planted_partition
from adagcn.errors import InputError, ResourceError
from adagcn.learners import ridge
from adagcn.learners.inputs import as_input
from adagcn.models import Variant
from adagcn.models.support.labels import FitCall
from adagcn.propagation import gathered_rows, stored_hops
from adagcn.training import hop_fitter
from adagcn.training.events import Events

QUICK = {"n_layers": 3, "max_epochs": 6, "hidden_units": 8, "preset": "tuned", "random_state": 0}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(gathered_rows, "GATHERED_AT_ONCE", 16)
    monkeypatch.setattr(hop_fitter, "ROWS_AT_ONCE", 32)
    monkeypatch.setattr(ridge, "ROWS_AT_ONCE", 32)
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 5000)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    graph = planted_partition(240, 3, 12, seed=2, homophily=0.8, mean_degree=6)
    folder = tmp_path_factory.mktemp("stores") / "store"
    graph.to_store(folder)
    return graph, Graph.from_store(folder)


def fit(make, graph, **limit):
    split = make_split(graph, "stratified:0")
    ids, labels = graph.ids_and_labels(split.train_nodes)
    stop_ids, stop_labels = graph.ids_and_labels(split.stop_nodes)
    model = make(graph).set_params(**limit)
    weight = np.ones(len(ids))
    weight[:2] = 0.0
    return model.fit(ids, labels, weight, X_val=stop_ids, y_val=stop_labels)


def ada(**changes):
    return lambda graph: AdaGCNClassifier(graph, **{**QUICK, **changes})


MODELS = {
    "perceptron": ada(pseudo_labels=20, variant=Variant(pseudo_label_from=1)),
    "batches": ada(batch_size=10),
    "row_l2": ada(variant=Variant(hop_scale="row_l2", n_members=2)),
    "scaled": ada(variant=Variant(hop_scale="hop")),
    "ridge": ada(preset="instant", variant=Variant(learner="ridge", judge="left_out")),
    "both": ada(variant=Variant(learner="both", pseudo_label_from=1), pseudo_labels=20),
    "adasgc": lambda g: AdaSGCClassifier(g, random_state=0, n_layers=3, max_epochs=6),
    "scikit-learn": ada(learner=LogisticRegression()),
}


@pytest.mark.parametrize("name", MODELS)
def test_rows_in_a_file_have_the_bits_of_memory(graphs, name, monkeypatch):
    written = []
    in_file = gathered_rows.RowRoom._in_file

    def watched(room, parts, shape, dtype):
        written.append(shape[0])
        parts = list(parts)
        assert all(len(part) <= 16 for part in parts)
        return in_file(room, parts, shape, dtype)

    monkeypatch.setattr(gathered_rows.RowRoom, "_in_file", watched)
    expected = fit(MODELS[name], graphs[0]).predict_proba(graphs[0].node_ids)
    assert not written
    found = fit(MODELS[name], graphs[1] if name != "scaled" else graphs[0], row_memory=100)
    assert len(written) >= 6, "labeled and stopping rows of every layer"
    np.testing.assert_array_equal(found.predict_proba(graphs[0].node_ids), expected)


def test_the_limit_counts_all_rows_of_a_layer(graphs, monkeypatch):
    split = make_split(graphs[0], "stratified:0")
    n_rows = len(split.train_nodes) + len(split.stop_nodes)
    needed = n_rows * graphs[0].n_features * graphs[0].features.dtype.itemsize

    def in_file(*args):
        raise AssertionError("a file")

    monkeypatch.setattr(gathered_rows.RowRoom, "_in_file", in_file)
    fit(ada(pseudo_labels=0), graphs[0], row_memory=needed)
    with pytest.raises(AssertionError, match="a file"):
        fit(ada(pseudo_labels=0), graphs[0], row_memory=needed - 1)


def test_a_limit_changes_no_model_file(graphs, tmp_path):
    plain, limited = fit(ada(), graphs[0]), fit(ada(), graphs[0], row_memory=1000)
    assert limited.model_digest_ == plain.model_digest_
    for name, model in {"a": plain, "b": limited}.items():
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert load_model(tmp_path / "b", graph=graphs[0]).row_memory is None


def test_no_full_array_is_made(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(gathered_rows, "GATHERED_AT_ONCE", 1024)
    monkeypatch.setattr(hop_fitter, "ROWS_AT_ONCE", 1024)
    monkeypatch.setattr(stored_hops, "BLOCK_BYTES", 2**18)
    graph = planted_partition(12_000, 3, 128, seed=0, mean_degree=4)
    graph.to_store(tmp_path / "store")
    n_rows = 10_000
    row_bytes = n_rows * 128 * 4
    peaks = []
    for limit in (None, 2**20):
        stored = Graph.from_store(tmp_path / "store")
        model = AdaGCNClassifier(stored, **{**QUICK, "max_epochs": 2, "n_layers": 2})
        model.set_params(row_memory=limit, max_features="all", pseudo_labels=0)
        ids, labels = stored.ids_and_labels(np.arange(n_rows))
        ready = model.prepared(FitCall(ids, labels), Events())  # reads the features as a whole
        tracemalloc.start()
        assert len(list(ready.states(Events()))) == 2
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] > row_bytes
    assert peaks[1] < row_bytes / 2


@pytest.mark.parametrize("limit", [-1, "2GB", 1.5, True])
def test_what_a_limit_cannot_be(graphs, limit):
    with pytest.raises(InputError, match="row_memory must be a number of bytes"):
        fit(ada(), graphs[0], row_memory=limit)


def sparse_graph(dense):
    """Return the graph with as many sparse columns that no hop of it is kept dense."""
    wide = sparse.random(240, 300, 0.01, rng=np.random.default_rng(0)).toarray()
    wide[:, :2] = dense.features[:, :2]
    return Graph.from_edges(
        np.argwhere(dense.adjacency.toarray()),
        features=sparse.csr_array(wide, dtype=np.float32),
        node_ids=dense.node_ids,
        labels=dense.classes[dense.labels],
    )


@pytest.mark.parametrize("where", ["memory", "store"])
@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("scaled", "adasgc")])
def test_sparse_rows_in_files_have_the_bits_of_memory(graphs, tmp_path, name, where, monkeypatch):
    graph = sparse_graph(graphs[0])

    def make(graph):
        return MODELS[name](graph).set_params(max_features="all", n_layers=2)

    expected = fit(make, graph).predict_proba(graph.node_ids)
    mapped, in_files = [], gathered_rows.RowRoom._sparse_in_files

    def watched(room, parts, like, n_values):
        parts = list(parts)
        assert all(part.shape[0] <= 16 for part in parts)
        assert n_values == sum(part.nnz for part in parts)
        rows = in_files(room, parts, like, n_values)
        mapped.append(rows)
        assert not rows.data.flags.owndata
        assert not rows.indices.flags.owndata
        return rows

    monkeypatch.setattr(gathered_rows.RowRoom, "_sparse_in_files", watched)
    if where == "store":
        graph.to_store(tmp_path / "store")
        graph = Graph.from_store(tmp_path / "store")
    found = fit(make, graph, row_memory=100)
    assert len(mapped) >= 2
    np.testing.assert_array_equal(found.predict_proba(graph.node_ids), expected)


def test_blocks_of_sparse_rows_in_files_are_no_copies(graphs):
    features = sparse_graph(graphs[0]).features
    room = gathered_rows.RowRoom(100, features.shape[0])
    rows = room.mapped(lambda part: part * 2, features)
    assert (rows != features * 2).nnz == 0
    for some in (slice(40, 90), slice(0), slice(7, 3), slice(230, None), [5, 3, 5]):
        assert (rows[some] != features[some] * 2).nnz == 0
        assert rows[some].shape == features[some].shape
    assert gathered_rows.NO_LIMIT.mapped(lambda part: part, features) is features
    block = as_input(rows[40:90], torch.zeros(1))
    assert np.shares_memory(block.matrix.data, rows.data)
    assert np.shares_memory(block.matrix.indices, rows.indices)


def test_columns_in_files_are_numbers_of_the_kind_of_the_ends(graphs):
    features = sparse_graph(graphs[0]).features
    room = gathered_rows.RowRoom(100, features.shape[0])
    for n_values, kind in ((features.nnz, np.int32), (2**31, np.int64)):
        rows = room._sparse_in_files([features], features, n_values)
        assert rows.indices.dtype == rows.indptr.dtype == kind
        assert not rows.indices.flags.owndata
        assert (rows != features).nnz == 0


def test_sparse_rows_within_the_limit_stay_in_memory(graphs, monkeypatch):
    graph = sparse_graph(graphs[0])

    def in_files(*args):
        raise AssertionError("a file")

    monkeypatch.setattr(gathered_rows.RowRoom, "_sparse_in_files", in_files)
    few = ada(max_features="all", n_layers=1, pseudo_labels=0)
    fit(few, graph, row_memory=graph.features.data.nbytes + graph.features.indices.nbytes)
    with pytest.raises(AssertionError, match="a file"):
        fit(few, graph, row_memory=100)


def test_a_full_disk(graphs, monkeypatch):
    def full(**how):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    for graph in (graphs[0], sparse_graph(graphs[0])):
        with pytest.raises(ResourceError, match=r"could not be written.*No space left"):
            fit(ada(max_features="all"), graph, row_memory=100)
