"""CSV files of every make, Parquet and frames give the same columns; damaged ones are named."""

from __future__ import annotations

import gzip

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adagcn.errors import FormatError, InputError
from adagcn.formats.tables import Columns, is_table, read_table
from adagcn.formats.text_files import TextRules, dialect_of


def read(source, text=(None, None), also=None, **rules):
    table, names = read_table(source, "edges", Columns(text, also), TextRules(**rules))
    return {name: column.to_pylist() for name, column in table.columns.items()}, names


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="edges.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


EXPECTED = {"from": ["1", "2"], "to": ["2", "007"], "w": [0.5, 2.0]}


@pytest.mark.parametrize(
    "content",
    [
        "from,to,w\n1,2,0.5\n2,007,2\n",
        "from,to,w\n1,2,0.5\n2,007,2",
        "from,to,w\r\n1,2,0.5\r\n2,007,2\r\n",
        "\ufefffrom,to,w\n1,2,0.5\n2,007,2\n",
        "from\tto\tw\n1\t2\t0.5\n2\t007\t2\n",
        "from;to;w\n1;2;0.5\n2;007;2\n",
        "from to w\n1 2 0.5\n2 007 2\n",
        '"from","to","w"\n"1","2","0.5"\n"2","007","2"\n',
    ],
)
def test_csv_of_every_make(write, content):
    assert read(write(content)) == (EXPECTED, ["from", "to"])


def test_compressed_csv(write):
    path = write(gzip.compress(b"from,to,w\n1,2,0.5\n2,007,2\n"), "edges.csv.gz")
    assert read(path)[0] == EXPECTED


def test_names_that_look_like_missing_values_stay_names(write):
    columns, _ = read(write("a,b\nNA,null\nnan,\n"))
    assert columns == {"a": ["NA", "nan"], "b": ["null", None]}


def test_quoted_fields_keep_separators(write):
    columns, _ = read(write('a,b\n"Smith, J.","say ""hi"""\n'))
    assert columns == {"a": ["Smith, J."], "b": ['say "hi"']}


def test_a_line_of_a_million_characters(write):
    long = "x" * 10**6
    assert read(write(f"a,b\n{long},y\n"))[0] == {"a": [long], "b": ["y"]}


def test_columns_by_name_and_only_those(write):
    path = write("w,note,to,from\n0.5,hi,2,1\n")
    columns, names = read(path, ("from", "to"), also=("w",))
    assert columns == {"from": ["1"], "to": ["2"], "w": [0.5]}
    assert names == ["from", "to"]


def test_a_file_without_names(write):
    path = write("1,2\n3,4\n")
    for header in (None, False):
        assert read(path, header=header)[0] == {"0": ["1", "3"], "1": ["2", "4"]}
    assert read(path, header=True)[0] == {"1": ["3"], "2": ["4"]}


def test_named_columns_are_not_mistaken_for_data(write):
    assert read(write("a,2\n3,4\n"), header=None)[0] == {"a": ["3"], "2": ["4"]}


@pytest.mark.parametrize(
    ("line", "argument", "is_header"),
    [
        ("ann,bob", "edges", True),
        ("1,bob", "edges", False),
        ("ann,bob,0.5", "edges", False),
        ("from,to,2020", "edges", False),
        ("u1,3", "labels", False),
        ("id,label", "labels", True),
        ("u1,0.5,1", "features", False),
        ("id,0,1,2", "features", True),
        ("0,1,2", "features", True),
        ("7,1,2", "features", False),
        ("id,2019,2020", "features", True),
    ],
)
def test_which_first_lines_hold_names(write, line, argument, is_header):
    dialect = dialect_of(write(f"{line}\n{line}\n"), argument, TextRules())
    assert dialect.has_names == is_header


def test_numbers_are_not_guessed_from_the_first_lines(write):
    path = write("id,x\n" + "a,1\n" * 5_000_000 + "b,0.5\n")
    assert read(path, (None,))[0]["x"][-1] == 0.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", r"line 3 has 3 fields instead of 2"),
        ("a,b\n1,2\n3\n", r"line 3 has 1 field instead of 2"),
        (b"a,b\n1,caf\xe9\n", "is not UTF-8 text"),
        (b"a,b\n" + 10**5 * b"1,2\n" + b"1,caf\xe9\n", "invalid UTF8"),
        (b"caf\xe9,b\n1,2\n", "is not UTF-8 text"),
        ("a,b\n1,2\n".encode("utf-16"), "is not UTF-8 text"),
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("# nothing\n# but comments\n", "holds nothing but comments"),
        (b"PAR1 but cut short", "not a readable Parquet file"),
    ],
)
def test_damaged_files_are_named(write, content, message):
    with pytest.raises(FormatError, match=message):
        read(write(content))


@pytest.mark.parametrize(
    ("content", "text", "message"),
    [
        ("a,b\n1,2\n", ("from", None), r"no column 'from'; got \['a', 'b'\]"),
        ("a\n1\n", (None, None), "needs at least 2 columns"),
        ("a,a\n1,2\n", (None, None), r"columns of the same name; got \['a'\]"),
        ("a,b\n1,2\n", ("b", None), "a different column for each purpose"),
        (b"PK\x03\x04 zip", (None, None), "read whole"),
    ],
)
def test_wrong_columns_are_named(write, content, text, message):
    with pytest.raises(InputError, match=message):
        read(write(content), text)


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(InputError, match="cannot be opened: No such file"):
        read(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="is a folder without Parquet files"):
        read(tmp_path)


def test_every_cut_of_a_parquet_file_is_refused(tmp_path):
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"a": ["x", "y"], "b": ["y", "z"]}), whole)
    content = whole.read_bytes()
    for length in range(4, len(content), 97):
        cut = tmp_path / "cut.parquet"
        cut.write_bytes(content[:length])
        with pytest.raises(FormatError, match="not a readable Parquet file"):
            read(cut)


def test_parquet_and_frames_keep_their_types(tmp_path):
    data = {"a": [2**53 + 1, 2], "b": ["x", None]}
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(data), path)
    for source in (
        path,
        pa.table(data),
        pd.DataFrame(data),
        pl.DataFrame(data),
        pl.LazyFrame(data),
    ):
        assert is_table(source)
        assert read(source)[0] == data


def test_pandas_columns_without_names():
    frame = pd.DataFrame([[1, 2], [3, 4]])
    assert read(frame) == ({"0": [1, 3], "1": [2, 4]}, ["0", "1"])
    assert read(frame, ("1",), ()) == ({"1": [2, 4]}, ["1"])


def test_pandas_columns_of_the_same_name():
    with pytest.raises(InputError, match="columns of the same name"):
        read(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_what_is_not_a_table():
    assert not is_table([1, 2])
    assert not is_table(pd.Series([1, 2]))
    with pytest.raises(InputError, match="must be a data frame or the path"):
        read([1, 2])
