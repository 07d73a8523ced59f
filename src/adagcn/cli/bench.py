"""``adagcn bench``: what AdaGCN costs on this machine, next to the alternatives."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.bench_calibration import bench_calibration
from adagcn.cli.bench_fits import bench_fits
from adagcn.cli.bench_show import bench_show
from adagcn.cli.bench_table import print_tables
from adagcn.cli.campaign_options import check_figure, chosen_names
from adagcn.cli.options import Common, DataDir, Force, Offline, with_option_groups
from adagcn.cli.output import note, print_json, screen, steps_bar, write_figure
from adagcn.cli.set_option import parse_settings
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.bench.machine import Noise
    from adagcn.bench.measures import Section

bench_app = typer.Typer(
    help="Measure speed (ratios within one run, next to the absolute values) and calibration.",
    no_args_is_help=True,
)
bench_app.command("calibration")(bench_calibration)
bench_app.command("fits")(bench_fits)
bench_app.command("show")(bench_show)

PACKAGED = "cora"
FOUR = "citeseer,cora_ml,pubmed,ms_academic"  # the paper's

Datasets = Annotated[
    str | None,
    typer.Option(
        "--datasets",
        metavar="A,B",
        help="Data sets or .npz files.",
        show_default=f"{PACKAGED}; with --full {FOUR}",
    ),
]


@dataclass(frozen=True)
class BenchOptions:
    """What every benchmark takes."""

    full: Annotated[
        bool, typer.Option("--full", help="Measure longer, on the paper's data sets or sizes.")
    ] = False
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions",
            metavar="N",
            min=1,
            help="Samples per row.",
            show_default="depends on --full",
        ),
    ] = None
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw the results (png or svg).")
    ] = None
    force: Force = False

    def check(self) -> None:
        """Refuse a figure that could not be written, before anything is measured."""
        check_figure(self.figure, force=self.force)

    def refuse_sizes(self, why: str) -> None:
        """Refuse --full and --repetitions where they would do nothing."""
        given = {"--full": self.full, "--repetitions": self.repetitions is not None}
        names = [name for name, is_given in given.items() if is_given]
        if names:
            problem = f"{' and '.join(names)} would do nothing: {why}"
            raise InputError("AGC-I1215", problem, fix="leave it out")

    def changed(self, plan: Any, **more: Any) -> Any:
        """Return the plan with the changes that were asked for."""
        asked = {} if self.repetitions is None else {"repetitions": self.repetitions}
        return replace(plan, **asked, **more)

    def names(self, datasets: str | None) -> list[str]:
        """Return the data sets to measure on."""
        text = datasets or (FOUR if self.full else PACKAGED)
        return [name.strip() for name in text.split(",")]


@dataclass
class _Run:
    """One benchmark under way."""

    tick: Callable[[], None]
    sections: list[Section] = field(default_factory=list)
    noise: Noise | None = None
    interrupted: bool = False

    def keep(self, sections: Iterator[Section]) -> None:
        """Measure; after an interrupt, continue with the finished sections, if there are any."""
        try:
            for section in sections:
                self.sections.append(section)
        except KeyboardInterrupt:
            if not self.sections:
                raise
            self.interrupted = True


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
    with _measuring(common) as run:
        run.keep(measure_speed(tasks, plan, parts=asked, tick=run.tick))
    _show("speed", run, options, common, {"peers": [peer.key for peer in rivals]})


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
    with _measuring(common) as run:
        run.keep(measure_propagation(graphs, plan, tick=run.tick))
    _show("propagation", run, options, common, {})


@bench_app.command("scale")
@with_option_groups
def scale(
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
    with _promising(keep), _measuring(common) as run:
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
    _show("scale", run, options, common, {"parts": wanted})


@bench_app.command("large")
@with_option_groups
def large(
    options: BenchOptions,
    common: Common,
    epochs: Annotated[
        str,
        typer.Option(
            "--epochs",
            metavar="A,B|all|none",
            help="Time an epoch of these: adagcn, gcn, appnp, ppnp.",
        ),
    ] = "all",
    fits: Annotated[
        str,
        typer.Option(
            "--fits",
            metavar="A,B|all|none",
            help="Time whole fits of these, or of adagcn_auto (finds its own depth), "
            "adagcn_adaptive, adagcn_instant, gcn_es (PPNP's stopping rule) and sgc.",
        ),
    ] = "all",
    runs: Annotated[
        int,
        typer.Option(
            "--runs", metavar="N", min=1, help="Whole fits of each, with different seeds."
        ),
    ] = 1,
    max_epochs: Annotated[
        int | None,
        typer.Option(
            "--max-epochs",
            metavar="N",
            min=1,
            help="Maximum epochs of a whole fit.",
            show_default="depends on --full",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SYSTEM.KEY=VALUE",
            help="A setting of one system in its whole fits, as in gcn_es.hidden_units=64; may "
            "repeat.",
        ),
    ] = None,
    memory: Annotated[
        bool, typer.Option("--memory/--no-memory", help="Measure peak memory too.")
    ] = True,
    hops: Annotated[
        bool, typer.Option("--hops", help="Also time ways to propagate a hop.")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="FILE",
            help="Record whole fits here; recorded fits are not repeated.",
        ),
    ] = None,
) -> None:
    """Time epochs and fits on a generated graph; with --full it is as large as Reddit.

    At that size a whole fit of APPNP or PPNP takes twenty minutes: leave them out with --fits
    adagcn,adagcn_auto,gcn, or use --keep to stop and continue later.
    """
    options.check()
    from adagcn.bench.kept_fits import KeptFits
    from adagcn.bench.large import FITTED, FULL, QUICK, SYSTEMS, measure_large

    timed = [] if epochs == "none" else chosen_names("--epochs", epochs, SYSTEMS)
    fitted = [] if fits == "none" else chosen_names("--fits", fits, FITTED)
    asked: dict[str, Any] = {} if max_epochs is None else {"max_epochs": max_epochs}
    asked["settings"] = _by_system(settings or [], fitted)
    plan = options.changed(
        FULL if options.full else QUICK, memory=memory, hops=hops, fits=runs, **asked
    )
    kept = KeptFits(keep)
    with _promising(keep), _measuring(common) as run:
        run.keep(
            measure_large(
                plan, timed=timed, fitted=fitted, kept=kept, seed=common.seed, tick=run.tick
            )
        )
    _show("large", run, options, common, {"epochs": timed, "fits": fitted})


def _by_system(pairs: list[str], fitted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings of each system that is fitted, of pairs such as sgc.n_layers=2."""
    from adagcn.bench.large import model_of
    from adagcn.models.support.registry import model_class

    allowed = {f"{key}.{name}" for key in fitted for name in model_class(model_of(key)).settable()}
    found: dict[str, dict[str, Any]] = {}
    for words, value in parse_settings(pairs, allowed, "bench large").items():
        key, _, name = words.partition(".")
        found.setdefault(key, {})[name] = value
    return found


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
    with _measuring(common) as run:
        run.keep(measure_reading(plan, seed=common.seed, tick=run.tick))
    _show("reading", run, options, common, {})


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
    with _measuring(common) as run:
        run.keep(measure_building(plan, seed=common.seed, tick=run.tick))
    _show("building", run, options, common, {})


