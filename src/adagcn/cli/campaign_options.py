"""What ``compare`` and ``reproduce`` share: options, progress, and how results are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from adagcn.cli.command_state import current_state
from adagcn.cli.engine_options import EngineOptions
from adagcn.cli.options import Common
from adagcn.cli.output import check_out, note, print_json, screen
from adagcn.errors import InputError, counted

if TYPE_CHECKING:
    from adagcn.experiments.campaign import Graphs, PlannedCell, Splits
    from adagcn.experiments.campaign import Progress as OnProgress
    from adagcn.experiments.ledger import Ledger
    from adagcn.experiments.outcome import CellOutcome
    from adagcn.experiments.spec import Spec
    from adagcn.experiments.tables import Style, Table
    from adagcn.models.support.measures import Metric

LedgerPath = Annotated[
    Path,
    typer.Option("--ledger", metavar="FILE", help="File that keeps the finished runs."),
]
DEFAULT_LEDGER = Path("adagcn-ledger.sqlite")


@dataclass(frozen=True)
class CampaignOptions(EngineOptions):
    """How to run an experiment."""

    ledger: LedgerPath = DEFAULT_LEDGER
    no_training: Annotated[
        bool, typer.Option("--no-training", help="Show what the ledger has; train nothing.")
    ] = False
    timing: Annotated[
        bool, typer.Option("--timing", help="Also show how long the fits took, in a second table.")
    ] = False
    choices: Annotated[
        bool,
        typer.Option("--choices", help="Show the settings that were chosen, not the accuracy."),
    ] = False

    def outcomes(
        self,
        spec: Spec,
        graphs: Graphs,
        common: Common,
        *,
        seeded_by: Path | None = None,
        splits: Splits | None = None,
        metric: Metric = "accuracy",
    ) -> list[CellOutcome]:
        """Return the outcome of every cell of an experiment, training what is missing.

        Parameters
        ----------
        spec : Spec
            The experiment, checked.
        graphs : mapping
            A graph for each data set.
        common : Common
            Seed and threads of the runs.
        seeded_by : Path, optional
            An exported ledger whose runs are imported first.
        splits : mapping, optional
            The splits of each column; by default those that the experiment names.
        metric : str
            The measure to compare.
        """
        from adagcn.experiments.campaign import plan, train_missing
        from adagcn.experiments.exchange import import_ledger
        from adagcn.experiments.ledger import Ledger
        from adagcn.experiments.outcome import outcomes

        engine = self.make_engine()
        cells = plan(spec, graphs, seed=common.seed, threads=common.threads, splits=splits)
        with Ledger(self.ledger) as ledger:
            if seeded_by is not None:
                n_new = import_ledger(ledger, seeded_by)
                note(f"{counted(n_new, 'new run')} imported from {seeded_by}")
            self._tell_unmeasured(cells, ledger, metric)
            if self.no_training:
                results = ledger.results(run for cell in cells for run in cell.runs)
            else:
                _tell_plan(cells, ledger)
                with _bar(self.ledger) as progress:
                    results = train_missing(
                        cells,
                        graphs,
                        ledger,
                        metric=metric,
                        engine=engine,
                        progress=progress,
                    )
        _tell_notices([result.notices for result in results.values()])
        return outcomes(cells, results, metric)

    def _tell_unmeasured(self, cells: list[PlannedCell], ledger: Ledger, metric: Metric) -> None:
        """Say how many finished runs lack the metric, and what becomes of them."""
        from adagcn.experiments.campaign import unmeasured_runs

        n_runs = len(unmeasured_runs(cells, ledger, metric))
        if n_runs:
            fate = "count as missing" if self.no_training else "are trained again"
            told = f"{counted(n_runs, 'run')} of {self.ledger}"
            note(f"{told} were finished by an earlier release without {metric} and {fate}")

    def show(
        self,
        spec: Spec,
        found: list[CellOutcome],
        facts: dict[str, Any],
        common: Common,
        style: Style = "text",
    ) -> None:
        """Print the results of an experiment.

        Parameters
        ----------
        spec : Spec
            The experiment.
        found : list of CellOutcome
            Its results.
        facts : dict
            What the JSON object says first.
        common : Common
            Whether to print JSON instead of tables; seed and threads of the runs.
        style : {"text", "md", "csv", "latex"}
            Format of the tables; text fits the terminal.
        """
        from adagcn.experiments.choice_table import choice_table, json_choices, render_choices
        from adagcn.experiments.outcome_tables import (
            accuracy_table,
            json_rows,
            json_times,
            time_table,
        )

        if common.as_json:
            run_facts = {"seed": common.seed, "threads": common.threads}
            times = {"timing": json_times(found)} if self.timing else {}
            chosen = {"choices": json_choices(found)} if self.choices else {}
            print_json({**facts, **run_facts, "rows": json_rows(spec, found), **times, **chosen})
            return
        if self.choices:
            table = choice_table(spec.title, found)
            print(render_choices(table, style, screen().width), end="")
            return
        print(_written(accuracy_table(spec, found), style), end="")
        if self.timing:
            print()
            print(_written(time_table(spec, found), style), end="")


def _written(table: Table, style: Style) -> str:
    from adagcn.experiments.tables import render, render_for_terminal

    return render_for_terminal(table, screen().width) if style == "text" else render(table, style)


def chosen_names(option: str, text: str | None, known: Collection[str]) -> list[str]:
    """Return the names in a comma-separated option; ``all`` and None mean every known one.

    Parameters
    ----------
    option : str
        The option's name.
    text : str or None
        Its value.
    known : collection of str
        The names to choose from.

    Returns
    -------
    list of str
        The names, in the order of ``text``.

    Raises
    ------
    InputError
        A name is unknown or given twice.

    Examples
    --------
    >>> chosen_names("--models", "mlp, adagcn", ["adagcn", "mlp", "logistic"])
    ['mlp', 'adagcn']
    """
    if text is None or text == "all":
        return list(known)
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            fix = f"{hint}Choose from {', '.join(known)}"
            raise InputError("AGC-I948", f"{option} has an unknown name", got=name, fix=fix)
    if len(set(names)) < len(names):
        raise InputError("AGC-I949", f"{option} has a name twice", got=text, fix="keep one of them")
    return names


def check_figure(path: Path | None, *, force: bool) -> None:
    """Refuse a figure that could not be written, before anything is trained."""
    check_out(path, force=force, name="--figure")
    if path is not None and path.suffix not in (".png", ".svg"):
        raise InputError(
            "AGC-I902", "--figure must end in .png or .svg", got=str(path), fix="rename it"
        )


@contextmanager
def _bar(ledger: Path) -> Iterator[OnProgress]:
    """Show how many runs are done and the time left; when interrupted, say what is kept."""
    from adagcn.experiments.table_words import duration

    console = screen(stderr=True)
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    hidden = current_state().quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=None, left="")

        def show(done: int, total: int, seconds_left: float | None) -> None:
            left = "" if seconds_left is None else f"about {duration(seconds_left)} left"
            progress.update(task, completed=done, total=total, left=left)

        try:
            yield show
        except Exception:
            raise
        except BaseException:  # an interrupt or a signal, not a failure
            progress.stop()  # the bar goes before the line comes
            done = int(progress.tasks[task].completed)
            note(
                f"interrupted; {done} new runs are kept in {ledger}: repeat the command to continue"
            )
            raise


def _tell_plan(cells: list[PlannedCell], ledger: Ledger) -> None:
    """Say how many runs will be trained, and about how long they take, before the first."""
    from adagcn.experiments.standing import standing, typical_seconds
    from adagcn.experiments.table_words import duration

    results = ledger.results(run for cell in cells for run in cell.runs)
    if not standing(cells, results, {}).gaps:
        return
    found = standing(cells, results, typical_seconds(ledger.rows()))
    told = f"training {counted(found.missing, 'run')}"
    if found.n_unknown == found.missing:
        note(f"{told}; the ledger has none like them to tell the time by")
        return
    lacking = f", which has none like {found.n_unknown:,} of them" if found.n_unknown else ""
    note(f"{told}: about {duration(found.seconds)} of one core, going by the ledger{lacking}")


def _tell_notices(notices: list[list[str]]) -> None:
    """Say how many runs have notices, and show the first."""
    spoken = [texts[0] for texts in notices if texts]
    if spoken:
        note(f"{len(spoken)} of {len(notices)} runs have notices (see the ledger): {spoken[0]}")
