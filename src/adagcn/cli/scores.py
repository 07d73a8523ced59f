"""How good predictions are, in the usual measures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.models.support.measures import METRICS, measures, undefined


def all_measures(
    labels: NDArray[Any], proba: NDArray[np.floating[Any]], classes: NDArray[Any]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return every measure of ``--metric``, and for those without a value (None) the reason."""
    found = measures(labels, proba, classes)
    reasons = {metric: undefined(metric, labels, classes) for metric in METRICS}
    return (
        {metric: found.get(metric) for metric in METRICS},
        {metric: reason for metric, reason in reasons.items() if reason is not None},
    )


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
        ``accuracy``, ``macro_f1``, ``scores`` and ``undefined`` (as :func:`all_measures` returns
        them), ``log_loss`` (None if a true label is not in ``classes``, since it would be
        infinite), ``per_class`` (a list of records) and ``confusion`` (``labels`` and a ``matrix``
        with one row per true and one column per predicted label).
    """
    from sklearn import metrics

    predicted = classes[proba.argmax(axis=1)]
    values = np.union1d(labels, classes)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        labels, predicted, labels=values, zero_division=0.0
    )
    names = ("label", "nodes", "precision", "recall", "f1")
    columns = (values, support, precision, recall, f1)
    scores, reasons = all_measures(labels, proba, classes)
    return {
        "accuracy": scores["accuracy"],
        "macro_f1": scores["f1_macro"],
        "scores": scores,
        "undefined": reasons,
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
