"""Predictions as a table keyed by the user's own node ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import InputError, counted

if TYPE_CHECKING:
    import pyarrow as pa

    from adagcn.explain.prediction_sets import PredictionSets


@dataclass(frozen=True)
class PredictionColumns:
    """What a table says of every node besides its id.

    Parameters
    ----------
    top : int or None
        How many of the most probable labels; None: the label, its probability and the margin.
    proba : bool
        Whether also the probability of every label.
    coverage : float or None
        Of prediction sets; None for none.
    """

    top: int | None = None
    proba: bool = False
    coverage: float | None = None

    def check(self, model: Any) -> None:
        """Refuse what a fitted model cannot say, before any work."""
        if self.coverage is not None:
            model.check_coverage(self.coverage)
        if self.top is not None:
            _check_top(self.top, len(model.classes_))

    def table(
        self, model: Any, node_ids: NDArray[Any], proba: NDArray[np.floating[Any]]
    ) -> pa.Table:
        """Return one row per node."""
        classes = model.classes_
        table = prediction_table(node_ids, proba, classes, top=self.top, all_classes=self.proba)
        if self.coverage is None:
            return table
        return with_sets(table, model.sets_of(proba, self.coverage))


def prediction_table(
    node_ids: NDArray[Any],
    proba: NDArray[np.floating[Any]],
    classes: NDArray[Any],
    *,
    top: int | None = None,
    all_classes: bool = False,
) -> pa.Table:
    """Return one row per node: its id, the predicted label and probabilities.

    Parameters
    ----------
    node_ids : ndarray of shape (n_nodes,)
        The user's ids.
    proba : ndarray of shape (n_nodes, n_classes)
        Probabilities.
    classes : ndarray of shape (n_classes,)
        The label values of the columns.
    top : int, optional
        How many of the most probable labels to give.
    all_classes : bool
        Whether to add the probability of every label.

    Returns
    -------
    pyarrow.Table
        Columns ``id``, then ``label``, ``probability`` (of that label) and ``margin`` (to the
        runner-up), or with ``top`` instead ``label_1``, ``probability_1``, ``label_2``, …; with
        ``all_classes`` also ``proba_<label>`` for every label.
    """
    import pyarrow as pa

    # Integers past 64 bits have no Arrow type; as text they keep every digit.
    columns = {"id": node_ids.astype(str) if node_ids.dtype == object else node_ids}
    columns |= _best(proba, classes) if top is None else _most_probable(proba, classes, top)
    if all_classes:
        columns |= {f"proba_{label}": proba[:, k] for k, label in enumerate(classes.tolist())}
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def _best(proba: NDArray[Any], classes: NDArray[Any]) -> dict[str, NDArray[Any]]:
    ranked = np.sort(proba, axis=1)
    return {
        "label": classes[proba.argmax(axis=1)],
        "probability": ranked[:, -1],
        "margin": ranked[:, -1] - ranked[:, -2],
    }


def _check_top(n: Any, n_classes: int) -> None:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= n_classes:
        raise InputError(
            "AGC-I823",
            f"top must be a whole number from 1 to {n_classes}, since the model has "
            f"{counted(n_classes, 'label')}",
            got=n,
            fix="name fewer labels, or use proba=True for the probability of every label",
        )


def _most_probable(proba: NDArray[Any], classes: NDArray[Any], n: int) -> dict[str, NDArray[Any]]:
    _check_top(n, len(classes))
    order = np.argsort(-proba, axis=1, kind="stable")  # stable: among equals the first, as argmax
    columns: dict[str, NDArray[Any]] = {}
    for rank in range(n):
        best = order[:, rank]
        columns[f"label_{rank + 1}"] = classes[best]
        columns[f"probability_{rank + 1}"] = np.take_along_axis(proba, best[:, None], axis=1)[:, 0]
    return columns


def with_sets(table: pa.Table, sets: PredictionSets) -> pa.Table:
    """Return ``table`` with the columns ``set``, a list of labels, and ``set_size``."""
    import pyarrow as pa

    values = pa.array(sets.classes).type
    lists = pa.array([labels.tolist() for labels in sets], type=pa.list_(values))
    return table.append_column("set", lists).append_column("set_size", pa.array(sets.sizes))
