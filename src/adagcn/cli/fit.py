"""``adagcn fit``: train a model and save it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.all_predicted import check_predict_to, predict_all
from adagcn.cli.checkpoint_options import CheckpointOptions
from adagcn.cli.engine_options import EngineOptions
from adagcn.cli.graph_options import GraphOptions, graph_facts, reading_rows
from adagcn.cli.log_option import LogOption
from adagcn.cli.options import Calibrate, ClassWeight, Common, Force, with_option_groups
from adagcn.cli.output import (
    check_out,
    chosen_rows,
    facts_table,
    note,
    percent,
    print_json,
    rows_table,
    screen,
)
from adagcn.cli.set_option import calibrate_setting, class_weight_setting, parse_settings
from adagcn.cli.split_options import (
    SplitOptions,
    counts_in_words,
    empty_sets,
    measure_rows,
    refuse_validation_fraction,
    with_conformal,
)
from adagcn.errors import AdaGCNError, InputError, counted

if TYPE_CHECKING:
    from adagcn.cli.all_predicted import AllPredicted
    from adagcn.cli.training_run import TrainingRun
    from adagcn.graph import Graph
    from adagcn.models.support.classifier import NodeClassifier


@with_option_groups
def fit(
    options: GraphOptions,
    splits: SplitOptions,
    engines: EngineOptions,
    checkpoints: CheckpointOptions,
    logs: LogOption,
    common: Common,
    model: Annotated[
        str,
        typer.Option("--model", help="adagcn, appnp, gcn, …; an unknown name lists all models."),
    ] = "adagcn",
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="adagcn: adaptive (chooses settings on the stopping nodes), tuned (one recipe for "
            "all graphs) or instant (no epochs); adagcn, adasgc, mlp, logistic: tuned, boosted, "
            "unweighted, paper or released; other models: paper or authors.",
            show_default="adaptive; tuned for adasgc, mlp, logistic; paper for other models",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A hyper-parameter, such as --set variant.stop_on=accuracy; repeat for more.",
        ),
    ] = None,
    row_memory: Annotated[
        str | None,
        typer.Option(
            "--row-memory",
            metavar="SIZE",
            help="Memory for the rows that layers are trained on, such as 2GB; beyond it they are "
            "read from a temporary file, with the same result.",
            show_default="no limit",
        ),
    ] = None,
    train_workers: Annotated[
        int,
        typer.Option(
            "--train-workers",
            metavar="N",
            min=1,
            max=256,
            help="With --engine ray: train each layer on so many workers, each with its part of "
            "the labeled rows.",
        ),
    ] = 1,
    class_weight: ClassWeight = None,
    calibrate: Calibrate = None,
    conformal: Annotated[
        float | None,
        typer.Option(
            "--conformal",
            metavar="N|SHARE",
            help="Keep some of the stopping nodes (0.5: half of them) for prediction sets alone; "
            "see predict --coverage.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to save the model.")
    ] = None,
    predict_to: Annotated[
        Path | None,
        typer.Option(
            "--predict-to",
            metavar="FILE",
            help="Then predict all nodes: a .parquet, .csv, .csv.gz, .jsonl or .ndjson file with "
            "the columns of adagcn predict.",
        ),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="After scoring, fit again on all labels (four fifths are trained on, the rest "
            "stopped on; see --stop) and save that model.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Train a model on a data set, an .npz file, a store or your own tables.

    Accuracy is measured on the scored nodes of the split, which are never trained on.
    """
    check_out(out, force=force)
    check_predict_to(predict_to, out, force=force)
    if refit and splits.split == "none":
        problem = "--refit has no meaning for --split none, which uses all labels at once"
        raise InputError("AGC-I846", problem, fix="leave one of them out")

    from adagcn.cli.scores import class_sizes, uneven_note
    from adagcn.cli.training_run import run_training
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import build_model, default_preset, model_class
    from adagcn.propagation.hop_workplace import hops_shared

    settable = model_class(model).settable()
    given = parse_settings(settings or [], settable, model)
    given |= class_weight_setting(class_weight, given, {model: settable})
    given |= calibrate_setting(calibrate, given)
    refuse_validation_fraction(given)
    preset = preset or default_preset(model)
    limits = _limits(model, row_memory, train_workers)

    def estimator() -> NodeClassifier:
        made = build_model(model, graph, preset=preset, settings=given, random_state=common.seed)
        return made.set_params(**limits) if limits else made

    with logs.written(), checkpoints.kept(), hops_shared():  # by the fit, scores, predictions
        with threads(common.threads):
            graph = options.read_labeled()
            chosen = with_conformal(splits.make(graph, options), conformal)
            for text in empty_sets(chosen):
                note(text)
            told = checkpoints.callbacks(graph)
            with engines.for_hops(graph, train_workers):
                run = run_training(estimator(), graph, chosen, told)
                again = None
                if refit:
                    everything = with_conformal(splits.without_scoring(graph), conformal)
                    again = run_training(estimator(), graph, everything, told)
        uneven = uneven_note(
            class_sizes(graph.labels[chosen.train_nodes]),
            {"": run.scores.get("balanced_accuracy")},
            asked=splits.metric == "balanced_accuracy",
            weighed=run.model.class_weight is not None,
        )
        if uneven is not None:
            note(uneven)
        final = (again or run).model
        failure = None if out is None else _save(final, out)
        with threads(common.threads), engines.for_hops(graph, train_workers):
            predicted = predict_all(final, predict_to)
        facts = {
            **run.facts(),
            "metric": splits.metric,
            "refit": None if again is None else _refit_facts(again),
            "dataset": graph.name,
            "graph": graph_facts(graph),
            "seed": common.seed,
            "threads": common.threads,
            "out": None if failure is not None else out,
            "predictions": predicted.facts(),
        }
        if common.as_json:
            print_json(facts)
        else:
            _show(facts, graph, options, predicted)
        failure = failure or predicted.failure
        if failure is not None:
            raise failure


