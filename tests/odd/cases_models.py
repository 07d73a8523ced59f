"""Odd inputs to the estimators and to the methods of a graph; ``cases_commands`` has the commands.

Unless a case says otherwise, a model of one layer is fitted for one epoch on all nodes of a ring
of twelve: six of class "a", then six of class "b", with four features.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from adagcn import AdaGCNClassifier, Graph, Variant, load_model
from adagcn.models.adasgc import AdaSGCClassifier
from adagcn.models.correct_and_smooth import CorrectAndSmoothClassifier
from adagcn.models.engcn import EnGCNClassifier
from adagcn.models.fastgcn import FastGCNClassifier
from adagcn.models.gat import GATClassifier
from adagcn.models.gb_gnn import GBGNNClassifier
from adagcn.models.gcn import GCNClassifier
from adagcn.models.grand import GRANDClassifier
from adagcn.models.graphsage import GraphSAGEClassifier
from adagcn.models.label_propagation import LabelPropagationClassifier
from adagcn.models.mlp import PerceptronClassifier
from adagcn.models.ppnp import PPNPClassifier
from adagcn.models.sgc import SGCClassifier
from adagcn.models.support.registry import build_model, model_class

from .cases_commands import COMMAND_CASES
from .odd_case import Case

N = 12
IDS = np.arange(N)
ENDS = np.stack([IDS, (IDS + 1) % N], axis=1)
LABELS = np.array(["a"] * 6 + ["b"] * 6)
ROWS = np.random.default_rng(0).random((N, 4)).astype(np.float32)
TINY = {"max_epochs": 1, "random_state": 0}
SHALLOW = {"preset": "tuned", "n_layers": 1, "hidden_units": 4, "patience": 1, "pseudo_labels": 0}
ALL = (N, 2)  # the shape of the probabilities of all nodes
DATES = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")[IDS // 6]


def ring(edges: Any = ENDS, **parts: Any) -> Graph:
    """Return the ring, or one with other parts."""
    return Graph.from_edges(edges, **{"features": ROWS, "labels": LABELS, **parts})


RING = ring()
NAMED = ring(feature_names=["w", "x", "y", "z"])
BARE = Graph.from_edges(ENDS)  # each node is a column


def model(kind: Any = AdaGCNClassifier, graph: Any = RING, **settings: Any) -> Any:
    """Return a model that is quick to fit."""
    small = {**TINY, **SHALLOW} if kind is AdaGCNClassifier else TINY
    own = {name: value for name, value in small.items() if name in kind._get_param_names()}
    return kind(graph, **{**own, **settings})


def fitted(graph: Any = RING, **settings: Any) -> Any:
    """Return a fitted model."""
    return model(graph=graph, **settings).fit(IDS, LABELS)


def explains(ids: Any, **wanted: Any) -> Callable[[Path], int]:
    """Return a call that explains nodes and gives their number."""
    return lambda _: len(fitted().explain(ids, **wanted))


def fits(
    X: Any = IDS, y: Any = LABELS, kind: Any = AdaGCNClassifier, graph: Any = RING, **given: Any
) -> Callable[[Path], Any]:
    """Return a call that fits and gives the shape of the probabilities of all nodes."""
    names = ("sample_weight", "X_val", "y_val", "callbacks")
    passed = {name: given.pop(name) for name in names if name in given}

    def call(_: Path) -> Any:
        found = model(kind, graph, **given).fit(X, y, **passed)
        proba = found.predict_proba(IDS if isinstance(graph, Graph) else X)
        return proba.shape if np.isfinite(proba).all() else proba

    return call


def weighs(sample_weight: Any) -> Callable[[Path], Any]:
    """Return a call that fits with these weights."""
    return fits(sample_weight=sample_weight)


def stops_on(X_val: Any, y_val: Any) -> Callable[[Path], Any]:
    """Return a call that trains on the even nodes and stops on these."""
    return fits(IDS[::2], LABELS[::2], X_val=X_val, y_val=y_val)


def predicts(graph: Any, X: Any = IDS, on: Any = RING) -> Callable[[Path], Any]:
    """Return a call that predicts nodes of another graph than the one of the fit."""
    return lambda _: fitted(on).predict_proba(X, graph=graph).shape


def loads(content: Any = None, graph: Any = None, kind: Any = None) -> Callable[[Path], Any]:
    """Return a call that loads a saved model whose bytes were changed by ``content``."""

    def call(folder: Path) -> Any:
        path = folder / "model.adagcn"
        fitted().save(path)
        if content is not None:
            path.write_bytes(content(path.read_bytes()))
        found = load_model(path, graph=graph) if kind is None else kind.load(path, graph=graph)
        return found.predict_proba(IDS).shape

    return call


def forged(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes], bytes]:
    """Return what changes the manifest of a model file and signs it again."""

    def resigned(content: bytes) -> bytes:
        head = struct.Struct("<8sIQ")
        magic, version, size = head.unpack_from(content)
        manifest = json.loads(content[head.size : head.size + size])
        change(manifest)
        text = json.dumps(manifest).encode()
        body = head.pack(magic, version, len(text)) + text + content[head.size + size : -32]
        return body + hashlib.sha256(body).digest()

    return resigned


def continues(first: dict[str, Any], change: Callable[[Any], Any]) -> Callable[[Path], Any]:
    """Return a call that changes a fitted model and fits it again with a warm start."""

    def call(_: Path) -> Any:
        found = fitted(**{"warm_start": True, **first})
        found.set_params(n_layers=2)
        X, y = change(found) or (IDS, LABELS)
        return len(found.fit(X, y).layers_)

    return call


def foreign(call: Callable[[Path], Any]) -> Callable[[Path], str]:
    """Return a call that gives the words of an error that Python or scikit-learn prescribe."""

    def told(folder: Path) -> str:
        try:
            return f"no error: {call(folder)}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    return told


class Loud:
    """A callback that answers with a value, or raises it."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def on_epoch(self, _: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def reloaded(folder: Path) -> Any:
    """Return a model from its file."""
    fitted().save(folder / "model.adagcn")
    return load_model(folder / "model.adagcn", graph=RING)


