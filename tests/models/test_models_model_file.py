"""Model files: the same bytes back, and nothing but whole, honest files is read."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import safetensors.numpy

from adagcn import AdaGCNClassifier, AdaSGCClassifier, Graph
from adagcn.errors import (
    AdaGCNError,
    FormatError,
    InputError,
    IntegrityError,
    OtherGraphWarning,
    ResourceError,
)
from adagcn.models import MODELS, Variant, load_model
from adagcn.models.support import boosted_layers
from adagcn.models.support.model_file import (
    FORMAT_VERSION,
    MAGIC,
    from_bytes,
    manifest_json,
    read_model,
)

# Which row of a study stands in for a graph is no fault.
pytestmark = pytest.mark.filterwarnings("ignore::adagcn.errors.PresetNotice")

QUICK = {"preset": "tuned", "n_layers": 2, "max_epochs": 5, "random_state": 0}


@pytest.fixture
def saved(task, tmp_path):
    clf = AdaGCNClassifier(task.graph, hidden_units=4, **QUICK)
    clf.fit(task.train, task.labels(task.train), **task.stopping())
    path = tmp_path / "model.adagcn"
    clf.save(path)
    return clf, path


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
@pytest.mark.parametrize("names", [[5, 7, 9], ["ä", "b", "c"], [1.0, 2.0, 4.0]])
def test_a_loaded_model_predicts_the_same_bytes(model, task, tmp_path, names):
    values = np.array(names)
    y, y_val = values[task.labels(task.train)], values[task.labels(task.stop)]
    own = {**QUICK, "preset": model.default_preset}  # of AdaGCN, two learners on every hop
    settings = {k: v for k, v in own.items() if k in model().get_params()}
    clf = model(task.graph, class_weight="balanced", **settings)
    clf.fit(task.train, y, X_val=task.stop, y_val=y_val)
    clf.save(tmp_path / "m.adagcn")
    back = model.load(tmp_path / "m.adagcn", graph=task.graph)
    assert back.predict_proba(task.rest).tobytes() == clf.predict_proba(task.rest).tobytes()
    assert back.predict(task.rest).tolist() == clf.predict(task.rest).tolist()
    assert back.classes_.dtype == clf.classes_.dtype
    assert back.model_digest_ == clf.model_digest_
    assert back.params_ == clf.params_
    assert getattr(back, "choices_", {}) == getattr(clf, "choices_", {})
    assert back.stop_accuracy_ == clf.stop_accuracy_
    assert back.n_epochs_ == clf.n_epochs_
    assert back.class_weight == "balanced"
    back.save(tmp_path / "again.adagcn")
    assert (tmp_path / "again.adagcn").read_bytes() == (tmp_path / "m.adagcn").read_bytes()
    assert type(load_model(tmp_path / "m.adagcn")) is model


def test_a_file_is_read_once(saved, task, monkeypatch):
    _, path = saved
    reads = []
    read_bytes = type(path).read_bytes
    monkeypatch.setattr(
        type(path), "read_bytes", lambda self: reads.append(self) or read_bytes(self)
    )
    load_model(path, graph=task.graph)
    AdaGCNClassifier.load(path, graph=task.graph)
    assert reads == [path, path]


def test_a_model_without_a_graph_goes_through_a_file(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    clf = AdaGCNClassifier(**QUICK).fit(X, y)
    clf.save(tmp_path / "m.adagcn")
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn")
    assert back.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()


def test_the_digest_covers_resolved_parameters_but_not_where_the_model_came_from(task):
    y = task.labels(task.train)

    def digest(**settings):
        return AdaGCNClassifier(task.graph, **QUICK, **settings).fit(task.train, y).model_digest_

    # Without stopping nodes the patience changes nothing that is learned.
    assert digest(patience=5) != digest(patience=6)
    assert digest(patience=15) == digest()  # the preset's value, given explicitly
    assert digest(device="cpu") == digest()


def test_every_flipped_bit_is_refused(saved):
    _, path = saved
    content = bytearray(path.read_bytes())
    for position in range(len(content)):
        for bit in range(8):
            content[position] ^= 1 << bit
            with pytest.raises((IntegrityError, FormatError)):
                from_bytes(bytes(content), path)
            content[position] ^= 1 << bit
    from_bytes(bytes(content), path)


def test_every_truncation_is_refused(saved, tmp_path):
    _, path = saved
    whole = path.read_bytes()
    cut = tmp_path / "cut.adagcn"
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        with pytest.raises((IntegrityError, FormatError), match="AGC-"):
            read_model(cut)
    cut.write_bytes(whole + b"\0")
    with pytest.raises(IntegrityError, match="is damaged"):
        read_model(cut)


def test_the_same_model_saved_in_two_processes_is_the_same_bytes(tmp_path):
    program = """
