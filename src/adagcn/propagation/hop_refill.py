"""Hops of a changed graph from kept ones of an earlier one: blocks that are linked or patched."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adagcn.engines import current_engine
from adagcn.propagation.hop_journal import JOURNAL, Journal
from adagcn.propagation.hop_steps import Done, Patch, Step, StepPlan, patch_block
from adagcn.propagation.kept_files import EarlierHops, RowsToCompute
from adagcn.propagation.row_blocks import HopFiles


class Refill:
    """Fills hops with what is still right of the kept hops of an earlier graph.

    Parameters
    ----------
    earlier : EarlierHops
        What is kept.
    to_compute : RowsToCompute
        What is no longer right of it.
    """

    def __init__(self, earlier: EarlierHops, to_compute: RowsToCompute) -> None:
        self._earlier, self._to_compute = earlier, to_compute
        self._ends = np.array(earlier.record.ends, dtype=np.int64)

    def fill(self, plan: StepPlan, number: int, journal: Journal, *, is_sparse: bool) -> None:
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
        patches: list[Patch] = []
        for block in range(len(plan.blocks)) if there is not None else ():
            rows = plan.blocks.rows(block)
            nodes = rows.start + np.flatnonzero(changed[rows])
            n_rows += len(nodes)
            if block in journal.whole():
                continue
            twin = _block_of(self._ends, rows)
            if there is not None and twin is not None and not len(nodes):
                done = _linked(there.done(twin), kept, plan.files(number, is_sparse=False), block)
                journal.add(Step(number, block, False), done, is_linked=True)
            else:
                patches.append(Patch(number, block, nodes, kept))
        if patches:
            current_engine().map(
                patch_block,
                patches,
                plan.for_one_hop(),
                on_result=lambda i, done: journal.add(Step(number, patches[i].block, False), done),
            )
        to_compute.rows += [0] * (number - len(to_compute.rows))  # hops that were left by a kill
        to_compute.rows.append(n_rows)
        self._tell()

    def _whole(self, before: StepPlan, number: int) -> Journal | None:
        """Return the journal of a kept hop if it is there, dense and not damaged."""
        if not (before.work / f"hop-{number:04d}" / JOURNAL).is_file():
            return None
        journal = Journal(before, number)
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


def _linked(done: Done, kept: HopFiles, files: HopFiles, block: int) -> Done:
    """Let a block be the file of a kept one, whose digest was just found to be right."""
    ((old, file),), (new,) = done.files.items(), files.names(block)
    path = files.folder / new
    path.unlink(missing_ok=True)
    try:
        os.link(kept.folder / old, path)
    except OSError:  # a file system that knows no links
        shutil.copyfile(kept.folder / old, path)
    return Done({new: file}, done.n_stored)
