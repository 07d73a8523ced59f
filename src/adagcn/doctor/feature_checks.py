"""What is odd about the feature columns: empty, constant, repeated, of very different size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adagcn.doctor.leakage import Suspect, leakage_suspects
from adagcn.graph import Features, Graph
from adagcn.models.support.column_scale import TOO_FAR_APART, column_scale

N_EXAMPLES = 5


@dataclass(frozen=True)
class FeatureChecks:
    """The feature columns.

    Parameters
    ----------
    kind : {"none", "dense", "sparse"}
        How features are held; "none" if every node is its own column.
    n_columns : int
        Number of columns; 0 for "none".
    empty : int
        Columns that are zero everywhere.
    constant : int
        Columns with one value other than zero in all rows.
    duplicate : int
        Columns that equal an earlier one that is neither empty nor constant.
    duplicate_examples : tuple of tuple of (int, int)
        The first of them: the earlier column and the one that repeats it.
    rows_without : int
        Nodes whose features are all zero.
    smallest_deviation, largest_deviation : float or None
        Of the standard deviations of the columns that are not constant; a sparse column counts as
        if its mean were zero.
    very_different : bool
        Whether models will bring the columns to one size: dense ones whose deviations differ more
        than a thousandfold, or are above a thousand.
    suspects : tuple of Suspect
        Columns that equal the label, or nearly so.
    """

    kind: Literal["none", "dense", "sparse"]
    n_columns: int
    empty: int
    constant: int
    duplicate: int
    duplicate_examples: tuple[tuple[int, int], ...]
    rows_without: int
    smallest_deviation: float | None
    largest_deviation: float | None
    very_different: bool
    suspects: tuple[Suspect, ...]


def feature_checks(graph: Graph, *, rng: np.random.Generator) -> FeatureChecks:
    """Return what is odd about the feature columns."""
    features = graph.features
    if graph.has_node_columns:
        return FeatureChecks("none", 0, 0, 0, 0, (), 0, None, None, False, ())
    dense = isinstance(features, np.ndarray)
    empty, constant = _empty_and_constant(features)
    varying = np.flatnonzero(~empty & ~constant)
    deviation = column_scale(features)[1][varying]
    smallest = float(deviation.min()) if len(varying) else None
    largest = float(deviation.max()) if len(varying) else None
    repeats = _repeats(features, varying)
    return FeatureChecks(
        kind="dense" if dense else "sparse",
        n_columns=graph.n_features,
        empty=int(empty.sum()),
        constant=int(constant.sum()),
        duplicate=len(repeats),
        duplicate_examples=tuple(repeats[:N_EXAMPLES]),
        rows_without=_rows_without(features),
        smallest_deviation=smallest,
        largest_deviation=largest,
        very_different=dense and _are_far_apart(smallest, largest),
        suspects=leakage_suspects(graph, rng=rng),
    )


def _are_far_apart(smallest: float | None, largest: float | None) -> bool:
    """Return what :func:`adagcn.models.support.column_scale.needs_scaling` goes by."""
    if smallest is None or largest is None:
        return False
    return largest > TOO_FAR_APART * min(smallest, 1.0)


def _empty_and_constant(features: Features) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which columns are zero everywhere, and which have one other value."""
    if isinstance(features, np.ndarray):
        low, high = features.min(axis=0), features.max(axis=0)
    else:
        low, high = features.min(axis=0).toarray().ravel(), features.max(axis=0).toarray().ravel()
    same = np.asarray(low == high)
    return same & (low == 0.0), same & (low != 0.0)


def _rows_without(features: Features) -> int:
    if isinstance(features, np.ndarray):
        return int((~features.any(axis=1)).sum())
    stored = np.zeros(features.shape[0], dtype=bool)
    stored[
        np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))[features.data != 0]
    ] = True
    return int((~stored).sum())


def _repeats(features: Features, columns: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return pairs of an earlier column and one with the same values, by the digest of both."""
    first: dict[bytes, int] = {}
    found = []
    for column, digest in zip(columns.tolist(), _digests(features, columns), strict=True):
        earlier = first.setdefault(digest, column)
        if earlier != column:
            found.append((earlier, column))
    return found


def _digests(features: Features, columns: NDArray[np.intp]) -> Iterator[bytes]:
    if isinstance(features, np.ndarray):
        for column in columns:
            values = np.ascontiguousarray(features[:, column]) + 0.0  # −0 is 0
            yield blake2b(values.tobytes(), digest_size=16).digest()
        return
    stored = features.tocsc()
    stored.eliminate_zeros()
    stored.sort_indices()
    for column in columns:
        part = slice(stored.indptr[column], stored.indptr[column + 1])
        held = blake2b(stored.indices[part].tobytes(), digest_size=16)
        held.update(stored.data[part].tobytes())
        yield held.digest()
