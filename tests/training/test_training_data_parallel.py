"""Layers trained by several workers: the gradient of all rows, whoever dies."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
import shard_jobs as jobs
import torch

from adagcn.engines import engine_named
from adagcn.errors import InputError
from adagcn.training import data_parallel
from adagcn.training.data_parallel import DataParallelFitter, ShardTrainee, shard_of
from adagcn.training.events import Events
from adagcn.training.hop_fitter import HopTrainee, TrainingRows, TrainingSettings, make_optimizer

HERE = Path(__file__).parent


def trainee(kind, part):
    learner, settings = jobs.learner(), TrainingSettings()
    rows = TrainingRows(learner, part, "cpu")
    generator = torch.Generator().manual_seed(0)
    return kind(learner, rows, settings, make_optimizer(learner, settings), generator)


def summed_over(monkeypatch, n_shards, scale=1.0):
    """Return the gradients and stopping results of shards, with threads in place of workers."""
    meet, parts = threading.Barrier(n_shards), {}

    def add_up(part):
        parts[threading.get_ident()] = part.clone()
        meet.wait()
        part.copy_(sum(parts.values()) * scale)
        meet.wait()

    monkeypatch.setattr(data_parallel, "add_up", add_up)
    found = {}

    def work(rank):
        each = trainee(ShardTrainee, shard_of(jobs.task(), rank, n_shards))
        targets = list(each._targets(each.rows.weight))
        found[rank] = each._loss_gradients(each.rows.blocks, targets), each.evaluate()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(n_shards)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return [found[rank] for rank in range(n_shards)]


@pytest.mark.parametrize("n_shards", [2, 3, 5])
def test_the_sum_over_workers_is_the_gradient_of_all_rows(monkeypatch, n_shards):
    whole = trainee(HopTrainee, jobs.task())
    loss, gradients = whole._loss_gradients(whole.rows.blocks, whole._targets(whole.rows.weight))
    expected = whole.evaluate()
    for (part_loss, part_gradients), result in summed_over(monkeypatch, n_shards):
        torch.testing.assert_close(part_loss, loss, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(part_gradients, gradients, rtol=1e-10, atol=1e-14)
        assert result == pytest.approx(expected, rel=1e-12)


def test_a_mean_over_workers_would_be_another_gradient(monkeypatch):
    """What a data-parallel wrapper computes unless its loss is multiplied with their number."""
    whole = trainee(HopTrainee, jobs.task())
    _, gradients = whole._loss_gradients(whole.rows.blocks, whole._targets(whole.rows.weight))
    (_, averaged), _ = summed_over(monkeypatch, 2, scale=0.5)[0]
    assert not torch.allclose(averaged[0], gradients[0], rtol=1e-3)
    torch.testing.assert_close(2 * averaged[0], gradients[0], rtol=1e-10, atol=1e-14)


def test_every_row_is_in_one_shard():
    task = jobs.task()
    shards = [shard_of(task, rank, 3) for rank in range(3)]
    assert sum(len(each.labels) for each in shards) == jobs.N
    rows = np.vstack([each.rows for each in shards])
    np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(task.rows, axis=0))
    assert sum(each.sample_weight.sum() for each in shards) == pytest.approx(1.0)


def test_what_cannot_be_trained_together():
    with pytest.raises(InputError, match="--train-workers are 1, or more on the engine ray"):
        engine_named("processes", workers=2, train_workers=2)
    how = TrainingSettings(batch_size=4)
    fitter = DataParallelFitter(lambda *_: jobs.learner(), how, 0, Events(), workers=2)
    with pytest.raises(InputError, match="train on all of their rows"):
        fitter(jobs.task())


def _in_a_process(body: str) -> str:
    paths = [str(HERE), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(body)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.full
@pytest.mark.usefixtures("ray_home")
def test_workers_of_ray_train_fit_the_same_and_survive_a_kill(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed")
    out = _in_a_process(
        f"""
        import copy, os, torch, ray
        import shard_jobs as jobs
        from adagcn.engines.ray_cluster import RayTasks
        from adagcn.engines.ray_training import TogetherPlan, train_together
        from adagcn.training.data_parallel import shard_of, start_of, train_shard
        from adagcn.training.events import Events
        from adagcn.training.hop_fitter import HopFitter

        def trained(fn, job, shared):
            state = start_of(copy.deepcopy(job))
            shards = (shard_of(jobs.task(), rank, 2) for rank in range(2))
            plan = TogetherPlan(2, 3, None)
            train_together(RayTasks(2), plan, fn, shards, shared, take=state.load)
            learner = jobs.learner()
            record, _, _ = state.put_into(learner)
            return record, torch.cat([each.detach().ravel() for each in learner.parameters()])

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        job = jobs.job()
        alone = HopFitter(lambda *_: jobs.learner(), job.settings, 0, Events())
        job = jobs.ShardJob(job.learner, job.settings, 0, (1, 0), (), jobs.Stopper(300))
        expected = alone(jobs.task())
        record, found = trained(train_shard, copy.deepcopy(job), copy.deepcopy(job))
        single = torch.cat([each.detach().ravel() for each in expected.learner.parameters()])
        print("as alone", torch.allclose(found, single, rtol=1e-6, atol=1e-9), record.epochs)
        dropped = jobs.job(dropout=0.3)
        _, whole = trained(train_shard, copy.deepcopy(dropped), copy.deepcopy(dropped))
        marker = {str(tmp_path / "marker")!r}
        shared = (copy.deepcopy(dropped), marker)
        _, again = trained(jobs.dies_once, copy.deepcopy(dropped), shared)
        print("survives", torch.equal(whole, again), os.path.exists(marker))
        ray.shutdown()
        """
    )
    assert out == "as alone True 60\nsurvives True True\n"
