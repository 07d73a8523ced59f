"""What a column of a table holds: numbers, truth values, dates or text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.columns import GAPS, arrow_to_numpy, as_array
from adagcn.formats.node_ids import IdColumn
from adagcn.formats.tables import Table

MOST_CATEGORIES = 100  # different values of a column that is one-hot encoded
_DATE = r"^\d{4}-\d{2}-\d{2}([t ].*)?$"  # as ISO 8601 has them
_TRUTH = {"true": 1.0, "false": 0.0}


def numeric_column(table: Table, name: str, ids: IdColumn | None = None) -> NDArray[Any]:
    """Return a column of numbers, NaN where one is missing.

    Raises
    ------
    InputError
        If it is not numeric.
    """
    kind, values = classified(table, name)
    if kind in ("numbers", "truth values"):
        return values
    raise not_numeric(table, name, ids, kind, values)


def classified(table: Table, name: str) -> tuple[str, NDArray[Any]]:
    """Return what a column holds, in a word, and its values: numbers if it holds numbers."""
    column = table.columns[name]
    if isinstance(column, pa.ChunkedArray):
        kind = column.type
        if pa.types.is_temporal(kind):
            return ("durations" if pa.types.is_duration(kind) else "dates"), arrow_to_numpy(column)
        if pa.types.is_decimal(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
            column = column.cast(pa.float64())
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            return "numbers", np.asarray(column.to_numpy())  # Arrow turns gaps into NaN
        if table.untyped and pa.types.is_string(kind):
            return _classified_text(column)
    values = as_array(column, f"column {name!r} of {table.argument}")
    if values.dtype.kind in "biuf":
        return "numbers", values
    if values.dtype.kind in "mM":
        return "dates", values
    return _classified_objects(values)


def _classified_text(column: pa.ChunkedArray) -> tuple[str, NDArray[Any]]:
    """Return what a column of a text file holds: numbers, truth values or text."""
    trimmed = pc.utf8_trim_whitespace(column)
    lower = pc.utf8_lower(trimmed)
    gap = pc.or_kleene(pc.is_null(lower), pc.is_in(lower, pa.array(sorted({*GAPS, ""}))))
    known = pc.if_else(gap, pa.scalar(None, pa.string()), trimmed)
    try:
        return "numbers", np.asarray(known.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        pass
    different = {value for value in pc.unique(lower.filter(pc.invert(gap))).to_pylist()}
    if different <= set(_TRUTH):
        values = [None if v is None else _TRUTH[v.lower()] for v in known.to_pylist()]
        return "truth values", np.array(values, dtype=float)
    dated = pc.all(pc.match_substring_regex(lower.filter(pc.invert(gap)), _DATE)).as_py()
    return ("dates" if dated else "text"), as_array(trimmed, "features")


def _classified_objects(values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return what a column of Python objects holds."""
    found = [value for value in values.tolist() if value is not None]
    if all(isinstance(value, bool | int | float | np.number | np.bool_) for value in found):
        return "numbers", np.array(
            [np.nan if v is None else float(v) for v in values.tolist()], dtype=float
        )
    if all(isinstance(value, str) for value in found):
        return "text", values
    kinds = sorted({type(value).__name__ for value in found})
    return ("dates" if kinds[0] in ("date", "datetime", "Timestamp") else "objects"), values


def not_numeric(
    table: Table, name: str, ids: IdColumn | None, kind: str, values: NDArray[Any]
) -> InputError:
    """Return the error for a column that is not numeric, with a value and whose it is."""
    odd = _not_numbers(values) or [0]
    where = "" if ids is None else f", the first at node {ids.plain(odd[0])!r}"
    n_different = len({str(value) for value in values.tolist() if value is not None})
    if len(odd) < len(values) / 2:
        said = f"has {counted(len(odd), 'value')} that are not numbers{where}"
        fixes = ["correct them"]
    else:
        said = f"is not numeric but holds {kind} ({n_different:,} different){where}"
        few = kind == "text" and n_different <= MOST_CATEGORIES
        fixes = [f"one_hot=[{name!r}] makes a column of each value"] if few else []
    fix = ", or ".join([*fixes, f"drop=[{name!r}] leaves it out"])
    if table.argument == "edges":
        fix = "correct it, or name another column"
    problem = f"column {name!r} of {table.argument} {said}"
    return InputError("AGC-I147", problem, got=values[odd[0]], fix=fix)


def _not_numbers(values: NDArray[Any]) -> list[int]:
    """Return the places of values that are there and are not numbers."""
    places = []
    for place, value in enumerate(values.tolist()):
        try:
            float(value)
        except (TypeError, ValueError):
            if value is not None and str(value).strip().lower() not in GAPS:
                places.append(place)
    return places
