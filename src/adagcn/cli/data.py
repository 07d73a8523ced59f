"""``adagcn data``: named data sets, and files of your own."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.convert import convert
from adagcn.cli.data_tables import tables
from adagcn.cli.graph_options import MaxSize, graph_facts, graph_rows, reading_rows
from adagcn.cli.options import Common, DataDir, Offline, with_option_groups
from adagcn.cli.output import facts_table, print_json, print_result, rows_table, screen
from adagcn.engines.memory import bytes_of
from adagcn.errors import AdaGCNError, IntegrityError

if TYPE_CHECKING:
    from adagcn.data import Verification
    from adagcn.graph import Graph

data_app = typer.Typer(
    help="List, fetch, describe, check and convert data sets, or write them as tables."
)
data_app.command("convert")(convert)
data_app.command("tables")(tables)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from adagcn data list.")]
NameOrAll = Annotated[
    str, typer.Argument(metavar="NAME|all", help="A data set, or all found on this machine.")
]
NameOrFile = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A data set's name or an .npz file.")
]
_DISAGREES = IntegrityError.exit_code


@data_app.command("list")
@with_option_groups
def list_datasets(common: Common, data_dir: DataDir = None) -> None:
    """List the named data sets: sizes, the paper's Table 1, licenses, and which files are here.

    Models are trained on graphs cleaned as in the paper; the sizes are those after cleaning.
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
    console.print("As CSV tables: adagcn data tables cora DIR, adagcn data tables twitch DIR")


@data_app.command("get")
@with_option_groups
def get_dataset(
    name: Name, common: Common, data_dir: DataDir = None, offline: Offline = False
) -> None:
    """Find or download a data set and verify it; with --data-dir, copy it there."""
    from adagcn.data import locate_dataset

    if data_dir is None:
        path = locate_dataset(name, offline=offline or None)
    else:
        path = _copied_to(data_dir, name, offline)
    facts = {"name": name, "path": path, "bytes": path.stat().st_size}
    print_result(facts, f"{name} is verified: {path}", as_json=common.as_json)


@data_app.command("info")
@with_option_groups
def describe(
    what: NameOrFile, common: Common, data_dir: DataDir = None, max_size: MaxSize = None
) -> None:
    """Describe a data set or an .npz file."""
    from adagcn.data import CATALOG, dataset_info, load_graph
    from adagcn.data.catalog import TABLE_SETS

    if what in CATALOG:
        facts = dataset_info(what, data_dir=data_dir)
        shown = _catalog_rows(facts)
    elif what in TABLE_SETS:
        facts = asdict(TABLE_SETS[what])
        shown = _table_set_rows(facts)
    else:
        graph = load_graph(what, data_dir=data_dir, max_bytes=bytes_of(max_size))
        facts = {"path": what, **graph_facts(graph), "class_sizes": _class_sizes(graph)}
        shown = [*graph_rows(facts), *reading_rows(graph)]
    print_result(facts, facts_table(shown), as_json=common.as_json)


@data_app.command("verify")
@with_option_groups
def verify(
    name: NameOrAll, common: Common, data_dir: DataDir = None, offline: Offline = False
) -> None:
    """Check data files byte by byte and count their contents; exit code 4 if one is wrong."""
    from adagcn.data import CATALOG, dataset_info, verify_dataset

    if name == "all":
        names = [each for each in CATALOG if dataset_info(each, data_dir=data_dir)["path"]]
        reports = [_verified_or_error(each, data_dir) for each in names]
    else:
        reports = [_report(verify_dataset(name, data_dir=data_dir, offline=offline or None))]
    shown = facts_table((report["name"], _verdict(report)) for report in reports)
    print_result({"datasets": reports}, shown, as_json=common.as_json)
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
        return _report(verify_dataset(name, data_dir=data_dir, offline=True))
    except AdaGCNError as error:
        return {"name": name, "agrees": False, "error": str(error)}


def _report(verification: Verification) -> dict[str, Any]:
    return {**asdict(verification), "agrees": verification.agrees, "error": None}


def _verdict(report: dict[str, Any]) -> str:
    if report["agrees"]:
        return "as expected"
    if report["error"] is not None:
        return str(report["error"])
    return f"has {_counts(report['held'])} instead of {_counts(report['expected'])}"


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


def _table_set_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is known of a data set that was published as tables."""
    files = [(part, facts[part]) for part in ("edges", "features", "labels")]
    return [
        ("name", f"{facts['key']} ({facts['title']})"),
        *((name, facts[name]) for name in ("origin", "license")),
        *((part, f"{file['name']}, {file['digests'][0]}") for part, file in files),
        ("note", facts["note"]),
        ("next", f"adagcn data tables {facts['key']} DIR"),
    ]


def _class_sizes(graph: Graph) -> dict[str, int]:
    import numpy as np

    counts = np.bincount(graph.labels[graph.labeled_nodes], minlength=graph.n_classes)
    return dict(zip(map(str, graph.classes.tolist()), counts.tolist(), strict=True))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {name.removeprefix('n_')}" for name, n in counts.items())


def _cells(counts: dict[str, int]) -> list[str]:
    return [f"{count:,}" for count in counts.values()]
