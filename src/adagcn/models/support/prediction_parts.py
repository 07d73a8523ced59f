"""Predictions some nodes at a time, and as a file: the table is never in memory as a whole."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adagcn.formats.result_files import in_file_form, result_file, table_format
from adagcn.graph import Graph
from adagcn.models.support.prediction_table import PredictionColumns

if TYPE_CHECKING:
    import pyarrow as pa

    from adagcn.models.support.classifier import NodeClassifier

Parts = Iterator[tuple[NDArray[Any], NDArray[np.float64]]]  # ids and probabilities
ROWS_AT_ONCE = 2**17


@dataclass
class PredictionSummary:
    """What was predicted.

    Parameters
    ----------
    n_nodes : int
        How many nodes.
    labels : Counter
        How many of them by their label.
    set_sizes : Counter
        How many of them by the number of labels in their prediction set; empty without sets.
    n_defused : int
        Cells of a CSV file that got an apostrophe, so that no spreadsheet runs them.
    """

    n_nodes: int = 0
    labels: Counter[Any] = field(default_factory=Counter)
    set_sizes: Counter[int] = field(default_factory=Counter)
    n_defused: int = 0

    def add(self, part: pa.Table) -> None:
        """Count further rows."""
        self.n_nodes += len(part)
        self.labels.update(_counts(part.column(1)))
        if "set_size" in part.column_names:
            self.set_sizes.update(_counts(part["set_size"]))


def _counts(column: Any) -> dict[Any, int]:
    counts = column.value_counts()
    return dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True))


@contextmanager
def prediction_parts(
    model: NodeClassifier, X: ArrayLike | None, graph: Graph | None, columns: PredictionColumns
) -> Iterator[Iterator[pa.Table]]:
    """Give predictions as tables, some nodes at a time.

    What was computed for them in files is removed when the block is left; if it is left by an
    error, the same call goes on with it.

    Parameters
    ----------
    model : NodeClassifier
        A fitted model.
    X : array-like of shape (n_nodes,) or None
        Node ids, as for ``predict``; None for all nodes of the graph.
    graph : Graph or None
        Another graph to look them up in.
    columns : PredictionColumns
        What to say of a node.
    """
    columns.check(model)
    with model.proba_in_parts(X, graph) as parts:
        yield (columns.table(model, ids, proba) for ids, proba in parts)


def write_predictions(
    model: NodeClassifier,
    path: str | os.PathLike[str],
    X: ArrayLike | None,
    graph: Graph | None,
    columns: PredictionColumns,
    *,
    verbatim: bool = False,
) -> PredictionSummary:
    """Write predictions to a file, which appears once it is whole; see :func:`prediction_parts`.

    ``verbatim`` leaves text in CSV as it is, even if a spreadsheet would run it as a formula.
    """
    path, summary = Path(path), PredictionSummary()
    kind = table_format(path)
    with prediction_parts(model, X, graph, columns) as parts, result_file(path) as file:
        for part in parts:
            summary.add(part)
            shown, n_defused = in_file_form(part, kind, verbatim=verbatim)
            summary.n_defused += n_defused
            file.write(shown)
    return summary


def slices(ids: NDArray[Any], proba: NDArray[np.float64]) -> Parts:
    """Yield what is in memory some rows at a time; of no rows, once."""
    for start in range(0, max(len(proba), 1), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        yield ids[some], proba[some]
