"""One fit on one split: what ``fit``, ``compare`` and the experiments all do."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from adagcn.data.splits import Split
from adagcn.graph import Graph
from adagcn.models.support.classifier import NodeClassifier


def fit_on_split(
    model: NodeClassifier, graph: Graph, split: Split, callbacks: Iterable[Any] = ()
) -> float:
    """Fit on the training nodes, stopping on the stopping nodes; return the seconds it took."""
    X_val, y_val = graph.ids_and_labels(split.stop_nodes)
    X, y = graph.ids_and_labels(split.train_nodes)
    start = time.perf_counter()
    model.fit(X, y, X_val=X_val, y_val=y_val, callbacks=callbacks)
    return time.perf_counter() - start
