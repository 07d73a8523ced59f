"""What the command line says of a table of results that it writes."""

from __future__ import annotations

from adagcn.cli.output import note
from adagcn.errors import counted


def say_defused(n_cells: int) -> None:
    """Say how many cells were changed so that no spreadsheet runs them."""
    if n_cells:
        note(
            f"an apostrophe was put before {counted(n_cells, 'cell')} that a spreadsheet would "
            "run as a formula; --verbatim, a .jsonl or a .parquet file avoids this"
        )
