"""What models chose for themselves, and which settings of a grid were chosen, as a table."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len

from adagcn.experiments import table_formats
from adagcn.experiments.outcome import CellOutcome
from adagcn.experiments.runs import Run, RunResult
from adagcn.experiments.spec import Row
from adagcn.experiments.table_formats import TextTable
from adagcn.experiments.tables import Style, csv_text

_NOTHING = "–"
_HOW = "In brackets: how many of the n fits chose a value, where they do not agree."


def chosen_values(each: CellOutcome) -> dict[str, Counter[Any]]:
    """Return how often each value of each setting was chosen in the runs of one cell."""
    found: dict[str, Counter[Any]] = {}
    for run, result in each.finished:
        for name, value in _choices(each.cell.row, run, result).items():
            found.setdefault(name, Counter())[value] += 1
    return found


def choice_table(title: str, found: Sequence[CellOutcome]) -> TextTable:
    """Return a row for each model and data set with runs that chose something.

    Parameters
    ----------
    title : str
        What the experiment shows.
    found : sequence of CellOutcome
        Its results.

    Returns
    -------
    TextTable
        The most frequent value first; a dash where nothing was left to choose.
    """
    chosen = [(each, chosen_values(each)) for each in found]
    chosen = [(each, values) for each, values in chosen if values]
    names = list(dict.fromkeys(name for _, values in chosen for name in values))
    body = [
        [[each.cell.row.label], [each.cell.column.label], [str(len(each.finished))]]
        + [[_in_words(values.get(name))] for name in names]
        for each, values in chosen
    ]
    notes = [_HOW] if chosen else ["No run here chose anything."]
    header = ["model", "data", "n", *names]
    return TextTable(f"{title}: what was chosen", header, body, notes, len(header))


def json_choices(found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Return how often each value was chosen, ready for JSON."""
    return [
        {
            "label": each.cell.row.label,
            "column": each.cell.column.label,
            "n": len(each.finished),
            "chosen": {
                name: [{"value": value, "fits": count} for value, count in _ranked(counts)]
                for name, counts in chosen_values(each).items()
            },
        }
        for each in found
    ]


def render_choices(table: TextTable, style: Style, width: int | None = None) -> str:
    """Return the table in one of the formats of :func:`adagcn.experiments.tables.render`."""
    if style == "csv":
        sheet = io.StringIO()
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(table.header)
        writer.writerows([csv_text(cell[0]) for cell in row] for row in table.body)
        return sheet.getvalue()
    if style == "text":
        wide = table_formats.text(table, width)
        fits = width is None or max(map(cell_len, wide.splitlines())) <= width
        return wide if fits else table_formats.text(_long(table), width)
    return {"md": table_formats.markdown, "latex": table_formats.latex}[style](table)


def _long(table: TextTable) -> TextTable:
    """Return a row for each setting, where the columns would not fit side by side."""
    names, first = table.header[3:], table.header[:3]
    body = [
        [*row[:3], [name], cell]
        for row in table.body
        for name, cell in zip(names, row[3:], strict=True)
        if cell != [_NOTHING]
    ]
    header = [*first, "setting", "chosen"]
    return TextTable(table.title, header, body, table.notes, len(header))


def _choices(row: Row, run: Run, result: RunResult) -> dict[str, Any]:
    return {**{name: run.params.get(name) for name in row.grid}, **result.choices}


def _in_words(counts: Counter[Any] | None) -> str:
    if not counts:
        return _NOTHING
    ranked = _ranked(counts)
    if len(ranked) == 1:
        return _shown(ranked[0][0])
    return ", ".join(f"{_shown(value)} ({count})" for value, count in ranked)


def _ranked(counts: Counter[Any]) -> list[tuple[Any, int]]:
    """Return the most frequent first; equally frequent ones by value, not by order of the runs."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
