"""``adagcn reproduce all``: every table and figure from what is recorded, and what is missing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adagcn.cli.campaign_options import CampaignOptions
from adagcn.cli.fit_costs import panels_with_costs
from adagcn.cli.options import Common
from adagcn.cli.output import note, print_json, rows_table, screen, steps_bar
from adagcn.errors import AdaGCNError, InputError, PresetNotice, counted

if TYPE_CHECKING:
    from adagcn.experiments.ledger import Ledger
    from adagcn.experiments.outcome import CellOutcome
    from adagcn.experiments.spec import Spec
    from adagcn.experiments.standing import Gap, Seconds, Standing
    from adagcn.graph import Graph

EVERYTHING = "all"
_INCOMPLETE = "incomplete.md"
_MEASURED = "bench"  # in the folder of records: what other benchmarks printed with --json


@dataclass(frozen=True)
class Shown:
    """What became of one experiment.

    Attributes
    ----------
    name : str
        The experiment.
    standing : Standing or None
        How far it is; None if its data are missing.
    files : list of str
        What was written.
    problem : str
        Why something is missing, in a sentence.
    """

    name: str
    standing: Standing | None
    files: list[str]
    problem: str = ""


@dataclass(frozen=True)
class Places:
    """Where things are: a folder to write to, and those of the records and the data."""

    out: Path | None
    records: Path
    data_dir: Path | None
    offline: bool


def reproduce_all(
    campaign: CampaignOptions, common: Common, places: Places, seeded_by: Path | None
) -> None:
    """Write every shipped experiment's table and figure, and print what is incomplete.

    Parameters
    ----------
    campaign : CampaignOptions
        The ledger; nothing is trained.
    common : Common
        Seed and threads of the runs, and whether to print JSON.
    places : Places
        Folders; without one to write to, only what is incomplete is printed.
    seeded_by : Path, optional
        An exported ledger that is imported first.
    """
    _check(campaign, places.out)
    from adagcn.experiments.exchange import import_ledger
    from adagcn.experiments.ledger import Ledger
    from adagcn.experiments.spec_files import load_spec, shipped_specs
    from adagcn.experiments.standing import typical_seconds

    if places.out is not None:
        places.out.mkdir(parents=True, exist_ok=True)
    names, shown = list(shipped_specs()), []
    graphs: dict[tuple[str, str], Graph] = {}
    with Ledger(campaign.ledger) as ledger, warnings.catch_warnings():
        warnings.simplefilter("ignore", PresetNotice)  # of a plan; the notes of a table say it
        if seeded_by is not None:
            n_new = import_ledger(ledger, seeded_by)
            note(f"{counted(n_new, 'new run')} imported from {seeded_by}")
        seconds = typical_seconds(ledger.rows())
        with steps_bar("reproducing", len(names)) as advance:
            for name in names:
                one = _One(name, load_spec(name), ledger, seconds, common, places)
                shown.append(one.show(graphs))
                advance()
    files = _bench_tables(places)
    if common.as_json:
        print_json({"experiments": [asdict(each) for each in shown], "bench": files})
        return
    _print(shown, files, places.out)


def _check(campaign: CampaignOptions, out: Path | None) -> None:
    if not campaign.no_training:
        raise InputError(
            "AGC-I2205",
            "reproduce all shows what is recorded and trains nothing",
            fix="add --no-training, or name one experiment to train",
        )
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(
            "AGC-I2206", "--out must be a folder", got=str(out), fix="name another folder"
        )


@dataclass(frozen=True)
class _One:
    """One experiment on its way from the ledger to files."""

    name: str
    spec: Spec
    ledger: Ledger
    seconds: Seconds
    common: Common
    places: Places

    def show(self, graphs: dict[tuple[str, str], Graph]) -> Shown:
        """Return how far it is, and write its files; ``graphs`` are kept from one to the next."""
        from adagcn.experiments.campaign import load_splits, plan
        from adagcn.experiments.outcome import outcomes
        from adagcn.experiments.standing import standing

        try:
            there = self._graphs(graphs)
            splits = load_splits(self.spec, there, data_dir=self.places.data_dir)
            seed, threads = self.common.seed, self.common.threads
            cells = plan(self.spec, there, seed=seed, threads=threads, splits=splits)
        except AdaGCNError as error:
            return Shown(self.name, None, [], error.problem)
        results = self.ledger.results(run for cell in cells for run in cell.runs)
        how_far = standing(cells, results, self.seconds)
        if self.places.out is None:
            return Shown(self.name, how_far, [])
        files, problem = self._written(outcomes(cells, results), self.places.out)
        return Shown(self.name, how_far, files, problem)

    def _graphs(self, kept: dict[tuple[str, str], Graph]) -> dict[str, Graph]:
        from adagcn.experiments.columns import column_graph

        found = {}
        for column in self.spec.columns:
            place = column.dataset, str(column.source)
            if place not in kept:
                kept[place] = column_graph(
                    column, data_dir=self.places.data_dir, offline=self.places.offline or None
                )
            found[column.dataset] = kept[place]
        return found

    def _written(self, found: list[CellOutcome], out: Path) -> tuple[list[str], str]:
        """Write table and figure; return their names, and what went wrong with the figure."""
        from adagcn.experiments.frontier import frontier_notes
        from adagcn.experiments.outcome_tables import accuracy_table
        from adagcn.experiments.tables import render
        from adagcn.formats.atomic import write_bytes
        from adagcn.report.drawing import save_figure
        from adagcn.report.experiment_figures import experiment_figure

        text, panels = render(accuracy_table(self.spec, found), "md"), None
        if self.spec.figure == "cost":
            panels = panels_with_costs(
                found, self.places.records, threads=self.common.threads, quiet=True
            )
            text += "\n" + "".join(f"- {sentence}\n" for sentence in frontier_notes(panels))
        write_bytes(out / f"{self.name}.md", text.encode())
        if self.spec.figure is None:
            return [f"{self.name}.md"], ""
        try:
            save_figure(out / f"{self.name}.png", experiment_figure(self.spec.title, found, panels))
        except AdaGCNError as error:
            return [f"{self.name}.md"], error.problem
        return [f"{self.name}.md", f"{self.name}.png"], ""


def _bench_tables(places: Places) -> list[str]:
    """Write the tables of the records of ``adagcn bench``, and return their names."""
    from adagcn.cli.bench_calibration import calibration_markdown
    from adagcn.cli.bench_fits import fits_markdown
    from adagcn.cli.bench_show import measurement_markdown

    tables: dict[str, Callable[[Path], str]] = {
        "calibration": calibration_markdown,
        "fits": lambda path: fits_markdown(path, places.data_dir, places.offline),
    }
    if places.out is None:
        return []
    from adagcn.formats.atomic import write_bytes

    written = []
    for name, table in tables.items():
        record = places.records / f"{name}.jsonl"
        if record.is_file():
            write_bytes(places.out / f"bench-{name}.md", table(record).encode())
            written.append(f"bench-{name}.md")
        else:
            note(f"no record {record}: its table is left out")
    for record in sorted((places.records / _MEASURED).glob("*.json")):
        write_bytes(places.out / f"bench-{record.stem}.md", measurement_markdown(record).encode())
        written.append(f"bench-{record.stem}.md")
    return written


def _print(shown: Sequence[Shown], files: Sequence[str], out: Path | None) -> None:
    """Print how far every experiment is; which rows lack runs goes to a file, if there is one."""
    from adagcn.formats.atomic import write_bytes

    header = ["experiment", "runs", "of", "missing take about", "written"]
    console = screen()
    console.print(rows_table(header, [_cells(each) for each in shown], width=console.width))
    note("times are those of finished runs with the same model, preset and data set")
    for each in shown:
        if each.problem:
            note(f"{each.name}: {each.problem}")
    lines = _incomplete(shown)
    if out is None:
        for line in lines:
            console.print(line, markup=False, highlight=False)
        return
    write_bytes(out / _INCOMPLETE, "".join(f"{line}\n" for line in lines).encode())
    n_files = sum(len(each.files) for each in shown) + len(files) + 1
    note(f"{counted(n_files, 'file')} written to {out}; {_INCOMPLETE} says which rows lack runs")


def _incomplete(shown: Sequence[Shown]) -> list[str]:
    """Return a line for every row of an experiment that lacks runs."""
    by_row: dict[tuple[str, str], list[Gap]] = {}
    for each in shown:
        for gap in () if each.standing is None else each.standing.gaps:
            by_row.setdefault((each.name, gap.row), []).append(gap)
    lines = [] if by_row else ["nothing is incomplete"]
    for (name, row), gaps in by_row.items():
        finished, planned = sum(g.finished for g in gaps), sum(g.planned for g in gaps)
        known = [gap.seconds for gap in gaps if gap.seconds is not None]
        took = f"about {_duration(sum(known))}" if known else "time unknown"
        took += " and more" if known and len(known) < len(gaps) else ""
        where = "; ".join(gap.column for gap in gaps)
        lines.append(f"- {name}: {row} has {finished} of {planned} runs on {where} ({took})")
    return lines


def _cells(each: Shown) -> list[str]:
    if each.standing is None:
        return [each.name, "–", "–", "–", "–"]
    left = [_duration(each.standing.seconds)] if each.standing.seconds else []
    if each.standing.n_unknown:
        left.append(f"{counted(each.standing.n_unknown, 'run')} of unknown time")
    kinds = ", ".join(sorted(Path(name).suffix[1:] for name in each.files))
    counts = [f"{each.standing.finished:,}", f"{each.standing.planned:,}"]
    return [each.name, *counts, " + ".join(left), kinds]


def _duration(seconds: float) -> str:
    from adagcn.experiments.table_words import duration

    return duration(seconds)


def refuse_beside_all(given: Mapping[str, Any]) -> None:
    """Refuse options that ``reproduce all`` would ignore."""
    for option, value in given.items():
        if value:
            raise InputError(
                "AGC-I2207",
                f"{option} belongs to one experiment, not to all",
                got=... if value is True else str(value),
                fix=f"leave it out, or name the experiment: adagcn reproduce table2 {option} …",
            )
