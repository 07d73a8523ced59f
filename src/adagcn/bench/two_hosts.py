"""A fit on two hosts with a shared folder: the bits of one process, and what crossed the cable.

The hosts are network namespaces of this machine (:mod:`adagcn.bench.host_pair`). Ray's head runs on
one and a worker of Ray on the other, and the fit on the first. What each block cost is read from
the log of the fit.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from adagcn.bench.host_pair import Host, NoHosts, host_pair
from adagcn.bench.log_lines import log_lines
from adagcn.bench.stored_commands import failed, run
from adagcn.data.power_law import PowerLaw, write_power_law_store
from adagcn.errors import ResourceError

_PORT = 6379
_START_WITHIN = 120.0  # seconds
_OBJECTS = 2**28  # bytes that each host keeps of what is passed around
_SAMPLE = 0.1  # seconds between two looks at the counters
_FIT = ("--preset", "tuned", "--set", "n_layers=3", "--split", "stratified:0", "--quiet")
_RAY = [sys.executable, "-m", "ray.scripts.scripts"]
# Prints how many machines Ray has, once there are two.
_COUNT = """
import sys, time, ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="error")
while (n := sum(node["Alive"] for node in ray.nodes())) < 2:
    time.sleep(0.2)
print(n)
"""


def on_two_hosts(graph: PowerLaw, max_epochs: int, folder: Path) -> dict[str, Any]:
    """Fit and predict in one process, then on two hosts; compare, and count blocks and bytes.

    Parameters
    ----------
    graph : PowerLaw
        The graph.
    max_epochs : int
        Epochs of a layer.
    folder : Path
        A folder that exists; the hosts share it.

    Returns
    -------
    dict
        ``facts`` and ``runs``; a note instead of figures where there can be no two hosts.
    """
    facts: dict[str, Any] = {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "row_bytes": 4 * graph.n_features,
    }
    try:
        if find_spec("ray") is None:
            raise NoHosts("Ray is not installed: pip install 'adagcn[ray]'")
        with host_pair() as hosts:
            return _compared(graph, max_epochs, folder, hosts, facts)
    except NoHosts as reason:
        return {"facts": {**facts, "note": str(reason)}, "runs": []}


def _compared(
    graph: PowerLaw, max_epochs: int, folder: Path, hosts: tuple[Host, Host], facts: dict[str, Any]
) -> dict[str, Any]:
    more = ["--set", f"max_epochs={max_epochs}"]
    alone, there = _Fit(folder / "alone", more), _Fit(folder / "shared", more)
    for each in (alone, there):
        write_power_law_store(graph, each.store)
    runs = [run("one process", [*alone.words, "--engine", "serial"])]
    with _cluster(*hosts) as (address, environment):
        words = [*there.words, "--engine", "ray", "--address", address]
        with _Cable(hosts[0]) as cable:
            runs.append(run("two hosts", words, around=hosts[0].command, env=environment))
    return {
        "facts": {
            **facts,
            "same_model": alone.digest(alone.model) == there.digest(there.model),
            "same_predictions": alone.digest(alone.out) == there.digest(there.out),
            "moved": cable.moved_in_all(),
            "stages": _stages(there.log, cable, facts["row_bytes"]),
        },
        "runs": runs,
    }


@dataclass
class _Fit:
    """The files of a fit and its command."""

    folder: Path
    more: list[str]

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.store, self.log = self.folder / "store", self.folder / "log.jsonl"
        self.model, self.out = self.folder / "m.adagcn", self.folder / "p.parquet"
        files = ["--out", self.model, "--predict-to", self.out, "--log", self.log]
        self.words = ["fit", self.store, *_FIT, *self.more, *files]

    def digest(self, path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def _cluster(head: Host, other: Host) -> Iterator[tuple[str, dict[str, str]]]:
    """Start Ray on both hosts as the guide does; give its address, and the environment of the head.

    It ends with the hosts. Each has a home of its own, with its token and its temporary files, in
    a folder that goes with the block: sockets are among them, whose paths must be short.
    """
    address = f"{head.address}:{_PORT}"
    with tempfile.TemporaryDirectory(prefix="agc-", ignore_cleanup_errors=True) as folder:
        first, second = (_environment(Path(folder) / host.name) for host in (head, other))
        as_head = ["--head", f"--port={_PORT}", "--include-dashboard=false"]
        try:
            _call(head, [*_RAY, "get-auth-token", "--generate"], first)
            shutil.copytree(Path(first["HOME"], ".ray"), Path(second["HOME"], ".ray"))
            _start_ray(head, as_head, first)
            _wait_for(head, address)
            _start_ray(other, [f"--address={address}"], second)
            _call(head, [sys.executable, "-c", _COUNT, address], first)
            yield address, first
        finally:
            for host in (other, head):
                host.end()


def _environment(home: Path) -> dict[str, str]:
    """Return the environment of a host: the guide's mode of authentication, and a home."""
    home.mkdir()
    more = {"HOME": str(home), "RAY_AUTH_MODE": "token", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    return {**os.environ, **more}


def _start_ray(host: Host, how: list[str], environment: dict[str, str]) -> None:
    home = environment["HOME"]
    given = ["--block", f"--node-ip-address={host.address}", "--num-cpus=1", f"--temp-dir={home}"]
    with Path(home, "ray.log").open("wb") as said:
        host.start(
            [*_RAY, "start", *given, *how, f"--object-store-memory={_OBJECTS}"],
            env=environment, stdout=said, stderr=subprocess.STDOUT,
        )  # fmt: skip


def _wait_for(host: Host, address: str) -> None:
    """Wait until Ray listens."""
    name, port = address.split(":")
    listens = f"import socket; socket.create_connection(({name!r}, {port}), 1)"
    deadline = time.monotonic() + _START_WITHIN
    while subprocess.run(
        host.command([sys.executable, "-c", listens]), capture_output=True, check=False
    ).returncode:
        if time.monotonic() > deadline:
            raise _no_ray("nobody listens at its address")
        time.sleep(0.2)


def _call(host: Host, words: list[str], environment: dict[str, str]) -> None:
    try:
        subprocess.run(
            host.command(words),
            env=environment, capture_output=True, check=True, timeout=_START_WITHIN,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise _no_ray("the second host has not joined") from error
    except subprocess.CalledProcessError as error:
        raise failed(words, error.stderr) from error


def _no_ray(why: str) -> ResourceError:
    return ResourceError(
        "AGC-R2104",
        f"Ray did not start on two hosts within {_START_WITHIN:.0f} seconds: {why}",
        fix="check that nothing on this machine stops Ray (adagcn fit STORE --engine ray), and "
        "measure again when the machine is idle",
    )


@dataclass
class _Cable:
    """Looks at the counters of a host's card again and again, inside of a block."""

    host: Host
    times: list[float] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)

    def __enter__(self) -> _Cable:
        self._over = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._over.wait(_SAMPLE):
            self._look()

    def _look(self) -> None:
        self.moved.append(self.host.moved())
        self.times.append(time.time())

    def moved_in_all(self) -> int:
        """Return the bytes of the whole block."""
        return self.moved[-1] - self.moved[0]

    def between(self, start: float, end: float) -> int:
        """Return the bytes between two times, as far as the looks tell."""
        until = np.interp([start, end], self.times, self.moved)
        return int(until[1] - until[0])


def _stages(log: Path, cable: _Cable, row_bytes: int) -> list[dict[str, Any]]:
    """Return what was done hop by hop, by whom, and what it moved; hops found whole are no part."""
    stages: list[list[dict[str, Any]]] = []
    for line in log_lines(log):
        if line["event"] in ("hop", "votes"):
            stages.append([line])
        elif line["event"] in ("block", "voted"):
            stages[-1].append(line)
    return [_stage(first, done, cable, row_bytes) for first, *done in stages if done]


def _stage(
    first: dict[str, Any], done: Sequence[dict[str, Any]], cable: _Cable, row_bytes: int
) -> dict[str, Any]:
    start, end = _seconds(first), _seconds(done[-1])
    is_hop = first["event"] == "hop"
    read: Counter[str] = Counter()
    for line in done:
        read[line["host"]] += row_bytes * line.get("rows_read", 0)
    return {
        "name": f"hop {first['hop']}" if is_hop else f"votes, hop {first['layer']}",
        "seconds": end - start,
        "blocks": dict(sorted(Counter(line["host"] for line in done).items())),
        "read": dict(sorted(read.items())) if is_hop else None,
        "moved": cable.between(start, end),
    }


def _seconds(line: dict[str, Any]) -> float:
    return datetime.fromisoformat(line["time"]).timestamp()
