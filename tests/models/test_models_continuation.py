"""Going on with a fit: the same fit as one in one go, or refused with what differs."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pytest
import safetensors.numpy
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from adagcn import AdaGCNClassifier, Graph
from adagcn.data import planted_partition
from adagcn.errors import FormatError, InputError, OtherGraphWarning
from adagcn.models import Variant
from adagcn.models.gcn import GCNClassifier
from adagcn.models.support.model_file import ModelFile, read_model, tensor_entry, to_bytes

QUICK = {
    "preset": "tuned",
    "n_layers": 2,
    "hidden_units": 8,
    "max_epochs": 15,
    "random_state": 0,
    "reweight_rate": 1.0,
}

CONFIGURATIONS = {
    "plain": {},
    "carried optimizer": {"variant": Variant(carry_optimizer=True)},
    "shared stopping": {  # patience runs out in the second layer, so that its state matters
        "variant": Variant(share_stopping=True),
        "patience": 4,
        "max_epochs": 60,
        "learning_rate": 0.3,
    },
    "released": {"preset": "released", "hidden_units": 8},
    "members": {"variant": Variant(n_members=2, carry_optimizer=True, share_stopping=True)},
    "fresh parameters": {"variant": Variant(carry_parameters=False)},
    "pseudo-labels": {"pseudo_labels": 20, "variant": Variant(pseudo_label_from=1)},
    "scaled hops": {"variant": Variant(hop_scale="hop")},
    "few columns": {"max_features": 6},
    "dropout": {"dropout": 0.3, "hidden_dropout": 0.3},
    "SAMME": {"combine": "samme", "variant": Variant(on_perfect="continue")},
    "held out": {"validation_fraction": 0.25},
}
every_configuration = pytest.mark.parametrize(
    "given", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys()
)
pytestmark = [
    pytest.mark.filterwarnings("ignore:the paper has no settings"),
    pytest.mark.filterwarnings("ignore:from layer"),
]


def stopping(task, given):
    return {} if "validation_fraction" in given else task.stopping()


def fitted(task, given, **changes):
    model = AdaGCNClassifier(task.graph, **{**QUICK, **given, **changes})
    return model.fit(task.train, task.labels(task.train), **stopping(task, given))


def assert_same(found, expected, task):
    np.testing.assert_array_equal(found.predict_proba(task.rest), expected.predict_proba(task.rest))
    np.testing.assert_array_equal(found.sample_weights_, expected.sample_weights_)
    assert found.stop_accuracy_ == expected.stop_accuracy_
    assert found.n_epochs_ == expected.n_epochs_
    assert found.model_digest_ == expected.model_digest_


@every_configuration
def test_nodes_in_another_order_go_on_as_the_same_fit(task, given):
    whole = fitted(task, given, n_layers=4)
    grown = fitted(task, given, warm_start=True)
    order = np.random.default_rng(3).permutation(len(task.train))
    more = stopping(task, given)
    if more:
        more = {"X_val": task.stop[::-1], "y_val": task.labels(task.stop[::-1])}
    grown.set_params(n_layers=4).fit(task.train[order], task.labels(task.train[order]), **more)
    assert_same(grown, whole, task)


@every_configuration
def test_a_continuable_file_goes_on_as_the_same_fit(task, given, tmp_path):
    whole = fitted(task, given, n_layers=4)
    fitted(task, given).save(tmp_path / "m.adagcn", continuable=True)
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    back.set_params(n_layers=4, warm_start=True)
    back.fit(task.train, task.labels(task.train), **stopping(task, given))
    assert_same(back, whole, task)


@every_configuration
def test_a_plain_file_is_not_continued(task, given, tmp_path):
    fitted(task, given).save(tmp_path / "m.adagcn")
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    before = back.predict_proba(task.rest)
    back.set_params(n_layers=4, warm_start=True)
    with pytest.raises(InputError, match=r"cannot continue this model.*AGC-I625"):
        back.fit(task.train, task.labels(task.train), **stopping(task, given))
    np.testing.assert_array_equal(back.predict_proba(task.rest), before)
    with pytest.raises(InputError, match="AGC-I706"):
        back.save(tmp_path / "again.adagcn", continuable=True)


def test_a_feature_matrix_goes_on_too(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    whole = AdaGCNClassifier(None, **{**QUICK, "n_layers": 4}).fit(X, y)
    AdaGCNClassifier(None, **QUICK).fit(X, y).save(tmp_path / "m.adagcn", continuable=True)
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn").set_params(n_layers=4, warm_start=True)
    with pytest.raises(InputError, match="the graph or its features are not the same"):
        back.fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(back.fit(X, y).predict_proba(X), whole.predict_proba(X))


def test_only_a_continuable_file_knows_nodes_and_labels(task, tmp_path):
    model = fitted(task, {})
    model.save(tmp_path / "plain.adagcn")
    model.save(tmp_path / "whole.adagcn", continuable=True)
    plain, whole = (read_model(tmp_path / f"{name}.adagcn") for name in ("plain", "whole"))
    nodes = {"nodes.train_nodes", "nodes.labels", "nodes.sample_weight"}
    nodes |= {"nodes.stop_nodes", "nodes.stop_labels"}
    assert nodes <= set(whole.tensors)
    assert {name.split(".")[-1] for name in plain.tensors} <= {
        "hidden", "output", "log_weight", "next_log_weight", "columns",
    }  # fmt: skip
    positions = set(task.graph.positions(task.train).tolist())
    for tensor in plain.tensors.values():  # no tensor holds the positions, under any name
        assert not positions <= set(np.asarray(tensor).ravel().tolist())
    assert plain.manifest.nodes_digest == whole.manifest.nodes_digest
    assert len(json.dumps(plain.manifest.model_dump())) < 20_000


CHANGES = {
    "other nodes": "X has 1 new node, such as .*X lacks 1 earlier node",
    "other labels": r"y of node \d+ was \d and is \d",
    "other weights": r"or class_weight: the share of node \d+ was 0\.02222 and is 0\.0434",
    "other class weights": r"class_weight: the share of node \d+ was",
    "other stopping nodes": "X_val lacks 1 earlier node",
    "other stopping labels": r"y_val of node \d+ was \d and is \d",
    "no stopping nodes": "X_val was given and is not given",
    "other width": "hidden_units was 8 and is 16",
    "other columns": "max_features was 1000 and is 5",
    "other teleport": r"teleport was 0\.2 and is 0\.5",
    "other switch": r"variant\.stop_on was 'loss' and is 'ranked'",
    "other preset": r"reweight_rate was 1\.0 and is 0\.0",
    "other seed": "random_state was 0 and is 1",
    "other learner": r"learner was None and is LogisticRegression\(\) \(",
    "other graph": "the graph or its features are not the same",
}


def changed(change, task, X, y, more):
    """Return what ``fit`` is called with and the settings that change."""
    return {
        "other nodes": lambda: (np.r_[task.rest[0], X[1:]], y, more, {}),
        "other labels": lambda: (X, np.r_[(y[0] + 1) % 3, y[1:]], more, {}),
        "other weights": lambda: (X, y, {**more, "sample_weight": np.r_[2.0, np.ones(44)]}, {}),
        "other class weights": lambda: (X, y, more, {"class_weight": {0: 3.0}}),
        "other stopping nodes": lambda: (X, y, {k: v[1:] for k, v in more.items()}, {}),
        "other stopping labels": lambda: (X, y, {**more, "y_val": (more["y_val"] + 1) % 3}, {}),
        "no stopping nodes": lambda: (X, y, {}, {}),
        "other width": lambda: (X, y, more, {"hidden_units": 16}),
        "other columns": lambda: (X, y, more, {"max_features": 5}),
        "other teleport": lambda: (X, y, more, {"teleport": 0.5}),
        "other switch": lambda: (X, y, more, {"variant__stop_on": "ranked"}),
        "other preset": lambda: (X, y, more, {"preset": "unweighted", "reweight_rate": None}),
        "other seed": lambda: (X, y, more, {"random_state": 1}),
        "other learner": lambda: (X, y, more, {"learner": LogisticRegression()}),
        "other graph": lambda: (
            X, y, more, {"graph": Graph.from_scipy(task.graph.adjacency * 2, task.graph.features)}
        ),
    }[change]()  # fmt: skip


@pytest.mark.parametrize(("change", "message"), CHANGES.items(), ids=CHANGES)
def test_another_fit_is_refused_by_name_and_the_model_stays(task, change, message):
    model = fitted(task, {}, warm_start=True)
    before = model.model_digest_
    X, y, more, settings = changed(
        change, task, task.train, task.labels(task.train), task.stopping()
    )
    model.set_params(n_layers=3, **settings)
    with pytest.raises(InputError, match=message) as caught:
        model.fit(X, y, **more)
    assert caught.value.code == "AGC-I622"
    assert model.model_digest_ == before


def test_all_differences_are_named_at_once(task):
    model = fitted(task, {}, warm_start=True).set_params(n_layers=3, hidden_units=16, teleport=0.5)
    with pytest.raises(InputError, match=r"hidden_units was 8 and is 16; teleport was 0\.2 and is"):
        model.fit(task.train[:-1], task.labels(task.train[:-1]), **task.stopping())


def test_weights_on_another_scale_are_the_same_weights(task):
    model = fitted(task, {}, warm_start=True).set_params(n_layers=3)
    more = {"sample_weight": np.full(len(task.train), 7.0), **task.stopping()}
    model.fit(task.train, task.labels(task.train), **more)
    assert_same(model, fitted(task, {}, n_layers=3), task)


def test_without_a_number_as_random_state_the_first_seed_goes_on(task):
    model = fitted(task, {}, warm_start=True, random_state=None)
    seed = model.seed_
    model.set_params(n_layers=4)
    model.fit(task.train, task.labels(task.train), **task.stopping())
    assert model.seed_ == seed
    assert_same(model, fitted(task, {}, n_layers=4, random_state=seed), task)


def test_as_many_layers_as_there_are_changes_nothing(task, tmp_path):
    model = fitted(task, {}, warm_start=True)
    before = model.layers_
    model.fit(task.train, task.labels(task.train), **task.stopping())
    assert model.layers_ is before
    model.save(tmp_path / "m.adagcn", continuable=True)
    back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=task.graph)
    back.set_params(warm_start=True).fit(task.train, task.labels(task.train), **task.stopping())
    assert back.stop_accuracy_ == model.stop_accuracy_


@pytest.mark.parametrize("reweight_rate", [0.0, 1.0])
@pytest.mark.parametrize("n_first", [3, 7, 9])
def test_pseudo_labels_are_those_of_one_fit_to_the_bit(reweight_rate, n_first):
    """Many rows: a product of other rows would differ in the last bits."""
    graph = planted_partition(n_nodes=3000, n_classes=5, n_features=50, seed=1)
    X, y = graph.node_ids[:303], graph.labels[:303]
    given = {"max_epochs": 2, "random_state": 0, "reweight_rate": reweight_rate, "preset": "tuned"}
    whole = AdaGCNClassifier(graph, n_layers=11, **given).fit(X, y)
    grown = AdaGCNClassifier(graph, n_layers=n_first, warm_start=True, **given).fit(X, y)
    grown.set_params(n_layers=11).fit(X, y)
    assert grown.model_digest_ == whole.model_digest_


def test_a_learner_of_scikit_learn_goes_on_and_another_is_refused(task):
    def model(n_layers, weights):
        learner = DecisionTreeClassifier(class_weight=weights, random_state=0)
        given = {"preset": "tuned", "n_layers": n_layers, "pseudo_labels": 0, "random_state": 0}
        return AdaGCNClassifier(task.graph, learner=learner, warm_start=True, **given)

    y = task.labels(task.train)
    many = {label: 1.0 for label in range(60)}  # repr() would cut so many
    grown = model(1, many).fit(task.train, y)
    grown.set_params(n_layers=3).fit(task.train, y)
    whole = model(3, many).fit(task.train, y)
    np.testing.assert_array_equal(grown.predict_proba(task.rest), whole.predict_proba(task.rest))
    grown.set_params(n_layers=4, learner=model(1, {**many, 59: 2.0}).learner)
    with pytest.raises(InputError, match="learner was"):
        grown.fit(task.train, y)


def test_a_refused_matrix_leaves_the_model_as_it_was():
    X = np.random.default_rng(0).normal(size=(60, 5))
    y = (X[:, 0] > 0).astype(int)
    model = AdaGCNClassifier(None, **{**QUICK, "n_layers": 2}, warm_start=True).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(InputError, match="AGC-I622"):
        model.set_params(n_layers=3).fit(X[:, :4], y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_sparse_samples_and_dense_stopping_samples_go_together():
    X = np.random.default_rng(0).normal(size=(80, 5))
    y = (X[:, 0] > 0).astype(int)
    stopping = {"X_val": X[60:], "y_val": y[60:]}
    mixed = AdaGCNClassifier(None, **QUICK).fit(sparse.csr_matrix(X[:60]), y[:60], **stopping)
    dense = AdaGCNClassifier(None, **QUICK).fit(X[:60], y[:60], **stopping)
    np.testing.assert_allclose(mixed.predict_proba(X), dense.predict_proba(X), atol=1e-9)


CARRIED = {"variant": Variant(carry_optimizer=True, share_stopping=True, n_members=2)}

FORGED = {
    "moments too short": ("layer.001.moments.0.0.mean", lambda a: a[:-1]),
    "moments transposed": ("layer.001.moments.0.0.square", lambda a: a.T.copy()),
    "moments of another type": ("layer.001.moments.0.0.mean", lambda a: a.astype(np.float64)),
    "negative squares": ("layer.001.moments.0.0.square", lambda a: a - 1.0),
    "many step counts": ("layer.001.moments.0.0.n_steps", lambda a: np.zeros(3, np.float32)),
    "no moments": ("layer.001.moments.", None),
    "some moments": ("layer.001.moments.1.", None),
    "no stopper": ("layer.001.stopper.0.", None),
    "stopper of another shape": ("layer.001.stopper.0.0", lambda a: a[:-1]),
    "no nodes": ("nodes.train_nodes", None),
    "no stop labels": ("nodes.stop_labels", None),
    "float nodes": ("nodes.train_nodes", lambda a: a.astype(float)),
    "nodes in two dimensions": ("nodes.train_nodes", lambda a: a[:, None]),
    "too few nodes": ("nodes.train_nodes", lambda a: a[:-1]),
    "repeated nodes": ("nodes.train_nodes", np.zeros_like),
    "nodes beyond the graph": ("nodes.train_nodes", lambda a: a + 10**6),
    "negative nodes": ("nodes.train_nodes", lambda a: -1 - a),
    "labels beyond the classes": ("nodes.labels", lambda a: a + 7),
    "negative labels": ("nodes.labels", lambda a: a - 1),
    "float labels": ("nodes.labels", lambda a: a.astype(float)),
    "negative weights": ("nodes.sample_weight", lambda a: -a),
    "short node weights": ("layer.001.next_log_weight", lambda a: a[:-1]),
    "float32 node weights": ("layer.001.next_log_weight", lambda a: a.astype(np.float32)),
    "NaN node weights": ("layer.001.log_weight", lambda a: a * np.nan),
    "integer parameters": ("layer.000.output", lambda a: a.astype(np.int64)),
    "half parameters": ("layer.000.hidden", lambda a: a.astype(np.float16)),
    "other parameters": ("layer.000.hidden", lambda a: a.astype(np.float64)),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_continuation_never_leaves_our_family(task, tmp_path, forgery):
    """As an attacker could write it: every digest is right."""
    path = tmp_path / "m.adagcn"
    fitted(task, CARRIED).save(path, continuable=True)
    name, change = FORGED[forgery]
    file = read_model(path)
    chosen = [each for each in file.tensors if each.startswith(name)]
    assert chosen
    tensors = {k: v for k, v in file.tensors.items() if change is not None or k not in chosen}
    if change is not None:
        tensors |= {each: np.ascontiguousarray(change(tensors[each])) for each in chosen}
    entries = {name: tensor_entry(tensor) for name, tensor in tensors.items()}
    manifest = file.manifest.model_copy(update={"tensors": entries})
    path.write_bytes(to_bytes(ModelFile(manifest, tensors)))
    with pytest.raises(FormatError, match="AGC-F7"):
        loaded_and_continued(task, path)


def loaded_and_continued(task, path):
    back = AdaGCNClassifier.load(path, graph=task.graph)
    back.set_params(n_layers=3, warm_start=True)
    return back.fit(task.train, task.labels(task.train), **task.stopping())


@pytest.mark.parametrize(
    "change",
    [
        {"params": {"hidden_units": 10**13}},
        {"params": {"hidden_units": 10**30}},
        {"layers": {"coefficient": 0.0}},
        {"layers": {"coefficient": float("nan")}},
        {"layers": {"coefficient": -1.0}},
        {"layers": {"stoppers": []}},
        {"layers": {"complete": False}},
        {"params": {"variant.n_members": 10**7}},
        {"n_features": 10**12},
        {"classes": {"dtype": "<i3"}},
        {"classes": {"values": [2, 1, 0]}},
        {"classes": {"values": [1, 1, 2]}},
        {"classes": {"dtype": "<U1", "values": ["aa", "ab", "b"]}},
        {"classes": {"dtype": "|b1", "values": [0, 1, 2]}},
        {"classes": {"values": [10**30, 1, 2]}},
    ],
    ids=str,
)
def test_a_forged_manifest_of_a_continuation_never_leaves_our_family(task, tmp_path, change):
    path = tmp_path / "m.adagcn"
    fitted(task, CARRIED).save(path, continuable=True)
    file = read_model(path)
    content = file.manifest.model_dump()
    for part, values in change.items():
        if not isinstance(values, dict):
            content[part] = values
            continue
        parts = content[part] if part == "layers" else [content[part]]
        for each in parts:
            each |= values
    head, block = path.read_bytes(), safetensors.numpy.save(file.tensors)
    text = json.dumps(content).encode()
    body = head[:12] + struct.pack("<Q", len(text)) + text + struct.pack("<Q", len(block)) + block
    path.write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(FormatError, match="AGC-F7"):
        AdaGCNClassifier.load(path)


def test_a_continuable_file_on_another_graph_is_refused(task, tmp_path):
    fitted(task, {}).save(tmp_path / "m.adagcn", continuable=True)
    other = Graph.from_scipy(task.graph.adjacency * 2, task.graph.features)
    with pytest.warns(OtherGraphWarning):
        back = AdaGCNClassifier.load(tmp_path / "m.adagcn", graph=other)
    with pytest.raises(InputError, match="the graph or its features are not the same"):
        back.set_params(n_layers=4, warm_start=True).fit(
            task.train, task.labels(task.train), **task.stopping()
        )


def test_a_system_without_layers_has_nothing_to_continue(task, tmp_path):
    model = GCNClassifier(task.graph, max_epochs=2).fit(task.train, task.labels(task.train))
    with pytest.raises(InputError, match="GCNClassifier has no layers to add"):
        model.save(tmp_path / "m.adagcn", continuable=True)
