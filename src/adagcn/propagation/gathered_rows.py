"""Rows of a hop that a layer is fitted on: in memory, or beyond a limit in a file.

Dense rows are one file; of sparse ones, values and columns are one each. Files have no name: they
are gone with the process, however that ends. They are written a part at a time and then mapped, so
that whoever slices the rows reads the parts that are needed, and every product has the bits that it
has in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import ResourceError
from adagcn.graph import Features
from adagcn.propagation.hops import Hop
from adagcn.propagation.scaling import HopScale, scaled_rows

GATHERED_AT_ONCE = 2**14  # rows


@dataclass(frozen=True)
class RowRoom:
    """How much memory the rows of a layer may take, and where they go beyond that.

    Parameters
    ----------
    n_bytes : int or None
        The limit; None: there is none.
    n_rows : int
        Rows of a layer: labeled ones, stopping ones and those with pseudo-labels.
    folder : Path or None
        Where the file is made; None: where temporary files are.
    """

    n_bytes: int | None = None
    n_rows: int = 0
    folder: Path | None = None

    def gathered(self, hop: Hop, nodes: NDArray[np.intp], factor: float, how: HopScale) -> Features:
        """Return rows of a hop as the learner sees them; see :func:`scaling.scaled_rows`."""

        def take(some: slice) -> Features:
            return scaled_rows(hop, nodes[some], factor, how)

        return self._made(take, len(nodes))

    def mapped(self, change: Callable[[Features], Features], rows: Features) -> Features:
        """Return rows after a change that is made to each for itself."""
        if self.n_bytes is None:
            return change(rows)
        return self._made(lambda some: change(rows[some]), rows.shape[0])

    def some(self, rows: Features, used: NDArray[np.intp]) -> Features:
        """Return some rows, without a copy where these are all."""
        if len(used) == rows.shape[0]:
            return rows
        return self._made(lambda some: rows[used[some]], len(used))

    def holds(self, like: NDArray[Any]) -> bool:
        """Return whether all rows of a layer fit, if they are as wide as these."""
        row_bytes = like.shape[1] * like.dtype.itemsize
        return self.n_bytes is None or self.n_rows * row_bytes <= self.n_bytes

    def _made(self, take: Callable[[slice], Features], n_rows: int) -> Features:
        """Return rows that are taken all at once, or a part at a time into files."""
        if self.n_bytes is None:
            return take(slice(n_rows))
        sample = take(slice(1))
        parts: Iterator[Any] = (take(some) for some in _parts(n_rows))
        if isinstance(sample, np.ndarray):
            if self.holds(sample):
                return take(slice(n_rows))
            return self._in_file(parts, (n_rows, sample.shape[1]), sample.dtype)
        n_values = sum(part.nnz for part in parts)
        share = self.n_bytes * n_rows / max(self.n_rows, 1)
        if n_values * (sample.data.itemsize + sample.indices.itemsize) <= share:
            return take(slice(n_rows))
        again = (take(some) for some in _parts(n_rows))  # counting has used the others up
        return self._sparse_in_files(again, sample, n_values)

    def _sparse_in_files(
        self, parts: Iterable[Any], like: sparse.csr_array, n_values: int
    ) -> sparse.csr_array:
        """Return sparse rows whose values and columns are in files; in memory is where rows end.

        Columns and ends are numbers of one kind: of two, SciPy would copy the file to make it one.
        """
        width, lengths = like.shape[1], [np.zeros(1, dtype=np.int64)]
        kind = np.dtype(sparse.get_index_dtype(maxval=max(width, n_values)))

        def arrays() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
            for part in parts:
                lengths.append(np.diff(part.indptr))
                yield part.data, part.indices.astype(kind, copy=False)

        values, columns = self._in_files(arrays(), (like.dtype, kind))
        ends = np.cumsum(np.concatenate(lengths)).astype(kind, copy=False)
        shape = (len(ends) - 1, width)
        return _MappedRows((values, columns, ends), shape=shape, copy=False)

    def _in_file(
        self, parts: Iterable[Features], shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> NDArray[Any]:
        """Return an array in a file without a name; what is changed in it stays in memory."""
        (values,) = self._in_files(((part,) for part in parts), (dtype,))
        return values.reshape(shape)

    def _in_files(
        self, parts: Iterable[Sequence[Any]], dtypes: Sequence[np.dtype[Any]]
    ) -> list[NDArray[Any]]:
        """Return the values of arrays that come in parts, each array in a file of its own."""
        try:
            with ExitStack() as stack:
                files = [
                    stack.enter_context(tempfile.TemporaryFile(dir=self.folder)) for _ in dtypes
                ]
                for part in parts:
                    for file, array in zip(files, part, strict=True):
                        file.write(np.ascontiguousarray(array).data)
                return [_mapped(*each) for each in zip(files, dtypes, strict=True)]
        except OSError as error:
            where = self.folder or tempfile.gettempdir()
            raise ResourceError(
                "AGC-R1708",
                f"rows beyond row_memory could not be written to {str(where)!r}: "
                f"{error.strerror or error}",
                fix="free some space there, or raise row_memory",
            ) from error


class _MappedRows(sparse.csr_array):
    """Sparse rows in files. SciPy would copy consecutive ones, and so read all of them."""

    def __getitem__(self, key: Any) -> Any:
        """Return some rows; consecutive ones share the memory of all."""
        if not isinstance(key, slice) or key.step not in (None, 1):
            return super().__getitem__(key)
        start, stop, _ = key.indices(self.shape[0])
        ends = self.indptr[start : max(start, stop) + 1]
        stored = slice(ends[0], ends[-1])
        parts = (_alone(self.data[stored]), _alone(self.indices[stored]), ends - ends[0])
        return _MappedRows(parts, shape=(len(ends) - 1, self.shape[1]), copy=False)


class _Alone:
    """The memory of a part of an array, described to NumPy as an array of its own."""

    def __init__(self, part: NDArray[Any]) -> None:
        self._part = part  # keeps the memory
        self.size = part.size
        self.__array_interface__ = part.__array_interface__


def _alone(part: NDArray[Any]) -> NDArray[Any]:
    """Return a part of an array that SciPy does not copy because it is one of a larger array."""
    return np.asarray(_Alone(part))


NO_LIMIT = RowRoom()


def _mapped(file: IO[bytes], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return what was written to a file, mapped: changes stay in memory."""
    file.flush()
    if not file.tell():
        return np.empty(0, dtype)
    return np.asarray(np.memmap(file, dtype, "c"))


def _parts(n_rows: int) -> list[slice]:
    starts = range(0, n_rows, GATHERED_AT_ONCE)
    return [slice(start, start + GATHERED_AT_ONCE) for start in starts]
