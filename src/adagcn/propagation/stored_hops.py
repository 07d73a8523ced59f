"""Hops in files, block by block, for a graph whose features do not fit into memory.

A :class:`StoredHop` is a :class:`~adagcn.propagation.hops.Hop` whose rows are in a folder. The next
hop is made by an engine, a block at a time (:mod:`adagcn.propagation.hop_steps`). What is finished
is written down (:mod:`adagcn.propagation.hop_journal`), so that after a kill the hop in work needs
only the blocks that are missing; a block whose file is damaged is made again. A hop is deleted when
the next one is complete, unless later streams of the same command may use it
(:func:`adagcn.propagation.hop_workplace.hops_shared`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.engines import current_engine
from adagcn.formats.graph_store import StoredArrays
from adagcn.graph import Features
from adagcn.propagation.blocks import root_mean_square, row_blocks, used_up
from adagcn.propagation.cut_rows import CutRows
from adagcn.propagation.hop_journal import JOURNAL, Journal
from adagcn.propagation.hop_refill import Refill
from adagcn.propagation.hop_steps import (
    Done,
    HopRows,
    InputRows,
    Step,
    StepPlan,
    make_block,
    make_dense,
    stored_arrays,
)
from adagcn.propagation.hop_workplace import Workplace
from adagcn.propagation.hops import DENSE_ABOVE
from adagcn.propagation.kept_files import (
    EarlierHops,
    KeptFiles,
    KeptRecord,
    RowsToCompute,
    keep_folder,
    record_of,
)
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.row_blocks import RowBlocks

BLOCK_BYTES = 2**26  # of a block's rows and of its part of Â


@dataclass(frozen=True)
class StoredSource:
    """Hops of a graph in a store; a :class:`~adagcn.propagation.source.HopSource`.

    Parameters
    ----------
    store : Path
        The folder of the graph.
    prepare : callable or None
        What is done to rows of its features, as for :class:`InputRows`.
    named : str
        What ``prepare`` does, so that hops of other features never meet.
    columns : ndarray or None
        Which feature columns; None for all.
    normalization : {"symmetric", "random_walk"}
        How A becomes Â.
    teleport : float in [0, 1)
        γ.
    """

    store: Path
    prepare: Callable[[Features], Features] | None
    named: str
    columns: NDArray[np.int64] | None
    normalization: Normalization = "symmetric"
    teleport: float = 0.0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the features."""
        kind: np.dtype[Any] = stored_arrays(self.store).features.dtype
        return kind

    @cached_property
    def _places(self) -> weakref.WeakSet[Workplace]:
        """Where streams are at work."""
        return weakref.WeakSet()

    @cached_property
    def key(self) -> str:
        """What all hops depend on besides the store, in a few letters: the name of a folder."""
        return self._letters(stored_arrays(self.store).manifest.input_digest)

    @cached_property
    def settings_key(self) -> str:
        """The same of all graphs that the store held: which kept hops may be of use."""
        return self._letters("")

    def _letters(self, digest: str) -> str:
        columns = b"" if self.columns is None else self.columns.astype("<i8").tobytes()
        facts = [self.named, self.normalization, self.teleport, str(self.dtype), BLOCK_BYTES]
        said = json.dumps(facts)
        return hashlib.sha256(f"{digest} {said}".encode() + columns).hexdigest()[:16]

    def first(self) -> StoredHop:
        """Return hop 0, which is the stored features themselves."""
        return self._first(is_kept=False)

    def keep_hops(self, n_hops: int) -> KeptFiles:
        """Compute the first hops and let them stay in the store."""
        hop = self._first(is_kept=True)
        for _ in range(1, n_hops):
            hop = hop.next()
        return KeptFiles(self.store, self.settings_key)

    def _first(self, *, is_kept: bool) -> StoredHop:
        arrays = stored_arrays(self.store)
        digest = arrays.manifest.input_digest
        is_sparse = self._stays_sparse(arrays)
        inputs = InputRows(self.store, self.prepare, self.columns, is_sparse, digest)
        # Rounded up to a power of two: streams of about as many columns share their blocks of Â.
        row_bytes = 1 << (inputs.shape[1] * self.dtype.itemsize - 1).bit_length()
        hop_bytes = inputs.shape[0] * inputs.shape[1] * self.dtype.itemsize
        place = Workplace(self.store / "hops" / self.key, hop_bytes)
        self._places.add(place)
        blocks, earlier = RowBlocks.cut(arrays.adjacency.indptr, row_bytes, BLOCK_BYTES), None
        if place.folder.name == self.key:  # not that of a second stream at the same time
            earlier = EarlierHops.found(place.folder, self.settings_key, arrays)
            cost = np.arange(inputs.shape[0] + 1) * row_bytes + 12 * arrays.adjacency.indptr
            blocks = self._kept_blocks(blocks, cost, place.folder, earlier, is_kept)
        cut = CutRows.of(arrays, blocks, self.normalization, self.dtype.str)
        if earlier is not None:
            place.refill = Refill(earlier, RowsToCompute(earlier, inputs.shape[1], cut))
        plan = StepPlan(place.folder, inputs, cut, self.teleport)
        return StoredHop(plan, 0, inputs.is_sparse, place)

    def _kept_blocks(
        self,
        cut: RowBlocks,
        cost: NDArray[Any],
        folder: Path,
        earlier: EarlierHops | None,
        is_kept: bool,
    ) -> RowBlocks:
        """Return the blocks of hops that are kept, or that follow kept ones of an earlier graph."""
        record = record_of(folder)
        if record is not None:
            return RowBlocks(np.array(record.ends, dtype=np.int64))
        if earlier is None and not is_kept:
            return cut
        arrays = stored_arrays(self.store)
        ends = cut.ends if earlier is None else earlier.ends(cut, cost)
        if earlier is not None or not np.array_equal(ends, cut.ends):
            for left in folder.glob("hop-*"):  # of a stream with other blocks
                shutil.rmtree(left, ignore_errors=True)
        record = KeptRecord(
            settings=self.settings_key,
            input_digest=arrays.manifest.input_digest,
            ends=ends.tolist(),
            normalization=self.normalization,
            teleport=self.teleport,
        )
        keep_folder(folder, arrays, record)
        return RowBlocks(ends)

    @property
    def n_columns(self) -> int:
        """Number of columns of every hop."""
        n_columns: int = stored_arrays(self.store).features.shape[1]
        return n_columns if self.columns is None else len(self.columns)

    def keep(self) -> None:
        """Leave the files of streams that have not ended, for later ones to go on with."""
        for place in self._places:
            place.keep()

    def at(self, number: int) -> StoredHop:
        """Return a hop, made from the newest one before it that a killed stream has left whole."""
        hop = self.first().newest_left(number)
        while hop.number < number:
            hop = hop.next()
        return hop

    def _stays_sparse(self, arrays: StoredArrays) -> bool:
        """Return whether hop 0 is the cheaper sparse, as :func:`hops.in_cheaper_form` decides."""
        features = arrays.features
        if isinstance(features, np.ndarray):
            return False
        n_stored, n_columns = features.nnz, features.shape[1]
        if self.columns is not None:
            wanted = np.zeros(n_columns, dtype=bool)
            wanted[self.columns] = True
            n_stored = int(np.count_nonzero(wanted[features.indices]))
            n_columns = len(self.columns)
        return bool(n_stored <= DENSE_ABOVE * features.shape[0] * n_columns)


