"""The tables of a spec, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from adagcn.experiments.outcome import CellOutcome, against_best, against_controls, most_labels
from adagcn.experiments.runs import RunResult
from adagcn.experiments.spec import Column, Row, Spec
from adagcn.experiments.statistics import PairedComparison
from adagcn.experiments.table_words import comparison_note, interval_notes, reach_note
from adagcn.experiments.tables import Cell, Table, TimingRow, timing_table
from adagcn.experiments.tables import Row as TableRow
from adagcn.models.support.measures import METRICS

_CPU_TIMES = "CPU seconds: processor time, summed over the threads of a fit."
_CHOSEN_TIMES = "{label}: of the chosen fits; choosing took {n} fits on {where}."
_MIXED_TIMES = "Seconds by the clock: some runs are older and lack CPU seconds."


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
    parts = (_choices(spec), _comparisons(spec, found), _unseen(found), _leads(spec, found))
    notes = tuple(note for part in (*parts, _controls(spec, found)) for note in part)
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
    """Return the seconds that the fits took: processor time if all runs have it."""
    chosen = [
        _CHOSEN_TIMES.format(label=row.label, n=len(spec.candidates_of(row)), where=_tried(row))
        for row in spec.rows
        if row.grid
    ]
    results = [result for each in found for _, result in each.finished]
    n_with_cpu = sum(result.fit_cpu_seconds is not None for result in results)
    if n_with_cpu and n_with_cpu == len(results):
        return _cpu_table(spec, found, chosen)
    notes = [*([_MIXED_TIMES] if n_with_cpu else []), *chosen]
    rows = _timing_rows(spec, found, lambda result: result.seconds)
    columns = [column.label for column in spec.columns]
    return timing_table(f"{spec.title}: seconds of a fit", columns, rows, notes=notes)


def json_rows(spec: Spec, found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Return every cell ready for JSON: no times, so that the same runs give the same bytes."""
    return [_json_row(spec, each) for each in found]


