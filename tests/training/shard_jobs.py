"""What workers of Ray Train do in the tests; a module, since they import it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import torch

from adagcn.learners.perceptron import TwoLayerPerceptron
from adagcn.training.data_parallel import ShardJob, train_shard
from adagcn.training.hop_fitter import HopTask, TrainingSettings
from adagcn.training.stopping import Stopper

N, D, K = 41, 6, 3


def task() -> HopTask:
    rng = np.random.default_rng(0)
    weight = rng.random(N)
    return HopTask(
        hop=1,
        rows=rng.standard_normal((N + 7, D)),
        labels=rng.integers(0, K, N),
        sample_weight=weight / weight.sum(),
        stop_rows=rng.standard_normal((15, D)),
        stop_labels=rng.integers(0, K, 15),
        pseudo_labels=rng.dirichlet(np.ones(K), 7) * 0.02,
    )


def learner(dropout: float = 0.0) -> TwoLayerPerceptron:
    start = torch.Generator().manual_seed(0)
    return TwoLayerPerceptron(
        D, K, hidden_units=5, hidden_dropout=dropout, generator=start, dtype=torch.float64
    )


def job(dropout: float = 0.0, epochs: int = 60) -> ShardJob:
    settings = TrainingSettings(max_epochs=epochs, weight_decay=0.05)
    return ShardJob(learner(dropout), settings, 0, (1, 0), (), Stopper(30))


def dies_once(part, shared, rank, before, report):
    """Train as ever, but let the second worker be killed after the first checkpoint, once."""
    marker = Path(shared[1])

    def reported(write):
        report(write)
        if rank == 1 and not marker.exists():
            marker.write_text("dead")
            os.kill(os.getpid(), signal.SIGKILL)

    train_shard(part, shared[0], rank, before, reported)
