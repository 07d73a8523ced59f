"""``adagcn bench show``: tables and figure of a measurement that ``--json`` has recorded."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.bench_table import print_machine, print_sections
from adagcn.cli.campaign_options import check_figure
from adagcn.cli.options import Common, Force, with_option_groups
from adagcn.cli.output import print_json, screen, write_figure
from adagcn.errors import FormatError, InputError, ResourceError

if TYPE_CHECKING:
    from adagcn.bench.machine import Noise
    from adagcn.bench.measures import Section

_WIDTH = 88  # of a record's tables in a file


@dataclass(frozen=True)
class Measurement:
    """What a command such as ``adagcn bench speed`` has measured.

    Parameters
    ----------
    facts : dict
        What was asked for, the machine and the versions.
    sections : list of Section
        What was measured.
    noise : Noise
        How quiet the machine was.
    """

    facts: dict[str, Any]
    sections: list[Section]
    noise: Noise


@with_option_groups
def bench_show(
    record: Annotated[
        Path, typer.Argument(metavar="FILE", help="What adagcn bench … --json has printed.")
    ],
    common: Common,
    section: Annotated[
        str | None,
        typer.Option(
            "--section",
            metavar="WORDS",
            help="Only sections whose title holds these words.",
            show_default="all",
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw them (png or svg).")
    ] = None,
    force: Force = False,
) -> None:
    """Print the tables of a measurement that was recorded before, and draw its figure.

    Such a record is what a benchmark prints with --json, kept in a file: adagcn bench updates
    --json > updates.json.
    """
    check_figure(figure, force=force)
    found = read_measurement(record)
    chosen = _chosen(found, section)
    if figure is not None:
        from adagcn.report.bench_figure import bench_figure

        write_figure(figure, bench_figure(chosen))
    if common.as_json:
        titles = [f"{each.dataset}: {each.title}" for each in chosen]
        print_json({**found.facts, "sections": titles})
        return
    console = screen()
    print_sections(chosen, console)
    print_machine(found.facts, found.noise, console)


def _chosen(found: Measurement, words: str | None) -> list[Section]:
    titles = {id(each): f"{each.dataset}: {each.title}" for each in found.sections}
    chosen = [each for each in found.sections if words is None or words in titles[id(each)]]
    if not chosen:
        raise InputError(
            "AGC-I2231",
            "no section has these words in its title",
            got=words,
            fix=f"the titles are {'; '.join(titles.values())}",
        )
    return chosen


def read_measurement(path: Path) -> Measurement:
    """Return a recorded measurement.

    Raises
    ------
    ResourceError
        If there is no such file.
    FormatError
        If it is not what a benchmark prints with ``--json``.
    """
    from adagcn.bench.machine import Noise
    from adagcn.bench.measures import Measure

    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        sections = [_section(each) for each in facts.pop("sections")]
        parts = facts["noise"]
        ends = {name: Measure(**parts[name]) for name in ("before", "after")}
        noise = Noise(**ends, drift=parts["drift"], spread=parts["spread"])
        for name in ("machine", "versions", "threads"):
            facts[name]  # what print_tables needs
    except OSError as error:
        raise ResourceError(
            "AGC-R2232",
            f"{str(path)!r} cannot be read: {error.strerror or error}",
            fix="name a file that adagcn bench … --json > FILE has written",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            "AGC-F2233",
            f"{str(path)!r} is not a recorded measurement",
            got=f"{type(error).__name__}: {error}",
            fix="name a file that adagcn bench … --json > FILE has written",
        ) from error
    return Measurement(facts, sections, noise)


def _section(given: dict[str, Any]) -> Section:
    from adagcn.bench.measures import Row, Section

    rows = tuple(
        Row(**{**row, "seconds": _measure(row["seconds"]), "ratio": _measure(row["ratio"])})
        for row in given["rows"]
    )
    return Section(**{**given, "rows": rows})


def _measure(given: dict[str, Any] | None) -> Any:
    from adagcn.bench.measures import Measure

    return None if given is None else Measure(**given)


def measurement_markdown(
    path: Path, section: str | None = None, *, with_machine: bool = True
) -> str:
    """Return the tables of a record as a block of text in Markdown.

    Parameters
    ----------
    path : Path
        The record.
    section : str, optional
        Only sections whose title holds these words.
    with_machine : bool
        Whether to say below them where and how they were measured.
    """
    found, out = read_measurement(path), io.StringIO()
    console, sections = screen(file=out, width=_WIDTH), _chosen(found, section)
    print_sections(sections, console)
    if with_machine:
        print_machine(found.facts, found.noise, console)
    lines = [line.rstrip() for line in out.getvalue().rstrip().splitlines()]
    return "```text\n" + "\n".join(lines) + "\n```\n"
