"""What workers of Ray do in the tests of the command line; a module, since they import it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from adagcn.cli import main
from adagcn.propagation import stored_hops


def endless_block(step, plan):
    """Say that a block has been started, and never finish it."""
    (Path(os.environ["STARTED"]) / f"{step.block}").touch()
    time.sleep(600)


if __name__ == "__main__":
    import ray_jobs

    stored_hops.make_block = ray_jobs.endless_block  # by name: workers must find it
    sys.exit(main(sys.argv[1:]))
