"""``adagcn reproduce``: the paper's tables, or an experiment of your own."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.cli.campaign_options import CampaignOptions, check_figure, chosen_names
from adagcn.cli.fit_costs import DEFAULT_RECORDS, Records, json_panels, panels_with_costs
from adagcn.cli.options import Common, DataDir, Force, Offline, with_option_groups
from adagcn.cli.output import note, print_json, screen, write_figure
from adagcn.cli.reproduce_all import EVERYTHING, Places, refuse_beside_all, reproduce_all
from adagcn.cli.split_options import check_measurable
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.experiments.campaign import Graphs, Splits
    from adagcn.experiments.frontier import CostPanel
    from adagcn.experiments.outcome import CellOutcome
    from adagcn.experiments.spec import Row, Spec
    from adagcn.experiments.tables import Style
    from adagcn.models.support.measures import Metric


@with_option_groups
def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(metavar="NAME|SPEC.toml", help="table2, figure3, …, all, or your own spec."),
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
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="TEXT", help="Only columns with this in their name."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="ROW", help="Compare with this row, not with the first."),
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
    metric: Annotated[
        Literal["accuracy", "balanced_accuracy", "f1_macro", "roc_auc"],
        typer.Option("--metric", help="Measure to show."),
    ] = "accuracy",
    figure: Annotated[
        Path | None,
        typer.Option(
            "--figure",
            metavar="FILE",
            help="Draw accuracy by depth, or of pareto against cost (png or svg).",
        ),
    ] = None,
    choose: Annotated[
        bool,
        typer.Option("--choose", help="Of each grid, show the settings with the best mean."),
    ] = False,
    records: Records = DEFAULT_RECORDS,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="With all: write tables and figures here."),
    ] = None,
    force: Force = False,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Run the experiment behind a table or figure of the paper, or show it from finished runs.

    Finished runs are kept in the ledger and never trained again. Every number comes with its
    interval, its number of runs and, where the paper reports one, the difference from it. The name
    all, with --no-training, shows every experiment and what is missing.
    """
    if experiment == EVERYTHING:
        of_one: dict[str, Any] = {"--datasets": datasets, "--models": models, "--presets": presets}
        of_one |= {"--columns": columns, "--against": against}
        of_one |= {"--splits": splits, "--inits": inits, "--figure": figure, "--choose": choose}
        of_one |= {"--metric": metric != "accuracy", "--format": style != "text"}
        refuse_beside_all({**of_one, "--choices": campaign.choices, "--timing": campaign.timing})
        reproduce_all(campaign, common, Places(out, records, data_dir, offline), seeded_by)
        return
    _check_combined(common, style, metric, figure, out)
    check_figure(figure, force=force)
    from adagcn.experiments.campaign import load_graphs, load_splits
    from adagcn.experiments.spec_files import load_spec

    spec = _with_columns(load_spec(experiment), columns)
    spec = _with_first(_chosen(spec, datasets, models, presets), against)
    spec = _capped(spec, splits, inits)
    _check_choice(spec, experiment, choose=choose)
    graphs = load_graphs(spec, data_dir=data_dir, offline=offline or None)
    chosen = load_splits(spec, graphs, data_dir=data_dir)
    if metric != "accuracy":
        _check_metric(metric, spec, graphs, chosen)
        spec = spec.model_copy(update={"paper": {}})  # published numbers are accuracies
    _tell_counts(spec, graphs, chosen)
    found = campaign.outcomes(
        spec, graphs, common, seeded_by=seeded_by, splits=chosen, metric=metric
    )
    facts = {"experiment": experiment, "title": spec.title, "splits": spec.splits, "metric": metric}
    if choose:
        _show_choice(spec, found, facts, campaign, common, style)
        return
    panels = None
    if spec.figure == "cost":
        panels = panels_with_costs(found, records, threads=common.threads)
    if figure is not None:
        from adagcn.report.experiment_figures import experiment_figure

        write_figure(figure, experiment_figure(spec.title, found, panels))
    costs = {} if panels is None else {"costs": json_panels(panels)}
    campaign.show(spec, found, {**facts, **costs}, common, style)
    if panels is not None and not common.as_json:
        _print_frontier(panels, style)


