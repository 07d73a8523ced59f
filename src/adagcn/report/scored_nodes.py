"""What a fitted model says of the scored nodes, at every depth, beside their true labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.experiments.table_formats import one_line
from adagcn.graph import Graph

MOST_DEPTHS = 40  # that a reader can step through
_UNSURE = 0.1  # share of the scored nodes that count as unsure


@dataclass(frozen=True)
class ScoredNodes:
    """Predictions of the scored nodes and the truth, with labels as indices into ``names``.

    Attributes
    ----------
    nodes : ndarray of shape (n,)
        Positions in the graph.
    names : tuple of str
        Every label that the model knows or a scored node has, as shown.
    truth : ndarray of shape (n,)
        True labels.
    proba : ndarray of shape (n, n_known)
        Class probabilities of the finished model.
    columns : ndarray of shape (n_known,)
        The label that each column of ``proba`` stands for.
    """

    nodes: NDArray[np.intp]
    names: tuple[str, ...]
    truth: NDArray[np.intp]
    proba: NDArray[np.float64]
    columns: NDArray[np.intp]

    @property
    def predicted(self) -> NDArray[np.intp]:
        """The most probable label of each node."""
        return np.asarray(self.columns[self.proba.argmax(axis=1)])

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether it is the true one."""
        return np.asarray(self.predicted == self.truth)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Probability of the predicted label."""
        return np.asarray(self.proba.max(axis=1))

    @property
    def margin(self) -> NDArray[np.float64]:
        """Probability of the predicted label minus that of the runner-up."""
        two = np.sort(self.proba, axis=1)[:, -2:]
        return np.asarray(two[:, -1] - two[:, 0])

    @property
    def truth_proba(self) -> NDArray[np.float64]:
        """Probability that the model gives the true label; 0 for one that it does not know."""
        column = np.full(len(self.names), -1)
        column[self.columns] = np.arange(len(self.columns))
        place = column[self.truth]
        found = self.proba[np.arange(len(self.truth)), np.maximum(place, 0)]
        return np.where(place < 0, 0.0, found)

    @property
    def unsure(self) -> NDArray[np.bool_]:
        """The tenth of the nodes whose runner-up comes closest."""
        margin = self.margin
        n_unsure = int(np.ceil(_UNSURE * len(margin)))
        unsure = np.zeros(len(margin), dtype=bool)
        unsure[np.argsort(margin, kind="stable")[:n_unsure]] = True
        return unsure

    def hardest(self, most: int) -> NDArray[np.intp]:
        """Return the rows where the true label got the least probability, the wrong ones first."""
        order = np.lexsort((np.arange(len(self.truth)), self.truth_proba, self.right))
        return order[:most]


def score_nodes(model: Any, graph: Graph, nodes: NDArray[Any]) -> ScoredNodes:
    """Return what a fitted model says of labeled nodes.

    Parameters
    ----------
    model : NodeClassifier
        Fitted, on ``graph`` or on another one with the same feature columns.
    graph : Graph
        Where the nodes are.
    nodes : ndarray of shape (n,)
        Positions of labeled nodes.
    """
    ids, labels = graph.ids_and_labels(nodes)
    values = np.union1d(labels, model.classes_)
    return ScoredNodes(
        nodes=nodes,
        names=short_names(values.tolist()),
        truth=np.searchsorted(values, labels),
        proba=model.predict_proba(ids),
        columns=np.searchsorted(values, model.classes_),
    )


def staged_labels(
    model: Any, graph: Graph, nodes: NDArray[Any], columns: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return label and probability of nodes after each layer.

    Parameters
    ----------
    model : NodeClassifier
        Fitted; one that is not boosted has a single stage.
    graph : Graph
        Where the nodes are.
    nodes : ndarray of shape (n,)
        Their positions.
    columns : ndarray of shape (n_known,)
        The label that each column of the probabilities stands for.

    Returns
    -------
    labels, confidence : ndarrays of shape (n_depths, n)
    """
    ids = graph.node_ids[nodes]
    found = [
        (columns[proba.argmax(axis=1)], proba.max(axis=1)) for proba in _staged_proba(model, ids)
    ]
    labels, confidence = zip(*found, strict=True)
    return np.stack(labels), np.stack(confidence)


def _staged_proba(model: Any, ids: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    staged = getattr(model, "staged_predict_proba", None)
    return iter([model.predict_proba(ids)]) if staged is None else staged(ids)


def shown_depths(n_depths: int) -> list[int]:
    """Return the depths that a reader steps through: all, or as many as are useful.

    >>> shown_depths(4)
    [0, 1, 2, 3]
    >>> len(shown_depths(1000)), shown_depths(1000)[-1]
    (40, 999)
    """
    most = min(n_depths, MOST_DEPTHS)
    return [int(depth) for depth in np.unique(np.linspace(0, n_depths - 1, most).round())]


def confusion(
    truth: NDArray[np.intp], predicted: NDArray[np.intp], n_labels: int
) -> NDArray[np.int64]:
    """Return how many nodes of each true label (row) got each label (column)."""
    flat = np.bincount(truth * n_labels + predicted, minlength=n_labels**2)
    return flat.reshape(n_labels, n_labels)


def wilson_interval(n_right: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, for nodes that are right independently.

    >>> low, high = wilson_interval(80, 100)
    >>> round(low, 3), round(high, 3)
    (0.711, 0.867)
    """
    from scipy.stats import binomtest

    found = binomtest(n_right, n).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def short_names(values: Sequence[Any], longest: int = 40) -> tuple[str, ...]:
    r"""Return label values as short text on one line; those that look alike get a number.

    A beginning that all of them share is left out where they are long.

    >>> short_names(["a\nb", 7, "x" * 60, "x" * 61], longest=5)
    ('a b', '7', 'xxxx…', 'xxxx… (4)')
    >>> short_names(["/science/physics/optics", "/science/physics/heat"], longest=20)
    ('…/optics', '…/heat')
    """
    texts = [plain_text(value, 400) for value in values]
    if len(texts) > 1 and max(map(len, texts)) > longest:
        n_shared = _n_shared(texts)
        texts = [f"…{text[n_shared - 1 :]}" for text in texts] if n_shared > 1 else texts
    shown: list[str] = []
    for number, text in enumerate(texts, start=1):
        short = plain_text(text, longest)
        shown.append(f"{short} ({number})" if short in shown else short)
    return tuple(shown)


def _n_shared(texts: Sequence[str]) -> int:
    """Return the length of the beginning, up to a separator, that all texts share."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(min(texts), max(texts), strict=False))
    return len(re.sub(r"[^/:.|>]*$", "", "".join(one for one, _ in alike)))


def plain_text(value: Any, longest: int = 200) -> str:
    r"""Return anything as text on one line, control characters spelled out, cut if too long.

    >>> plain_text("an \x1b[31mescape")
    'an \\x1b[31mescape'
    """
    text = one_line(str(value)[: 4 * longest])
    return text if len(text) <= longest else text[: longest - 1] + "…"
