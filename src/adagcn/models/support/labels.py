"""The labeled nodes of a fit: ids, labels and weights, checked in the same words for all models."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from adagcn.boosting.fit_state import LabeledNodes
from adagcn.errors import InputError, counted, shown
from adagcn.graph import Graph


@dataclass(frozen=True)
class FitCall:
    """What ``fit`` was called with."""

    X: ArrayLike
    y: ArrayLike
    sample_weight: ArrayLike | None = None
    X_val: ArrayLike | None = None
    y_val: ArrayLike | None = None
    X_cal: ArrayLike | None = None
    y_cal: ArrayLike | None = None

    def __post_init__(self) -> None:
        _refuse_halves("AGC-I631", self.X_val, self.y_val, "val", "stopping")
        _refuse_halves("AGC-I1358", self.X_cal, self.y_cal, "cal", "calibration")
        if self.y is None:
            raise InputError(
                "AGC-I626",
                "a fit requires y to be passed, but the target y is None",
                fix="pass one label per node",
            )
        # Here, before anything can read what lies under a mask.
        for name in ("y", "y_val", "y_cal"):
            labels = getattr(self, name)
            if labels is not None:
                _refuse_missing(_array_with_gaps(labels, name), name, "label", "AGC-I613")


def _refuse_halves(code: str, X: Any, y: Any, suffix: str, role: str) -> None:
    """Refuse nodes without labels, and labels without nodes."""
    if (X is None) != (y is None):
        raise InputError(
            code,
            f"X_{suffix} and y_{suffix} go together",
            got=f"X_{suffix} alone" if y is None else f"y_{suffix} alone",
            fix=f"pass the {role} nodes and their labels, or neither",
        )


def labeled_nodes(
    train: NDArray[np.intp],
    stop: NDArray[np.intp] | None,
    call: FitCall,
    class_weight: dict[Any, float] | str | None,
) -> tuple[LabeledNodes, NDArray[Any]]:
    """Return the nodes of a call with classes as indices, and the label values behind those."""
    classes, encoded = encode(label_array(call.y, len(train), "y"))
    check_classes(classes)
    weights = starting_weights(call.sample_weight, class_weight, classes, encoded)
    nodes = LabeledNodes(train, encoded, weights)
    if stop is None or call.y_val is None:
        return nodes, classes
    stop_labels = indices_of(label_array(call.y_val, len(stop), "y_val"), classes, "y_val")
    return replace(nodes, stop_nodes=stop, stop_labels=stop_labels), classes


def label_array(y: ArrayLike, n_expected: int, argument: str) -> NDArray[Any]:
    """Return labels as an array of shape (n_expected,), or say what is wrong with them."""
    values = _array_with_gaps(y, argument)
    if values.ndim != 1:
        alone = values.ndim == 0  # a word, a mapping or a set, which NumPy takes for one value
        raise InputError(
            "AGC-I611",
            f"{argument} must be one label per node, in one dimension",
            got=y if alone else f"shape {values.shape}",
            fix="pass a list or an array" if alone else "for one-hot labels pass y.argmax(axis=1)",
        )
    if len(values) != n_expected:
        raise InputError(
            "AGC-I612",
            f"{argument} must have one label for each of the {counted(n_expected, 'node')}",
            got=counted(len(values), "label"),
            fix="pass ids and labels of the same length, in the same order",
        )
    return values


def _array_with_gaps(values: ArrayLike, argument: str) -> NDArray[Any]:
    """Return ``values`` as an array, one column flat, in which whatever is missing still is."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            "AGC-I627",
            f"{argument} must be one value per node: {error}",
            got=values,
            fix="pass a flat list or array",
        ) from None
    if array.dtype.kind in "US" and not hasattr(values, "dtype"):
        # In a list with text NumPy writes NaN as the text "nan" and 1 as "1".
        objects = np.asarray(values, dtype=object)
        array = array if all(isinstance(v, str | bytes) for v in objects.flat) else objects
    if np.ma.is_masked(values):
        array = array.astype(object)
        array[np.ma.getmaskarray(np.ma.asarray(values))] = None
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _refuse_missing(values: NDArray[Any], argument: str, noun: str, code: str) -> None:
    """Refuse values of which some are missing, and say how many and where."""
    values = np.atleast_1d(values)
    missing = [_is_missing(value) for value in values.tolist()]
    if any(missing):
        first = missing.index(True)
        raise InputError(
            code,
            f"{argument} has {counted(sum(missing), f'missing {noun}')}, first at position {first}",
            got=values[first],
            fix=f"pass only the nodes whose {noun} is known",
        )


