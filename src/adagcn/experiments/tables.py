"""Tables of results, written as Markdown, LaTeX, plain text or CSV.

Numbers are stored as shares of one and written in percent. Next to each number is what a reader
needs to judge it: its interval, the number of runs, the preset, the paper's number, the difference,
and whether runs are missing. A table has no times or dates, so the same runs give the same bytes.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from rich.cells import cell_len

from adagcn.errors import InputError, counted
from adagcn.experiments import table_formats
from adagcn.experiments.table_formats import TextTable, one_line
from adagcn.experiments.table_words import duration, long_table, wide_table

if TYPE_CHECKING:
    from adagcn.experiments.statistics import Summary

Unit = Literal["percent", "points", "seconds"]
Style = Literal["md", "csv", "latex", "text"]

_CSV_HEADER = (
    *("label", "model", "preset", "column", "unit", "mean", "lo", "hi", "n", "n_splits", "planned"),
    *("published_mean", "published_half_width", "difference"),
)


@dataclass(frozen=True)
class Cell:
    """One number of a table and what is needed to judge it.

    Attributes
    ----------
    mean : float or None
        A share of one (or seconds); None without runs.
    interval : (float, float) or None
        Its 95 % interval; None with a single split.
    n : int
        Runs behind it.
    preset : str
        What was run.
    published : (float, float) or None
        The paper's mean and half width, in the unit of ``mean``.
    planned : int or None
        Runs that there should be; None if not known.
    n_splits : int or None
        Splits behind it; a note of the table tells if they are few.
    """

    mean: float | None
    interval: tuple[float, float] | None
    n: int
    preset: str
    published: tuple[float, float] | None = None
    planned: int | None = None
    n_splits: int | None = None

    @classmethod
    def of(
        cls,
        summary: Summary | None,
        preset: str,
        *,
        published: tuple[float, float] | None = None,
        planned: int | None = None,
    ) -> Cell:
        """Return the cell of a summary; None gives a cell shown as missing."""
        if summary is None:
            return cls(None, None, 0, preset, published, planned)
        return cls(
            summary.mean,
            summary.interval,
            summary.n,
            preset,
            published,
            planned,
            summary.n_splits,
        )

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, if there are both."""
        return None if self.mean is None or not self.published else self.mean - self.published[0]

    @property
    def incomplete(self) -> bool:
        """Whether planned runs are missing."""
        return self.planned is not None and self.n < self.planned


@dataclass(frozen=True)
class Row:
    """The cells of one model, in the order of the table's columns."""

    label: str
    model: str
    preset: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """Rows of models and columns of data sets.

    Attributes
    ----------
    title : str
        What the table shows, on one line.
    columns : tuple of str
        Names of the columns of cells; label, preset and n are added.
    rows : tuple of Row
        One per model and preset.
    notes : tuple of str
        Sentences to put below, after those that explain the numbers.
    unit : {"percent", "points", "seconds"}
        Shares written as percent, signed differences of shares, or seconds.
    published_decimals : int
        Number of decimals in the paper.
    measure : str
        What the shares are, in words.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    unit: Unit = "percent"
    published_decimals: int = 2
    measure: str = "accuracy"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise InputError(
                    "AGC-I960",
                    f"row {row.label!r} must have one cell for each of {len(self.columns)} columns",
                    got=len(row.cells),
                )
        if self.unit != "seconds":
            _check_shares(cell for row in self.rows for cell in row.cells)


@dataclass(frozen=True)
class TimingRow:
    """Seconds of every run of one model, one sequence per column of the table."""

    label: str
    model: str
    preset: str
    seconds: tuple[Sequence[float], ...]


def render(table: Table, style: Style) -> str:
    """Return the table as text that ends with a line break.

    Parameters
    ----------
    table : Table
        What to write.
    style : {"md", "csv", "latex", "text"}
        Markdown for GitHub; CSV with one line per cell and plain numbers (shares of one, or
        seconds); LaTeX for the package booktabs; text for a terminal.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the style is unknown.
    """
    writers: dict[str, Callable[[TextTable], str]] = {
        "md": table_formats.markdown,
        "latex": table_formats.latex,
        "text": table_formats.text,
    }
    if style == "csv":
        return _csv(table)
    if style not in writers:
        raise InputError("AGC-I962", f"style must be one of csv, {', '.join(writers)}", got=style)
    return writers[style](wide_table(table))


def render_for_terminal(table: Table, width: int) -> str:
    """Return the table as text that fits a terminal: one line per cell if rows are too long.

    Parameters
    ----------
    table : Table
        What to write.
    width : int
        Columns of the terminal.

    Returns
    -------
    str
        As ``render(table, "text")`` with wrapped notes, or with a row for each cell.
    """
    wide = table_formats.text(wide_table(table), width)
    if max(map(cell_len, wide.splitlines())) <= width:
        return wide
    return table_formats.text(long_table(table), width)


def timing_table(
    title: str, columns: Sequence[str], rows: Sequence[TimingRow], *, notes: Sequence[str] = ()
) -> Table:
    """Return a table of seconds per run, with the total of every row in the notes.

    Parameters
    ----------
    title : str
        What was timed, and where.
    columns : sequence of str
        Names of the data sets.
    rows : sequence of TimingRow
        The seconds of all runs; an empty sequence is a missing cell.
    notes : sequence of str
        Further sentences, such as the machine.

    Returns
    -------
    Table
        With the unit seconds.
    """
    totals = [
        f"{row.label} ({row.preset}): {counted(sum(map(len, row.seconds)), 'run')} took "
        f"{duration(sum(map(math.fsum, row.seconds)))} in all."
        for row in rows
    ]
    cells = [tuple(_timing_cell(s, row.preset) for s in row.seconds) for row in rows]
    return Table(
        title,
        tuple(columns),
        tuple(Row(r.label, r.model, r.preset, c) for r, c in zip(rows, cells, strict=True)),
        notes=(*totals, *notes),
        unit="seconds",
    )


def _check_shares(cells: Iterable[Cell]) -> None:
    for cell in cells:
        numbers = (cell.mean, *(cell.interval or ()), *(cell.published or ()))
        wrong = [x for x in numbers if x is not None and not -1 <= x <= 1]
        if wrong:
            raise InputError(
                "AGC-I961",
                "a cell holds a number that is not a share of one",
                got=wrong[0],
                fix="divide percentages by 100, including those of the paper",
            )


def _timing_cell(seconds: Sequence[float], preset: str) -> Cell:
    if not len(seconds):
        return Cell(None, None, 0, preset)
    low, high = np.percentile(seconds, [2.5, 97.5]).tolist()
    interval = (low, high) if len(seconds) > 1 else None
    return Cell(math.fsum(seconds) / len(seconds), interval, len(seconds), preset)


def _csv(table: Table) -> str:
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(_CSV_HEADER)
    unit = "seconds" if table.unit == "seconds" else "share"
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            names = map(csv_text, (row.label, row.model, cell.preset, column))
            shares = (cell.mean, *(cell.interval or (None, None)))
            paper = (*(cell.published or (None, None)), cell.difference)
            counts = (cell.n, cell.n_splits, cell.planned)
            writer.writerow((*names, unit, *map(_exact, shares), *counts, *map(_exact, paper)))
    return sheet.getvalue()


def csv_text(text: str) -> str:
    """Return ``text`` marked as text where a spreadsheet would take it for a formula."""
    plain = one_line(text)
    return f"'{plain}" if plain.startswith(tuple("=+-@＝＋－＠")) else plain


def _exact(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
