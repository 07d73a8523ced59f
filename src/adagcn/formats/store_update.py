"""Updates a store: new nodes and edges, edges that are gone, other features and labels.

The result is that of a build of the old and the new tables together, to the bit of the digests. New
arrays are written beside the old ones, and the manifest last: whoever dies at any instant leaves
the store as it was or as it should be, and what was half done is removed by the next update. The
tables of an update are held in memory, and 8 bytes per node; the adjacency is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adagcn.errors import InputError, counted
from adagcn.formats.adjacency import adjacency_from_edges
from adagcn.formats.array_files import ArrayFile, MatrixFiles, growing_array, stored_file
from adagcn.formats.build_folder import KEPT_HOPS, remove_strays, updating
from adagcn.formats.changes import Changes
from adagcn.formats.frozen import content_digest
from adagcn.formats.graph_store import (
    ArrayParts,
    StoredFile,
    StoreManifest,
    finish_store,
    open_store,
    write_array,
)
from adagcn.formats.node_ids import first_few
from adagcn.formats.row_norms import normalize_rows_l1
from adagcn.formats.update_tables import ReadUpdate, UpdateTables
from adagcn.formats.updated_adjacency import (
    MergeCounts,
    is_symmetric,
    merged_rows,
    removed_places,
)
from adagcn.formats.updated_nodes import (
    dense_parts,
    matched_columns,
    sparse_parts,
    updated_labels,
)

_ORDER = ("adjacency", "features", "node_ids", "labels", "classes", "feature_names")


@dataclass(frozen=True)
class StoreChange:
    """What an update of a store has changed.

    Parameters
    ----------
    nodes_added, edges_added, edges_removed, features_changed, labels_changed : int
        Counts; features and labels of new nodes are not counted as changed.
    bytes_written : int
        Of the new files.
    input_digest, digest : str
        Those of the graph in the store afterwards.
    changes : tuple of str
        What was read, changed and left out, in phrases.
    hops_to_update : bool
        Whether the store keeps hops, which are now those of an earlier graph.
    """

    nodes_added: int
    edges_added: int
    edges_removed: int
    features_changed: int
    labels_changed: int
    bytes_written: int
    input_digest: str
    digest: str
    changes: tuple[str, ...]
    hops_to_update: bool

    def __str__(self) -> str:
        """Return what has changed, and who says what that costs."""
        if not self.hops_to_update:
            return self.counts
        later = "adagcn store info then shows what share of their rows was computed"
        return f"{self.counts}; the next prediction updates the kept hops; {later}"

    @property
    def counts(self) -> str:
        """What has changed, in a phrase."""
        counts = (
            (self.nodes_added, "node", "added"),
            (self.edges_added, "edge", "added"),
            (self.edges_removed, "edge", "removed"),
            (self.features_changed, "feature row", "changed"),
            (self.labels_changed, "label", "changed"),
        )
        said = [f"{counted(n, noun)} {verb}" for n, noun, verb in counts if n]
        return ", ".join(said) or "nothing has changed"


def update_store(folder: Path, tables: UpdateTables) -> tuple[StoreChange, Changes]:
    """Update a store.

    Parameters
    ----------
    folder : Path
        The store.
    tables : UpdateTables
        What is new.

    Returns
    -------
    StoreChange
        What has changed.
    Changes
        What a user might not expect of the tables, to warn of.

    Raises
    ------
    InputError, FormatError
        If the tables cannot be read or do not fit to the store, which stays as it was.
    ResourceError
        If the folder cannot be written to, the disk is full, or another process updates the store.
    """
    tables.check_used()
    stored = open_store(folder)  # before anything is locked: it may be no store
    with updating(folder):
        stored = open_store(folder)
        remove_strays(folder, _file_names(folder, stored.manifest))
        try:
            update = _Update(ReadUpdate(stored, tables))
            change = update.run()
        except BaseException:
            remove_strays(folder, _file_names(folder, stored.manifest))
            raise
        remove_strays(folder, _file_names(folder, open_store(folder).manifest))
    return change, update.read.changes


def _file_names(folder: Path, manifest: StoreManifest) -> list[str]:
    return [file.path(folder, name).name for name, file in manifest.files.items()]


class _Update:
    """One update: what is written of it, and where."""

    def __init__(self, read: ReadUpdate) -> None:
        self.read = read
        self.number = 1 + max(file.update for file in read.stored.manifest.files.values())
        self.files: dict[str, StoredFile] = {}

    def run(self) -> StoreChange:
        """Write what has changed, the manifest last."""
        counts, directed = MergeCounts(), self.read.stored.manifest.directed
        n_features = self._write_features()
        if self.read.edges is not None or self.read.gone is not None or len(self.read.nodes.added):
            directed = self._write_adjacency(counts)
        if len(self.read.nodes.added):
            self._write("node_ids", self.read.nodes.id_parts())
        n_labels = self._write_labels()
        added, removed = counts.edges(directed=directed)
        facts = self._facts(directed)
        change = StoreChange(
            len(self.read.nodes.added),
            added,
            removed,
            n_features,
            n_labels,
            sum(file.bytes for file in self.files.values()),
            facts["input_digest"],
            facts["digest"],
            tuple(self.read.changes.phrases),
            self._has_hops_to_update(facts["input_digest"]),
        )
        # Words about what the tables were are part of the store, as those of its build are.
        said = [
            f"update {self.number}: {phrase}"
            for phrase in (*self.read.changes.phrases, change.counts)
        ]
        facts["changes"] = [*self.read.stored.manifest.changes, *said]
        found = {**self.read.stored.manifest.files, **self.files}
        ordered = {name: found[name] for each in _ORDER for name in found if _part(name) == each}
        finish_store(self.read.stored.folder, ordered, facts)
        return change

    def _has_hops_to_update(self, digest: str) -> bool:
        """Return whether hops are kept whose record does not name the graph."""
        records = (self.read.stored.folder / "hops").glob(f"*/{KEPT_HOPS}")
        for record in records:
            with suppress(FileNotFoundError):  # a prediction removes hops of earlier graphs
                if digest.encode() not in record.read_bytes():
                    return True
        return False

    def _path(self, name: str) -> Path:
        return StoredFile(bytes=0, sha256="0" * 64, update=self.number).path(
            self.read.stored.folder, name
        )

    def _write(self, name: str, parts: ArrayParts) -> None:
        written = write_array(self._path(name), parts)
        self.files[name] = written.model_copy(update={"update": self.number})

    def _write_matrix(self, name: str, blocks: Iterable[sparse.csr_array], n_rows: int) -> None:
        """Write a sparse matrix that comes some rows at a time."""
        index = self._index_type(name, n_rows)
        dtype = getattr(self.read.stored, name).dtype
        counts = [np.zeros(1, dtype=np.int64)]
        with ExitStack() as files:
            columns = files.enter_context(growing_array(self._path(f"{name}.indices"), index))
            values = files.enter_context(growing_array(self._path(f"{name}.values"), dtype))
            for block in blocks:
                columns.append(block.indices.astype(index))
                values.append(block.data.astype(dtype))
                counts.append(np.diff(block.indptr))
        ends = np.cumsum(np.concatenate(counts)).astype(index)
        self._write(f"{name}.indptr", ArrayParts.of(ends))
        for part in ("indices", "values"):
            file = stored_file(self._path(f"{name}.{part}"))
            self.files[f"{name}.{part}"] = file.model_copy(update={"update": self.number})

    def _index_type(self, name: str, n_rows: int) -> Any:
        """Return the type of indices: wider than before only where it must be."""
        before = getattr(self.read.stored, name)
        n_new = 0 if self.read.edges is None else 2 * len(self.read.edges.sources.codes)
        if name == "features":
            given = self.read.given.features
            n_new = n_rows if given is None else n_rows + int(np.prod(given.shape))
        widest = sparse.get_index_dtype(maxval=max(int(before.nnz) + n_new, n_rows))
        return np.promote_types(before.indices.dtype, widest)

    def _write_adjacency(self, counts: MergeCounts) -> bool:
        """Write the adjacency; return whether it is directed."""
        nodes, rules, stored = self.read.nodes, self.read.rules, self.read.stored.adjacency
        new = sparse.csr_array((nodes.n_nodes, nodes.n_nodes), dtype=np.float32)
        if self.read.edges is not None:
            ends = tuple(nodes.locate(self.read.ids[f"{side} of edges"]) for side in _SIDES)
            said = Changes()
            new = adjacency_from_edges(
                (ends[0], ends[1]),
                self.read.edges.weights,
                nodes.n_nodes,
                rules,
                said,
                both_ways_expected=self.read.edges.both_ways_expected,
            )
            self._tell(said)
        gone = self._gone()
        blocks = merged_rows(stored, nodes, new, gone, rules.duplicates, counts)
        self._write_matrix("adjacency", blocks, nodes.n_nodes)
        self._check_gone(gone, counts)
        both_ways = rules.directed not in ("keep", "reverse")
        if counts.again:
            n_again = counts.edges_again(directed=not both_ways)
            phrase = f"{counted(n_again, 'new edge')} there already, the larger weight kept"
            self.read.changes.note(phrase, surprising=True)
        return not both_ways and not self._is_symmetric(new, gone)

    def _tell(self, said: Changes) -> None:
        """Pass on what was found among the new edges, which are not all of the graph's."""
        self.read.changes.phrases += [each for each in said.phrases if each != _NO_EDGES]
        self.read.changes.surprises += [each for each in said.surprises if each != _NO_EDGES]

    def _gone(self) -> NDArray[np.int64]:
        if self.read.gone is None:
            return np.empty(0, dtype=np.int64)
        nodes = self.read.nodes
        sources, targets = (
            nodes.locate(self.read.ids[f"{side} of remove_edges"]) for side in _SIDES
        )
        if self.read.rules.directed == "reverse":
            sources, targets = targets, sources
        both_ways = self.read.rules.directed in ("ignore", "error")
        return removed_places((sources, targets), nodes.n_nodes, both_ways=both_ways)

    def _check_gone(self, gone: NDArray[np.int64], counts: MergeCounts) -> None:
        if counts.removed == len(gone):
            return
        n_places = 2 if self.read.rules.directed in ("ignore", "error") else 1
        n_absent = -(-(len(gone) - counts.removed) // n_places)
        assert self.read.gone is not None
        raise InputError(
            "AGC-I1909",
            f"{counted(n_absent, 'edge')} of remove_edges not in the store",
            got=counted(len(self.read.gone.sources.codes), "edge"),
            fix="list edges that are there, each with the ids of its ends",
        )

    def _is_symmetric(self, new: sparse.csr_array, gone: NDArray[np.int64]) -> bool:
        """Return whether the adjacency is now the same both ways."""
        files = [self._path(f"adjacency.{part}") for part in ("values", "indices", "indptr")]
        n_nodes = self.read.nodes.n_nodes
        parts = tuple(np.load(path, mmap_mode="r", allow_pickle=False) for path in files)
        matrix = sparse.csr_array(parts, shape=(n_nodes, n_nodes), copy=False)
        matrix.has_canonical_format = True
        if self.read.stored.manifest.directed:
            return is_symmetric(matrix)
        entries = new.tocoo()
        ends = [entries.row, entries.col, gone // n_nodes, gone % n_nodes]
        return is_symmetric(matrix, np.unique(np.concatenate(ends)).astype(np.int64))

    def _write_features(self) -> int:
        """Write the features if any are new; return how many rows of old nodes were given."""
        nodes, stored = self.read.nodes, self.read.stored
        rows, places = self._feature_rows()
        is_sparse = stored.manifest.sparse_features
        if is_sparse and _is_identity(stored.features) and rows is None:
            if len(nodes.added):
                eye = sparse.eye_array(nodes.n_nodes, dtype=stored.features.dtype, format="csr")
                self._write_matrix("features", [eye], nodes.n_nodes)
            return 0
        if rows is None and not len(nodes.added):
            return 0
        if not is_sparse:
            assert rows is not None  # a new node is one with features
            self._write("features", dense_parts(stored.features, nodes.n_nodes, places, rows))
        else:
            if rows is None:
                rows = sparse.csr_array((0, stored.manifest.n_features), dtype=np.float32)
            n_bare = int(np.count_nonzero(~np.isin(self._added_places(), places)))
            if n_bare:
                phrase = f"{counted(n_bare, 'new node')} without any feature: a row of zeros"
                self.read.changes.note(phrase, surprising=True)
            blocks = sparse_parts(stored.features, nodes, places, rows)
            self._write_matrix("features", blocks, nodes.n_nodes)
        return self._n_different(rows, places)

    def _n_different(self, rows: Any, places: NDArray[np.intp]) -> int:
        """Return how many nodes that were there have other features."""
        before = self.read.nodes.earlier()[places]
        old, new = self.read.stored.features[before[before >= 0]], rows[before >= 0]
        if isinstance(new, np.ndarray):
            return int((old != new).any(axis=1).sum())
        return int(np.count_nonzero(np.diff((old != new).tocsr().indptr)))

    def _added_places(self) -> NDArray[np.intp]:
        return (
            self.read.nodes.find(self.read.nodes.added)
            if len(self.read.nodes.added)
            else np.empty(0, np.intp)
        )

    def _feature_rows(self) -> tuple[Any, NDArray[np.intp]]:
        """Return new rows of features as the store has them, and where they go."""
        if self.read.given.features is None:
            return None, np.empty(0, dtype=np.intp)
        ids = self.read.ids["features"]
        places = self.read.nodes.locate(ids)
        if len(np.unique(places)) < len(places):
            twice = ids.distinct[np.bincount(ids.codes) > 1]
            problem = f"{ids.argument} lists some nodes more than once"
            raise InputError("AGC-I193", problem, got=first_few(twice), fix="keep one row per node")
        if self.read.stored.manifest.sparse_features and _is_identity(self.read.stored.features):
            raise InputError(
                "AGC-I1910",
                "this store has no features: each node stands for itself",
                got=counted(len(places), "feature row"),
                fix="leave features out, or build a store with features for all nodes",
            )
        names = self.read.given.feature_names
        rows = matched_columns(self.read.given.features, names, self.read.stored)
        if self.read.stored.manifest.feature_norm == "l1":
            rows = normalize_rows_l1(rows).astype(rows.dtype)
            self.read.changes.note(
                "new features divided by their L1 norm, as those of the store are"
            )
        return rows, places

    def _write_labels(self) -> int:
        """Write labels and classes if any are new; return how many labels are others."""
        nodes, stored = self.read.nodes, self.read.stored
        if self.read.given.labels is None:
            if len(nodes.added):
                labels = np.full(nodes.n_nodes, -1, dtype=np.int64)
                labels[nodes.earlier() >= 0] = stored.labels
                self._write("labels", ArrayParts.of(labels))
            return 0
        found = updated_labels(
            stored, nodes, self.read.given.labels, self.read.ids["labels"], self.read.changes
        )
        labels, classes, changed = found
        self._write("labels", ArrayParts.of(labels))
        self._write("classes", ArrayParts.of(classes))
        return int(np.count_nonzero(~np.isin(changed, self._added_places())))

    def _facts(self, directed: bool) -> dict[str, Any]:
        """Return the fields of the manifest besides the files and the words."""
        manifest, n_nodes = self.read.stored.manifest, self.read.nodes.n_nodes
        square = (n_nodes, n_nodes)
        if manifest.sparse_features and _is_identity(self.read.stored.features):
            n_columns = n_nodes
        else:
            n_columns = manifest.n_features
        features: Any = (
            self._matrix("features", (n_nodes, n_columns))
            if manifest.sparse_features
            else self._array("features")
        )
        adjacency = self._matrix("adjacency", square)
        input_digest = content_digest([adjacency, features, self._array("node_ids")])
        labels, classes = self._array("labels"), self._array("classes")
        return {
            "n_nodes": n_nodes,
            "n_stored": adjacency.indices.shape[0],
            "n_features": n_columns,
            "directed": directed,
            "sparse_features": manifest.sparse_features,
            "input_digest": input_digest,
            "digest": content_digest([input_digest, labels, classes]),
            "name": manifest.name,
            "feature_norm": manifest.feature_norm,
        }

    def _array(self, name: str) -> ArrayFile:
        file = self.files.get(name) or self.read.stored.manifest.files[name]
        return ArrayFile.of(file.path(self.read.stored.folder, name))

    def _matrix(self, name: str, shape: tuple[int, int]) -> MatrixFiles:
        values, indices, indptr = (
            self._array(f"{name}.{part}") for part in ("values", "indices", "indptr")
        )
        return MatrixFiles(shape, values, indices, indptr)


_SIDES = ("sources", "targets")
_NO_EDGES = "the graph has no edges"


def _part(name: str) -> str:
    return name.split(".")[0]


def _is_identity(features: sparse.csr_array) -> bool:
    """Return whether each node is a column of its own, the stand-in for no features."""
    n_rows, n_columns = features.shape
    if n_rows != n_columns or features.nnz != n_rows:
        return False
    own = np.arange(n_rows)
    alike = np.array_equal(features.indices, own) and np.array_equal(features.indptr[1:], own + 1)
    return bool(alike and (features.data == 1.0).all())
