"""What every ``adagcn bench`` command shares: its options, the measuring, and what is shown."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.bench_table import print_machine, print_sections
from adagcn.cli.campaign_options import check_figure
from adagcn.cli.options import Common, Force
from adagcn.cli.output import note, print_json, screen, steps_bar, write_figure
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.bench.machine import Noise
    from adagcn.bench.measures import Section

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
class BenchRun:
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


@contextmanager
def promising(keep: Path | None) -> Iterator[None]:
    """Tell the user that recorded fits are not lost when a measurement ends early."""
    try:
        yield
    except BaseException:
        if keep is not None:
            note(f"finished fits are in {keep}; repeat the command to continue")
        raise


@contextmanager
def measuring(common: Common) -> Iterator[BenchRun]:
    """Keep to the threads asked for, show progress, and calibrate before and after."""
    from adagcn.bench.machine import calibrate, noise
    from adagcn.engines.threads import threads

    with threads(common.threads), steps_bar("measuring", None) as tick:
        run = BenchRun(tick)
        before = calibrate()
        yield run
        run.noise = noise(before, calibrate())


def show(
    benchmark: str, run: BenchRun, options: BenchOptions, common: Common, more: dict[str, Any]
) -> None:
    """Draw, and print one JSON object or tables."""
    from adagcn.bench.machine import machine, versions
    from adagcn.experiments.provenance import code_commit

    if options.figure is not None:
        from adagcn.report.bench_figure import bench_figure

        write_figure(options.figure, bench_figure(run.sections))
    assert run.noise is not None  # set on the way out of measuring
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
        console = screen()
        print_sections(run.sections, console)
        print_machine(facts, run.noise, console)
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
