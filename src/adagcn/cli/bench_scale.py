"""``adagcn bench scale``: fits on growing graphs, and graphs in stores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adagcn.cli.bench_run import BenchOptions, measuring, promising, show
from adagcn.cli.campaign_options import chosen_names
from adagcn.cli.options import Common, with_option_groups


@with_option_groups
def bench_scale(
    options: BenchOptions,
    common: Common,
    axes: Annotated[
        str,
        typer.Option(
            "--axes",
            metavar="A,B|all",
            help="Sizes: nodes, edges, features, labeled, hidden, depth.",
        ),
    ] = "all",
    memory: Annotated[
        bool, typer.Option("--memory/--no-memory", help="Measure peak memory too.")
    ] = True,
    parts: Annotated[
        str,
        typer.Option(
            "--parts",
            metavar="A,B|all",
            help="fits: in memory, by --axes. Of stores: hop (a hop by edges), limit (fit within a "
            "control group's memory), tables (CSV files to predictions), kills (fits, and workers, "
            "that are killed), hosts (Ray on two network namespaces; Linux, as root).",
        ),
    ] = "fits",
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="FILE",
            help="Record the parts of stores here; recorded ones are not repeated.",
        ),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            "--scratch",
            metavar="DIR",
            help="Where stores are made for a while (with --full up to 45 GB).",
            show_default="the system's temporary folder",
        ),
    ] = None,
) -> None:
    """Time fits on generated graphs as one size at a time grows, and estimate exponents.

    With --parts, also graphs in stores: power-law graphs with communities, generated on the disk.
    """
    options.check()
    from adagcn.bench import scale as fits
    from adagcn.bench import stored_hop, stored_runs
    from adagcn.bench.kept_fits import KeptFits

    asked = chosen_names("--axes", axes, fits.AXES)
    wanted = chosen_names("--parts", parts, ("fits", "hop", *stored_runs.PARTS))
    kept = KeptFits(keep)
    seed = common.seed
    with promising(keep), measuring(common) as run:
        if "fits" in wanted:
            plan = options.changed(fits.FULL if options.full else fits.QUICK, memory=memory)
            run.keep(fits.measure_scale(plan, axes=asked, seed=seed, tick=run.tick))
        if "hop" in wanted and not run.interrupted:
            hops = options.changed(stored_hop.FULL if options.full else stored_hop.QUICK)
            run.keep(
                stored_hop.measure_stored_hops(
                    hops, kept=kept, seed=seed, folder=scratch, tick=run.tick
                )
            )
        runs = [part for part in wanted if part in stored_runs.PARTS]
        if runs and not run.interrupted:
            run.keep(
                stored_runs.measure_stored_runs(
                    stored_runs.FULL if options.full else stored_runs.QUICK,
                    parts=runs,
                    kept=kept,
                    seed=seed,
                    folder=scratch,
                    tick=run.tick,
                )
            )
    show("scale", run, options, common, {"parts": wanted})
