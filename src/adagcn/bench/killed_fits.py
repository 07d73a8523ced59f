"""Fits that are killed: the driver at random instants, or one of its workers inside a hop.

Every attempt writes a log (``adagcn fit --log``). From it the table says what each attempt found
finished, what it did, and whether any block or layer was done a second time although it was
finished.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from adagcn.bench.log_lines import log_lines
from adagcn.bench.stored_commands import command, failed

N_LAYERS = 3
SCORING = "scoring"  # what a fit does when all layers are there
_LOOK_EVERY = 0.02  # seconds
_MOST_TRIES = 3  # fits per worker that is to be killed: one may end before its turn


@dataclass
class KilledFits:
    """One fit that is done again and again, and killed.

    Parameters
    ----------
    store : Path
        The graph.
    folder : Path
        Where the model and the logs go.
    max_epochs : int
        Epochs of a layer.
    rng : random.Random
        Chooses the instants.
    """

    store: Path
    folder: Path
    max_epochs: int
    rng: random.Random
    _finished: set[tuple[str, int, int]] = field(default_factory=set)
    _n_logs: int = 0
    _wanted: str = ""
    _seconds: float = 0.0

    def undisturbed(self) -> dict[str, Any]:
        """Fit once in peace; all others must have the bytes of this model."""
        found = self._attempt([], _wait)
        self._wanted = self._digest()
        lines = [each for each in log_lines(self._log) if each["event"] in ("start", "layer")]
        first, last = (datetime.fromisoformat(lines[k]["time"]) for k in (0, -1))
        self._seconds = (last - first).total_seconds()
        return {**found, "same": True}

    def driver_kills(self, n_kills: int) -> Iterator[dict[str, Any]]:
        """Kill fits until it was done often enough and one has finished.

        The instants lie between the start of a fit and the end of its last layer, as long as that
        took undisturbed; while libraries are loaded, there is nothing to lose. A fit whose layers
        are all there is left in peace. The next one starts from the beginning.
        """
        left, found = n_kills, dict[str, Any]()
        while left or found.get("killed"):
            in_peace = not left or found.get("during") == SCORING
            after = self.rng.uniform(0.0, self._seconds)
            found = self._attempt([], _wait if in_peace else partial(self._kill, after=after))
            left -= found["killed"]
            yield found

    def worker_kills(self, n_kills: int) -> Iterator[dict[str, Any]]:
        """Kill one of two workers in each of some fits, at a random instant of its life."""
        killed = 0
        for _ in range(_MOST_TRIES * n_kills):
            if killed == n_kills:
                return
            found = self._attempt(["--workers", "2"], self._kill_a_worker)
            killed += found["worker_killed"]
            yield found

    def _attempt(
        self, more: list[str], attend: Callable[[subprocess.Popen[bytes]], bool]
    ) -> dict[str, Any]:
        """Start a fit and see to it; return what became of it and what it has told."""
        self._n_logs += 1
        log, said = self._log, self._log.with_suffix(".err")
        self._model.unlink(missing_ok=True)
        recipe = ["--preset", "tuned", "--split", "stratified:0", "--quiet"]
        sizes = [f"n_layers={N_LAYERS}", f"max_epochs={self.max_epochs}"]
        recipe += [word for size in sizes for word in ("--set", size)]
        words = ["fit", self.store, *recipe, *more, "--out", self._model, "--log", log]
        start = time.perf_counter()
        with said.open("wb") as errors:
            process = subprocess.Popen(command(words), stdout=subprocess.DEVNULL, stderr=errors)
        try:
            worker_killed = attend(process)
        finally:
            process.kill()
            process.wait()
        if process.returncode not in (0, -signal.SIGKILL):
            raise failed(words, said.read_bytes())
        found = {"seconds": time.perf_counter() - start, "worker_killed": worker_killed}
        # One that was killed on its way out has done all of its work.
        return {**found, **self._told(log, killed=not self._model.exists())}

    @property
    def _log(self) -> Path:
        return self.folder / f"{self._n_logs:03d}.jsonl"

    @property
    def _model(self) -> Path:
        return self.folder / "m.adagcn"

    def _digest(self) -> str:
        return hashlib.sha256(self._model.read_bytes()).hexdigest()

    def _told(self, log: Path, *, killed: bool) -> dict[str, Any]:
        """Return what an attempt has told of its work."""
        told = _Told(self._finished)
        for line in log_lines(log):
            told.take(line)
        if killed:
            return {"killed": True, "during": told.during, "same": None, **told.counts}
        self._finished.clear()
        same = self._digest() == self._wanted
        return {"killed": False, "during": "", "same": same, **told.counts}

    def _kill(self, process: subprocess.Popen[bytes], after: float) -> bool:
        """Kill a fit some seconds after its start, unless it ends before."""
        while process.poll() is None and not any(log_lines(self._log)):
            time.sleep(_LOOK_EVERY)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=after)
        process.kill()
        return False  # no worker was killed

    def _kill_a_worker(self, process: subprocess.Popen[bytes]) -> bool:
        """Kill a worker some time after the first ones have appeared; return whether it died."""
        after = None
        while process.poll() is None:
            workers = _workers(process.pid)
            if workers and after is None:
                after = time.monotonic() + self.rng.uniform(0.0, 4.0)
            if workers and after is not None and time.monotonic() > after:
                with suppress(ProcessLookupError):
                    os.kill(self.rng.choice(workers), signal.SIGKILL)
                    process.wait()
                    return True
            time.sleep(_LOOK_EVERY)
        return False


class _Told:
    """What the log of one attempt adds up to, until its last layer is there.

    Parameters
    ----------
    finished : set
        Blocks and layers that earlier attempts at the same fit have told of; these are added.
    """

    def __init__(self, finished: set[tuple[str, int, int]]) -> None:
        names = ("layers_found", "layers", "found", "blocks", "again", "lost")
        self.counts = dict.fromkeys(names, 0)
        self.during = "the start"
        self._finished, self._missing = finished, 0

    def take(self, line: dict[str, Any]) -> None:
        """Take note of a line."""
        if self.counts["layers_found"] + self.counts["layers"] == N_LAYERS:
            self.during = SCORING  # whose hops are others
            return
        take = getattr(self, f"_take_{line['event']}", None)
        if take is not None:
            take(line)

    def _take_start(self, line: dict[str, Any]) -> None:
        self.counts["layers_found"] = n_layers = line["layers"]
        self.during = f"hop {n_layers}" if n_layers else "layer 0"

    def _take_hop(self, line: dict[str, Any]) -> None:
        self.counts["found"] += line["found"]
        self._missing = line["blocks"] - line["found"]
        self.during = f"hop {line['hop']}" if self._missing else f"layer {line['hop']}"

    def _take_block(self, line: dict[str, Any]) -> None:
        self.counts["blocks"] += 1
        self._missing -= 1
        self.during = f"hop {line['hop']}" if self._missing else f"layer {line['hop']}"
        self._finish("block", line["hop"], line["block"])

    def _take_layer(self, line: dict[str, Any]) -> None:
        self.counts["layers"] += 1
        self.during = f"hop {line['layer'] + 1}"
        self._finish("layer", line["layer"], 0)

    def _take_lost(self, line: dict[str, Any]) -> None:
        self.counts["lost"] += line["items"]

    def _finish(self, *what: Any) -> None:
        self.counts["again"] += what in self._finished
        self._finished.add(what)


def _wait(process: subprocess.Popen[bytes]) -> bool:
    process.wait()
    return False  # nobody was killed


def _workers(driver: int) -> list[int]:
    """Return the worker processes of a driver (Linux tells)."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{driver}/task").iterdir():
            for child in (task / "children").read_text("ascii").split():
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))
    return found
