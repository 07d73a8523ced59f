"""The votes of an ensemble in files, block by block: how a graph in a store is predicted.

A block of nodes has the sum F = Σ_l c_l v_l of the layers so far (:mod:`adagcn.boosting.samme`) in
a file that is named after the last of them. A step reads the sum before a layer and writes the one
after it under its own name, whole or not at all: whoever dies, it can be done again, and it never
counts a layer twice. What is finished is found by the names, so that after a kill only the steps
that are missing are done.
"""

from __future__ import annotations

import hashlib
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting.fit_state import BoostedLayer
from adagcn.boosting.hop_boosting import FittedLearner
from adagcn.boosting.samme import NO_VOTES, Combination, CombinedVotes
from adagcn.engines import current_engine
from adagcn.errors import IntegrityError
from adagcn.formats.sealed_arrays import read_sealed, write_sealed
from adagcn.propagation.hop_steps import HopRows
from adagcn.propagation.hop_workplace import Workplace
from adagcn.propagation.scaling import HopScale, scaled_rows
from adagcn.propagation.stored_hops import StoredHop, StoredSource

FOLDER = "scores"  # inside of a store
BLOCK_BYTES = 2**22  # of the sums of a block

logger = logging.getLogger("adagcn")

Nodes = NDArray[np.intp] | range  # positions; a range for neighbors in the store


@dataclass(frozen=True)
class Ensemble:
    """Layers that vote together.

    Parameters
    ----------
    layers : sequence of BoostedLayer
        All of them, from hop 0 on.
    combination : Combination
        How their votes are summed.
    hop_scale : {"none", "row_l2", "hop"}
        How large rows are made before a learner sees them.
    n_classes : int
        Number of classes.
    digest : str
        What tells these layers from any others.
    """

    layers: Sequence[BoostedLayer]
    combination: Combination
    hop_scale: HopScale
    n_classes: int
    digest: str

    @property
    def first(self) -> int:
        """The first layer that votes."""
        return self.combination.first_voter([layer.coefficient for layer in self.layers])

    @property
    def last(self) -> int:
        """The last one."""
        return len(self.layers) - 1


@dataclass(frozen=True)
class VotePlan:
    """All that a worker needs to let one layer vote on any block.

    Parameters
    ----------
    files : VoteFiles
        Where the sums are.
    hop : HopRows
        The hop that the layer was fitted on.
    learner : FittedLearner
        What was fitted.
    factor, hop_scale : float, str
        How large the rows are made.
    coefficient, combination : float, Combination
        What the votes count.
    """

    files: VoteFiles
    hop: HopRows
    learner: FittedLearner
    factor: float
    hop_scale: HopScale
    coefficient: float
    combination: Combination


@dataclass(frozen=True)
class VoteStep:
    """A layer votes on a block of nodes."""

    layer: int
    block: int
    nodes: Nodes


@dataclass(frozen=True)
class VoteFiles:
    """The files of the sums, and how the nodes are cut into blocks.

    Parameters
    ----------
    folder : Path
        Where they are.
    first : int
        The first layer that votes.
    rows_at_once : int
        Rows that a learner gets together; its last bits depend on them.
    """

    folder: Path
    first: int
    rows_at_once: int

    def path(self, layer: int, block: int) -> Path:
        """Return the file of a block's sum up to a layer."""
        return self.folder / f"block-{block:06d}.layer-{layer:04d}"

    def write(self, layer: int, block: int, votes: CombinedVotes) -> None:
        """Write the sum up to a layer."""
        write_sealed(self.path(layer, block), [votes.total, np.array(votes.weight)])

    def read(self, layer: int, block: int) -> CombinedVotes | None:
        """Return the sum up to a layer; None if it is missing or damaged."""
        arrays = read_sealed(self.path(layer, block))
        return None if arrays is None else CombinedVotes(arrays[0], float(arrays[1]))

    def sum_before(self, layer: int, block: int) -> CombinedVotes:
        """Return what a layer's votes are added to."""
        if layer == self.first:
            return NO_VOTES
        votes = self.read(layer - 1, block)
        if votes is None:
            path = self.path(layer - 1, block)
            raise IntegrityError(
                "AGC-G1801",
                f"the file {str(path)!r} with class scores is missing or damaged",
                got=f"block {block}, layer {layer - 1}",
                fix="run the same again: what is whole is used, and this block is scored anew",
            )
        return votes

    def newest(self, block: int, last: int) -> int:
        """Return up to which layer a block has a whole sum; one before the first for none."""
        return next(
            (n for n in range(last, self.first - 1, -1) if self.read(n, block) is not None),
            self.first - 1,
        )


