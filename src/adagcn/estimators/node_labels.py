"""The labeled nodes of a fit: ids, labels and weights, checked in the same words for all models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adagcn.boosting.hop_boosting import LabeledNodes
from adagcn.errors import InputError
from adagcn.estimators import labels
from adagcn.graph import Graph


@dataclass(frozen=True)
class GivenLabels:
    """What the user says about the nodes of a fit, besides which they are."""

    y: ArrayLike
    y_val: ArrayLike | None
    sample_weight: ArrayLike | None
    class_weight: dict[Any, float] | str | None


@dataclass(frozen=True)
class CheckedLabels:
    """Training and stopping nodes with classes as indices, and the label values behind those."""

    nodes: LabeledNodes
    stop_labels: NDArray[np.int64] | None
    classes: NDArray[Any]


def check_pair(X_val: ArrayLike | None, y_val: ArrayLike | None) -> None:
    """Refuse stopping nodes without labels, and labels without stopping nodes."""
    if (X_val is None) != (y_val is None):
        raise InputError(
            "AGC-I631",
            "X_val and y_val go together",
            got="X_val alone" if y_val is None else "y_val alone",
            fix="pass the stopping nodes and their labels, or neither",
        )


def node_positions(
    graph: Graph, X: ArrayLike, X_val: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
    """Return the positions of training and stopping nodes, each of them once."""
    train = _distinct(graph, X, "X")
    stop = None if X_val is None else _distinct(graph, X_val, "X_val")
    _refuse_overlap(graph, train, stop)
    return train, stop


def checked_labels(
    train: NDArray[np.intp],
    stop: NDArray[np.intp] | None,
    given: GivenLabels,
    *,
    validation_fraction: float,
    seed: int,
) -> CheckedLabels:
    """Return the nodes with their labels; without stopping nodes, a fraction is set aside."""
    classes, encoded = labels.encode(labels.label_array(given.y, len(train), "y"))
    labels.check_classes(classes)
    weights = labels.starting_weights(given.sample_weight, given.class_weight, classes, encoded)
    nodes = LabeledNodes(train, encoded, weights, stop)
    if stop is None or given.y_val is None:
        return CheckedLabels(*_hold_out(nodes, validation_fraction, seed), classes)
    stop_values = labels.label_array(given.y_val, len(stop), "y_val")
    return CheckedLabels(nodes, labels.indices_of(stop_values, classes, "y_val"), classes)


def _distinct(graph: Graph, ids: ArrayLike, argument: str) -> NDArray[np.intp]:
    """Return the positions of node ids of which none stands twice."""
    positions = graph.positions(ids)
    if len(positions) == 0:
        raise InputError(
            "AGC-I637",
            f"{argument} holds no nodes: 0 samples, and a minimum of 1 is required",
            got=ids,
            fix="pass the ids of labeled nodes",
        )
    values, counts = np.unique(positions, return_counts=True)
    if counts.max() > 1:
        raise InputError(
            "AGC-I638",
            f"{argument} holds {np.count_nonzero(counts > 1)} nodes more than once",
            got=graph.node_ids[values[counts > 1][:5]].tolist(),
            fix="pass every node once; sample_weight makes a node count for more",
        )
    return positions


def _refuse_overlap(graph: Graph, train: NDArray[np.intp], stop: NDArray[np.intp] | None) -> None:
    both = np.empty(0, dtype=np.intp) if stop is None else np.intersect1d(train, stop)
    if len(both):
        raise InputError(
            "AGC-I639",
            f"X and X_val share {len(both)} nodes",
            got=graph.node_ids[both[:5]].tolist(),
            fix="a node either trains or decides when to stop, not both",
        )


def _hold_out(
    nodes: LabeledNodes, fraction: float, seed: int
) -> tuple[LabeledNodes, NDArray[np.int64] | None]:
    """Set a share of the labeled nodes aside for stopping, the classes in proportion."""
    if fraction == 0.0:
        return nodes, None
    # Here, since it takes a sixth of a second to import (plots, progress bars) and few need it.
    from sklearn.model_selection import train_test_split

    try:
        kept, held = train_test_split(
            np.arange(len(nodes.labels)),
            test_size=fraction,
            stratify=nodes.labels,
            random_state=np.random.RandomState(seed % 2**32),
        )
    except ValueError as error:
        raise InputError(
            "AGC-I641",
            f"validation_fraction cannot be set aside from {len(nodes.labels)} labeled nodes: "
            f"{error}",
            got=fraction,
            fix="pass X_val and y_val, or validation_fraction=0",
        ) from None
    remaining = LabeledNodes(
        nodes.train_nodes[kept],
        nodes.labels[kept],
        nodes.sample_weight[kept],
        nodes.train_nodes[held],
    )
    return remaining, nodes.labels[held]
