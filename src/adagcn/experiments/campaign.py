"""From a spec to results: plan the runs, train those missing in the ledger, save each."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adagcn.data.gasteiger import known_nodes
from adagcn.data.splits import Split, parse_split
from adagcn.engines import Engine, Serial
from adagcn.errors import AdaGCNError
from adagcn.experiments.columns import column_graph, column_splits
from adagcn.experiments.ledger import Ledger
from adagcn.experiments.runs import Run, RunResult, derived_seed, execute, resolved_params
from adagcn.experiments.spec import Column, Row, Spec
from adagcn.graph import Graph
from adagcn.models.support.measures import Metric
from adagcn.models.support.registry import build_model

Graphs: TypeAlias = Mapping[str, Graph]  # by the name that a spec's columns use
Splits: TypeAlias = Mapping[str, Sequence[Split]]  # by the label of a spec's column
Progress: TypeAlias = Callable[[int, int, float | None], None]  # done, total, seconds left


@dataclass(frozen=True)
class PlannedCell:
    """One row on one column.

    Parameters
    ----------
    row, column
        Where it stands in the table.
    runs : tuple of Run
        Every split and initialization; with a grid, every combination on each of them.
    splits : tuple of Split
        The splits of the runs, each once.
    seen_nodes : ndarray of int64 or None
        Of fresh splits, the nodes whose labels validation splits may have seen.
    """

    row: Row
    column: Column
    runs: tuple[Run, ...]
    splits: tuple[Split, ...]
    seen_nodes: NDArray[np.int64] | None = None

    @property
    def places(self) -> dict[tuple[str, int], list[Run]]:
        """The runs by split and initialization: candidates for one place, in the grid's order."""
        found: dict[tuple[str, int], list[Run]] = {}
        for run in self.runs:
            found.setdefault((run.split, run.init), []).append(run)
        return found

    def chosen(self, done: Mapping[str, RunResult]) -> int | None:
        """Return which combination a grid that is tried on some splits only has for all of them.

        The first with the best mean accuracy on the stopping nodes of these splits; None as long as
        runs are missing there, and for a row without ``grid_splits``.
        """
        if self.row.grid_splits is None:
            return None
        tried = self._tried
        if not all(run.key in done for runs in tried for run in runs):
            return None
        means = [
            fmean(done[run.key].stop_accuracy or 0.0 for run in runs)
            for runs in zip(*tried, strict=True)
        ]
        return means.index(max(means))

    def due(self, done: Mapping[str, RunResult], *, foreseen: bool = False) -> list[Run]:
        """Return the runs that are to be trained, given the finished ones.

        With ``grid_splits``, every combination on these splits and the chosen one on the others. As
        long as the choice is open, there are none on the others; ``foreseen`` has the first
        combination instead, so that runs can be counted.
        """
        if self.row.grid_splits is None:
            return list(self.runs)
        tried, place = self._tried, self.chosen(done)
        there = [run for runs in tried for run in runs]
        if place is None and not foreseen:
            return there
        others = list(self.places.values())[len(tried) :]
        return there + [runs[place or 0] for runs in others]

    @property
    def _tried(self) -> list[list[Run]]:
        """Where the grid is tried: the runs of each of these places."""
        names = [split.name for split in self.splits[: self.row.grid_splits]]
        return [runs for (split, _), runs in self.places.items() if split in names]


def load_graphs(
    spec: Spec,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    offline: bool | None = None,
) -> dict[str, Graph]:
    """Return the graphs of a spec by name; the options are those of ``load_dataset``."""
    by_name = {column.dataset: column for column in spec.columns}
    return {
        name: column_graph(column, data_dir=data_dir, offline=offline)
        for name, column in by_name.items()
    }


def load_splits(
    spec: Spec, graphs: Graphs, *, data_dir: str | os.PathLike[str] | None = None
) -> dict[str, list[Split]]:
    """Return the splits of each column of a spec, by its label; files are in the data folder."""
    return {
        column.label: column_splits(spec, column, graphs[column.dataset], data_dir=data_dir)
        for column in spec.columns
    }


def plan(
    spec: Spec, graphs: Graphs, *, seed: int = 0, threads: int = 1, splits: Splits | None = None
) -> list[PlannedCell]:
    """Return every cell of a spec with its runs, each fully determined.

    Parameters
    ----------
    spec : Spec
        A checked spec.
    graphs : mapping
        A graph for each data set of the spec.
    seed : int
        Seed of the campaign; ``seeds`` of row or spec says how those of the runs come from it.
    threads : int
        Threads that a run computes with.
    splits : mapping, optional
        The splits of each column, by its label; by default those that the spec names.

    Returns
    -------
    list of PlannedCell
        Row by row.

    Raises
    ------
    InputError
        A split cannot be made on its graph; the column is named.
    """
    if splits is None:
        splits = load_splits(spec, graphs)
    return [
        _planned_cell(spec, row, column, graphs, splits[column.label], seed, threads)
        for row, column in product(spec.rows, spec.columns)
        if spec.has(row, column)
    ]