def flipped(content: bytes) -> bytes:
    """Return a model file with one bit of its tensors flipped."""
    return content[:-40] + bytes([content[-40] ^ 1]) + content[-39:]


def later(content: bytes) -> bytes:
    """Return a model file of a format that does not exist yet, signed."""
    body = content[:8] + struct.pack("<I", 99) + content[12:-32]
    return body + hashlib.sha256(body).digest()


# Settings of the constructor: type and range
SETTINGS = [
    Case("no layers", fits(n_layers=0), "AGC-I601", "n_layers.*greater than or equal to 1"),
    Case("a float of layers", fits(n_layers=2.0), "AGC-I601", "n_layers.*valid integer"),
    Case("layers as text", fits(n_layers="12"), "AGC-I601", "n_layers.*'auto'"),
    Case("a list of layers", fits(n_layers=[1, 2]), "AGC-I601", r"n_layers.*\[1, 2\]"),
    Case("true layers", fits(n_layers=True), "AGC-I601", "n_layers.*True"),
    Case("automatic depth without stopping nodes", fits(n_layers="auto"), "AGC-I621", "X_val"),
    Case(
        "layers as a NumPy number",
        fits(n_layers=np.int64(1)),
        gives=ALL,
        silent_because="it is the same number",
    ),
    Case("no hidden units", fits(hidden_units=0), "AGC-I601", "hidden_units"),
    Case("a trillion hidden units", fits(hidden_units=10**12), "AGC-R911", "Lower hidden_units"),
    Case("units beyond all integers", fits(hidden_units=10**40), "AGC-R911", "hidden_units"),
    Case("not a number of units", fits(hidden_units=np.nan), "AGC-I601", "hidden_units.*nan"),
    Case(
        "None for a setting",
        lambda _: fitted(n_layers=1, dropout=None).params_["dropout"],
        gives=model(dropout=None).resolved_params()["dropout"],
        silent_because="None is documented to mean the preset's value",
    ),
    Case("all inputs dropped", fits(dropout=1.0), "AGC-I601", "dropout.*less than 1"),
    Case("a negative dropout", fits(hidden_dropout=-0.1), "AGC-I601", "hidden_dropout"),
    Case("a dropout that is NaN", fits(dropout=float("nan")), "AGC-I601", "dropout.*nan"),
    Case("teleport all the way", fits(teleport=1), "AGC-I601", "teleport.*less than 1"),
    Case("a learning rate of zero", fits(learning_rate=0), "AGC-I601", "learning_rate.*greater"),
    Case("an infinite rate", fits(learning_rate=float("inf")), "AGC-I601", "finite"),
    Case("a rate as text", fits(learning_rate="0.01"), "AGC-I601", "learning_rate.*'0.01'"),
    Case(
        "a rate that explodes",
        fits(learning_rate=1e38, max_epochs=3),
        "AGC-N503",
        "Lower learning_rate",
    ),
    Case("negative weight decay", fits(weight_decay=-1e-4), "AGC-I601", "weight_decay"),
    Case("an infinite penalty", fits(first_layer_l2=np.inf), "AGC-I601", "first_layer_l2"),
    Case("no epochs", fits(max_epochs=0), "AGC-I601", "max_epochs"),
    Case("epochs in scientific notation", fits(max_epochs=1e3), "AGC-I601", "max_epochs.*1000.0"),
    Case("no patience", fits(patience=0), "AGC-I601", "patience"),
    Case("everything for stopping", fits(validation_fraction=1.0), "AGC-I601", "less than 1"),
    Case(
        "a share that leaves a class empty",
        fits(IDS[4:7], LABELS[4:7], validation_fraction=0.5),
        "AGC-I641",
        "validation_fraction.*X_val",
    ),
    Case(
        "a share for stopping beside stopping nodes",
        fits(IDS[::2], LABELS[::2], X_val=IDS[1::2], y_val=LABELS[1::2], validation_fraction=0.5),
        gives=ALL,
        silent_because="validation_fraction is documented for fits without X_val",
    ),
    Case("a negative reweighting", fits(reweight_rate=-1.0), "AGC-I601", "reweight_rate"),
    Case("an unknown combination", fits(combine="vote"), "AGC-I601", "combine.*'samme_r'"),
    Case("no feature columns wanted", fits(max_features=0), "AGC-I601", "max_features"),
    Case("a word for columns", fits(max_features="many"), "AGC-I601", "max_features.*'all'"),
    Case(
        "more columns wanted than there are",
        fits(max_features=10**9),
        gives=ALL,
        silent_because="it is the largest number of columns, and there are fewer",
    ),
    Case("a norm that is not offered", fits(feature_norm="l2"), "AGC-I601", "feature_norm.*'l1'"),
    Case(
        "raw features asked of divided ones",
        fits(graph=replace(RING, feature_norm="l1"), feature_norm="none"),
        "AGC-I640",
        "feature_norm='none'",
    ),
    Case(
        "a row norm without a graph",
        fits(ROWS, graph=None, feature_norm="l1"),
        "AGC-I636",
        "feature_norm needs a graph.*Normalizer",
    ),
    Case("negative pseudo-labels", fits(pseudo_labels=-1), "AGC-I601", "pseudo_labels"),
    Case(
        "more pseudo-labels than nodes",
        fits(pseudo_labels=10**12),
        gives=ALL,
        silent_because="it is the largest number of nodes, and there are fewer",
    ),
]

