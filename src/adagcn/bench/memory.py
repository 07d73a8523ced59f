"""Peak memory of one call, in a separate process."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
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


def forget_peak() -> None:
    """Let the peak start again from what is held now, where the system lets us."""
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:
        return
