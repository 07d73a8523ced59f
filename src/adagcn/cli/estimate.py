"""``adagcn estimate``: what a fit will cost, before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.graph_options import GraphOptions
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import facts_table, print_json, rows_table, screen
from adagcn.cli.set_option import parse_settings
from adagcn.errors import counted

if TYPE_CHECKING:
    from adagcn.models.estimates.estimate import Estimate


@with_option_groups
def estimate(
    options: GraphOptions,
    common: Common,
    model: Annotated[
        str, typer.Option("--model", help="adagcn, gcn, appnp, …; as for adagcn fit.")
    ] = "adagcn",
    preset: Annotated[
        str | None,
        typer.Option("--preset", help="As for adagcn fit.", show_default="the model's own"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A hyper-parameter; repeat for more, as for fit."
        ),
    ] = None,
    train: Annotated[
        int | None,
        typer.Option(
            "--train",
            metavar="N",
            min=1,
            help="Nodes that will be trained on.",
            show_default="as adagcn fit splits the labels",
        ),
    ] = None,
    stop: Annotated[
        int | None,
        typer.Option(
            "--stop",
            metavar="N",
            min=0,
            help="Nodes that will be stopped on.",
            show_default="as adagcn fit splits the labels",
        ),
    ] = None,
) -> None:
    """Tell how much memory a fit will take, and whether it fits, before anything is computed."""
    from adagcn.models.estimates.estimate import estimate as estimate_fit
    from adagcn.models.support.registry import model_class

    given = parse_settings(settings or [], model_class(model).settable(), model)
    graph = options.read()
    found = estimate_fit(graph, model, preset=preset, settings=given, n_train=train, n_stop=stop)
    if common.as_json:
        print_json(found.to_dict())
        return
    _show(found)


def _show(found: Estimate) -> None:
    from adagcn.engines.memory import in_gib

    console = screen()
    console.print(
        facts_table(
            [
                ("graph", _graph_words(found.graph)),
                ("model", f"{found.model}, preset {found.preset}"),
                ("labels", f"{found.n_train:,} trained on, {found.n_stop:,} stopped on"),
                ("peak memory", in_gib(found.peak_bytes)),
                ("limit", "not known" if found.limit is None else str(found.limit)),
                ("fits", {True: "yes", False: "no", None: "not known"}[found.fits]),
            ]
        )
    )
    console.print()
    rows = [[phase.name, in_gib(phase.n_bytes), phase.what] for phase in found.phases]
    console.print(rows_table(["phase", "memory", "at its peak"], rows, width=console.width))


def _graph_words(facts: Any) -> str:
    """Return the size of a graph in words."""
    features = counted(facts["features"], "feature") if facts["features"] else "no features"
    return (
        f"{counted(facts['nodes'], 'node')}, {counted(facts['stored_edges'], 'stored edge')}, "
        f"{features}, {counted(facts['classes'], 'class')}"
    ).replace("classs", "classes")
