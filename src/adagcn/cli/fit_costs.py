"""What the fits of an experiment cost, from the record of ``adagcn bench fits``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.output import note

if TYPE_CHECKING:
    from adagcn.experiments.frontier import CostPanel
    from adagcn.experiments.outcome import CellOutcome

FITS = "fits.jsonl"
Records = Annotated[
    Path,
    typer.Option(
        "--records",
        metavar="DIR",
        help=f"Folder of the records of adagcn bench, such as {FITS}.",
    ),
]
DEFAULT_RECORDS = Path("results")


def panels_with_costs(
    found: Sequence[CellOutcome], records: Path, *, threads: int, quiet: bool = False
) -> list[CostPanel]:
    """Return accuracy and recorded cost of every cell, and say where the costs are from.

    Parameters
    ----------
    found : sequence of CellOutcome
        The cells of an experiment.
    records : Path
        The folder with the record; without one, no cell has a cost.
    threads : int
        Threads of the fits.
    quiet : bool
        Say nothing of a record that is there.
    """
    from adagcn.bench.kept_fits import KeptFits
    from adagcn.bench.whole_fits import recorded_costs, settings_digest
    from adagcn.experiments.frontier import cost_panels

    path = records / FITS
    processor, costs = recorded_costs(KeptFits(path if path.is_file() else None), threads=threads)
    if processor is None:
        note(f"no fit is recorded in {path}: adagcn bench fits --keep {path} measures them")
    elif not quiet:
        note(f"CPU seconds: fits of val:0 on {processor}, from {path}")
    seconds = {}
    for each in found:
        run = each.cell.runs[0]
        cost = costs.get((settings_digest(run.model, run.params), run.dataset))
        if cost is not None:
            seconds[each.cell.row.label, each.cell.column.label] = cost.seconds
    return cost_panels(found, seconds)


def json_panels(panels: Sequence[CostPanel]) -> list[dict[str, Any]]:
    """Return panels ready for JSON."""
    return [
        {
            **asdict(panel),
            "frontier": [point.label for point in panel.frontier],
            "beyond_ours": [point.label for point in panel.beyond_ours],
        }
        for panel in panels
    ]