@bench_app.command("halo")
@with_option_groups
def halo(options: BenchOptions, common: Common) -> None:
    """Count the rows that blocks of nodes need of each other, by the order of the nodes."""
    options.check()
    from adagcn.bench.halo import FULL, QUICK, measure_halos

    plan = options.changed(FULL if options.full else QUICK)
    with _measuring(common) as run:
        run.keep(measure_halos(plan, seed=common.seed, tick=run.tick))
    _show("halo", run, options, common, {})


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
    with _measuring(common) as run:
        run.keep(measure_updates(plan, seed=common.seed, tick=run.tick))
    _show("updates", run, options, common, {})


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
    with _measuring(common) as run:
        run.keep(measure_estimates(plan, seed=common.seed, tick=run.tick))
    _show("estimates", run, options, common, {})


@bench_app.command("start")
@with_option_groups
def start(options: BenchOptions, common: Common) -> None:
    """Time the import of adagcn in a fresh process, and that of torch and scikit-learn alone."""
    options.check()
    from adagcn.bench.start import FULL, QUICK, measure_start

    plan = options.changed(FULL if options.full else QUICK)
    with _measuring(common) as run:
        run.keep(measure_start(plan, tick=run.tick))
    _show("start", run, options, common, {})


@contextmanager
def _promising(keep: Path | None) -> Iterator[None]:
    """Tell the user that recorded fits are not lost when a measurement ends early."""
    try:
        yield
    except BaseException:
        if keep is not None:
            note(f"finished fits are in {keep}; repeat the command to continue")
        raise


@contextmanager
def _measuring(common: Common) -> Iterator[_Run]:
    """Keep to the threads asked for, show progress, and calibrate before and after."""
    from adagcn.bench.machine import calibrate, noise
    from adagcn.engines.threads import threads

    with threads(common.threads), steps_bar("measuring", None) as tick:
        run = _Run(tick)
        before = calibrate()
        yield run
        run.noise = noise(before, calibrate())


def _show(
    benchmark: str, run: _Run, options: BenchOptions, common: Common, more: dict[str, Any]
) -> None:
    """Draw, and print one JSON object or tables."""
    from adagcn.bench.machine import machine, versions
    from adagcn.experiments.provenance import code_commit

    if options.figure is not None:
        from adagcn.report.bench_figure import bench_figure

        write_figure(options.figure, bench_figure(run.sections))
    assert run.noise is not None  # set on the way out of _measuring
    _warn(run.noise, run.sections)
    facts = {
        "benchmark": benchmark,
        "full": options.full,
        "threads": common.threads,
        "seed": common.seed,
        "interrupted": run.interrupted,
        **more,
        "machine": machine(),
        "versions": {**versions(), "commit": code_commit()},
        "noise": {**asdict(run.noise), "is_quiet": run.noise.is_quiet},
    }
    if common.as_json:
        print_json({**facts, "sections": [asdict(section) for section in run.sections]})
    else:
        print_tables(facts, run.sections, run.noise, screen())
    if run.interrupted:
        note("interrupted: only finished sections are shown")
        raise typer.Exit(128 + signal.SIGINT)


def _warn(noise: Noise, sections: Sequence[Section]) -> None:
    """Warn about figures that should not be quoted."""
    if not noise.is_quiet:
        note(
            f"the machine was busy (drift {noise.drift:.2f}, spread {noise.spread:.0%}): "
            "do not quote these figures; measure again when it is idle"
        )
    for section in sections:
        if not section.facts.get("plausible", True):
            note(f"{section.dataset}: an epoch faster than its own products is noise, not speed")
