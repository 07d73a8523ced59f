"""``adagcn fit``: train a model and save it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.graph_options import GraphOptions, graph_facts
from adagcn.cli.options import Common, Force, with_option_groups
from adagcn.cli.output import (
    check_out,
    facts_table,
    percent,
    print_json,
    rows_table,
    screen,
)
from adagcn.cli.set_option import parse_settings
from adagcn.errors import counted

if TYPE_CHECKING:
    from adagcn.graph import Graph
    from adagcn.models.support.classifier import NodeClassifier

# Without a split there are no stopping nodes; this share of the labels stands in for them.
_STOPPING_SHARE = 0.2


@with_option_groups
def fit(
    options: GraphOptions,
    common: Common,
    model: Annotated[
        str,
        typer.Option("--model", help="adagcn, appnp, gcn, …; an unknown name lists all models."),
    ] = "adagcn",
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            help="val:0 to val:19, stratified:SEED, public, or none (score nothing; train on four "
            "fifths of the labels, stop on the rest); test:0 to test:19 are for final tables only.",
            show_default="val:0; stratified:0 for your own graph",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="adagcn, adasgc, mlp, logistic: tuned, boosted, unweighted, paper or released; "
            "other models: paper or authors.",
            show_default="tuned; paper for other models",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A hyper-parameter, such as --set variant.stop_on=accuracy; repeat for more.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to save the model.")
    ] = None,
    force: Force = False,
) -> None:
    """Train a model on a data set, an .npz file or your own tables.

    Accuracy is measured on the scored nodes of the split, which are never trained on.
    """
    check_out(out, force=force)

    from adagcn.cli.training_run import run_training
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import build_model, default_preset, model_class

    family = model_class(model)
    preset = preset or default_preset(model)
    name = split or options.default_split()
    given = _settings(family, settings or [], name)
    with threads(common.threads):
        graph = options.read_labeled()
        chosen = None if name == "none" else options.split(graph, name)
        seed = common.seed
        estimator = build_model(model, graph, preset=preset, settings=given, random_state=seed)
        run = run_training(estimator, graph, chosen)
    if out is not None:
        run.model.save(out)
    facts = {
        **run.facts(),
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "seed": common.seed,
        "threads": common.threads,
        "out": out,
    }
    if common.as_json:
        print_json(facts)
    else:
        _show(facts, graph, options)


def _settings(family: type[NodeClassifier], pairs: list[str], split: str) -> dict[str, Any]:
    given = parse_settings(pairs, family.settable(), family.model_key)
    if split == "none":
        given.setdefault("validation_fraction", _STOPPING_SHARE)
    return given


def _show(facts: dict[str, Any], graph: Graph, options: GraphOptions) -> None:
    console = screen()
    accuracy, stop_accuracy = facts["accuracy"], facts["stop_accuracy"]
    console.print(
        facts_table(
            [
                ("graph", repr(graph)),
                *([("read", "; ".join(graph.changes))] if options.data is None else []),
                ("model", f"{facts['model']}, preset {facts['preset']}, seed {facts['seed']}"),
                ("split", facts["split"]),
                ("labels", _label_counts(facts["labels"])),
                ("accuracy", "not measured (no split)" if accuracy is None else percent(accuracy)),
                ("on stop nodes", "none" if stop_accuracy is None else percent(stop_accuracy)),
                ("training", _amount(facts)),
                ("time", f"{facts['seconds']:.1f} s, threads: {facts['threads']}"),
                ("digest", facts["model_digest"][:16]),
                ("model file", str(facts["out"] or "not saved (add --out model.adagcn)")),
            ]
        )
    )
    if facts["effective_sample_size"] is not None:
        console.print()
        console.print(_layers_table(facts, console.width))
    if facts["out"] is not None:
        console.print()
        console.print(f"Next: adagcn predict {facts['out']} {options.words()}", soft_wrap=True)


def _label_counts(labels: dict[str, int]) -> str:
    used = f"{labels['train']:,} trained on, {labels['stop']:,} stopped on, "
    return f"{labels['known']:,}: {used}{labels['score']:,} scored"


def _amount(facts: dict[str, Any]) -> str:
    if facts["effective_sample_size"] is None:
        return counted(facts["epochs"], "epoch")
    return f"{counted(facts['n_layers'], 'layer')}, {counted(facts['epochs'], 'epoch')}"


def _layers_table(facts: dict[str, Any], width: int) -> Any:
    by_depth = facts["accuracy_by_depth"] or [None] * facts["n_layers"]
    rows = [
        [
            str(hop),
            "-" if epochs is None else f"{epochs:,}",
            f"{100 * share:.0f} %",
            "-" if accuracy is None else percent(accuracy),
        ]
        for hop, (epochs, share, accuracy) in enumerate(
            zip(facts["epochs_by_layer"], facts["effective_sample_size"], by_depth, strict=True)
        )
    ]
    return rows_table(["hop", "epochs", "effective sample", "accuracy so far"], rows, width=width)
