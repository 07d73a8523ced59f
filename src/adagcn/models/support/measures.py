"""How good class probabilities are: accuracy and the measures for classes of unequal size."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Metric: TypeAlias = Literal["accuracy", "balanced_accuracy", "f1_macro", "roc_auc"]

METRICS: dict[Metric, str] = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1_macro": "macro F1",
    "roc_auc": "ROC AUC",
}


def measures(
    labels: NDArray[Any], proba: NDArray[np.floating[Any]], classes: NDArray[Any]
) -> dict[str, float]:
    """Compare class probabilities with the true labels in every measure that is defined.

    Parameters
    ----------
    labels : ndarray of shape (n_nodes,)
        The true label values, at least one.
    proba : ndarray of shape (n_nodes, n_classes)
        Probabilities; the largest is the prediction.
    classes : ndarray of shape (n_classes,)
        The label values of the columns.

    Returns
    -------
    dict
        By name of the measure, between 0 and 1: ``accuracy``; ``balanced_accuracy``, the mean
        recall of the labels that occur; ``f1_macro``; and ``roc_auc``, of ``classes[1]`` for two
        classes and else the mean of each class against the rest. ``roc_auc`` is left out where
        :func:`undefined` gives a reason.
    """
    from sklearn.metrics import f1_score, roc_auc_score

    predicted = classes[proba.argmax(axis=1)]
    right = predicted == labels
    recalls = [right[labels == label].mean() for label in np.unique(labels)]
    found = {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean(recalls)),
        "f1_macro": float(f1_score(labels, predicted, average="macro", zero_division=0.0)),
    }
    if undefined("roc_auc", labels, classes) is None:
        columns = [1] if len(classes) == 2 else range(len(classes))
        areas = [roc_auc_score(labels == classes[k], proba[:, k]) for k in columns]
        found["roc_auc"] = float(np.mean(areas))
    return found


def undefined(metric: Metric, labels: NDArray[Any], classes: NDArray[Any]) -> str | None:
    """Return why a measure has no value on these true labels; None if it has one.

    ROC AUC ranks the nodes of each class against the others, so that both must be there.
    """
    if metric != "roc_auc":
        return None
    missing = np.setdiff1d(classes, labels)
    if missing.size:
        return f"no scored node has the label {missing.tolist()[0]!r}"
    unknown = np.setdiff1d(labels, classes)
    if unknown.size:
        return f"the model does not know the label {unknown.tolist()[0]!r}"
    return None
