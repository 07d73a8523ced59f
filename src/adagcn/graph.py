"""The graph that every other part of the library works on; it never changes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError
from adagcn.formats.frozen import content_digest, read_only
from adagcn.formats.node_ids import as_ids
from adagcn.formats.node_index import NodeIndex

if TYPE_CHECKING:  # the readers are loaded when something is read
    from adagcn.formats.adjacency import Directed, Duplicates, SelfLoops
    from adagcn.formats.assembly import Parts
    from adagcn.formats.gaps import Missing
    from adagcn.formats.text_files import Progress

Features: TypeAlias = "NDArray[np.floating[Any]] | sparse.csr_array"
FeatureNorm: TypeAlias = Literal["l1"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An attributed graph whose nodes may carry labels.

    Build it with one of the ``from_*`` constructors, which check and convert their input. The
    arrays are read-only.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes), float32
        ``adjacency[i, j]`` > 0 is the weight of the edge from node i to node j; symmetric unless
        the graph was read with ``directed="keep"`` or ``"reverse"``. Node i gathers from the nodes
        in its row. No stored zeros, no duplicates, sorted columns; self-loops are allowed.
    features : csr_array or ndarray of shape (n_nodes, n_features), float32 or float64
        One row of finite numbers per node.
    node_ids : ndarray of shape (n_nodes,)
        The user's ids of the nodes, all different: integers of any size, or strings.
    labels : ndarray of shape (n_nodes,), int64
        Index into ``classes``, −1 where unknown.
    classes : ndarray of shape (n_classes,)
        The label values, sorted if they come from a user's own labels.
    name : str or None
        The key of a data set of the catalog, else a name for messages.
    feature_norm : {"l1"} or None
        The norm by which the rows of ``features`` have been divided.
    changes : tuple of str
        What was read, changed and left out while the graph was read or cleaned, in phrases.
    feature_names : ndarray of shape (n_features,) or None
        The names of the feature columns, all different. A model matches columns by them.
    """

    adjacency: sparse.csr_array
    features: Features
    node_ids: NDArray[Any]
    labels: NDArray[np.int64]
    classes: NDArray[Any]
    name: str | None = None
    feature_norm: FeatureNorm | None = None
    changes: tuple[str, ...] = field(default=())
    feature_names: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        """Replace the arrays by read-only views; the given arrays stay writable."""
        for name in ("adjacency", "features", "node_ids", "labels", "classes", "feature_names"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(getattr(self, name)))

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
        """Number of edges; in an undirected graph each pair of neighbors counts once."""
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        arcs = int(self.adjacency.nnz)
        return arcs if self.is_directed else (arcs - loops) // 2 + loops

    @cached_property
    def is_directed(self) -> bool:
        """Whether the adjacency is not symmetric."""
        return bool((self.adjacency != self.adjacency.T).nnz)

    @cached_property
    def has_node_columns(self) -> bool:
        """Whether every node has one feature, a column of its own: the stand-in for no features."""
        features = self.features
        if isinstance(features, np.ndarray) or features.nnz != features.shape[0]:
            return False
        one_per_row = bool((np.diff(features.indptr) == 1).all() and (features.data == 1.0).all())
        return one_per_row and len(np.unique(features.indices)) == features.nnz

    @cached_property
    def labeled_nodes(self) -> NDArray[np.intp]:
        """Positions of the labeled nodes, in ascending order."""
        return np.flatnonzero(self.labels >= 0)

    @cached_property
    def input_digest(self) -> str:
        """SHA-256 of everything that a prediction depends on: adjacency, features and node ids."""
        return content_digest([self.adjacency, self.features, self.node_ids])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the whole graph, including labels; results are stored under it."""
        return content_digest([self.input_digest, self.labels, self.classes])

    def __repr__(self) -> str:
        """Return the graph in one line."""
        named = f"{self.name!r}, " if self.name else ""
        features = "no" if self.has_node_columns else f"{self.n_features:,}"
        counts = f"{self.n_nodes:,} nodes, {self.n_edges:,} edges, {features} features"
        kind = ", directed" if self.is_directed else ""
        return f"Graph({named}{counts}, {self.n_classes:,} classes{kind})"

    def _repr_html_(self) -> str:
        """Return the graph as a card for notebooks."""
        from adagcn.formats.graph_card import graph_card

        return graph_card(self)

    def __sklearn_clone__(self) -> Graph:
        """Return the graph itself: clones of an estimator share it."""
        return self

    def positions(self, ids: Any, argument: str = "ids") -> NDArray[np.intp]:
        """Return the positions of the nodes with these ids, in the order of ``ids``.

        Parameters
        ----------
        ids : sequence, array or column of shape (n,) or (n, 1)
            Ids from ``node_ids``; they may repeat.
        argument : str
            What to call them in messages.

        Returns
        -------
        ndarray of shape (n,)
            The row of each node in ``features``, ``labels`` and ``adjacency``.

        Raises
        ------
        InputError
            If an id is unknown, a float, a boolean or not of the type of ``node_ids``.
        """
        return self._index.locate(ids, argument)

    def ids_and_labels(self, nodes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the ids and the label values of the labeled nodes at these positions."""
        return self.node_ids[nodes], self.classes[self.labels[nodes]]

    @cached_property
    def _index(self) -> NodeIndex:
        return NodeIndex(self.node_ids)

    def subgraph(self, nodes: Any) -> Graph:
        """Return the graph of some nodes and the edges between them.

        Parameters
        ----------
        nodes : array of shape (n,)
            Positions of the nodes to keep, in their new order. Ids, labels and classes stay.

        Returns
        -------
        Graph
            The smaller graph.

        Raises
        ------
        InputError
            If ``nodes`` is empty, or has a position twice or beyond the graph.
        """
        nodes = np.asarray(nodes)
        if nodes.ndim != 1 or nodes.dtype.kind not in "iu" or not nodes.size:
            problem = "nodes must be a non-empty flat array of positions"
            raise InputError("AGC-I197", problem, got=nodes, fix="use graph.positions(ids)")
        if nodes.min() < 0 or nodes.max() >= self.n_nodes or len(np.unique(nodes)) < len(nodes):
            problem = f"nodes must be different positions from 0 to {self.n_nodes - 1}"
            raise InputError("AGC-I198", problem, got=nodes, fix="use graph.positions(ids)")
        return replace(
            self,
            adjacency=self.adjacency[nodes][:, nodes],
            features=self.features[nodes],
            node_ids=as_ids(self.node_ids[nodes], "node_ids"),
            labels=self.labels[nodes],
        )

    def without_features(self) -> Graph:
        """Return the graph with nothing but its edges and labels: each node is its own feature."""
        return replace(
            self,
            features=sparse.eye_array(self.n_nodes, dtype=np.float32, format="csr"),
            feature_norm=None,
            feature_names=None,
            changes=(*self.changes, f"{self.n_features:,} feature columns left out as asked"),
        )

    def astype(self, dtype: Any) -> Graph:
        """Return the graph with features of another float type.

        Parameters
        ----------
        dtype : {float32, float64}
            The type of the features; the constructors use float32.

        Returns
        -------
        Graph
            The same graph with the converted features.
        """
        if dtype not in (np.float32, np.float64, "float32", "float64"):
            problem = "dtype must be float32 or float64"
            raise InputError("AGC-I133", problem, got=dtype)
        return replace(self, features=self.features.astype(dtype))

    @classmethod
    def from_edges(  # noqa: PLR0913
        cls,
        edges: Any,
        *,
        source: str | None = None,
        target: str | None = None,
        weight: Any = None,
        features: Any = None,
        labels: Any = None,
        node_ids: Any = None,
        id_column: str | None = None,
        label_column: str | None = None,
        unlabeled: Any = None,
        feature_names: Any = None,
        one_hot: Any = None,
        drop: Any = (),
        missing: Missing = "error",
        directed: Directed = "ignore",
        self_loops: SelfLoops = "keep",
        duplicates: Duplicates = "max",
        separator: str | None = None,
        header: bool | None = None,
        name: str | None = None,
        progress: Progress | None = None,
    ) -> Graph:
        """Build a graph from a list of edges, or from an object of another library.

        The nodes are those of ``node_ids``, else of the feature table, else the ids in the edges,
        sorted. Nodes without edges stay. Ids are integers of any size or strings and are never
        rounded; in a text file they are integers if all of them are written as integers (``7``,
        not ``007``), else strings without the spaces around them.

        What a file is, its first bytes say and not its name: text with any separator and with or
        without comments (``#``) and column names, JSON, Parquet or a folder of it, svmlight; plain
        or compressed (gzip, zstd, bzip2). ``changes`` says what each file was taken for.

        Parameters
        ----------
        edges : path, frame, array, pair or graph
            A table whose first two columns are the ends of the edges; a JSON file of nodes and
            links, adjacency lists or pairs; rows of two ids, as an array or a list; or a tuple
            ``(sources, targets)``. A frame is one of pandas, polars or pyarrow. A scipy matrix,
            networkx graph or PyTorch Geometric ``Data`` is passed on to its own constructor.
        source, target : str, optional
            Columns of a table that hold the ends of the edges; its first two by default.
        weight : str or array of shape (n_edges,), optional
            Column or values of the edge weights, 1 by default. Edges of weight zero are dropped;
            negative, NaN and infinite weights are refused.
        features : path, frame, array or sparse matrix, optional
            A wide table (an id column and a column for each feature), a long one (node, feature
            and, optionally, value; what is not listed is zero), a JSON file (``{"id": [values]}``,
            ``{"id": [numbers of features]}`` or ``{"id": {"name": value}}``), an svmlight file, or
            one row per node in the order of ``node_ids`` (without ``node_ids`` the ids are 0 to
            n − 1 and row i is node i). By default each node is its own feature: the identity
            matrix.
        labels : path, frame, mapping, pandas column or array, optional
            A table with an id column and a label column, a mapping or JSON file from id to label,
            a pandas column whose index holds ids, or one label per node in the order of
            ``features``. Missing labels and missing nodes are unlabeled.
        node_ids : column, optional
            The ids of all nodes, in order.
        id_column : str, optional
            The id column of the feature and label tables; by default the index of a pandas frame,
            if it holds ids, else the first column.
        label_column : str, optional
            The label column of the label table, the second by default; without ``labels``, a
            column of the feature table.
        unlabeled : value or list of values, optional
            What stands for an unknown label besides a missing one, such as −1. By default −1 is a
            class like any other.
        feature_names : list of str, optional
            The names of the columns of ``features`` where it is an array; tables have their own.
        one_hot : list of str or "all", optional
            Columns of the feature table that become one column per value, 100 values at most;
            ``"all"`` stands for every column of text. By default text is refused.
        drop : list of str
            Columns of the feature table to leave out. Dates are neither numbers nor text: drop
            them, or turn them into numbers. Truth values are 0 and 1.
        missing : {"error", "mean", "neighbors"}
            What to do with missing features: refuse them, fill in the mean of the column, or the
            mean of the nearest nodes that have a value.
        directed : {"ignore", "keep", "reverse", "error"}
            ``"ignore"``: an edge runs both ways; if it is listed both ways, the larger weight
            counts. ``"keep"``: a node gathers from the targets of its edges. ``"reverse"``: a node
            gathers from the sources of the edges that end in it. ``"error"``: refuse edges that
            are not listed both ways with the same weight.
        self_loops : {"keep", "drop", "error"}
            What to do with edges from a node to itself.
        duplicates : {"max", "sum", "error"}
            The weight of an edge that is listed more than once.
        separator : str, optional
            What stands between the fields of text files, one character or a few; a space stands
            for any run of spaces and tabs. By default the first lines tell.
        header : bool, optional
            Whether a text file of edges starts with a line of column names; by default its content
            tells, and the other files always go by theirs. Without names the columns are called
            ``"0"``, ``"1"`` and so on.
        name : str, optional
            A name for messages.
        progress : callable, optional
            Called with the bytes of the edge file read so far and its size.

        Returns
        -------
        Graph
            The graph; ``changes`` says what was read, changed and left out.

        Raises
        ------
        InputError
            If the pieces do not fit together or hold values that cannot be used.
        FormatError
            If a file is damaged.

        Warns
        -----
        GraphNotice
            Once, if something was changed without being asked for.

        Examples
        --------
        >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "eve")], labels={"ann": 1, "eve": 0})
        >>> graph
        Graph(3 nodes, 2 edges, no features, 2 classes)
        >>> graph.positions(["eve", "ann"])
        array([2, 0])

        Two lines of a file in every layout; ``docs/your-tables.md`` says more::

            edges
              comma, tab, ; or |      source,target
                                      ann,bob
              SNAP's                  # FromNodeId ToNodeId
                                      0 1
              runs of spaces          0   1
                                      1  12
              another separator       1::2
                                      2::3
              with weights            source,target,weight
                                      ann,bob,0.5
              JSON, node-link         {"nodes": [{"id": "ann"}, {"id": "bob"}],
                                       "links": [{"source": "ann", "target": "bob"}]}
              JSON, adjacency lists   {"ann": ["bob", "eve"],
                                       "bob": ["eve"]}
              JSON, pairs             [["ann", "bob"],
                                       ["bob", "eve"]]
              JSON lines              {"from": "ann", "to": "bob"}
                                      {"from": "bob", "to": "eve"}
            features
              wide                    id,age,height
                                      ann,31,1.7
              long                    node,feature,value
                                      ann,word_7,1
              JSON, values            {"ann": [31, 1.7],
                                       "bob": [44, 1.8]}
              JSON, feature numbers   {"ann": [7, 12, 90],
                                       "bob": [12]}
              JSON, named values      {"ann": {"age": 31},
                                       "bob": {"height": 1.8}}
              svmlight                1 3:0.5 7:1
                                      0 2:1
            labels
              two columns             id,label
                                      ann,spam
              JSON                    {"ann": "spam",
                                       "bob": "ham"}

        Each file may also be Parquet, or a folder of Parquet files. A pandas frame whose index is
        the id and a pandas column of labels go in as they are::

            Graph.from_edges(edges, features=frame.set_index("id"), labels=series)
        """
        from adagcn.formats import foreign
        from adagcn.formats.adjacency import EdgeRules
        from adagcn.formats.assembly import parts_from_edges, parts_from_matrix
        from adagcn.formats.changes import Changes
        from adagcn.formats.edges import read_edges
        from adagcn.formats.feature_tables import FeatureRules
        from adagcn.formats.nodes import NodeSource
        from adagcn.formats.tables import is_path
        from adagcn.formats.text_files import TextRules

        rules = EdgeRules(directed, self_loops, duplicates)
        text = TextRules(separator)
        nodes = NodeSource(
            features,
            labels,
            node_ids,
            id_column,
            label_column,
            feature_names=feature_names,
            rules=FeatureRules(one_hot, drop, missing),
            unlabeled=unlabeled,
            text=text,
        )
        if separator is not None and not any(map(is_path, (edges, features, labels))):
            problem = "separator is for text files, and no file is given"
            raise InputError("AGC-I1150", problem, got=separator, fix="leave separator out")
        columns = {"source": source, "target": target, "header": header}
        if sparse.issparse(edges):
            merging = None if duplicates == "max" else duplicates
            _refuse(edges, {**columns, "weight": weight, "duplicates": merging})
            return cls._assembled(parts_from_matrix(edges, nodes, rules), name)
        changes = Changes()
        if foreign.is_networkx(edges):
            _refuse(edges, {**columns, "node_ids": node_ids})
            nodes = replace(nodes, node_ids=foreign.networkx_ids(edges))
            edge_list = foreign.networkx_edges(edges, weight or "weight")
        elif foreign.is_pyg(edges):
            _refuse(edges, {**columns, "weight": weight})
            edge_list, nodes = foreign.pyg_edges(edges), foreign.pyg_nodes(edges, nodes)
        else:
            edge_list = read_edges(
                edges,
                changes,
                source=source,
                target=target,
                weight=weight,
                rules=replace(text, header=header, progress=progress),
            )
        return cls._assembled(parts_from_edges(edge_list, nodes, rules, changes), name)

    @classmethod
    def from_scipy(  # noqa: PLR0913
        cls,
        adjacency: Any,
        features: Any = None,
        labels: Any = None,
        node_ids: Any = None,
        *,
        weighted: bool = True,
        directed: Directed = "ignore",
        self_loops: SelfLoops = "keep",
        unlabeled: Any = None,
        name: str | None = None,
    ) -> Graph:
        """Build a graph from its adjacency matrix; entry (i, j) is an edge from node i to node j.

        Parameters
        ----------
        adjacency : scipy sparse matrix or array, or ndarray, of shape (n_nodes, n_nodes)
            The edge weights; entries that a sparse format stores twice are added.
        features, labels, node_ids
            As in :meth:`from_edges`, in the order of the rows; ids are 0 to n − 1 by default.
        weighted : bool
            Whether the values are weights; otherwise every weight is 1.
        directed, self_loops, unlabeled, name
            As in :meth:`from_edges`; an asymmetric matrix is made symmetric by default.

        Returns
        -------
        Graph
            The graph; errors and notices are those of :meth:`from_edges`.
        """
        from adagcn.formats.adjacency import EdgeRules
        from adagcn.formats.assembly import parts_from_matrix
        from adagcn.formats.nodes import NodeSource

        rules = EdgeRules(directed, self_loops, weighted=weighted)
        nodes = NodeSource(features, labels, node_ids, unlabeled=unlabeled)
        return cls._assembled(parts_from_matrix(adjacency, nodes, rules), name)

    @classmethod
    def from_networkx(  # noqa: PLR0913
        cls,
        graph: Any,
        *,
        features: Any = None,
        label: str | None = None,
        weight: str | None = "weight",
        directed: Directed = "ignore",
        self_loops: SelfLoops = "keep",
        duplicates: Duplicates = "max",
        unlabeled: Any = None,
        name: str | None = None,
    ) -> Graph:
        """Build a graph from a networkx graph, its nodes in the order of ``graph.nodes``.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            A graph whose nodes are integers or strings.
        features : str, list of str, array or sparse matrix, optional
            Node attributes that hold numbers or vectors, or one row per node.
        label : str, optional
            The node attribute that holds the label; nodes without it are unlabeled.
        weight : str or None
            The edge attribute that holds the weight, 1 where it is missing; with ``None`` all
            weights are 1.
        directed, self_loops, duplicates, unlabeled, name
            As in :meth:`from_edges`; parallel edges are duplicates.

        Returns
        -------
        Graph
            The graph; errors and notices are those of :meth:`from_edges`.
        """
        from adagcn.formats import foreign
        from adagcn.formats.adjacency import EdgeRules
        from adagcn.formats.assembly import parts_from_edges
        from adagcn.formats.nodes import NodeSource

        foreign.check_networkx(graph)
        names = [features] if isinstance(features, str) else features
        if isinstance(names, list) and all(isinstance(item, str) for item in names):
            features = foreign.networkx_features(graph, names)
        labels = None if label is None else foreign.networkx_labels(graph, label)
        nodes = NodeSource(features, labels, foreign.networkx_ids(graph), unlabeled=unlabeled)
        rules = EdgeRules(directed, self_loops, duplicates)
        edges = foreign.networkx_edges(graph, weight)
        return cls._assembled(parts_from_edges(edges, nodes, rules), name)

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        *,
        directed: Directed = "ignore",
        self_loops: SelfLoops = "keep",
        duplicates: Duplicates = "max",
        unlabeled: Any = None,
        name: str | None = None,
    ) -> Graph:
        """Build a graph from a ``Data`` object of PyTorch Geometric; ids are 0 to n − 1.

        Parameters
        ----------
        data : torch_geometric.data.Data
            ``edge_index``, ``x`` and ``y`` are used, and as weights ``edge_weight`` or an
            ``edge_attr`` of one column.
        directed, self_loops, duplicates, unlabeled, name
            As in :meth:`from_edges`; one-way edges are made two-way by default.

        Returns
        -------
        Graph
            The graph; errors and notices are those of :meth:`from_edges`.
        """
        from adagcn.formats import foreign
        from adagcn.formats.adjacency import EdgeRules
        from adagcn.formats.assembly import parts_from_edges
        from adagcn.formats.nodes import NodeSource

        foreign.check_pyg(data)
        rules = EdgeRules(directed, self_loops, duplicates)
        nodes = foreign.pyg_nodes(data, NodeSource(unlabeled=unlabeled))
        return cls._assembled(parts_from_edges(foreign.pyg_edges(data), nodes, rules), name)

    @classmethod
    def from_npz(
        cls,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        max_bytes: int | None = None,
    ) -> Graph:
        """Read a graph from an ``.npz`` file without cleaning it; directed edges stay directed.

        Parameters
        ----------
        path : str or path-like
            A file written by :meth:`to_npz`, or in one of the layouts in use: PPNP's
            (``adj_matrix.*``, ``attr_matrix.*``, ``labels``, ``class_names``), Shchur's
            (``adj_data``, ``attr_data``, …), or ``edges``, ``node_features`` and ``node_labels``.
            Object arrays are never unpickled. Labels of −1 are unknown.
        name : str, optional
            A name for messages.
        max_bytes : int, optional
            What the file may unpack to: by default 2 GiB, or twenty times its size if that is more.

        Returns
        -------
        Graph
            The graph.

        Raises
        ------
        InputError
            If there is no such file.
        FormatError
            If it is damaged or does not hold a graph.
        UnsafeFileError
            If one of its arrays would have to be unpickled.
        """
        from adagcn.formats.graph_file import read_graph

        parts, norm = read_graph(path, max_bytes)
        return replace(cls._assembled(parts, name), feature_norm=norm)

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to an ``.npz`` file; :meth:`from_npz` reads it back with equal digest.

        Parameters
        ----------
        path : str or path-like
            The file, written completely or not at all.
        """
        from adagcn.formats.assembly import Parts
        from adagcn.formats.graph_file import write_graph

        parts = Parts(
            self.adjacency,
            self.features,
            self.node_ids,
            self.labels,
            self.classes,
            feature_names=self.feature_names,
        )
        write_graph(path, parts, self.feature_norm)

    def to_store(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph to a folder of arrays, which :meth:`from_store` maps into memory.

        Parameters
        ----------
        folder : str or path-like
            A folder that is empty or does not exist yet.
        """
        from adagcn.formats.graph_store import store_graph

        facts = {
            "directed": self.is_directed,
            "input_digest": self.input_digest,
            "digest": self.digest,
            "name": self.name,
            "feature_norm": self.feature_norm,
            "changes": list(self.changes),
        }
        arrays = {
            "node_ids": self.node_ids,
            "labels": self.labels,
            "classes": self.classes,
            "feature_names": self.feature_names,
        }
        store_graph(Path(folder), self.adjacency, self.features, arrays, facts)

    @classmethod
    def from_store(cls, folder: str | os.PathLike[str]) -> Graph:
        """Open a graph in a folder that :meth:`to_store` or ``adagcn store build`` has written.

        Its arrays are mapped into memory: pages of them are read when they are looked at, and
        the system may drop them again. AdaGCN computes the hops of such a graph in files as well,
        block by block, so that features need not fit into memory. Other models read them whole.

        Parameters
        ----------
        folder : str or path-like
            The store.

        Returns
        -------
        Graph
            The graph, with the digests of the one that was written.

        Raises
        ------
        FormatError
            If the folder is no store, or one of another version.
        IntegrityError
            If a file is missing or has another size.
        """
        from adagcn.formats.graph_store import open_store

        stored = open_store(Path(folder).resolve())
        manifest = stored.manifest
        graph = cls(
            stored.adjacency,
            stored.features,
            stored.node_ids,
            stored.labels,
            stored.classes,
            name=manifest.name,
            feature_norm=manifest.feature_norm,
            changes=tuple(manifest.changes),
            feature_names=stored.feature_names,
        )
        # Known from when it was written: to find them out would be to read everything. A graph
        # that is made of this one by replacing a part has none of them.
        vars(graph).update(
            is_directed=manifest.directed,
            input_digest=manifest.input_digest,
            digest=manifest.digest,
            store=stored.folder,
        )
        return graph

    @cached_property
    def store(self) -> Path | None:
        """The folder that the arrays are mapped from; None for a graph in memory."""
        return None

    def __reduce__(self) -> Any:
        """Let another process open a stored graph by its folder."""
        if self.store is not None:
            return Graph.from_store, (self.store,)
        return super().__reduce__()

    @classmethod
    def _assembled(cls, parts: Parts, name: str | None) -> Graph:
        """Return the graph of checked parts; warn once of changes that nobody asked for."""
        graph = cls(
            parts.adjacency,
            parts.features,
            parts.node_ids,
            parts.labels,
            parts.classes,
            name=name,
            changes=tuple(parts.changes.phrases),
            feature_names=parts.feature_names,
        )
        parts.changes.warn(name, stacklevel=3)
        return graph


def _refuse(edges: Any, options: dict[str, Any]) -> None:
    """Refuse options that have no meaning for this kind of graph."""
    for option, value in options.items():
        if value is not None:
            problem = f"{option} cannot be combined with edges of type {type(edges).__name__}"
            raise InputError("AGC-I199", problem, got=value, fix=f"leave {option} out")
