"""``adagcn ledger``: show the finished runs, export and import them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adagcn.cli.campaign_options import DEFAULT_LEDGER, LedgerPath
from adagcn.cli.options import Common, Force, with_option_groups
from adagcn.cli.output import check_out, percent, print_json, print_result, rows_table, screen
from adagcn.errors import counted

if TYPE_CHECKING:
    from adagcn.experiments.ledger import LedgerRow

ledger_app = typer.Typer(help="Show, export and import the ledger of finished runs.")

ExportTo = Annotated[
    Path, typer.Argument(metavar="OUT", help="The file to write, such as ledger.jsonl.gz.")
]
Exported = Annotated[
    Path, typer.Argument(metavar="EXPORT", help="A file that adagcn ledger export wrote.")
]


@ledger_app.command("export")
@with_option_groups
def export_rows(
    out: ExportTo, common: Common, path: LedgerPath = DEFAULT_LEDGER, force: Force = False
) -> None:
    """Write every run to one small file; the same runs give the same bytes."""
    check_out(out, force=force, name="OUT")
    from adagcn.experiments.exchange import export_ledger
    from adagcn.experiments.ledger import Ledger

    with Ledger(path, create=False) as ledger:
        n_rows = export_ledger(ledger, out)
    facts = {"ledger": path, "out": out, "runs": n_rows, "bytes": out.stat().st_size}
    told = f"{counted(n_rows, 'run')} written to {out} ({facts['bytes']:,} bytes)"
    print_result(facts, told, as_json=common.as_json)


@ledger_app.command("import")
@with_option_groups
def import_rows(export: Exported, common: Common, path: LedgerPath = DEFAULT_LEDGER) -> None:
    """Import the runs of an exported ledger; runs that the ledger has already stay as they are."""
    from adagcn.experiments.exchange import import_ledger
    from adagcn.experiments.ledger import Ledger

    with Ledger(path) as ledger:
        n_new = import_ledger(ledger, export)
    facts = {"ledger": path, "export": export, "new": n_new}
    print_result(facts, f"{counted(n_new, 'new run')} imported", as_json=common.as_json)


@ledger_app.command("show")
@with_option_groups
def show(common: Common, path: LedgerPath = DEFAULT_LEDGER) -> None:
    """Count the runs of each model, preset and data set, and show when the newest finished."""
    from adagcn.experiments.ledger import Ledger

    with Ledger(path, create=False) as ledger:
        rows = list(ledger.rows())
    groups = _groups(rows)
    newest = max((row.result.finished for row in rows), default=None)
    if common.as_json:
        facts = {"ledger": path, "n": len(rows), "newest": newest, "groups": groups}
        print_json({**facts, "rows": [row.model_dump() for row in rows]})
        return
    console = screen()
    header = ["model", "preset", "settings", "data set", "splits", "n", "mean"]
    console.print(rows_table(header, [_cells(group) for group in groups], width=console.width))
    console.print()
    told = f"{counted(len(rows), 'run')} in {path}"
    console.print(f"{told}, the newest finished {newest}" if newest else told, soft_wrap=True)


def _groups(rows: list[LedgerRow]) -> list[dict[str, Any]]:
    """Group the runs that differ only in split and seed."""
    from adagcn.experiments.runs import canonical_json

    members: dict[tuple[Any, ...], list[LedgerRow]] = defaultdict(list)
    for row in rows:
        run = row.run
        settings = hashlib.sha256(canonical_json(run.params).encode()).hexdigest()[:8]
        kind = run.split.partition(":")[0]
        place = (run.model, run.preset, settings, run.dataset, kind, run.train_per_class)
        members[place].append(row)
    names = ("model", "preset", "settings", "dataset", "splits", "train_per_class")
    return [
        {
            **dict(zip(names, place, strict=True)),
            "n": len(group),
            "mean": sum(row.result.accuracy for row in group) / len(group),
            "newest": max(row.result.finished for row in group),
        }
        for place, group in sorted(members.items(), key=lambda pair: tuple(map(str, pair[0])))
    ]


def _cells(group: dict[str, Any]) -> list[str]:
    per_class = "" if group["train_per_class"] is None else f", {group['train_per_class']}"
    return [
        *(group[name] for name in ("model", "preset", "settings", "dataset")),
        f"{group['splits']}{per_class}",
        str(group["n"]),
        percent(group["mean"]),
    ]