def add_votes(step: VoteStep, plan: VotePlan) -> str:
    """Write a block's sum with the votes of one layer more; one that is there already stays.

    Returns the name of the machine.
    """
    files, host = plan.files, socket.gethostname()
    if files.read(step.layer, step.block) is not None:
        return host
    before = files.sum_before(step.layer, step.block)
    parts = []
    for start in range(0, max(len(step.nodes), 1), files.rows_at_once):
        nodes = np.asarray(step.nodes[start : start + files.rows_at_once], dtype=np.intp)
        rows = scaled_rows(plan.hop, nodes, plan.factor, plan.hop_scale)
        parts.append(plan.learner.log_proba(rows))
    votes = plan.combination.votes(np.concatenate(parts))
    files.write(step.layer, step.block, before.plus(plan.coefficient, votes))
    return host


@contextmanager
def votes_in_files(
    source: StoredSource, ensemble: Ensemble, nodes: Nodes, rows_at_once: int
) -> Iterator[Iterator[tuple[Nodes, CombinedVotes]]]:
    """Let an ensemble vote on nodes of a store; give them and their sums, some at a time.

    The files are removed when the block is left. If it is left by an error, they stay, and the same
    call goes on with them.

    Parameters
    ----------
    source : StoredSource
        The hops.
    ensemble : Ensemble
        Who votes.
    nodes : ndarray of shape (n,) or range
        Positions.
    rows_at_once : int
        Rows that a learner gets together.
    """
    blocks = _cut(nodes, rows_at_once, ensemble.n_classes)
    place = Workplace(source.store / FOLDER / _key(source, ensemble, blocks, rows_at_once))
    try:
        files = VoteFiles(place.folder, ensemble.first, rows_at_once)
        _vote(source, ensemble, blocks, files)
        after = ensemble.last + 1
        yield ((each, files.sum_before(after, block)) for block, each in enumerate(blocks))
    except BaseException:
        place.keep()
        raise


def _vote(
    source: StoredSource, ensemble: Ensemble, blocks: Sequence[Nodes], files: VoteFiles
) -> None:
    """Let every layer vote on every block; what is there already is not done again."""
    last = ensemble.last
    newest = [files.newest(block, last) for block in range(len(blocks))]
    start = min(newest) + 1
    if start > last:
        return
    try:
        hop = source.at(start)
        while True:
            _vote_on_hop(hop, ensemble, blocks, newest, files)
            if hop.number == last:
                return
            hop = hop.next()
    except BaseException:
        source.keep()  # for the same call again
        raise


def _vote_on_hop(
    hop: StoredHop,
    ensemble: Ensemble,
    blocks: Sequence[Nodes],
    newest: Sequence[int],
    files: VoteFiles,
) -> None:
    """Let the layer of a hop vote on the blocks that it has not voted on."""
    number, layer = hop.number, ensemble.layers[hop.number]
    steps = [
        VoteStep(number, block, nodes)
        for block, nodes in enumerate(blocks)
        if newest[block] < number
    ]

    def forget(position: int, host: str) -> None:
        block = steps[position].block
        files.path(number - 1, block).unlink(missing_ok=True)
        facts = {"event": "voted", "layer": number, "block": block, "host": host}
        logger.debug("layer %(layer)d has voted on block %(block)d", facts)

    if steps:
        n_found = len(blocks) - len(steps)
        facts = {"event": "votes", "layer": number, "found": n_found, "blocks": len(blocks)}
        logger.info("votes of layer %(layer)d: %(found)d of %(blocks)d blocks are there", facts)
        scale, rule = ensemble.hop_scale, ensemble.combination
        rows = hop.readable()
        plan = VotePlan(files, rows, layer.learner, layer.factor, scale, layer.coefficient, rule)
        current_engine().map(add_votes, steps, plan, on_result=forget)


def _cut(nodes: Nodes, rows_at_once: int, n_classes: int) -> list[Nodes]:
    """Return the nodes in blocks, each of some times the rows that a learner gets together."""
    times = max(BLOCK_BYTES // (rows_at_once * n_classes * 8), 1)
    n_rows = times * rows_at_once
    return [nodes[start : start + n_rows] for start in range(0, max(len(nodes), 1), n_rows)]


def _key(
    source: StoredSource, ensemble: Ensemble, blocks: Sequence[Nodes], rows_at_once: int
) -> str:
    """Return what the sums depend on, in a few letters: the name of a folder."""
    facts = f"{source.key} {ensemble.digest} {rows_at_once} {len(blocks[0])}"
    total = hashlib.sha256(facts.encode())
    for nodes in blocks:
        said = repr(nodes).encode() if isinstance(nodes, range) else nodes.astype("<i8").tobytes()
        total.update(said)
    return total.hexdigest()[:16]
