"""``adagcn reproduce``: the paper's tables, or an experiment of your own."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from adagcn.cli.campaign_options import CampaignOptions, check_figure, chosen_names
from adagcn.cli.options import Common, DataDir, Force, Offline, with_option_groups
from adagcn.cli.output import write_figure
from adagcn.errors import InputError

if TYPE_CHECKING:
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
        str | None, typer.Option("--presets", metavar="P,Q", help="Only these presets.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option("--splits", metavar="N", min=1, help="At most N splits.")
    ] = None,
    inits: Annotated[
        int | None,
        typer.Option("--inits", metavar="N", min=1, help="At most N fits per split."),
    ] = None,
    seeded_by: Annotated[
        Path | None,
        typer.Option("--import", metavar="FILE", help="Import an exported ledger first."),
    ] = None,
    style: Annotated[
        Literal["text", "md", "csv", "latex"], typer.Option("--format", help="Format of the table.")
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

    Finished runs are kept in the ledger and never trained again. Every number comes with its
    interval, its number of runs and, where the paper reports one, the difference from it.
    """
    if common.as_json and style != "text":
        raise InputError(
            "AGC-I903", "--format cannot be combined with --json", got=style, fix="leave one out"
        )
    check_figure(figure, force=force)
    from adagcn.experiments.campaign import load_graphs, load_splits
    from adagcn.experiments.spec_files import load_spec

    whole = load_spec(experiment)
    spec = _capped(_chosen(whole, datasets, models, presets), splits, inits)
    graphs = load_graphs(spec, data_dir=data_dir, offline=offline or None)
    chosen = load_splits(spec, graphs, data_dir=data_dir)
    found = campaign.outcomes(spec, graphs, common, seeded_by=seeded_by, splits=chosen)
    if figure is not None:
        from adagcn.report.experiment_figures import depth_curves, depth_panels

        write_figure(figure, depth_panels(depth_curves(found), title=spec.title))
    facts = {"experiment": experiment, "title": spec.title, "splits": spec.splits}
    campaign.show(spec, found, facts, common, style)


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
            "the options leave no row of the experiment",
            got=f"--datasets {datasets}, --models {models}, --presets {presets}",
            fix="leave one of them out",
        )
    return spec.model_copy(update={"columns": columns, "rows": rows})


def _capped(spec: Spec, splits: int | None, inits: int | None) -> Spec:
    """Return the experiment with at most this many splits and initializations."""
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
                fix=f"use at most {most}, or write your own spec",
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
