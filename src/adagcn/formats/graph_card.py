"""A graph as a card for notebooks: sizes, features, labels per class, what was changed."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.formats import html_card

_CLASSES_SHOWN = 20
_NAMES_SHOWN = 6
_LONGEST_NAME = 30


class ShownGraph(Protocol):
    """What is shown of a graph; :class:`adagcn.Graph` has it."""

    @property
    def adjacency(self) -> sparse.csr_array: ...  # noqa: D102
    @property
    def features(self) -> Any: ...  # noqa: D102
    @property
    def labels(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def classes(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def feature_norm(self) -> str | None: ...  # noqa: D102
    @property
    def feature_names(self) -> NDArray[Any] | None: ...  # noqa: D102
    @property
    def changes(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def n_edges(self) -> int: ...  # noqa: D102
    @property
    def is_directed(self) -> bool: ...  # noqa: D102
    @property
    def has_node_columns(self) -> bool: ...  # noqa: D102


def graph_card(graph: ShownGraph) -> str:
    """Return the HTML of a graph's card."""
    about = repr(graph).removeprefix("Graph(").removesuffix(")")
    parts = [html_card.facts(_facts(graph))]
    rows, others = _class_sizes(graph)
    if rows:
        shown = html_card.bars(rows) + html_card.text(others)
        parts.append(html_card.folded("Labeled nodes per class", shown, is_open=True))
    if graph.changes:
        changes = html_card.listed(graph.changes)
        parts.append(html_card.folded("What was read, changed and left out", changes))
    return html_card.card("Graph", about, *parts)


def _facts(graph: ShownGraph) -> list[tuple[str, str]]:
    """Return what a reader wants to know at a glance, as names and values."""
    n_nodes = graph.adjacency.shape[0]
    weighted = bool((graph.adjacency.data != 1.0).any())
    direction = "directed" if graph.is_directed else "undirected"
    isolated = _n_isolated(graph.adjacency)
    alone = f", {isolated:,} without edges" if isolated else ""
    degree = graph.adjacency.nnz / max(n_nodes, 1)
    n_labeled = int((graph.labels >= 0).sum())
    return [
        ("nodes", f"{n_nodes:,} ({degree:,.1f} neighbors on average{alone})"),
        ("edges", f"{graph.n_edges:,} ({direction}, {'' if weighted else 'un'}weighted)"),
        ("features", _about_features(graph)),
        ("labels", f"{n_labeled:,} of {n_nodes:,} nodes, {len(graph.classes):,} classes"),
    ]


def _n_isolated(adjacency: sparse.csr_array) -> int:
    """Return how many nodes no edge begins or ends at."""
    ends = np.bincount(adjacency.indices, minlength=adjacency.shape[0])
    return int(((np.diff(adjacency.indptr) == 0) & (ends == 0)).sum())


def _about_features(graph: ShownGraph) -> str:
    """Return number, form, norm and first names of the feature columns."""
    if graph.has_node_columns:
        return "none: each node is a column of its own"
    features = graph.features
    form = str(features.dtype)
    if sparse.issparse(features):
        n_values = max(features.shape[0] * features.shape[1], 1)
        form = f"{form}, sparse: {features.nnz / n_values:.1%} not zero"
    norm = ", rows divided by their L1 norm" if graph.feature_norm == "l1" else ""
    return f"{features.shape[1]:,} ({form}{norm}){_first_names(graph.feature_names)}"


def _first_names(names: NDArray[Any] | None) -> str:
    if names is None or not len(names):
        return ""
    first = [str(name) for name in names[:_NAMES_SHOWN]]
    cut = [name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…" for name in first]
    return f": {', '.join(cut)}{', …' if len(names) > len(first) else ''}"


def _class_sizes(graph: ShownGraph) -> tuple[list[tuple[str, int]], str]:
    """Return the labeled nodes of the largest classes, and a phrase for the other classes."""
    known = graph.labels[graph.labels >= 0]
    if not len(known):
        return [], ""
    counts = np.bincount(known, minlength=len(graph.classes))
    order = np.argsort(-counts, kind="stable")
    rows = [(str(graph.classes[k]), int(counts[k])) for k in order[:_CLASSES_SHOWN]]
    rest = order[_CLASSES_SHOWN:]
    others = f"and {int(counts[rest].sum()):,} in {len(rest):,} other classes" if len(rest) else ""
    return rows, others
