"""Ids survive every container exactly, and are found again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from adagcn.errors import InputError
from adagcn.formats.node_ids import as_id_column, as_ids, of_one_kind, union
from adagcn.formats.node_index import NodeIndex

BIG = [2**24 + 1, 2**31 + 5, 2**53 + 1, 2**63 + 1, 2**70]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (BIG[:3], np.int64),
        (BIG[:4], np.uint64),
        (BIG, object),
        ([-1, 2**63], object),
        (np.array([3, 1], dtype=np.uint8), np.int64),
        (np.array(BIG[:3], dtype=">i8"), np.int64),
        (range(3), np.int64),
        (torch.tensor([5, 6]), np.int64),
        (pl.Series(BIG[:4], dtype=pl.UInt64), np.uint64),
        (pl.Series(BIG, dtype=pl.Int128), object),
        (pd.Series(BIG), object),
        (pd.Series([1, 2], dtype="Int64"), np.int64),
        (pd.Index([4, 5]), np.int64),
        (pa.array([2**53 + 1]), np.int64),
        (pd.DataFrame({"id": [7, 8]}), np.int64),
    ],
)
def test_integers_stay_exact(values, dtype):
    ids = as_ids(values, "ids")
    flat = values["id"] if isinstance(values, pd.DataFrame) else values
    expected = [value.as_py() if isinstance(value, pa.Scalar) else int(value) for value in flat]
    assert ids.dtype == dtype
    assert ids.tolist() == expected


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "ü"],
        np.array(["b", "a", "ü"]),
        np.array(["b", "a", "ü"], dtype=object),
        np.array(["b", "a", "ü"], dtype=np.dtypes.StringDType()),
        pd.Series(["b", "a", "ü"]),
        pd.Series(["b", "a", "ü"], dtype="category"),
        pd.Series(["b", "a", "ü"], dtype="string[pyarrow]"),
        pd.Series(["b", "a", "ü"], dtype=object),
        pl.Series(["b", "a", "ü"]),
        pl.Series(["b", "a", "ü"], dtype=pl.Categorical),
        pa.chunked_array([["b"], ["a", "ü"]]),
        np.array([["b"], ["a"], ["ü"]]),
    ],
)
def test_strings_of_any_container(values):
    assert as_ids(values, "ids").tolist() == ["b", "a", "ü"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1.0, 2.0]), "ids cannot be floats: is there a scaler in front"),
        ([1.0, 2], "ids cannot be floats"),
        (pd.Series([1, None]), "1 missing id, the first in row 1"),
        (np.array([1.0, np.nan]), "ids cannot be floats"),
        (np.array([True, False]), r"use graph\.node_ids\[mask\]"),
        ([True, False], r"use graph\.node_ids\[mask\]"),
        (["a", None], "1 missing id, the first in row 1"),
        (pl.Series([None, 3]), "1 missing id, the first in row 0"),
        (["a", 1], r"all of one kind; got \['int', 'str'\]"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "must hold integers or strings"),
        (np.array([b"x"]), "must hold integers or strings"),
        (["a\0", "a"], "NUL character"),
        (np.zeros((2, 2), dtype=int), r"must be one column; got \(2, 2\)"),
        ("abc", "must be a list, an array or a column; got 'abc'"),
        ({1, 2}, "must be a list, an array or a column"),
        (5, "must be a list, an array or a column"),
    ],
)
def test_what_cannot_be_an_id(values, message):
    with pytest.raises(InputError, match=message):
        as_ids(values, "ids")


def text(*values):
    return as_id_column(pa.chunked_array([list(values)]), "edges", untyped=True)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-2", "0"], [1, -2, 0]),
        (["007", "7"], ["007", "7"]),
        (["+7"], ["+7"]),
        (["-0"], ["-0"]),
        (["7.0"], ["7.0"]),
        ([" 7", "8 "], [7, 8]),
        ([" u1", "u1", "u 1"], ["u1", "u1", "u 1"]),
        (["7\n"], [7]),
        ([str(big) for big in BIG], BIG),
        (["NA", "nan", "null"], ["NA", "nan", "null"]),
    ],
)
def test_text_becomes_integers_only_if_all_are_written_as_such(values, expected):
    (column,) = of_one_kind([text(*values)])
    assert column.ids.tolist() == expected


def test_text_follows_the_typed_columns():
    typed = as_id_column(["7", "007"], "node_ids")
    column, _ = of_one_kind([text("7"), typed])
    assert column.ids.tolist() == ["7"]
    with pytest.raises(InputError, match="edges holds ids that are not integers"):
        of_one_kind([text("7", "x"), as_id_column([7], "node_ids")])


def test_one_text_column_decides_for_the_others():
    columns = of_one_kind([text("1", "2"), text("1", "02")])
    assert [column.ids.tolist() for column in columns] == [["1", "2"], ["1", "02"]]


def test_integers_and_strings_do_not_meet():
    with pytest.raises(InputError, match="edges holds integer ids but labels holds string ids"):
        of_one_kind([as_id_column([1], "edges"), as_id_column(["1"], "labels")])


def test_an_unused_category_is_no_id():
    values = pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["a", "b", "never"]))
    column = as_id_column(pa.chunked_array([pa.Array.from_pandas(values)]), "edges")
    assert column.distinct.tolist() == ["a", "b"]


def test_union_of_signed_and_unsigned_is_exact():
    columns = [as_id_column([-1, 2**53 + 1], "sources"), as_id_column([2**63, 2**53], "targets")]
    assert union(columns).tolist() == [-1, 2**53, 2**53 + 1, 2**63]


id_lists = st.one_of(
    st.lists(st.integers(-(2**80), 2**80), min_size=1, unique=True),
    st.lists(st.integers(0, 2**64 - 1), min_size=1, unique=True),
    st.lists(st.text(st.characters(exclude_characters="\0"), max_size=4), min_size=1, unique=True),
    st.integers(1, 20).map(lambda n: list(range(n))),
)


@given(id_lists, st.randoms(use_true_random=False))
def test_every_id_is_found_where_it_is(ids, random):
    index = NodeIndex(as_ids(ids, "ids"))
    asked = [random.choice(ids) for _ in range(10)]
    assert index.locate(asked, "ids").tolist() == [ids.index(value) for value in asked]


@given(
    st.lists(st.integers(-(2**65), 2**65), min_size=1, unique=True),
    st.lists(st.integers(-(2**65), 2**65), min_size=1),
)
def test_unknown_integers_are_never_confused_with_others(ids, asked):
    found = NodeIndex(as_ids(ids, "ids")).find(as_ids(asked, "ids"))
    assert found.tolist() == [ids.index(value) if value in ids else -1 for value in asked]


def test_neighbors_that_floats_cannot_tell_apart():
    index = NodeIndex(as_ids([2**53, 2**53 + 1, 5], "ids"))
    assert index.find(as_ids([2**53 + 1, 2**63], "ids")).tolist() == [1, -1]


def test_the_same_id_twice_is_refused():
    with pytest.raises(InputError, match=r"must all be different.*got \[2, 3\]"):
        NodeIndex(as_ids([3, 2, 2, 3, 1], "ids"))
