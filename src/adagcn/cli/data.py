"""``adagcn data``: the data sets that have a name, and files of one's own."""

from __future__ import annotations

import typer

data_app = typer.Typer(help="List, fetch, describe, check and convert data sets.")


@data_app.command("list")
def list_datasets() -> None:
    """Show the data sets that have a name."""
