"""Print why preset ``adaptive`` chose what it chose on the first split of each development graph.

The ledger holds choices, not the losses behind them. So this repeats the first run of ``adaptive``
on every graph (minutes in all) and prints its sentence as a table. It ends with an error where
the choices are not those of the ledger.

Run with ``python tools/look_reasons.py``; docs/experiments.md holds what it printed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from fill_tables import fresh_ledger

from adagcn.data.nodesets import fit_on_split
from adagcn.experiments.campaign import load_graphs, load_splits, plan
from adagcn.experiments.ledger import Ledger
from adagcn.experiments.spec_files import load_spec
from adagcn.models.support.registry import build_model


def main() -> None:
    """Print a row for each graph."""
    spec = load_spec("development")
    rows = [row for row in spec.rows if row.preset == "adaptive"]
    spec = spec.model_copy(update={"rows": rows, "n_splits": 1})
    graphs = load_graphs(spec)
    splits = load_splits(spec, graphs)
    sys.stdout.write("| graph | split | what was chosen, and why |\n|---|---|---|\n")
    with tempfile.TemporaryDirectory() as folder, Ledger(fresh_ledger(Path(folder))) as ledger:
        for cell in plan(spec, graphs, splits=splits):
            (run,), (split,) = cell.runs, cell.splits
            graph = graphs[cell.column.dataset]
            model = build_model(run.model, graph, preset=run.preset, random_state=run.seed)
            fit_on_split(model, graph, split)
            recorded = ledger.results([run])[run.key].choices
            if {name: model.choices_[name] for name in recorded} != recorded:
                sys.exit(f"{cell.column.label}: chosen {model.choices_}, recorded {recorded}")
            why = model.params_["look"]
            sys.stdout.write(f"| {cell.column.label} | `{split.name}` | {why} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