def _is_missing(value: Any) -> bool:
    """Return whether a value is None or not equal to itself, as NaN and NaT are."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # a comparison with pandas' NA is NA, which is neither true nor false
        return True
    except ValueError:  # a list or an array: wrong, but not missing
        return False


def encode(y: NDArray[Any], argument: str = "y") -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different label values in sorted order, and each label's index among them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "as many classes as samples": small is no mistake
            check_classification_targets(y)
        if y.dtype.kind == "c":
            raise TypeError("complex numbers have no order")
        classes, indices = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise InputError(
            "AGC-I614",
            f"{argument} must hold class labels of one kind (integers, strings or booleans): "
            f"{str(error).splitlines()[0].split('. ')[0].rstrip('.')}",
            got=y[:5].tolist(),
            fix="convert the labels, for example with y.astype(str)",
        ) from None
    return classes, indices.astype(np.int64)


def indices_of(y: NDArray[Any], classes: NDArray[Any], argument: str) -> NDArray[np.int64]:
    """Return each label's index among known classes; an unknown label is an error."""
    present, indices = encode(y, argument)
    known = {value: index for index, value in enumerate(classes.tolist())}
    unknown = [value for value in present.tolist() if value not in known]
    if unknown:
        raise InputError(
            "AGC-I615",
            f"{argument} has labels that no training node has",
            got=unknown[:5],
            fix=f"the classes of the training nodes are {shown(classes.tolist())}",
        )
    return np.array([known[value] for value in present.tolist()], dtype=np.int64)[indices]


def check_classes(classes: NDArray[Any]) -> None:
    """Refuse labels of a single class: there is nothing to tell apart."""
    if len(classes) < 2:
        raise InputError(
            "AGC-I616",
            "y must hold at least two classes; the classifier cannot learn from one class",
            got=classes.tolist(),
            fix="add labeled nodes of another class",
        )


