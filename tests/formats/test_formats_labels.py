"""Labels of any one kind become indices into sorted classes; what is unknown is −1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adagcn.errors import InputError
from adagcn.formats.changes import Changes
from adagcn.formats.labels import encode_labels


@pytest.mark.parametrize(
    ("values", "labels", "classes"),
    [
        ([3, -1, 10**9, 3], [1, 0, 2, 1], [-1, 3, 10**9]),
        ([1, -1, -7], [2, 1, 0], [-7, -1, 1]),
        (np.array([2, 0], dtype=np.int8), [1, 0], [0, 2]),
        (np.array([1.0, np.nan, -1.0]), [1, -1, 0], [-1, 1]),
        (["spam", None, "ham"], [1, -1, 0], ["ham", "spam"]),
        (["", "é", "e\u0301"], [-1, 1, 0], ["e\u0301", "é"]),
        (["a", float("nan"), pd.NA, pd.NaT], [0, -1, -1, -1], ["a"]),
        (np.ma.masked_array([4, 5, 4], [0, 1, 0]), [0, -1, 0], [4]),
        ([True, False, None], [1, 0, -1], [False, True]),
        (np.array([True, False]), [1, 0], [False, True]),
        (pd.Series([1, None, 2]), [0, -1, 1], [1, 2]),
        (pd.Series(["b", None, "a"], dtype="category"), [1, -1, 0], ["a", "b"]),
        (pl.Series([None, 4]), [-1, 0], [4]),
        (pa.array(["x", "x"]), [0, 0], ["x"]),
        (np.array([[4], [5]]), [0, 1], [4, 5]),
        ([None, None], [-1, -1], []),
        ([-1, -1], [0, 0], [-1]),
    ],
)
def test_labels_and_classes(values, labels, classes):
    encoded = encode_labels(values)
    assert encoded[0].dtype == np.int64
    assert encoded[0].tolist() == labels
    assert encoded[1].tolist() == classes


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([0.0, 1.5]), r"row 1 is not a whole number; got 1\.5"),
        ([0.0, np.inf], "row 1 is not a whole number; got inf"),
        (np.array([2.0**53]), "row 0 is not a whole number"),
        ([1, "a"], r"all be of one kind.*got \['int', 'str'\]"),
        ([True, 1], None),
        (np.array([1j]), "must be integers, strings or booleans; got 'complex128'"),
        (np.eye(3), r"must be one column; got \(3, 3\)"),
        ([2**63], "past 64 bits"),
        ([2**70], "past 64 bits"),
    ],
)
def test_what_cannot_be_a_label(values, message):
    if message is None:  # a Python bool among integers is an integer
        assert encode_labels(values)[1].tolist() == [1]
        return
    with pytest.raises(InputError, match=message):
        encode_labels(values)


@pytest.mark.parametrize(
    ("texts", "labels", "classes"),
    [
        (["1", None, "10", "2"], [0, -1, 2, 1], [1, 2, 10]),
        (["01", "1"], [0, 1], ["01", "1"]),
        (["1", "-1"], [1, 0], [-1, 1]),
        (["x ", "x", " "], [0, 0, -1], ["x"]),
        (["true", "NA"], [1, 0], ["NA", "true"]),
    ],
)
def test_labels_of_a_text_file(texts, labels, classes):
    encoded = encode_labels(pa.chunked_array([pa.array(texts, pa.string())]), untyped=True)
    assert (encoded[0].tolist(), encoded[1].tolist()) == (labels, classes)


@pytest.mark.parametrize("unlabeled", [-1, "-1", [-1], (-1, 99)])
def test_a_value_is_unknown_where_the_caller_says_so(unlabeled):
    changes = Changes()
    labels, classes = encode_labels([0, -1, 2, -1], unlabeled=unlabeled, changes=changes)
    assert (labels.tolist(), classes.tolist()) == ([0, -1, 1, -1], [0, 2])
    assert changes.phrases == ["2 nodes of labels unlabeled as asked"]
    assert not changes.surprises


def test_minus_one_beside_other_classes_is_told():
    changes = Changes()
    encode_labels([0, -1, 1, -1], changes=changes)
    assert changes.surprises == [
        "-1 is a class like any other (2 nodes); unlabeled=-1 makes it mean that the label is "
        "unknown"
    ]
    encode_labels([1, -1], changes=(plain := Changes()))
    assert not plain.phrases


def test_spaces_around_labels_are_removed_in_text_and_told_elsewhere():
    text = pa.chunked_array([pa.array(["x", "x ", "y"])])
    changes = Changes()
    assert encode_labels(text, untyped=True, changes=changes)[1].tolist() == ["x", "y"]
    assert changes.phrases == ["spaces around 1 value of labels removed"]
    assert encode_labels(["x", "x ", "y"], changes=changes)[1].tolist() == ["x", "x ", "y"]
    assert changes.surprises == ["classes differ by spaces only: 'x ' and 'x'"]


def test_a_column_that_is_hardly_the_label_is_told():
    changes = Changes()
    encode_labels(range(200), changes=changes)
    assert "200 different values for 200 nodes: is this the label column?" in changes.surprises[0]
