"""``adagcn bench fits``: CPU seconds of whole fits and predictions, of every system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.cli.campaign_options import chosen_names
from adagcn.cli.options import Common, DataDir, Offline, with_option_groups
from adagcn.cli.output import note, one_line, print_json, rows_table, screen, steps_bar
from adagcn.errors import InputError, counted

if TYPE_CHECKING:
    from adagcn.bench.task import Task
    from adagcn.bench.whole_fits import FitCost, System

SYSTEMS_OF = "pareto"  # the experiment whose rows are the systems
_NOTHING = "–"
_BUSY = 1.1  # seconds by the clock over CPU seconds


@with_option_groups
def bench_fits(
    common: Common,
    datasets: Annotated[
        str | None,
        typer.Option(
            "--datasets",
            metavar="A,B",
            help="Data sets or .npz files.",
            show_default="the paper's four",
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option("--models", metavar="A,B", help="Only these models.")
    ] = None,
    presets: Annotated[
        str | None, typer.Option("--presets", metavar="P,Q", help="Only these presets.")
    ] = None,
    runs: Annotated[
        int,
        typer.Option("--runs", metavar="N", min=1, help="Fits of each, if they are short."),
    ] = 3,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="Record fits here; recorded ones are not run."),
    ] = None,
    no_training: Annotated[
        bool, typer.Option("--no-training", help="Show what is recorded and train nothing.")
    ] = False,
    layout: Annotated[
        Literal["text", "md"], typer.Option("--format", help="How to print the table.")
    ] = "text",
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Measure CPU seconds of whole fits and predictions of every system on val:0.

    The systems take turns in one process; fits of more than a minute are not repeated. Run it alone
    on the machine. All four data sets take hours: --keep lets you stop and continue.
    """
    _check_record(keep, no_training=no_training)
    from adagcn.bench.kept_fits import KeptFits
    from adagcn.bench.task import load_tasks
    from adagcn.bench.whole_fits import measure_fits, recorded_costs
    from adagcn.engines.threads import threads
    from adagcn.experiments.provenance import code_versions

    systems, names = _chosen(models, presets, datasets)
    tasks = load_tasks(names, seed=common.seed, data_dir=data_dir, offline=offline or None)
    kept = KeptFits(keep)
    if not no_training:
        total = runs * sum(t.name not in s.left_out for t in tasks for s in systems)
        measured = measure_fits(
            tasks, systems, kept, code_versions, runs=runs, threads=common.threads
        )
        with threads(common.threads), steps_bar("measuring", total) as advance:
            try:
                for _ in measured:
                    advance()
            except BaseException:
                if keep is not None:
                    note(f"finished fits are in {keep}; repeat the command to continue")
                raise
    processor, costs = recorded_costs(kept, threads=common.threads)
    table = _table(systems, tasks, costs)
    _tell(table, processor, no_training=no_training)
    if common.as_json:
        facts = {"threads": common.threads, "split": "val:0", "processor": processor}
        print_json({**facts, "rows": [_json_row(*each) for each in table]})
        return
    _print(table, [task.name for task in tasks], layout)


def _check_record(keep: Path | None, *, no_training: bool) -> None:
    if no_training and (keep is None or not keep.is_file()):
        raise InputError(
            "AGC-I2202",
            "--no-training shows a record, and --keep names none that exists",
            got=None if keep is None else str(keep),
            fix="give --keep the file of an earlier measurement",
        )


def _chosen(
    models: str | None, presets: str | None, datasets: str | None
) -> tuple[list[System], list[str]]:
    """Return the systems and the data sets that were asked for."""
    everyone, four = registered_systems()
    kept_models = chosen_names("--models", models, list(dict.fromkeys(s.model for s in everyone)))
    kept_presets = chosen_names(
        "--presets", presets, list(dict.fromkeys(s.preset for s in everyone))
    )
    systems = [s for s in everyone if s.model in kept_models and s.preset in kept_presets]
    if not systems:
        raise InputError(
            "AGC-I2203",
            "the options leave no system",
            got=f"--models {models}, --presets {presets}",
            fix="leave one of them out",
        )
    return systems, four if datasets is None else [name.strip() for name in datasets.split(",")]


