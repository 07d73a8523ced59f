"""Hops of a store that stay in its folder, and those of an updated store made from them.

A folder of hops that holds ``kept.json`` is never removed by a stream. Beside the hops it keeps the
arrays of the graph that they are of, as links: after an update of the store, the two graphs are
compared, and only rows within reach of what differs are computed again. Blocks without such a row
are linked, other ones are written whole; either way they have the bits of a new computation.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError
from scipy import sparse

from adagcn.errors import IntegrityError
from adagcn.formats.atomic import write_bytes
from adagcn.formats.build_folder import COPY_STORE, make_folder
from adagcn.formats.graph_store import ArrayParts, StoredArrays, mapped, write_array
from adagcn.propagation.changed_rows import (
    EarlierNodes,
    HopUpdate,
    Mask,
    Reach,
    changed_edges,
    changed_features,
    changed_propagator,
    needs_degrees,
)
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.row_blocks import RowBlocks, degrees_of

RECORD = "kept.json"
# A hop is computed whole from this share of the edges on: rows picked from all over cost about
# three times as much per edge, and most blocks are written again anyway.
WHOLE_ABOVE = 0.3
_GRAPH = "graph"  # the arrays that kept hops are of
_GROWN = 2.0  # blocks are cut anew when one has grown to so many times its size


class KeptRecord(BaseModel):
    """What the kept hops of a folder are of, and what was computed of them.

    Parameters
    ----------
    settings : str
        What hops depend on besides the graph, in a few letters.
    input_digest : str
        Of the graph.
    ends : list of int
        Of the row blocks.
    normalization, teleport
        Of the hops.
    rows : list of int
        Rows that the last update computed, by hop; empty if there was none.
    whole : str or None
        Why it computed whole hops after these.
    updated : bool
        Whether hops of an earlier graph were at hand.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    settings: str
    input_digest: str
    ends: list[int]
    normalization: Normalization
    teleport: float
    rows: list[int] = []
    whole: str | None = None
    updated: bool = False

    def write(self, folder: Path) -> None:
        """Write it to a folder of hops, which stays from then on."""
        write_bytes(folder / RECORD, self.model_dump_json(indent=1).encode())


def record_of(folder: Path) -> KeptRecord | None:
    """Return the record of a folder of hops; None if they are not kept."""
    try:
        return KeptRecord.model_validate_json((folder / RECORD).read_bytes())
    except (OSError, ValidationError):
        return None


def kept_folders(store: Path) -> Iterator[tuple[Path, KeptRecord]]:
    """Yield the folders of kept hops of a store."""
    home = store / "hops"
    for folder in sorted(home.iterdir()) if home.is_dir() else ():
        record = record_of(folder)
        if record is not None:
            yield folder, record


@dataclass(frozen=True)
class KeptFiles:
    """Hops that a store keeps for one model, in files.

    Parameters
    ----------
    store : Path
        The store.
    settings : str
        What the hops depend on besides the graph.
    """

    store: Path
    settings: str

    @property
    def _newest(self) -> tuple[Path, KeptRecord] | None:
        found = [each for each in kept_folders(self.store) if each[1].settings == self.settings]
        return max(found, key=lambda each: (each[0] / RECORD).stat().st_mtime_ns, default=None)

    @property
    def n_bytes(self) -> int:
        """Bytes of the disk that the hops take."""
        found = self._newest
        return 0 if found is None else sum(f.stat().st_size for f in found[0].glob("hop-*/*.npy"))

    @property
    def last_update(self) -> HopUpdate | None:
        """What had to be computed when the store was last updated; None if it never was."""
        found = self._newest
        if found is None or not found[1].updated:
            return None
        record = found[1]
        return HopUpdate(record.ends[-1], tuple(record.rows), record.whole)

    def updated(self, source: Any, node_ids: Any) -> Any:
        """Return the hops of a graph in memory as they are: what is kept is of a store."""
        return source


