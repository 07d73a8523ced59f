"""``adagcn bench``: what AdaGCN costs on this machine, next to the alternatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from adagcn.cli.bench_calibration import bench_calibration
from adagcn.cli.bench_fits import bench_fits
from adagcn.cli.bench_large import bench_large
from adagcn.cli.bench_run import BenchOptions, Datasets, measuring, show
from adagcn.cli.bench_scale import bench_scale
from adagcn.cli.bench_show import bench_show
from adagcn.cli.campaign_options import chosen_names
from adagcn.cli.options import Common, DataDir, Offline, with_option_groups

bench_app = typer.Typer(
    help="Measure speed (ratios within one run, next to the absolute values) and calibration.",
    no_args_is_help=True,
)
bench_app.command("calibration")(bench_calibration)
bench_app.command("fits")(bench_fits)
bench_app.command("large")(bench_large)
bench_app.command("scale")(bench_scale)
bench_app.command("show")(bench_show)


@bench_app.command("speed")
@with_option_groups
def speed(
    options: BenchOptions,
    common: Common,
    datasets: Datasets = None,
    parts: Annotated[
        str,
        typer.Option("--parts", metavar="A,B|all", help="Parts: epoch, layers, fit, wide, depth."),
    ] = "all",
    peers: Annotated[
        str,
        typer.Option("--peers", metavar="A,B|all|none", help="Other libraries' models to include."),
    ] = "all",
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Time epochs, real fits by layer, whole fits, wide layers and depth of AdaGCN and others.

    All models take turns in one process. Our own versions of the other systems come first: they
    are the fair comparison. Peers that are not installed are listed as missing.
    """
    options.check()
    from adagcn.bench import speed_plan
    from adagcn.bench.peers import PEERS, find_peers
    from adagcn.bench.speed import PARTS, measure_speed
    from adagcn.bench.task import load_tasks

    asked = chosen_names("--parts", parts, PARTS)
    rivals = find_peers([] if peers == "none" else chosen_names("--peers", peers, PEERS))
    plan = speed_plan.FULL if options.full else speed_plan.QUICK
    plan = options.changed(plan, peers=tuple(rivals))
    if options.repetitions is not None:
        plan = replace(plan, fits=min(plan.fits, options.repetitions))
    tasks = load_tasks(
        options.names(datasets), seed=common.seed, data_dir=data_dir, offline=offline or None
    )
    with measuring(common) as run:
        run.keep(measure_speed(tasks, plan, parts=asked, tick=run.tick))
    show("speed", run, options, common, {"peers": [peer.key for peer in rivals]})


@bench_app.command("propagation")
@with_option_groups
def propagation(
    options: BenchOptions,
    common: Common,
    datasets: Datasets = None,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Time ways to multiply by Â, against the speed of a memory copy."""
    options.check()
    from adagcn.bench.propagation import FULL, QUICK, measure_propagation
    from adagcn.data import load_graph

    names = options.names(datasets)
    graphs = [load_graph(name, data_dir=data_dir, offline=offline or None) for name in names]
    plan = options.changed(FULL if options.full else QUICK)
    with measuring(common) as run:
        run.keep(measure_propagation(graphs, plan, tick=run.tick))
    show("propagation", run, options, common, {})


@bench_app.command("reading")
@with_option_groups
def reading(
    options: BenchOptions,
    common: Common,
    edges: Annotated[
        int | None,
        typer.Option(
            "--edges", metavar="N", min=10, help="Edges.", show_default="1,000,000; --full 10 times"
        ),
    ] = None,
) -> None:
    """Time the reading of a file of edges with string ids, against pyarrow's reading of it."""
    options.check()
    from adagcn.bench.reading import FULL, QUICK, measure_reading

    asked = {} if edges is None else {"n_edges": edges}
    plan = options.changed(FULL if options.full else QUICK, **asked)
    with measuring(common) as run:
        run.keep(measure_reading(plan, seed=common.seed, tick=run.tick))
    show("reading", run, options, common, {})


@bench_app.command("building")
@with_option_groups
def building(
    options: BenchOptions,
    common: Common,
    edges: Annotated[
        int | None,
        typer.Option(
            "--edges", metavar="N", min=10, help="Edges.", show_default="2,000,000; --full 10 times"
        ),
    ] = None,
) -> None:
    """Time the building of a store out of core, against DuckDB's own sort of the same edges."""
    options.check()
    from adagcn.bench.building import FULL, QUICK, measure_building

    asked = {} if edges is None else {"n_edges": edges}
    plan = options.changed(FULL if options.full else QUICK, **asked)
    with measuring(common) as run:
        run.keep(measure_building(plan, seed=common.seed, tick=run.tick))
    show("building", run, options, common, {})


@bench_app.command("halo")
@with_option_groups
def halo(options: BenchOptions, common: Common) -> None:
    """Count the rows that blocks of nodes need of each other, by the order of the nodes."""
    options.check()
    from adagcn.bench.halo import FULL, QUICK, measure_halos

    plan = options.changed(FULL if options.full else QUICK)
    with measuring(common) as run:
        run.keep(measure_halos(plan, seed=common.seed, tick=run.tick))
    show("halo", run, options, common, {})


@bench_app.command("updates")
@with_option_groups
def updates(
    options: BenchOptions,
    common: Common,
    edges: Annotated[
        int | None,
        typer.Option(
            "--edges", metavar="N", min=10_000, help="Edges.", show_default="1,000,000; --full 10 ×"
        ),
    ] = None,
    homophily: Annotated[
        float | None,
        typer.Option(
            "--homophily",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Share of the edges that stay in their community.",
            show_default="0.999",
        ),
    ] = None,
) -> None:
    """Time hops of a graph with 0.1 % more edges, from kept hops and anew, in memory and a store.

    Which share of the rows is computed again is shown for each hop, for new edges inside one of 64
    communities and for scattered ones.
    """
    options.check()
    from adagcn.bench.updates import FULL, QUICK, measure_updates

    asked: dict[str, Any] = {} if edges is None else {"n_edges": edges}
    asked |= {} if homophily is None else {"homophily": homophily}
    plan = options.changed(FULL if options.full else QUICK, **asked)
    with measuring(common) as run:
        run.keep(measure_updates(plan, seed=common.seed, tick=run.tick))
    show("updates", run, options, common, {})


@bench_app.command("estimates")
@with_option_groups
def estimates(
    options: BenchOptions,
    common: Common,
    cases: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="NAME",
            help="A case by the name that is shown; may repeat.",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Compare the memory, disk and time that adagcn estimate tells with those of real fits."""
    options.check()
    options.refuse_sizes("every case has one size and is fitted once")
    from adagcn.bench.estimate_cases import CASES, cases_named
    from adagcn.bench.estimates import EstimatesPlan, measure_estimates

    plan = EstimatesPlan(cases_named(cases) if cases else CASES)
    with measuring(common) as run:
        run.keep(measure_estimates(plan, seed=common.seed, tick=run.tick))
    show("estimates", run, options, common, {})


@bench_app.command("start")
@with_option_groups
def start(options: BenchOptions, common: Common) -> None:
    """Time the import of adagcn in a fresh process, and that of torch and scikit-learn alone."""
    options.check()
    from adagcn.bench.start import FULL, QUICK, measure_start

    plan = options.changed(FULL if options.full else QUICK)
    with measuring(common) as run:
        run.keep(measure_start(plan, tick=run.tick))
    show("start", run, options, common, {})
