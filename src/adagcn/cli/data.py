"""``adagcn data``: the data sets that have a name, and files of one's own."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.convert import convert
from adagcn.cli.graph_options import graph_facts, graph_rows
from adagcn.cli.options import Common, DataDir, Offline, with_option_groups
from adagcn.cli.output import facts_table, print_json, rows_table, screen
from adagcn.errors import AdaGCNError, IntegrityError

if TYPE_CHECKING:
    from adagcn.graph import Graph

data_app = typer.Typer(help="List, fetch, describe, check and convert data sets.")
data_app.command("convert")(convert)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from adagcn data list.")]
_DISAGREES = IntegrityError.exit_code


@data_app.command("list")
@with_option_groups
def list_datasets(common: Common, data_dir: DataDir = None) -> None:
    """Show the data sets that have a name: sizes, the paper's Table 1, licenses, what is here.

    Sizes are those after cleaning as in the paper, on which models are trained.
    """
    from adagcn.data import CATALOG, dataset_info

    found = [dataset_info(name, data_dir=data_dir) for name in CATALOG]
    if common.as_json:
        print_json({"datasets": found})
        return
    console = screen()
    header = ["name", "nodes", "edges", "features", "classes", "here"]
    rows: list[list[str]] = []
    for each in found:
        rows.append([each["key"], *_cells(each["cleaned"]), "yes" if each["path"] else "no"])
        rows.append(["(paper)", *_cells(each["paper"]), ""])
    console.print(rows_table(header, rows, width=console.width))
    console.print()
    console.print("Licenses: " + "; ".join(f"{each['key']} {each['license']}" for each in found))
    console.print("Next: adagcn data info cora_ml, adagcn data get cora_ml, adagcn fit cora")


@data_app.command("get")
@with_option_groups
def get_dataset(
    name: Name, common: Common, data_dir: DataDir = None, offline: Offline = False
) -> None:
    """Find or download a data set and verify it; with --data-dir, put it there."""
    from adagcn.data import locate_dataset

    if data_dir is None:
        path = locate_dataset(name, offline=offline or None)
    else:
        path = _copied_to(data_dir, name, offline)
    if common.as_json:
        print_json({"name": name, "path": path, "bytes": path.stat().st_size})
    else:
        screen().print(f"{name} is verified: {path}", soft_wrap=True)


@data_app.command("info")
@with_option_groups
def describe(
    what: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A data set's name or an .npz file.")
    ],
    common: Common,
    data_dir: DataDir = None,
) -> None:
    """Describe a data set or an .npz file."""
    from adagcn.data import CATALOG, dataset_info, load_graph

    if what in CATALOG:
        facts = dataset_info(what, data_dir=data_dir)
        shown = _catalog_rows(facts)
    else:
        graph = load_graph(what, data_dir=data_dir)
        facts = {"path": what, **graph_facts(graph), "class_sizes": _class_sizes(graph)}
        shown = graph_rows(facts)
    if common.as_json:
        print_json(facts)
    else:
        screen().print(facts_table(shown))


@data_app.command("verify")
@with_option_groups
def verify(
    name: Annotated[
        str, typer.Argument(metavar="NAME|all", help="A data set, or all that are here.")
    ],
    common: Common,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Check files byte by byte and count what they hold; exit code 4 if something is wrong."""
    from adagcn.data import CATALOG, dataset_info, verify_dataset

    if name == "all":
        names = [each for each in CATALOG if dataset_info(each, data_dir=data_dir)["path"]]
        reports = [_verified_or_error(each, data_dir) for each in names]
    else:
        verification = verify_dataset(name, data_dir=data_dir, offline=offline or None)
        reports = [{**asdict(verification), "agrees": verification.agrees, "error": None}]
    if common.as_json:
        print_json({"datasets": reports})
    else:
        console = screen()
        rows = [[r["name"], "as it should be" if r["agrees"] else _wrong(r)] for r in reports]
        console.print(facts_table((row[0], row[1]) for row in rows))
    if not all(report["agrees"] for report in reports):
        raise typer.Exit(_DISAGREES)


def _copied_to(data_dir: Path, name: str, offline: bool) -> Path:
    """Return the verified file in ``data_dir``, copied from wherever it is if need be."""
    from adagcn.data import find_dataset, locate_dataset
    from adagcn.formats.atomic import atomic_file

    target = data_dir / find_dataset(name).file.name
    found = locate_dataset(name, data_dir=data_dir, offline=offline or None)
    if found != target:
        with found.open("rb") as original, atomic_file(target) as copy:
            shutil.copyfileobj(original, copy)
    return target


def _verified_or_error(name: str, data_dir: Path | None) -> dict[str, Any]:
    from adagcn.data import verify_dataset

    try:
        verification = verify_dataset(name, data_dir=data_dir, offline=True)
    except AdaGCNError as error:
        return {"name": name, "agrees": False, "error": str(error)}
    return {**asdict(verification), "agrees": verification.agrees, "error": None}


def _wrong(report: dict[str, Any]) -> str:
    if report["error"] is not None:
        return str(report["error"])
    return f"holds {_counts(report['held'])} instead of {_counts(report['expected'])}"


def _catalog_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("name", f"{facts['key']} ({facts['title']})"),
        ("origin", facts["origin"]),
        ("license", facts["license"]),
        ("file", facts["file"]["name"]),
        ("here", facts["path"] or f"no (adagcn data get {facts['key']})"),
        ("nodes in the file", f"{facts['raw_nodes']:,}"),
        ("after cleaning", _counts(facts["cleaned"])),
        ("paper's Table 1", _counts(facts["paper"])),
    ]
    return [*rows, ("note", facts["note"])] if facts["note"] else rows


def _class_sizes(graph: Graph) -> dict[str, int]:
    import numpy as np

    counts = np.bincount(graph.labels[graph.labeled_nodes], minlength=graph.n_classes)
    return dict(zip(map(str, graph.classes.tolist()), counts.tolist(), strict=True))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {name.removeprefix('n_')}" for name, n in counts.items())


def _cells(counts: dict[str, int]) -> list[str]:
    return [f"{count:,}" for count in counts.values()]
