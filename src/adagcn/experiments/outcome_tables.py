"""The tables of a spec, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from adagcn.experiments.outcome import CellOutcome, most_labels
from adagcn.experiments.spec import Column, Row, Spec
from adagcn.experiments.statistics import PairedComparison
from adagcn.experiments.table_words import comparison_note
from adagcn.experiments.tables import Cell, Table, TimingRow, timing_table
from adagcn.experiments.tables import Row as TableRow
from adagcn.models.support.measures import METRICS


def accuracy_table(spec: Spec, found: Sequence[CellOutcome]) -> Table:
    """Return the table of a spec, with paired comparisons to the first row in its notes."""
    cells = {(each.cell.row.label, each.cell.column.label): each for each in found}
    rows = tuple(
        TableRow(
            row.label,
            row.model,
            row.preset,
            tuple(
                _table_cell(spec, row, column, cells.get((row.label, column.label)))
                for column in spec.columns
            ),
        )
        for row in spec.rows
    )
    columns = tuple(column.label for column in spec.columns)
    notes = tuple(_comparisons(spec, found))
    measure = METRICS[found[0].metric] if found else METRICS["accuracy"]
    return Table(
        spec.title,
        columns,
        rows,
        notes,
        published_decimals=spec.published_decimals,
        measure=measure,
    )


def time_table(spec: Spec, found: Sequence[CellOutcome]) -> Table:
    """Return the seconds that the fits took."""
    seconds = {
        (each.cell.row.label, each.cell.column.label): [r.seconds for _, r in each.finished]
        for each in found
    }
    rows = [
        TimingRow(
            row.label,
            row.model,
            row.preset,
            tuple(seconds.get((row.label, column.label), []) for column in spec.columns),
        )
        for row in spec.rows
    ]
    columns = [column.label for column in spec.columns]
    return timing_table(f"{spec.title}: seconds of a fit", columns, rows)


def json_rows(spec: Spec, found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Return every cell ready for JSON: no times, so that the same runs give the same bytes."""
    return [_json_row(spec, each) for each in found]


def json_times(found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Return the times and the memory of every cell's runs, ready for JSON."""
    return [
        {
            "label": each.cell.row.label,
            "column": each.cell.column.label,
            "seconds": [result.seconds for _, result in each.finished],
            "peak_memory_mb": [result.peak_memory_mb for _, result in each.finished],
        }
        for each in found
    ]


def _table_cell(spec: Spec, row: Row, column: Column, each: CellOutcome | None) -> Cell:
    if each is None:  # not part of the experiment, so nothing is missing
        return Cell.of(None, row.preset, planned=0)
    published, planned = spec.published(row, column), len(each.cell.runs)
    return Cell.of(each.summary, row.preset, published=published, planned=planned)


def _comparisons(spec: Spec, found: Sequence[CellOutcome]) -> list[str]:
    several = len(spec.columns) > 1
    richest = most_labels(spec.columns)
    notes = []
    for each in found:
        column, first = each.cell.column, spec.rows[0].label
        label = f"{column.label}: {each.cell.row.label}" if several else each.cell.row.label
        if each.against_first is not None:
            notes.append(comparison_note(label, first, each.against_first))
        if each.against_most_labels is not None:
            other = f"the same on {richest[column.dataset].label}"
            notes.append(comparison_note(f"{label} − {first}", other, each.against_most_labels))
    return notes


def _json_row(spec: Spec, each: CellOutcome) -> dict[str, Any]:
    row, column, summary = each.cell.row, each.cell.column, each.summary
    published = spec.published(row, column)
    mean = None if summary is None else summary.mean
    return {
        "label": row.label,
        "model": row.model,
        "preset": row.preset,
        "settings": spec.settings_of(row),
        "dataset": column.dataset,
        "column": column.label,
        "train_per_class": column.train_per_class,
        "n": len(each.finished),
        "planned": len(each.cell.runs),
        "mean": mean,
        "interval": None if summary is None else summary.interval,
        "run_interval": None if summary is None else summary.run_interval,
        "std": None if summary is None else summary.std,
        "paper": published,
        "difference": None if None in (mean, published) else mean - published[0],  # type: ignore
        "against_first": _facts(each.against_first),
        "against_most_labels": _facts(each.against_most_labels),
        "runs": [
            {
                "split": run.split,
                "init": run.init,
                "accuracy": result.accuracy,
                each.metric: result.score(each.metric),
            }
            for run, result in each.finished
        ],
    }


def _facts(comparison: PairedComparison | None) -> dict[str, Any] | None:
    return None if comparison is None else asdict(comparison)
