"""``adagcn report``: a page to show, of a model, of a table of the paper or of finished runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.campaign_options import DEFAULT_LEDGER
from adagcn.cli.graph_options import GraphOptions, graph_facts
from adagcn.cli.options import Common, Force, with_option_groups
from adagcn.cli.output import check_out, facts_table, note, percent, print_result
from adagcn.cli.split_options import SplitOptions, check_scored, label_counts
from adagcn.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adagcn.data import Split
    from adagcn.graph import Graph
    from adagcn.models.support.measures import Metric
    from adagcn.report.page import Page


@with_option_groups
def report(
    options: GraphOptions,
    splits: SplitOptions,
    common: Common,
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="A model saved by adagcn fit --out.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The page, an .html file.")
    ] = Path("adagcn-report.html"),
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="LEDGER",
            help="Instead of a model: all finished runs of a ledger, or of an exported one.",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME|SPEC.toml",
            help="Instead of a model: table2, … from finished runs, with the paper's numbers.",
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FILE",
            help="Where --table finds finished runs.",
            show_default=str(DEFAULT_LEDGER),
        ),
    ] = None,
    exported: Annotated[
        Path | None,
        typer.Option("--import", metavar="FILE", help="An exported ledger to take them from."),
    ] = None,
    no_doctor: Annotated[
        bool,
        typer.Option("--no-doctor", help="Leave out the advice on the data, which costs time."),
    ] = False,
    force: Force = False,
) -> None:
    """Write a page to show: one HTML file that works offline.

    Of a saved model it shows accuracy with its interval, by depth and by label, what the model
    chose, how sure it is, a map of the graph with the nodes that it gets wrong, the hardest nodes
    and why they got their labels, and all settings. Give the split of the fit, as for adagcn
    evaluate; --split none scores every label.

    With --table or --compare it shows finished runs. Nothing is trained.
    """
    _check_name(out)
    check_out(out, force=force)
    source = _Source(model, compare, table, ledger, exported, not no_doctor)
    source.check(options, splits)
    if source.model is not None:
        facts = _of_model(source, out, options, splits, common)
        shown = _model_rows(facts)
    else:
        facts = _of_runs(source, out, options, splits, common)
        shown = _runs_rows(facts)
    print_result(facts, facts_table(shown), as_json=common.as_json)


@dataclass(frozen=True)
class _Source:
    """What a page is about: a model, the runs of a ledger, or a table of the paper."""

    model: Path | None
    compare: Path | None
    table: str | None
    ledger: Path | None
    exported: Path | None
    advice: bool

    def check(self, options: GraphOptions, splits: SplitOptions) -> None:
        """Refuse options that contradict each other or would have no effect."""
        given = [name for name in ("model", "compare", "table") if getattr(self, name) is not None]
        if not given:
            raise InputError(
                "AGC-I1403",
                "there is nothing to write a page about",
                got="no MODEL, --compare or --table",
                fix="give a model that adagcn fit --out has saved, and its data",
            )
        words = {"model": "MODEL", "compare": "--compare", "table": "--table"}
        if len(given) > 1:
            raise InputError(
                "AGC-I1407",
                f"{words[given[0]]} cannot be combined with {words[given[1]]}",
                got=str(getattr(self, given[1])),
                fix="leave one of them out",
            )
        for option in self._without_effect(options, splits):
            problem = f"{option} has no meaning for {words[given[0]]}"
            raise InputError("AGC-I1408", problem, fix=f"leave {option} out")

    def _without_effect(self, options: GraphOptions, splits: SplitOptions) -> Iterator[str]:
        if self.table is None:
            yield from ["--ledger"] if self.ledger is not None else []
            yield from ["--import"] if self.exported is not None else []
        if self.model is None:
            yield from [] if self.advice else ["--no-doctor"]
            used = {"metric"} | ({"data_dir", "offline"} if self.table is not None else set())
            for group in (options, splits):
                for each in fields(group):
                    if each.name not in used and getattr(group, each.name) != each.default:
                        yield option_name(each.name)


def option_name(field: str) -> str:
    """Return how the command line spells a field of the options.

    >>> option_name("splits_file"), option_name("id_column"), option_name("data")
    ('--splits-file', '--id', 'DATA')
    """
    return "DATA" if field == "data" else f"--{field.removesuffix('_column').replace('_', '-')}"


def _check_name(out: Path) -> None:
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError("AGC-I1402", "--out must end in .html", got=str(out), fix="rename it")


def _of_model(
    source: _Source, out: Path, options: GraphOptions, splits: SplitOptions, common: Common
) -> dict[str, Any]:
    """Write the page of a model and return its facts."""
    from adagcn.cli.certainty import as_fitted
    from adagcn.cli.evaluate import check_kind_of_labels
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import load_model
    from adagcn.report.model_page import model_page
    from adagcn.report.page import write_page

    assert source.model is not None
    with threads(common.threads):
        graph = options.read_labeled()
        fitted = load_model(source.model, graph=graph)
        split = as_fitted(_split(graph, options, splits), graph, fitted)
        check_kind_of_labels(graph, fitted.classes_)
        _check_measure(graph, split, splits.metric, fitted.classes_)
        if graph.name is None:  # the page needs a title
            graph = replace(graph, name=Path(str(options.edges)).name)
        page = model_page(
            fitted, graph, split, metric=splits.metric, seed=common.seed, advice=source.advice
        )
        size = write_page(out, page)
    return {
        **page.facts,
        "split": split.name,
        "labels": None if split.name == "none" else label_counts(graph, split),
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "seed": common.seed,
        "threads": common.threads,
        "out": out,
        "bytes": size,
    }


def _split(graph: Graph, options: GraphOptions, splits: SplitOptions) -> Split:
    """Return the split to score; ``none`` stands for every label."""
    if splits.split == "none" and splits.stop is not None:
        problem = "--stop has no meaning for --split none, which scores every label"
        raise InputError("AGC-I1404", problem, got=splits.stop, fix="leave --stop out")
    split = splits.make(graph, options)
    if split.name == "none":
        note("every label is scored; these may include those that the model was trained on")
    else:
        check_scored(split)
    return split


def _check_measure(graph: Graph, split: Split, metric: Metric, classes: NDArray[Any]) -> None:
    """Refuse a measure that has no value on the scored nodes."""
    from adagcn.models.support.measures import undefined

    scored = graph.labeled_nodes if split.name == "none" else split.score_nodes
    reason = undefined(metric, graph.ids_and_labels(scored)[1], classes)
    if reason is not None:
        problem = f"--metric {metric} has no value on the scored nodes: {reason}"
        raise InputError("AGC-I1409", problem, fix="use another metric or split")


def _model_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    low, high = facts["interval"]
    return [
        ("model", f"{facts['model']}, preset {facts['preset']}"),
        ("split", f"{facts['split']}, {facts['nodes']:,} nodes scored"),
        (
            "accuracy",
            f"{percent(facts['accuracy'])} (95 % interval {percent(low)} to {percent(high)})",
        ),
        ("page", f"{facts['out']} ({facts['bytes'] / 1000:,.0f} kB)"),
    ]


def _of_runs(
    source: _Source, out: Path, options: GraphOptions, splits: SplitOptions, common: Common
) -> dict[str, Any]:
    """Write the page of finished runs and return its facts."""
    from adagcn.report.page import write_page

    if source.compare is not None:
        from adagcn.experiments.exchange import stored_rows
        from adagcn.report.ledger_page import ledger_page

        page = ledger_page(stored_rows(source.compare), source.compare.name, metric=splits.metric)
    else:
        page = _table_page(source, options, splits, common)
    size = write_page(out, page)
    return {**page.facts, "seed": common.seed, "threads": common.threads, "out": out, "bytes": size}


def _table_page(
    source: _Source, options: GraphOptions, splits: SplitOptions, common: Common
) -> Page:
    from adagcn.experiments.campaign import load_graphs, load_splits, plan
    from adagcn.experiments.exchange import stored_rows
    from adagcn.experiments.spec_files import load_spec
    from adagcn.report.table_page import table_page

    spec = load_spec(str(source.table))
    if splits.metric != "accuracy":
        spec = spec.model_copy(update={"paper": {}})  # published numbers are accuracies
    paths = [path for path in (source.ledger, source.exported) if path is not None]
    rows = chain.from_iterable(stored_rows(path) for path in paths or [DEFAULT_LEDGER])
    finished = list(rows)  # before the graphs are read: a missing ledger is told at once
    graphs = load_graphs(spec, data_dir=options.data_dir, offline=options.offline or None)
    chosen = load_splits(spec, graphs, data_dir=options.data_dir)
    cells = plan(spec, graphs, seed=common.seed, threads=common.threads, splits=chosen)
    return table_page(spec, cells, finished, metric=splits.metric)


def _runs_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    planned = f" of {facts['planned']:,} planned" if "planned" in facts else ""
    return [
        ("runs", f"{facts['runs']:,}{planned}"),
        ("data sets", f"{facts['columns']:,}"),
        ("page", f"{facts['out']} ({facts['bytes'] / 1000:,.0f} kB)"),
    ]
