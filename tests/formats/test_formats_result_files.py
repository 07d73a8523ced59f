from __future__ import annotations

import csv
import errno
import gzip
import io
import json

import numpy as np
import pytest
from pyarrow import parquet

from adagcn.errors import InputError, ResourceError
from adagcn.formats.result_files import (
    CsvParts,
    defuse_formulas,
    result_file,
    rounded,
    table_format,
    write_table,
)
from adagcn.models.support.prediction_table import prediction_table

PROBA = np.array([[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]])
CLASSES = np.array(["no", "yes"])
IDS = np.array(["n1", "n2", "n3"])


def as_rows(table):
    handle = io.BytesIO()
    CsvParts(handle).write(table)
    return list(csv.DictReader(io.StringIO(handle.getvalue().decode(), newline="")))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_rounded_to_six_decimals_and_nothing_else_is(dtype):
    proba = np.array([[0.71368722, 0.28631278]] * 3, dtype=dtype)
    table = rounded(prediction_table(np.array([2**53 + 1, 2, 3]), proba, CLASSES))
    assert table["probability"].to_pylist() == [0.713687] * 3
    assert table["id"].to_pylist() == [2**53 + 1, 2, 3]
    assert as_rows(table)[0]["margin"] == "0.427374"


@pytest.mark.parametrize("ending", [".csv", ".CSV", ".csv.gz", ".jsonl", ".ndjson", ".parquet"])
def test_what_is_written_is_what_was_predicted(tmp_path, ending):
    table = prediction_table(np.array([2**53 + 1, -3, 7]), PROBA, CLASSES)
    path = tmp_path / f"p{ending}"
    write_table(table, path)
    kind = table_format(path)
    if kind == "parquet":
        assert parquet.read_table(path).equals(table)
    elif kind == "jsonl":
        assert [json.loads(line) for line in path.read_text().splitlines()] == table.to_pylist()
    else:
        opened = gzip.open if ending.endswith(".gz") else open
        with opened(path, "rt") as handle:
            assert handle.read().splitlines()[1].startswith(f'{2**53 + 1},"yes",0.8,')
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_packed_file_has_the_same_bytes_every_time(tmp_path):
    table = prediction_table(IDS, PROBA, CLASSES)
    first, second = tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"
    for path in (first, second):
        write_table(table, path)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("text", ['quote " inside', "line\nbreak", "é", "\u2028"])
def test_odd_ids_survive_json_lines(tmp_path, text):
    path = tmp_path / "p.jsonl"
    write_table(prediction_table(np.array([text, "b", "c"]), PROBA, CLASSES), path)
    lines = path.read_text(encoding="utf-8").split("\n")
    assert [json.loads(line)["id"] for line in lines[:-1]] == [text, "b", "c"]


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd", "@SUM(A1)", "-x", "-1+cmd|' /C x'!A0", "\t=1", "\r=1"]
)
def test_formulas_are_defused(text):
    table, n_changed = defuse_formulas(prediction_table(np.array([text, "b", "c"]), PROBA, CLASSES))
    assert n_changed == 1
    assert table["id"].to_pylist() == [f"'{text}", "b", "c"]


@pytest.mark.parametrize("text", ["-12", "+49", "-.5", "a=b", "é", "", "'x"])
def test_harmless_text_stays_as_it_is(text):
    table, n_changed = defuse_formulas(prediction_table(np.array([text, "b", "c"]), PROBA, CLASSES))
    assert n_changed == 0
    assert table["id"].to_pylist()[0] == text


@pytest.mark.parametrize("text", ['quote " inside', "line\nbreak", "comma, there", "new\r\nline"])
def test_odd_ids_survive_csv(text):
    table = prediction_table(np.array([text, "b", "c"]), PROBA, CLASSES)
    assert as_rows(table)[0]["id"] == text


@pytest.mark.parametrize("name", ["p.xlsx", "p.json", "p.gz", "p", "csv"])
def test_other_endings_are_refused(tmp_path, name):
    known = r"\.csv, \.csv\.gz, \.jsonl, \.ndjson or \.parquet"
    with pytest.raises(InputError, match=rf"must end in {known}; got .*{name}"):
        table_format(tmp_path / name)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_a_table_in_parts_is_the_table(tmp_path, ending):
    table = prediction_table(np.array(["a", "=b", "c"]), PROBA, CLASSES)
    whole, parts = tmp_path / f"whole{ending}", tmp_path / f"parts{ending}"
    write_table(table, whole)
    with result_file(parts) as file:
        for start in range(3):
            file.write(table.slice(start, 1))
        assert not parts.exists()
    if ending == ".parquet":
        assert parquet.read_table(parts).equals(table)
        assert parquet.ParquetFile(parts).metadata.num_row_groups == 3
    else:
        assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_nothing_appears_where_a_part_cannot_be_made_or_written(tmp_path, ending):
    path = tmp_path / f"p{ending}"
    table = prediction_table(IDS, PROBA, CLASSES)
    for error in (KeyboardInterrupt, OSError(errno.ENOSPC, "No space left on device")):
        expected = KeyboardInterrupt if error is KeyboardInterrupt else ResourceError
        with pytest.raises(expected), result_file(path) as file:  # noqa: PT012
            file.write(table)
            raise error
        assert not any(tmp_path.iterdir())
