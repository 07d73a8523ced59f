"""From tables with names as ids to predictions keyed by them, with several engines: the same bytes.

    python benchmarks/tables_to_predictions.py --edges 20_000_000
    python benchmarks/tables_to_predictions.py --engines serial,processes,ray --json

A power-law graph with communities is written as a CSV file of edges, a Parquet file of features and
a CSV file of labels (2 % of the nodes). ``adagcn store build`` makes a store of them, and for each
engine ``adagcn fit STORE --predict-to FILE`` runs as a command of its own. The models must have the
same digest, the files of predictions the same bytes, and their ids must be those of the tables.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv, parquet

from adagcn.bench.machine import machine, versions
from adagcn.data.power_law import PowerLaw

_LABELED = 50  # every so many nodes have a label


def names(positions: Any) -> pa.Array:
    """Return the ids of nodes as the tables have them."""
    digits = compute.utf8_lpad(pa.array(positions).cast(pa.string()), 9, "0")
    return compute.binary_join_element_wise("user", digits, "-")


def edge_parts(graph: PowerLaw) -> Iterator[pa.Table]:
    for one in range(graph.n_blocks):
        for other in range(one, graph.n_blocks):
            source, target = graph.pairs(one, other)
            yield pa.table({"source": names(source), "target": names(target)})


def feature_parts(graph: PowerLaw) -> Iterator[pa.Table]:
    for block in range(graph.n_blocks):
        nodes = graph.nodes(block)
        columns = {f"f{k}": column for k, column in enumerate(graph.features(block).T)}
        yield pa.table({"id": names(np.arange(nodes.start, nodes.stop)), **columns})


def label_parts(graph: PowerLaw) -> Iterator[pa.Table]:
    for block in range(graph.n_blocks):
        nodes = graph.nodes(block)
        known = np.arange(-(-nodes.start // _LABELED) * _LABELED, nodes.stop, _LABELED)
        labels = graph.labels(nodes)[known - nodes.start]
        classes = compute.binary_join_element_wise("class", pa.array(labels).cast("string"), " ")
        yield pa.table({"id": names(known), "class": classes})


def write(path: Path, parts: Iterator[pa.Table]) -> Path:
    """Write a table part by part."""
    writer: Any = None
    for part in parts:
        if writer is None:
            kind = parquet.ParquetWriter if path.suffix == ".parquet" else csv.CSVWriter
            writer = kind(path, part.schema)
        writer.write_table(part)
    writer.close()
    return path


def adagcn(*words: object) -> tuple[dict[str, Any], float]:
    """Run a command; return what it says and its seconds."""
    command = [sys.executable, "-m", "adagcn.cli", *map(str, words), "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout), time.perf_counter() - start


def right_share(path: Path, graph: PowerLaw) -> float:
    """Return how many predictions are right; fail unless the ids are those of the tables."""
    right = start = 0
    for batch in parquet.ParquetFile(path).iter_batches(columns=["id", "label"]):
        rows = slice(start, start + len(batch))
        expected = names(np.arange(rows.start, rows.stop))
        assert batch["id"].cast("string").equals(expected), "other ids than in the tables"
        told = compute.utf8_slice_codeunits(batch["label"], 6).cast("int64").to_numpy()
        right += int((told == graph.labels(rows)).sum())
        start = rows.stop
    assert start == graph.n_nodes, f"{start:,} predictions of {graph.n_nodes:,} nodes"
    return right / start


def run(
    graph: PowerLaw,
    folder: Path,
    engines: list[list[str]],
    n_layers: int,
    tell: Callable[[str], Any],
) -> dict[str, Any]:
    """Build, fit and predict; tell a table, and return what was found."""
    tables = {
        "--edges": write(folder / "edges.csv", edge_parts(graph)),
        "--features": write(folder / "features.parquet", feature_parts(graph)),
        "--labels": write(folder / "labels.csv", label_parts(graph)),
    }
    store = folder / "store"
    words = [word for pair in tables.items() for word in pair]
    facts, seconds = adagcn("store", "build", *words, "--out", store, "--out-of-core")
    built = {"nodes": facts["nodes"], "edges": facts["edges"], "build_seconds": seconds}
    tell(f"{facts['nodes']:,} nodes, {facts['edges']:,} edges; store built in {seconds:,.0f} s")
    tell(f"{'engine':<22}{'seconds':>9}{'predicted':>12}{'right':>9}  model digest")
    rows = []
    for engine in engines:
        out = folder / f"{'-'.join(engine)}.parquet"
        recipe = ["--preset", "instant", "--set", f"n_layers={n_layers}", "--seed", 0]
        facts, seconds = adagcn("fit", store, "--engine", *engine, *recipe, "--predict-to", out)
        row = {
            "engine": " ".join(engine),
            "seconds": seconds,
            "predicted": facts["predictions"]["nodes"],
            "right": right_share(out, graph),
            "model_digest": facts["model_digest"],
            "file_sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
        }
        tell(
            f"{row['engine']:<22}{seconds:>9,.0f}{row['predicted']:>12,}{row['right']:>9.1%}  "
            f"{row['model_digest'][:16]}"
        )
        rows.append(row)
    same = len({(row["model_digest"], row["file_sha256"]) for row in rows}) == 1
    tell("the same model and the same file" if same else "THE ENGINES DISAGREE")
    return {**built, "engines": rows, "same": same}


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--edges", type=int, default=1_000_000)
    options.add_argument("--layers", type=int, default=5)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument(
        "--engines", default="serial,ray", help="of serial, processes and ray (default: serial,ray)"
    )
    options.add_argument("--workers", type=int, default=2, help="of every engine but serial")
    options.add_argument(
        "--folder", type=Path, help="keep all files here; default: a temporary one"
    )
    options.add_argument("--json", action="store_true", help="print one JSON object instead")
    given = options.parse_args()
    graph = PowerLaw(max(given.edges // 10, 200), given.edges, n_features=32, seed=given.seed)
    workers = ["--workers", str(given.workers)]
    engines = [
        [name] if name == "serial" else [name, *workers] for name in given.engines.split(",")
    ]
    tell: Callable[[str], Any] = (lambda line: None) if given.json else print
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if given.folder is None else given.folder
        folder.mkdir(parents=True, exist_ok=True)
        found = run(graph, folder, engines, given.layers, tell)
    if given.json:
        asked = {"asked_edges": given.edges, "layers": given.layers, "seed": given.seed}
        more = {name: version(name) for name in ("pyarrow", "duckdb")}
        where = {"machine": machine(), "versions": {**versions(), **more}}
        print(json.dumps({**asked, **found, **where}))
    return 0 if found["same"] else 1


if __name__ == "__main__":
    sys.exit(main())
