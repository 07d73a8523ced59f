"""A node-property data set of the Open Graph Benchmark, as its own downloads have it, as a store.

The folder holds ``raw`` and ``split``. In ``raw`` are text files (``edge.csv.gz``,
``node-feat.csv.gz``, ``node-label.csv.gz``, ``num-node-list.csv.gz``) or, for the largest data
sets, ``data.npz`` with ``edge_index`` and ``node_feat``, and ``node-label.npz``. Nodes are called 0
to n − 1. Nothing but the labels is held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adagcn.errors import FormatError, InputError, counted
from adagcn.formats.adjacency import EdgeRules
from adagcn.formats.array_files import growing_array, stored_file
from adagcn.formats.assembly import NO_FEATURES
from adagcn.formats.build_folder import SPLITS, building
from adagcn.formats.changes import Changes
from adagcn.formats.graph_store import StoredFile
from adagcn.formats.labels import UNKNOWN, Encoded, encode_labels
from adagcn.formats.matrices import as_features
from adagcn.formats.npz import array_parts, list_arrays, read_npz, write_npz
from adagcn.formats.scratch_database import Limits, ScratchDatabase, scratch_database
from adagcn.formats.sorted_edges import EdgeCounts
from adagcn.formats.store_parts import StoreParts
from adagcn.formats.stored_adjacency import write_adjacency, write_identity
from adagcn.formats.stored_nodes import StoredNodes, make_pairs, unknown_ends
from adagcn.formats.text_files import TextRules, dialect_of, stream_columns

_PLAIN = TextRules(separator=",", header=False)
_ROLES = ("train", "valid", "test")


@dataclass(frozen=True)
class OgbFolder:
    """The files of a data set.

    Parameters
    ----------
    path : Path
        The folder that holds ``raw``.
    """

    path: Path

    def __post_init__(self) -> None:
        """Refuse a folder without a graph of one kind of node."""
        if self._archive is None and self._found("edge") is None:
            is_typed = any(self.path.glob("raw/relations*")) or any(self.path.glob("raw/triplet*"))
            what = (
                "several kinds of nodes" if is_typed else "neither raw/edge.csv.gz nor raw/data.npz"
            )
            raise InputError(
                "AGC-I1420",
                f"this is no node-property folder of the Open Graph Benchmark with one kind of "
                f"node: it has {what}",
                got=str(self.path),
                fix="name the folder of one data set that has one, such as ogbn_arxiv",
            )

    @property
    def _archive(self) -> Path | None:
        path = self.path / "raw" / "data.npz"
        return path if path.is_file() else None

    def _found(self, name: str) -> Path | None:
        files = [self.path / "raw" / f"{name}.csv{ending}" for ending in (".gz", "")]
        return next((file for file in files if file.is_file()), None)

    def n_nodes(self) -> int:
        """Return the number of nodes."""
        if self._archive is not None:
            numbers = read_npz(self._archive, keys=["num_nodes_list"], required=["num_nodes_list"])
            counts = numbers["num_nodes_list"].ravel()
        else:
            path = self._found("num-node-list")
            if path is None:
                problem = "the OGB folder lacks raw/num-node-list.csv.gz"
                raise FormatError("AGC-F1421", problem, got=str(self.path), fix="download it again")
            counts = np.concatenate([*_numbers(path, "num-node-list", pa.int64())]).ravel()
        if len(counts) != 1 or counts[0] < 1:
            problem = "the OGB folder does not hold one graph with nodes"
            raise FormatError("AGC-F1422", problem, got=counts[:5].tolist(), fix="use another")
        return int(counts[0])

    def edges(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield sources and targets, some edges at a time."""
        if self._archive is None:
            path = self._found("edge")
            assert path is not None
            for rows in _numbers(path, "edge", pa.int64(), width=2):
                yield rows[:, 0], rows[:, 1]
            return
        shape = self._header("edge_index").shape
        if len(shape) != 2 or shape[0] != 2:
            problem = f"edge_index of {str(self._archive)!r} must have two rows"
            raise FormatError("AGC-F1423", problem, got=shape, fix="download the folder again")
        sources = array_parts(self._archive, "edge_index", 0, shape[1])
        targets = array_parts(self._archive, "edge_index", shape[1], 2 * shape[1])
        yield from zip(sources, targets, strict=True)

    def features(self) -> Iterator[NDArray[Any]]:
        """Yield rows of features; nothing if there are none."""
        path = self._found("node-feat")
        if self._archive is None:
            return iter(()) if path is None else _numbers(path, "node-feat", pa.float64())
        if "node_feat" not in list_arrays(self._archive):
            return iter(())
        shape = self._header("node_feat").shape
        width = shape[1] if len(shape) == 2 else 1
        parts = array_parts(self._archive, "node_feat", 0, int(np.prod(shape)), width)
        return (part.reshape(-1, width) for part in parts)

    def _header(self, key: str) -> Any:
        assert self._archive is not None
        headers = list_arrays(self._archive)
        if key not in headers or headers[key].dtype.kind not in "iuf":
            problem = f"{str(self._archive)!r} lacks {key}, an array of numbers"
            raise FormatError("AGC-F1424", problem, got=list(headers)[:9], fix="download it again")
        return headers[key]

    def labels(self, changes: Changes) -> Encoded | None:
        """Return the labels, −1 where there is none (NaN), and the classes."""
        archive, path = self.path / "raw" / "node-label.npz", self._found("node-label")
        if archive.is_file():
            key = "node_label"
            values = read_npz(archive, keys=[key], required=[key])[key]
        elif path is not None:
            values = np.concatenate([*_numbers(path, "node-label", pa.float64())])
        else:
            return None
        if values.ndim == 2 and values.shape[1] > 1:
            problem = "the nodes of the OGB folder have several labels each, as in ogbn-proteins"
            fix = "use a data set with one class per node"
            raise InputError("AGC-I1425", problem, got=values.shape, fix=fix)
        return encode_labels(values.ravel(), changes=changes)

    def splits(self) -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
        """Yield the name of each split, and the positions of its nodes by role."""
        for folder in sorted(self.path.glob("split/*")):
            files = {role: folder / f"{role}.csv.gz" for role in _ROLES}
            files = {r: f if f.is_file() else f.with_suffix("") for r, f in files.items()}
            if all(file.is_file() for file in files.values()):
                found = {role: [*_numbers(f, f.name, pa.int64())] for role, f in files.items()}
                yield folder.name, {f"{r}_idx": np.concatenate(p).ravel() for r, p in found.items()}


