"""``adagcn reproduce``: the paper's tables, or an experiment of one's own."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adagcn.cli.campaign_options import (
    CampaignOptions,
    check_figure,
    chosen_names,
    for_terminal,
    show_outcomes,
)
from adagcn.cli.options import Common, DataDir, Force, Offline, with_option_groups
from adagcn.cli.output import note
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.experiments.outcome import CellOutcome
    from adagcn.experiments.spec import Row, Spec


@with_option_groups
def reproduce(
    experiment: Annotated[
        str, typer.Argument(metavar="NAME|SPEC.toml", help="table2, figure3, … or your own spec.")
    ],
    campaign: CampaignOptions,
    common: Common,
    datasets: Annotated[
        str | None, typer.Option("--datasets", metavar="A,B", help="Only these data sets.")
    ] = None,
    models: Annotated[
        str | None, typer.Option("--models", metavar="A,B", help="Only these models.")
    ] = None,
    presets: Annotated[
        str | None, typer.Option("--presets", metavar="P,Q", help="Only these recipes.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option("--splits", metavar="N", min=1, help="No more than N splits.")
    ] = None,
    inits: Annotated[
        int | None,
        typer.Option("--inits", metavar="N", min=1, help="No more than N fits on each split."),
    ] = None,
    seeded_by: Annotated[
        Path | None,
        typer.Option("--import", metavar="FILE", help="Take over an exported ledger first."),
    ] = None,
    style: Annotated[
        Literal["text", "md", "csv", "latex"], typer.Option("--format", help="Form of the table.")
    ] = "text",
    figure: Annotated[
        Path | None,
        typer.Option("--figure", metavar="FILE", help="Draw accuracy by depth (png or svg)."),
    ] = None,
    force: Force = False,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Run the experiment behind a table or figure of the paper, or show it from finished runs.

    What the ledger has is not trained again. Every number stands with its interval, its number of
    runs and, where the paper has one, the difference to it.
    """
    if common.as_json and style != "text":
        raise InputError(
            "AGC-I903", "--format does not go with --json", got=style, fix="leave one of them out"
        )
    check_figure(figure, force=force)
    from adagcn.experiments.campaign import load_graphs
    from adagcn.experiments.spec_files import load_spec
    from adagcn.experiments.tables import render

    whole = load_spec(experiment)
    spec = _capped(_chosen(whole, datasets, models, presets), splits, inits)
    graphs = load_graphs(spec, data_dir=data_dir, offline=offline or None)
    found = campaign.outcomes(
        spec, graphs, seed=common.seed, threads=common.threads, seeded_by=seeded_by
    )
    if figure is not None:
        _draw(figure, spec, found)
    facts = {
        "experiment": experiment,
        "title": spec.title,
        "splits": spec.splits,
        "seed": common.seed,
        "threads": common.threads,
    }
    show_outcomes(
        found,
        spec,
        facts,
        as_json=common.as_json,
        timing=campaign.timing,
        write=for_terminal if style == "text" else partial(render, style=style),
    )


def _chosen(spec: Spec, datasets: str | None, models: str | None, presets: str | None) -> Spec:
    """Return the part of an experiment that was asked for."""

    def names(option: str, text: str | None, there: list[str]) -> list[str]:
        return chosen_names(option, text, list(dict.fromkeys(there)))

    kept_data = names("--datasets", datasets, [column.dataset for column in spec.columns])
    kept_models = names("--models", models, [row.model for row in spec.rows])
    kept_presets = names("--presets", presets, [row.preset for row in spec.rows])
    columns = [column for column in spec.columns if column.dataset in kept_data]
    labels = {column.label for column in columns}
    rows = [
        row
        for row in spec.rows
        if row.model in kept_models
        and row.preset in kept_presets
        and (row.columns is None or labels & set(row.columns))
    ]
    if not rows:
        raise InputError(
            "AGC-I904",
            "no row of the experiment is left",
            got=f"--datasets {datasets}, --models {models}, --presets {presets}",
            fix="ask for less narrow ones",
        )
    return spec.model_copy(update={"columns": columns, "rows": rows})


def _capped(spec: Spec, splits: int | None, inits: int | None) -> Spec:
    """Return the experiment with no more splits and initializations than asked for."""
    n_splits = max(map(spec.splits_of, spec.rows))
    n_inits = max(
        spec.inits_of(row, column)
        for row, column in product(spec.rows, spec.columns)
        if spec.has(row, column)
    )
    for option, cap, most in (("--splits", splits, n_splits), ("--inits", inits, n_inits)):
        if cap is not None and cap > most:
            raise InputError(
                "AGC-I905",
                f"{option} is more than the experiment has",
                got=cap,
                fix=f"use at most {most}, or a spec of your own",
            )
    rows = [_capped_row(spec, row, splits or n_splits, inits or n_inits) for row in spec.rows]
    return spec.model_copy(update={"rows": rows})


def _capped_row(spec: Spec, row: Row, splits: int, inits: int) -> Row:
    counts = {column.label: spec.inits_of(row, column) for column in spec.columns}
    return row.model_copy(
        update={
            "n_splits": min(spec.splits_of(row), splits),
            "inits_on": {label: min(count, inits) for label, count in counts.items()},
        }
    )


def _draw(path: Path, spec: Spec, found: list[CellOutcome]) -> None:
    from adagcn.report.drawing import save_figure
    from adagcn.report.experiment_figures import depth_curves, depth_panels

    save_figure(path, depth_panels(depth_curves(found), title=spec.title))
    note(f"written: {path}")
