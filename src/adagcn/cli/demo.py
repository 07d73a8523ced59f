"""``adagcn demo``: train and compare on the packaged Cora graph, with a figure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.depth_chart import depth_chart
from adagcn.cli.graph_options import graph_facts
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import note, percent, print_json, rows_table, screen
from adagcn.errors import InputError, ResourceError

if TYPE_CHECKING:
    from adagcn.cli.training_run import TrainingRun
    from adagcn.graph import Graph

_DATA = "cora"
_SPLIT = "val:0"
_FIGURE = "adagcn-demo.png"
_MODEL = "adagcn-demo.adagcn"
_COMPARED = {
    "adagcn": "AdaGCN",
    "mlp": "perceptron, no edges",
    "logistic": "logistic regression, no edges",
}


@dataclass(frozen=True)
class _Result:
    """One row of the comparison."""

    name: str
    accuracy: float
    seconds: float


@with_option_groups
def demo(
    common: Common,
    out_dir: Annotated[
        Path,
        typer.Option("--out-dir", metavar="DIR", help="Where to write the figure and the model."),
    ] = Path(),
) -> None:
    """Train AdaGCN on the packaged Cora graph and compare it with models that see no edges.

    Writes adagcn-demo.png and adagcn-demo.adagcn, replacing those of an earlier demo.
    """
    if not out_dir.is_dir():
        raise InputError(
            "AGC-I814", "--out-dir is not a folder", got=str(out_dir), fix="create it first"
        )
    from adagcn.cli.training_run import run_training
    from adagcn.data import load_dataset, make_split
    from adagcn.engines.threads import threads
    from adagcn.models.support.registry import model_class

    graph = load_dataset(_DATA)
    split = make_split(graph, _SPLIT)
    with threads(common.threads):
        runs = {
            name: run_training(model_class(key)(graph, random_state=common.seed), graph, split)
            for key, name in _COMPARED.items()
        }
    results = [
        _Result(name, each.accuracy_by_depth[-1], each.seconds) for name, each in runs.items()
    ]
    run = runs["AdaGCN"]
    run.model.save(out_dir / _MODEL)
    figure = _draw(out_dir / _FIGURE, run, results, len(split.score_nodes))
    if common.as_json:
        print_json(_facts(run, results, graph, common, out_dir, figure))
    else:
        _show(run, results, graph, out_dir, figure)


def _draw(path: Path, run: TrainingRun, results: list[_Result], n_scored: int) -> Path | None:
    """Write the figure; if matplotlib is missing, say how to install it and continue."""
    from adagcn.report.depth_figure import depth_figure
    from adagcn.report.drawing import save_figure

    controls = {result.name.split(",")[0]: result.accuracy for result in results[1:]}
    title = f"Cora, {_SPLIT}: accuracy on {n_scored:,} validation nodes by depth"
    try:
        save_figure(path, depth_figure(run.accuracy_by_depth, controls, title=title))
    except ResourceError as error:
        note(str(error))
        return None
    return path


def _facts(
    run: TrainingRun,
    results: list[_Result],
    graph: Graph,
    common: Common,
    out_dir: Path,
    figure: Path | None,
) -> dict[str, Any]:
    return {
        **run.facts(),
        "dataset": graph.name,
        "graph": graph_facts(graph),
        "seed": common.seed,
        "threads": common.threads,
        "comparison": [
            {"model": each.name, "accuracy": each.accuracy, "seconds": round(each.seconds, 3)}
            for each in results
        ],
        "out": out_dir / _MODEL,
        "figure": figure,
    }


def _show(
    run: TrainingRun,
    results: list[_Result],
    graph: Graph,
    out_dir: Path,
    figure: Path | None,
) -> None:
    console = screen()
    console.print(graph, soft_wrap=True)
    console.print(
        f"Trained on {run.labels['train']:,} labels, stopped on {run.labels['stop']:,}, scored on "
        f"{run.labels['score']:,} other nodes ({run.split}, preset {run.model.preset})."
    )
    look = run.model.params_.get("look")
    if look is not None:
        console.print(f"Chosen on the stopping nodes: {look}.")
    rows = [[each.name, percent(each.accuracy), f"{each.seconds:.2f}"] for each in results]
    console.print()
    console.print(rows_table(["model", "accuracy", "seconds"], rows, width=console.width))
    console.print()
    console.print("Accuracy of AdaGCN by the farthest hop in the ensemble")
    mark = (results[-1].name, results[-1].accuracy)
    unicode = (console.encoding or "").lower().startswith("utf")
    for line in depth_chart(
        run.accuracy_by_depth, mark=mark, width=min(console.width, 80), unicode=unicode
    ):
        console.print(line, soft_wrap=True)
    model = out_dir / _MODEL
    console.print()
    console.print(f"Written: {model}{'' if figure is None else f', {figure}'}", soft_wrap=True)
    console.print("Next:")
    for command in (
        f"adagcn predict {model} {_DATA} --out labels.csv",
        f"adagcn explain {model} {_DATA} --node {graph.node_ids[0]}",
        f"adagcn evaluate {model} {_DATA}",
        "adagcn fit --edges edges.csv --features features.csv --labels labels.csv --out my.adagcn",
    ):
        console.print(f"  {command}", soft_wrap=True)
