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
from adagcn.formats.build_folder import COPY_STORE, KEPT_HOPS, make_folder
from adagcn.formats.graph_store import ArrayParts, StoredArrays, mapped, write_array
from adagcn.propagation.changed_rows import (
    Degrees,
    EarlierNodes,
    HopCosts,
    HopUpdate,
    Mask,
    Reach,
    UpdatePlan,
    changed_edges,
    changed_features,
    changed_propagator,
    needs_degrees,
)
from adagcn.propagation.cut_rows import CutRows
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.row_blocks import RowBlocks, degrees_of

# Costs for each value of A + I, in multiplications of a hop that is computed whole: it takes one
# for each column. Measured with 4 million values and 64 columns on one thread.
_PATCHED = 2.0  # in a row that is computed for itself; kept rows of its block are written again
_CUT = 64.0  # cutting the rows of Â into files, before the first hop that is computed whole
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

    @property
    def last_update(self) -> HopUpdate | None:
        """What had to be computed of them; None if they follow no other ones."""
        return HopUpdate(self.ends[-1], tuple(self.rows), self.whole) if self.updated else None

    def write(self, folder: Path) -> None:
        """Write it to a folder of hops, which stays from then on."""
        write_bytes(folder / KEPT_HOPS, self.model_dump_json(indent=1).encode())


def record_of(folder: Path) -> KeptRecord | None:
    """Return the record of a folder of hops; None if they are not kept."""
    try:
        return KeptRecord.model_validate_json((folder / KEPT_HOPS).read_bytes())
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
        return max(found, key=lambda each: (each[0] / KEPT_HOPS).stat().st_mtime_ns, default=None)

    @property
    def n_bytes(self) -> int:
        """Bytes of the disk that the hops take."""
        found = self._newest
        return 0 if found is None else sum(f.stat().st_size for f in found[0].glob("hop-*/*.npy"))

    @property
    def last_update(self) -> HopUpdate | None:
        """What had to be computed when the store was last updated; None if it never was."""
        found = self._newest
        return None if found is None else found[1].last_update

    def updated(self, source: Any, node_ids: Any) -> Any:
        """Return the hops of a graph in memory as they are: what is kept is of a store."""
        return source


def drop_kept(store: Path) -> int:
    """Remove the kept hops of a store; return the bytes that they took."""
    n_bytes = 0
    for folder, _ in [*kept_folders(store)]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        n_bytes += sum(path.stat().st_size for path in files if path.stat().st_nlink == 1)
        (folder / KEPT_HOPS).unlink(missing_ok=True)
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

    @property
    def n_hops(self) -> int:
        """Number of kept hops after the features."""
        return len([*self.folder.glob("hop-*")])

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

    def reach(self, degrees: Degrees) -> Reach | None:
        """Return what the change reaches; None if the graphs cannot be compared.

        Parameters
        ----------
        degrees : (ndarray, ndarray) of shape (n_nodes,)
            Row and column sums of A + I, as it is now.
        """
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
        both = None
        if needs_degrees(self.record.normalization):
            old = mapped(self.folder / _GRAPH / "in_degree.npy")
            both = (degrees, (old, old))
        propagator = changed_propagator(adjacency, edges, both, earlier)
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
        (self.folder / KEPT_HOPS).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, rows: list[int], whole: str | None) -> None:
        """Write down what was computed."""
        record = record_of(self.target)
        if record is not None:
            told = {"rows": rows, "whole": whole, "updated": True}
            record.model_copy(update=told).write(self.target)


class RowsToCompute:
    """Which rows of each hop are within reach of a change, hop after hop.

    Parameters
    ----------
    earlier : EarlierHops
        What is kept.
    n_columns : int
        Columns of the hops.
    cut : CutRows
        The rows of Â, as it is now.
    """

    def __init__(self, earlier: EarlierHops, n_columns: int, cut: CutRows) -> None:
        self._earlier, self._n_columns, self._cut = earlier, n_columns, cut
        self.rows: list[int] = []
        self.whole: str | None = None

    @cached_property
    def _plan(self) -> UpdatePlan | None:
        """What to patch, if anything that is kept can be used."""
        reach = self._earlier.reach(self._cut.degrees())
        if reach is None:
            return None
        n_hops, width = self._earlier.n_hops, float(self._n_columns)
        costs = HopCosts((_PATCHED * width,) * n_hops, (width,) * n_hops, _CUT)
        return UpdatePlan.cheapest(reach, costs)

    def of(self, hop: int) -> Mask | None:
        """Return the rows to compute of a hop; None if all of them are, and of those after it."""
        plan = self._plan
        if plan is None:
            self.whole = "nodes stand in another order, or features have other columns"
            return None
        if not self.rows:
            self.rows.append(int(plan.changed[0].sum()))
        if hop > plan.n_patched:
            self.whole = plan.reason
            return None
        return plan.changed[hop]


def _csr(
    arrays: dict[str, NDArray[Any]], name: str, n_rows: int, n_columns: int | None = None
) -> sparse.csr_array:
    parts = tuple(arrays[f"{name}.{part}"] for part in ("values", "indices", "indptr"))
    shape = (n_rows, n_rows if n_columns is None else n_columns)
    matrix = sparse.csr_array(parts, shape=shape, copy=False)
    matrix.has_canonical_format = True
    return matrix
