"""Predictions as a table keyed by the user's own node ids, for a file or another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError
from adagcn.formats.atomic import atomic_file

if TYPE_CHECKING:
    import pyarrow as pa

# What a spreadsheet takes for the start of a formula; a plain number as text ("-12") runs nothing.
_FORMULA = r"^[-=+@\t\r]"
_NUMBER = r"^[-+]?[0-9]*[.]?[0-9]+$"


def prediction_table(
    node_ids: NDArray[Any], proba: NDArray[np.floating[Any]], classes: NDArray[Any]
) -> pa.Table:
    """Return one row per node: its id, the predicted label and the probabilities.

    Parameters
    ----------
    node_ids : ndarray of shape (n_nodes,)
        The user's ids.
    proba : ndarray of shape (n_nodes, n_classes)
        Probabilities.
    classes : ndarray of shape (n_classes,)
        The label values of the columns.

    Returns
    -------
    pyarrow.Table
        Columns ``id``, ``label``, ``probability`` (of that label), ``margin`` (to the runner-up)
        and ``proba_<label>`` for every label.
    """
    import pyarrow as pa

    ranked = np.sort(proba, axis=1)
    columns: dict[str, Any] = {
        # Integers past 64 bits have no Arrow type; as text they keep every digit.
        "id": node_ids.astype(str) if node_ids.dtype == object else node_ids,
        "label": classes[proba.argmax(axis=1)],
        "probability": ranked[:, -1],
        "margin": ranked[:, -1] - ranked[:, -2],
    }
    columns |= {f"proba_{label}": proba[:, k] for k, label in enumerate(classes.tolist())}
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def defuse_formulas(table: pa.Table) -> tuple[pa.Table, int]:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    Parameters
    ----------
    table : pyarrow.Table
        Any table.

    Returns
    -------
    tuple of (pyarrow.Table, int)
        The table that is safe to open, and how many cells were changed.
    """
    import pyarrow as pa
    from pyarrow import compute

    n_changed = 0
    for position, name in enumerate(table.column_names):
        column = table.column(position)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        risky = compute.and_not(
            compute.match_substring_regex(column, _FORMULA),
            compute.match_substring_regex(column, _NUMBER),
        )
        n_changed += compute.sum(risky).as_py() or 0
        marked = compute.binary_join_element_wise("'", column, pa.scalar("", column.type))
        table = table.set_column(position, name, compute.if_else(risky, marked, column))
    return table, n_changed


def check_table_suffix(path: Path | None) -> None:
    """Refuse a name for a table that ends in neither ``.csv`` nor ``.parquet``."""
    if path is not None and path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(
            "AGC-I808",
            "--out must end in .csv or .parquet",
            got=str(path),
            fix="change the ending",
        )


def write_table(table: pa.Table, path: Path) -> None:
    """Write ``table`` as CSV or Parquet, whole or not at all."""
    with atomic_file(path) as handle:
        if path.suffix.lower() == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, handle)
        else:
            write_csv(table, handle)


def write_csv(table: pa.Table, handle: BinaryIO) -> None:
    """Write ``table`` as UTF-8 CSV; text is quoted, so that a line break stays in its cell."""
    from pyarrow import csv

    csv.write_csv(table, handle)
