"""How good predictions are, in the usual measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.cli.output import percent
from adagcn.models.support.measures import METRICS, measures, undefined

UNEVEN = 3  # times as many labels: from there on, accuracy hides how small classes fare
_MOST_NAMED = 3  # rows of a comparison that a note names


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
        ``accuracy``, ``balanced_accuracy``, ``macro_f1``, ``scores`` and ``undefined`` (as
        :func:`all_measures` returns them), ``log_loss`` (None if a true label is not in
        ``classes``, since it would be infinite), ``per_class`` (a list of records) and
        ``confusion`` (``labels`` and a ``matrix`` with one row per true and one column per
        predicted label).
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
        "balanced_accuracy": scores["balanced_accuracy"],
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


def class_sizes(labels: NDArray[np.integer[Any]]) -> tuple[int, int]:
    """Return how many labels the largest and the smallest class have, of those that occur."""
    sizes = np.unique(labels, return_counts=True)[1]
    return (int(sizes.max()), int(sizes.min())) if len(sizes) else (0, 0)


def uneven_note(
    sizes: tuple[int, int],
    balanced_accuracy: Mapping[str, float | None],
    *,
    asked: bool,
    weighed: bool,
    option: str = "--class-weight balanced",
) -> str | None:
    """Return what to tell a user whose classes have very different numbers of labels.

    Parameters
    ----------
    sizes : tuple of int
        Labels of the largest and of the smallest class.
    balanced_accuracy : mapping
        By name of a row; of a single model the name is empty. None is not measured.
    asked : bool
        Whether balanced accuracy is shown anyway, so that the note leaves it out.
    weighed : bool
        Whether classes are weighed already.
    option : str
        What weighs them.

    Returns
    -------
    str or None
        None where classes are even enough, or where the user did all that the note would say.

    Examples
    --------
    >>> uneven_note((400, 21), {"": 0.631}, asked=False, weighed=True)
    'classes are uneven (largest 400, smallest 21 labels): balanced accuracy 63.1 %'
    """
    largest, smallest = sizes
    if largest <= UNEVEN * smallest or (asked and weighed):
        return None
    told = f"classes are uneven (largest {largest:,}, smallest {smallest:,} labels)"
    found = [
        f"{percent(value)} ({name})" if name else percent(value)
        for name, value in balanced_accuracy.items()
        if value is not None
    ]
    if found and not asked:
        more = ["…"] if len(found) > _MOST_NAMED else []
        told += f": balanced accuracy {', '.join(found[:_MOST_NAMED] + more)}"
    return told if weighed else f"{told}; {option} weighs them equally"


def weight_words(class_weight: Mapping[Any, float] | str | None) -> str:
    """Return how a model weighs classes, to stand behind its preset; nothing if it does not.

    >>> weight_words("balanced")
    ', class weight balanced'
    """
    if class_weight is None:
        return ""
    return f", class weight {class_weight if isinstance(class_weight, str) else 'by class'}"


def _log_loss(
    labels: NDArray[Any], proba: NDArray[np.floating[Any]], classes: NDArray[Any]
) -> float | None:
    if not np.isin(labels, classes).all():
        return None
    order = np.argsort(classes)
    columns = order[np.searchsorted(classes, labels, sorter=order)]
    chosen = proba[np.arange(len(labels)), columns].astype(np.float64)
    return float(-np.log(np.maximum(chosen, np.finfo(np.float64).tiny)).mean())
