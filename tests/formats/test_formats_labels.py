"""Labels of any one kind become indices into sorted classes; what is unknown is −1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adagcn.errors import InputError
from adagcn.formats.labels import encode_labels, encode_text_labels


@pytest.mark.parametrize(
    ("values", "labels", "classes"),
    [
        ([3, -1, 10**9, 3], [0, -1, 1, 0], [3, 10**9]),
        (np.array([2, 0], dtype=np.int8), [1, 0], [0, 2]),
        (np.array([1.0, 0.0, -1.0]), [1, 0, -1], [0, 1]),
        (["spam", None, "ham"], [1, -1, 0], ["ham", "spam"]),
        (["", "é", "e\u0301"], [0, 2, 1], ["", "e\u0301", "é"]),
        ([True, False, None], [1, 0, -1], [False, True]),
        (np.array([True, False]), [1, 0], [False, True]),
        (pd.Series([1, None, 2]), [0, -1, 1], [1, 2]),
        (pd.Series(["b", None, "a"], dtype="category"), [1, -1, 0], ["a", "b"]),
        (pl.Series([None, 4]), [-1, 0], [4]),
        (pa.array(["x", "x"]), [0, 0], ["x"]),
        (np.array([[4], [5]]), [0, 1], [4, 5]),
        ([None, None], [-1, -1], []),
        ([-1, -1], [-1, -1], []),
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
        (np.array([0.0, np.nan]), "row 1 is not a whole number; got nan"),
        ([0.0, np.inf], "row 1 is not a whole number; got inf"),
        (np.array([2.0**53]), "row 0 is not a whole number"),
        ([1, "a"], r"all be of one kind.*got \['int', 'str'\]"),
        (["a", float("nan")], r"all be of one kind.*got \['float', 'str'\]"),
        ([True, 1], None),
        (np.array([1j]), "must be integers, strings or booleans; got 'complex128'"),
        (np.eye(3), r"must be one column; got \(3, 3\)"),
        ([0, -2], "must not be negative, except -1 for unknown; row 1 is; got -2"),
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
        (["1", "-1"], [0, -1], [1]),
        (["true", "NA"], [1, 0], ["NA", "true"]),
    ],
)
def test_labels_of_a_text_file(texts, labels, classes):
    encoded = encode_text_labels(pa.chunked_array([pa.array(texts, pa.string())]))
    assert (encoded[0].tolist(), encoded[1].tolist()) == (labels, classes)
