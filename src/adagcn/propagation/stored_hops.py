"""Hops in files, block by block, for a graph whose features do not fit into memory.

A :class:`StoredHop` is a :class:`~adagcn.propagation.hops.Hop` whose rows are in a folder. The next
hop is made by an engine, a block at a time (:mod:`adagcn.propagation.row_blocks`). What is finished
is written down, so that after a kill the hop in work needs only the blocks that are missing; a
block whose file is damaged is made again. A hop is deleted when the next one is complete.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import socket
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import count
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from adagcn.engines import current_engine
from adagcn.errors import IntegrityError
from adagcn.formats.build_folder import MANIFEST, is_held, make_folder
from adagcn.formats.graph_store import (
    StoredArrays,
    StoredFile,
    open_store,
)
from adagcn.graph import Features
from adagcn.propagation.blocks import root_mean_square, row_blocks, used_up
from adagcn.propagation.cut_rows import CutRows
from adagcn.propagation.hops import DENSE_ABOVE
from adagcn.propagation.kept_files import (
    RECORD,
    EarlierHops,
    KeptFiles,
    KeptRecord,
    RowsToCompute,
    keep_folder,
    record_of,
)
from adagcn.propagation.normalize import Normalization
from adagcn.propagation.row_blocks import (
    HopFiles,
    Room,
    RowBlocks,
    next_rows,
    propagator_rows,
    take_rows,
)

BLOCK_BYTES = 2**26  # of a block's rows and of its part of Â
JOURNAL = "blocks.jsonl"

logger = logging.getLogger("adagcn")


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
        arrays = _arrays(self.store)
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
        rows = self.stored[nodes]
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
class _Step:
    """One block of one hop; ``from_sparse`` says how the hop before it is kept."""

    hop: int
    block: int
    from_sparse: bool


@dataclass(frozen=True)
class _Done:
    """What a step has written, on which machine, and how many rows of the hop before it has read.

    A journal of an earlier version does not tell the last two.
    """

    files: dict[str, StoredFile]
    n_stored: int
    n_read: int = 0
    host: str = field(default_factory=socket.gethostname)


def make_block(step: _Step, plan: StepPlan) -> _Done:
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
    return _Done(files.write(step.block, made), int(n_stored), len(halo))


@dataclass(frozen=True)
class _Patch:
    """One block of a dense hop of which some rows are kept and the others, ``nodes``, are not."""

    hop: int
    block: int
    nodes: NDArray[np.int64]
    kept: HopFiles


def patch_block(step: _Patch, plan: StepPlan) -> _Done:
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
    return _Done(written, int(whole.size), len(halo))


def make_dense(step: _Step, plan: StepPlan) -> _Done:
    """Write a sparse block of a hop as a dense one."""
    rows = plan.files(step.hop, is_sparse=True).read(step.block)
    assert not isinstance(rows, np.ndarray)
    dense = rows.toarray()
    return _Done(plan.files(step.hop, is_sparse=False).write(step.block, dense), int(dense.size))


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
        kind: np.dtype[Any] = _arrays(self.store).features.dtype
        return kind

    @cached_property
    def _places(self) -> weakref.WeakSet[Workplace]:
        """Where streams are at work."""
        return weakref.WeakSet()

    @cached_property
    def key(self) -> str:
        """What all hops depend on besides the store, in a few letters: the name of a folder."""
        return self._letters(_arrays(self.store).manifest.input_digest)

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
        arrays = _arrays(self.store)
        digest = arrays.manifest.input_digest
        is_sparse = self._stays_sparse(arrays)
        inputs = InputRows(self.store, self.prepare, self.columns, is_sparse, digest)
        # Rounded up to a power of two: streams of about as many columns share their blocks of Â.
        row_bytes = 1 << (inputs.shape[1] * self.dtype.itemsize - 1).bit_length()
        place = Workplace(self.store / "hops" / self.key)
        self._places.add(place)
        blocks, earlier = RowBlocks.cut(arrays.adjacency.indptr, row_bytes, BLOCK_BYTES), None
        if place.folder.name == self.key:  # not that of a second stream at the same time
            earlier = EarlierHops.found(place.folder, self.settings_key, arrays)
            cost = np.arange(inputs.shape[0] + 1) * row_bytes + 12 * arrays.adjacency.indptr
            blocks = self._kept_blocks(blocks, cost, place.folder, earlier, is_kept)
        place.refill = None if earlier is None else _Refill(earlier)
        cut = CutRows.of(arrays, blocks, self.normalization, self.dtype.str)
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
        arrays = _arrays(self.store)
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
        n_columns: int = _arrays(self.store).features.shape[1]
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


class Workplace:
    """The folder of one stream of hops, which no other stream may use at the same time.

    It is removed when the last hop of the stream is gone, unless its hops are kept. A process that
    is killed leaves it, and the next stream with the same settings goes on with what is finished.
    """

    def __init__(self, folder: Path) -> None:
        self.refill: _Refill | None = None
        self.folder, self._lock = _claimed(folder)
        self._end = weakref.finalize(self, _leave, self.folder, self._lock)
        self._end.atexit = False

    def keep(self) -> None:
        """Leave what is finished to the next stream, as a process that is killed does."""
        if self._end.detach() is not None:
            self._lock.close()


def _claimed(folder: Path) -> tuple[Path, IO[bytes]]:
    """Return a folder that nobody else is at work in, and what keeps it so."""
    for number in count():
        mine = folder if number == 0 else folder.with_name(f"{folder.name}-{number}")
        make_folder(mine)
        lock = _locked(mine / "lock")
        if lock is not None:
            return mine, lock
    raise AssertionError("numbers do not end")


def _locked(path: Path) -> IO[bytes] | None:
    """Return an open file that this process alone holds; None if another one does."""
    handle = path.open("ab")
    if is_held(handle):
        return handle
    handle.close()
    return None


def _leave(folder: Path, lock: IO[bytes]) -> None:
    if not _is_kept(folder):
        shutil.rmtree(folder, ignore_errors=True)
    lock.close()


def _is_kept(folder: Path) -> bool:
    return (folder / RECORD).is_file()


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
        journal = _Journal(plan, number)
        refill = self._place.refill
        if refill is not None:
            refill.fill(plan, number, journal, is_sparse=self._is_sparse)
        steps = [
            _Step(number, block, self._is_sparse)
            for block in range(len(plan.blocks))
            if block not in journal.whole()
        ]
        journal.tell()
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
        if self.number and not _is_kept(plan.work):
            shutil.rmtree(plan.work / f"hop-{self.number:04d}", ignore_errors=True)
        return made

    def newest_left(self, most: int) -> StoredHop:
        """Return the newest hop up to ``most`` that a killed stream has left whole, else this."""
        for number in range(most, self.number, -1):
            if (self._plan.work / f"hop-{number:04d}" / JOURNAL).is_file():
                journal = _Journal(self._plan, number)
                if len(journal.whole()) == len(self._plan.blocks):
                    journal.tell()
                    return self._complete(number, journal)
        return self

    def _complete(self, number: int, journal: _Journal) -> StoredHop:
        """Return a hop of which all blocks are there, in the cheaper form."""
        is_sparse = self._is_sparse and not journal.is_dense()
        if is_sparse and journal.n_stored() > DENSE_ABOVE * self.shape[0] * self.shape[1]:
            self._make_dense(number, journal)
            is_sparse = False
        return StoredHop(self._plan, number, is_sparse, self._place)

    def _make_dense(self, number: int, journal: _Journal) -> None:
        steps = [_Step(number, block, True) for block in range(len(self._plan.blocks))]
        done: dict[int, _Done] = {}
        current_engine().map(make_dense, steps, self._plan, on_result=done.__setitem__)
        sparse_files = self._plan.files(number, is_sparse=True)
        journal.replace([done[block] for block in range(len(steps))])
        for block in range(len(steps)):
            for name in sparse_files.names(block):
                (sparse_files.folder / name).unlink(missing_ok=True)


class _Refill:
    """Fills hops with what is still right of the kept hops of an earlier graph."""

    def __init__(self, earlier: EarlierHops) -> None:
        self._earlier, self._to_compute = earlier, RowsToCompute(earlier)
        self._ends = np.array(earlier.record.ends, dtype=np.int64)

    def fill(self, plan: StepPlan, number: int, journal: _Journal, *, is_sparse: bool) -> None:
        """Link or patch the blocks of a hop that need not be made anew."""
        to_compute = self._to_compute
        changed = to_compute.of(number)
        if changed is None:
            self._tell()
            return
        before = replace(plan, work=self._earlier.folder, cut=replace(plan.cut, ends=self._ends))
        kept = before.files(number, is_sparse=False)
        there = None if is_sparse else self._whole(before, number)
        n_rows = len(changed) if there is None else 0
        patches: list[_Patch] = []
        for block in range(len(plan.blocks)) if there is not None else ():
            rows = plan.blocks.rows(block)
            nodes = rows.start + np.flatnonzero(changed[rows])
            n_rows += len(nodes)
            if block in journal.whole():
                continue
            twin = _block_of(self._ends, rows)
            if there is not None and twin is not None and not len(nodes):
                done = _linked(there.done(twin), kept, plan.files(number, is_sparse=False), block)
                journal.add(_Step(number, block, False), done)
            else:
                patches.append(_Patch(number, block, nodes, kept))
        if patches:
            current_engine().map(
                patch_block,
                patches,
                plan.for_one_hop(),
                on_result=lambda i, done: journal.add(_Step(number, patches[i].block, False), done),
            )
        to_compute.rows += [0] * (number - len(to_compute.rows))  # hops that were left by a kill
        to_compute.rows.append(n_rows)
        self._tell()

    def _whole(self, before: StepPlan, number: int) -> _Journal | None:
        """Return the journal of a kept hop if it is there, dense and not damaged."""
        if not (before.work / f"hop-{number:04d}" / JOURNAL).is_file():
            return None
        journal = _Journal(before, number)
        is_whole = len(journal.whole()) == len(before.blocks) and journal.is_dense()
        return journal if is_whole else None

    def _tell(self) -> None:
        self._earlier.tell(self._to_compute.rows, self._to_compute.whole)

    def is_last(self, number: int) -> bool:
        """Return whether no later hop is kept."""
        return not (self._earlier.folder / f"hop-{number + 1:04d}").exists()

    def end(self) -> None:
        """Remove the earlier hops: all of them have followed."""
        self._earlier.remove()


def _block_of(ends: NDArray[np.int64], rows: slice) -> int | None:
    """Return the block with just these rows, if there is one."""
    place = int(np.searchsorted(ends, rows.start))
    there = place + 1 < len(ends) and ends[place] == rows.start and ends[place + 1] == rows.stop
    return place if there else None


def _linked(done: _Done, kept: HopFiles, files: HopFiles, block: int) -> _Done:
    """Let a block be the file of a kept one, whose digest was just found to be right."""
    ((old, file),), (new,) = done.files.items(), files.names(block)
    path = files.folder / new
    path.unlink(missing_ok=True)
    try:
        os.link(kept.folder / old, path)
    except OSError:  # a file system that knows no links
        shutil.copyfile(kept.folder / old, path)
    return _Done({new: file}, done.n_stored)


class _Journal:
    """Which blocks of a hop are finished: a line each, written when the block is."""

    def __init__(self, plan: StepPlan, hop: int) -> None:
        self._plan, self._hop = plan, hop
        self._folder = plan.work / f"hop-{hop:04d}"
        make_folder(self._folder)
        self._done = self._read()

    def _read(self) -> dict[int, _Done]:
        path = self._folder / JOURNAL
        done: dict[int, _Done] = {}
        for line in path.read_text("utf-8").splitlines() if path.is_file() else []:
            try:
                said = json.loads(line)
                files = {n: StoredFile.model_validate(f) for n, f in said["files"].items()}
                more = {name: said[name] for name in ("n_read", "host") if name in said}
                done[int(said["block"])] = _Done(files, int(said["n_stored"]), **more)
            except (ValueError, KeyError, TypeError):
                continue  # the last line of a driver that died while writing
        return {block: each for block, each in done.items() if self._is_whole(block, each)}

    def _is_whole(self, block: int, done: _Done) -> bool:
        return any(
            self._plan.files(self._hop, is_sparse=kind).is_whole(block, done.files)
            for kind in (True, False)
        )

    def tell(self) -> None:
        """Log how many blocks of the hop are there, before the others are made."""
        facts = {"hop": self._hop, "found": len(self._done), "blocks": len(self._plan.blocks)}
        said = "hop %(hop)d: %(found)d of %(blocks)d blocks are there"
        logger.info(said, {"event": "hop", **facts})

    def whole(self) -> set[int]:
        """Return the blocks that are there, as they were written."""
        return set(self._done)

    def is_dense(self) -> bool:
        """Return whether the blocks are dense."""
        return all(len(each.files) == 1 for each in self._done.values())

    def done(self, block: int) -> _Done:
        """Return what was written of a block."""
        return self._done[block]

    def n_stored(self) -> int:
        """Return how many values are stored in all."""
        return sum(each.n_stored for each in self._done.values())

    def add(self, step: _Step, done: _Done) -> None:
        """Write down that a block is finished."""
        self._done[step.block] = done
        with (self._folder / JOURNAL).open("a", encoding="utf-8") as handle:
            handle.write(_line(step.block, done))
        facts = {"hop": step.hop, "block": step.block, "rows_read": done.n_read, "host": done.host}
        logger.debug("block %(block)d of hop %(hop)d is made", {"event": "block", **facts})

    def replace(self, done: list[_Done]) -> None:
        """Write down blocks that take the place of all others."""
        self._done = dict(enumerate(done))
        lines = "".join(_line(block, each) for block, each in self._done.items())
        (self._folder / JOURNAL).write_text(lines, encoding="utf-8")


def _line(block: int, done: _Done) -> str:
    files = {name: file.model_dump() for name, file in done.files.items()}
    facts = {"n_stored": done.n_stored, "n_read": done.n_read, "host": done.host}
    return json.dumps({"block": block, **facts, "files": files}) + "\n"


def _arrays(store: Path) -> StoredArrays:
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