def train_missing(
    cells: Iterable[PlannedCell],
    graphs: Graphs,
    ledger: Ledger,
    *,
    metric: Metric = "accuracy",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> dict[str, RunResult]:
    """Train the runs that the ledger does not have and return the results of all.

    Each result is saved in the ledger at once: after an interruption, calling this again continues
    where it stopped. Neither the order nor the engine changes a result. What a choice among other
    runs decides is trained after them.

    Parameters
    ----------
    cells : iterable of PlannedCell
        The planned cells.
    graphs : mapping
        A graph for each data set.
    ledger : Ledger
        Where finished runs are found and saved.
    metric : str
        The measure that every run must have: those of an earlier release without it are trained
        again, and the measures are added to them.
    engine : Engine, optional
        Where the runs are trained; by default one after another, here.
    progress : callable, optional
        Called with runs done, all runs to train, and the seconds left once they can be estimated.

    Returns
    -------
    dict
        Result by key.
    """
    cells = list(cells)
    shared = {
        **graphs,
        **{split.digest: split for cell in cells for split in cell.splits},
    }
    clock = None
    while missing := missing_runs(cells, ledger, metric):
        unmeasured = {run.key for run in unmeasured_runs(cells, ledger, metric)}
        clock = clock or _Clock(len(_left(cells, ledger, metric, foreseen=True)), progress)
        _train(missing, unmeasured, shared, ledger, engine or Serial(), clock)
    return ledger.results(run for cell in cells for run in cell.runs)


def _train(
    missing: Sequence[Run],
    unmeasured: Collection[str],
    shared: Mapping[str, Any],
    ledger: Ledger,
    engine: Engine,
    clock: _Clock,
) -> None:
    """Train these runs and save each; measures are added to those that lack nothing else."""

    def keep(position: int, result: RunResult) -> None:
        run = missing[position]
        if run.key in unmeasured:
            ledger.add_scores(run, result)
        else:
            ledger.add(run, result)
        clock.tick()

    needed = {name for run in missing for name in (run.dataset, run.split_digest)}
    engine.map(_execute, missing, {name: shared[name] for name in needed}, on_result=keep)


def missing_runs(
    cells: Iterable[PlannedCell], ledger: Ledger, metric: Metric = "accuracy"
) -> list[Run]:
    """Return the runs that are not in the ledger, or there without the metric, each once.

    First initializations come first, then split by split: all cells of a table fill up together,
    so that an interrupted table compares like with like and the time left is estimated fairly.
    """
    left = _left(list(cells), ledger, metric, foreseen=False)
    return sorted(left, key=lambda run: (run.init, parse_split(run.split).number))


def _left(
    cells: Sequence[PlannedCell], ledger: Ledger, metric: Metric, *, foreseen: bool
) -> list[Run]:
    """Return the runs that are due (:meth:`PlannedCell.due`) and not finished, each once."""
    done = ledger.results(run for cell in cells for run in cell.runs)
    by_key = {run.key: run for cell in cells for run in cell.due(done, foreseen=foreseen)}
    return [
        run for key, run in by_key.items() if key not in done or _is_unmeasured(done[key], metric)
    ]


def unmeasured_runs(cells: Iterable[PlannedCell], ledger: Ledger, metric: Metric) -> list[Run]:
    """Return the finished runs that lack a metric, since an earlier release trained them."""
    by_key = {run.key: run for cell in cells for run in cell.runs}
    done = ledger.results(by_key.values())
    return [by_key[key] for key, result in done.items() if _is_unmeasured(result, metric)]


def _is_unmeasured(result: RunResult, metric: Metric) -> bool:
    return metric != "accuracy" and not result.scores


def _execute(run: Run, shared: Mapping[str, Any]) -> RunResult:
    try:
        return execute(run, shared[run.dataset], shared[run.split_digest])
    except AdaGCNError as error:
        error.problem = f"{run}: {error.problem}"
        raise


def _planned_cell(  # noqa: PLR0913
    spec: Spec,
    row: Row,
    column: Column,
    graphs: Graphs,
    splits: Sequence[Split],
    seed: int,
    threads: int,
) -> PlannedCell:
    graph = graphs[column.dataset]
    candidates = [
        resolved_params(build_model(row.model, graph, preset=row.preset, settings=settings))
        for settings in spec.candidates_of(row, column)
    ]
    used = tuple(splits[: spec.splits_of(row, column)])
    runs = tuple(
        Run(
            model=row.model,
            preset=row.preset,
            params=params,
            dataset=column.dataset,
            data_digest=graph.digest,
            split=split.name,
            split_digest=split.digest,
            train_per_class=column.train_per_class,
            init=init,
            seed=_seed(row.seeds or spec.seeds, seed, split, init),
            threads=threads,
        )
        for split, init, params in product(used, range(spec.inits_of(row, column)), candidates)
    )
    seen = known_nodes(graph) if spec.kind_on(column) == "fresh" else None
    return PlannedCell(row, column, runs, used, seen)


def _seed(seeds: str, seed: int, split: Split, init: int) -> int:
    return seed + init if seeds == "numbered" else derived_seed(seed, split.name, init)


class _Clock:
    """Counts finished runs and estimates the time left."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._start = time.monotonic()
        if progress is not None:
            progress(0, total, None)

    def tick(self) -> None:
        self._done += 1
        if self._progress is not None:
            pace = (time.monotonic() - self._start) / self._done
            self._progress(self._done, self._total, pace * (self._total - self._done))
