"""``adagcn explain``: why nodes got their labels, by hop, feature and neighbor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.cli.graph_options import GraphOptions, graph_facts
from adagcn.cli.node_options import ids_as_typed, ids_in_file
from adagcn.cli.option_words import in_options
from adagcn.cli.options import Common, Force, ModelFile, Verbatim, with_option_groups
from adagcn.cli.output import (
    check_out,
    facts_table,
    note,
    percent,
    print_json,
    rows_table,
    screen,
)
from adagcn.errors import InputError, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adagcn.explain.explanations import Explanations
    from adagcn.graph import Graph

_MOST_PICTURES = 20  # nodes; of more, one line each


@with_option_groups
def explain(
    model: ModelFile,
    options: GraphOptions,
    common: Common,
    node: Annotated[
        list[str] | None,
        typer.Option("--node", metavar="ID", help="Node to explain; may repeat."),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            metavar="FILE",
            help="Table of ids, or - to read one id per line from standard input.",
        ),
    ] = None,
    top_features: Annotated[
        int,
        typer.Option("--top-features", metavar="N", min=0, help="Features to list; 0 for none."),
    ] = 10,
    top_neighbors: Annotated[
        int,
        typer.Option("--top-neighbors", metavar="N", min=0, help="Neighbors to list; 0 for none."),
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="A .csv, .csv.gz, .jsonl, .ndjson or .parquet file; default: a picture.",
        ),
    ] = None,
    rows: Annotated[
        Literal["nodes", "hops", "features", "neighbors", "labeled"] | None,
        typer.Option(
            "--rows",
            help="What a row of --out is: a node, or one of its parts of this kind.",
            show_default="nodes",
        ),
    ] = None,
    verbatim: Verbatim = False,
    force: Force = False,
) -> None:
    """Explain why nodes got their labels.

    The margin is the log-odds of the label over the runner-up. It is the sum of what each hop adds,
    and of what the features add; these came from the node itself and from its neighbors. A part of
    +0.7 doubles the odds of the label, one of -0.7 halves them.

    adagcn explain my.adagcn cora --node 31336

    adagcn, adasgc, mlp and logistic can be explained; other models are no sums over hops.
    """
    from adagcn.engines.threads import threads
    from adagcn.formats.result_files import table_format
    from adagcn.models.support.registry import load_model

    _check(node, nodes, out, rows)
    table_format(out, "--out")
    check_out(out, force=force)
    with threads(common.threads):
        graph = options.read()
        fitted = load_model(model, graph=graph)
        ids = _ids(node, nodes, options.id_column, graph)
        found = fitted.explain(ids, n_features=top_features, n_neighbors=top_neighbors)
    facts: dict[str, Any] = {
        "model": fitted.model_key,
        "model_digest": fitted.model_digest_,
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "seed": common.seed,
        "threads": common.threads,
        "out": out,
    }
    if out is not None:
        _write(found, out, rows or "nodes", verbatim=verbatim)
    if common.as_json:
        print_json({**facts, **(found.to_dict() if out is None else {"nodes": len(found)})})
    else:
        _show(found, graph, out)


def _check(node: list[str] | None, nodes: str | None, out: Path | None, rows: str | None) -> None:
    """Refuse options that contradict each other or have no effect."""
    if (not node) == (nodes is None):
        raise InputError(
            "AGC-I1305",
            "no node is given" if not node else "--node cannot be combined with --nodes",
            got=... if not node else nodes,
            fix="give --node ID, or --nodes FILE for many",
        )
    if rows is not None and out is None:
        fix = "add --out, or leave it out"
        raise InputError("AGC-I1306", "--rows is only for --out", got=rows, fix=fix)


def _ids(
    node: list[str] | None, nodes: str | None, id_column: str | None, graph: Graph
) -> NDArray[Any]:
    if nodes is not None:
        return ids_in_file(nodes, id_column, graph)
    return ids_as_typed(node or [], "--node", graph)


def _write(
    found: Explanations,
    out: Path,
    rows: Literal["nodes", "hops", "features", "neighbors", "labeled"],
    *,
    verbatim: bool,
) -> None:
    """Write one kind of rows to a file."""
    from adagcn.cli.table_files import say_defused
    from adagcn.formats.result_files import in_file_form, table_format, write_table

    table = found.to_frame(rows, "pyarrow")
    table, n_defused = in_file_form(table, table_format(out), verbatim=verbatim)
    say_defused(n_defused)
    write_table(table, out)


def _show(found: Explanations, graph: Graph, out: Path | None) -> None:
    """Print pictures of a few nodes, or a line for each of many."""
    from adagcn.cli.explanation_view import Style, explanation_view

    console = screen()
    if out is not None:
        facts = [("graph", repr(graph)), ("explained", counted(len(found), "node"))]
        console.print(facts_table([*facts, ("written to", str(out))]))
        return
    if len(found) > _MOST_PICTURES:
        console.print(rows_table(*_lines(found), width=console.width))
        note(f"pictures are drawn of up to {_MOST_PICTURES} nodes; --out writes all there is")
        return
    for number, explanation in enumerate(found):
        if number:
            console.print()
        console.print(explanation_view(explanation, Style.of(console)))
    if not len(found):
        note(f"0 nodes explained, of {graph!r}")
        return
    for sentence in found.notes:
        note(in_options(f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"))


def _lines(found: Explanations) -> tuple[list[str], list[list[str]]]:
    """Return a header and a row for every node."""
    from adagcn.cli.explanation_view import short

    header = ["node", "label", "probability", "runner-up", "margin", "hop"]
    rows = [
        [
            short(each.node),
            short(each.label),
            percent(each.probability),
            short(each.runner_up),
            f"{each.margin:.2f}",
            str(each.deciding_hop),
        ]
        for each in found
    ]
    return header, rows