def build_ogb_store(
    folder: Path, ogb: OgbFolder, rules: EdgeRules | None = None, limits: Limits | None = None
) -> Changes:
    """Build a store from a folder of the Open Graph Benchmark.

    Parameters
    ----------
    folder : Path
        A folder that is empty or new. Each split becomes a file ``splits/NAME.npz`` in it, as
        ``--splits-file`` reads it.
    ogb : OgbFolder
        The data set.
    rules : EdgeRules, optional
        What to do with edges that are not simple.
    limits : Limits, optional
        Memory and threads of DuckDB.

    Returns
    -------
    Changes
        What was read, changed and left out, as in ``store.json``.
    """
    rules, limits, changes = rules or EdgeRules(), limits or Limits(), Changes()
    n_nodes = ogb.n_nodes()
    with building(folder) as scratch, scratch_database(scratch, limits) as base:
        nodes = StoredNodes(base, n_nodes, "integers", is_range=True)
        files, counts = _write_edges(folder, ogb, nodes, rules, changes)
        nodes, id_file = nodes.write(folder)
        more, shape = _write_features(folder, ogb, n_nodes, changes)
        labels = _aligned(ogb.labels(changes), n_nodes, changes)
        _write_splits(folder, ogb, changes)
        files = {**files, **more, "node_ids": id_file}
        StoreParts(folder, n_nodes, shape).finish(files, counts, (labels, None), changes)
    return changes


