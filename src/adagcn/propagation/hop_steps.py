"""The steps that make one block of a hop in files: what a worker, wherever it runs, is given.

A step reads rows of the hop before, computes (:mod:`adagcn.propagation.row_blocks`) and writes a
block, whole or not at all. It can be done again at any time.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.errors import IntegrityError
from adagcn.formats.build_folder import MANIFEST
from adagcn.formats.graph_store import StoredArrays, StoredFile, open_store
from adagcn.graph import Features
from adagcn.propagation.blocks import row_blocks
from adagcn.propagation.cut_rows import CutRows
from adagcn.propagation.mapped_rows import some_rows, take_rows
from adagcn.propagation.row_blocks import (
    HopFiles,
    Room,
    RowBlocks,
    next_rows,
    propagator_rows,
)


@dataclass(frozen=True)
class InputRows:
    """Rows of X as a model wants them, made of the stored ones whenever they are asked for.

    Parameters
    ----------
    store : Path
        The folder of the graph.
    prepare : callable or None
        What is done to rows, each for itself: a function of a module, or a partial of one.
    columns : ndarray or None
        Which feature columns; None for all.
    is_sparse : bool
        Whether rows are given as a sparse matrix.
    digest : str or None
        Of the graph whose rows they are; None: of whatever the store holds.
    """

    store: Path
    prepare: Callable[[Features], Features] | None
    columns: NDArray[np.int64] | None
    is_sparse: bool
    digest: str | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        kind: np.dtype[Any] = self.stored.dtype
        return kind

    def __getitem__(self, nodes: Any) -> Features:
        """Return the rows of some nodes, as a matrix would."""
        return self.rows(nodes)

    @property
    def stored(self) -> Any:
        """The features as they are in the store."""
        return self.arrays.features

    @property
    def arrays(self) -> StoredArrays:
        """The arrays of the store, which must be those of the same graph as ever."""
        arrays = stored_arrays(self.store)
        if self.digest not in (None, arrays.manifest.input_digest):
            raise IntegrityError(
                "AGC-G1912",
                f"the store {str(self.store)!r} was updated while its hops were computed",
                got=arrays.manifest.input_digest,
                fix="open it again with Graph.from_store, and start again",
            )
        return arrays

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns."""
        n_nodes, n_features = self.stored.shape
        return n_nodes, n_features if self.columns is None else len(self.columns)

    def rows(self, nodes: Any, columns: slice = slice(None)) -> Features:
        """Return the rows of some nodes; of dense ones, some columns."""
        if not (self.is_sparse or columns in (slice(None), slice(0, self.shape[1]))):
            return self._some_columns(nodes, columns)
        rows = some_rows(self.stored, nodes)
        if self.prepare is not None:
            rows = self.prepare(rows)
        if self.columns is not None:
            rows = rows[:, self.columns]
        if self.is_sparse:
            return rows
        return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())

    def _some_columns(self, nodes: NDArray[np.int64], columns: slice) -> NDArray[Any]:
        """Return some columns of dense rows; few whole rows are held at a time."""
        n_columns = self.shape[1]
        result = np.empty((len(nodes), len(range(*columns.indices(n_columns)))), dtype=self.dtype)
        stored = self.stored
        is_plain = self.prepare is None and self.columns is None and isinstance(stored, np.ndarray)
        for some in row_blocks(len(nodes), n_columns * 8):
            if is_plain:
                take_rows(stored, nodes[some], columns, result[some])
            else:
                result[some] = self.rows(nodes[some])[:, columns]
        return result


@dataclass(frozen=True)
class StepPlan:
    """All that a worker needs to make any block of any hop.

    Parameters
    ----------
    work : Path
        Where hops are written.
    inputs : InputRows
        X.
    cut : CutRows
        The row blocks of Â.
    teleport : float
        γ.
    """

    work: Path
    inputs: InputRows
    cut: CutRows
    teleport: float

    @property
    def blocks(self) -> RowBlocks:
        """The row blocks."""
        return RowBlocks(self.cut.ends)

    def files(self, hop: int, *, is_sparse: bool) -> HopFiles:
        """Return the files of a hop after the first."""
        folder = self.work / f"hop-{hop:04d}"
        return HopFiles(folder, self.blocks, self.inputs.shape[1], is_sparse)

    @cached_property
    def _read(self) -> dict[tuple[int, bool], HopFiles]:
        return {}

    def before(self, hop: int, *, is_sparse: bool) -> HopFiles:
        """Return the files of the hop before one; their blocks stay open as long as this plan."""
        key = (hop - 1, is_sparse)
        return self._read.setdefault(key, self.files(hop - 1, is_sparse=is_sparse))

    @cached_property
    def room(self) -> Room:
        """Where the rows of a halo are gathered, one block after the other."""
        return Room()

    def for_one_hop(self) -> StepPlan:
        """Return the same plan for the steps of one hop: with it goes what they keep open."""
        return replace(self)


