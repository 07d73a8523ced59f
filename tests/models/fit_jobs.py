"""What workers do in the tests of whole fits; a module, since they import it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from adagcn.propagation import stored_hops
from adagcn.training import data_parallel

_make_block = stored_hops.make_block
_train_shard = data_parallel.train_shard


def _die_once(name):
    mark = Path(os.environ["DEATHS"]) / name
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def make_block(step, plan):
    """Make a block and write down that it was; the worker on one of them is killed once."""
    if step.hop == 2 and step.block == 1:
        _die_once("in a hop")
    done = _make_block(step, plan)
    with (Path(os.environ["DEATHS"]) / "made").open("a") as made:
        made.write(f"{step.hop} {step.block}\n")
    return done


def deadly_block(step, plan):
    """Make a block as ever, but one of them kills whoever tries."""
    if step.hop == 2 and step.block == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return _make_block(step, plan)


def train_shard(shard, job, rank, before, report):
    """Train as ever, but let the second worker be killed after the first checkpoint, once."""

    def reported(write):
        report(write)
        if rank == 1:
            _die_once("in training")

    _train_shard(shard, job, rank, before, reported)
