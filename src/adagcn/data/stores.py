"""A store as an object: the graph in a folder of files, and what can be done with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adagcn.graph import Graph

if TYPE_CHECKING:  # loaded when something is updated
    from adagcn.formats.adjacency import Directed, Duplicates, SelfLoops
    from adagcn.formats.graph_store import StoreManifest
    from adagcn.formats.store_update import StoreChange


@dataclass(frozen=True)
class GraphStore:
    """A graph in a folder of files, made by ``Graph.to_store`` or ``adagcn store build``.

    Parameters
    ----------
    path : path-like
        The folder.

    Raises
    ------
    FormatError
        If the folder is no store, or one of another version.

    Examples
    --------
    >>> import tempfile
    >>> from adagcn import Graph, GraphStore
    >>> folder = tempfile.mkdtemp()
    >>> Graph.from_edges([("a", "b"), ("b", "c")], labels={"a": 0}).to_store(folder)
    >>> store = GraphStore(folder)
    >>> print(store.update(edges=[("c", "d")], labels={"d": 1}))
    1 node added, 1 edge added
    >>> store.graph()
    Graph(4 nodes, 3 edges, no features, 2 classes)
    """

    path: str | os.PathLike[str]

    def __post_init__(self) -> None:
        """Look whether there is a store."""
        object.__setattr__(self, "path", Path(self.path).resolve())
        self.info()

    def graph(self) -> Graph:
        """Return the graph as it is now, mapped into memory; see ``Graph.from_store``.

        A graph that was opened before an update stays what it was, but its model can no longer be
        asked with it: open it again.
        """
        return Graph.from_store(self.path)

    def info(self) -> StoreManifest:
        """Return what the store holds: counts, digests, files and what was done to it."""
        from adagcn.formats.graph_store import read_manifest

        return read_manifest(Path(self.path))

    def verify(self) -> list[str]:
        """Read every file and return the names of those that are missing or damaged."""
        from adagcn.formats.graph_store import verify_store

        return [name for name, is_whole in verify_store(Path(self.path)) if not is_whole]

    def update(  # noqa: PLR0913
        self,
        *,
        edges: Any = None,
        features: Any = None,
        labels: Any = None,
        remove_edges: Any = None,
        source: str | None = None,
        target: str | None = None,
        weight: Any = None,
        node_ids: Any = None,
        id_column: str | None = None,
        label_column: str | None = None,
        unlabeled: Any = None,
        drop: Any = (),
        directed: Directed = "ignore",
        self_loops: SelfLoops = "keep",
        duplicates: Duplicates = "max",
        separator: str | None = None,
        header: bool | None = None,
    ) -> StoreChange:
        """Add nodes and edges, remove edges, and change features and labels.

        The store then is what a build of the old and the new tables together would be, with the
        same digests. It is the old one or the new one at every instant, even if the process is
        killed. What is new is held in memory; the adjacency of the store is not.

        Where the store has features, new nodes are those that ``features`` lists for the first
        time, and come after the others. Where it has none, or sparse ones, new nodes are also the
        new ids in the edges; where the ids are sorted, as a build without a table of features
        sorts them, new ones take their places among them.

        Parameters
        ----------
        edges : path, frame, array or pair, optional
            New edges, in every form that :meth:`Graph.from_edges` takes. Of an edge that is there
            already, the larger weight is kept.
        features : path, frame, array or sparse matrix, optional
            A row for every new node and for every node whose features change. Columns are matched
            by name.
        labels : path, frame, mapping or array, optional
            New and changed labels. A missing value makes a node unlabeled.
        remove_edges : path, frame, array or pair, optional
            Edges that are gone; they must be there. They go before new ones come, so that an edge
            in both gets another weight. Nodes stay.
        source, target : str, optional
            Columns of the ends, in ``edges`` and ``remove_edges``.
        weight, node_ids, id_column, label_column, unlabeled, drop, separator, header
            As in :meth:`Graph.from_edges`; ``node_ids`` are those of the rows of arrays.
        directed, self_loops, duplicates
            As in :meth:`Graph.from_edges` and when the store was built. A store with directions
            needs ``directed="keep"`` or ``"reverse"``. With ``duplicates="sum"``, an edge that is
            there already is refused.

        Returns
        -------
        StoreChange
            What has changed, in counts.

        Raises
        ------
        InputError
            If what is new does not fit to the store, which stays as it was.
        ResourceError
            If the folder cannot be written to, the disk is full, or another process updates it.
        """
        from adagcn.formats.adjacency import EdgeRules
        from adagcn.formats.feature_tables import FeatureRules
        from adagcn.formats.nodes import NodeSource
        from adagcn.formats.store_update import update_store
        from adagcn.formats.text_files import TextRules
        from adagcn.formats.update_tables import UpdateTables

        text = TextRules(separator, header)
        nodes = NodeSource(
            features,
            labels,
            node_ids,
            id_column,
            label_column,
            rules=FeatureRules(drop=drop),
            unlabeled=unlabeled,
            text=TextRules(separator),
        )
        rules = EdgeRules(directed, self_loops, duplicates)
        tables = UpdateTables(edges, remove_edges, source, target, weight, nodes, rules, text)
        change, changes = update_store(Path(self.path), tables)
        changes.warn(self.info().name, stacklevel=2)
        return change
