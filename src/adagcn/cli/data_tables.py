"""``adagcn data tables``: a data set as CSV tables, to start from as from one's own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from adagcn.cli.options import Common, DataDir, Force, Offline, with_option_groups
from adagcn.cli.output import check_out, facts_table, print_result
from adagcn.errors import InputError, ResourceError


@with_option_groups
def tables(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME|twitch", help="A name from adagcn data list, or twitch."),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write to; made if need be.")
    ],
    common: Common,
    force: Force = False,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Write a data set as three CSV tables: edges, features and labels.

    They hold the graph that adagcn fit NAME trains on, with all digits. The data set twitch was
    published as tables: its files are checked and copied as they are. Read them as your own:

    adagcn data tables cora my-cora
    """
    from adagcn.data import load_dataset
    from adagcn.data.catalog import CATALOG, TABLE_SETS, find_dataset
    from adagcn.data.load import own_folders
    from adagcn.data.tables import NAMES, copy_tables, write_tables

    if name not in TABLE_SETS and name not in CATALOG:
        find_dataset(name)  # raises with the closest names
    _make(folder)
    for each in NAMES:
        check_out(folder / each, force=force, name=f"DIR/{each}")
    if name in TABLE_SETS:
        written = copy_tables(TABLE_SETS[name], folder, own_folders(data_dir))
        origin = TABLE_SETS[name].origin
    else:
        graph = load_dataset(name, data_dir=data_dir, offline=offline or None)
        written = write_tables(graph, folder)
        origin = CATALOG[name].origin
    options = {path.stem: path for path in written}
    words = shlex.join(["adagcn", "fit", *_flags(options)])
    facts = {"name": name, "origin": origin, **options, "next": words}
    rows = [(what, _described(path)) for what, path in options.items()]
    shown = facts_table([*rows, ("origin", origin), ("next", words)])
    print_result(facts, shown, as_json=common.as_json)


def _make(folder: Path) -> None:
    """Make the folder if its parent exists."""
    if folder.exists() and not folder.is_dir():
        raise InputError("AGC-I824", "DIR is not a folder", got=str(folder), fix="name another")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ResourceError(
            "AGC-R825",
            f"DIR cannot be made: {error.strerror}",
            got=str(folder),
            fix="check that the folder above it exists and is writable",
        ) from error


def _flags(paths: dict[str, Path]) -> list[str]:
    return [word for name, path in paths.items() for word in (f"--{name}", str(path))]


def _described(path: Path) -> str:
    """Return a file with its number of rows below the names of the columns."""
    with path.open("rb") as handle:
        n_rows = sum(1 for _ in handle) - 1
    return f"{path} ({n_rows:,} rows)"
