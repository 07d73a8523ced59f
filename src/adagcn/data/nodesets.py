"""A split: three sets of nodes that never overlap, and a fit on it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adagcn.errors import InputError, counted
from adagcn.graph import Graph

Nodes = NDArray[np.int64]
_ROLES = ("train_nodes", "stop_nodes", "score_nodes")


@dataclass(frozen=True, eq=False)
class Split:
    """Three sets of nodes that never overlap.

    Parameters
    ----------
    name : str
        The name of the split, such as ``"val:0"``.
    train_nodes : ndarray of int64
        Positions of the training nodes, in the order drawn.
    stop_nodes : ndarray of int64
        Positions of the nodes that decide when training stops; may be empty.
    score_nodes : ndarray of int64
        Positions of the nodes that are scored; may be empty.
    """

    name: str
    train_nodes: Nodes
    stop_nodes: Nodes
    score_nodes: Nodes

    def __post_init__(self) -> None:
        for role in _ROLES:
            nodes = _checked_nodes(role, getattr(self, role))
            object.__setattr__(self, role, nodes)
        for one, other in combinations(_ROLES, 2):
            shared = np.intersect1d(getattr(self, one), getattr(self, other))
            refuse_nodes(
                "AGC-I220", f"{one} and {other} share {counted(len(shared), 'node')}", shared
            )

    @property
    def digest(self) -> str:
        """SHA-256 of the three sets, order included."""
        content = hashlib.sha256()
        for nodes in (self.train_nodes, self.stop_nodes, self.score_nodes):
            content.update(len(nodes).to_bytes(8, "little"))
            content.update(nodes.astype("<i8").tobytes())
        return content.hexdigest()

    @property
    def sizes(self) -> dict[str, int]:
        """How many nodes are trained on (``train``), stopped on (``stop``) and scored."""
        return {role.removesuffix("_nodes"): len(getattr(self, role)) for role in _ROLES}

    def check_range(self, n_nodes: int) -> None:
        """Refuse the split if a position is beyond a graph of ``n_nodes`` nodes."""
        everything = np.concatenate([self.train_nodes, self.stop_nodes, self.score_nodes])
        outside = everything[everything >= n_nodes]
        problem = f"the split {self.name!r} has positions beyond the graph's {n_nodes:,} nodes"
        refuse_nodes("AGC-I221", problem, outside)


def refuse_nodes(code: str, problem: str, nodes: NDArray[Any]) -> None:
    """Raise if there are offending nodes, showing the first five."""
    if len(nodes):
        raise InputError(
            code,
            problem,
            got=nodes[:5].tolist(),
            fix="give each node of the graph at most one role",
        )


def check_class_size(
    members: Nodes, needed: int, label: int, classes: ArrayLike | None, split: str
) -> None:
    """Refuse a class with fewer than ``needed`` nodes to draw from."""
    if len(members) >= needed:
        return
    named = label if classes is None else np.asarray(classes)[label]
    raise InputError(
        "AGC-I231",
        f"the split {split} needs {needed} nodes to draw from in class {str(named)!r}",
        got=len(members),
        fix="lower train_per_class, merge the class with another, or use holdout:0",
    )


def checked_labels(labels: ArrayLike) -> Nodes:
    """Return labels as a vector of class positions, −1 where unknown."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            "AGC-I236",
            "labels must be one whole number per node",
            got=array,
            fix="give the position of each node's class, −1 where it is unknown",
        )
    return array.astype(np.int64, copy=False)


def check_labeled(labels: Nodes, split: str) -> None:
    """Refuse to split nodes of which none has a label."""
    if not (labels >= 0).any():
        raise InputError(
            "AGC-I227",
            f"the split {split} needs labels, but no node has one",
            got=labels,
            fix="read the graph together with its labels",
        )


def check_count(name: str, value: int) -> None:
    """Refuse a number of nodes below one."""
    if value < 1:
        raise InputError("AGC-I237", f"{name} must be at least 1", got=value, fix="raise it")


def _checked_nodes(role: str, nodes: ArrayLike) -> Nodes:
    array = np.asarray(nodes)
    if array.shape == (0,) and role != "train_nodes":
        array = np.empty(0, dtype=np.int64)  # an empty list has no type of its own
    elif array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        filled = "a non-empty list" if role == "train_nodes" else "a list"
        raise InputError(
            "AGC-I232",
            f"{role} must be {filled} of node positions",
            got=nodes,
            fix="give integers from 0 to n_nodes − 1",
        )
    values, counts = np.unique(array, return_counts=True)
    refuse_nodes("AGC-I233", f"{role} has a node twice", values[counts > 1])
    refuse_nodes("AGC-I234", f"{role} has negative positions", values[values < 0])
    checked = array.astype(np.int64)
    checked.setflags(write=False)
    return checked


def fit_on_split(model: Any, graph: Graph, split: Split, callbacks: Iterable[Any] = ()) -> float:
    """Fit on the training nodes, stopping on the stopping nodes; return the seconds it took.

    Without stopping nodes the model stops as its own settings say.
    """
    X, y = graph.ids_and_labels(split.train_nodes)
    stop = graph.ids_and_labels(split.stop_nodes) if len(split.stop_nodes) else (None, None)
    start = time.perf_counter()
    model.fit(X, y, X_val=stop[0], y_val=stop[1], callbacks=callbacks)
    return time.perf_counter() - start
