"""The counts of a graph that decide what a fit on it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from adagcn.graph import Graph


@dataclass(frozen=True)
class GraphSizes:
    """How large a graph is.

    Parameters
    ----------
    n_nodes, n_stored, n_features : int
        Nodes; stored values of the adjacency, two for an undirected edge; feature columns.
    n_values : int or None
        Stored values of sparse features; None if they are dense.
    n_classes, n_labeled : int
        Label values, and labeled nodes.
    value_bytes, index_bytes, column_bytes, id_bytes : int
        Of a feature value, of a stored index of the adjacency, of one of sparse features, of a
        node's id.
    feature_norm : str or None
        By which rows have been divided.
    node_columns : bool
        Whether the graph has no features, so that each node is a column.
    is_stored : bool
        Whether it is in a store, whose arrays are mapped and not held.
    gathered : float or None
        Stored feature values that one step gathers, Σ_ij nnz(x_j) over edges; None: not known, and
        taken as if degree and length of a row had nothing to do with each other.
    name : str or None
        As of a ``Graph``; picks the paper's settings.
    """

    n_nodes: int
    n_stored: int
    n_features: int
    n_values: int | None
    n_classes: int
    n_labeled: int
    value_bytes: int = 4
    index_bytes: int = 4
    column_bytes: int = 4
    id_bytes: int = 8
    feature_norm: str | None = None
    node_columns: bool = False
    is_stored: bool = False
    gathered: float | None = None
    name: str | None = None

    @classmethod
    def of(cls, graph: Graph) -> GraphSizes:
        """Return the sizes of a graph; no array is copied, and dense features are not read."""
        features: Any = graph.features
        is_sparse = sparse.issparse(features)
        return cls(
            n_nodes=graph.n_nodes,
            n_stored=int(graph.adjacency.nnz),
            n_features=graph.n_features,
            n_values=int(features.nnz) if is_sparse else None,
            n_classes=graph.n_classes,
            n_labeled=len(graph.labeled_nodes),
            value_bytes=features.dtype.itemsize,
            index_bytes=graph.adjacency.indices.dtype.itemsize,
            column_bytes=features.indices.dtype.itemsize if is_sparse else 4,
            id_bytes=graph.node_ids.dtype.itemsize,
            feature_norm=graph.feature_norm,
            node_columns=graph.has_node_columns,
            is_stored=graph.store is not None,
            gathered=_gathered(graph.adjacency, features) if is_sparse else None,
            name=graph.name,
        )

    @property
    def is_dense(self) -> bool:
        """Whether the features are dense."""
        return self.n_values is None

    @property
    def feature_bytes(self) -> float:
        """Bytes of the features."""
        if self.n_values is None:
            return float(self.n_nodes) * self.n_features * self.value_bytes
        return float(self.n_values) * self.pair_bytes + self.column_bytes * self.n_nodes

    @property
    def pair_bytes(self) -> int:
        """Bytes of a stored value of sparse features, with its column."""
        return self.value_bytes + self.column_bytes

    @property
    def adjacency_bytes(self) -> float:
        """Bytes of the adjacency: values of 4 bytes, columns, and ends of rows."""
        return float(self.n_stored) * (4 + self.index_bytes) + self.index_bytes * self.n_nodes

    @property
    def array_bytes(self) -> float:
        """Bytes of all arrays of a graph: in memory, or as the files of a store."""
        labels = 8 * self.n_nodes
        return self.feature_bytes + self.adjacency_bytes + self.id_bytes * self.n_nodes + labels

    @property
    def graph_bytes(self) -> float:
        """Bytes of the arrays in memory; none of a store, whose pages can be dropped."""
        return 0.0 if self.is_stored else self.array_bytes

    @property
    def digest_bytes(self) -> float:
        """Bytes that are hashed to know the graph by: indices count as 64-bit; none of a store."""
        if self.is_stored:
            return 0.0
        pairs = 0.0 if self.n_values is None else float(self.n_values) * (self.value_bytes + 8)
        features = pairs if self.n_values is not None else self.feature_bytes
        return features + float(self.n_stored) * 12 + 8.0 * self.n_nodes

    @property
    def n_propagator(self) -> int:
        """Stored values of Â, which has every node's self-loop."""
        return self.n_stored + self.n_nodes

    @property
    def propagator_bytes(self) -> float:
        """Bytes of Â in the type of the features."""
        return float(self.n_propagator) * (self.value_bytes + self.index_bytes)

    @property
    def compact_bytes(self) -> float:
        """Bytes of Â with the narrowest indices that do (:func:`sparse_tensors.index_type`)."""
        narrow = 4 if max(self.n_propagator, self.n_nodes) < 2**31 else 8
        return float(self.n_propagator) * (self.value_bytes + narrow)

    @property
    def mean_row(self) -> float:
        """Stored values in a row of Â."""
        return self.n_propagator / max(self.n_nodes, 1)

    def facts(self) -> dict[str, Any]:
        """Return the counts that a user knows the graph by, ready for JSON."""
        return {
            "nodes": self.n_nodes,
            "stored_edges": self.n_stored,
            "features": 0 if self.node_columns else self.n_features,
            "stored_feature_values": self.n_values,
            "classes": self.n_classes,
            "labeled": self.n_labeled,
            "graph_bytes": round(self.graph_bytes),
            "store": self.is_stored,
        }


def _gathered(adjacency: sparse.csr_array, features: sparse.csr_array) -> float:
    """Return Σ_j (d_j + 1) nnz(x_j), with the row counts of Â for its column counts."""
    rows = np.diff(adjacency.indptr).astype(np.float64) + 1.0
    return float(rows @ np.diff(features.indptr).astype(np.float64))
