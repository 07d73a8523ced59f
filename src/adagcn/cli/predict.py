"""``adagcn predict``: a label and probabilities for nodes, keyed by the user's ids."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.graph_options import GraphOptions, graph_facts
from adagcn.cli.options import Common, Force, with_option_groups
from adagcn.cli.output import check_out, facts_table, note, print_json, screen
from adagcn.errors import counted

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from adagcn.graph import Graph

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model saved by adagcn fit --out.")
]


@with_option_groups
def predict(
    model: ModelFile,
    options: GraphOptions,
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
        typer.Option("--out", metavar="FILE", help="A .csv or .parquet file; default: print CSV."),
    ] = None,
    verbatim: Annotated[
        bool,
        typer.Option(
            "--verbatim",
            help="Leave text in CSV unchanged, even if a spreadsheet would run it as a formula.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Predict the labels of nodes with a saved model.

    Columns: id, label, probability (of that label), margin (to the runner-up), and one proba_...
    per label. In CSV, text that a spreadsheet would run as a formula (starting with =, +, - or @)
    is prefixed with an apostrophe, and a note says so; Parquet is never changed.
    """
    from adagcn.cli.prediction_table import check_table_suffix, prediction_table
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import load_model

    check_table_suffix(out)
    check_out(out, force=force)
    with threads(common.threads):
        graph = options.read()
        fitted = load_model(model, graph=graph)
        ids = graph.node_ids if nodes is None else _read_ids(nodes, options.id_column, graph)
        proba = fitted.predict_proba(ids)
    table = prediction_table(ids, proba, fitted.classes_)
    as_csv = not common.as_json if out is None else out.suffix.lower() == ".csv"
    if as_csv and not verbatim:
        table = _defused(table)
    facts: dict[str, Any] = {
        "model": fitted.model_key,
        "model_digest": fitted.model_digest_,
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "nodes": len(ids),
        "labels": fitted.classes_,
        "seed": common.seed,
        "threads": common.threads,
        "out": out,
    }
    _deliver(table, facts, out, as_json=common.as_json)


def _deliver(table: pa.Table, facts: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    from adagcn.cli.prediction_table import write_csv, write_table

    if out is not None:
        write_table(table, out)
    if as_json:
        print_json(facts if out is not None else {**facts, "predictions": table.to_pylist()})
    elif out is None:
        sys.stdout.flush()
        write_csv(table, sys.stdout.buffer)
    else:
        counts = table.group_by("label").aggregate([("id", "count")]).sort_by("label")
        screen().print(
            facts_table(
                [
                    ("predicted", counted(facts["nodes"], "node")),
                    *((f"as {row['label']}", f"{row['id_count']:,}") for row in counts.to_pylist()),
                    ("written to", str(out)),
                ]
            )
        )


def _defused(table: pa.Table) -> pa.Table:
    from adagcn.cli.prediction_table import defuse_formulas

    safe, n_changed = defuse_formulas(table)
    if n_changed:
        note(
            f"an apostrophe was put before {counted(n_changed, 'cell')} that a spreadsheet would "
            "run as a formula; --verbatim or a .parquet file avoids this"
        )
    return safe


def _read_ids(nodes: str, id_column: str | None, graph: Graph) -> NDArray[Any]:
    """Return the ids in a table or on standard input, of the same kind as the graph's."""
    from adagcn.formats.node_ids import as_id_column, of_one_kind
    from adagcn.formats.tables import Columns, read_table

    if nodes == "-":
        lines = [line for line in sys.stdin.read().splitlines() if line]
        asked = as_id_column(lines, "--nodes", untyped=True)
    else:
        table, names = read_table(Path(nodes), "--nodes", Columns([id_column], also=()))
        asked = as_id_column(table.columns[names[0]], "--nodes", untyped=table.untyped)
    known = as_id_column(graph.node_ids, "the graph")
    return of_one_kind([asked, known])[0].ids