import sys
from adagcn import AdaGCNClassifier
from adagcn.data import planted_partition
graph = planted_partition(n_nodes=60, n_classes=2, n_features=8, seed=0)
clf = AdaGCNClassifier(graph, preset="tuned", n_layers=2, max_epochs=5, random_state=0)
clf.fit(graph.node_ids[:20], graph.labels[:20]).save(sys.argv[1])
"""
    for name, hash_seed in (("a", "0"), ("b", "12345")):
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / name)],
            check=True,
            env={"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1", "PATH": ""},
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def rewritten(path, change_manifest=lambda m: m, change_tensors=lambda t: t, version=None):
    """Write a file with a right digest around changed content, as an attacker could."""
    content = path.read_bytes()
    size = struct.unpack_from("<Q", content, 12)[0]
    manifest = json.loads(content[20 : 20 + size])
    tensors = safetensors.numpy.load(content[28 + size : -32])
    manifest_bytes = manifest_json(change_manifest(manifest))
    block = safetensors.numpy.save(change_tensors(tensors))
    body = struct.pack("<8sIQ", MAGIC, version or FORMAT_VERSION, len(manifest_bytes))
    body += manifest_bytes + struct.pack("<Q", len(block)) + block
    path.write_bytes(body + hashlib.sha256(body).digest())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: {**m, "extra": 1}, "Manifest"),
        (lambda m: {k: v for k, v in m.items() if k != "classes"}, "Manifest"),
        (lambda m: {**m, "n_features": "20"}, "Manifest"),
        (lambda m: {**m, "params": {**m["params"], "n_layers": -1}}, "n_layers: should be"),
        (lambda m: {**m, "params": {**m["params"], "evil": 1}}, "evil: "),
        (lambda m: {**m, "params": {**m["params"], "variant.evil": 1}}, r"variant\.evil: "),
        (lambda m: {**m, "tensors": {}}, "tensors other than the manifest says"),
    ],
)
def test_a_forged_manifest_is_a_format_error(saved, change, message):
    _, path = saved
    rewritten(path, change)
    with pytest.raises(FormatError, match=message):
        AdaGCNClassifier.load(path)


def test_forged_tensors_are_a_format_error(saved):
    _, path = saved
    rewritten(path, change_tensors=lambda t: {**t, "layer.000.output": t["layer.000.output"] + 1})
    with pytest.raises(FormatError, match=r"tensors other than the manifest says: layer\.000"):
        AdaGCNClassifier.load(path)


def test_forged_shapes_classes_and_layers_never_leave_our_family(saved):
    _, path = saved
    whole = path.read_bytes()
    for change in (
        lambda m: {**m, "n_features": 7},
        lambda m: {**m, "classes": {"dtype": "|O", "values": [[1], {}, 3]}},
        lambda m: {**m, "classes": {"dtype": "no such", "values": [1, 2, 3]}},
        lambda m: {**m, "classes": {"dtype": "<i8", "values": [1, 2]}},
        lambda m: {**m, "layers": []},
        lambda m: {**m, "layers": [{**m["layers"][0], "hop": 5}]},
        lambda m: {**m, "constructor": {"no_such_argument": 1}},
        lambda m: {**m, "seed": -4},
    ):
        path.write_bytes(whole)
        rewritten(path, change)
        with pytest.raises(AdaGCNError, match="AGC-"):
            AdaGCNClassifier.load(path)


def test_a_newer_format_says_which_one_is_read(saved):
    _, path = saved
    rewritten(path, version=99)
    with pytest.raises(FormatError, match=r"it reads \(1, 2\)\); got 99"):
        AdaGCNClassifier.load(path)


def test_other_files_and_missing_files_are_refused(tmp_path, saved):
    other = tmp_path / "picture.png"
    other.write_bytes(b"\x89PNG\r\n\x1a\n" * 20)
    with pytest.raises(FormatError, match="not a whole adagcn model file"):
        load_model(other)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_model(tmp_path / "nowhere.adagcn")
    with pytest.raises(InputError, match="a model of another kind than AdaSGCClassifier"):
        AdaSGCClassifier.load(saved[1])


def test_another_graph_is_a_warning_and_other_features_an_error(task, saved):
    _, path = saved
    relabeled = replace(task.graph, labels=np.full(150, -1))
    AdaGCNClassifier.load(path, graph=relabeled)  # labels are no part of a prediction
    denser = Graph.from_scipy(task.graph.adjacency * 2, task.graph.features)
    with pytest.warns(OtherGraphWarning, match="fitted on another graph"):
        AdaGCNClassifier.load(path, graph=denser)
    with pytest.raises(InputError, match="fitted on 20 features per node"):
        AdaGCNClassifier.load(path, graph=Graph.from_scipy(np.eye(3), np.ones((3, 2))))
    with pytest.raises(InputError, match="needs a graph to look nodes up in"):
        AdaGCNClassifier.load(path).predict([0])


def test_saving_into_nowhere_is_our_error_and_keeps_the_old_file(saved, tmp_path):
    clf, path = saved
    with pytest.raises(ResourceError, match="no-such-folder"):
        clf.save(tmp_path / "no-such-folder" / "m.adagcn")
    before = path.read_bytes()
    clf.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_of_few_columns_keeps_them_in_its_file(task, tmp_path):
    clf = AdaGCNClassifier(
        task.graph, hidden_units=4, max_features=3, variant=Variant(n_members=2), **QUICK
    )
    clf.fit(task.train, task.labels(task.train), **task.stopping())
    clf.save(tmp_path / "m.adagcn")
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    assert back.columns_.tolist() == clf.columns_.tolist()
    assert len(back.columns_) == 3
    assert back.predict_proba(task.rest).tobytes() == clf.predict_proba(task.rest).tobytes()
    # The columns are those of the fit, whatever is strongest in another graph.
    louder = np.where(np.isin(np.arange(task.graph.n_features), clf.columns_), 1.0, 100.0)
    features = task.graph.features * louder
    other = replace(task.graph, features=features.astype(np.float32))
    with pytest.warns(OtherGraphWarning):
        moved = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=other)
    assert moved.predict_proba(task.rest).tobytes() == clf.predict_proba(task.rest).tobytes()


@pytest.mark.parametrize("columns", [[0, 2, 1], [-1, 0, 1], [0, 1, 10_000], [0.0, 1.0, 2.0], []])
def test_columns_that_cannot_be_are_refused(columns):
    with pytest.raises(FormatError, match="columns should hold ascending numbers"):
        boosted_layers._columns({"columns": np.array(columns)}, n_features=20)
