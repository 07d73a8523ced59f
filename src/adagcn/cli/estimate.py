"""``adagcn estimate``: what a fit will cost, before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from adagcn.cli.graph_options import GraphOptions
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import facts_table, print_json, rows_table, screen
from adagcn.cli.set_option import parse_settings
from adagcn.errors import counted

if TYPE_CHECKING:
    from adagcn.models.estimates.cheaper import Cheaper
    from adagcn.models.estimates.estimate import Estimate

_YES_NO = {True: "yes", False: "no", None: "not known"}


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
    """Tell what a fit will take of memory, disk and time, and whether it fits, before it starts.

    Of a data set, an .npz file or a store only headers and labels are read; tables are read whole,
    since their nodes and edges must be counted. Time is CPU time on one thread, after this machine
    has been measured for about a second.
    """
    from adagcn.models.estimates.estimate import estimate as estimate_fit
    from adagcn.models.support.registry import model_class

    given = parse_settings(settings or [], model_class(model).settable(), model)
    graph, default_train, default_stop = _asked_about(options)
    found = estimate_fit(
        graph,
        model,
        preset=preset,
        settings=given,
        n_train=default_train if train is None else train,
        n_stop=default_stop if stop is None else stop,
        timed=True,
    )
    if common.as_json:
        print_json(found.to_dict())
        return
    _show(found)


def _asked_about(options: GraphOptions) -> tuple[Any, int | None, int | None]:
    """Return the graph or its sizes, and how many labels ``adagcn fit`` trains and stops on."""
    from adagcn.models.estimates.file_sizes import sizes_of_data

    options.check()
    found: Any = None
    if options.data is not None and not options.no_features:
        found = sizes_of_data(
            options.data, data_dir=options.data_dir, offline=options.offline or None
        )
    if found is None:
        graph = options.read()
        return graph, *_split_counts(len(graph.labeled_nodes), graph.n_classes, options)
    return found, *_split_counts(found.sizes.n_labeled, found.sizes.n_classes, options)


def _split_counts(
    n_labeled: int, n_classes: int, options: GraphOptions
) -> tuple[int | None, int | None]:
    """Return the labels that are trained and stopped on by the split that ``fit`` makes."""
    from adagcn.data.holdout import SCORE_SHARE, STOP_SHARE

    if options.is_named:  # val:0, the paper's protocol
        return 20 * n_classes, 500
    if not n_labeled:
        return None, None
    seen = (1.0 - SCORE_SHARE) * n_labeled
    return max(round((1.0 - STOP_SHARE) * seen), 1), round(STOP_SHARE * seen)


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
                *([("disk", f"{in_gib(found.disk_bytes)} for hops")] if found.disk_bytes else []),
                ("CPU time", _time_words(found)),
                ("limit", "not known" if found.limit is None else str(found.limit)),
                ("fits", _verdict(found)),
            ]
        )
    )
    console.print()
    rows = [
        [phase.name, in_gib(phase.n_bytes), _seconds(found.seconds, phase.name), phase.what]
        for phase in found.phases
    ]
    header = ["phase", "memory", "CPU time", "at its peak"]
    console.print(rows_table(header, rows, width=console.width))
    if found.cheaper:
        console.print()
        console.print(Text("Cheaper", style="bold"))
        cheaper = [
            [
                _as_option(each),
                in_gib(each.peak_bytes),
                "–" if each.seconds is None else in_time(each.seconds),
                _YES_NO[found.has_room_for(each.peak_bytes)],
            ]
            for each in found.cheaper
        ]
        header = ["change", "memory", "CPU time", "fits"]
        console.print(rows_table(header, cheaper, width=console.width))


def _verdict(found: Estimate) -> str:
    from adagcn.engines.memory import in_gib

    if found.limit is None:
        return _YES_NO[None]
    more = max(found.peak_bytes - found.held_bytes, 0)
    return (
        f"{_YES_NO[found.fits]}: {in_gib(more)} more than now, of {in_gib(found.limit.room)} left"
    )


def _time_words(found: Estimate) -> str:
    if found.fit_seconds is None or found.most_seconds is None:
        return f"not known for {found.model}"
    expected, most = in_time(found.fit_seconds), in_time(found.most_seconds)
    if expected == most:
        return f"about {expected} for the fit"
    return f"about {expected} for the fit, {most} if no layer stops early"


def _seconds(seconds: Any, phase: str) -> str:
    return "–" if seconds is None or phase not in seconds else in_time(seconds[phase])


def in_time(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> in_time(0.234), in_time(75), in_time(7200)
    ('0.2 s', '75 s', '2.0 h')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _as_option(each: Cheaper) -> str:
    """Return a change as one types it."""
    change = each.change
    if change.to_store:
        return "adagcn store build, then fit the store"
    if change.narrower:
        return str(change)
    return " ".join(
        f"--preset {value}" if name == "preset" else f"--set {name}={value}"
        for name, value in change.settings.items()
    )


def _graph_words(facts: Any) -> str:
    """Return the size of a graph in words."""
    features = counted(facts["features"], "feature") if facts["features"] else "no features"
    return (
        f"{counted(facts['nodes'], 'node')}, {counted(facts['stored_edges'], 'stored edge')}, "
        f"{features}, {counted(facts['classes'], 'class')}"
    ).replace("classs", "classes")