def registered_systems() -> tuple[list[System], list[str]]:
    """Return every system, and the paper's data sets, as the experiment has them."""
    from adagcn.bench.whole_fits import System
    from adagcn.experiments.spec_files import load_spec

    spec = load_spec(SYSTEMS_OF)
    systems = [
        System(
            row.label,
            row.model,
            row.preset,
            spec.settings_of(row),
            tuple(column.dataset for column in spec.columns if not spec.has(row, column)),
            {
                column.dataset: spec.settings_of(row, column)
                for column in spec.columns
                if column.label in row.settings_on
            },
        )
        for row in spec.rows
    ]
    return systems, [column.dataset for column in spec.columns]


_Costs = Mapping[tuple[str, str], "FitCost"]
_Row = tuple["System", dict[str, "FitCost | None"]]


def _table(systems: Sequence[System], tasks: Sequence[Task], costs: _Costs) -> list[_Row]:
    """Return the cost of every system by data set; those that are left out are not there."""
    from adagcn.bench.whole_fits import place_of

    return [
        (
            system,
            {
                task.name: costs.get(place_of(system, task.graph))
                for task in tasks
                if task.name not in system.left_out
            },
        )
        for system in systems
    ]


def _tell(table: Sequence[_Row], processor: str | None, *, no_training: bool) -> None:
    """Say what is missing, where the times are from, and if something else ran beside them."""
    cells = [cost for _, row in table for cost in row.values()]
    there = [cost for cost in cells if cost is not None]
    if processor is not None:
        note(f"CPU seconds of {processor}, fit + prediction of every node")
    if no_training and len(there) < len(cells):
        missing = counted(len(cells) - len(there), "cell")
        note(f"{missing} without a recorded fit; leave --no-training out to measure")
    beside = max((cost.clock_share for cost in there), default=0.0)
    if beside > _BUSY:
        note(
            f"the machine was busy: a fit took {beside:.1f} times as long by the clock as in CPU "
            "seconds; measure again when it is idle"
        )


def _json_row(system: System, row: Mapping[str, FitCost | None]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "label": system.label,
        "model": system.model,
        "preset": system.preset,
        "settings": dict(system.settings),
        "settings_on": {name: dict(each) for name, each in system.settings_on.items()},
        "costs": {name: None if cost is None else asdict(cost) for name, cost in row.items()},
    }


def fits_markdown(record: Path, data_dir: Path | None, offline: bool) -> str:
    """Return the table of everything in a record, as Markdown."""
    from adagcn.bench.kept_fits import KeptFits
    from adagcn.bench.task import load_tasks
    from adagcn.bench.whole_fits import recorded_costs

    _, costs = recorded_costs(KeptFits(record))
    systems, names = registered_systems()
    tasks = load_tasks(names, data_dir=data_dir, offline=offline or None)
    return _markdown(*_cells(_table(systems, tasks, costs), names))


def _cells(table: Sequence[_Row], names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows."""
    header = ["CPU seconds, fit + prediction", "preset", *names]
    rows = [
        [system.label, system.preset, *(_shown(row.get(name)) for name in names)]
        for system, row in table
    ]
    return header, rows


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", "---", *(["--:"] * (len(header) - 2))]
    plain = [[one_line(cell).replace("|", "\\|") for cell in line] for line in (header, *rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (plain[0], rule, *plain[1:]))


def _print(table: Sequence[_Row], names: Sequence[str], layout: str) -> None:
    header, rows = _cells(table, names)
    if layout == "md":
        print(_markdown(header, rows), end="")
        return
    console = screen()
    console.print(rows_table(header, rows, width=console.width))


def _shown(cost: FitCost | None) -> str:
    """Return a cost as ``6.10 + 0.042 (n = 3)``."""
    if cost is None:
        return _NOTHING
    return f"{_digits(cost.fit_seconds)} + {_digits(cost.predict_seconds)} (n = {cost.n})"


def _digits(seconds: float) -> str:
    decimals = 3 if seconds < 0.1 else 2 if seconds < 10 else 1
    return f"{seconds:.{decimals}f}"
