"""Predictions as a table, and as the frame of three libraries."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adagcn import AdaGCNClassifier, Graph
from adagcn.errors import InputError, ResourceError
from adagcn.models.sgc import SGCClassifier
from adagcn.models.support.prediction_table import prediction_table

PROBA = np.array([[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]])
CLASSES = np.array(["no", "yes"])
IDS = np.array(["n1", "n2", "n3"])


def test_one_row_per_node_with_label_probability_and_margin():
    table = prediction_table(IDS, PROBA, CLASSES)
    assert table.column_names == ["id", "label", "probability", "margin"]
    assert table["label"].to_pylist() == ["yes", "no", "no"]
    assert table["margin"].to_pylist() == pytest.approx([0.6, 0.8, 0.0])


def test_the_probability_of_every_label_on_request():
    table = prediction_table(IDS, PROBA, CLASSES, all_classes=True)
    assert table.column_names[4:] == ["proba_no", "proba_yes"]
    assert table["proba_yes"].to_pylist() == PROBA[:, 1].tolist()


def test_the_most_probable_labels_on_request():
    table = prediction_table(IDS, PROBA, CLASSES, top=2)
    assert table.column_names == ["id", "label_1", "probability_1", "label_2", "probability_2"]
    assert table["label_1"].to_pylist() == ["yes", "no", "no"]  # among equals the first
    assert table["label_2"].to_pylist() == ["no", "yes", "yes"]
    assert table["probability_1"].to_pylist() == [0.8, 0.9, 0.5]
    assert table["probability_2"].to_pylist() == [0.2, 0.1, 0.5]


def test_more_labels_than_there_are_cannot_be_asked_for():
    with pytest.raises(
        InputError, match=r"top must be a whole number from 1 to 2.*2 labels; got 3"
    ):
        prediction_table(IDS, PROBA, CLASSES, top=3)


@pytest.fixture(scope="module")
def model(task):
    fitted = AdaGCNClassifier(task.graph, preset="instant", n_layers=2, random_state=0)
    return fitted.fit(task.train, task.labels(task.train))


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
)
def test_frames_of_three_libraries_hold_what_is_predicted(model, task, backend, kind):
    ids = task.rest[[4, 0, 4]]
    frame = model.predict_frame(ids, backend=backend)
    assert isinstance(frame, kind)
    columns = frame.to_pydict() if backend == "pyarrow" else frame.to_dict()
    columns = {name: list(pd.Series(values)) for name, values in columns.items()}
    assert list(columns) == ["id", "label", "probability", "margin"]
    assert columns["id"] == ids.tolist()
    assert columns["label"] == model.predict(ids).tolist()
    assert columns["probability"] == model.predict_proba(ids).max(axis=1).tolist()


def test_more_columns_and_other_graphs(model, task):
    every = model.predict_frame(task.rest, proba=True, top=2)
    assert list(every.columns)[1:5] == ["label_1", "probability_1", "label_2", "probability_2"]
    np.testing.assert_array_equal(every.iloc[:, 5:].to_numpy(), model.predict_proba(task.rest))
    other = task.graph.subgraph(np.arange(60))
    found = model.predict_frame([3, 1], graph=other)
    assert found["label"].tolist() == model.predict([3, 1], graph=other).tolist()


def test_a_system_that_is_not_boosted_and_a_feature_matrix_have_frames(task):
    system = SGCClassifier(task.graph, max_epochs=2, random_state=0)
    system.fit(task.train, task.labels(task.train))
    assert system.predict_frame(task.rest[:2])["id"].tolist() == task.rest[:2].tolist()
    rows = np.asarray(task.graph.features)[:40]
    labels = task.labels(task.graph.node_ids[:40])
    plain = AdaGCNClassifier(preset="tuned", n_layers=1, max_epochs=2, random_state=0)
    found = plain.fit(rows, labels).predict_frame(rows)
    assert found["id"].tolist() == list(range(40))
    assert found["label"].tolist() == plain.predict(rows).tolist()


def test_ids_of_any_size_and_form_come_back_as_they_are():
    big = [10**30, 7, -(10**25)]
    edges = [(big[0], big[1]), (big[1], big[2])]
    graph = Graph.from_edges(edges, features=np.eye(3), node_ids=big)
    fitted = AdaGCNClassifier(graph, preset="instant", n_layers=1).fit(big, ["a", "b", "a"])
    assert fitted.predict_frame(big)["id"].tolist() == [str(each) for each in big]
    column = pd.DataFrame({"id": big[1:2]})
    assert fitted.predict_frame(column)["id"].tolist() == ["7"]


def test_wrong_and_missing_backends_are_refused(model, task, monkeypatch):
    with pytest.raises(InputError, match="backend must be one of pandas, polars, pyarrow; got 'R'"):
        model.predict_frame(task.rest, backend="R")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ResourceError, match="backend='polars' needs the package polars"):
        model.predict_frame(task.rest, backend="polars")
