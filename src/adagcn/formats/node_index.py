"""Finds nodes by their ids: exact, vectorized, by binary search in a sorted index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError, counted
from adagcn.formats.node_ids import IdColumn, as_ids, first_few, of_one_kind


class NodeIndex:
    """Finds the positions of ids among the ids of a graph.

    Parameters
    ----------
    node_ids : ndarray
        Ids in their one form (see :func:`as_ids`), all different.
    is_sorted : bool
        Whether they are known to be different and in ascending order.

    Raises
    ------
    InputError
        If an id occurs twice.
    """

    def __init__(self, node_ids: NDArray[Any], *, is_sorted: bool = False) -> None:
        self.node_ids = node_ids
        self._is_range = _is_range(node_ids)
        if is_sorted:
            self._order, self._sorted = np.arange(len(node_ids)), node_ids
        elif not self._is_range:
            self._order = np.argsort(node_ids, kind="stable")
            self._sorted = node_ids[self._order]
            self._check_different()

    def find(self, ids: NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of each id, −1 where there is none."""
        if ids.size == 0 or self.node_ids.size == 0:
            return np.full(len(ids), -1, dtype=np.intp)
        if self._is_range and ids.dtype == np.int64:
            known = (ids >= 0) & (ids < len(self.node_ids))
            return np.where(known, ids, -1).astype(np.intp, copy=False)
        return self._search(ids)

    def locate(self, ids: Any, argument: str) -> NDArray[np.intp]:
        """Return the positions of the user's ids.

        Raises
        ------
        InputError
            If they cannot be ids of this graph: unknown, floats, a mask, of another kind.
        """
        column = (
            ids if isinstance(ids, IdColumn) else _plain_column(as_ids(ids, argument), argument)
        )
        if not column.codes.size:
            return np.empty(0, dtype=np.intp)
        if column.distinct is self.node_ids:
            return column.codes
        _, column = of_one_kind([_plain_column(self.node_ids, "the graph"), column])
        found = self.find(column.distinct)
        if (found < 0).any():
            raise unknown_ids(column.distinct[found < 0], argument)
        return found[column.codes]

    def _search(self, ids: NDArray[Any]) -> NDArray[np.intp]:
        if self._is_range:
            return NodeIndex(self.node_ids.astype(object))._search(ids.astype(object))
        among = self._sorted
        if among.dtype != ids.dtype and among.dtype.kind != "U":
            # int64 meets uint64 in NumPy as float64, which would blur ids past 2^53.
            among, ids = among.astype(object), ids.astype(object)
        places = np.minimum(np.searchsorted(among, ids), len(among) - 1)
        return np.where(among[places] == ids, self._order[places], -1).astype(np.intp, copy=False)

    def _check_different(self) -> None:
        again = self._sorted[1:] == self._sorted[:-1]
        if again.any():
            raise repeated_ids(first_few(np.unique(self._sorted[1:][again])))


def repeated_ids(twice: list[Any]) -> InputError:
    """Return the error for nodes that are listed more than once."""
    return InputError(
        "AGC-I105",
        "node ids must all be different, but some occur more than once",
        got=twice,
        fix="keep one row per node",
    )


def unknown_ids(ids: NDArray[Any], argument: str, n_ids: int | None = None) -> InputError:
    """Return the error for ids that are no nodes; there may be more of them than are given."""
    n_ids = len(ids) if n_ids is None else n_ids
    return InputError(
        "AGC-I104",
        f"{argument} holds {counted(n_ids, 'id')} that the graph does not have",
        got=first_few(ids),
        fix="check the ids, or list every node in node_ids or in the feature table",
    )


def _plain_column(ids: NDArray[Any], argument: str) -> IdColumn:
    return IdColumn(ids, np.arange(len(ids)), argument)


def _is_range(ids: NDArray[Any]) -> bool:
    return ids.dtype == np.int64 and np.array_equal(ids, np.arange(len(ids)))
