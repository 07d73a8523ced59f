"""The text of a table of results: every number with what is needed to judge it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from adagcn.errors import counted
from adagcn.experiments.table_formats import TextTable

if TYPE_CHECKING:
    from adagcn.experiments.statistics import PairedComparison
    from adagcn.experiments.tables import Cell, Row, Table, Unit

_FEW_SPLITS = 10  # below this, the bootstrap interval is clearly too narrow
_LEGEND: dict[Unit, str] = {
    "percent": "Mean {measure} in % over n runs; in brackets its 95 % bootstrap interval "
    "over splits.",
    "points": "Mean difference in {measure} in percentage points over n runs; in brackets its 95 % "
    "bootstrap interval over splits.",
    "seconds": "Mean seconds per run over n runs; in brackets the middle 95 % of runs.",
}
_QUANTITY: dict[Unit, str] = {
    "percent": "{measure}",
    "points": "difference",
    "seconds": "seconds",
}


def wide_table(table: Table) -> TextTable:
    """Return a row per model and a column per data set."""
    body = []
    for row in table.rows:
        counts = sorted({cell.n for cell in row.cells if cell.n})
        n = f"{counts[0]}–{counts[-1]}" if len(counts) > 1 else f"{counts[0] if counts else 0}"
        cells = [_lines(table, row, cell, show_n=len(counts) > 1) for cell in row.cells]
        body.append([[row.label], [row.preset], [n], *cells])
    header = ["model", "preset", "n", *table.columns]
    return TextTable(table.title, header, body, _notes(table), n_words=2)


def long_table(table: Table) -> TextTable:
    """Return a row per model and data set, for narrow terminals."""
    body = []
    for row in table.rows:
        names = row.label
        for column, cell in zip(table.columns, row.cells, strict=True):
            lines = _lines(table, replace(row, preset=cell.preset), cell, show_n=False)
            body.append([[names], [cell.preset], [column], [str(cell.n)], lines])
            names = ""
    header = [
        "model",
        "preset",
        "data set",
        "n",
        _QUANTITY[table.unit].format(measure=table.measure),
    ]
    return TextTable(table.title, header, body, _notes(table), n_words=3)


def comparison_note(label: str, other: str, found: PairedComparison) -> str:
    """Return a paired comparison of two rows as one sentence for the notes of a table."""
    pairs = f"{found.n_runs:,} {'pair' if found.n_runs == 1 else 'pairs'} of runs"
    scope = f"{counted(found.n_splits, 'split')}, {pairs}"
    tests = [
        f"{name} {_p_value(p)}"
        for name, p in (
            ("t-test on split means", found.p_splits),
            ("Wilcoxon on split means", found.p_wilcoxon),
            ("t-test on runs", found.p_runs),
        )
    ]
    effect = "–" if found.effect_size is None else _signed(found.effect_size)
    value, interval = _signed(100 * found.difference), _brackets(found.interval, "points")
    if found.node_interval is None:
        lead = f"{value} {interval} points"
    else:
        both = _brackets(found.node_interval, "points")
        lead = f"{value} points, over splits {interval}, over splits and nodes {both}"
    return f"{label} − {other}: {lead} ({scope}); {', '.join(tests)}; d_z = {effect}."


def reach_note(found: PairedComparison, goal: float) -> str:
    """Return whether the interval over splits reaches a number of points, as a sentence."""
    if found.interval is None:
        return f"Without an interval, whether it reaches {_signed(goal)} is open."
    low, high = (100 * end for end in found.interval)
    where = "lies above" if low >= goal else "reaches" if high >= goal else "stays below"
    return f"The interval over splits {where} {_signed(goal)}."


def interval_notes(found: Sequence[PairedComparison], *, older_runs: bool) -> list[str]:
    """Return what the intervals of a table's comparisons are, each sentence once per table.

    Parameters
    ----------
    found : sequence of PairedComparison
        The comparisons in the notes of the table.
    older_runs : bool
        Whether some of their runs do not say which nodes they got right.
    """
    notes = []
    if any(each.node_interval is not None for each in found):
        notes.append(
            "Over splits: other training nodes, scored on these nodes. "
            "Over splits and nodes: other nodes as well."
        )
    if older_runs and any(each.interval and not each.node_interval for each in found):
        notes.append(
            "A single interval is over splits only: older runs do not tell which nodes were right."
        )
    return notes


def duration(seconds: float) -> str:
    """Return seconds in words.

    >>> duration(7261), duration(200.4), duration(12.34)
    ('2 h 01 min', '3 min 20 s', '12.3 s')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    if seconds < 3599.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min"


def _lines(table: Table, row: Row, cell: Cell, *, show_n: bool) -> list[str]:
    """Return our number on one line and, if there is one, the paper's on the next."""
    lines = ["–"]
    if cell.mean is not None:
        aside = [cell.preset] if cell.preset != row.preset else []
        aside += [f"n = {cell.n}"] if show_n else []
        mark = "†" if cell.incomplete else ""
        number = f"{_number(cell.mean, table.unit)} {_brackets(cell.interval, table.unit)}{mark}"
        lines = [f"{number} ({', '.join(aside)})" if aside else number]
    if cell.published:
        scale = 1 if table.unit == "seconds" else 100
        mean, half = (f"{scale * x:.{table.published_decimals}f}" for x in cell.published)
        gap = "" if cell.difference is None else f", {_signed(scale * cell.difference)}"
        lines.append(f"paper {mean} ± {half}{gap}")
    return lines


def _number(value: float, unit: Unit) -> str:
    if unit == "seconds":
        return f"{value:.2f}" if value < 9.995 else f"{value:.1f}"
    return _signed(100 * value) if unit == "points" else f"{100 * value:.2f}"


def _signed(value: float) -> str:
    text = f"{value:+.2f}".replace("-", "−")
    return "±0.00" if text[1:] == "0.00" else text


def _brackets(interval: tuple[float, float] | None, unit: Unit) -> str:
    return "[–]" if interval is None else f"[{', '.join(_number(x, unit) for x in interval)}]"


def _p_value(p: float | None) -> str:
    return "p = –" if p is None else f"p = {p:.3f}" if p >= 0.001 else f"p = {p:.1e}"


def _notes(table: Table) -> list[str]:
    """Return the sentences below a table: what the numbers are, what is missing, the caller's."""
    cells = [cell for row in table.rows for cell in row.cells]
    there = [cell for cell in cells if cell.mean is not None]
    one = "run" if table.unit == "seconds" else "split"
    notes = [_LEGEND[table.unit].format(measure=table.measure)]
    if any(cell.interval is None for cell in there):
        notes.append(f"[–]: a single {one} has no interval.")
    if any(cell.n_splits and 1 < cell.n_splits < _FEW_SPLITS for cell in there):
        notes.append(f"Intervals from fewer than {_FEW_SPLITS} splits are too narrow.")
    if any(cell.published for cell in cells):
        notes.append(
            "paper: the published mean ± half width (over runs, hence narrower), and ours minus it."
        )
    return [*notes, *_missing(table), *table.notes]


def _missing(table: Table) -> Iterator[str]:
    for row in table.rows:
        gaps = [
            f"{column} {cell.n:,} of {counted(cell.planned or 0, 'run')}"
            for column, cell in zip(table.columns, row.cells, strict=True)
            if cell.incomplete
        ]
        if gaps:
            yield f"Missing runs (– or †), {row.label} ({row.preset}): {', '.join(gaps)}."
