"""Peak memory of one call, in a separate process; and beyond mapped files, with all workers."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from adagcn.engines.threads import threads
from adagcn.graph import Graph

Made = TypeVar("Made")

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def data_bytes(graph: Graph) -> int:
    """Return the bytes of a graph's edges and dense features."""
    adjacency = graph.adjacency
    parts = (adjacency.data, adjacency.indices, adjacency.indptr, graph.features)
    return sum(int(part.nbytes) for part in parts)


def peak_growth(
    make: Callable[..., Made],
    use: Callable[[Made], Any],
    words: tuple[Any, ...],
    *,
    warm_up: tuple[Any, ...],
) -> int | None:
    """Return how many bytes a fresh process grows while it holds and uses what it made.

    What ``make`` returns counts; its temporary memory does not, if the system can tell the two
    apart (Linux).

    Parameters
    ----------
    make, use : callables
        Functions defined in a module, since another process imports them. Measured is
        ``use(make(*words))``.
    words, warm_up : tuple
        Arguments of ``make``: for the measured call, and for a small one before it, which loads
        what the libraries need in any case.

    Returns
    -------
    int or None
        Bytes; None if the system does not report them.
    """
    kind = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(kind)
    if kind == "forkserver":
        context.set_forkserver_preload([make.__module__, use.__module__])
    n_threads = torch.get_num_threads()  # the new process would use all cores otherwise
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measured, make, use, words, warm_up, n_threads).result()


def _measured(
    make: Callable[..., Any],
    use: Callable[[Any], Any],
    words: tuple[Any, ...],
    warm_up: tuple[Any, ...],
    n_threads: int,
) -> int | None:
    with threads(n_threads):
        use(make(*warm_up))
        forget_peak()
        start = peak_memory()
        made = make(*words)
        forget_peak()
        use(made)
        peak = peak_memory()
    return None if start is None or peak is None else peak - start


def peak_memory() -> int | None:
    """Return the most memory that this process has held, in bytes."""
    if _STATUS.exists():
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
        found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
        return int(found[0]) * 1024 if found else None
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@dataclass
class Watched:
    """The most that was seen while something ran.

    Parameters
    ----------
    peak : int or None
        Bytes of memory beyond mapped files, where Linux tells.
    disk : int
        Bytes of files that came into a folder.
    own_seconds : float
        CPU time of the watching itself.
    """

    peak: int | None = None
    disk: int = 0
    own_seconds: float = 0.0


@contextmanager
def watched(folder: Path | None = None) -> Iterator[Watched]:
    """Watch the memory of this process and of those that it starts, about thirty times a second.

    Pages of mapped files do not count: the system drops them when memory is short. A folder is
    watched beside it.
    """
    gc.collect()
    found, over = Watched(_beyond_files()), threading.Event()
    before = _bytes_below(folder)

    def watch() -> None:
        while not over.wait(0.03):
            seen = _beyond_files()
            if seen is not None and found.peak is not None:
                found.peak = max(found.peak, seen)
            found.disk = max(found.disk, _bytes_below(folder) - before)
        found.own_seconds = time.thread_time()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def _bytes_below(folder: Path | None) -> int:
    n_bytes = 0
    for place, _, names in os.walk(folder) if folder is not None else ():  # minds no lost folder
        for name in names:
            with suppress(OSError):  # it may be gone meanwhile
                n_bytes += Path(place, name).stat().st_size
    return n_bytes


def _beyond_files() -> int | None:
    """Return the resident bytes that are not pages of files, of this process and those below it."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):  # it may have ended meanwhile
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(folder.name))
    own = _anonymous(os.getpid())
    return None if own is None else own + _below(os.getpid(), parents)


def _below(process: int, parents: dict[int, list[int]]) -> int:
    return sum((_anonymous(each) or 0) + _below(each, parents) for each in parents.get(process, []))


def _anonymous(process: int) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        lines = Path(f"/proc/{process}/status").read_text("ascii", "replace").splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))
    return None


def forget_peak() -> None:
    """Let the peak start again from what is held now, where the system lets us."""
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:
        return
