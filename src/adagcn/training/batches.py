"""Mini-batches: every row once per epoch, in an order drawn from the layer's own random stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import torch
from torch import Tensor

BatchSize: TypeAlias = int | Literal["all"]


def is_full(batch_size: BatchSize, n_rows: int) -> bool:
    """Return whether a step takes all rows: then nothing is drawn."""
    return batch_size == "all" or batch_size >= n_rows


def batches(
    n_rows: int, batch_size: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, float]]:
    """Yield the rows of every batch of an epoch, and what their loss is multiplied with.

    Of n rows in random order, each b make a batch; the last one may be smaller. The loss of a batch
    B is (n/b) Σ_{i∈B} w_i (−log p_i): a row is in it with probability b/n, so that the expected
    gradient is that of all rows, beside which the L2 terms have their usual weight.

    Parameters
    ----------
    n_rows, batch_size : int
        n and b.
    generator : torch.Generator
        Draws the order.

    Yields
    ------
    rows : Tensor of shape (b,)
        Positions in ascending order: rows in a file are read from front to back.
    factor : float
        n/b.
    """
    order = torch.randperm(n_rows, generator=generator, device=generator.device)
    for start in range(0, n_rows, batch_size):
        some = order[start : start + batch_size]
        yield some.sort().values, n_rows / len(some)
