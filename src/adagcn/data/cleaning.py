"""Cleaning of a graph: all of the steps that the paper takes, or some of them.

The steps come in the paper's order: edge weights to 1, both directions, no self-loops, largest
connected component, feature rows divided by their L1 norm.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from adagcn.errors import InputError
from adagcn.formats.adjacency import symmetrized, without_self_loops
from adagcn.formats.row_norms import normalize_rows_l1
from adagcn.graph import FeatureNorm, Graph


def clean(
    graph: Graph,
    *,
    undirected: bool = False,
    unweighted: bool = False,
    drop_self_loops: bool = False,
    largest_component: bool = False,
    feature_norm: FeatureNorm | None = None,
) -> Graph:
    """Return the graph after the chosen steps.

    Parameters
    ----------
    graph : Graph
        The graph, which is not changed.
    undirected : bool
        Let every edge run both ways, with the larger weight of the two directions.
    unweighted : bool
        Set every edge weight to 1.
    drop_self_loops : bool
        Remove the edges from a node to itself.
    largest_component : bool
        Keep only the largest connected component, ignoring direction; on a tie, the one with the
        first node. Ids and classes stay, even a class without a remaining node.
    feature_norm : {"l1"} or None
        Divide each feature row by its L1 norm; rows of zeros stay.

    Returns
    -------
    Graph
        The cleaned graph; ``changes`` says what each step did.

    Examples
    --------
    >>> graph = Graph.from_edges([(1, 2), (2, 2), (3, 4), (4, 5)])
    >>> clean(graph, drop_self_loops=True, largest_component=True).node_ids
    array([3, 4, 5])
    """
    if feature_norm not in (None, "l1"):
        problem = "feature_norm must be 'l1' or None"
        raise InputError("AGC-I132", problem, got=feature_norm)
    steps = [
        (unweighted, _unweighted),
        (undirected, _undirected),
        (drop_self_loops, _without_self_loops),
        (largest_component, _largest_component),
        (feature_norm == "l1", _l1_normalized),
    ]
    for wanted, step in steps:
        graph = step(graph) if wanted else graph
    return graph


def clean_as_paper(graph: Graph) -> Graph:
    """Return the graph after all steps: cleaned as the paper's data sets are."""
    return clean(
        graph,
        undirected=True,
        unweighted=True,
        drop_self_loops=True,
        largest_component=True,
        feature_norm="l1",
    )


def _unweighted(graph: Graph) -> Graph:
    other = int(np.count_nonzero(graph.adjacency.data != 1))
    if not other:
        return graph
    ones = np.ones_like(graph.adjacency.data)
    arrays = (ones, graph.adjacency.indices, graph.adjacency.indptr)
    adjacency = sparse.csr_array(arrays, shape=graph.adjacency.shape)
    return _changed(graph, f"{other:,} edge weights set to 1", adjacency=adjacency)


def _undirected(graph: Graph) -> Graph:
    if not graph.is_directed:
        return graph
    adjacency = symmetrized(graph.adjacency)
    added = int(adjacency.nnz - graph.adjacency.nnz)
    return _changed(graph, f"made undirected, {added:,} reverse edges added", adjacency=adjacency)


def _without_self_loops(graph: Graph) -> Graph:
    loops = int(np.count_nonzero(graph.adjacency.diagonal()))
    if not loops:
        return graph
    adjacency = without_self_loops(graph.adjacency)
    return _changed(graph, f"{loops:,} self-loops dropped", adjacency=adjacency)


def _largest_component(graph: Graph) -> Graph:
    nodes = _largest_component_nodes(graph.adjacency)
    lost = graph.n_nodes - len(nodes)
    if not lost:
        return graph
    kept = graph.subgraph(nodes)
    unlabeled = len(graph.labeled_nodes) - len(kept.labeled_nodes)
    phrase = f"largest component kept: {lost:,} nodes dropped, {unlabeled:,} of them labeled"
    return _changed(kept, phrase)


def _largest_component_nodes(adjacency: sparse.csr_array) -> NDArray[np.intp]:
    _, component = connected_components(adjacency, directed=True, connection="weak")
    sizes = np.bincount(component)
    in_largest = sizes[component] == sizes.max()
    return np.flatnonzero(component == component[np.argmax(in_largest)])


def _l1_normalized(graph: Graph) -> Graph:
    if graph.feature_norm == "l1":
        return graph
    features = normalize_rows_l1(graph.features)
    phrase = "feature rows divided by their L1 norm"
    return _changed(graph, phrase, features=features, feature_norm="l1")


def _changed(graph: Graph, phrase: str, **fields: Any) -> Graph:
    return replace(graph, changes=(*graph.changes, phrase), **fields)
