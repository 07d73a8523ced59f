"""Feature columns that give the label away: too good to be a measurement.

A column is a suspect if one threshold on it picks out the nodes of a class, or if its values
determine the label. Both need support: a column that is on in three nodes of one class by luck is
none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from adagcn.graph import Features, Graph

LEAST_MATCH = 0.9  # of nodes on either side that are on both; of errors that the values remove
LEAST_SUPPORT = 5  # labeled nodes of a class that are picked out
BY_LUCK = 0.001  # expected number of columns of noise that look as suspicious as this one
MOST_NODES = 4000
MOST_DENSE_COLUMNS = 2000


@dataclass(frozen=True)
class Suspect:
    """A column that equals the label, or nearly so.

    Parameters
    ----------
    column : int
        Its number.
    name : str or None
        Its name, if the columns have names.
    kind : {"threshold", "values"}
        Whether a threshold picks out a class, or the values tell all classes apart.
    label : str, number or None
        The class that a threshold picks out.
    threshold : float or None
        Where it lies.
    above : bool or None
        Whether the class lies above it.
    n_agree : int
        Labeled nodes of which the column says the truth: whether they are of this class, or of
        which class they are (as nodes with the same or the nearest value are).
    n_labeled : int
        Labeled nodes that were looked at.
    """

    column: int
    name: str | None
    kind: Literal["threshold", "values"]
    label: str | int | float | bool | None
    threshold: float | None
    above: bool | None
    n_agree: int
    n_labeled: int


@dataclass(frozen=True)
class _Labels:
    """Classes of the looked-at nodes, which of them have enough labels, and how many columns."""

    classes: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_columns: int

    @property
    def n(self) -> int:
        return len(self.classes)

    def one_hot(self, order: Any = slice(None)) -> NDArray[np.int64]:
        return np.asarray(np.eye(len(self.counts), dtype=np.int64)[self.classes[order]])


def leakage_suspects(graph: Graph, *, rng: np.random.Generator) -> tuple[Suspect, ...]:
    """Return the columns that equal the label or nearly do, the most telling first.

    Parameters
    ----------
    graph : Graph
        With labels of at least two classes, else nothing can be suspected.
    rng : Generator
        Draws labeled nodes where there are more than :data:`MOST_NODES`.
    """
    nodes = graph.labeled_nodes
    if graph.has_node_columns or len(np.unique(graph.labels[nodes])) < 2:
        return ()
    if len(nodes) > MOST_NODES:
        nodes = np.sort(rng.choice(nodes, MOST_NODES, replace=False))
    classes = graph.labels[nodes]
    labels = _Labels(classes, np.bincount(classes, minlength=graph.n_classes), graph.n_features)
    found = [
        _named(suspect, graph)
        for column, values in _candidates(graph.features[nodes], labels)
        if (suspect := _suspect(column, values, labels)) is not None
    ]
    return tuple(sorted(found, key=lambda each: (-each.n_agree, each.column)))


def _candidates(rows: Features, labels: _Labels) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the columns that can be suspects at all, with their values."""
    if isinstance(rows, np.ndarray):
        for column in _telling_columns(rows, labels):
            yield int(column), rows[:, column]
        return
    stored = rows.tocsc()
    for column in _dense_enough(rows, labels):
        part = slice(stored.indptr[column], stored.indptr[column + 1])
        values = np.zeros(labels.n, dtype=stored.dtype)
        values[stored.indices[part]] = stored.data[part]
        yield int(column), values


def _telling_columns(rows: NDArray[Any], labels: _Labels) -> NDArray[np.intp]:
    """Return all columns, or the many whose class means differ most in their own deviations."""
    if rows.shape[1] <= MOST_DENSE_COLUMNS:
        return np.arange(rows.shape[1])
    one_hot = labels.one_hot().astype(rows.dtype)
    means = one_hot.T @ rows / np.maximum(labels.counts, 1)[:, None]
    between = (labels.counts[:, None] * np.square(means - rows.mean(axis=0))).sum(axis=0)
    within = np.maximum(rows.var(axis=0) * labels.n - between, 0.0)
    return np.sort(np.argsort(within - between, kind="stable")[:MOST_DENSE_COLUMNS])


def _dense_enough(rows: Any, labels: _Labels) -> NDArray[np.intp]:
    """Return the columns of a sparse matrix whose zeros leave room for a match.

    A threshold above zero picks out stored values only, so most of a class must have one; or the
    zeros themselves are the class. Values that tell classes apart are stored for all but one.
    """
    on = (rows != 0).astype(np.int64)
    support = np.bincount(on.indices, minlength=rows.shape[1])
    enough = np.flatnonzero(support >= LEAST_SUPPORT)
    counts = np.asarray((on[:, enough].T @ labels.one_hot()), dtype=np.int64)
    picked = counts >= LEAST_MATCH * labels.counts
    off = labels.counts - counts
    either = (labels.n - support[enough])[:, None] + counts
    zeros = off >= LEAST_MATCH * either
    usable = labels.counts >= LEAST_SUPPORT
    return np.asarray(enough[(picked[:, usable] | zeros[:, usable]).any(axis=1)])