# Names of settings, presets and switches
NAMES = [
    Case("a misspelled preset", fits(preset="tunned"), "AGC-I602", "Did you mean 'tuned'"),
    Case("no preset at all", fits(preset=None), "AGC-I602", "preset must be one of adaptive"),
    Case(
        "the paper's preset on a graph of one's own",
        fits(preset="paper"),
        gives=ALL,
        says="no settings for this graph.*cora_ml",
    ),
    Case("another model's preset", fits(kind=GCNClassifier, preset="tuned"), "AGC-I602", "paper"),
    Case("a renamed setting", fits(adopted_nodes=5), "AGC-I603", "now called pseudo_labels"),
    Case("a setting that became a switch", fits(stop_on="loss"), "AGC-I603", "variant=Variant"),
    Case(
        "a misspelled argument",
        foreign(fits(hiden_units=5)),
        gives="TypeError: AdaGCNClassifier got an unexpected keyword argument 'hiden_units'; "
        "did you mean 'hidden_units'?",
        silent_because="Python's own error for it",
    ),
    Case(
        "an argument of another library",
        foreign(fits(zzz=5)),
        gives="TypeError: AdaGCNClassifier got an unexpected keyword argument 'zzz'",
        silent_because="Python's own error for it",
    ),
    Case("a variant by its name", fits(variant="released"), "AGC-I604", "must be a Variant"),
    Case("the class Variant", fits(variant=Variant), "AGC-I604", "must be a Variant"),
    Case(
        "a variant as a dict",
        fits(variant={"stop_on": "loss"}),
        gives=ALL,
        silent_because="its switches are checked alike",
    ),
    Case("a dict of no switch", fits(variant={"stop": 1}), "AGC-I605", "stop_on"),
    Case("a misspelled switch", lambda _: Variant(stop_no="loss"), "AGC-I601", "stop_on"),
    Case("a switch out of range", lambda _: Variant(voting_share=0.0), "AGC-I601", "voting_share"),
    Case("a switch that is a number", lambda _: Variant(relu_logits=1), "AGC-I601", "boolean"),
    Case(
        "a switch that the model lacks",
        fits(kind=AdaSGCClassifier, variant=Variant(relu_logits=True)),
        "AGC-I605",
        "adasgc has no switch variant.relu_logits",
    ),
    Case(
        "a moved name in set_params",
        lambda _: model().set_params(vote="hard"),
        "AGC-I603",
        "variant__vote",
    ),
    Case(
        "an unknown switch in set_params",
        lambda _: model().set_params(variant__vot="hard"),
        "AGC-I605",
        "Did you mean vote",
    ),
    Case(
        "an unknown name in set_params",
        lambda _: foreign(lambda _: model().set_params(depth=3))(_)[:52],
        gives="ValueError: Invalid parameter 'depth' for estimator ",
        silent_because="scikit-learn's own error for it",
    ),
    Case(
        "a clone of a model with wrong values",
        lambda _: clone(model(n_layers=0)).n_layers,
        gives=0,
        silent_because="scikit-learn's clones keep values that only fit checks",
    ),
    Case("an unknown model", lambda _: model_class("adgcn"), "AGC-I643", "Did you mean 'adagcn'"),
    Case(
        "a setting that a built model lacks",
        lambda _: build_model("gcn", RING, settings={"teleport": 0.1}),
        "AGC-I606",
        "gcn has no setting teleport",
    ),
]

# Arguments beside the settings
BESIDE = [
    Case("no threads", fits(n_threads=0), "AGC-I910", "n_threads.*from 1"),
    Case("half a thread", fits(n_threads=1.5), "AGC-I910", "whole number"),
    Case("threads without number", fits(n_threads=10**6), "AGC-I910", "n_threads"),
    Case("threads as a switch", fits(n_threads=True), "AGC-I910", "True"),
    Case("a device that is not there", fits(device="cuda:7"), "AGC-I642", "device='cpu'"),
    Case("a device that is none", fits(device="gpu"), "AGC-I642", "device cannot be used"),
    Case("a device without values", fits(device="meta"), "AGC-I642", "device cannot be used"),
    Case("None as the device", fits(device=None), "AGC-I642", "device"),
    Case("a negative seed", fits(random_state=-1), "AGC-I635", "non-negative"),
    Case("a seed as text", fits(random_state="0"), "AGC-I635", "random_state"),
    Case("half a seed", fits(random_state=0.5), "AGC-I635", "random_state"),
    Case("a seed that is a truth value", fits(random_state=True), "AGC-I635", "random_state"),
    Case("a list of seeds", fits(random_state=[1, 2]), "AGC-I635", "random_state"),
    Case(
        "a seed of 100 bits",
        lambda _: fitted(random_state=2**100).seed_,
        gives=2**100,
        silent_because="a seed may be of any size",
    ),
    Case(
        "a generator as the seed",
        fits(random_state=np.random.default_rng(0)),
        gives=ALL,
        silent_because="it is documented",
    ),
    Case("weights of an unknown class", fits(class_weight={"c": 1.0}), "AGC-I629", "'a', 'b'"),
    Case("a misspelled class weight", fits(class_weight="balance"), "AGC-I651", "'balanced'"),
    Case("a negative class weight", fits(class_weight={"a": -1.0}), "AGC-I630", "not negative"),
    Case("a class weight in words", fits(class_weight={"a": "much"}), "AGC-I617", "class_weight"),
    Case("class weights as a list", fits(class_weight=[1.0, 2.0]), "AGC-I651", "dict"),
    Case("no weight for any class", fits(class_weight={"a": 0, "b": 0}), "AGC-I618", "all zero"),
    Case(
        "a learner that takes no weights",
        fits(learner=KNeighborsClassifier()),
        "AGC-I505",
        "sample_weight",
    ),
    Case("a learner without probabilities", fits(learner=SVC()), "AGC-I505", "predict_proba"),
    Case("a regressor as the learner", fits(learner=LinearRegression()), "AGC-I505", "classifier"),
    Case("the class of a learner", fits(learner=LogisticRegression), "AGC-I505", "Regression"),
    Case("a learner by its name", fits(learner="logistic"), "AGC-I505", "learner"),
    Case("warm starts in words", fits(warm_start="no"), "AGC-I648", "warm_start"),
]

