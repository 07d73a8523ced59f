"""How good predictions are, in the usual measures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def score_predictions(
    labels: NDArray[Any], proba: NDArray[np.floating[Any]], classes: NDArray[Any]
) -> dict[str, Any]:
    """Compare predicted probabilities with the true labels.

    Parameters
    ----------
    labels : ndarray of shape (n_nodes,)
        The true label values.
    proba : ndarray of shape (n_nodes, n_classes)
        Probabilities; the largest is the prediction.
    classes : ndarray of shape (n_classes,)
        The label values of the columns.

    Returns
    -------
    dict
        ``accuracy``, ``macro_f1``, ``log_loss`` (None if a true label is not in ``classes``, since
        it would be infinite), ``per_class`` (a list of records) and ``confusion`` (``labels`` and
        a ``matrix`` with one row per true and one column per predicted label).
    """
    from sklearn import metrics

    predicted = classes[proba.argmax(axis=1)]
    values = np.union1d(labels, classes)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        labels, predicted, labels=values, zero_division=0.0
    )
    names = ("label", "nodes", "precision", "recall", "f1")
    columns = (values, support, precision, recall, f1)
    return {
        "accuracy": float(np.mean(predicted == labels)),
        "macro_f1": float(metrics.f1_score(labels, predicted, average="macro", zero_division=0.0)),
        "log_loss": _log_loss(labels, proba, classes),
        "per_class": [
            dict(zip(names, record, strict=True))
            for record in zip(*(np.asarray(column).tolist() for column in columns), strict=True)
        ],
        "confusion": {
            "labels": values.tolist(),
            "matrix": metrics.confusion_matrix(labels, predicted, labels=values).tolist(),
        },
    }


def _log_loss(
    labels: NDArray[Any], proba: NDArray[np.floating[Any]], classes: NDArray[Any]
) -> float | None:
    if not np.isin(labels, classes).all():
        return None
    order = np.argsort(classes)
    columns = order[np.searchsorted(classes, labels, sorter=order)]
    chosen = proba[np.arange(len(labels)), columns].astype(np.float64)
    return float(-np.log(np.maximum(chosen, np.finfo(np.float64).tiny)).mean())
