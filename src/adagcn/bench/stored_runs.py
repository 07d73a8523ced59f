"""Whole commands on stores: under a memory limit, from CSV files, killed, on two hosts.

Every run is a command of its own, as a user would start it.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adagcn.bench.kept_fits import KeptFits, circumstances
from adagcn.bench.killed_fits import KilledFits
from adagcn.bench.measures import Section
from adagcn.bench.memory_group import memory_group
from adagcn.bench.stored_commands import run
from adagcn.bench.stored_sections import stored_section
from adagcn.bench.timing import Tick
from adagcn.bench.two_hosts import on_two_hosts
from adagcn.data.power_law import PowerLaw, write_power_law_store, write_power_law_tables

_RECIPE = ("--preset", "instant", "--set", "n_layers=3", "--quiet")
_NO_GROUP = (
    "no control group with a limit on memory can be made here: that takes root and the memory "
    "controller of control groups. A limit on the address space would not do, since it counts "
    "mapped files"
)
_SPLIT_SIZES = {"train_idx": 1_000, "valid_idx": 10_000, "test_idx": 10_000}


@dataclass(frozen=True)
class RunsPlan:
    """How large.

    Parameters
    ----------
    limit : int
        Bytes that a fit may take under its memory limit.
    over : float
        Features take so many times the limit.
    n_features : int
        Columns of the graph under the limit.
    limit_homophily : float
        Share of its edges within a community.
    table_nodes, table_edges, table_features : int
        Sizes of the graph in CSV files; Reddit's with ``--full``.
    kills, worker_kills : int
        How often a fit is killed, and how often a worker of one.
    killed_nodes, killed_features : int
        Sizes of the graph whose fit is killed.
    hosts_nodes, hosts_features : int
        Sizes of the graph that is fitted on two hosts.
    max_epochs : int
        Epochs of a layer of the fits that are killed or run on two hosts.
    """

    limit: int = 2**30
    over: float = 2.0
    n_features: int = 256
    limit_homophily: float = 0.999
    table_nodes: int = 10_000
    table_edges: int = 100_000
    table_features: int = 32
    kills: int = 5
    worker_kills: int = 2
    killed_nodes: int = 150_000
    killed_features: int = 256
    hosts_nodes: int = 150_000
    hosts_features: int = 256
    max_epochs: int = 20


QUICK = RunsPlan()
FULL = RunsPlan(
    limit=2 * 2**30,
    over=4.0,
    n_features=512,
    table_nodes=232_965,
    table_edges=57_307_946,
    table_features=602,
    kills=20,
    worker_kills=5,
    killed_nodes=400_000,
    hosts_nodes=1_000_000,
    max_epochs=60,
)
PARTS = ("limit", "tables", "kills", "hosts")


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
    ways = {
        "limit": under_a_limit,
        "tables": from_tables,
        "kills": killed_again_and_again,
        "hosts": on_hosts,
    }
    for part in parts:
        words = {"bench": f"stored {part}", "seed": seed, **asdict(plan), **circumstances()}
        known = kept.find(words)
        if known is None:
            with tempfile.TemporaryDirectory(dir=folder, prefix="adagcn-bench-") as work:
                known = ways[part](plan, seed, Path(work))
            if "note" not in known["facts"]:  # what cannot be measured today may be tomorrow
                kept.add(words, known)
        tick()
        yield stored_section(part, known)


def under_a_limit(plan: RunsPlan, seed: int, folder: Path) -> dict[str, Any]:
    """Fit and predict a graph whose features are several times the memory that there is.

    Nodes are numbered by community, as a graph of this size should be: in any other order each
    block needs rows from all over the files, and every hop reads them once per block.
    """
    n_nodes = round(plan.over * plan.limit / (4 * plan.n_features))
    graph = PowerLaw(
        n_nodes,
        2 * n_nodes,
        n_features=plan.n_features,
        seed=seed,
        order="community",
        homophily=plan.limit_homophily,
    )
    facts: dict[str, Any] = {
        "limit": plan.limit,
        "feature_bytes": 4 * n_nodes * plan.n_features,
        "homophily": plan.limit_homophily,
    }
    with memory_group(plan.limit) as group:
        if group is None:
            return {"facts": {**facts, "note": _NO_GROUP}, "runs": []}
        store, splits = folder / "store", folder / "splits.npz"
        write_power_law_store(graph, store)
        _write_split(splits, n_nodes, seed)
        _leave_memory(store)
        model, out = folder / "m.adagcn", folder / "p.parquet"
        split = ["--split", "file:0", "--splits-file", splits]
        fit = ["fit", store, *_RECIPE, *split, "--out", model]
        predict = ["predict", model, store, "--quiet", "--out", out]
        runs = [
            run(name, words, around=group.command)
            for name, words in (("fit", fit), ("predict", predict))
        ]
        facts["peak_bytes"] = group.peak()
    return {"facts": facts, "runs": runs}


def _write_split(path: Path, n_nodes: int, seed: int) -> None:
    """Draw few nodes with labels, as a large graph has them."""
    drawn = np.random.default_rng(seed).choice(n_nodes, sum(_SPLIT_SIZES.values()), replace=False)
    parts = np.split(drawn, np.cumsum(list(_SPLIT_SIZES.values()))[:-1])
    named: dict[str, Any] = dict(zip(_SPLIT_SIZES, map(np.sort, parts), strict=True))
    np.savez(path, **named)


def _leave_memory(store: Path) -> None:
    """Let the system forget the files of a store that it has just written.

    Pages count for the group that brought them into memory: those of the writer would be had for
    nothing.
    """
    for path in store.iterdir():
        with path.open("rb") as handle:
            os.fsync(handle.fileno())
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


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
    runs = [run("fit --predict-to", ["fit", *given, *_RECIPE, "--split", "stratified:0", *out])]
    facts = {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "n_features": graph.n_features,
        "table_bytes": sum(path.stat().st_size for path in tables.values()),
        "n_predicted": sum(1 for _ in (folder / "p.csv").open(encoding="utf-8")) - 1,
    }
    return {"facts": facts, "runs": runs}


def killed_again_and_again(plan: RunsPlan, seed: int, folder: Path) -> dict[str, Any]:
    """Kill fits, and workers of fits; say what every attempt found and did."""
    graph = PowerLaw(
        plan.killed_nodes, 10 * plan.killed_nodes, n_features=plan.killed_features, seed=seed
    )
    write_power_law_store(graph, folder / "store")
    fits = KilledFits(folder / "store", folder, plan.max_epochs, random.Random(seed))
    whole = fits.undisturbed()
    drivers = list(fits.driver_kills(plan.kills))
    workers = list(fits.worker_kills(plan.worker_kills))
    finished = [each for each in (*drivers, *workers) if not each["killed"]]
    facts = {
        "kills": sum(each["killed"] for each in drivers),
        "worker_kills": sum(each["worker_killed"] for each in workers),
        "finished": len(finished),
        "same": sum(each["same"] for each in finished),
        "again": sum(each["again"] for each in (*drivers, *workers)),
        "attempts": {"undisturbed": [whole], "driver": drivers, "worker": workers},
    }
    return {"facts": facts, "runs": []}


def on_hosts(plan: RunsPlan, seed: int, folder: Path) -> dict[str, Any]:
    """Fit on two hosts that share a folder, and in one process."""
    n_nodes = plan.hosts_nodes
    graph = PowerLaw(n_nodes, 10 * n_nodes, n_features=plan.hosts_features, seed=seed)
    return on_two_hosts(graph, plan.max_epochs, folder)
