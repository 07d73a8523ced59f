"""One function on several workers of Ray Train at once, which can talk to each other by torch."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adagcn.engines.ray_cluster import RayTasks, _connected, _ray
from adagcn.errors import AdaGCNError, ResourceError


@dataclass(frozen=True)
class TogetherPlan:
    """How many workers train together.

    Parameters
    ----------
    n_workers : int
        Workers; each has one CPU.
    restarts : int
        How often all start again from the last checkpoint after one of them died.
    folder : Path or None
        Where checkpoints are, on a path that all machines share; None: a temporary folder.
    """

    n_workers: int
    restarts: int
    folder: Path | None


def train_together(
    engine: RayTasks,
    plan: TogetherPlan,
    fn: Callable[..., None],
    parts: Iterable[Any],
    shared: Any,
    *,
    take: Callable[[Path], None],
) -> None:
    """Call ``fn(part, shared, rank, before, report)`` on every worker until all have returned.

    Parameters
    ----------
    engine : RayTasks
        Where Ray runs.
    plan : TogetherPlan
        How many workers.
    fn : callable
        A function of a module. ``before`` is the folder of the last checkpoint or None, and
        ``report(write)`` keeps what the first worker's ``write(folder)`` writes as the next one.
    parts : iterable
        What each worker has, kept by Ray.
    shared : object
        What all of them need.
    take : callable
        Called with the folder of the last checkpoint.
    """
    ray = _ray()
    from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    workers = max(engine.workers, plan.n_workers)
    with (
        redirect_stdout(sys.stderr),
        _connected(ray, workers, engine.address),
        tempfile.TemporaryDirectory(dir=plan.folder, prefix=".training-") as folder,
    ):
        kept = [ray.put(part) for part in parts]
        trainer = TorchTrainer(
            _work,
            train_loop_config={"fn": fn, "shared": shared, "parts": kept},
            torch_config=TorchConfig(backend="gloo"),
            scaling_config=ScalingConfig(num_workers=plan.n_workers, use_gpu=False),
            run_config=RunConfig(
                name="fit",
                storage_path=folder,
                failure_config=FailureConfig(max_failures=plan.restarts),
                checkpoint_config=CheckpointConfig(num_to_keep=1),
            ),
        )
        try:
            result = trainer.fit()
        except Exception as error:
            raise _failed(error) from error
        assert result.checkpoint is not None  # every worker has reported one
        with result.checkpoint.as_directory() as last:
            take(Path(last))


def _work(config: dict[str, Any]) -> None:
    """Do the part of one worker."""
    import ray
    from ray import train

    rank = train.get_context().get_world_rank()
    part, found = ray.get(config["parts"][rank]), train.get_checkpoint()

    def report(write: Callable[[Path], None]) -> None:
        if rank:
            train.report({})
            return
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder))
            train.report({}, checkpoint=train.Checkpoint.from_directory(folder))

    if found is None:
        config["fn"](part, config["shared"], rank, None, report)
        return
    with found.as_directory() as folder:
        config["fn"](part, config["shared"], rank, Path(folder), report)


def _failed(error: Exception) -> Exception:
    """Return an error of ours from inside a worker as it is, else that the workers failed."""
    inside: BaseException | None = error
    while inside is not None:
        if isinstance(inside, AdaGCNError):
            return inside
        inside = inside.__cause__
    said = str(error).strip().splitlines()
    return ResourceError(
        "AGC-R1713",
        f"the workers of Ray Train failed: {said[-1] if said else type(error).__name__}",
        fix="give the machines more memory, or use fewer --train-workers, and run again to go on",
    )
