"""Whole commands on stores: under a memory limit, from CSV files, killed at random instants.

Every run is a command of its own, as a user would start it.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adagcn.bench.kept_fits import KeptFits, circumstances
from adagcn.bench.measures import Row, Section, measure
from adagcn.bench.memory_group import MemoryGroup, memory_group
from adagcn.bench.timing import Tick
from adagcn.data.power_law import PowerLaw, write_power_law_store, write_power_law_tables
from adagcn.errors import ResourceError

_FIT = ("--preset", "instant", "--set", "n_layers=3", "--split", "stratified:0", "--quiet")


@dataclass(frozen=True)
class RunsPlan:
    """How large.

    Parameters
    ----------
    limit : int
        Bytes that a fit may take under its memory limit.
    over : int
        Features take so many times the limit.
    n_features : int
        Columns of the graph under the limit.
    table_nodes, table_edges, table_features : int
        Sizes of the graph in CSV files; Reddit's with ``--full``.
    kills : int
        How often a fit is killed.
    killed_nodes : int
        Nodes of the graph whose fit is killed.
    """

    limit: int = 3 * 2**29
    over: int = 1
    n_features: int = 256
    table_nodes: int = 10_000
    table_edges: int = 100_000
    table_features: int = 32
    kills: int = 5
    killed_nodes: int = 50_000


QUICK = RunsPlan()
FULL = RunsPlan(
    limit=2 * 2**30,
    over=4,
    n_features=512,
    table_nodes=232_965,
    table_edges=57_307_946,
    table_features=602,
    kills=20,
    killed_nodes=400_000,
)
PARTS = ("limit", "tables", "kills")


def measure_stored_runs(
    plan: RunsPlan,
    *,
    parts: Sequence[str] = PARTS,
    kept: KeptFits,
    seed: int,
    folder: Path | None = None,
    tick: Tick,
) -> Iterator[Section]:
    """Yield a section per part.

    Parameters
    ----------
    plan : RunsPlan
        How large.
    parts : sequence of str
        Of :data:`PARTS`.
    kept : KeptFits
        Recorded parts, to which new ones are added.
    seed : int
        Of graphs, fits and instants.
    folder : Path, optional
        Where files are made for a while.
    tick : callable
        Called after every part.
    """
    ways = {"limit": under_a_limit, "tables": from_tables, "kills": killed_again_and_again}
    for part in parts:
        words = {"bench": f"stored {part}", "seed": seed, **asdict(plan), **circumstances()}
        known = kept.find(words)
        if known is None:
            with tempfile.TemporaryDirectory(dir=folder, prefix="adagcn-bench-") as work:
                known = ways[part](plan, seed, Path(work))
            kept.add(words, known)
        tick()
        yield _section(part, known)


def under_a_limit(plan: RunsPlan, seed: int, folder: Path) -> dict[str, Any]:
    """Fit and predict a graph whose features are several times the memory that there is."""
    n_nodes = plan.over * plan.limit // (4 * plan.n_features)
    graph = PowerLaw(n_nodes, 2 * n_nodes, n_features=plan.n_features, seed=seed)
    store = folder / "store"
    write_power_law_store(graph, store)
    facts: dict[str, Any] = {"limit": plan.limit, "feature_bytes": 4 * n_nodes * plan.n_features}
    with memory_group(plan.limit) as group:
        if group is None:
            facts["note"] = "this system lets nobody make a control group with a memory limit here"
            return {"facts": facts, "runs": []}
        runs = [
            _run("fit", ["fit", store, *_FIT, "--out", folder / "m.adagcn"], group),
            _run("predict", ["predict", folder / "m.adagcn", store, "--quiet", "--out",
                             folder / "p.parquet"], group),
        ]  # fmt: skip
        facts["peak_bytes"] = group.peak()
    return {"facts": facts, "runs": runs}


def from_tables(plan: RunsPlan, seed: int, folder: Path) -> dict[str, Any]:
    """Go from CSV files to predictions of all nodes, in one command."""
    graph = PowerLaw(
        plan.table_nodes,
        plan.table_edges,
        n_features=plan.table_features,
        n_communities=41,
        n_classes=41,
        seed=seed,
    )
    tables = write_power_law_tables(graph, folder)
    given = [word for name, path in tables.items() for word in (f"--{name}", path)]
    out = ["--out", folder / "m.adagcn", "--predict-to", folder / "p.csv"]
    runs = [_run("fit --predict-to", ["fit", *given, *_FIT, *out])]
    facts = {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "n_features": graph.n_features,
        "table_bytes": sum(path.stat().st_size for path in tables.values()),
        "n_predicted": sum(1 for _ in (folder / "p.csv").open(encoding="utf-8")) - 1,
    }
    return {"facts": facts, "runs": runs}


def killed_again_and_again(plan: RunsPlan, seed: int, folder: Path) -> dict[str, Any]:
    """Kill a fit at random instants and start it again, until it has been killed often enough.

    A fit that ends in between must have the bytes of the undisturbed one, and another begins.
    """
    graph = PowerLaw(plan.killed_nodes, 10 * plan.killed_nodes, seed=seed)
    store, model = folder / "store", folder / "m.adagcn"
    write_power_law_store(graph, store)
    words = ["fit", store, *_FIT, "--out", model, "--force"]
    whole = _run("undisturbed", words)
    wanted = hashlib.sha256(model.read_bytes()).hexdigest()
    rng, start = random.Random(seed), time.perf_counter()
    log: list[dict[str, Any]] = []
    while len([each for each in log if each["killed"]]) < plan.kills or log[-1]["killed"]:
        enough = len([each for each in log if each["killed"]]) >= plan.kills
        patience = None if enough else rng.uniform(0.3, 1.0) * whole["seconds"]
        log.append(_attempt(words, patience))
        if not log[-1]["killed"]:
            log[-1]["same"] = hashlib.sha256(model.read_bytes()).hexdigest() == wanted
    finished = [each for each in log if not each["killed"]]
    together: dict[str, Any] = {
        "name": f"{len(log)} attempts, {plan.kills} kills",
        "peak_bytes": None,
    }
    together["seconds"] = time.perf_counter() - start
    facts = {"digest": wanted, "same": all(each["same"] for each in finished),
             "kills": plan.kills, "finished": len(finished), "attempts": log}  # fmt: skip
    return {"facts": facts, "runs": [whole, together]}


def _attempt(words: list[Any], patience: float | None) -> dict[str, Any]:
    start = time.perf_counter()
    process = subprocess.Popen(_command(words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, said = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"killed": True, "after": time.perf_counter() - start}
    if process.returncode:
        raise _failed(words, said)
    return {"killed": False, "after": time.perf_counter() - start}


def _command(words: list[Any]) -> list[str]:
    return [sys.executable, "-m", "adagcn.cli", *map(str, words)]


def _run(name: str, words: list[Any], group: MemoryGroup | None = None) -> dict[str, Any]:
    command = _command(words) if group is None else group.command(_command(words))
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise _failed(words, done.stderr)
    return {"name": name, "seconds": seconds, "peak_bytes": None if group is None else group.peak()}


def _failed(words: list[Any], said: bytes) -> ResourceError:
    lines = said.decode(errors="replace").strip().splitlines()
    return ResourceError(
        "AGC-R2102",
        f"the command adagcn {' '.join(map(str, words[:2]))} of this benchmark failed",
        got=lines[-1] if lines else "no message: perhaps the system ended it for want of memory",
        fix="run it by itself to see why, or measure smaller sizes",
    )


_TITLES = {
    "limit": "features of {feature_bytes:,} bytes, {limit:,} bytes of memory for everything",
    "tables": "{n_nodes:,} nodes, {n_edges:,} edges as drawn, {n_features} features: "
    "from {table_bytes:,} bytes of CSV to {n_predicted:,} predictions",
    "kills": "{kills} kills at random instants; every finished fit has the bytes of the "
    "undisturbed one: {same}",
}


def _section(part: str, known: dict[str, Any]) -> Section:
    facts = known["facts"]
    rows = [
        Row(
            run["name"],
            "adagcn",
            measure([run["seconds"]]),
            None,
            {"peak_bytes": run["peak_bytes"]},
        )
        for run in known["runs"]
    ]
    if "note" in facts:
        rows.append(Row("fit", "adagcn", None, None, {"note": facts["note"]}))
    title = _TITLES[part].format(**json.loads(json.dumps(facts)))
    return Section("stored_run", f"stores, {part}", title, "", tuple(rows), facts)
