"""``adagcn estimate``: what a fit will cost, before it starts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from adagcn.cli.engine_options import EngineOptions
from adagcn.cli.graph_options import GraphOptions, n_bytes, reading_bar
from adagcn.cli.option_words import in_options
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import facts_table, print_json, rows_table, screen
from adagcn.cli.set_option import parse_settings
from adagcn.errors import InputError, ResourceError, counted

if TYPE_CHECKING:
    from adagcn.models.estimates.cheaper import Cheaper
    from adagcn.models.estimates.estimate import Estimate
    from adagcn.models.estimates.file_sizes import FileSizes

_LARGE_BYTES = 64 * 2**20  # of tables: above, they are not held
_COPIES_OF_TABLES = 12  # reading takes 3 to 12 times a file: Parquet is packed more than text
_YES_NO = {True: "yes", False: "no", None: "not known"}


@with_option_groups
def estimate(
    options: GraphOptions,
    engines: EngineOptions,
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
    train_workers: Annotated[
        int,
        typer.Option("--train-workers", metavar="N", min=1, max=256, help="As for adagcn fit."),
    ] = 1,
) -> None:
    """Tell what a fit will take of memory, disk and time, and whether it fits, before it starts.

    Of a data set, an .npz file or a store only headers and labels are read. Tables of more than
    64 MB are read some rows at a time, and their nodes and edges are counted to within a percent;
    smaller ones are read whole. Time is CPU time on one thread, after this machine has been
    measured for about a second. Memory is that of all processes which --workers and --engine start
    on this machine.
    """
    from adagcn.models.estimates.estimate import estimate as estimate_fit
    from adagcn.models.support.registry import model_class

    given = parse_settings(settings or [], model_class(model).settable(), model)
    name = str(options.data if options.edges is None else options.edges)
    if options.edges is not None:  # before tables are read, which may take minutes
        engines.engine_of(name, is_stored=False, also=train_workers)
    graph, default_train, default_stop = _asked_about(options)
    sizes = getattr(graph, "sizes", None)
    is_stored = graph.store is not None if sizes is None else sizes.is_stored
    found = estimate_fit(
        graph,
        model,
        engine=engines.engine_of(name, is_stored=is_stored, also=train_workers),
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
    if options.edges is not None:
        found = _counted_tables(options, options.edges)
    elif options.data is not None and not options.no_features:
        found = sizes_of_data(
            options.data, data_dir=options.data_dir, offline=options.offline or None
        )
    if found is None:
        graph = options.read()
        return graph, *_split_counts(len(graph.labeled_nodes), graph.n_classes, options)
    return found, *_split_counts(found.sizes.n_labeled, found.sizes.n_classes, options)


def _counted_tables(options: GraphOptions, edges: Path) -> FileSizes | None:
    """Return the sizes of large tables, which are not held; None if they may be read whole."""
    from adagcn.models.estimates.table_sizes import sizes_of_tables

    paths = (edges, options.features, options.labels)
    if n_bytes(*paths) <= _LARGE_BYTES:
        return None
    try:
        with reading_bar(edges) as progress:
            return sizes_of_tables(*options.files(edges, progress))
    except InputError as error:
        if error.code != "AGC-I1410":
            raise
        _check_reading(n_bytes(*paths), error.problem)
        return None


def _check_reading(n_bytes: int, reason: str) -> None:
    """Refuse to read tables whole that would not fit into memory."""
    from adagcn.engines.memory import in_gib, tightest_limit

    limit, needed = tightest_limit(), _COPIES_OF_TABLES * n_bytes
    if limit is not None and needed > limit.room:
        raise ResourceError(
            "AGC-R2011",
            f"these tables can be counted in memory only ({in_options(reason)}), which may take "
            f"{in_gib(needed)}; {limit}, of which {in_gib(limit.room)} is left",
            got=f"{n_bytes:,} bytes of tables",
            fix="build a store of them elsewhere, and estimate that",
        )


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
                ("graph", _graph_words(found)),
                ("model", f"{found.model}, preset {found.preset}"),
                ("labels", f"{found.n_train:,} trained on, {found.n_stop:,} stopped on"),
                ("peak memory", _memory_words(found)),
                *([("disk", _disk_words(found))] if found.disk_bytes else []),
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
                _YES_NO[found.has_room_for(each.peak_bytes, each.missing_bytes)],
            ]
            for each in found.cheaper
        ]
        header = ["change", "memory", "CPU time", "fits"]
        console.print(rows_table(header, cheaper, width=console.width))


def _verdict(found: Estimate) -> str:
    """Return whether it fits, and by which numbers; if not, those of what it does not fit into."""
    memory, disk = found.has_room_for(found.peak_bytes), found.fits_on_disk
    reasons = [
        *([_memory_room(found)] if memory is not None and (memory is False or found.fits) else []),
        *([_disk_room(found)] if disk is False else []),
    ]
    return ": ".join([_YES_NO[found.fits], *([" and ".join(reasons)] if reasons else [])])


def _memory_room(found: Estimate) -> str:
    from adagcn.engines.memory import in_gib

    assert found.limit is not None
    more = max(found.peak_bytes - found.held_bytes, 0)
    return f"{in_gib(more)} more than now, of {in_gib(found.limit.room)} left"


def _disk_room(found: Estimate) -> str:
    from adagcn.engines.memory import in_gib

    assert found.free_disk_bytes is not None
    missing, free = in_gib(found.missing_disk_bytes), in_gib(found.free_disk_bytes)
    return f"{missing} to write to the disk, of {free} free"


def _disk_words(found: Estimate) -> str:
    from adagcn.engines.memory import in_gib

    least, most = in_gib(found.disk_bytes), in_gib(found.most_disk_bytes)
    words = f"{least} for hops"
    if least != most:
        words += f", up to {most} where there is room for all of them"
    if found.missing_disk_bytes < found.disk_bytes:
        words += f"; {in_gib(found.disk_bytes - found.missing_disk_bytes)} is there already"
    if found.free_disk_bytes is not None:
        words += f"; {in_gib(found.free_disk_bytes)} is free"
    return words


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
    from adagcn.engines.memory import in_gib

    change = each.change
    if change.to_store:
        return f"adagcn store build, then fit the store ({in_gib(each.disk_bytes)} of disk)"
    if change.narrower:
        return str(change)
    return " ".join(
        f"--preset {value}" if name == "preset" else f"--set {name}={value}"
        for name, value in change.settings.items()
    )


def _memory_words(found: Estimate) -> str:
    """Return the peak of memory, and whose it is."""
    from adagcn.engines.memory import in_gib

    beside = f", with {counted(found.n_workers, 'worker')}" if found.n_workers else ""
    return f"{in_gib(found.peak_bytes)}{beside}"


def _graph_words(found: Estimate) -> str:
    """Return the size of a graph in words."""
    facts = found.graph
    features = counted(facts["features"], "feature") if facts["features"] else "no features"
    words = (
        f"{counted(facts['nodes'], 'node')}, {counted(facts['stored_edges'], 'stored edge')}, "
        f"{features}, {counted(facts['classes'], 'class')}"
    ).replace("classs", "classes")
    return words if found.is_exact else f"about {words} (counted from a sample of their hashes)"
