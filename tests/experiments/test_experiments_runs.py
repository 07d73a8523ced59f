from __future__ import annotations

import hashlib
import json
import subprocess
import warnings

import experiment_fixtures as toy
import numpy as np
import pytest
import torch
from pydantic import ValidationError

from adagcn import AdaGCNClassifier
from adagcn.data import make_split
from adagcn.data.nodesets import Split
from adagcn.errors import IntegrityError
from adagcn.experiments import provenance
from adagcn.experiments.campaign import plan
from adagcn.experiments.runs import execute, nodes_digest, packed, resolved_params, right_nodes
from adagcn.models.support.measures import measures


@pytest.fixture(scope="module")
def runs():
    return plan(toy.toy_spec(), toy.GRAPHS)[0].runs


def execute_toy(run):
    return execute(run, toy.GRAPH, make_split(toy.GRAPH, run.split, train_per_class=6))


def same_but_times(result):
    times = {"seconds", "fit_cpu_seconds", "predict_cpu_seconds", "peak_memory_mb", "finished"}
    return result.model_dump(exclude=times)


def test_a_run_is_the_plain_fit_with_its_index_as_seed(runs):
    for run in runs:
        result = execute_toy(run)
        split = make_split(toy.GRAPH, run.split, train_per_class=6)
        labels = toy.GRAPH.classes[toy.GRAPH.labels]
        model = AdaGCNClassifier(toy.GRAPH, random_state=run.init, **toy.QUICK).fit(
            split.train_nodes,
            labels[split.train_nodes],
            X_val=split.stop_nodes,
            y_val=labels[split.stop_nodes],
        )
        assert result.accuracy == model.score(split.score_nodes, labels[split.score_nodes])
        assert result.stop_accuracy == model.stop_accuracy_
        assert result.model_digest == model.model_digest_
        assert result.accuracy_by_depth[-1] == result.accuracy
        assert result.epochs_by_layer == model.n_epochs_
        assert len(result.accuracy_by_depth) == 2


def test_a_result_has_every_measure_of_the_scored_nodes(runs):
    result = execute_toy(runs[0])
    split = make_split(toy.GRAPH, runs[0].split, train_per_class=6)
    labels = toy.GRAPH.classes[toy.GRAPH.labels]
    model = AdaGCNClassifier(toy.GRAPH, random_state=0, **toy.QUICK).fit(
        split.train_nodes,
        labels[split.train_nodes],
        X_val=split.stop_nodes,
        y_val=labels[split.stop_nodes],
    )
    proba = model.predict_proba(split.score_nodes)
    assert result.scores == measures(labels[split.score_nodes], proba, model.classes_)
    assert result.score("accuracy") == result.scores["accuracy"] == result.accuracy
    assert result.score("roc_auc") == result.scores["roc_auc"]
    assert toy.some_result(0.5).score("accuracy") == 0.5
    assert toy.some_result(0.5).score("roc_auc") is None


def test_a_result_has_which_nodes_were_right_and_processor_times(runs):
    result = execute_toy(runs[0])
    split = make_split(toy.GRAPH, runs[0].split, train_per_class=6)
    right = right_nodes(result, split)
    assert right.dtype == bool
    assert right.shape == split.score_nodes.shape
    assert right.mean() == result.accuracy
    assert 0 < right.sum() < len(right), "a case in which all bits are equal shows little"
    labels = toy.GRAPH.classes[toy.GRAPH.labels]
    model = AdaGCNClassifier(toy.GRAPH, random_state=0, **toy.QUICK).fit(
        split.train_nodes,
        labels[split.train_nodes],
        X_val=split.stop_nodes,
        y_val=labels[split.stop_nodes],
    )
    predicted = model.predict(split.score_nodes)
    np.testing.assert_array_equal(right, predicted == labels[split.score_nodes])
    assert result.fit_cpu_seconds > 0
    assert result.predict_cpu_seconds >= 0
    assert right_nodes(toy.some_result(0.5), split) is None


@pytest.mark.parametrize("n_nodes", [1, 7, 8, 9, 31])
def test_bits_come_out_as_they_went_in(n_nodes):
    nodes = np.arange(100, 100 + n_nodes)[::-1]
    right = np.random.default_rng(n_nodes).random(n_nodes) < 0.5
    result = toy.some_result(right=packed(right), scored_digest=nodes_digest(nodes))
    split = Split("val:0", np.array([0]), np.array([], dtype=int), nodes)
    np.testing.assert_array_equal(right_nodes(result, split), right)


@pytest.mark.parametrize(
    ("bits", "nodes", "match"),
    [
        (np.ones(9), [1, 2, 4], "not those that the split 'val:0' scores"),
        (np.ones(9), [3, 2, 1], "not those that the split 'val:0' scores"),
        (np.ones(9), [1, 2, 3], "each of the 3 scored nodes.*got '2 bytes'"),
        (np.ones(5), [1, 2, 3], "each of the 3 scored nodes"),
        (np.ones(0), [1, 2, 3], "each of the 3 scored nodes.*got '0 bytes'"),
    ],
)
def test_bits_of_other_nodes_or_of_another_number_are_refused(bits, nodes, match):
    digest = nodes_digest(np.array([1, 2, 3]))
    result = toy.some_result(right=packed(bits.astype(bool)), scored_digest=digest)
    split = Split("val:0", np.array([0]), np.array([], dtype=int), np.array(nodes))
    with pytest.raises(IntegrityError, match=match):
        right_nodes(result, split)