def starting_weights(
    sample_weight: ArrayLike | None,
    class_weight: dict[Any, float] | str | None,
    classes: NDArray[Any],
    labels: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the weight of every training node before the first layer."""
    weights = np.ones(len(labels)) if sample_weight is None else _checked(sample_weight, labels)
    if class_weight is not None:
        weights = weights * _class_weights(class_weight, classes, labels)[labels]
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise InputError(
            "AGC-I649",
            "the weights in sample_weight and class_weight are so large that their sum is infinite",
            got=float(weights.max()),
            fix="divide them by their mean; only their ratios count",
        )
    if not total > 0.0:
        raise InputError(
            "AGC-I618",
            "the weights of the training nodes are all zero",
            got=counted(len(weights), "zero"),
            fix="give at least one node a positive weight",
        )
    return weights


def _class_weights(
    class_weight: dict[Any, float] | str, classes: NDArray[Any], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the weight of every class."""
    if not isinstance(class_weight, dict) and class_weight != "balanced":
        raise InputError(
            "AGC-I651",
            "class_weight must be 'balanced', a dict from class to weight, or None",
            got=class_weight,
            fix=f"the classes of the training nodes are {shown(classes.tolist())}",
        )
    unknown = set(class_weight) - set(classes.tolist()) if isinstance(class_weight, dict) else set()
    if unknown:
        raise InputError(
            "AGC-I629",
            "class_weight names classes that no training node has",
            got=[name for name in class_weight if name in unknown],
            fix=f"the classes of the training nodes are {shown(classes.tolist())}",
        )
    try:
        per_class = compute_class_weight(class_weight, classes=classes, y=classes[labels])
    except (ValueError, TypeError) as error:
        raise InputError(
            "AGC-I617",
            f"class_weight cannot be used: {error}",
            got=class_weight,
            fix="use 'balanced', or a dict from class to weight",
        ) from None
    if not np.all(np.isfinite(per_class) & (per_class >= 0.0)):
        raise InputError(
            "AGC-I630",
            "the weights in class_weight must be finite and not negative",
            got=class_weight,
            fix="give 0 to a class that should not count",
        )
    return np.asarray(per_class, dtype=np.float64)


def _checked(sample_weight: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    weights = _array_with_gaps(sample_weight, "sample_weight")
    if weights.dtype.kind == "O":
        _refuse_missing(weights, "sample_weight", "weight", "AGC-I628")
    weights = np.full(len(labels), weights) if weights.ndim == 0 else weights
    if weights.shape != labels.shape or weights.dtype.kind not in "biuf":
        raise InputError(
            "AGC-I619",
            f"sample_weight must be one number for each of the {len(labels):,} training nodes",
            got=f"{weights.dtype} of shape {weights.shape}",
            fix="pass weights in the order of the training nodes",
        )
    weights = weights.astype(np.float64)
    wrong = ~np.isfinite(weights) | (weights < 0.0)
    if wrong.any():
        raise InputError(
            "AGC-I620",
            f"sample_weight must be finite and not negative; {counted(int(wrong.sum()), 'value')} "
            f"{'is' if wrong.sum() == 1 else 'are'} not, "
            f"first at position {int(np.argmax(wrong))}",
            got=float(weights[np.argmax(wrong)]),
            fix="leave a node out, or give it weight 0, rather than a negative weight",
        )
    return weights


def node_positions(
    graph: Graph, X: ArrayLike, X_val: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
    """Return the positions of training and stopping nodes, each of them once."""
    train = distinct_positions(graph, X, "X")
    stop = None if X_val is None else distinct_positions(graph, X_val, "X_val")
    _refuse_overlap(graph, train, stop)
    return train, stop


def distinct_positions(graph: Graph, ids: ArrayLike, argument: str) -> NDArray[np.intp]:
    """Return the positions of node ids of which none stands twice."""
    positions = graph.positions(ids, argument)
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
            f"{argument} holds {counted(int(np.sum(counts > 1)), 'node')} more than once",
            got=graph.node_ids[values[counts > 1][:5]].tolist(),
            fix="pass every node once; sample_weight makes a node count for more",
        )
    return positions


def _refuse_overlap(graph: Graph, train: NDArray[np.intp], stop: NDArray[np.intp] | None) -> None:
    both = np.empty(0, dtype=np.intp) if stop is None else np.intersect1d(train, stop)
    if len(both):
        raise InputError(
            "AGC-I639",
            f"X and X_val share {counted(len(both), 'node')}",
            got=graph.node_ids[both[:5]].tolist(),
            fix="a node either trains or decides when to stop, not both",
        )


def hold_out(nodes: LabeledNodes, fraction: float, seed: int) -> LabeledNodes:
    """Set a share of the labeled nodes aside for stopping, the classes in proportion.

    Nodes that have stopping nodes already stay as they are.
    """
    if fraction == 0.0 or nodes.stop_nodes is not None:
        return nodes
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
        # The classes have only numbers here, so those that are too small are counted, not named.
        n_single = int(np.sum(np.bincount(nodes.labels) == 1))
        reason = f"classes with a single label: {n_single}" if n_single else str(error)
        raise InputError(
            "AGC-I641",
            f"validation_fraction cannot be set aside from {len(nodes.labels):,} labeled nodes: "
            f"{reason}",
            got=fraction,
            fix="pass X_val and y_val, or validation_fraction=0",
        ) from None
    return LabeledNodes(
        nodes.train_nodes[kept],
        nodes.labels[kept],
        nodes.sample_weight[kept],
        nodes.train_nodes[held],
        nodes.labels[held],
    )
