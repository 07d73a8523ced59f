"""A large product of dense matrices, cut into fixed blocks that threads share.

Which blocks there are follows from the shapes alone, and each is computed by one thread: the bits
are the same with any number of threads. They are also those of the whole product on one thread, as
far as has been tried: MKL adds up an entry in the same order in a block of 16 rows and more, and in
float32 in one of 64 columns and more.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from adagcn.engines.threads import spread

# Multiplications from which on a product is cut in two, or in four: half a millisecond of one core
# for a block is worth a thread, whose start and end cost a tenth of that.
TWO_BLOCKS_FROM = 2**25
FOUR_BLOCKS_FROM = 2**28
_ROWS, _LEAST_ROWS = 16, 64
_COLUMNS, _LEAST_COLUMNS = 64, 128


def n_blocks(left: Tensor, right: Tensor) -> int:
    """Return how many blocks a product is cut into: 1, 2 or 4."""
    work = left.shape[0] * left.shape[1] * right.shape[1]
    return 1 + (work >= TWO_BLOCKS_FROM) + 2 * (work >= FOUR_BLOCKS_FROM)


def dense_product(left: Tensor, right: Tensor) -> Tensor:
    """Return L R, of shape (n_rows, n_columns), for matrices that need no gradient.

    Where PyTorch has several threads, they share the product in its own way.
    """
    parts = n_blocks(left, right)
    if parts == 1 or left.device.type != "cpu" or torch.get_num_threads() > 1:
        return left @ right
    n_rows, n_columns = left.shape[0], right.shape[1]
    result = left.new_empty(n_rows, n_columns)

    def fill_rows(some: slice) -> None:
        torch.mm(left[some], right, out=result[some])

    def fill_columns(some: slice) -> None:
        torch.mm(left, right[:, some], out=result[:, some])

    if n_columns > n_rows and left.dtype == torch.float32:
        spread(fill_columns, _cut(n_columns, parts, _COLUMNS, _LEAST_COLUMNS))
    else:
        spread(fill_rows, _cut(n_rows, parts, _ROWS, _LEAST_ROWS))
    return result


def _cut(size: int, parts: int, unit: int, least: int) -> list[slice]:
    """Return blocks of about the same size, multiples of a unit, or fewer that are not too small.

    >>> _cut(500, 2, 16, 64)
    [slice(0, 240, None), slice(240, 500, None)]
    """
    parts = max(1, min(parts, size // least))
    ends = [size * i // parts // unit * unit for i in range(parts)]
    return [slice(start, end) for start, end in pairwise([*ends, size])]