# What stands for the graph
GRAPHS = [
    Case("the name of a data set as graph", fits(graph="cora"), "AGC-I645", "load_dataset"),
    Case("a networkx graph", fits(graph=nx.path_graph(12)), "AGC-I645", "from_networkx"),
    Case("a matrix as graph", fits(graph=sparse.eye_array(12)), "AGC-I645", "must be a Graph"),
    Case("the class Graph", fits(graph=Graph), "AGC-I645", "must be a Graph"),
    Case("no graph for a GCN", fits(kind=GCNClassifier, graph=None), "AGC-I1020", "needs a graph"),
    Case("features times 1e30", fits(graph=ring(features=ROWS * 1e30)), "AGC-I404", "scale"),
    Case(
        "features times 1e-30",
        fits(graph=ring(features=ROWS * 1e-30)),
        gives=ALL,
        silent_because="small numbers are numbers",
    ),
    Case(
        "features that are all zero",
        fits(graph=ring(features=ROWS * 0)),
        gives=ALL,
        silent_because="a node without words is common in bags of words",
    ),
    Case(
        "a graph without edges",
        lambda folder: fits(graph=ring([]))(folder),
        gives=ALL,
        says="the graph has no edges",
    ),
    Case(
        "a graph of one node",
        lambda _: model(graph=Graph.from_edges([], features=ROWS[:1])).fit([0], ["a"]),
        "AGC-I616",
        "two classes",
    ),
    Case(
        "a labeled node without neighbors",
        fits(graph=ring(ENDS[3:8])),
        gives=ALL,
        silent_because="isolated nodes stay and have their own features",
    ),
    Case(
        "two labels in all",
        fits(IDS[[0, 11]], LABELS[[0, 11]]),
        gives=ALL,
        silent_because="few labels are what the library is for",
    ),
    Case(
        "edges of the largest weight",
        fits(graph=ring(weight=np.full(N, 3e38)), n_layers=2),
        gives=ALL,
        silent_because="weights are divided by degrees",
    ),
]

# Node ids of a fit
FIT_IDS = [
    Case("ids that the graph lacks", fits(IDS + 6), "AGC-I104", "X holds 6 ids.*12, 13"),
    Case("ids as floats", fits(IDS.astype(float)), "AGC-I108", "X holds floats"),
    Case("a mask instead of ids", fits(LABELS == "a"), "AGC-I109", r"node_ids\[mask\]"),
    Case("an id twice", fits([0, 0, 11], ["a", "a", "b"]), "AGC-I638", "X holds 1 node more"),
    Case("features instead of ids", fits(ROWS), "AGC-I101", r"one column.*\(12, 4\)"),
    Case("no ids", fits([], []), "AGC-I637", "X holds no nodes"),
    Case("None for the ids", fits(None), "AGC-I102", "None"),
    Case("names for numbered nodes", fits([f"n{i}" for i in IDS]), "AGC-I103", "same kind"),
    Case("a negative position", fits(IDS - 1), "AGC-I104", "-1"),
    Case("one id without a list", fits(3, "a"), "AGC-I102", "3"),
    Case("ids as a set", fits(set(IDS.tolist())), "AGC-I100", "list"),
    Case("an id that is missing", fits([0, None, 11], LABELS[:3]), "AGC-I106", "first in row 1"),
    Case("a masked id", fits(np.ma.masked_equal(IDS, 5)), "AGC-I106", "row 5"),
    Case(
        "ids in one column of a frame",
        fits(pd.DataFrame({"id": IDS})),
        gives=ALL,
        silent_because="a column is a column",
    ),
    Case("ids of bytes", fits(np.array([b"0", b"11"]), ["a", "b"]), "AGC-I110", "to strings"),
    Case("a ragged list of ids", fits([[0], [1, 2]], ["a", "b"]), "AGC-I107", "one kind"),
]