def _write_edges(
    folder: Path, ogb: OgbFolder, nodes: StoredNodes, rules: EdgeRules, changes: Changes
) -> tuple[dict[str, StoredFile], EdgeCounts]:
    base, counts = nodes.base, EdgeCounts()
    n_edges = _insert_ends(base, ogb)
    make_pairs(nodes)
    files = write_adjacency(folder, nodes, rules, counts)
    if counts.listed < 2 * n_edges:
        raise unknown_ends(nodes, ("the edges of the OGB folder",) * 2, shared=True)
    changes.note(f"edges: {counted(n_edges, 'row')} of an OGB folder")
    counts.tell(rules, changes)
    return files, counts


def _insert_ends(base: ScratchDatabase, ogb: OgbFolder) -> int:
    base.run("CREATE TABLE ends (s BIGINT, t BIGINT)")
    base.run("BEGIN")
    n_edges = 0
    for sources, targets in ogb.edges():
        ends = {"s": sources.astype(np.int64), "t": targets.astype(np.int64)}
        base.insert("ends", pa.table(ends))
        n_edges += len(sources)
    base.run("COMMIT")
    return n_edges


def _write_features(
    folder: Path, ogb: OgbFolder, n_nodes: int, changes: Changes
) -> tuple[dict[str, StoredFile], tuple[int, int] | None]:
    parts = ogb.features()
    first = next(parts, None)
    if first is None:
        changes.note(NO_FEATURES)
        return write_identity(folder, n_nodes), None
    path = folder / "features.npy"
    with growing_array(path, np.float32, first.shape[1:]) as array:
        while first is not None:
            last = array.n_rows + len(first) - 1
            array.append(as_features(first, f"features, rows {array.n_rows:,} to {last:,},"))
            shape = (array.n_rows, first.shape[1])
            first = next(parts, None)
    _check_rows("features", shape[0], n_nodes)
    changes.note(f"features: {counted(n_nodes, 'row')}, {counted(shape[1], 'column')}")
    return {"features": stored_file(path)}, shape


def _aligned(encoded: Encoded | None, n_nodes: int, changes: Changes) -> Encoded:
    if encoded is None:
        return np.full(n_nodes, UNKNOWN, dtype=np.int64), np.empty(0, dtype=np.int64)
    _check_rows("labels", len(encoded[0]), n_nodes)
    n_labeled = int(np.count_nonzero(encoded[0] >= 0))
    changes.note(f"labels: {n_labeled:,} of {counted(n_nodes, 'node')}")
    return encoded


def _write_splits(folder: Path, ogb: OgbFolder, changes: Changes) -> None:
    for name, sets in ogb.splits():
        (folder / SPLITS).mkdir(exist_ok=True)
        write_npz(folder / SPLITS / f"{name}.npz", sets)
        sizes = ", ".join(f"{len(sets[f'{role}_idx']):,} {role}" for role in _ROLES)
        changes.note(f"split {name!r}: {sizes}, in {SPLITS}/{name}.npz")


def _check_rows(what: str, n_rows: int, n_nodes: int) -> None:
    if n_rows != n_nodes:
        problem = f"the {what} of the OGB folder have not one row for each of {n_nodes:,} nodes"
        raise FormatError("AGC-F1426", problem, got=n_rows, fix="download the folder again")


def _numbers(
    path: Path, argument: str, kind: Any, width: int | None = None
) -> Iterator[NDArray[Any]]:
    """Yield the rows of a text file of numbers."""
    dialect = dialect_of(path, argument, _PLAIN)
    kinds = dict.fromkeys(dialect.names, kind)
    problem = f"{path.name} of the OGB folder does not hold the numbers that it should"
    if width is not None and len(kinds) != width:
        raise FormatError(
            "AGC-F1427", problem, got=counted(len(kinds), "column"), fix="get it again"
        )
    try:
        for batch in stream_columns(path, argument, dialect, kinds, _PLAIN):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            yield np.stack(columns, axis=1)
    except pa.ArrowInvalid as error:
        got = str(error).splitlines()[0]
        raise FormatError("AGC-F1428", problem, got=got, fix="download the folder again") from error
