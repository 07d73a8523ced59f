"""How fast this machine is at what a fit spends its time on: measured in about a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse

from adagcn.engines.threads import threads_of_a_model
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.propagation.blocks import BlockedPropagator
from adagcn.propagation.normalize import make_propagator
from adagcn.training.events import Events
from adagcn.training.hop_fitter import HopFitter, HopTask

_SIDE = 384  # of the eigendecomposition and the dense product
_MOST_NODES, _MOST_STORED, _COLUMNS = 100_000, 1_000_000, 16
_MOST_ROWS = 1024
_EPOCHS = 4


@dataclass(frozen=True)
class Rates:
    """CPU seconds of the parts that a fit consists of.

    Parameters
    ----------
    product : float
        Of one stored value of Â times one column.
    layout : float
        Of one stored value while Â is made and laid out.
    flop : float
        Of one multiplication in a dense product, in float32.
    eigen : float
        Of an eigendecomposition, over the cube of its side.
    epoch : float
        Of an epoch of ``epoch_rows`` rows, trained on and stopped on, and Adam's step.
    epoch_rows : int
        How many rows these were.
    """

    product: float
    layout: float
    flop: float
    eigen: float
    epoch: float = 0.0
    epoch_rows: int = 1


def measured_rates(
    sizes: GraphSizes, n_columns: int, make_learner: Callable[..., Any] | None, n_rows: int
) -> Rates:
    """Return the rates of this machine, on one thread.

    Parameters
    ----------
    sizes : GraphSizes
        How large a graph the products should be like.
    n_columns : int
        Columns of a hop.
    make_learner : callable or None
        Takes a generator and a number of columns and returns the network of a hop; None: there is
        none to train.
    n_rows : int
        Rows that an epoch trains and stops on.
    """
    with threads_of_a_model(1):
        layout, product = _propagation(sizes, n_columns)
        flop, eigen = _dense()
        epoch, rows = (0.0, 1)
        if make_learner is not None:
            rows = max(min(n_rows, _MOST_ROWS), 2)
            epoch = _epoch(make_learner, rows, n_columns, max(sizes.n_classes, 2))
    return Rates(product, layout, flop, eigen, epoch, rows)


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return max(time.process_time() - start, 1e-6)


def _propagation(sizes: GraphSizes, n_columns: int) -> tuple[float, float]:
    """Return the seconds of laying out and of multiplying, for each stored value."""
    rng = np.random.default_rng(0)
    n_nodes = max(min(sizes.n_nodes, _MOST_NODES), 2)
    wanted = max(min(sizes.n_stored, _MOST_STORED), 1)
    places = rng.integers(n_nodes, size=(2, wanted), dtype=np.int32)
    values = np.ones(wanted, dtype=np.float32)
    adjacency = sparse.coo_array((values, tuple(places)), shape=(n_nodes, n_nodes)).tocsr()
    columns = max(min(n_columns, _COLUMNS), 1)
    features = rng.random((n_nodes, columns), dtype=np.float32)
    made: list[Any] = []

    def lay_out() -> None:
        made.append(BlockedPropagator(make_propagator(adjacency), features, teleport=0.2))

    layout = _seconds(lay_out)
    hop = made[0].step(features)
    product = _seconds(lambda: hop.next())
    n_stored = adjacency.nnz + n_nodes
    return layout / n_stored, product / (n_stored * columns)


def _dense() -> tuple[float, float]:
    rng = np.random.default_rng(0)
    left = rng.standard_normal((_SIDE, _SIDE), dtype=np.float32)
    right = torch.from_numpy(left)
    right @ right  # the first call loads what libraries put off
    flop = _seconds(lambda: [right @ right for _ in range(5)]) / (5 * _SIDE**3)
    symmetric: NDArray[np.float64] = (left @ left.T).astype(np.float64)
    linalg.eigh(symmetric[:32, :32])
    return flop, _seconds(lambda: linalg.eigh(symmetric)) / _SIDE**3


def _epoch(make_learner: Callable[..., Any], rows: int, n_columns: int, n_classes: int) -> float:
    """Return the seconds of an epoch: those of some more, less those of one."""
    from adagcn.training.hop_fitter import TrainingSettings

    rng = np.random.default_rng(0)
    values = rng.random((rows, n_columns), dtype=np.float32)
    labels = rng.integers(n_classes, size=rows)
    half = rows // 2
    weight = np.full(half, 1.0 / half)
    task = HopTask(0, values[:half], labels[:half], weight, values[half:], labels[half:])

    def train(n_epochs: int) -> None:
        settings = TrainingSettings(max_epochs=n_epochs, patience=n_epochs)
        HopFitter(make_learner, settings, 0, Events())(task)

    train(1)
    return max(_seconds(lambda: train(1 + _EPOCHS)) - _seconds(lambda: train(1)), 1e-6) / _EPOCHS
