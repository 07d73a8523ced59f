"""Which blocks of a hop in files are finished: what a stream goes on with after a crash."""

from __future__ import annotations

import json
import logging

from adagcn.formats.atomic import writing
from adagcn.formats.build_folder import COPY_STORE, make_folder
from adagcn.formats.graph_store import StoredFile
from adagcn.propagation.hop_steps import Done, Step, StepPlan

JOURNAL = "blocks.jsonl"

logger = logging.getLogger("adagcn")


class Journal:
    """Which blocks of a hop are finished: a line each, written when the block is."""

    def __init__(self, plan: StepPlan, hop: int) -> None:
        self._plan, self._hop = plan, hop
        self._folder = plan.work / f"hop-{hop:04d}"
        make_folder(self._folder, fix=COPY_STORE)
        self._done = self._read()

    def _read(self) -> dict[int, Done]:
        path = self._folder / JOURNAL
        done: dict[int, Done] = {}
        for line in path.read_text("utf-8").splitlines() if path.is_file() else []:
            try:
                said = json.loads(line)
                files = {n: StoredFile.model_validate(f) for n, f in said["files"].items()}
                more = said.get("n_read", 0), said.get("host", "")  # not of earlier versions
                done[int(said["block"])] = Done(files, int(said["n_stored"]), *more)
            except (ValueError, KeyError, TypeError):
                continue  # the last line of a driver that died while writing
        return {block: each for block, each in done.items() if self._is_whole(block, each)}

    def _is_whole(self, block: int, done: Done) -> bool:
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

    def done(self, block: int) -> Done:
        """Return what was written of a block."""
        return self._done[block]

    def n_stored(self) -> int:
        """Return how many values are stored in all."""
        return sum(each.n_stored for each in self._done.values())

    def add(self, step: Step, done: Done, *, is_linked: bool = False) -> None:
        """Write down that a block is finished: made, or the file of an earlier graph."""
        self._done[step.block] = done
        path = self._folder / JOURNAL
        with writing(path), path.open("a", encoding="utf-8") as handle:
            handle.write(_line(step.block, done))
        facts = {"hop": step.hop, "block": step.block, "rows_read": done.n_read, "host": done.host}
        if is_linked:
            said = "block %(block)d of hop %(hop)d is that of the earlier graph"
            logger.debug(said, {"event": "linked", **facts})
            return
        logger.debug("block %(block)d of hop %(hop)d is made", {"event": "block", **facts})

    def replace(self, done: list[Done]) -> None:
        """Write down blocks that take the place of all others."""
        self._done = dict(enumerate(done))
        lines = "".join(_line(block, each) for block, each in self._done.items())
        path = self._folder / JOURNAL
        with writing(path):
            path.write_text(lines, encoding="utf-8")


def _line(block: int, done: Done) -> str:
    files = {name: file.model_dump() for name, file in done.files.items()}
    facts = {"n_stored": done.n_stored, "n_read": done.n_read, "host": done.host}
    return json.dumps({"block": block, **facts, "files": files}) + "\n"
