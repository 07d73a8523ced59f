"""How many labels there are, of which classes, and how near they are to the other nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adagcn.graph import Graph

FEW_LABELS = 5  # a class with fewer of them can hardly be learned, and not be judged
MOST_HOPS = 10


@dataclass(frozen=True)
class ClassCount:
    """A label value and the number of nodes that are known to have it."""

    label: str | int | float | bool
    n_labels: int


@dataclass(frozen=True)
class LabelCounts:
    """The known labels.

    Parameters
    ----------
    n_labeled : int
        Nodes with a label.
    classes : tuple of ClassCount
        Every class, also without a labeled node, in the order of ``Graph.classes``.
    largest_share : float or None
        Share of the labels in the largest class; None without labels.
    imbalance : float or None
        Labels of the largest class for each label of the smallest that has any.
    coverage : tuple of float
        ``coverage[k]`` is the share of all nodes that have a labeled node at most k hops away, in
        the direction in which a node gathers. Ends where it stops growing, or after ten hops.
    """

    n_labeled: int
    classes: tuple[ClassCount, ...]
    largest_share: float | None
    imbalance: float | None
    coverage: tuple[float, ...]

    @property
    def few(self) -> tuple[ClassCount, ...]:
        """The classes with fewer than five labels."""
        return tuple(each for each in self.classes if each.n_labels < FEW_LABELS)


def label_counts(graph: Graph) -> LabelCounts:
    """Return how many labels of which class there are, and how near to the other nodes."""
    labeled = graph.labeled_nodes
    counts = np.bincount(graph.labels[labeled], minlength=graph.n_classes)
    seen = counts[counts > 0]
    return LabelCounts(
        n_labeled=len(labeled),
        classes=tuple(
            ClassCount(label, count)
            for label, count in zip(graph.classes.tolist(), counts.tolist(), strict=True)
        ),
        largest_share=float(seen.max() / seen.sum()) if len(seen) else None,
        imbalance=float(seen.max() / seen.min()) if len(seen) else None,
        coverage=_coverage(graph, labeled) if len(labeled) else (),
    )


def _coverage(graph: Graph, labeled: NDArray[np.intp]) -> tuple[float, ...]:
    """Return the share of nodes within 0, 1, 2, … hops of a labeled one: breadth-first search."""
    reached = np.zeros(graph.n_nodes, dtype=np.float32)
    reached[labeled] = 1.0
    shares = [float(reached.mean(dtype=np.float64))]
    for _ in range(MOST_HOPS):
        # A node gathers from the nodes in its row, so that is where labels come from.
        reached = np.where(graph.adjacency @ reached > 0.0, np.float32(1.0), reached)
        grown = float(reached.mean(dtype=np.float64))
        if grown == shares[-1]:
            break
        shares.append(grown)
    return tuple(shares)