def drop_kept(store: Path) -> int:
    """Remove the kept hops of a store; return the bytes that they took."""
    n_bytes = 0
    for folder, _ in [*kept_folders(store)]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        n_bytes += sum(path.stat().st_size for path in files if path.stat().st_nlink == 1)
        (folder / RECORD).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    return n_bytes


def keep_folder(folder: Path, arrays: StoredArrays, record: KeptRecord) -> None:
    """Let the hops of a folder stay, with what a later update compares."""
    if record_of(folder) is not None:
        return
    home = folder / _GRAPH
    make_folder(home, fix=COPY_STORE)
    for name, file in arrays.manifest.files.items():
        if name.split(".")[0] in ("adjacency", "features", "node_ids"):
            _link(file.path(arrays.folder, name), home / f"{name}.npy")
    if needs_degrees(record.normalization):
        blocks = RowBlocks(np.array(record.ends, dtype=np.int64))
        is_symmetric = not arrays.manifest.directed
        in_degree = degrees_of(arrays.adjacency, blocks, is_symmetric=is_symmetric)[1]
        write_array(home / "in_degree.npy", ArrayParts.of(in_degree))
    record.write(folder)


def _link(path: Path, name: Path) -> None:
    """Give a file another name, which keeps it when the first one is removed; or copy it."""
    name.unlink(missing_ok=True)
    try:
        os.link(path, name)
    except OSError:  # another file system, or one that knows no links
        shutil.copyfile(path, name)


@dataclass(frozen=True)
class EarlierHops:
    """Kept hops of the graph that a store held before, for those of the graph that it holds now.

    Parameters
    ----------
    folder : Path
        Of the kept hops.
    record : KeptRecord
        What they are of.
    target : Path
        The folder of the hops of the graph that the store holds now.
    arrays : StoredArrays
        That graph.
    """

    folder: Path
    record: KeptRecord
    target: Path
    arrays: StoredArrays

    @classmethod
    def found(cls, target: Path, settings: str, arrays: StoredArrays) -> EarlierHops | None:
        """Return kept hops of another graph with the same settings, if there are any."""
        for folder, record in kept_folders(arrays.folder):
            same = record.settings == settings
            if same and folder != target and record.input_digest != arrays.manifest.input_digest:
                return cls(folder, record, target, arrays)
        return None

    @property
    def n_before(self) -> int:
        """Number of nodes of the earlier graph."""
        return self.record.ends[-1]

    def ends(self, cut: RowBlocks, cost: NDArray[Any]) -> NDArray[np.int64]:
        """Return row blocks that are those of the kept hops as far as possible.

        Parameters
        ----------
        cut : RowBlocks
            Blocks as they would be cut anew.
        cost : ndarray of shape (n_nodes + 1,)
            What the rows up to each take.
        """
        n_nodes = self.arrays.manifest.n_nodes
        old = [end for end in self.record.ends if end <= n_nodes]
        if old[-1] < n_nodes:
            last = old[-1] - old[-2] if len(old) > 1 else 0
            room = max(int(np.diff(cut.ends).max()) - last, 0)
            if len(old) > 1 and n_nodes - old[-1] <= room:
                old[-1] = n_nodes
            else:
                old += [end for end in cut.ends.tolist() if end > old[-1]]
        ends = np.array(old, dtype=np.int64)
        largest = np.diff(cost[ends]).max() if len(ends) > 1 else 0
        return ends if largest <= _GROWN * np.diff(cost[cut.ends]).max() else cut.ends

    @cached_property
    def reach(self) -> Reach | None:
        """What the change reaches; None if the graphs cannot be compared."""
        before = self._before()
        manifest = self.arrays.manifest
        if before is None or self.n_before > manifest.n_nodes:
            return None
        ids, node_ids = before["node_ids"], self.arrays.node_ids
        for start in range(0, self.n_before, 2**20):
            some = slice(start, min(start + 2**20, self.n_before))
            if not np.array_equal(ids[some], node_ids[some]):
                return None
        earlier = EarlierNodes.appended(self.n_before, manifest.n_nodes)
        adjacency = self.arrays.adjacency
        edges = changed_edges(_csr(before, "adjacency", self.n_before), adjacency, earlier)
        degrees = None
        if needs_degrees(self.record.normalization):
            blocks = RowBlocks.cut(adjacency.indptr, 0, 2**26)
            old = mapped(self.folder / _GRAPH / "in_degree.npy")
            now = degrees_of(adjacency, blocks, is_symmetric=not manifest.directed)
            degrees = (now, (old, old))
        propagator = changed_propagator(adjacency, edges, degrees, earlier)
        features = self._changed_features(before, earlier)
        if features is None:
            return None
        return Reach(adjacency, features, propagator, self.record.teleport)

    def _before(self) -> dict[str, NDArray[Any]] | None:
        home = self.folder / _GRAPH
        names = {path.name.removesuffix(".npy"): path for path in home.glob("*.npy")}
        try:
            return {name: mapped(path) for name, path in names.items()}
        except IntegrityError:  # damaged: nothing to compare with
            return None

    def _changed_features(
        self, before: dict[str, NDArray[Any]], earlier: EarlierNodes
    ) -> Mask | None:
        """Return which rows of X differ; None if they have other columns."""
        now = self.arrays.features
        files = [name for name in self.arrays.manifest.files if name.split(".")[0] == "features"]
        paths = [self.arrays.manifest.files[name].path(self.arrays.folder, name) for name in files]
        kept = [self.folder / _GRAPH / f"{name}.npy" for name in files]
        if not all(path.is_file() for path in kept):
            return None
        if all(a.samefile(b) for a, b in zip(paths, kept, strict=True)):
            return ~earlier.known  # nobody has written features since
        if isinstance(now, np.ndarray):
            old = before["features"]
        else:
            old = _csr(before, "features", self.n_before, now.shape[1])
        alike = old.dtype == now.dtype and old.shape[1] == now.shape[1]
        return changed_features(old, now, earlier) if alike else None

    def remove(self) -> None:
        """Remove the earlier hops: those of the graph of today have taken their place."""
        (self.folder / RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, rows: list[int], whole: str | None) -> None:
        """Write down what was computed."""
        record = record_of(self.target)
        if record is not None:
            told = {"rows": rows, "whole": whole, "updated": True}
            record.model_copy(update=told).write(self.target)