def _print_frontier(panels: list[CostPanel], style: str) -> None:
    """Print below the table which systems nobody beats; CSV has no place for sentences."""
    from adagcn.experiments.frontier import frontier_notes

    if style == "csv":
        return
    print()
    for sentence in frontier_notes(panels):
        if style == "text":
            screen().print(sentence, markup=False, highlight=False)
        else:
            print(f"- {sentence}")


def _show_choice(
    spec: Spec,
    found: list[CellOutcome],
    facts: dict[str, str],
    campaign: CampaignOptions,
    common: Common,
    style: Style,
) -> None:
    """Print the settings of each grid with the best mean over all splits."""
    from adagcn.experiments.choice_table import render_choices
    from adagcn.experiments.grid_choice import grid_choices, grid_table, json_grid
    from adagcn.experiments.ledger import Ledger

    cells = [each.cell for each in found]
    with Ledger(campaign.ledger) as ledger:
        results = ledger.results(run for cell in cells for run in cell.runs)
    choices = grid_choices(cells, results)
    if common.as_json:
        print_json({**facts, "grids": json_grid(choices)})
    else:
        print(render_choices(grid_table(spec.title, choices), style, screen().width), end="")


def _check_combined(
    common: Common, style: str, metric: str, figure: Path | None, out: Path | None
) -> None:
    """Refuse options that contradict each other."""
    if out is not None:
        raise InputError(
            "AGC-I2208",
            "--out is the folder of all experiments",
            got=str(out),
            fix="use --figure for the picture of one, and > for its table",
        )
    if common.as_json and style != "text":
        raise InputError(
            "AGC-I903", "--format cannot be combined with --json", got=style, fix="leave one out"
        )
    if figure is not None and metric != "accuracy":
        raise InputError(
            "AGC-I906",
            "--figure draws accuracy, so that --metric cannot be combined with it",
            got=metric,
            fix="leave one of them out",
        )


def _check_choice(spec: Spec, experiment: str, *, choose: bool) -> None:
    """Refuse to choose where there is nothing to choose from, or on final splits."""
    if choose:
        from adagcn.experiments.grid_choice import check_choosable

        check_choosable(spec, experiment)


def _check_metric(metric: Metric, spec: Spec, graphs: Graphs, splits: Splits) -> None:
    """Refuse a measure that has no value on some split."""
    for column in spec.columns:
        for split in splits[column.label]:
            check_measurable(metric, graphs[column.dataset], split)


def _tell_counts(spec: Spec, graphs: Graphs, splits: Splits) -> None:
    """Say how many nodes of each class are trained on where a column takes what there is."""
    from adagcn.experiments.columns import training_counts

    for column in spec.columns:
        if column.at_most or column.n_train is not None:
            least, most = training_counts(graphs[column.dataset], splits[column.label])
            count = f"{least}" if least == most else f"{least} to {most}"
            note(f"{column.label}: {count} training nodes of each class")


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
    used = [column for column in columns if any(spec.has(row, column) for row in rows)]
    return spec.model_copy(update={"columns": used, "rows": rows})


def _with_columns(spec: Spec, text: str | None) -> Spec:
    """Return an experiment with the columns whose name has a text in it."""
    if text is None:
        return spec
    kept = [column for column in spec.columns if text in column.label]
    if not kept:
        raise InputError(
            "AGC-I2211",
            "--columns is in the name of no column",
            got=text,
            fix=f"use a part of one of {', '.join(repr(each.label) for each in spec.columns)}",
        )
    return spec.model_copy(update={"columns": kept})


def _with_first(spec: Spec, label: str | None) -> Spec:
    """Return an experiment with a row moved to the top, which the others are compared with."""
    if label is None:
        return spec
    first = [row for row in spec.rows if row.label == label]
    if not first:
        raise InputError(
            "AGC-I2212",
            "--against is the name of no row",
            got=label,
            fix=f"use one of {', '.join(repr(row.label) for row in spec.rows)}",
        )
    others = [row for row in spec.rows if row.label != label]
    return spec.model_copy(update={"rows": first + others})


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
            "n_splits": min(row.n_splits or spec.n_splits, splits),
            "splits_on": {label: min(n, splits) for label, n in row.splits_on.items()},
            "inits_on": {label: min(count, inits) for label, count in counts.items()},
        }
    )