class StoredHop:
    """A hop in files; a :class:`~adagcn.propagation.hops.Hop`.

    Parameters
    ----------
    plan : StepPlan
        What leads to the next hop.
    number : int
        Which hop.
    is_sparse : bool
        How it is kept.
    place : Workplace
        Where its stream is at work.
    """

    def __init__(self, plan: StepPlan, number: int, is_sparse: bool, place: Workplace) -> None:
        self._plan = plan
        self._place = place
        self.number = number
        self._is_sparse = is_sparse
        self._used_up = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of features."""
        return self._plan.inputs.shape

    def rows(self, nodes: Any) -> Features:
        """Return the rows of some nodes."""
        return self.readable().rows(nodes)

    def readable(self) -> HopRows:
        """Return what reads the rows in any process, until the next hop is asked for."""
        if self._used_up:
            raise used_up()
        return HopRows(self._plan, self.number, self._is_sparse)

    def blocks(self) -> Iterator[Features]:
        """Yield all rows in the order of the nodes, some at a time."""
        n_nodes, n_columns = self.shape
        return (self.rows(some) for some in row_blocks(n_nodes, n_columns * 8))

    def size(self) -> float:
        """Return the root of the mean squared Euclidean norm of the rows."""
        parts = [
            root_mean_square([rows if isinstance(rows, np.ndarray) else rows.data], 1)
            for rows in self.blocks()
        ]
        return float(np.hypot.reduce(parts) / np.sqrt(self.shape[0]))

    def next(self) -> StoredHop:
        """Return the next hop; blocks that are there already, whole, are not made again."""
        if self._used_up:
            raise used_up()
        number, plan = self.number + 1, self._plan
        journal = Journal(plan, number)
        journal.tell()
        refill = self._place.refill
        if refill is not None:
            refill.fill(plan, number, journal, is_sparse=self._is_sparse)
        steps = [
            Step(number, block, self._is_sparse)
            for block in range(len(plan.blocks))
            if block not in journal.whole()
        ]
        if steps:
            current_engine().map(
                make_block,
                steps,
                plan.for_one_hop(),
                on_result=lambda i, done: journal.add(steps[i], done),
            )
        made = self._complete(number, journal)
        self._used_up = True
        if refill is not None and refill.is_last(number):
            refill.end()
            self._place.refill = None
        if self.number and not self._place.keeps_hops:
            shutil.rmtree(plan.work / f"hop-{self.number:04d}", ignore_errors=True)
        return made

    def newest_left(self, most: int) -> StoredHop:
        """Return the newest hop up to ``most`` that a killed stream has left whole, else this."""
        for number in range(most, self.number, -1):
            if (self._plan.work / f"hop-{number:04d}" / JOURNAL).is_file():
                journal = Journal(self._plan, number)
                if len(journal.whole()) == len(self._plan.blocks):
                    journal.tell()
                    return self._complete(number, journal)
        return self

    def _complete(self, number: int, journal: Journal) -> StoredHop:
        """Return a hop of which all blocks are there, in the cheaper form."""
        is_sparse = self._is_sparse and not journal.is_dense()
        if is_sparse and journal.n_stored() > DENSE_ABOVE * self.shape[0] * self.shape[1]:
            self._make_dense(number, journal)
            is_sparse = False
        return StoredHop(self._plan, number, is_sparse, self._place)

    def _make_dense(self, number: int, journal: Journal) -> None:
        steps = [Step(number, block, True) for block in range(len(self._plan.blocks))]
        done: dict[int, Done] = {}
        current_engine().map(make_dense, steps, self._plan, on_result=done.__setitem__)
        sparse_files = self._plan.files(number, is_sparse=True)
        journal.replace([done[block] for block in range(len(steps))])
        for block in range(len(steps)):
            for name in sparse_files.names(block):
                (sparse_files.folder / name).unlink(missing_ok=True)
