"""The number of threads that PyTorch and BLAS compute with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def threads(n_threads: int) -> Iterator[None]:
    """Limit PyTorch and BLAS to this many threads, and restore the caller's setting at the end.

    Only libraries that are already loaded are limited: import what computes before the block.

    Parameters
    ----------
    n_threads : int
        Threads to compute with.
    """
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = torch.get_num_threads()
    with threadpool_limits(n_threads):
        torch.set_num_threads(n_threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
