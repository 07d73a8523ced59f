"""The one value that everything else takes: an attributed graph that never changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError

Features: TypeAlias = "NDArray[np.floating[Any]] | sparse.csr_array"
FeatureNorm: TypeAlias = Literal["l1"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An attributed graph whose nodes may carry labels.

    Build it with one of the ``from_*`` constructors, which check and convert; the fields below are
    what everything inside the library works with. Arrays are read-only.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes), float32
        ``adjacency[i, j]`` > 0 is the weight of the edge from node i to node j; symmetric unless
        the graph was read with ``directed="keep"`` or ``"reverse"``. Node i gathers from the nodes
        in its row. No stored zeros, sorted columns, no duplicates; self-loops may be there.
    features : csr_array or ndarray of shape (n_nodes, n_features), float32 or float64
        One row of finite numbers per node.
    node_ids : ndarray of shape (n_nodes,)
        The user's names for the nodes, all different: integers (of any size) or strings.
    labels : ndarray of shape (n_nodes,), int64
        Index into ``classes``, −1 where unknown.
    classes : ndarray of shape (n_classes,)
        The label values that the indices stand for, in sorted order for a user's own labels.
    name : str or None
        The catalogue key for a data set of the catalogue, else a name for messages.
    feature_norm : {"l1"} or None
        What the rows of ``features`` have been divided by, as a fact.
    changes : tuple of str
        What was changed while the graph was read or cleaned, one phrase each.
    """

    adjacency: sparse.csr_array
    features: Features
    node_ids: NDArray[Any]
    labels: NDArray[np.int64]
    classes: NDArray[Any]
    name: str | None = None
    feature_norm: FeatureNorm | None = None
    changes: tuple[str, ...] = field(default=())

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return int(self.features.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of label values."""
        return len(self.classes)

    @property
    def n_edges(self) -> int:
        """Number of edges: pairs joined in an undirected graph, arcs in a directed one."""
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        arcs = int(self.adjacency.nnz)
        return arcs if self.is_directed else (arcs - loops) // 2 + loops

    @cached_property
    def is_directed(self) -> bool:
        """Whether the adjacency is not symmetric."""
        return bool((self.adjacency != self.adjacency.T).nnz)

    @cached_property
    def labeled_nodes(self) -> NDArray[np.intp]:
        """Positions of the nodes whose label is known, ascending."""
        return np.flatnonzero(self.labels >= 0)

    @cached_property
    def input_digest(self) -> str:
        """SHA-256 of all that a prediction depends on: adjacency, features and node ids."""
        return _digest([*_parts(self.adjacency), *_parts(self.features), self.node_ids])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the whole content, labels included; results are keyed by it."""
        return _digest([np.array(self.input_digest), self.labels, self.classes])

    def __repr__(self) -> str:
        """Return the graph in one line."""
        named = f"{self.name!r}, " if self.name else ""
        counts = f"{self.n_nodes:,} nodes, {self.n_edges:,} edges, {self.n_features:,} features"
        kind = ", directed" if self.is_directed else ""
        return f"Graph({named}{counts}, {self.n_classes} classes{kind})"

    def __sklearn_clone__(self) -> Graph:
        """Return itself: clones of an estimator share one graph."""
        return self
