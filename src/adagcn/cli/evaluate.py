"""``adagcn evaluate``: how well a saved model predicts the labels of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.graph_options import GraphOptions, graph_facts
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import facts_table, note, percent, print_json, rows_table, screen
from adagcn.cli.predict import ModelFile
from adagcn.errors import InputError, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adagcn.graph import Graph

_LARGEST_MATRIX = 10  # labels whose confusion is shown in a terminal


@with_option_groups
def evaluate(
    model: ModelFile,
    options: GraphOptions,
    common: Common,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            help="The split of the fit, whose scored nodes are used; none uses every label.",
            show_default="val:0; stratified:0 for your own graph",
        ),
    ] = None,
) -> None:
    """Evaluate a saved model: accuracy, F1, log-loss and confusion matrix."""
    from adagcn.cli.scores import score_predictions
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import load_model

    name = split or options.default_split()
    with threads(common.threads):
        graph = options.read_labeled()
        fitted = load_model(model, graph=graph)
        scored = graph.labeled_nodes if name == "none" else options.split(graph, name).score_nodes
        _check_labels(graph, fitted.classes_)
        ids, labels = graph.ids_and_labels(scored)
        proba = fitted.predict_proba(ids)
    if name == "none":
        note("every label is scored, including those the model was trained on")
    facts = {
        **score_predictions(labels, proba, fitted.classes_),
        "nodes": len(ids),
        "split": name,
        "model": fitted.model_key,
        "model_digest": fitted.model_digest_,
        "preset": fitted.params_["preset"],
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "seed": common.seed,
        "threads": common.threads,
    }
    if common.as_json:
        print_json(facts)
    else:
        _show(facts, graph)


def _check_labels(graph: Graph, classes: NDArray[Any]) -> None:
    text = [values.dtype.kind == "U" for values in (graph.classes, classes)]
    if text[0] != text[1]:
        raise InputError(
            "AGC-I813",
            f"the graph's labels are {'text' if text[0] else 'numbers'}, the model's are not",
            got=f"{graph.classes[:3].tolist()} and {classes[:3].tolist()}",
            fix="use labels of the same kind as in the fit",
        )


def _show(facts: dict[str, Any], graph: Graph) -> None:
    console = screen()
    log_loss = facts["log_loss"]
    console.print(
        facts_table(
            [
                ("graph", repr(graph)),
                ("model", f"{facts['model']}, preset {facts['preset']}"),
                ("split", f"{facts['split']}: {counted(facts['nodes'], 'node')}"),
                ("accuracy", percent(facts["accuracy"])),
                ("macro F1", percent(facts["macro_f1"])),
                (
                    "log-loss",
                    "infinite (labels the model does not know)"
                    if log_loss is None
                    else f"{log_loss:.4f}",
                ),
            ]
        )
    )
    rows = [
        [
            f"{number} {each['label']}",
            f"{each['nodes']:,}",
            *(percent(each[n]) for n in ("precision", "recall", "f1")),
        ]
        for number, each in enumerate(facts["per_class"])
    ]
    console.print()
    console.print(
        rows_table(["label", "nodes", "precision", "recall", "F1"], rows, width=console.width)
    )
    console.print()
    console.print(_confusion_table(facts["confusion"], console.width))


def _confusion_table(confusion: dict[str, Any], width: int) -> Any:
    """Return counts by true and predicted label, both numbered since names may be long."""
    if len(confusion["labels"]) > _LARGEST_MATRIX:
        return "The confusion matrix is too large to show here; --json has it."
    header = ["true label, predicted as", *map(str, range(len(confusion["labels"])))]
    rows = [
        [str(number), *(f"{count:,}" for count in row)]
        for number, row in enumerate(confusion["matrix"])
    ]
    return rows_table(header, rows, width=width)