# Labels
FIT_LABELS = [
    Case("no labels", fits(y=None), "AGC-I626", "y is None"),
    Case("a label that is NaN", fits(y=[np.nan, *range(11)]), "AGC-I613", "y has 1 missing label"),
    Case("a label that is pandas' NA", fits(y=[pd.NA, *LABELS[1:]]), "AGC-I613", "position 0"),
    Case("a label that is None", fits(y=[*LABELS[:11], None]), "AGC-I613", "position 11"),
    Case("a masked label", fits(y=np.ma.masked_equal(IDS // 6, 1)), "AGC-I613", "6 missing"),
    Case("a label that is no time", fits(y=pd.to_datetime([None] * N)), "AGC-I613", "missing"),
    Case("numbers and words as labels", fits(y=[0, *LABELS[1:]]), "AGC-I614", "one kind"),
    Case("one-hot labels", fits(y=np.eye(2)[IDS // 6]), "AGC-I611", "argmax"),
    Case("a label too few", fits(y=LABELS[1:]), "AGC-I612", "11 labels"),
    Case("a single class", fits(y=["a"] * N), "AGC-I616", "at least two classes"),
    Case("measurements as labels", fits(y=np.linspace(0, 1, N)), "AGC-I614", "continuous"),
    Case("complex labels", fits(y=IDS * 1j), "AGC-I614", "Complex data"),
    Case("infinite labels", fits(y=[np.inf, *IDS[1:]]), "AGC-I614", "y must hold class labels"),
    Case("labels of unequal length", fits(y=[["a"], ["a", "b"], *LABELS[2:]]), "AGC-I627", "y"),
    Case("labels as a mapping", fits(y=dict(enumerate(LABELS))), "AGC-I611", "a list or an array"),
    Case("labels as one word", fits(y="aaaaaabbbbbb"), "AGC-I611", "'aaaaaabbbbbb'"),
    Case("y of bytes", fits(y=LABELS.astype("S")), "AGC-I614", "bytes"),
    Case("lists as labels", fits(y=[["a", "b"]] * N), "AGC-I611", "argmax"),
    Case(
        "labels in one column",
        fits(y=LABELS.reshape(-1, 1)),
        gives=ALL,
        silent_because="a column is a column",
    ),
    Case(
        "truth values as labels",
        fits(y=LABELS == "a"),
        gives=ALL,
        silent_because="they are two classes",
    ),
    Case(
        "an empty label",
        lambda _: model().fit(IDS, np.where(LABELS == "a", "", "b")).classes_.tolist(),
        gives=["", "b"],
        silent_because="fit takes label values of any kind, and this is one",
    ),
    Case(
        "-1 as a label",
        lambda _: model().fit(IDS, IDS // 6 - 1).classes_.tolist(),
        gives=[-1, 0],
        silent_because="fit takes the labeled nodes only, so -1 is a class",
    ),
    Case(
        "categories as labels",
        fits(y=pd.Categorical(LABELS, categories=["b", "a", "unused"])),
        gives=ALL,
        silent_because="the values count, not how they are kept",
    ),
]

# Weights of nodes
WEIGHTS = [
    Case("a negative weight", weighs([-1.0] + [1.0] * 11), "AGC-I620", "first at position 0"),
    Case("a weight that is NaN", weighs([1.0, np.nan] + [1.0] * 10), "AGC-I620", "position 1"),
    Case("an infinite weight", weighs([np.inf] * N), "AGC-I620", "12 values are not"),
    Case("weights of zero", weighs(np.zeros(N)), "AGC-I618", "all zero"),
    Case("a masked weight", weighs(np.ma.masked_equal(IDS, 3)), "AGC-I628", "1 missing weight"),
    Case("a weight too many", weighs(np.ones(13)), "AGC-I619", "each of the 12"),
    Case("weights in two columns", weighs(np.ones((N, 2))), "AGC-I619", r"\(12, 2\)"),
    Case("weights in words", weighs(["much"] * N), "AGC-I619", "one number"),
    Case("a weight that is None", weighs([None] + [1.0] * 11), "AGC-I628", "position 0"),
    Case("complex weights", weighs(np.ones(N) * 1j), "AGC-I619", "complex"),
    Case(
        "weights whose sum overflows", weighs(np.full(N, 1e308)), "AGC-I649", "sample_weight.*sum"
    ),
    Case(
        "one weight for all",
        weighs(2.0),
        gives=ALL,
        silent_because="it stands for equal weights, as in scikit-learn",
    ),
    Case(
        "a class without weight",
        weighs((IDS < 6).astype(float)),
        gives=ALL,
        silent_because="class_weight documents 0 for a class that should not count",
    ),
]

# Stopping nodes and callbacks
STOPPING = [
    Case("a node trained and stopped on", stops_on(IDS[:3], LABELS[:3]), "AGC-I639", "2 nodes"),
    Case("stopping nodes without labels", stops_on(IDS[1::2], None), "AGC-I631", "X_val alone"),
    Case("stopping labels without nodes", stops_on(None, LABELS), "AGC-I631", "y_val alone"),
    Case("stopping labels of a new class", stops_on([1], ["c"]), "AGC-I615", r"y_val.*\['c'\]"),
    Case("stopping nodes unknown", stops_on([77], ["a"]), "AGC-I104", "X_val holds 1 id"),
    Case("no stopping nodes", stops_on([], []), "AGC-I637", "X_val holds no nodes"),
    Case("a stopping node twice", stops_on([1, 1], ["a", "a"]), "AGC-I638", "X_val"),
    Case("a stopping label too few", stops_on([1, 3], ["a"]), "AGC-I612", "y_val"),
    Case("a stopping label missing", stops_on([1, 3], ["a", None]), "AGC-I613", "y_val"),
    Case("stopping labels of another kind", stops_on([1, 3], [0, 0]), "AGC-I615", "y_val"),
    Case("a function as callback", fits(callbacks=[print]), "AGC-I510", "on_epoch"),
    Case("the class of a callback", fits(callbacks=[Loud]), "AGC-I510", "object rather than"),
    Case("a callback without a list", fits(callbacks=Loud()), "AGC-I511", "callbacks="),
    Case("callbacks as text", fits(callbacks="early"), "AGC-I510", "'e'"),
    Case("a callback that answers in words", fits(callbacks=[Loud("stop")]), "AGC-I512", "'stop'"),
    Case(
        "a callback that fails",
        foreign(fits(callbacks=[Loud(KeyError("mine"))])),
        gives="KeyError: 'mine'",
        silent_because="the caller's own error reaches the caller",
    ),
    Case(
        "a callback that stops at once",
        fits(callbacks=[Loud(True)], n_layers=3),
        gives=ALL,
        silent_because="documented to leave a usable model",
    ),
]

# Models without a graph
MATRIX = [
    Case("a vector as matrix", fits(ROWS[:, 0], graph=None), "AGC-I650", "2D"),
    Case(
        "NaN in a matrix", fits(np.where(ROWS > 0.9, np.nan, ROWS), graph=None), "AGC-I650", "NaN"
    ),
    Case("words in a matrix", fits([["x"]] * N, graph=None), "AGC-I650", "'x'"),
    Case(
        "a matrix times 1e300", fits(ROWS.astype(float) * 1e300, graph=None), "AGC-I404", "float64"
    ),
    Case("a matrix without columns", fits(ROWS[:, :0], graph=None), "AGC-I650", "0 feature"),
    Case("a matrix of one row", fits(ROWS[:1], ["a"], graph=None), "AGC-I616", "two classes"),
    Case("fewer rows than labels", fits(ROWS[:5], graph=None), "AGC-I650", "inconsistent"),
    Case(
        "a matrix of other columns",
        lambda _: model(graph=None).fit(ROWS, LABELS).predict(ROWS[:, :2]),
        "AGC-I650",
        "2 features.*4",
    ),
    Case(
        "a graph for a model of matrices",
        lambda _: model(graph=None).fit(ROWS, LABELS).predict(ROWS, graph=RING),
        "AGC-I632",
        "feature matrix",
    ),
]

# Other models
OTHERS = [
    Case("attention without heads", fits(kind=GATClassifier, n_heads=0), "AGC-I601", "n_heads"),
    Case("GAT of a trillion units", fits(kind=GATClassifier, hidden_units=10**12), "AGC-R911", "h"),
    Case("SGC of no products", fits(kind=SGCClassifier, n_layers=0), "AGC-I601", "n_layers"),
    Case("a step rule of another name", fits(kind=GCNClassifier, stop_on="ever"), "AGC-I601", "on"),
    Case("PPNP of no tolerance", fits(kind=PPNPClassifier, tolerance=-1.0), "AGC-I601", "toler"),
    Case("no samples", fits(kind=FastGCNClassifier, n_samples=0), "AGC-I601", "n_samples"),
    Case("no neighbors drawn", fits(kind=GraphSAGEClassifier, fan_out=0), "AGC-I601", "fan_out"),
    Case(
        "GRAND without stopping nodes, on a graph that its authors do not have",
        fits(kind=GRANDClassifier),
        gives=ALL,
        says="those of citeseer are used",
    ),
    Case(
        "GRAND of one class",
        fits(IDS[:6], LABELS[:6], kind=GRANDClassifier, X_val=IDS[6:], y_val=LABELS[6:]),
        "AGC-I616",
        r"at least two classes.*got \['a'\]",
    ),
    Case(
        "GRAND without any node",
        fits(kind=GRANDClassifier, node_dropout=1.0),
        "AGC-I601",
        "node_dropout.*less than 1",
    ),
    Case(
        "an alignment of features of zeros",
        fits(kind=GBGNNClassifier, preset="alignment", graph=ring(features=0 * ROWS)),
        gives=ALL,
        silent_because="all shares are as good, and the first learner guesses",
    ),
    Case(
        "GB-GNN that propagates nothing",
        fits(kind=GBGNNClassifier, propagated_share=0.0),
        "AGC-I601",
        "propagated_share.*greater than 0",
    ),
    Case("EnGCN that is sure of all", fits(kind=EnGCNClassifier, threshold=0.0), "AGC-I601", "thr"),
    Case(
        "labels that never teleport",
        fits(kind=LabelPropagationClassifier, teleport=0.0),
        "AGC-I601",
        "teleport.*greater than 0",
    ),
    Case(
        "a correction of no scale",
        fits(kind=CorrectAndSmoothClassifier, scale=0.0),
        "AGC-I601",
        "scale",
    ),
    Case(
        "a GCN on a feature matrix",
        fits(ROWS, kind=GCNClassifier),
        "AGC-I101",
        "X must be one column",
    ),
    Case(
        "a perceptron on huge features",
        fits(kind=PerceptronClassifier, graph=ring(features=ROWS * 1e30)),
        "AGC-I404",
        "features",
    ),
    Case(
        "a GCN with no class left by weights",
        fits(kind=GCNClassifier, class_weight={"a": 0.0}),
        gives=ALL,
        silent_because="class_weight documents 0 for a class that should not count",
    ),
]

# Predictions
PREDICTIONS = [
    Case(
        "a prediction before the fit",
        lambda _: foreign(lambda _: model().predict(IDS))(_)[:62],
        gives="NotFittedError: This AdaGCNClassifier instance is not fitted y",
        silent_because="scikit-learn's own error for it",
    ),
    Case("a prediction of unknown nodes", predicts(None, [99]), "AGC-I104", "99"),
    Case(
        "a prediction of no nodes",
        predicts(None, []),
        gives=(0, 2),
        silent_because="nothing is asked, nothing is given",
    ),
    Case("a data set's name to predict on", predicts("cora"), "AGC-I645", "load_dataset"),
    Case("a graph of fewer columns", predicts(ring(features=ROWS[:, 1:])), "AGC-I634", "with 3"),
    Case(
        "a graph of permuted columns",
        predicts(ring(features=ROWS[:, ::-1], feature_names=["z", "y", "x", "w"]), on=NAMED),
        gives=ALL,
        says="put in the order of the fit",
    ),
    Case(
        "a graph that lacks a column",
        predicts(ring(features=ROWS[:, 1:], feature_names=["x", "y", "z"]), on=NAMED),
        "AGC-I647",
        r"\['w'\]",
    ),
    Case(
        "a graph with a column more",
        predicts(
            ring(features=np.hstack([ROWS, ROWS[:, :1]]), feature_names=list("wxyzq")), on=NAMED
        ),
        gives=ALL,
        says=r"1 column that the model does not know left out: \['q'\]",
    ),
    Case(
        "a graph without features", predicts(BARE), "AGC-I646", "each node of a graph is a column"
    ),
    Case("features for a model of nodes", predicts(RING, on=BARE), "AGC-I646", "columns"),
    Case(
        "a node that a model of nodes has not seen",
        predicts(Graph.from_edges([*ENDS, [3, 12]]), [12], on=BARE),
        gives=(1, 2),
        silent_because="documented: it is known by its neighbors alone",
    ),
    Case(
        "names of nodes for a model of numbers",
        predicts(ring([(f"n{a}", f"n{b}") for a, b in ENDS], node_ids=[f"n{i}" for i in IDS])),
        "AGC-I103",
        "X holds integer ids but the graph holds string ids",
    ),
    Case(
        "another graph of huge features",
        predicts(ring(features=ROWS * 1e30)),
        "AGC-I404",
        "below",
    ),
    Case(
        "another graph of doubles",
        predicts(RING.astype(np.float64)),
        gives=ALL,
        silent_because="the same values, kept more exactly",
    ),
    Case(
        "a score of too few labels",
        foreign(lambda _: fitted().score(IDS, LABELS[:5])),
        gives="ValueError: Found input variables with inconsistent numbers of samples: [5, 12]",
        silent_because="scikit-learn's own error for it",
    ),
    Case(
        "stages before the fit",
        lambda _: foreign(lambda _: list(model().staged_predict(IDS)))(_)[:14],
        gives="NotFittedError",
        silent_because="scikit-learn's own error for it",
    ),
]

# Warm starts
EXPLANATIONS = [
    Case(
        "an explanation before the fit",
        lambda _: foreign(lambda _: model().explain(IDS))(_)[:62],
        gives="NotFittedError: This AdaGCNClassifier instance is not fitted y",
        silent_because="scikit-learn's own error for it",
    ),
    Case("an explanation of unknown nodes", explains([99]), "AGC-I104", "ids holds 1 id"),
    Case(
        "an explanation of no nodes",
        explains([]),
        gives=0,
        silent_because="nothing is asked, nothing is given",
    ),
    Case("half a feature", explains(IDS, n_features=0.5), "AGC-I1301", "whole number"),
    Case("neighbors below zero", explains(IDS, n_neighbors=-1), "AGC-I1301", "n_neighbors"),
    Case(
        "more features and neighbors than there are",
        explains(IDS, n_features=10**9, n_neighbors=10**9),
        gives=N,
        silent_because="all of them are listed",
    ),
    Case(
        "an explanation of a system that is no sum",
        lambda _: model(SGCClassifier).fit(IDS, LABELS).explain(IDS),
        "AGC-I1304",
        "adagcn, adasgc, mlp, logistic",
    ),
    Case(
        "parts of an unknown kind",
        lambda _: fitted().explain(IDS).to_frame("leaves"),
        "AGC-I1302",
        "nodes, hops, features",
    ),
]

WARM = [
    Case(
        "a warm start from another seed",
        continues({}, lambda m: m.set_params(random_state=1) and None),
        "AGC-I622",
        "random_state was 0 and is 1",
    ),
    Case(
        "a warm start with another width",
        continues({}, lambda m: m.set_params(hidden_units=5) and None),
        "AGC-I622",
        "hidden_units was 4 and is 5",
    ),
    Case(
        "a warm start to fewer layers",
        continues({"n_layers": 3}, lambda _: None),
        "AGC-I623",
        "at least 3",
    ),
    Case(
        "a warm start to automatic depth",
        continues({}, lambda m: m.set_params(n_layers="auto") and None),
        "AGC-I623",
        "'auto'",
    ),
    Case(
        "a warm start on fewer nodes",
        continues({}, lambda _: (IDS[1:], LABELS[1:])),
        "AGC-I622",
        "differs",
    ),
    Case(
        "a warm start with other labels",
        continues({}, lambda _: (IDS, LABELS[::-1])),
        "AGC-I622",
        "differs",
    ),
    Case(
        "a warm start on another graph",
        continues({}, lambda m: m.set_params(graph=ring(ENDS[1:])) and None),
        "AGC-I622",
        "graph or its features",
    ),
    Case(
        "a warm start with the nodes in another order",
        continues({}, lambda _: (IDS[::-1], LABELS[::-1])),
        gives=2,
        silent_because="documented: the order of the first fit counts",
    ),
    Case(
        "a warm start of a file that was not meant for it",
        lambda folder: reloaded(folder).set_params(warm_start=True, n_layers=2).fit(IDS, LABELS),
        "AGC-I625",
        "continuable=True",
    ),
    Case(
        "a warm start with another learner",
        continues({"learner": GaussianNB()}, lambda m: m.set_params(learner=None) and None),
        "AGC-I622",
        "learner was GaussianNB",
    ),
]

# Files of models
FILES = [
    Case("a model that is not there", lambda p: load_model(p / "x"), "AGC-I701", "No such file"),
    Case("a folder as the model", load_model, "AGC-I701", "directory"),
    Case("an empty file as the model", loads(lambda _: b""), "AGC-F705", "not a whole"),
    Case("a text as the model", loads(lambda _: b"id,label\n" * 20), "AGC-F705", "id,label"),
    Case(
        "a pickle as the model", loads(lambda _: pickle.dumps([0] * 99)), "AGC-F705", "not a whole"
    ),
    Case("half a model", loads(lambda b: b[: len(b) // 2]), "AGC-G706", "damaged"),
    Case("a model with one bit flipped", loads(flipped), "AGC-G706", "SHA-256"),
    Case("a model with more behind it", loads(lambda b: b + b"\n"), "AGC-G706", "damaged"),
    Case("a model of a later release", loads(later), "AGC-F707", "this release does not read"),
    Case(
        "a forged model of no kind",
        loads(forged(lambda m: m.update(model="os.system"))),
        "AGC-F711",
        "os.system",
    ),
    Case(
        "a forged model of another kind",
        loads(forged(lambda m: m.update(model="gcn"))),
        "AGC-F712",
        "GCNClassifier",
    ),
    Case(
        "a forged model of wrong settings",
        loads(forged(lambda m: m["params"].update(hidden_units=-1))),
        "AGC-F714",
        "hidden_units",
    ),
    Case(
        "a forged model of an unknown argument",
        loads(forged(lambda m: m["constructor"].update(run="rm"))),
        "AGC-F712",
        "'run'",
    ),
    Case(
        "a forged model with labels twice",
        loads(forged(lambda m: m["classes"].update(values=["a", "a"]))),
        "AGC-F708",
        "1 validation error",
    ),
    Case(
        "a forged model of more columns",
        loads(forged(lambda m: m.update(n_features=5)), RING),
        "AGC-I702",
        "5 features",
    ),
    Case(
        "a forged model without its tensors",
        loads(forged(lambda m: m.update(tensors={}))),
        "AGC-F708",
        "tensors other than the manifest says",
    ),
    Case("a model of another class", loads(kind=GCNClassifier), "AGC-I624", "load_model"),
    Case("a loaded model without a graph", loads(), "AGC-I633", "graph=graph"),
    Case("a model with a data set's name", loads(graph="cora"), "AGC-I645", "load_dataset"),
    Case("a model with fewer columns", loads(graph=ring(features=ROWS[:, 1:])), "AGC-I702", "4 f"),
    Case(
        "a model with another graph",
        loads(graph=ring(ENDS[1:])),
        gives=ALL,
        says="another graph.*inductive",
    ),
    Case(
        "a model saved before its fit",
        lambda folder: foreign(lambda _: model().save(folder / "m"))(folder)[:14],
        gives="NotFittedError",
        silent_because="scikit-learn's own error for it",
    ),
    Case("a model saved over a folder", lambda p: fitted().save(p), "AGC-R200", "folder"),
    Case("a model saved nowhere", lambda p: fitted().save(p / "x" / "m"), "AGC-R200", "folder"),
    Case(
        "a model saved with a learner of one's own",
        lambda p: fitted(learner=GaussianNB()).save(p / "m"),
        "AGC-I703",
        "learner",
    ),
    Case(
        "a model saved with dates as labels",
        lambda p: model().fit(IDS, DATES).save(p / "m"),
        "AGC-I704",
        "strings as labels",
    ),
    Case(
        "a GCN saved to go on",
        lambda p: model(GCNClassifier).fit(IDS, LABELS).save(p / "m", continuable=True),
        "AGC-I705",
        "continuable",
    ),
]

# Methods of a graph
METHODS = [
    Case("a part of no nodes", lambda _: RING.subgraph([]), "AGC-I197", "non-empty"),
    Case("a part by a mask", lambda _: RING.subgraph(LABELS == "a"), "AGC-I197", "positions"),
    Case("a part by floats", lambda _: RING.subgraph([0.0, 1.0]), "AGC-I197", "positions"),
    Case("a part by a table", lambda _: RING.subgraph(ENDS), "AGC-I197", "flat"),
    Case("a part with a node twice", lambda _: RING.subgraph([1, 1]), "AGC-I198", "different"),
    Case("a part beyond the graph", lambda _: RING.subgraph([12]), "AGC-I198", "0 to 11"),
    Case("a part by negative positions", lambda _: RING.subgraph([-1]), "AGC-I198", "-1"),
    Case("positions of unknown ids", lambda _: RING.positions([12, 13]), "AGC-I104", "2 ids"),
    Case("positions of a word", lambda _: RING.positions("01"), "AGC-I100", "'01'"),
    Case("features as integers", lambda _: RING.astype(int), "AGC-I133", "float32 or float64"),
    Case("features of half precision", lambda _: RING.astype("float16"), "AGC-I133", "'float16'"),
    Case("features of no type", lambda _: RING.astype("numbers"), "AGC-I133", "'numbers'"),
    Case(
        "a type of features by its name",
        lambda _: RING.astype("float64").features.dtype.name,
        gives="float64",
        silent_because="NumPy takes names of types everywhere",
    ),
    Case("a graph saved nowhere", lambda p: RING.to_npz(p / "x" / "g.npz"), "AGC-R200", "folder"),
    Case("a graph saved over a folder", lambda p: RING.to_npz(p), "AGC-R200", "folder"),
]

MODEL_CASES = [
    *SETTINGS,
    *NAMES,
    *BESIDE,
    *GRAPHS,
    *FIT_IDS,
    *FIT_LABELS,
    *WEIGHTS,
    *STOPPING,
    *MATRIX,
    *OTHERS,
    *PREDICTIONS,
    *EXPLANATIONS,
    *WARM,
    *FILES,
    *METHODS,
    *COMMAND_CASES,
]
