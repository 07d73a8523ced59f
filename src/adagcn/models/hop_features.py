"""Hops as columns: what the neighborhood of a node looks like, for any scikit-learn classifier.

SIGN (Frasca et al., 2020) and SGC (Wu et al., 2019) rest on the same idea: propagate first, learn
afterwards. :class:`HopFeatures` is the first half as a transformer, so that gradient-boosted trees
or a logistic regression can be the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from adagcn.engines.memory import check_memory, typed_memory_errors
from adagcn.engines.threads import default_threads, threads_of_a_model
from adagcn.errors import InputError
from adagcn.graph import Features, Graph
from adagcn.models.support.feature_columns import remember_columns
from adagcn.models.support.problem import (
    checked_graph,
    fitted_scale,
    graph_to_score,
    normalized_features,
    resolved_norm,
)
from adagcn.models.support.settings import Share, SystemSettings, checked
from adagcn.propagation.hops import stream_from
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.source import MemorySource


class _Settings(SystemSettings):
    """The settings of the transformer, checked by type."""

    n_hops: Annotated[int, Field(ge=0)]
    teleport: Share
    normalization: Normalization
    sparse_output: bool | Literal["auto"]


class HopFeatures(TransformerMixin, BaseEstimator):
    """Features of nodes and of their surroundings, hop by hop, side by side.

    Node i becomes the row [X, ÂX, Â²X, …, ÂⁿX]ᵢ with n = ``n_hops``: its own features, then the
    weighted mean of those one step away, and so on. ``X`` is node ids, as for every model of this
    package, so that pipelines, grid searches and cross-validation slice nodes and never the graph.

    Labels are never read, neither ``graph.labels`` nor ``y``: nothing of them can leak into a
    score. The features of all nodes and all edges are used, those of scored nodes included; to
    hold these back, fit on a graph without them and pass the whole one to :meth:`transform`.

    The rows of the asked nodes are gathered from one hop at a time: the result has
    (``n_hops`` + 1) · ``graph.n_features`` columns, and no other node takes part in its size.

    Parameters
    ----------
    graph : Graph
        The graph whose node ids ``fit`` and ``transform`` take; clones share it.
    n_hops : int
        How many steps to look away; 0 gives the features of the node alone. 2 by default.
    teleport : float in [0, 1)
        Share of its own features that a node keeps on every hop; 0 by default.
    normalization : {"symmetric", "random_walk"}
        How edges are weighed: D̃^−½ (A + I) D̃^−½, or D̃^−1 (A + I), the plain mean.
    feature_norm : {"graph", "l1", "hellinger", "standard", "none"}
        What is done to the features before: nothing to those of a graph that is normalized, and
        division by the standard deviation where columns differ a thousandfold (``"graph"``);
        division of rows by their sum (``"l1"``, and then square roots: ``"hellinger"``); or of
        columns by their deviation (``"standard"``).
    sparse_output : bool or "auto"
        Whether the result is a SciPy matrix. ``"auto"``: as long as at most 5 % of the values of
        every hop, over all nodes, are not zero. A data frame (:meth:`set_output`) is dense.

    Attributes
    ----------
    n_features_in_ : int
        Feature columns of the graph.
    feature_norm_ : str
        What was done to the features.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from adagcn import HopFeatures, load_dataset
    >>> graph = load_dataset("cora")
    >>> ids, labels = graph.ids_and_labels(graph.labeled_nodes)
    >>> model = make_pipeline(HopFeatures(graph, n_hops=3), LogisticRegression(C=1000.0))
    >>> model.fit(ids[:500], labels[:500]).score(ids[500:], labels[500:]) > 0.8
    True
    """

    def __init__(
        self,
        graph: Graph,
        n_hops: int = 2,
        *,
        teleport: float = 0.0,
        normalization: Normalization = "symmetric",
        feature_norm: str = "graph",
        sparse_output: bool | Literal["auto"] = "auto",
    ) -> None:
        self.graph = graph
        self.n_hops = n_hops
        self.teleport = teleport
        self.normalization = normalization
        self.feature_norm = feature_norm
        self.sparse_output = sparse_output

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Check the settings and the ids, and remember the columns; ``y`` is ignored.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Node ids.
        y : ignored
            For scikit-learn's sake.
        """
        settings, graph = self._checked(), self._graph()
        graph.positions(X, "X")
        self.feature_norm_ = resolved_norm(settings.feature_norm, graph)
        self.column_scale_ = fitted_scale(graph, self.feature_norm_)
        self.input_digest_ = graph.input_digest
        remember_columns(self, graph)
        self._names = _column_names(graph)
        return self

    def transform(self, X: ArrayLike, *, graph: Graph | None = None) -> Features:
        """Return the hops of nodes side by side.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Node ids; they may repeat.
        graph : Graph, optional
            Another graph to look the nodes up in: new nodes, new edges, the same features.

        Returns
        -------
        ndarray or csr_array of shape (n, (n_hops + 1) * n_features)
            The columns of hop 0 first; :meth:`get_feature_names_out` names them.
        """
        check_is_fitted(self, "feature_norm_")
        settings = self._checked()
        graph = graph_to_score(self, graph)
        positions = graph.positions(X, "X")
        features = normalized_features(graph, self.feature_norm_, self.column_scale_)
        source = MemorySource(features, graph.adjacency, settings.normalization, settings.teleport)
        form = False if self._gives_frame() else settings.sparse_output
        shape = (len(positions), (settings.n_hops + 1) * graph.n_features)
        if form is False:
            _check_size(shape, features.dtype)
        n_values = graph.n_nodes * graph.n_features
        with threads_of_a_model(default_threads(n_values)), typed_memory_errors():
            hops = islice(stream_from(source.first()), settings.n_hops + 1)
            return _side_by_side((hop.rows(positions) for hop in hops), shape, form)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns, such as ``hop2__age``.

        Parameters
        ----------
        input_features : ignored
            The input is one column of ids, whatever it is called.

        Returns
        -------
        ndarray of str, of shape ((n_hops + 1) * n_features,)
            The hop, then the name of the graph's column: its number as ``x7`` if it has no name,
            the id of a node where each node is a column.
        """
        check_is_fitted(self, "feature_norm_")
        hops = range(self._checked().n_hops + 1)
        # As scikit-learn joins names: LightGBM refuses a colon, and warns of a space.
        return np.array([f"hop{hop}__{name}" for hop in hops for name in self._names], dtype=object)

    def _checked(self) -> _Settings:
        given = {name: getattr(self, name) for name in self.get_params(deep=False)}
        del given["graph"]
        return checked(_Settings, given)

    def _graph(self) -> Graph:
        graph = checked_graph(self.graph)
        if graph is None:
            raise InputError(
                "AGC-I660",
                "HopFeatures needs a graph: X is ids of its nodes",
                got="graph=None",
                fix="HopFeatures(graph).fit_transform(ids)",
            )
        return graph

    def _gives_frame(self) -> bool:
        """Return whether :meth:`set_output`, or scikit-learn's configuration, asks for a frame."""
        own: dict[str, str] = getattr(self, "_sklearn_output_config", {})
        asked: str = own.get("transform", get_config()["transform_output"])
        return asked != "default"

    def __sklearn_tags__(self) -> Any:
        """Say that X is a column of ids."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _column_names(graph: Graph) -> list[str]:
    """Return a name for every feature column of a graph."""
    if graph.feature_names is not None:
        return [str(name) for name in graph.feature_names]
    features = graph.features
    if not isinstance(features, np.ndarray) and graph.has_node_columns:
        node_of_column = np.argsort(features.indices)
        return [str(each) for each in graph.node_ids[node_of_column].tolist()]
    return [f"x{number}" for number in range(graph.n_features)]


def _side_by_side(
    blocks: Iterator[Features], shape: tuple[int, int], form: bool | Literal["auto"]
) -> Features:
    """Return hops side by side, in sparse form (True), dense (False) or as they come ("auto").

    Dense ones are written into the result one by one, so that no hop is held twice.
    """
    kept: list[sparse.csr_array] = []
    for block in blocks:
        if form is True or (form == "auto" and not isinstance(block, np.ndarray)):
            kept.append(sparse.csr_array(block))
            continue
        table = np.empty(shape, dtype=block.dtype)
        _fill(table, [*kept, block])
        for number, later in enumerate(blocks, start=len(kept) + 1):
            _fill(table, [later], number)
        return table
    return sparse.csr_array(sparse.hstack(kept, format="csr"))


def _fill(table: NDArray[Any], blocks: list[Features], first: int = 0) -> None:
    """Write blocks of columns into a table, from a place on."""
    for number, block in enumerate(blocks, start=first):
        width = block.shape[1]
        columns = slice(number * width, (number + 1) * width)
        table[:, columns] = block if isinstance(block, np.ndarray) else block.toarray()


def _check_size(shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
    check_memory(
        float(shape[0]) * shape[1] * dtype.itemsize,
        "a dense table of all hops",
        got=f"{shape[0]:,} nodes and {shape[1]:,} columns",
        fix="use sparse_output=True, fewer hops, or fewer nodes at once",
    )