@dataclass(frozen=True)
class HopRows:
    """The rows of a hop, for any process to read.

    Parameters
    ----------
    plan : StepPlan
        Where they are.
    hop : int
        Which hop.
    is_sparse : bool
        How it is kept.
    """

    plan: StepPlan
    hop: int
    is_sparse: bool

    def rows(self, nodes: Any) -> Features:
        """Return the rows of some nodes."""
        n_nodes = self.plan.inputs.shape[0]
        places = np.arange(n_nodes)[nodes] if isinstance(nodes, slice) else np.asarray(nodes)
        if self.hop == 0:
            return self.plan.inputs.rows(places)
        return self.plan.files(self.hop, is_sparse=self.is_sparse).gathered(places)


@dataclass(frozen=True)
class Step:
    """One block of one hop; ``from_sparse`` says how the hop before it is kept."""

    hop: int
    block: int
    from_sparse: bool

    def __str__(self) -> str:
        """Return what people call it."""
        return f"block {self.block} of hop {self.hop}"


@dataclass(frozen=True)
class Done:
    """What a step has written, on which machine, and how many rows of the hop before it has read.

    A journal of an earlier version does not tell the last two.
    """

    files: dict[str, StoredFile]
    n_stored: int
    n_read: int = 0
    host: str = field(default_factory=socket.gethostname)


def make_block(step: Step, plan: StepPlan) -> Done:
    """Make a block of the hop after another, and write it."""
    arrays = plan.inputs.arrays
    rows = plan.blocks.rows(step.block)
    propagator, halo = plan.cut.block(step.block, arrays.adjacency)
    if step.hop == 1:

        def gather(columns: slice) -> Features:
            return plan.inputs.rows(halo, columns)
    else:
        before = plan.before(step.hop, is_sparse=step.from_sparse)

        def gather(columns: slice) -> Features:
            return before.halo_rows(halo, columns, plan.room)

    own = plan.inputs.rows(rows) if plan.teleport else None
    made = next_rows(propagator, gather, plan.inputs.shape[1], own, plan.teleport)
    files = plan.files(step.hop, is_sparse=not isinstance(made, np.ndarray))
    n_stored = made.size if isinstance(made, np.ndarray) else made.nnz
    return Done(files.write(step.block, made), int(n_stored), len(halo))


@dataclass(frozen=True)
class Patch:
    """One block of a dense hop of which some rows are kept and the others, ``nodes``, are not."""

    hop: int
    block: int
    nodes: NDArray[np.int64]
    kept: HopFiles

    def __str__(self) -> str:
        """Return what people call it."""
        return f"block {self.block} of hop {self.hop}"


def patch_block(step: Patch, plan: StepPlan) -> Done:
    """Make the rows of a block that differ from kept ones, and write the block whole."""
    arrays, rows = plan.inputs.arrays, plan.blocks.rows(step.block)
    propagator, halo = propagator_rows(
        arrays.adjacency, step.nodes, plan.cut.degrees(), plan.cut.normalization, plan.cut.dtype
    )

    def gather(columns: slice) -> Features:
        if step.hop == 1:
            return plan.inputs.rows(halo, columns)
        return plan.before(step.hop, is_sparse=False).halo_rows(halo, columns)

    own = plan.inputs.rows(step.nodes) if plan.teleport else None
    made = next_rows(propagator, gather, plan.inputs.shape[1], own, plan.teleport)
    assert isinstance(made, np.ndarray)
    whole = np.empty((rows.stop - rows.start, made.shape[1]), dtype=made.dtype)
    is_kept = np.ones(len(whole), dtype=bool)
    is_kept[step.nodes - rows.start] = False
    whole[~is_kept] = made
    whole[is_kept] = step.kept.gathered(rows.start + np.flatnonzero(is_kept))
    written = plan.files(step.hop, is_sparse=False).write(step.block, whole)
    return Done(written, int(whole.size), len(halo))


def make_dense(step: Step, plan: StepPlan) -> Done:
    """Write a sparse block of a hop as a dense one."""
    rows = plan.files(step.hop, is_sparse=True).read(step.block)
    assert not isinstance(rows, np.ndarray)
    dense = rows.toarray()
    return Done(plan.files(step.hop, is_sparse=False).write(step.block, dense), int(dense.size))


def stored_arrays(store: Path) -> StoredArrays:
    """Return the arrays of a store, opened once in every process, and again if it was replaced."""
    return _opened(store, _stamp(store / MANIFEST))


@lru_cache(maxsize=8)
def _opened(store: Path, stamp: tuple[int, ...]) -> StoredArrays:
    return open_store(store)


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what tells a file from another one that took its name."""
    try:
        found = path.stat()
    except OSError:  # whoever opens it says what is wrong
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
