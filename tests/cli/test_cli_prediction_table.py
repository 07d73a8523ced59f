from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from pyarrow import parquet

from adagcn.cli.prediction_table import (
    check_table_suffix,
    defuse_formulas,
    prediction_table,
    write_csv,
    write_table,
)
from adagcn.errors import InputError

PROBA = np.array([[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]])
CLASSES = np.array(["no", "yes"])


def as_rows(table):
    handle = io.BytesIO()
    write_csv(table, handle)
    return list(csv.DictReader(io.StringIO(handle.getvalue().decode(), newline="")))


def test_one_row_per_node_with_label_probability_and_margin():
    table = prediction_table(np.array(["n1", "n2", "n3"]), PROBA, CLASSES)
    assert table.column_names == ["id", "label", "probability", "margin", "proba_no", "proba_yes"]
    assert table["label"].to_pylist() == ["yes", "no", "no"]
    assert table["margin"].to_pylist() == pytest.approx([0.6, 0.8, 0.0])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_written_is_what_was_predicted(tmp_path, suffix):
    table = prediction_table(np.array([2**53 + 1, -3, 7]), PROBA, CLASSES)
    path = tmp_path / f"p{suffix}"
    write_table(table, path)
    if suffix == ".parquet":
        assert parquet.read_table(path).equals(table)
    else:
        assert path.read_text().splitlines()[1].startswith(f'{2**53 + 1},"yes",0.8,')
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


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


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet; got .*p\.xlsx"):
        check_table_suffix(tmp_path / "p.xlsx")
