"""The features whose hops are looked at: those of a model, within what a look may cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adagcn.graph import Features, Graph
from adagcn.models.support.problem import normalized_features
from adagcn.propagation.hops import blocks_of
from adagcn.propagation.screening import strongest_columns

MOST_WORK = 4e8  # products of one hop: stored values of Â times columns
MOST_BYTES = 2**28  # of a hop
MOST_COLUMNS, FEWEST_COLUMNS = 8192, 32
MOST_DIRECTIONS = 1024


@dataclass(frozen=True)
class HopFeatures:
    """What is propagated.

    Parameters
    ----------
    features : csr_array or ndarray of shape (n_nodes, n_columns)
        The columns that are looked at.
    shortened : str or None
        What was left out or replaced, as a phrase.
    """

    features: Features
    shortened: str | None


def hop_features(graph: Graph, *, scaled: bool, rng: np.random.Generator) -> HopFeatures:
    """Return what is propagated.

    Columns are brought to one size where the models would do so. Of too many, those with the
    largest sums of squares are kept, as models do with ``max_features``. A graph without features
    has a column for each node; of too many, random directions stand for them, which keep
    the products of rows of every hop in the mean (D. Achlioptas, "Database-friendly random
    projections", JCSS 66, 2003).

    Parameters
    ----------
    graph : Graph
        The graph.
    scaled : bool
        Whether columns are brought to one size.
    rng : Generator
        Draws directions.
    """
    most = affordable_columns(graph.n_nodes, graph.adjacency.nnz)
    if graph.has_node_columns:
        return _directions(graph, min(most, MOST_DIRECTIONS), rng)
    norm = "standard" if scaled and graph.feature_norm is None else graph.feature_norm or "none"
    features = normalized_features(graph, norm)
    columns = strongest_columns(blocks_of(features), graph.n_features, most)
    if columns is None:
        return HopFeatures(features, None)
    phrase = f"hops of the {most:,} strongest of {graph.n_features:,} feature columns"
    return HopFeatures(features[:, columns], phrase)


def affordable_columns(n_nodes: int, n_stored: int) -> int:
    """Return how many columns the hops of a graph may have.

    >>> affordable_columns(2810, 15962), affordable_columns(200_000, 3_000_000)
    (8192, 125)
    """
    by_work = MOST_WORK / (n_nodes + n_stored)
    by_memory = MOST_BYTES / (4 * n_nodes)
    return int(min(max(min(by_work, by_memory), FEWEST_COLUMNS), MOST_COLUMNS))


def _directions(graph: Graph, most: int, rng: np.random.Generator) -> HopFeatures:
    if graph.n_nodes <= most:
        return HopFeatures(graph.features, None)
    signs = rng.integers(2, size=(graph.n_nodes, most), dtype=np.int8)
    scale = np.float32(1.0 / np.sqrt(most))
    drawn = np.where(signs == 1, scale, -scale)
    phrase = f"hops of {most:,} random directions, which stand for a column of each node"
    return HopFeatures(drawn, phrase)
