"""``adagcn bench calibration``: the tables of calibration error and of coverage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import note, print_json, rows_table, screen, steps_bar
from adagcn.errors import counted

if TYPE_CHECKING:
    from adagcn.bench.calibration import CalibrationFit, Part

# Columns of each part: the name, the measure, and how a value is written.
_COLUMNS: dict[str, tuple[tuple[str, str], ...]] = {
    "error": (
        ("accuracy, %", "accuracy"),
        ("error as fitted, %", "error_before"),
        ("error with temperature, %", "error_after"),
        ("temperature", "temperature"),
    ),
    "sets": (
        ("accuracy, %", "accuracy"),
        ("coverage, %", "coverage"),
        ("labels in a set", "mean_size"),
    ),
}
_PLAIN = ("temperature", "mean_size")  # not shares


@with_option_groups
def bench_calibration(
    common: Common,
    part: Annotated[
        Literal["error", "sets", "all"],
        typer.Option("--part", help="Which question: calibration error or prediction sets."),
    ] = "all",
    n_splits: Annotated[
        int | None,
        typer.Option(
            "--splits",
            metavar="N",
            min=1,
            help="Validation splits, from val:0 on.",
            show_default="10 for error, 20 for sets",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="Record fits here; recorded ones are not run."),
    ] = None,
    no_training: Annotated[
        bool, typer.Option("--no-training", help="Show what is recorded and train nothing.")
    ] = False,
    layout: Annotated[
        Literal["text", "md"], typer.Option("--format", help="How to print tables.")
    ] = "text",
) -> None:
    """Measure the calibration error of AdaGCN and APPNP, and the coverage of prediction sets.

    error: Cora-ML, the temperature fitted to the stopping nodes. sets: the four data sets of the
    paper, half of the stopping nodes kept for sets of coverage 0.9. All takes 190 fits, about 16
    minutes of one core; --keep lets you stop and continue.
    """
    from adagcn.bench.calibration import measure_calibration, planned
    from adagcn.bench.kept_fits import KeptFits
    from adagcn.engines.threads import threads
    from adagcn.experiments.provenance import code_versions

    parts: list[Part] = ["error", "sets"] if part == "all" else [part]
    fits = planned(parts, n_splits, common.seed)
    kept = KeptFits(keep)
    found = []
    with threads(common.threads), steps_bar("measuring", len(fits)) as advance:
        for each in measure_calibration(fits, kept, code_versions, train=not no_training):
            found.append(each)
            advance()
    if len(found) < len(fits):
        missing = counted(len(fits) - len(found), "fit")
        note(f"{missing} not recorded yet; leave --no-training out to run them")
    tables = {each: _table(each, found) for each in parts}
    if common.as_json:
        facts: dict[str, Any] = {str(name): rows for name, (_, rows) in tables.items()}
        print_json({"seed": common.seed, "threads": common.threads, **facts})
        return
    for name in parts:
        _print(name, tables[name][0], layout)


def _table(
    part: Part, found: Iterable[tuple[CalibrationFit, dict[str, Any]]]
) -> tuple[list[list[str]], list[dict[str, Any]]]:
    """Return the rows of one part, as cells and as values."""
    import numpy as np

    from adagcn.experiments.statistics import summarize

    by_row: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for fit, result in found:
        if fit.part == part:
            by_row.setdefault(fit.row, []).append(result)
    cells, values = [], []
    for (model, preset, dataset), results in by_row.items():
        value: dict[str, Any] = {"model": model, "preset": preset, "dataset": dataset}
        value["splits"] = len(results)
        line = [f"{dataset}, {model} {preset}", f"{len(results)}"]
        for _, measure in _COLUMNS[part]:
            runs = np.array([[each[measure]] for each in results])
            summary = summarize(runs)
            value[measure] = {"mean": summary.mean, "interval": summary.interval}
            line.append(_shown(summary.mean, summary.interval, share=measure not in _PLAIN))
        cells.append(line)
        values.append(value)
    return cells, values


def _shown(mean: float, interval: tuple[float, float] | None, *, share: bool) -> str:
    scale, digits = (100.0, 2) if share else (1.0, 3)
    text = f"{scale * mean:.{digits}f}"
    if interval is None:
        return text
    low, high = interval
    return f"{text} [{scale * low:.{digits}f}, {scale * high:.{digits}f}]"


def calibration_markdown(record: Path) -> str:
    """Return the tables of everything in a record, as Markdown."""
    from adagcn.bench.calibration import measure_calibration, planned
    from adagcn.bench.kept_fits import KeptFits

    parts: list[Part] = ["error", "sets"]
    fits = planned(parts, None, 0)
    found = list(measure_calibration(fits, KeptFits(record), dict, train=False))
    return "\n".join(_markdown(part, _table(part, found)[0]) for part in parts)


def _header(part: Part) -> list[str]:
    return ["data set, model and preset", "splits", *(name for name, _ in _COLUMNS[part])]


def _markdown(part: Part, rows: Sequence[Sequence[str]]) -> str:
    header = _header(part)
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _print(part: Part, rows: Sequence[Sequence[str]], layout: str) -> None:
    if layout == "md":
        print(_markdown(part, rows), end="")
        return
    console = screen()
    console.print(rows_table(_header(part), rows, width=console.width))
    console.print()
