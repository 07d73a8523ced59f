"""``adagcn evaluate``: how well a saved model predicts the labels of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from adagcn.cli.graph_options import GraphOptions, graph_facts, reading_rows
from adagcn.cli.options import Common, ModelFile, with_option_groups
from adagcn.cli.output import (
    chosen_rows,
    facts_table,
    note,
    percent,
    print_json,
    rows_table,
    screen,
)
from adagcn.cli.split_options import (
    SplitOptions,
    check_scored,
    counts_in_words,
    label_counts,
    measure_rows,
)
from adagcn.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adagcn.data import Split
    from adagcn.graph import Graph
    from adagcn.models.support.classifier import NodeClassifier

_LARGEST_MATRIX = 10  # labels whose confusion is shown in a terminal


@with_option_groups
def evaluate(
    model: ModelFile,
    options: GraphOptions,
    splits: SplitOptions,
    common: Common,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            metavar="SHARE",
            help="Coverage of the prediction sets to check, of a model fitted with --conformal.",
            show_default="0.9",
        ),
    ] = None,
) -> None:
    """Evaluate a saved model: accuracy, F1, log-loss, calibration and confusion matrix.

    Give the split of the fit, whose scored nodes the model has not seen; --split none scores every
    label. The reliability table compares how sure the model is with how often it is right.
    """
    from adagcn.cli.certainty import calibration_facts, checked_sets
    from adagcn.cli.scores import class_sizes, score_predictions, uneven_note
    from adagcn.cli.training_run import choice_facts
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import load_model

    with threads(common.threads):
        graph = options.read_labeled()
        fitted = load_model(model, graph=graph)
        labels_used = _scored(graph, options, splits, fitted)
        check_kind_of_labels(graph, fitted.classes_)
        ids, labels = graph.ids_and_labels(labels_used.scored)
        proba = fitted.predict_proba(ids)
        sets = checked_sets(fitted, graph, labels_used, coverage)
    if labels_used.split.name == "none":
        note("every label is scored; these may include those that the model was trained on")
    found = score_predictions(labels, proba, fitted.classes_)
    uneven = uneven_note(
        class_sizes(graph.labels[labels_used.trained]),
        {"": found["balanced_accuracy"]},
        asked=splits.metric == "balanced_accuracy",
        weighed=fitted.class_weight is not None,
        option="adagcn fit --class-weight balanced",
    )
    if uneven is not None:
        note(uneven)
    facts = {
        **found,
        "metric": splits.metric,
        "nodes": len(ids),
        "split": labels_used.split.name,
        "labels": labels_used.counts,
        "model": fitted.model_key,
        "model_digest": fitted.model_digest_,
        "preset": fitted.params_["preset"],
        **choice_facts(fitted),
        "calibrate": fitted.calibrate,
        "temperature": fitted.temperature_,
        "calibration": calibration_facts(labels, proba, fitted.classes_),
        "prediction_sets": sets,
        "class_weight": fitted.class_weight,
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "seed": common.seed,
        "threads": common.threads,
    }
    if common.as_json:
        print_json(facts)
    else:
        _show(facts, graph, [] if options.is_named else reading_rows(graph))


class LabelsUsed(NamedTuple):
    """The split, how many labels it uses for what, and which nodes.

    ``trained`` are those that a fit on this split is trained on. Of ``none`` that is not known, and
    they are all labeled nodes.
    """

    split: Split
    counts: dict[str, int]
    scored: NDArray[Any]
    trained: NDArray[Any]


def _scored(
    graph: Graph, options: GraphOptions, splits: SplitOptions, fitted: NodeClassifier
) -> LabelsUsed:
    """Return which labels are scored."""
    from adagcn.cli.certainty import as_fitted

    if splits.split == "none" and splits.stop is not None:
        problem = "--stop has no meaning for --split none, which scores every label"
        raise InputError("AGC-I847", problem, got=splits.stop, fix="leave --stop out")
    split = splits.make(graph, options)
    if split.name == "none":
        known = graph.labeled_nodes
        counts = {"known": len(known), "train": 0, "stop": 0, "score": len(known)}
        return LabelsUsed(split, counts, known, known)
    check_scored(split)
    split = as_fitted(split, graph, fitted)
    counts = label_counts(graph, split)
    return LabelsUsed(split, counts, split.score_nodes, split.train_nodes)


def check_kind_of_labels(graph: Graph, classes: NDArray[Any]) -> None:
    """Refuse labels that are text where the model's are numbers, or the other way round."""
    text = [values.dtype.kind == "U" for values in (graph.classes, classes)]
    if text[0] != text[1]:
        raise InputError(
            "AGC-I813",
            f"the graph's labels are {'text' if text[0] else 'numbers'}, the model's are not",
            got=f"{graph.classes[:3].tolist()} and {classes[:3].tolist()}",
            fix="use labels of the same kind as in the fit",
        )


def _show(facts: dict[str, Any], graph: Graph, read: list[tuple[str, str]]) -> None:
    from adagcn.cli.certainty import certainty_rows, reliability_table
    from adagcn.cli.scores import weight_words

    console = screen()
    recipe = f"preset {facts['preset']}{weight_words(facts['class_weight'])}"
    log_loss = facts["log_loss"]
    console.print(
        facts_table(
            [
                ("graph", repr(graph)),
                *read,
                ("model", f"{facts['model']}, {recipe}"),
                *chosen_rows(facts["look"]),
                *_label_rows(facts),
                *measure_rows(facts),
                ("macro F1", percent(facts["macro_f1"])),
                (
                    "log-loss",
                    "infinite (labels the model does not know)"
                    if log_loss is None
                    else f"{log_loss:.4f}",
                ),
                *certainty_rows(facts),
            ]
        )
    )
    names = _names([each["label"] for each in facts["per_class"]])
    rows = [
        [
            name,
            f"{each['nodes']:,}",
            *(percent(each[n]) for n in ("precision", "recall", "f1")),
        ]
        for name, each in zip(names, facts["per_class"], strict=True)
    ]
    console.print()
    console.print(
        rows_table(["label", "nodes", "precision", "recall", "F1"], rows, width=console.width)
    )
    console.print()
    console.print(_confusion_table(facts["confusion"], console.width))
    console.print()
    console.print(reliability_table(facts["calibration"], console.width))


def _label_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the split and its labels; which nodes a model was trained on is not in its file."""
    if facts["split"] == "none":
        return [("split", "none"), ("labels", f"{facts['nodes']:,}, all of them scored")]
    return [
        ("split", facts["split"]),
        ("labels", counts_in_words(facts["labels"])),
        ("scored nodes", "unseen if the model was fitted on this split, without --refit"),
    ]


def _names(labels: list[Any]) -> list[str]:
    """Return the labels as they are shown: numbers as they are, names with a number in front."""
    if not any(isinstance(label, str) for label in labels):
        return [str(label) for label in labels]
    return [f"{number} {label}" for number, label in enumerate(labels)]


def _confusion_table(confusion: dict[str, Any], width: int) -> Any:
    """Return counts by true and predicted label: numbers for names, since these may be long."""
    if len(confusion["labels"]) > _LARGEST_MATRIX:
        return "The confusion matrix is too large to show here; --json has it."
    short = [name.split(" ", 1)[0] for name in _names(confusion["labels"])]
    header = ["true label, predicted as", *short]
    rows = [
        [name, *(f"{count:,}" for count in row)]
        for name, row in zip(short, confusion["matrix"], strict=True)
    ]
    return rows_table(header, rows, width=width)
