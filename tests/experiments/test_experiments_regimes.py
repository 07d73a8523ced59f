"""Columns with few, uneven or wrong labels, and the experiment that has them all."""

from __future__ import annotations

from itertools import product

import experiment_fixtures as toy
import numpy as np
import pytest

from adagcn.data import load_dataset, make_split
from adagcn.data.nodesets import Regime
from adagcn.errors import InputError
from adagcn.experiments.campaign import load_graphs, load_splits, plan
from adagcn.experiments.columns import column_splits, training_counts
from adagcn.experiments.runs import execute
from adagcn.experiments.spec import Column
from adagcn.experiments.spec_files import load_spec
from adagcn.models.support.registry import build_model

REGIMES = {
    "5": {"train_per_class": 5},
    "10": {"train_per_class": 10},
    "20": {"train_per_class": 20},
    "60": {"train_per_class": 60, "at_most": True},
    "600 in all": {"n_train": 600},
    "noise 20 %": {"train_per_class": 20, "label_noise": 0.2},
    "noise 40 %": {"train_per_class": 20, "label_noise": 0.4},
    "imbalance 20:2": {"imbalance": [20, 2]},
}
NAMES = {"citeseer": "CiteSeer", "cora_ml": "Cora-ML", "pubmed": "PubMed"}


def column(**fields):
    return Column(label="Cora", dataset="cora", **fields)


def cora_spec(*columns, **changes):
    return toy.toy_spec(columns=list(columns), splits="val", n_splits=2, n_inits=1, **changes)


def test_a_column_says_what_is_odd_about_its_labels():
    assert column().regime is None
    assert column(train_per_class=5).regime is None
    found = column(imbalance=[20, 2], label_noise=0.2).regime
    assert found == Regime(imbalance=(20, 2), label_noise=0.2)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"n_train": 9, "imbalance": [2, 1]}, r"columns\[0\]: n_train and imbalance exclude"),
        ({"n_train": 9, "train_per_class": 2}, r"columns\[0\]: n_train and train_per_class excl"),
        ({"at_most": True}, r"columns\[0\]: at_most needs train_per_class"),
        ({"n_train": 9, "splits": "holdout"}, r"columns\[0\]: n_train has no meaning for holdout"),
        ({"label_noise": 1.0}, r"columns\[0\]\.label_noise: Input should be less than 1"),
        ({"imbalance": [20]}, r"columns\[0\]\.imbalance: List should have at least 2"),
    ],
)
def test_a_fault_is_found_before_any_run(fields, match):
    with pytest.raises(InputError, match=match):
        cora_spec({"label": "Cora", "dataset": "cora", **fields})


def test_regimes_change_the_splits_but_not_their_names_nor_the_seeds():
    regimes = ("20", "600 in all", "noise 20 %", "noise 40 %", "imbalance 20:2")
    columns = [{"label": name, "dataset": "cora", **REGIMES[name]} for name in regimes]
    spec = cora_spec(*columns, seeds="derived", rows=[{"label": "a", "model": "mlp"}])
    cells = plan(spec, load_graphs(spec))
    assert len({run.key for cell in cells for run in cell.runs}) == 10
    assert {tuple(run.split for run in cell.runs) for cell in cells} == {("val:0", "val:1")}
    assert len({tuple(run.seed for run in cell.runs) for cell in cells}) == 1


def test_plain_columns_have_the_splits_that_they_had():
    cora = load_dataset("cora")
    spec = cora_spec({"label": "Cora", "dataset": "cora"})
    digests = [split.digest for split in column_splits(spec, spec.columns[0], cora)]
    assert digests == [make_split(cora, f"val:{number}").digest for number in range(2)]


def test_a_run_learns_from_the_wrong_labels_and_is_scored_by_the_right_ones():
    noisy = {"label": "Toy", "dataset": "toy", "label_noise": 0.4}
    spec = toy.toy_spec(columns=[noisy], rows=[{"label": "a", "model": "logistic"}], n_splits=1)
    cell, graph = plan(spec, toy.GRAPHS)[0], toy.GRAPH
    split, run = cell.splits[0], cell.runs[0]
    model = build_model("logistic", graph, preset=run.preset, random_state=run.seed)
    model.fit(
        graph.node_ids[split.train_nodes],
        graph.classes[split.train_labels],
        X_val=graph.node_ids[split.stop_nodes],
        y_val=graph.classes[split.stop_labels],
    )
    result = execute(run, graph, split)
    assert result.model_digest == model.model_digest_
    ids, right = graph.ids_and_labels(split.score_nodes)
    assert result.accuracy == (model.predict(ids) == right).mean()


def test_training_counts():
    cora = load_dataset("cora")
    spec = cora_spec(
        {"label": "few", "dataset": "cora", "train_per_class": 5},
        {"label": "fall", "dataset": "cora", "n_train": 600},
        {"label": "half", "dataset": "cora", "train_per_class": 120, "at_most": True},
    )
    splits = load_splits(spec, {"cora": cora})
    assert training_counts(cora, splits["few"]) == (5, 5)
    counts = [np.bincount(cora.labels[split.train_nodes]) for split in splits["fall"]]
    assert training_counts(cora, splits["fall"]) == (np.min(counts), np.max(counts))
    least, most = training_counts(cora, splits["half"])
    assert least < 60
    assert most == 120


def test_regimes_is_every_regime_on_three_graphs():
    spec = load_spec("regimes")
    assert (spec.splits, spec.seeds, spec.n_splits, spec.n_inits) == ("val", "derived", 10, 1)
    expected = [
        Column(label=f"{name}, {regime}", dataset=key, **REGIMES[regime])
        for (key, name), regime in product(NAMES.items(), REGIMES)
    ]
    assert spec.columns == expected


def test_regimes_has_both_directions_by_both_judges():
    spec = load_spec("regimes")
    ridge = [row for row in spec.rows if row.preset == "instant"]
    assert ridge[0] is spec.rows[0]  # what the others are compared with
    assert ridge[0].settings == {"pseudo_labels": 0, "reweight_rate": 0.0}
    assert {row.settings["pseudo_labels"] for row in ridge} == {0}
    names = ("variant.weight_update", "variant.judge", "reweight_rate")
    ways = [tuple(row.settings[name] for name in names) for row in ridge[1:] if row.columns is None]
    assert ways == list(product(("onehot", "reverse"), ("in_sample", "left_out"), (0.3, 1.0)))
    balanced = [row for row in ridge if row.columns is not None]
    assert {row.settings["class_weight"] for row in balanced} == {"balanced"}
    assert {label.partition(", ")[2] for row in balanced for label in row.columns} == {
        "imbalance 20:2"
    }
    perceptrons = [row for row in spec.rows if row.preset == "tuned"]
    assert [row.settings.get("variant.weight_update") for row in perceptrons] == [
        None, "onehot", "reverse",
    ]  # fmt: skip
    where = {label.partition(", ")[2] for row in perceptrons for label in row.columns}
    assert where == {"20", "600 in all", "noise 20 %", "noise 40 %"}


@pytest.mark.dataset
def test_regimes_is_planned_on_its_graphs(dataset_dir):
    spec = load_spec("regimes")
    graphs = load_graphs(spec, data_dir=dataset_dir)
    cells = plan(spec, graphs)
    runs = {run.key: run for cell in cells for run in cell.runs}
    assert len(runs) == 2610
    for each in spec.columns:
        split = column_splits(spec, each, graphs[each.dataset])[0]
        classes = len(graphs[each.dataset].classes)
        assert len(set(graphs[each.dataset].labels[split.train_nodes].tolist())) == classes
