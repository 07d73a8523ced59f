"""Rows of a hop that a layer is fitted on: in memory, or beyond a limit in a file.

The file has no name: it is gone with the process, however that ends. It is written a part at a time
and then mapped, so that whoever slices the rows reads the parts that are needed, and every product
has the bits that it has in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        if self.n_bytes is None:
            return scaled_rows(hop, nodes, factor, how)
        sample = scaled_rows(hop, nodes[:1], factor, how)
        if not isinstance(sample, np.ndarray):
            rows = scaled_rows(hop, nodes, factor, how)
            self._check_sparse(rows)
            return rows
        if self.holds(sample):
            return scaled_rows(hop, nodes, factor, how)
        parts = (scaled_rows(hop, nodes[some], factor, how) for some in _parts(len(nodes)))
        return self._in_file(parts, (len(nodes), sample.shape[1]), sample.dtype)

    def mapped(self, change: Callable[[Features], Features], rows: Features) -> Features:
        """Return rows after a change that is made to each for itself."""
        if not isinstance(rows, np.ndarray) or self.holds(rows):
            return change(rows)
        sample = np.asarray(change(rows[:1]))
        parts = (change(rows[some]) for some in _parts(len(rows)))
        return self._in_file(parts, rows.shape, sample.dtype)

    def some(self, rows: Features, used: NDArray[np.intp]) -> Features:
        """Return some rows, without a copy where these are all."""
        if len(used) == rows.shape[0]:
            return rows
        if not isinstance(rows, np.ndarray) or self.holds(rows):
            return rows[used]
        parts = (rows[used[part]] for part in _parts(len(used)))
        return self._in_file(parts, (len(used), rows.shape[1]), rows.dtype)

    def holds(self, like: NDArray[Any]) -> bool:
        """Return whether all rows of a layer fit, if they are as wide as these."""
        row_bytes = like.shape[1] * like.dtype.itemsize
        return self.n_bytes is None or self.n_rows * row_bytes <= self.n_bytes

    def _in_file(
        self, parts: Iterable[Features], shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> NDArray[Any]:
        """Return an array in a file without a name; what is changed in it stays in memory."""
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                for part in parts:
                    file.write(np.ascontiguousarray(part).data)
                file.flush()
                if not shape[0] * shape[1]:
                    return np.empty(shape, dtype)
                return np.asarray(np.memmap(file, dtype, "c", shape=shape))
        except OSError as error:
            where = self.folder or tempfile.gettempdir()
            raise ResourceError(
                "AGC-R1708",
                f"rows beyond row_memory could not be written to {str(where)!r}: "
                f"{error.strerror or error}",
                fix="free some space there, or raise row_memory",
            ) from error

    def _check_sparse(self, rows: Any) -> None:
        share = rows.shape[0] / max(self.n_rows, 1)
        n_bytes = rows.data.nbytes + rows.indices.nbytes
        if self.n_bytes is not None and n_bytes > share * self.n_bytes:
            raise ResourceError(
                "AGC-R1709",
                "sparse rows beyond row_memory cannot be read from a file",
                got=f"{n_bytes:,} bytes of {rows.shape[0]:,} rows",
                fix="raise row_memory, or lower max_features",
            )


NO_LIMIT = RowRoom()


def _parts(n_rows: int) -> list[slice]:
    starts = range(0, n_rows, GATHERED_AT_ONCE)
    return [slice(start, start + GATHERED_AT_ONCE) for start in starts]
