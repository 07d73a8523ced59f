"""``adagcn predict``: a label and probabilities for nodes, keyed by the user's ids."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.engine_options import EngineOptions
from adagcn.cli.graph_options import GraphOptions, graph_facts, reading_rows
from adagcn.cli.node_options import ids_in_file
from adagcn.cli.option_words import in_options
from adagcn.cli.options import Common, Force, ModelFile, Verbatim, with_option_groups
from adagcn.cli.output import check_out, facts_table, note, percent, print_json, screen
from adagcn.errors import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from adagcn.graph import Graph

_MOST_LABELS = 20  # rows of the summary


@with_option_groups
def predict(
    model: ModelFile,
    options: GraphOptions,
    engines: EngineOptions,
    common: Common,
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            metavar="FILE",
            help="Table of ids, or - to read one id per line from standard input; default: all.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="A .csv, .csv.gz, .jsonl, .ndjson or .parquet file; default: print CSV.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column proba_LABEL for every label.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            metavar="K",
            min=1,
            help="Give the K most probable labels: label_1, probability_1, label_2, …",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            metavar="SHARE",
            help="Add a set of labels that holds the true one for this share of nodes, and its "
            "size; for a model fitted with --conformal.",
        ),
    ] = None,
    verbatim: Verbatim = False,
    force: Force = False,
) -> None:
    """Predict the labels of nodes with a saved model.

    The columns are id, label, probability (of that label) and margin (to the runner-up).
    Probabilities have 6 decimals, except in Parquet. In CSV, text that a spreadsheet would run as a
    formula (starting with =, +, - or @) is prefixed with an apostrophe, and a note says so. With
    --coverage there are also set (in CSV a JSON list of labels) and set_size.

    The graph needs no labels, and its nodes may be new to the model:

    adagcn predict my.adagcn --edges new.csv --features new_features.csv
    """
    from adagcn.cli.table_files import lists_as_text, rounded, spreadsheet_safe, table_format
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import load_model

    kind = "json" if out is None and common.as_json else table_format(out)
    check_out(out, force=force)
    with threads(common.threads):
        graph = options.read()
        fitted = load_model(model, graph=graph)
        ids = graph.node_ids if nodes is None else ids_in_file(nodes, options.id_column, graph)
        with engines.for_hops(graph):
            table = fitted.predict_frame(
                ids, top=top, proba=proba, coverage=coverage, backend="pyarrow"
            )
    sets = _set_facts(table, coverage)
    if kind == "csv":
        table = lists_as_text(table)
    if kind != "parquet":
        table = rounded(table)
    if kind == "csv" and not verbatim:
        table = spreadsheet_safe(table)
    facts: dict[str, Any] = {
        "model": fitted.model_key,
        "model_digest": fitted.model_digest_,
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "nodes": len(ids),
        "labels": fitted.classes_,
        **sets,
        "seed": common.seed,
        "threads": common.threads,
        "out": out,
    }
    _deliver(table, facts, graph, as_json=common.as_json)


def _set_facts(table: pa.Table, coverage: float | None) -> dict[str, Any]:
    """Return how large the prediction sets are; nothing where none was asked for."""
    if coverage is None:
        return {}
    sizes = table["set_size"].to_pylist()
    counts = Counter({0: 0, 1: 0, **Counter(sizes)})
    mean = sum(sizes) / len(sizes) if sizes else None
    return {
        "coverage": coverage,
        "mean_set_size": mean,
        "sets_by_size": dict(sorted(counts.items())),
    }


def _set_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    if facts.get("mean_set_size") is None:
        return []
    by_size = facts["sets_by_size"]
    told = (
        f"{facts['mean_set_size']:.2f} labels on average; {by_size[1]:,} of one label, "
        f"{by_size[0]:,} of none"
    )
    return [(f"sets, {percent(facts['coverage'])}", told)]


def _deliver(table: pa.Table, facts: dict[str, Any], graph: Graph, *, as_json: bool) -> None:
    """Write or print the predictions, and say how many there are."""
    from adagcn.cli.table_files import write_csv, write_table

    out = facts["out"]
    if out is not None:
        write_table(table, out)
    if as_json:
        print_json(facts if out is not None else {**facts, "predictions": table.to_pylist()})
    elif out is None:
        sys.stdout.flush()
        write_csv(table, sys.stdout.buffer)
        sys.stdout.buffer.flush()  # a reader that has left is found out here, before the note
        note(f"{counted(facts['nodes'], 'node')} predicted, of {graph!r}")
    else:
        screen().print(facts_table(_summary(table, facts, graph)))


def _summary(table: pa.Table, facts: dict[str, Any], graph: Graph) -> list[tuple[str, str]]:
    """Return what was read and predicted as names and values, the most frequent labels first."""
    label = table.column_names[1]
    counts = table.group_by(label).aggregate([("id", "count")])
    ranked = counts.sort_by([("id_count", "descending"), (label, "ascending")]).to_pylist()
    rest = len(ranked) - _MOST_LABELS
    return [
        ("graph", repr(graph)),
        *((name, in_options(phrase)) for name, phrase in reading_rows(graph)),
        ("predicted", counted(facts["nodes"], "node")),
        *((f"as {row[label]}", f"{row['id_count']:,}") for row in ranked[:_MOST_LABELS]),
        *([("", f"and {counted(rest, 'other label')}")] if rest > 0 else []),
        *_set_rows(facts),
        ("written to", str(facts["out"])),
    ]
