"""``adagcn predict``: a label and probabilities for nodes, keyed by the user's ids."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.all_predicted import predicted_rows
from adagcn.cli.engine_options import EngineOptions
from adagcn.cli.graph_options import GraphOptions, graph_facts, reading_rows
from adagcn.cli.log_option import LogOption
from adagcn.cli.node_options import ids_in_file
from adagcn.cli.option_words import in_options
from adagcn.cli.options import Common, Force, ModelFile, Verbatim, with_option_groups
from adagcn.cli.output import check_out, facts_table, note, percent, print_json, screen
from adagcn.cli.table_files import say_defused
from adagcn.errors import counted

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from adagcn.graph import Graph
    from adagcn.models.support.classifier import NodeClassifier
    from adagcn.models.support.prediction_parts import PredictionSummary
    from adagcn.models.support.prediction_table import PredictionColumns


@with_option_groups
def predict(
    model: ModelFile,
    options: GraphOptions,
    engines: EngineOptions,
    logs: LogOption,
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
    from adagcn.engines.threads import threads
    from adagcn.formats.result_files import table_format
    from adagcn.models.support.prediction_table import PredictionColumns
    from adagcn.models.support.registry import load_model

    table_format(out, "--out")
    check_out(out, force=force)
    columns = PredictionColumns(top, proba, coverage)
    with threads(common.threads):
        graph = options.read()
        fitted = load_model(model, graph=graph)
        ids = None if nodes is None else ids_in_file(nodes, options.id_column, graph)
        columns.check(fitted)
        with logs.written(), engines.for_hops(graph):
            summary, rows = _predicted(
                fitted, ids, columns, out, verbatim=verbatim, as_json=common.as_json
            )
    say_defused(summary.n_defused)
    facts: dict[str, Any] = {
        "model": fitted.model_key,
        "model_digest": fitted.model_digest_,
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "nodes": summary.n_nodes,
        "labels": fitted.classes_,
        **_set_facts(summary, coverage),
        "seed": common.seed,
        "threads": common.threads,
        "out": out,
    }
    if common.as_json:
        print_json(facts if out is not None else {**facts, "predictions": rows})
    elif out is None:
        note(f"{counted(summary.n_nodes, 'node')} predicted, of {graph!r}")
    else:
        screen().print(facts_table(_summary(summary, facts, graph)))


def _predicted(
    model: NodeClassifier,
    ids: NDArray[Any] | None,
    columns: PredictionColumns,
    out: Path | None,
    *,
    verbatim: bool,
    as_json: bool,
) -> tuple[PredictionSummary, list[dict[str, Any]]]:
    """Write or print predictions part by part, or return the rows for JSON; and count them."""
    from adagcn.formats.result_files import rounded
    from adagcn.models.support.prediction_parts import (
        PredictionSummary,
        prediction_parts,
        write_predictions,
    )

    if out is not None:
        return write_predictions(model, out, ids, None, columns, verbatim=verbatim), []
    summary, rows, reader_left = PredictionSummary(), [], False
    with prediction_parts(model, ids, None, columns) as parts:
        if as_json:
            for part in parts:
                summary.add(part)
                rows += rounded(part).to_pylist()
        else:
            reader_left = not _print(parts, summary, verbatim=verbatim)
    if reader_left:
        raise BrokenPipeError
    return summary, rows


def _print(parts: Iterator[pa.Table], summary: PredictionSummary, *, verbatim: bool) -> bool:
    """Print predictions as CSV; return whether somebody read them to the end."""
    from adagcn.formats.result_files import CsvParts, in_file_form

    sys.stdout.flush()
    printed = CsvParts(sys.stdout.buffer)
    try:
        for part in parts:
            summary.add(part)
            shown, n_defused = in_file_form(part, "csv", verbatim=verbatim)
            summary.n_defused += n_defused
            printed.write(shown)
        sys.stdout.buffer.flush()  # a reader that has left is found out here, before the note
    except BrokenPipeError:
        return False
    return True


def _set_facts(summary: PredictionSummary, coverage: float | None) -> dict[str, Any]:
    """Return how large the prediction sets are; nothing where none was asked for."""
    if coverage is None:
        return {}
    counts = Counter({0: 0, 1: 0, **summary.set_sizes})
    total = sum(size * count for size, count in counts.items())
    return {
        "coverage": coverage,
        "mean_set_size": total / summary.n_nodes if summary.n_nodes else None,
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


def _summary(
    summary: PredictionSummary, facts: dict[str, Any], graph: Graph
) -> list[tuple[str, str]]:
    """Return what was read and predicted as names and values, the most frequent labels first."""
    return [
        ("graph", repr(graph)),
        *((name, in_options(phrase)) for name, phrase in reading_rows(graph)),
        *predicted_rows(summary),
        *_set_rows(facts),
        ("written to", str(facts["out"])),
    ]
