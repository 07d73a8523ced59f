"""What the tests of the engines run in other processes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from adagcn.engines import engine_named
from adagcn.errors import InputError


def scaled(item, factor):
    return item * factor


def pid_and_threads(item, shared):
    return os.getpid(), os.environ.get("OMP_NUM_THREADS")


def refuses_two(item, shared):
    if item == 2:
        raise InputError("AGC-I999", "item cannot be used", got=item, fix="use another")
    return item


def dies_once(item, folder):
    """End the process on item 1, unless it did so before."""
    mark = Path(folder) / "died"
    if item == 1 and not mark.exists():
        mark.touch()
        os._exit(9)
    return item


def dies_always(item, deadly):
    if item in deadly:
        os._exit(9)
    return item


def slowly_scaled(item, factor):
    time.sleep(1.0)
    return item * factor


def size_and_node(item, shared):
    """Tell how much all items share, and which machine of Ray this is."""
    import ray

    time.sleep(0.5)
    return len(shared), ray.get_runtime_context().get_node_id()


def sleeps(item, folder):
    (Path(folder) / f"started-{os.getpid()}").touch()
    time.sleep(600)


if __name__ == "__main__":
    engine_named(workers=2).map(sleeps, range(8), sys.argv[1], on_result=print)