def json_times(found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Return the times and the memory of every cell's runs, ready for JSON.

    Lists have a value for each run; CPU seconds are null for runs of earlier releases, and their
    means as well where any run lacks them.
    """
    return [
        {
            "label": each.cell.row.label,
            "column": each.cell.column.label,
            "seconds": [result.seconds for _, result in each.finished],
            "peak_memory_mb": [result.peak_memory_mb for _, result in each.finished],
            "fit_cpu_seconds": [result.fit_cpu_seconds for _, result in each.finished],
            "predict_cpu_seconds": [result.predict_cpu_seconds for _, result in each.finished],
            "mean_fit_cpu_seconds": _mean([r.fit_cpu_seconds for _, r in each.finished]),
            "mean_predict_cpu_seconds": _mean([r.predict_cpu_seconds for _, r in each.finished]),
        }
        for each in found
    ]


def _cpu_table(spec: Spec, found: Sequence[CellOutcome], chosen: Sequence[str]) -> Table:
    """Return the processor time of the fits, with that of predictions in the notes."""
    columns = [column.label for column in spec.columns]
    rows = _timing_rows(spec, found, lambda result: result.fit_cpu_seconds)
    notes = [_CPU_TIMES, *chosen]
    for row in _timing_rows(spec, found, lambda result: result.predict_cpu_seconds):
        means = [
            f"{fmean(seconds):.3f} ({column})"
            for column, seconds in zip(columns, row.seconds, strict=True)
            if seconds
        ]
        if means:
            notes.append(
                f"{row.label} ({row.preset}), predicting all scored nodes once, mean CPU seconds: "
                f"{', '.join(means)}."
            )
    return timing_table(f"{spec.title}: CPU seconds of a fit", columns, rows, notes=notes)


def _timing_rows(
    spec: Spec, found: Sequence[CellOutcome], taken: Callable[[RunResult], float | None]
) -> list[TimingRow]:
    seconds = {
        (each.cell.row.label, each.cell.column.label): _known(taken(r) for _, r in each.finished)
        for each in found
    }
    return [
        TimingRow(
            row.label,
            row.model,
            row.preset,
            tuple(seconds.get((row.label, column.label), []) for column in spec.columns),
        )
        for row in spec.rows
    ]


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if a run lacks its value or there is none."""
    known = _known(values)
    return fmean(known) if known and len(known) == len(values) else None


def _table_cell(spec: Spec, row: Row, column: Column, each: CellOutcome | None) -> Cell:
    if each is None:  # not part of the experiment, so nothing is missing
        return Cell.of(None, row.preset, planned=0)
    published, planned = spec.published(row, column), len(each.cell.places)
    return Cell.of(each.summary, row.preset, published=published, planned=planned)


def _choices(spec: Spec) -> list[str]:
    """Return what the rows with a grid choose from."""
    return [
        f"{row.label}: on {_tried(row)} the best of {len(spec.candidates_of(row))} settings on the "
        f"stopping nodes ({'; '.join(f'{name} {_listed(row.grid[name])}' for name in row.grid)})"
        f"{'' if row.grid_splits is None else ', for all splits'}."
        for row in spec.rows
        if row.grid
    ]


def _tried(row: Row) -> str:
    """Return on which splits a grid is tried, in words."""
    if row.grid_splits is None:
        return "each split"
    return "the first split" if row.grid_splits == 1 else f"the first {row.grid_splits} splits"


def _listed(values: Sequence[object]) -> str:
    return " or ".join(map(str, values))


def _unseen(found: Sequence[CellOutcome]) -> list[str]:
    """Return the accuracy of fresh runs on nodes that had no part in any choice, by row."""
    means: dict[str, list[str]] = {}
    for each in found:
        accuracy = each.unseen_accuracy
        if accuracy is not None:
            text = f"{100 * accuracy:.2f} ({each.cell.column.label})"
            means.setdefault(each.cell.row.label, []).append(text)
    return [
        f"{label}, accuracy on the scored nodes that no validation split has seen: "
        f"{', '.join(texts)}."
        for label, texts in means.items()
    ]


def _leads(spec: Spec, found: Sequence[CellOutcome]) -> list[str]:
    """Return how far the first row is from the best other model, where the spec asks for it."""
    if not spec.against_best or not found:
        return []
    first = spec.rows[0].label
    notes = []
    for picked, pair in against_best(found):
        label = f"{picked.cell.column.label}, odd splits: {first}"
        other = f"{picked.cell.row.label}, the best other model on the even splits"
        note = comparison_note(label, other, pair)
        notes.append(note if spec.goal is None else f"{note} {reach_note(pair, spec.goal)}")
    return notes


def _controls(spec: Spec, found: Sequence[CellOutcome]) -> list[str]:
    """Return which rows are significantly below a control, where the spec names some."""
    there = {each.cell.row.label for each in found}
    controls = [label for label in spec.controls if label in there]
    if not controls:
        return []
    below: dict[str, list[str]] = {row.label: [] for row in spec.rows if row.label not in controls}
    is_open: set[str] = set()
    for each, other, pair in against_controls(found, controls):
        if pair is None or pair.interval is None:  # runs are missing
            is_open.add(each.cell.row.label)
        elif pair.interval[1] < 0.0:
            points = f"{100 * pair.difference:+.2f}".replace("-", "−")
            where = f"{other.cell.row.label} on {each.cell.column.label} ({points})"
            below[each.cell.row.label].append(where)
    names = " or ".join(controls)
    clear = [label for label, places in below.items() if not places and label not in is_open]
    unsure = [label for label, places in below.items() if not places and label in is_open]
    return [
        *(f"{label} is below {', '.join(places)}." for label, places in below.items() if places),
        *([f"Nowhere below {names}: {', '.join(clear)}."] if clear else []),
        *([f"Not below {names} so far, with runs missing: {', '.join(unsure)}."] if unsure else []),
        "Below: the 95 % interval over splits of the paired difference lies below zero.",
    ]


def _comparisons(spec: Spec, found: Sequence[CellOutcome]) -> list[str]:
    several = len(spec.columns) > 1
    richest = most_labels([each.cell.column for each in found])
    notes = []
    for each in found:
        column, first = each.cell.column, spec.rows[0].label
        label = f"{column.label}: {each.cell.row.label}" if several else each.cell.row.label
        if each.against_first is not None:
            notes.append(comparison_note(label, first, each.against_first))
        if each.against_most_labels is not None:
            other = f"the same on {richest[column.dataset].label}"
            notes.append(comparison_note(f"{label} − {first}", other, each.against_most_labels))
    made = [pair for each in found for pair in (each.against_first, each.against_most_labels)]
    older = any(each.metric == "accuracy" and not each.has_right_nodes for each in found)
    return notes + interval_notes([pair for pair in made if pair is not None], older_runs=older)


def _json_row(spec: Spec, each: CellOutcome) -> dict[str, Any]:
    row, column, summary = each.cell.row, each.cell.column, each.summary
    published = spec.published(row, column)
    mean = None if summary is None else summary.mean
    return {
        "label": row.label,
        "model": row.model,
        "preset": row.preset,
        "settings": spec.settings_of(row, column),
        **({"grid": row.grid} if row.grid else {}),
        "dataset": column.dataset,
        "column": column.label,
        "train_per_class": column.train_per_class,
        "n": len(each.finished),
        "planned": len(each.cell.places),
        "mean": mean,
        "interval": None if summary is None else summary.interval,
        "node_interval": None if summary is None else summary.node_interval,
        "unseen_accuracy": each.unseen_accuracy,
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
                **_by_depth(result),
            }
            for run, result in each.finished
        ],
    }


def _by_depth(result: RunResult) -> dict[str, list[float]]:
    """Return the accuracy of the first 1, 2, … layers, of a model that has several."""
    found = result.accuracy_by_depth
    return {"accuracy_by_depth": found} if len(found) > 1 else {}


def _facts(comparison: PairedComparison | None) -> dict[str, Any] | None:
    return None if comparison is None else asdict(comparison)
