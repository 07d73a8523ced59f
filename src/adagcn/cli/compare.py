"""``adagcn compare``: several models on one graph, under one protocol."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.campaign_options import CampaignOptions, check_figure, chosen_names
from adagcn.cli.graph_options import GraphOptions, graph_facts, reading_rows
from adagcn.cli.options import ClassWeight, Common, Force, with_option_groups
from adagcn.cli.output import facts_table, note, screen, write_figure
from adagcn.cli.set_option import class_weight_setting, parse_settings
from adagcn.cli.split_options import (
    SplitOptions,
    check_measurable,
    counts_in_words,
    label_counts,
    refuse_validation_fraction,
)
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.data import Split
    from adagcn.experiments.outcome import CellOutcome
    from adagcn.graph import Graph


@with_option_groups
def compare(
    options: GraphOptions,
    parts: SplitOptions,
    campaign: CampaignOptions,
    common: Common,
    models: Annotated[
        str,
        typer.Option("--models", metavar="A,B|all", help="Models; the first is the reference."),
    ] = "adagcn,mlp,logistic",
    presets: Annotated[
        str | None,
        typer.Option(
            "--presets",
            metavar="P,Q|all",
            help="Presets to try with every model that has them.",
            show_default="adaptive for adagcn, each other model's own",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            "--splits",
            metavar="N",
            min=1,
            help="Number of splits: the one of --split and those with the next numbers.",
            show_default="5, or as many as a file has",
        ),
    ] = None,
    inits: Annotated[
        int,
        typer.Option("--inits", metavar="N", min=1, help="Fits per split, seeded from --seed up."),
    ] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[MODEL.]KEY=VALUE",
            help="A hyper-parameter of all models or of one; may be repeated.",
        ),
    ] = None,
    class_weight: ClassWeight = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw the table (png or svg).")
    ] = None,
    force: Force = False,
) -> None:
    """Compare models on validation splits of a data set, or on your own graph.

    Every model sees the same splits (val:0 … of a named data set, holdout:0 … of your own graph)
    and the same seeds. Finished runs are kept in the ledger and never trained again.
    """
    check_figure(figure, force=force)
    from adagcn.experiments.spec_files import make_spec
    from adagcn.models.support.measures import METRICS
    from adagcn.models.support.registry import MODELS

    keys = chosen_names("--models", models, MODELS)
    recipes = _recipes(keys, presets)
    given = _settings(keys, settings or [], class_weight)
    graph = options.read_labeled()
    name = graph.name or Path(str(options.edges)).name  # no path: it ends up in exports
    chosen = parts.make_several(graph, options, splits)
    for split in chosen:
        check_measurable(parts.metric, graph, split)
    kind = chosen[0].name.partition(":")[0]
    weighed = ", class weight balanced" if class_weight == "balanced" else ""
    rows = [
        {
            "label": key if len(recipes[key]) == 1 else f"{key} ({preset})",
            "model": key,
            "preset": preset,
            "settings": given[key],
        }
        for key in keys
        for preset in recipes[key]
    ]
    protocol = {"splits": kind, "n_splits": len(chosen), "n_inits": inits}
    column = {"label": name, "dataset": name, "train_per_class": parts.train_per_class}
    spec = make_spec(
        {
            "title": f"{name}: {METRICS[parts.metric]} on {kind} splits{weighed}",
            "columns": [column],
            "rows": rows,
            **protocol,
        },
        "compare",
    )
    found = campaign.outcomes(
        spec, {name: graph}, common, splits={name: chosen}, metric=parts.metric
    )
    _tell_uneven(graph, chosen, found, parts.metric)
    if figure is not None:
        from adagcn.report.experiment_figures import compared_models, comparison_figure

        rows_drawn, measure = compared_models(found), METRICS[parts.metric]
        write_figure(figure, comparison_figure(rows_drawn, title=spec.title, measure=measure))
    labels = {split.name: label_counts(graph, split) for split in chosen}
    facts = {"dataset": name, "graph": graph_facts(graph), **protocol}
    facts |= {"metric": parts.metric, "labels": labels}
    campaign.show(spec, found, facts, common)
    if not common.as_json:
        if not options.is_named:
            screen().print()
            screen().print(facts_table([("graph", repr(graph)), *reading_rows(graph)]))
        _show_labels(labels)


def _tell_uneven(graph: Graph, splits: list[Split], found: list[CellOutcome], metric: str) -> None:
    """Say so if the classes of a split have very different numbers of labels to train on."""
    from adagcn.cli.scores import class_sizes, uneven_note

    sizes = [class_sizes(graph.labels[split.train_nodes]) for split in splits]
    told = uneven_note(
        max(sizes, key=lambda pair: pair[0] / max(pair[1], 1)),
        {each.cell.row.label: _balanced_accuracy(each) for each in found},
        asked=metric == "balanced_accuracy",
        weighed=all("class_weight" in each.cell.row.settings for each in found),
    )
    if told is not None:
        note(told)


def _balanced_accuracy(each: CellOutcome) -> float | None:
    """Return the mean over runs; None where a run of an earlier release lacks it."""
    scores = [result.score("balanced_accuracy") for _, result in each.finished]
    known = [score for score in scores if score is not None]
    return fmean(known) if known and len(known) == len(scores) else None


def _show_labels(labels: dict[str, dict[str, int]]) -> None:
    """Print how many labels are used for what, on one line for equal splits."""
    names: dict[str, list[str]] = {}
    for name, counts in labels.items():
        names.setdefault(counts_in_words(counts), []).append(name)
    for words, splits in names.items():
        which = splits[0] if len(splits) == 1 else f"{splits[0]} … {splits[-1]}"
        screen().print(f"Labels of {which}: {words}.", soft_wrap=True)


def _recipes(models: list[str], text: str | None) -> dict[str, list[str]]:
    """Return the presets to try each model with; refuse a model that has none of them."""
    from adagcn.models.support.registry import default_preset, presets_of

    if text is None:
        return {model: [default_preset(model)] for model in models}
    there = {model: presets_of(model) for model in models}
    known = list(dict.fromkeys(name for names in there.values() for name in names))
    asked = chosen_names("--presets", text, known)
    found = {model: [name for name in asked if name in there[model]] for model in models}
    for model, names in found.items():
        if not names:
            fix = f"add one of its presets ({', '.join(there[model])}) or leave {model} out"
            raise InputError("AGC-I1030", f"--presets has none for {model}", got=text, fix=fix)
    return found


def _settings(
    models: list[str], pairs: list[str], class_weight: str | None
) -> dict[str, dict[str, Any]]:
    """Return the settings of each model; one without a model's name must suit all models."""
    from adagcn.experiments.spec import settings_of

    names = {model: settings_of(model) for model in models}
    common = set.intersection(*names.values())
    own = {f"{model}.{name}" for model in models for name in names[model]}
    given = parse_settings(pairs, common | own)
    given |= class_weight_setting(class_weight, given, names)
    refuse_validation_fraction({name.rpartition(".")[2]: value for name, value in given.items()})
    return {
        model: {
            **{name: value for name, value in given.items() if "." not in name},
            **{
                name.removeprefix(f"{model}."): value
                for name, value in given.items()
                if name.startswith(f"{model}.")
            },
        }
        for model in models
    }
