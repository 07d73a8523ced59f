"""Scattered rows of mapped files: the pages that hold them are read, and few others.

A system that is asked for one page of a mapped file reads many more around it (``read_ahead_kb``:
128 KB on most systems, several MB on some and on network file systems). That is right for rows in
their order, and for rows that stand close to each other. For scattered rows, it reads the file many
times over where memory cannot hold it. So read-ahead is off while such rows are gathered, and the
system is told which pages are needed before their rows are copied.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adagcn.graph import Features
from adagcn.propagation.sparse_tensors import readable_tensor

_BYTES_AT_ONCE = 2**24  # whose pages are asked for while the ones before are copied
_GAP = 2**15  # between two rows, up to which reading on is as fast as starting anew
_LONGEST = 2**17  # that a system surely reads when it is told of a range


def take_rows(
    matrix: NDArray[Any], places: NDArray[Any], columns: slice, out: NDArray[Any]
) -> None:
    """Write some columns of some rows to an array, with no copy in between.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        Where they are; it may be mapped from a file.
    places : ndarray
        Which rows.
    columns : slice
        Which columns.
    out : ndarray
        Where they go.
    """
    source = readable_tensor(matrix)[:, columns]
    found, target = torch.from_numpy(places), torch.from_numpy(out)
    file, row = _MappedFile.of(matrix), matrix.strides[0]
    if file is None or _are_close(places, row):
        torch.index_select(source, 0, found, out=target)
        return
    first = columns.indices(matrix.shape[1])[0] * matrix.itemsize
    width = source.shape[1] * matrix.itemsize
    n_rows = max(_BYTES_AT_ONCE // max(width, 1), 1)

    def want(start: int) -> None:
        begins = places[start : start + n_rows].astype(np.int64) * row + first  # may pass 2³¹
        file.want(begins, begins + width)

    with file.without_read_ahead():
        want(0)
        for start in range(0, len(places), n_rows):
            want(start + n_rows)
            some = slice(start, start + n_rows)
            torch.index_select(source, 0, found[some], out=target[some])


def some_rows(matrix: Features, nodes: Any) -> Features:
    """Return some rows of a matrix that may be mapped from files: ``matrix[nodes]``."""
    places = np.asarray(nodes) if not isinstance(nodes, slice) else None
    if places is None or places.dtype.kind not in "iu":  # in their order
        return matrix[nodes]
    places = places.astype(np.int64, copy=False)
    if isinstance(matrix, np.ndarray):
        rows = np.empty((len(places), matrix.shape[1]), dtype=matrix.dtype)
        take_rows(matrix, places, slice(None), rows)
        return rows
    starts, ends = (
        np.asarray(matrix.indptr[each], dtype=np.int64) for each in (places, places + 1)
    )
    with ExitStack() as stack:
        for part in (matrix.indices, matrix.data):
            file = _MappedFile.of(part)
            if file is not None and not _are_close(starts, part.itemsize):
                stack.enter_context(file.without_read_ahead())
                file.want(starts * part.itemsize, ends * part.itemsize)
        return matrix[places]


def _are_close(places: NDArray[Any], stride: int) -> bool:
    """Return whether places ascend, and are on average so close that reading on is as fast."""
    if len(places) < 2:
        return False
    span = int(places[-1]) - int(places[0])
    return 0 <= span * stride <= _GAP * len(places) and bool((places[1:] >= places[:-1]).all())


@dataclass(frozen=True)
class _MappedFile:
    """An array in a mapped file: the mapping, and where in it the array begins."""

    mapping: mmap.mmap
    first: int

    @classmethod
    def of(cls, array: NDArray[Any]) -> _MappedFile | None:
        """Return the file of an array, if it has one and this system takes advice on it."""
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        if not isinstance(owner, mmap.mmap) or not hasattr(mmap, "MADV_WILLNEED"):
            return None
        start = np.frombuffer(owner, dtype=np.uint8).ctypes.data
        return cls(owner, array.ctypes.data - start)

    @contextmanager
    def without_read_ahead(self) -> Iterator[None]:
        """Read no page that nobody asked for, until the end."""
        self._advise(mmap.MADV_RANDOM)
        try:
            yield
        finally:
            self._advise(mmap.MADV_NORMAL)

    def want(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        """Have the pages read that hold some bytes of the array, given as ranges in any order."""
        used = np.flatnonzero(ends > starts)
        if not len(used):
            return
        order = used[np.argsort(starts[used], kind="stable")]
        starts, ends = starts[order] + self.first, np.maximum.accumulate(ends[order]) + self.first
        cuts = np.flatnonzero(starts[1:] - ends[:-1] > _GAP)
        firsts = starts[np.concatenate([[0], cuts + 1])] // mmap.PAGESIZE * mmap.PAGESIZE
        lasts = ends[np.concatenate([cuts, [len(ends) - 1]])]
        advise, needed = self.mapping.madvise, mmap.MADV_WILLNEED
        with suppress(OSError):
            for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
                for place in range(first, last, _LONGEST):
                    advise(needed, place, min(_LONGEST, last - place))

    def _advise(self, advice: int) -> None:
        with suppress(OSError):  # advice only: without it, rows are read as they are looked at
            self.mapping.madvise(advice)
