"""``adagcn data convert``: other libraries' files or a user's tables as one ``.npz`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from adagcn.cli.graph_options import TableOptions, graph_facts, graph_rows
from adagcn.cli.options import Common, Force, with_option_groups
from adagcn.cli.output import check_out, facts_table, print_result
from adagcn.errors import InputError


@with_option_groups
def convert(
    origin: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="Folder of Planetoid or Reddit files, or an edge table."
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The .npz file to write.")],
    tables: TableOptions,
    common: Common,
    form: Annotated[
        Literal["auto", "planetoid", "reddit", "edges"],
        typer.Option("--format", help="Format of SOURCE; auto detects it."),
    ] = "auto",
    name: Annotated[
        str | None,
        typer.Option("--name", help="Planetoid data set, if the folder holds several."),
    ] = None,
    force: Force = False,
) -> None:
    """Convert other libraries' files, or your own tables, to one .npz file without pickles."""
    check_out(out, force=force, name="OUT")
    if out.suffix != ".npz":
        raise InputError("AGC-I815", "OUT must end in .npz", got=str(out), fix="change the ending")
    kind = _form_of(origin) if form == "auto" else form
    if kind != "edges" and tables.given():
        raise InputError(
            "AGC-I816",
            f"{', '.join(tables.given())} cannot be used with {kind} files, only with tables",
            got=str(origin),
            fix="leave out, or use --format edges",
        )
    if kind != "planetoid" and name is not None:
        raise InputError(
            "AGC-I820", f"--name cannot be used with {kind} files", got=name, fix="leave it out"
        )
    if kind == "edges":
        tables.graph_of(origin).to_npz(out)
    else:
        _convert_folder(origin, out, kind, name)
    from adagcn.graph import Graph

    facts = {"path": out, "format": kind, **graph_facts(Graph.from_npz(out))}
    print_result(facts, facts_table(graph_rows(facts)), as_json=common.as_json)


def _form_of(origin: Path) -> str:
    """Return the format of a source, judged by the files in it."""
    if not origin.is_dir():
        return "edges"
    if (origin / "adj_full.npz").exists():
        return "reddit"
    if any(origin.glob("ind.*.graph")):
        return "planetoid"
    raise InputError(
        "AGC-I817",
        "SOURCE holds no files of Planetoid (ind.*.graph) or Reddit (adj_full.npz)",
        got=str(origin),
        fix="give the folder that holds them, or an edge table",
    )


def _convert_folder(origin: Path, out: Path, kind: str, name: str | None) -> None:
    from adagcn.data import convert_planetoid, convert_reddit

    if kind == "reddit":
        convert_reddit(origin, out)
        return
    names = sorted(path.name.split(".")[1] for path in origin.glob("ind.*.graph"))
    if name is None and len(names) != 1:
        raise InputError(
            "AGC-I818",
            f"{origin} does not hold exactly one Planetoid data set",
            got=names,
            fix="choose one with --name, and put its eight ind.* files there",
        )
    convert_planetoid(origin, name or names[0], out)
