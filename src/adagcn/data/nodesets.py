"""A split: sets of nodes that never overlap, what may be odd about it, and a fit on it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adagcn.errors import InputError, counted
from adagcn.graph import Graph

Nodes = NDArray[np.int64]
_ROLES = ("train_nodes", "stop_nodes", "score_nodes")
_CALIBRATION = "calibration_nodes"
_FIT_LABELS = {"train_labels": "train_nodes", "stop_labels": "stop_nodes"}
_MOST_DRAWS = 1000  # of wrong labels, until every class keeps a right one


@dataclass(frozen=True)
class Regime:
    """How the labels of a split differ from as many right ones for every class.

    Parameters
    ----------
    at_most : bool
        Of a class with fewer known nodes than ``train_per_class``, train on half of them instead of
        refusing the split.
    n_train : int, optional
        Train on this many known nodes as they fall, instead of on a number for each class. A class
        that got none gets one node besides.
    imbalance : (int, int), optional
        Training nodes of each class in the first half of the classes (rounded up) and in the other.
    label_noise : float, optional
        Share of the training labels, and of the stopping labels, that are wrong.

    Examples
    --------
    >>> Regime(n_train=600, label_noise=0.2).words
    '600 labels as they fall, label noise 20 %'
    """

    at_most: bool = False
    n_train: int | None = None
    imbalance: tuple[int, int] | None = None
    label_noise: float | None = None

    def __post_init__(self) -> None:
        counts = {"n_train": self.n_train, "imbalance": self.imbalance}
        given = [name for name, value in counts.items() if value is not None]
        if self.at_most:
            given.append("at_most")
        if len(given) > 1:
            raise InputError(
                "AGC-I260",
                f"{' and '.join(given)} exclude each other: each says what is trained on",
                got=self,
                fix="leave all but one of them out",
            )
        for name, count in (("n_train", self.n_train), *_named_parts(self.imbalance)):
            if count is not None:
                check_count(name, count)
        if self.label_noise is not None and not 0 < self.label_noise < 1:
            raise InputError(
                "AGC-I261",
                "label_noise must be between 0 and 1",
                got=self.label_noise,
                fix="use for example 0.2, or leave it out",
            )

    @property
    def words(self) -> str:
        """The regime in a few words; empty for that of plain splits."""
        parts = []
        if self.at_most:
            parts.append("half of a class that is too small")
        if self.n_train is not None:
            parts.append(f"{self.n_train:,} labels as they fall")
        if self.imbalance is not None:
            parts.append("imbalance {} to {}".format(*self.imbalance))
        if self.label_noise is not None:
            parts.append(f"label noise {100 * self.label_noise:g} %")
        return ", ".join(parts)


def _named_parts(imbalance: tuple[int, int] | None) -> list[tuple[str, int]]:
    return [] if imbalance is None else [("imbalance", count) for count in imbalance]


@dataclass(frozen=True, eq=False)
class Split:
    """Three sets of nodes that never overlap, and nodes of a fourth where they are asked for.

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
    train_labels, stop_labels : ndarray of int64, optional
        Class positions that a fit sees at these nodes instead of the graph's labels, in the same
        order. Scored nodes always have the graph's.
    calibration_nodes : ndarray of int64, optional
        Positions of the nodes that prediction sets rest on; see :func:`with_calibration`.
    """

    name: str
    train_nodes: Nodes
    stop_nodes: Nodes
    score_nodes: Nodes
    train_labels: Nodes | None = None
    stop_labels: Nodes | None = None
    calibration_nodes: Nodes | None = None

    def __post_init__(self) -> None:
        for role in self._roles:
            nodes = _checked_nodes(role, getattr(self, role))
            object.__setattr__(self, role, nodes)
        for one, other in combinations(self._roles, 2):
            shared = np.intersect1d(getattr(self, one), getattr(self, other))
            refuse_nodes(
                "AGC-I220", f"{one} and {other} share {counted(len(shared), 'node')}", shared
            )
        for role, nodes_role in _FIT_LABELS.items():
            labels = getattr(self, role)
            if labels is not None:
                checked = _checked_fit_labels(role, labels, len(getattr(self, nodes_role)))
                object.__setattr__(self, role, checked)

    @property
    def _roles(self) -> tuple[str, ...]:
        return _ROLES if self.calibration_nodes is None else (*_ROLES, _CALIBRATION)

    @property
    def digest(self) -> str:
        """SHA-256 of the sets, order included, and of labels that only a fit sees."""
        content = hashlib.sha256()
        for nodes in (self.train_nodes, self.stop_nodes, self.score_nodes):
            content.update(len(nodes).to_bytes(8, "little"))
            content.update(nodes.astype("<i8").tobytes())
        for role in _FIT_LABELS:
            labels = getattr(self, role)
            if labels is not None:  # else the digest is that of splits before there were such
                content.update(role.encode())
                content.update(labels.astype("<i8").tobytes())
        if self.calibration_nodes is not None:
            content.update(_CALIBRATION.encode())
            content.update(self.calibration_nodes.astype("<i8").tobytes())
        return content.hexdigest()

    @property
    def sizes(self) -> dict[str, int]:
        """How many nodes are trained on (``train``), stopped on (``stop``) and scored.

        Where there are such, also how many prediction sets rest on (``calibration``).
        """
        return {role.removesuffix("_nodes"): len(getattr(self, role)) for role in self._roles}

    def check_range(self, n_nodes: int) -> None:
        """Refuse the split if a position is beyond a graph of ``n_nodes`` nodes."""
        everything = np.concatenate([getattr(self, role) for role in self._roles])
        outside = everything[everything >= n_nodes]
        problem = f"the split {self.name!r} has positions beyond the graph's {n_nodes:,} nodes"
        refuse_nodes("AGC-I221", problem, outside)


def with_label_noise(split: Split, labels: ArrayLike, share: float) -> Split:
    """Return a split whose fit sees some wrong labels.

    Parameters
    ----------
    split : Split
        A split without labels of its own.
    labels : array-like of int, shape (n_nodes,)
        Class of each node, −1 where unknown.
    share : float
        Share of the training labels, and of the stopping labels, that become another class, each
        with the same chance. The split's name and the share decide which, through SHA-256.

    Returns
    -------
    Split
        The same nodes. Every class keeps at least one right training label.

    Raises
    ------
    InputError
        There is one class only, or too few labels for every class to keep a right one.
    """
    Regime(label_noise=share)
    labels = checked_labels(labels)
    classes = np.unique(labels[labels >= 0])
    if len(classes) < 2:
        raise InputError(
            "AGC-I262",
            f"label_noise needs another class to draw from on the split {split.name}",
            got=len(classes),
            fix="leave label_noise out",
        )
    seed = hashlib.sha256(f"adagcn label noise {float(share)!r} {split.name}".encode()).digest()
    rng = np.random.RandomState(int.from_bytes(seed[:4], "big"))  # a stream that never changes
    train, stop = labels[split.train_nodes], labels[split.stop_nodes]
    for _ in range(_MOST_DRAWS):
        noisy = _noisy(train, classes, share, rng)
        if len(np.unique(train[noisy == train])) == len(np.unique(train)):
            stop_labels = _noisy(stop, classes, share, rng)
            return replace(split, train_labels=noisy, stop_labels=stop_labels)
    raise InputError(
        "AGC-I263",
        f"label_noise leaves no right training label to some class of the split {split.name}",
        got=share,
        fix="lower label_noise or train on more nodes of each class",
    )


def _noisy(labels: Nodes, classes: Nodes, share: float, rng: np.random.RandomState) -> Nodes:
    """Return labels of which a share, rounded to whole nodes, is of another class."""
    changed = rng.permutation(len(labels))[: round(share * len(labels))]
    places = np.searchsorted(classes, labels)
    places[changed] += rng.randint(1, len(classes), size=len(changed))
    noisy: Nodes = classes[places % len(classes)]
    return noisy


def with_calibration(split: Split, amount: float = 0.5) -> Split:
    """Return a split that sets some stopping nodes aside for prediction sets.

    A fit on it does not stop on these nodes, choose settings by them or fit a temperature to them.

    Parameters
    ----------
    split : Split
        A split with stopping nodes, none of them set aside yet.
    amount : float or int
        Below 1: the share of the stopping nodes to set aside. From 1: their number.

    Returns
    -------
    Split
        The same training and scored nodes. The split's name decides, through SHA-256, which of the
        stopping nodes are set aside, regardless of their class: as many of them are likely to be of
        a class as of the scored nodes.

    Raises
    ------
    InputError
        No stopping node would be left, none would be set aside, or the split has labels of its own.

    Examples
    --------
    >>> with_calibration(Split("mine", [0, 1], [2, 3, 4, 5], [6])).sizes
    {'train': 2, 'stop': 2, 'score': 1, 'calibration': 2}
    """
    if split.stop_labels is not None or split.calibration_nodes is not None:
        raise InputError(
            "AGC-I1360",
            f"the split {split.name} has wrong labels or calibration nodes already",
            got=split.sizes,
            fix="set nodes aside from a split without",
        )
    n_stop = len(split.stop_nodes)
    n_aside = _n_aside(amount, n_stop)
    if not 0 < n_aside < n_stop:
        raise InputError(
            "AGC-I1361",
            "amount must be a share between 0 and 1, or a whole number below that of the stopping "
            f"nodes of the split {split.name}, of which there are {n_stop:,}",
            got=amount,
            fix="use 0.5 to set half of them aside, or stop on more nodes",
        )
    seed = hashlib.sha256(f"adagcn calibration {split.name}".encode()).digest()
    rng = np.random.RandomState(int.from_bytes(seed[:4], "big"))  # a stream that never changes
    order = rng.permutation(n_stop)
    aside, kept = np.sort(order[:n_aside]), np.sort(order[n_aside:])
    return replace(
        split,
        stop_nodes=split.stop_nodes[kept],
        calibration_nodes=split.stop_nodes[aside],
    )


def _n_aside(amount: Any, n_stop: int) -> int:
    """Return how many nodes a share or a number means; 0 for what is neither."""
    if isinstance(amount, bool) or not isinstance(amount, Real):
        return 0
    number = float(amount)
    if 0.0 < number < 1.0:
        return round(number * n_stop)
    return int(number) if number.is_integer() else 0


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


def _checked_fit_labels(role: str, labels: ArrayLike, n_nodes: int) -> Nodes:
    array = checked_labels(labels) if n_nodes else np.empty(0, dtype=np.int64)
    if np.shape(labels) != (n_nodes,) or (array < 0).any():
        raise InputError(
            "AGC-I264",
            f"{role} must have a class position for each of the {n_nodes:,} nodes",
            got=labels,
            fix="give positions from 0 in the order of the nodes, or leave it out",
        )
    checked = array.copy()
    checked.setflags(write=False)
    return checked


def fit_on_split(model: Any, graph: Graph, split: Split, callbacks: Iterable[Any] = ()) -> float:
    """Fit on the training nodes, stopping on the stopping nodes; return the seconds it took.

    Without stopping nodes the model stops as its own settings say. Labels that the split has of
    its own take the place of the graph's. Calibration nodes are passed on as such.
    """
    X, y = _seen(graph, split.train_nodes, split.train_labels)
    X_val, y_val = None, None
    if len(split.stop_nodes):
        X_val, y_val = _seen(graph, split.stop_nodes, split.stop_labels)
    more = {}
    if split.calibration_nodes is not None:
        more["X_cal"], more["y_cal"] = graph.ids_and_labels(split.calibration_nodes)
    start = time.perf_counter()
    model.fit(X, y, X_val=X_val, y_val=y_val, callbacks=callbacks, **more)
    return time.perf_counter() - start


def _seen(graph: Graph, nodes: Nodes, labels: Nodes | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return ids and label values of nodes as a fit sees them."""
    ids, values = graph.ids_and_labels(nodes)
    return ids, values if labels is None else graph.classes[labels]
