"""Labels of any type as class indices, and the weights of the labeled nodes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from adagcn.errors import InputError, shown


def label_array(y: ArrayLike, n_expected: int, argument: str) -> NDArray[Any]:
    """Return labels as an array of shape (n_expected,), or say what is wrong with them."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(
            "AGC-I611",
            f"{argument} must be one label per node, in one dimension",
            got=f"shape {values.shape}",
            fix="for one-hot labels pass y.argmax(axis=1)",
        )
    if len(values) != n_expected:
        raise InputError(
            "AGC-I612",
            f"{argument} must have one label for each of the {n_expected} nodes",
            got=f"{len(values)} labels",
            fix="pass ids and labels of the same length, in the same order",
        )
    return values


def encode(y: NDArray[Any], argument: str = "y") -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different label values in sorted order, and each label's index among them."""
    missing = [v is None or (isinstance(v, float) and np.isnan(v)) for v in y.tolist()]
    if any(missing):
        raise InputError(
            "AGC-I613",
            f"{argument} has {sum(missing)} missing labels, first at position "
            f"{missing.index(True)}",
            got=y[missing.index(True)],
            fix="pass only the nodes whose label is known",
        )
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
            f"{error}",
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
        try:
            per_class = compute_class_weight(class_weight, classes=classes, y=classes[labels])
        except (ValueError, TypeError) as error:
            raise InputError(
                "AGC-I617",
                f"class_weight cannot be used: {error}",
                got=class_weight,
                fix="use 'balanced', or a dict from class to weight",
            ) from None
        weights = weights * per_class[labels]
    if not weights.sum() > 0.0:
        raise InputError(
            "AGC-I618",
            "the weights of the training nodes are all zero",
            got=f"{len(weights)} zeros",
            fix="give at least one node a positive weight",
        )
    return weights


def _checked(sample_weight: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    weights = np.asarray(sample_weight)
    weights = np.full(len(labels), weights) if weights.ndim == 0 else weights
    if weights.shape != labels.shape or weights.dtype.kind not in "biuf":
        raise InputError(
            "AGC-I619",
            f"sample_weight must be one number for each of the {len(labels)} training nodes",
            got=f"{weights.dtype} of shape {weights.shape}",
            fix="pass weights in the order of the training nodes",
        )
    weights = weights.astype(np.float64)
    wrong = ~np.isfinite(weights) | (weights < 0.0)
    if wrong.any():
        raise InputError(
            "AGC-I620",
            f"sample_weight must be finite and not negative; {wrong.sum()} are not, "
            f"first at position {int(np.argmax(wrong))}",
            got=float(weights[np.argmax(wrong)]),
            fix="leave a node out, or give it weight 0, rather than a negative weight",
        )
    return weights
