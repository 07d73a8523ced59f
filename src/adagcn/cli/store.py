"""``adagcn store``: graphs in a folder of files, for features larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.engine_options import EngineOptions
from adagcn.cli.graph_options import GraphOptions, graph_facts, graph_rows, reading_rows
from adagcn.cli.options import Common, with_option_groups
from adagcn.cli.output import facts_table, print_json, screen
from adagcn.cli.store_build import BuildOptions, build_from
from adagcn.cli.store_update import UpdateOptions
from adagcn.errors import InputError, IntegrityError, counted

if TYPE_CHECKING:
    from adagcn.propagation.kept_files import KeptRecord

store_app = typer.Typer(help="Keep a graph in a folder of files that are read piece by piece.")

Store = Annotated[Path, typer.Argument(metavar="STORE", help="A folder made by store build.")]


@store_app.command("build")
@with_option_groups
def build(
    options: GraphOptions,
    building: BuildOptions,
    common: Common,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="A folder that is empty or new.")
    ],
) -> None:
    """Put a graph into a store: a data set, an .npz file, your own tables or an OGB folder.

    AdaGCN then computes its hops in files, block by block, so that a fit needs memory for labeled
    rows and one block, not for the features of all nodes:

    adagcn store build --edges e.csv --features f.parquet --labels l.csv --out big

    adagcn fit big --workers 4 --out model.adagcn

    adagcn store build --ogb ogbn_arxiv --out arxiv

    adagcn fit arxiv --split file:0 --splits-file arxiv/splits/time.npz

    Large tables are not held in memory: their edges are sorted in temporary files within the new
    folder (out of core, which needs the package duckdb). The store is the same either way.
    """
    from adagcn.graph import Graph

    how = build_from(options, building, out, common.threads)
    facts = {**_facts(out), "built": how}
    if common.as_json:
        print_json(facts)
        return
    rows = [*_rows(facts), ("built", how), *reading_rows(Graph.from_store(out))]
    screen().print(facts_table(rows))


@store_app.command("update")
@with_option_groups
def update(store: Store, options: UpdateOptions, common: Common) -> None:
    """Add nodes and edges to a store, remove edges, and change features and labels.

    The store then is what a build of the old and the new tables together would be. It is the old
    one or the new one at every instant, even if the command is killed:

    adagcn store update big --edges new.csv --features new-features.csv

    adagcn store update big --remove-edges gone.csv --labels more-labels.csv

    Edges are removed before new ones come: an edge in both files gets another weight. Of an edge
    that is there already, the larger weight is kept.
    """
    from dataclasses import asdict

    change = options.apply(store)
    facts = {"store": store, **asdict(change)}
    if common.as_json:
        print_json(facts)
        return
    written = f"{change.bytes_written / 1e6:,.1f} MB in {store}"
    rows = [("update", str(change)), ("written", written), ("digest", change.digest)]
    read = [("" if number else "read", said) for number, said in enumerate(change.changes)]
    screen().print(facts_table([*rows, *read]))


@store_app.command("keep-hops")
@with_option_groups
def keep_hops(
    store: Store,
    engines: EngineOptions,
    common: Common,
    model: Annotated[
        Path, typer.Option("--model", metavar="MODEL", help="A model saved by adagcn fit --out.")
    ],
) -> None:
    """Keep the hops that a model looks at in the store, so that updates cost what they change.

    From then on, predictions of this model on the store read the kept hops. After an update of the
    store, only rows within reach of the change are computed again, by the next prediction or by
    this command, which says which share of the rows that was:

    adagcn store keep-hops big --model model.adagcn

    adagcn store update big --edges new.csv

    adagcn store keep-hops big --model model.adagcn
    """
    from adagcn.engines.threads import threads
    from adagcn.graph import Graph
    from adagcn.models.support.registry import load_model

    graph = Graph.from_store(store)
    fitted = load_model(model, graph=graph)
    if not hasattr(fitted, "keep_hops"):
        raise InputError(
            "AGC-I1902",
            f"a model of kind {fitted.model_key} is no sum over hops: there are none to keep",
            got=str(model),
            fix="give a model of adagcn, adasgc, mlp or logistic",
        )
    with threads(common.threads), engines.for_hops(graph):
        kept = fitted.keep_hops().kept_hops_
    update = kept.last_update
    facts = {
        "store": store,
        "hops": len(fitted.layers_),
        "bytes": kept.n_bytes,
        "shares": None if update is None else update.shares,
        "whole": None if update is None else update.whole,
    }
    if common.as_json:
        print_json(facts)
        return
    size = f"{counted(len(fitted.layers_), 'hop')}, {kept.n_bytes / 1e6:,.1f} MB"
    rows = [("kept", size), *([] if update is None else [("computed", str(update))])]
    screen().print(facts_table(rows))


@store_app.command("drop-hops")
@with_option_groups
def drop_hops(store: Store, common: Common) -> None:
    """Remove the hops that keep-hops has left in a store."""
    from adagcn.data.stores import GraphStore
    from adagcn.propagation.kept_files import drop_kept

    n_bytes = drop_kept(Path(GraphStore(store).path))
    if common.as_json:
        print_json({"store": store, "bytes": n_bytes})
        return
    screen().print(f"Kept hops removed from {store}: {n_bytes / 1e6:,.1f} MB.")


@store_app.command("info")
@with_option_groups
def info(store: Store, common: Common) -> None:
    """Show what a store holds, what its hops take of the disk and what their update computed."""
    facts = _facts(store)
    if common.as_json:
        print_json(facts)
        return
    screen().print(facts_table(_rows(facts)))


@store_app.command("verify")
@with_option_groups
def verify(store: Store, common: Common) -> None:
    """Read every file of a store and compare it with what was written."""
    from adagcn.formats.graph_store import verify_store

    found = dict(verify_store(store))
    damaged = [name for name, is_whole in found.items() if not is_whole]
    if common.as_json:
        print_json({"store": store, "files": len(found), "damaged": damaged})
    elif not damaged:
        screen().print(f"{counted(len(found), 'file')} of {store} are as they were written.")
    if damaged:
        raise IntegrityError(
            "AGC-G1409",
            f"{counted(len(damaged), 'file')} of the store {str(store)!r} are missing or damaged",
            got=", ".join(damaged),
            fix="make the store again with adagcn store build",
        )


def _facts(folder: Path) -> dict[str, Any]:
    from adagcn.formats.graph_store import read_manifest
    from adagcn.graph import Graph
    from adagcn.propagation.cut_rows import FOLDER
    from adagcn.propagation.kept_files import kept_folders

    graph, manifest = Graph.from_store(folder), read_manifest(folder)
    return {
        **graph_facts(graph),
        "path": folder,
        "name": graph.name,
        "files": len(manifest.files),
        "bytes": sum(file.bytes for file in manifest.files.values()),
        "bytes_of_hops": _bytes_in(folder / "hops"),
        "bytes_of_propagator": _bytes_in(folder / FOLDER),
        "bytes_of_fits": _bytes_in(folder / "fits"),
        "bytes_of_scores": _bytes_in(folder / "scores"),
        "kept_hops": [
            _kept_facts(record, manifest.input_digest) for _, record in kept_folders(folder)
        ],
    }


def _kept_facts(record: KeptRecord, digest: str) -> dict[str, Any]:
    """Return whether hops are those of the graph, and what had to be computed of them."""
    update = record.last_update
    return {
        "is_current": record.input_digest == digest,
        "shares": None if update is None else update.shares,
        "update": None if update is None else str(update),
    }


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    sizes = f"{facts['bytes'] / 1e6:,.1f} MB in {counted(facts['files'], 'file')}"
    return [
        *graph_rows(facts),
        ("size", sizes),
        ("hops", f"{facts['bytes_of_hops'] / 1e6:,.1f} MB"),
        *(("kept hops", _kept_words(kept)) for kept in facts["kept_hops"]),
        ("rows of Â", f"{facts['bytes_of_propagator'] / 1e6:,.1f} MB"),
        *_left_rows("interrupted fits", facts["bytes_of_fits"], "finished layers"),
        *_left_rows("interrupted predictions", facts["bytes_of_scores"], "class scores"),
    ]


def _kept_words(kept: dict[str, Any]) -> str:
    if not kept["is_current"]:
        return "of an earlier graph; the next prediction updates them"
    return "computed" if kept["update"] is None else f"updated, {kept['update']}"


def _left_rows(what: str, n_bytes: int, of: str) -> list[tuple[str, str]]:
    """Return what work has left that was interrupted, or is going on now."""
    return [(what, f"{n_bytes / 1e6:,.1f} MB of {of}")] if n_bytes else []