def _limits(model: str, row_memory: str | None, train_workers: int) -> dict[str, Any]:
    """Return what a model is told of the machine."""
    from adagcn.engines.memory import bytes_of
    from adagcn.models.support.registry import model_class

    limit = bytes_of(row_memory, "--row-memory")
    given = {"--row-memory": limit is not None, "--train-workers": train_workers > 1}
    names = [name for name, is_given in given.items() if is_given]
    if names and "row_memory" not in model_class(model)._get_param_names():
        raise InputError(
            "AGC-I1711",
            f"{' and '.join(names)} would do nothing: {model} is not trained hop by hop",
            fix="leave it out, or use --model adagcn",
        )
    return {} if limit is None else {"row_memory": limit}


def _save(model: NodeClassifier, out: Path) -> AdaGCNError | OSError | None:
    """Save a model; a failure is returned, so that what was trained for can be shown first."""
    try:
        model.save(out)
    except (AdaGCNError, OSError) as error:
        return error
    return None


def _refit_facts(run: TrainingRun) -> dict[str, Any]:
    names = ("labels", "stop_accuracy", "n_layers", "epochs", "seconds", "model_digest", "look")
    kept = (*names, "temperature")
    return {name: value for name, value in run.facts().items() if name in kept}


def _show(
    facts: dict[str, Any], graph: Graph, options: GraphOptions, predicted: AllPredicted
) -> None:
    from adagcn.cli.scores import weight_words

    console = screen()
    stop_accuracy = facts["stop_accuracy"]
    recipe = f"preset {facts['preset']}{weight_words(facts['class_weight'])}"
    console.print(
        facts_table(
            [
                ("graph", repr(graph)),
                *([] if options.is_named else reading_rows(graph)),
                ("model", f"{facts['model']}, {recipe}, seed {facts['seed']}"),
                ("split", facts["split"]),
                ("labels", counts_in_words(facts["labels"])),
                *_stand_in_rows(facts["coordinates"]),
                *chosen_rows(facts["look"]),
                *measure_rows(facts),
                ("on stop nodes", "none" if stop_accuracy is None else percent(stop_accuracy)),
                *_certainty_rows(facts),
                ("training", _amount(facts)),
                ("time", f"{facts['seconds']:.1f} s, threads: {facts['threads']}"),
                ("digest", facts["model_digest"][:16]),
                *_refit_rows(facts["refit"]),
                ("model file", str(facts["out"] or "not saved (add --out model.adagcn)")),
                *predicted.rows(),
            ]
        )
    )
    if facts["effective_sample_size"] is not None:
        console.print()
        console.print(_layers_table(facts, console.width))
    if facts["out"] is not None and facts["predictions"] is None:
        console.print()
        console.print(f"Next: adagcn predict {facts['out']} {options.words()}", soft_wrap=True)


def _certainty_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the temperature, and how many nodes prediction sets rest on, where there are such."""
    rows = []
    if facts["temperature"] is not None:
        rows.append(("temperature", f"{facts['temperature']:.3f}, fitted to the stop nodes"))
    n_nodes = facts["labels"].get("calibration")
    if n_nodes is not None:
        most = percent(math.floor(1000 * n_nodes / (n_nodes + 1)) / 1000)
        told = f"{counted(n_nodes, 'calibration node')}; any coverage up to {most}"
        rows.append(("prediction sets", told))
    return rows


def _stand_in_rows(n_coordinates: int | None) -> list[tuple[str, str]]:
    if n_coordinates is None:
        return []
    said = f"none given; {n_coordinates} spectral coordinates of the nodes stand in for them"
    return [("features", said)]


def _refit_rows(refit: dict[str, Any] | None) -> list[tuple[str, str]]:
    if refit is None:
        return []
    told = f"on all labels, {counts_in_words(refit['labels'])}; {refit['seconds']:.1f} s"
    seen = "it has seen every label, so that the accuracy above is of the fit before it"
    return [
        ("refit", f"{told}; {seen}"),
        *chosen_rows(refit["look"]),
        ("refit digest", refit["model_digest"][:16]),
    ]


def _amount(facts: dict[str, Any]) -> str:
    if facts["effective_sample_size"] is None:
        return counted(facts["epochs"], "epoch")
    kept = " kept" if facts["params"]["n_layers"] == "auto" else ""
    return f"{counted(facts['n_layers'], 'layer')}{kept}, {counted(facts['epochs'], 'epoch')}"


def _layers_table(facts: dict[str, Any], width: int) -> Any:
    by_depth = facts["accuracy_by_depth"] or [None] * facts["n_layers"]
    rows = [
        [
            str(hop),
            "-" if epochs is None else f"{epochs:,}",
            f"{100 * share:.0f} %",
            "-" if accuracy is None else percent(accuracy),
        ]
        for hop, (epochs, share, accuracy) in enumerate(
            zip(facts["epochs_by_layer"], facts["effective_sample_size"], by_depth, strict=True)
        )
    ]
    return rows_table(["hop", "epochs", "effective sample", "accuracy so far"], rows, width=width)
