"""How fast this machine is at what a fit spends its time on: measured in about a second.

Wherever that is possible, what is timed is the code of a fit on small inputs
(:mod:`adagcn.models.estimates.rate_samples`).
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import linalg

from adagcn.boosting.samme import Combination
from adagcn.engines.threads import threads_of_a_model
from adagcn.errors import ScaleNotice
from adagcn.formats.frozen import content_digest
from adagcn.formats.graph_store import ArrayParts, write_array
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.rate_samples import MOST_STORED, Sample, random_edges
from adagcn.models.support import problem as problems
from adagcn.propagation.blocks import BlockedPropagator, column_blocks
from adagcn.propagation.hops import blocks_of
from adagcn.propagation.mapped_rows import take_rows
from adagcn.propagation.normalize import make_propagator
from adagcn.propagation.row_blocks import propagator_rows
from adagcn.propagation.screening import strongest_columns
from adagcn.propagation.sparse_tensors import multiplied, torch_csr
from adagcn.training.events import Events
from adagcn.training.hop_fitter import FittedHop, HopFitter, HopTask, TrainingSettings
from adagcn.training.loop import TrainingRecord

_LARGEST_EIGEN, _LARGEST_PRODUCT = 512, 512  # sides
_MOST_NODES = 2**20  # of the columns of a product: 32 MB of values are past all caches
_ENTRIES = 4_000_000  # fetched from wide rows
_MOST_ROWS, _LEAST_ROWS, _EPOCH_WORK = 1024, 96, 2**27  # rows times parameters
_EPOCHS = 3
_SCORES = 200_000


@dataclass(frozen=True)
class GraphRates:
    """CPU seconds of what is done to features and edges.

    Parameters
    ----------
    hashed : float
        Of a byte of a graph that is hashed.
    checked, normed, screened : float
        Of a stored feature value: looked at for its size; divided as the model wants it; while the
        strongest columns are found and cut out.
    made, layout : float
        Of a stored value of Â: while it is made; and while it is put into its layout.
    product : float
        Of one stored value of Â times one column.
    moved, kept : float
        Of an entry that is fetched from its row, a few columns at a time; that is also added to a
        hop.
    gathered, filled : float
        Of a stored feature value in a sparse product; of an entry of a sparse hop made dense.
    cut, fetched, written : float
        Of a store alone: of a stored value of Â that is cut into a block; of an entry that is
        fetched with its whole row; of a byte that is written and hashed.
    """

    hashed: float
    checked: float
    normed: float
    screened: float
    made: float
    layout: float
    product: float
    moved: float
    kept: float
    gathered: float
    filled: float
    cut: float = 0.0
    fetched: float = 0.0
    written: float = 0.0


@dataclass(frozen=True)
class LearnerRates:
    """CPU seconds of what is fitted on a hop.

    Parameters
    ----------
    start, step, trained : float
        Of the training of a network: before its first epoch; of an epoch, whatever its rows; of a
        row in an epoch.
    passed : float
        Of a row whose class scores are computed.
    voted : float
        Of a class score that is turned into votes.
    flop, eigen : float
        Of a multiplication in a dense product in float32; of an eigendecomposition, over the cube
        of its side.
    """

    start: float
    step: float
    trained: float
    passed: float
    voted: float
    flop: float
    eigen: float


@dataclass(frozen=True)
class Rates:
    """How fast this machine is, on one thread."""

    graph: GraphRates
    learner: LearnerRates


@dataclass(frozen=True)
class Work:
    """What is to be measured.

    Parameters
    ----------
    n_columns : int
        Of a hop.
    n_rows : int
        Rows that a layer is fitted on.
    feature_norm : str
        What is done to the features.
    max_features : int or "all"
        How many columns are kept.
    make_learner : callable
        Takes a generator and a number of columns and returns what is fitted on a hop.
    make_network : callable or None
        The same of what is trained by epochs; None: nothing is.
    """

    n_columns: int
    n_rows: int
    feature_norm: str
    max_features: Any
    make_learner: Callable[..., Any]
    make_network: Callable[..., Any] | None


def measured_rates(sample: Sample, work: Work) -> Rates:
    """Return the rates of this machine, on one thread."""
    with threads_of_a_model(1):
        return Rates(_graph_rates(sample, work), _learner_rates(sample, work))


def rates_of_other_work(rates: Rates, sample: Sample, work: Work) -> Rates:
    """Return the rates of a model with other settings on the same graph.

    What is done to features and what is fitted is measured anew; products keep their rates.
    """
    values = max(sample.n_values, 1)
    with threads_of_a_model(1):
        graph = replace(
            rates.graph,
            normed=_normed(sample, work.feature_norm) / values,
            screened=_screened(sample, work.max_features) / values,
        )
        return Rates(graph, _learner_rates(sample, work))


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return max(time.process_time() - start, 1e-7)


# Features and edges


def _graph_rates(sample: Sample, work: Work) -> GraphRates:
    values = max(sample.n_values, 1)
    hashed = _seconds(lambda: content_digest([sample.features]))
    moved, kept = _entries(sample, work.n_columns)
    made, layout, product = _dense_step(sample, work.n_columns)
    gathered, filled = _sparse_step(sample)
    return GraphRates(
        hashed=hashed / max(_bytes_of(sample.features), 1),
        checked=_seconds(lambda: _check(sample)) / values,
        normed=_normed(sample, work.feature_norm) / values,
        screened=_screened(sample, work.max_features) / values,
        made=made,
        layout=layout,
        product=product,
        moved=moved,
        kept=kept,
        gathered=gathered,
        filled=filled,
        **(_of_files(sample, work.n_columns) if sample.sizes.is_stored else {}),
    )


def _of_files(sample: Sample, n_columns: int) -> dict[str, float]:
    """Return the seconds of what only hops in files need."""
    adjacency, n_nodes = sample.adjacency, sample.n_nodes
    degrees = np.ones(n_nodes), np.ones(n_nodes)
    rows = slice(0, n_nodes)
    cut = _seconds(lambda: propagator_rows(adjacency, rows, degrees, "symmetric", np.float32))
    width = max(n_columns, 1)
    wide = np.ones((max(min(sample.sizes.n_nodes, 2 * _ENTRIES // width), 2), width), np.float32)
    order = np.random.default_rng(0).permutation(len(wide))
    out = np.empty_like(wide)
    fetched = _seconds(lambda: take_rows(wide, order, slice(None), out))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        written = _seconds(lambda: write_array(path, ArrayParts.of(out)))
    return {
        "cut": cut / (adjacency.nnz + n_nodes),
        "fetched": fetched / wide.size,
        "written": written / wide.nbytes,
    }


def _bytes_of(features: Any) -> int:
    """Return the bytes that a digest of features reads: indices count as 64-bit."""
    if isinstance(features, np.ndarray):
        return features.nbytes
    return int(features.data.nbytes + 8 * features.nnz + 8 * len(features.indptr))


def _check(sample: Sample) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleNotice)
        problems.resolved_norm("graph", sample.graph)
        problems.normalized_features(sample.graph, sample.graph.feature_norm or "none")


def _normed(sample: Sample, norm: str) -> float:
    if norm == (sample.graph.feature_norm or "none"):
        return 0.0
    return _seconds(lambda: problems.normalized_features(sample.graph, norm))


def _screened(sample: Sample, max_features: Any) -> float:
    """Return the seconds of finding and cutting out the strongest columns, if some are left out."""
    features = sample.features

    def screen() -> None:
        kept = strongest_columns(blocks_of(features), features.shape[1], max_features)
        assert kept is not None
        features[:, kept]

    some = isinstance(max_features, int) and max_features < features.shape[1]
    return _seconds(screen) if some and not sample.sizes.node_columns else 0.0


def _entries(sample: Sample, n_columns: int) -> tuple[float, float]:
    """Return the seconds of an entry that is fetched, and of one that is also added up.

    A hop in blocks takes few columns of every row at a time, which stand far apart in memory.
    """
    sizes, rng = sample.sizes, np.random.default_rng(0)
    blocks = column_blocks(sizes.n_nodes, max(n_columns, 1), itemsize=sizes.value_bytes)
    n_rows = max(min(sizes.n_nodes, 4 * _ENTRIES // max(n_columns, 1)), 2)
    kind = np.float64 if sizes.value_bytes == 8 else np.float32
    wide = np.ones((n_rows, max(n_columns, 1)), dtype=kind)
    order = rng.permutation(n_rows)
    some = blocks[: max(_ENTRIES // (n_rows * (blocks[0].stop - blocks[0].start)), 1)]
    n_entries = n_rows * sum(each.stop - each.start for each in some)
    room = np.empty((n_rows, max(each.stop - each.start for each in some)), dtype=kind)

    def fetch() -> None:
        for columns in some:
            room[:, : columns.stop - columns.start] = wide[order, columns]

    def add() -> None:
        for columns in some:
            part = room[:, : columns.stop - columns.start]
            part *= 0.8
            part += 0.2 * wide[:, columns][order]

    return _seconds(fetch) / n_entries, _seconds(add) / n_entries


def _dense_step(sample: Sample, n_columns: int) -> tuple[float, float, float]:
    """Return the seconds of making Â and of its layout, of a product, each of a stored value."""
    sizes, rng = sample.sizes, np.random.default_rng(0)
    n_nodes = max(min(sizes.n_nodes, 100_000), 2)
    wanted = max(min(sizes.n_stored, MOST_STORED), 1)
    adjacency = random_edges(rng, (n_nodes, n_nodes), wanted)
    made = []
    making = _seconds(lambda: made.append(make_propagator(adjacency)))
    narrow = np.ones((n_nodes, 1), dtype=np.float32)
    layout = _seconds(lambda: BlockedPropagator(made[0], narrow, teleport=0.0))
    n_stored = made[0].nnz
    return making / n_stored, layout / n_stored, _product(sizes, n_columns)


def _product(sizes: GraphSizes, n_columns: int) -> float:
    """Return the seconds of a stored value times a column: some rows of Â with all columns."""
    rng = np.random.default_rng(0)
    n_nodes = max(min(sizes.n_nodes, _MOST_NODES), 2)
    blocks = column_blocks(sizes.n_nodes, max(n_columns, 1), itemsize=sizes.value_bytes)
    width = max(blocks[0].stop - blocks[0].start, 1)
    if sizes.is_stored:  # all columns at once, of the rows that a block needs
        width = max(n_columns, 1)
        n_nodes = max(min(n_nodes, 4 * _ENTRIES // width), 2)
    n_rows = max(min(n_nodes, int(MOST_STORED / sizes.mean_row)), 1)
    rows = random_edges(rng, (n_rows, n_nodes), max(int(n_rows * sizes.mean_row), 1))
    matrix = torch_csr(rows)
    values = torch.ones(n_nodes, width)
    out = torch.zeros(n_rows, width)
    multiplied(matrix, values, out=out)
    seconds = _seconds(lambda: multiplied(matrix, values, out=out))
    return seconds / float(rows.nnz * width)


def _sparse_step(sample: Sample) -> tuple[float, float]:
    """Return the seconds of a value gathered in a sparse hop, and of an entry made dense."""
    features = sample.features
    if isinstance(features, np.ndarray):
        return 0.0, 0.0
    propagator = make_propagator(sample.adjacency)
    lengths = np.diff(features.indptr)
    n_gathered = max(int(lengths[propagator.indices].sum()), 1)
    made: list[Any] = []
    step = _seconds(lambda: made.append(0.8 * (propagator @ features) + 0.2 * features))
    some = made[0][: max(_ENTRIES // features.shape[1], 1)]
    filled = _seconds(some.toarray)
    return step / n_gathered, filled / max(int(some.shape[0]) * int(some.shape[1]), 1)


# Learners


def _learner_rates(sample: Sample, work: Work) -> LearnerRates:
    n_classes, n_columns = max(sample.sizes.n_classes, 2), max(work.n_columns, 1)
    start = step = trained = 0.0
    if work.make_network is not None:
        start, step, trained = _training(work, n_columns, n_classes)
    flop, eigen = _dense(min(work.n_rows, n_columns + 1))
    return LearnerRates(
        start=start,
        step=step,
        trained=trained,
        passed=_passed(work, n_columns),
        voted=_voted(n_classes),
        flop=flop,
        eigen=eigen,
    )


def _training(work: Work, n_columns: int, n_classes: int) -> tuple[float, float, float]:
    """Return the seconds before a training, of an epoch, and of a row of an epoch.

    From trainings on few and on more rows, for one epoch and for some.
    """
    assert work.make_network is not None
    more = _rows_at_hand(work.make_network, n_columns, work.n_rows)
    fewer = max(more // 4, 1)
    task = _task(more, n_columns, n_classes)
    make = work.make_network
    _train(make, _part(task, fewer), 1)  # the first call loads what libraries put off
    once, again, all_rows = (
        _seconds(lambda n=n, e=e: _train(make, _part(task, n), e))  # type: ignore[misc]
        for n, e in ((fewer, 1), (fewer, 1 + _EPOCHS), (more, 1 + _EPOCHS))
    )
    of_fewer = max(again - once, 1e-7) / _EPOCHS
    trained = max(all_rows - again, 0.0) / ((1 + _EPOCHS) * max(more - fewer, 1))
    return max(once - of_fewer, 0.0), max(of_fewer - trained * fewer, 0.0), trained


def _rows_at_hand(make: Callable[..., Any], n_columns: int, n_rows: int) -> int:
    """Return how many rows a network is measured on: fewer, the larger it is."""
    network = make(torch.Generator().manual_seed(0), n_columns)
    n_parameters = sum(int(each.numel()) for each in network.parameters())
    most = min(max(_EPOCH_WORK // max(n_parameters, 1), _LEAST_ROWS), _MOST_ROWS)
    return max(min(n_rows, most), 2)


def _task(n_rows: int, n_columns: int, n_classes: int) -> HopTask:
    rng = np.random.default_rng(0)
    rows = rng.random((n_rows, n_columns), dtype=np.float32)
    labels = rng.integers(n_classes, size=n_rows)
    return HopTask(0, rows, labels, np.full(n_rows, 1.0 / n_rows), rows[:1], labels[:1])


def _part(task: HopTask, n: int) -> HopTask:
    return replace(
        task, rows=task.rows[:n], labels=task.labels[:n], sample_weight=task.sample_weight[:n]
    )


def _train(make: Callable[..., Any], task: HopTask, n_epochs: int) -> None:
    settings = TrainingSettings(max_epochs=n_epochs, patience=n_epochs)
    HopFitter(make, settings, 0, Events())(task)


def _passed(work: Work, n_columns: int) -> float:
    """Return the seconds of a row that goes through what was fitted on a hop."""
    learner = work.make_learner(torch.Generator().manual_seed(0), n_columns)
    fitted = FittedHop(learner, TrainingRecord(0))
    n_rows = _rows_at_hand(work.make_learner, n_columns, _MOST_ROWS)
    rows = np.ones((n_rows, n_columns), dtype=np.float32)
    fitted.log_proba(rows[:1])
    return _seconds(lambda: fitted.log_proba(rows)) / n_rows


def _voted(n_classes: int) -> float:
    log_proba = -np.ones((max(_SCORES // n_classes, 1), n_classes))
    seconds = _seconds(lambda: Combination().sum_votes([(1.0, log_proba)]).log_proba())
    return seconds / log_proba.size


def _dense(side: int) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((_LARGEST_PRODUCT, _LARGEST_PRODUCT), dtype=np.float32)
    wide @ wide  # the first call loads what libraries put off
    flop = _seconds(lambda: [wide @ wide for _ in range(5)]) / (5 * _LARGEST_PRODUCT**3)
    side = max(min(side, _LARGEST_EIGEN), 32)
    part = wide[:side].astype(np.float64)
    symmetric = part @ part.T
    linalg.eigh(symmetric[:32, :32])
    return flop, _seconds(lambda: linalg.eigh(symmetric, check_finite=False)) / side**3