class RowsToCompute:
    """Which rows of each hop are within reach of a change, hop after hop."""

    def __init__(self, earlier: EarlierHops) -> None:
        self._earlier = earlier
        self._masks: list[Mask] = []
        self.rows: list[int] = []
        self.whole: str | None = None

    def of(self, hop: int) -> Mask | None:
        """Return the rows to compute of a hop; None if all of them are, and of those after it."""
        reach = self._earlier.reach
        if reach is None:
            self.whole = (
                self.whole or "nodes stand in another order, or features have other columns"
            )
            return None
        if not self._masks:
            self._masks.append(reach.features)
            self.rows.append(int(reach.features.sum()))
        while len(self._masks) <= hop and self.whole is None:
            changed = reach.next(self._masks[-1])
            share = reach.share_of_edges(changed)
            if share > WHOLE_ABOVE:
                self.whole = f"{share:.0%} of the edges are within reach of the change"
            else:
                self._masks.append(changed)
        return self._masks[hop] if hop < len(self._masks) else None


def _csr(
    arrays: dict[str, NDArray[Any]], name: str, n_rows: int, n_columns: int | None = None
) -> sparse.csr_array:
    parts = tuple(arrays[f"{name}.{part}"] for part in ("values", "indices", "indptr"))
    shape = (n_rows, n_rows if n_columns is None else n_columns)
    matrix = sparse.csr_array(parts, shape=shape, copy=False)
    matrix.has_canonical_format = True
    return matrix
