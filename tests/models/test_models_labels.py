"""Labels and weights that are missing, masked or of classes that do not exist."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from adagcn import AdaGCNClassifier, InputError
from adagcn.data.generators import planted_partition
from adagcn.models.support.labels import FitCall, encode, label_array, starting_weights

NAMES = ["a", "b", "a", "b"]
GAPS = {
    "None": ["a", None, "a", "b"],
    "NaN in a list": ["a", float("nan"), "a", "b"],
    "NaN in an array": np.array(["a", np.nan, "a", "b"], dtype=object),
    "pandas, str": pd.Series(["a", None, "a", "b"]),
    "pandas, string": pd.Series(["a", pd.NA, "a", "b"], dtype="string"),
    "pandas, object": pd.Series(["a", pd.NA, "a", "b"], dtype=object),
    "pandas, Int64": pd.Series([1, None, 1, 2], dtype="Int64"),
    "pandas, category": pd.Series(["a", None, "a", "b"], dtype="category"),
    "pandas, a frame": pd.DataFrame({"y": pd.Series([1, None, 1, 2], dtype="Int64")}),
    "polars": pl.Series(["a", None, "a", "b"]),
    "masked text": np.ma.MaskedArray(NAMES, mask=[0, 1, 0, 0]),
    "masked numbers": np.ma.MaskedArray([0, 1, 0, 1], mask=[0, 1, 0, 0]),
    "masked column": np.ma.MaskedArray([[0], [1], [0], [1]], mask=[[0], [1], [0], [0]]),
}


@pytest.mark.parametrize("kind", GAPS)
def test_missing_labels_are_counted_and_found(kind):
    with pytest.raises(InputError, match=r"^y has 1 missing label, first at position 1; got"):
        FitCall(np.arange(4), GAPS[kind])
    with pytest.raises(InputError, match=r"^y_val has 1 missing label, first at position 1; got"):
        FitCall(np.arange(4), NAMES, X_val=np.arange(4), y_val=GAPS[kind])


@pytest.fixture(params=["matrix", "graph"])
def model_and_data(request):
    """A classifier of either kind, and what it is fitted on."""
    graph = planted_partition(30, 2, 4, seed=0)
    if request.param == "graph":
        return AdaGCNClassifier(graph), graph.node_ids
    return AdaGCNClassifier(), np.eye(30)


def test_what_lies_under_a_mask_is_never_read(model_and_data):
    model, X = model_and_data
    y = np.ma.MaskedArray(np.arange(30) % 2, mask=np.isin(np.arange(30), [3, 5]))
    with pytest.raises(InputError, match="y has 2 missing labels, first at position 3"):
        model.fit(X, y)


def test_labels_that_are_not_there_at_all(model_and_data):
    model, X = model_and_data
    with pytest.raises(InputError, match="the target y is None"):
        model.fit(X, None)


@pytest.mark.parametrize(
    "y", [NAMES, tuple(NAMES), np.ma.MaskedArray(NAMES), pd.Series(NAMES), pl.Series(NAMES)]
)
def test_labels_without_gaps_are_taken_as_they_are(y):
    classes, indices = encode(label_array(y, 4, "y"))
    assert classes.tolist() == ["a", "b"]
    assert indices.tolist() == [0, 1, 0, 1]


def test_numbers_among_text_are_not_taken_for_text():
    with pytest.raises(InputError, match="class labels of one kind"):
        encode(label_array(["a", 1, "a", 1], 4, "y"))


def test_rows_of_different_length_are_no_labels():
    with pytest.raises(InputError, match="y must be one value per node"):
        label_array([[0], [0, 1]], 2, "y")


def test_classes_too_small_to_hold_out_are_counted_not_numbered():
    graph = planted_partition(30, 2, 4, seed=0)
    model = AdaGCNClassifier(graph, validation_fraction=0.2)
    message = "from 5 labeled nodes: classes with a single label: 2; got 0.2"
    with pytest.raises(InputError, match=message):
        model.fit(graph.node_ids[:5], ["a", "b", "a", "a", "c"])


# Weights

CLASSES, LABELS = np.array([0, 1]), np.array([0, 1, 1])


def test_a_class_weight_for_a_class_that_does_not_exist_is_refused():
    message = r"names classes that no training node has; got \[7\]. The classes .* are \[0, 1\]"
    with pytest.raises(InputError, match=message):
        starting_weights(None, {0: 1, 1: 1, 7: 2}, CLASSES, LABELS)


def test_a_class_weight_for_some_classes_leaves_the_others_at_one():
    weights = starting_weights(None, {np.int64(1): 3}, CLASSES, LABELS)
    assert weights.tolist() == [1, 3, 3]


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_a_class_weight_that_is_no_weight_is_refused(wrong):
    with pytest.raises(InputError, match="class_weight must be finite and not negative"):
        starting_weights(None, {0: 1, 1: wrong}, CLASSES, LABELS)


@pytest.mark.parametrize(
    "weights",
    [
        np.ma.MaskedArray([1.0, 2.0, 3.0], mask=[0, 1, 1]),
        [1.0, None, None],
        pd.Series([1, pd.NA, pd.NA], dtype=object),
    ],
    ids=["masked", "None", "pandas"],
)
def test_missing_weights_are_counted_and_found(weights):
    message = "sample_weight has 2 missing weights, first at position 1"
    with pytest.raises(InputError, match=message):
        starting_weights(weights, None, CLASSES, LABELS)


def test_a_masked_array_without_a_masked_entry_holds_weights():
    weights = starting_weights(np.ma.MaskedArray([1.0, 2.0, 3.0]), None, CLASSES, LABELS)
    assert weights.tolist() == [1, 2, 3]