def test_what_a_model_chose_is_kept_with_plain_types(runs, monkeypatch):
    chosen = {"scale": np.bool_(True), "n": np.int64(3), "rate": np.float32(0.5), "none": None}
    made = property(lambda _: {**chosen, "kind": "dense"}, lambda *_: None)  # whatever a fit says
    monkeypatch.setattr(AdaGCNClassifier, "choices_", made, raising=False)
    choices = execute_toy(runs[0]).choices
    assert choices == {"scale": True, "n": 3, "rate": 0.5, "kind": "dense"}
    assert [type(value) for value in choices.values()] == [bool, int, float, str]


def test_the_same_run_gives_the_same_result(runs):
    assert same_but_times(execute_toy(runs[0])) == same_but_times(execute_toy(runs[0]))


def test_threads_are_the_runs_own_and_put_back(runs):
    before = torch.get_num_threads()
    seen = []
    hook = torch.get_num_threads

    def spying(self, *args, **kwargs):
        seen.append(hook())
        return original(self, *args, **kwargs)

    original = AdaGCNClassifier.fit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AdaGCNClassifier, "fit", spying)
        execute_toy(runs[0].model_copy(update={"threads": 2}))
    assert seen == [2]
    assert torch.get_num_threads() == before


def test_the_key_is_of_causes_only(runs):
    run = runs[0]
    cause = {
        "model": "adagcn",
        "params": run.params,
        "data_digest": toy.GRAPH.digest,
        "split_digest": make_split(toy.GRAPH, "stratified:0", train_per_class=6).digest,
        "seed": 0,
        "threads": 1,
    }
    text = json.dumps(cause, sort_keys=True, separators=(",", ":"))
    assert run.key == hashlib.sha256(text.encode()).hexdigest()
    renamed = {"preset": "boosted", "dataset": "other", "split": "val:3", "init": 9}
    for name, value in renamed.items():
        assert run.model_copy(update={name: value}).key == run.key
    changes = {
        "model": "mlp", "params": {**run.params, "dropout": 0.5}, "data_digest": "0" * 64,
        "split_digest": "0" * 64, "seed": 1, "threads": 2,
    }  # fmt: skip
    for name, value in changes.items():
        assert run.model_copy(update={name: value}).key != run.key


def test_seeds_are_numbered_unless_a_spec_asks_for_derived_ones():
    (numbered, *_), (derived, other) = (
        plan(toy.toy_spec(seeds=seeds), toy.GRAPHS, seed=5) for seeds in ("numbered", "derived")
    )
    assert [run.seed for run in numbered.runs] == [5, 6, 5, 6]
    assert [run.key for run in numbered.runs] == [
        run.key for run in plan(toy.toy_spec(), toy.GRAPHS, seed=5)[0].runs
    ]
    for run in derived.runs:
        text = json.dumps([5, run.split, run.init], separators=(",", ":"))
        assert run.seed == int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
    assert len({run.seed for run in derived.runs}) == len(derived.runs) == 4
    # Models are compared on the same split with the same seed.
    assert {run.seed for run in other.runs} == {run.seed for run in derived.runs if run.init == 0}


def test_presets_of_equal_values_share_their_runs():
    rows = [
        {"label": "a", "model": "adagcn", "preset": "unweighted", "settings": toy.QUICK},
        {
            "label": "b",
            "model": "adagcn",
            "preset": "boosted",
            "settings": {**toy.QUICK, "reweight_rate": 0},
        },
    ]
    a, b = plan(toy.toy_spec(rows=rows), toy.GRAPHS)
    assert [run.key for run in a.runs] == [run.key for run in b.runs]


def test_params_hold_what_no_preset_sets():
    model = AdaGCNClassifier(toy.GRAPH, class_weight="balanced", **toy.QUICK)
    params = resolved_params(model)
    assert params["class_weight"] == "balanced"
    assert params["hidden_units"] == 4
    assert not {"graph", "preset", "random_state", "device"} & set(params)


def test_another_graph_or_split_is_refused(runs):
    for name in ("data_digest", "split_digest"):
        with pytest.raises(IntegrityError, match="planned on another graph or split"):
            execute_toy(runs[0].model_copy(update={name: "0" * 64}))


def test_warnings_are_kept_and_not_shown():
    rate = {**toy.QUICK, "reweight_rate": 60.0}
    rows = [{"label": "a", "model": "adagcn", "settings": rate}]
    run = plan(toy.toy_spec(rows=rows), toy.GRAPHS)[0].runs[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        notices = execute_toy(run).notices
    assert len(notices) == 1
    assert "lower reweight_rate" in notices[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"accuracy": 1.5},
        {"accuracy": np.nan},
        {"seconds": -1.0},
        {"model_digest": "x"},
        {"n": 1},
        {"scores": {"roc_auc": 1.5}},
        {"right": "oA=="},
        {"right": "not base64", "scored_digest": "ab" * 32},
        {"fit_cpu_seconds": -1.0},
        {"choices": {"rate": np.nan}},
    ],
)
def test_a_result_that_cannot_be_is_refused(changes):
    with pytest.raises(ValidationError, match=next(iter(changes))):
        toy.some_result(**changes)


def test_the_commit_is_that_of_this_package_or_none(monkeypatch, tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)

    package = tmp_path / "site" / "adagcn" / "experiments"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    monkeypatch.setattr(provenance, "__file__", str(package / "provenance.py"))
    commit = provenance.code_commit.__wrapped__
    assert commit() is None
    git("init")
    assert commit() is None, "a checkout of something else"
    git("add", ".")
    git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-m", "first")
    clean = commit()
    assert len(clean) == 40
    (package.parent / "__init__.py").write_text("changed = True\n")
    assert commit() == f"{clean}+changes"
    monkeypatch.setenv("PATH", "")
    assert commit() is None
