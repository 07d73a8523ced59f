"""``adagcn report``: a page to show, of a model, of a table of the paper or of finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.graph_options import GraphOptions, graph_facts
from adagcn.cli.options import Common, Force, with_option_groups
from adagcn.cli.output import check_out, facts_table, note, percent, print_result
from adagcn.cli.split_options import SplitOptions, check_measurable, check_scored, label_counts
from adagcn.errors import InputError

if TYPE_CHECKING:
    from adagcn.data import Split
    from adagcn.graph import Graph


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
    force: Force = False,
) -> None:
    """Write a page about a saved model: one HTML file that works offline.

    It shows accuracy with its interval, by depth and by label, what the model chose, a map of the
    graph with the nodes that it gets wrong, and all settings. Give the split of the fit, as for
    adagcn evaluate; --split none scores every label.
    """
    _check_name(out)
    check_out(out, force=force)
    if model is None:
        fix = "give a model that adagcn fit --out has saved"
        raise InputError("AGC-I1403", "no model is given", fix=fix)
    facts = _of_model(model, out, options, splits, common)
    print_result(facts, facts_table(_model_rows(facts)), as_json=common.as_json)


def _check_name(out: Path) -> None:
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError("AGC-I1402", "--out must end in .html", got=str(out), fix="rename it")


def _of_model(
    path: Path, out: Path, options: GraphOptions, splits: SplitOptions, common: Common
) -> dict[str, Any]:
    """Write the page of a model and return its facts."""
    from adagcn.cli.evaluate import check_kind_of_labels
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import load_model
    from adagcn.report.model_page import model_page
    from adagcn.report.page import write_page

    with threads(common.threads):
        graph = options.read_labeled()
        fitted = load_model(path, graph=graph)
        split = _split(graph, options, splits)
        check_kind_of_labels(graph, fitted.classes_)
        page = model_page(fitted, graph, split, metric=splits.metric)
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
        check_measurable(splits.metric, graph, split)
    return split


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