def _least_agreement(labels: _Labels) -> float:
    """Return how many nodes the values must get right to remove most errors of the usual class."""
    usual = int(labels.counts.max())
    return usual + LEAST_MATCH * (labels.n - usual)


def _suspect(column: int, values: NDArray[Any], labels: _Labels) -> Suspect | None:
    order = np.argsort(values, kind="stable")
    in_order = values[order]
    if in_order[0] == in_order[-1]:
        return None
    rules = [_by_values, _by_threshold]
    if int((labels.counts > 0).sum()) == 2:
        rules.reverse()  # of two classes, a threshold says the same more simply
    found = (rule(column, in_order, order, labels) for rule in rules)
    return next((suspect for suspect in found if suspect is not None), None)


def _by_threshold(
    column: int, values: NDArray[Any], order: NDArray[np.intp], labels: _Labels
) -> Suspect | None:
    """Return the class that one threshold picks out best, if it does so nearly without error.

    The match of a set S with a class C is Jaccard's |S ∩ C| / |S ∪ C|. The chance of as many common
    nodes is hypergeometric, and counted for every column, class and side.
    """
    cuts = np.flatnonzero(values[1:] != values[:-1])
    below = labels.one_hot(order).cumsum(axis=0)[cuts]
    n_below = (cuts + 1)[:, None]
    both = np.stack([below, labels.counts - below])
    size = np.stack([n_below, labels.n - n_below])
    match = both / (size + labels.counts - both)
    match[:, :, labels.counts < LEAST_SUPPORT] = 0.0
    side, cut, label = (int(at) for at in np.unravel_index(np.argmax(match), match.shape))
    n_both, n_side = int(both[side, cut, label]), int(size[side, cut, 0])
    n_label = int(labels.counts[label])
    if match[side, cut, label] < LEAST_MATCH or n_both < LEAST_SUPPORT:
        return None
    by_luck = float(hypergeom.sf(n_both - 1, labels.n, n_label, n_side))
    if by_luck * labels.n_columns * len(labels.counts) * 2 > BY_LUCK:
        return None
    threshold = (float(values[cuts[cut]]) + float(values[cuts[cut] + 1])) / 2
    wrong = n_side + n_label - 2 * n_both
    return Suspect(
        column, None, "threshold", label, threshold, side == 1, labels.n - wrong, labels.n
    )


def _by_values(
    column: int, values: NDArray[Any], order: NDArray[np.intp], labels: _Labels
) -> Suspect | None:
    """Return the column if each node has the class of the others with the same or nearest value."""
    classes = labels.classes[order]
    n_agree = int((_class_of_likes(values, classes, len(labels.counts)) == classes).sum())
    if n_agree < _least_agreement(labels):
        return None
    usual = labels.counts.max() / labels.n
    if float(binom.sf(n_agree - 1, labels.n, usual)) * labels.n_columns > BY_LUCK:
        return None
    return Suspect(column, None, "values", None, None, None, n_agree, labels.n)


def _class_of_likes(
    values: NDArray[Any], classes: NDArray[np.int64], n_classes: int
) -> NDArray[np.int64]:
    """Return, for nodes sorted by value, the usual class of the other nodes with that value.

    A node whose value nobody else has is taken for what its nearest neighbor in value is.
    """
    groups = np.concatenate([[0], np.cumsum(values[1:] != values[:-1])])
    cells = np.bincount(groups * n_classes + classes, minlength=(groups[-1] + 1) * n_classes)
    others = cells.reshape(-1, n_classes)[groups]
    others[np.arange(len(classes)), classes] -= 1
    said = others.argmax(axis=1)
    gaps = np.concatenate([[np.inf], np.diff(values.astype(np.float64)), [np.inf]])
    nearest = np.where(gaps[:-1] <= gaps[1:], -1, 1) + np.arange(len(classes))
    alone = others.sum(axis=1) == 0
    return np.asarray(np.where(alone, classes[nearest.clip(0, len(classes) - 1)], said))


def _named(suspect: Suspect, graph: Graph) -> Suspect:
    """Return a suspect with the user's names of column and class."""
    names = graph.feature_names
    name = None if names is None else str(names[suspect.column])
    label = None if suspect.label is None else graph.classes.tolist()[int(suspect.label)]
    return replace(suspect, name=name, label=label)
