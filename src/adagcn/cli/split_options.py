"""Which labels a command trains on, stops on and scores, and the measure it scores them by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adagcn.errors import InputError, counted

if TYPE_CHECKING:
    from adagcn.cli.graph_options import GraphOptions
    from adagcn.data import Split
    from adagcn.graph import Graph

_PANEL = "Which labels are trained on, stopped on and scored"
_N_COMPARED = 5  # splits of a comparison by default
# Arguments that are English words too: only where a message about a split names them.
_IN_OPTIONS = {
    r"^(stop|score) ": r"--\1 ",
    r"^amount must": "--conformal must",
    r"or stop on more nodes$": "or raise --stop",
    r"\bleave (stop|score) out": r"leave --\1 out",
    r"\band score exclude": "and --score exclude",
    r"\buse (holdout|val):0": r"use --split \1:0",
}


def _option(name: str, text: str, metavar: str, **more: Any) -> Any:
    return typer.Option(name, help=text, metavar=metavar, rich_help_panel=_PANEL, **more)


@dataclass(frozen=True)
class SplitOptions:
    """The options that part the labels, and the measure of what is scored."""

    split: Annotated[
        str | None,
        _option(
            "--split",
            "holdout:SEED (score a share, train on most), val:0 to val:19, stratified:SEED, "
            "file:0, … (masks of a benchmark), public, or none (score nothing); test:0 to test:19 "
            "and fresh:0 to fresh:19 are for final tables only.",
            "NAME",
            show_default="val:0; holdout:0 for your own graph",
        ),
    ] = None
    train_per_class: Annotated[
        int | None,
        _option(
            "--train-per-class",
            "Labels of each class to train on, where the split does not say.",
            "N",
            min=1,
        ),
    ] = None
    stop: Annotated[
        float | None,
        _option(
            "--stop",
            "Labels to stop on: their number, or below 1 a share; default: as the split has it.",
            "N|SHARE",
            min=0,
        ),
    ] = None
    score: Annotated[
        float | None,
        _option("--score", "Share of the labels that holdout:SEED scores; default: 0.2.", "SHARE"),
    ] = None
    splits_file: Annotated[
        Path | None,
        _option(
            "--splits-file",
            "Masks (.npz) or a table of id and train, stop or test; read as --split file:0, ….",
            "FILE",
        ),
    ] = None
    metric: Annotated[
        Literal["accuracy", "balanced_accuracy", "f1_macro", "roc_auc"],
        typer.Option("--metric", help="Measure to report beside accuracy.", rich_help_panel=_PANEL),
    ] = "accuracy"

    def name_on(self, options: GraphOptions) -> str:
        """Return the name of the split to use on this graph."""
        if self.split is not None:
            return self.split
        if self.splits_file is not None:
            return "file:0"
        return "val:0" if options.is_named else "holdout:0"

    def make(self, graph: Graph, options: GraphOptions) -> Split:
        """Return the split of a graph; ``none`` scores nothing."""
        name = self.name_on(options)
        if name != "none":
            return self._named(graph, options, name)
        given = {
            "--train-per-class": self.train_per_class,
            "--score": self.score,
            "--splits-file": self.splits_file,
        }
        for option, value in given.items():
            if value is not None:
                problem = f"{option} has no meaning for --split none"
                raise InputError("AGC-I841", problem, got=str(value), fix=f"leave {option} out")
        return self.without_scoring(graph)

    def make_several(
        self, graph: Graph, options: GraphOptions, n_splits: int | None
    ) -> list[Split]:
        """Return the splits of a comparison: the one named and those with the next numbers."""
        from adagcn.data.splits import parse_split

        name = self.name_on(options)
        if name == "none":
            problem = "a comparison needs labels to score"
            raise InputError("AGC-I842", problem, got="--split none", fix="use --split holdout:0")
        with _in_options():
            kind, first = parse_split(name)
        there = self._n_from(kind, first, options)
        if there is not None and (n_splits or 1) > there:
            problem = f"--splits exceeds the {counted(there, 'split')} from {name} on"
            raise InputError("AGC-I849", problem, got=n_splits, fix=f"use at most {there}")
        n_splits = n_splits or min(_N_COMPARED, there or _N_COMPARED)
        names = [name, *(f"{kind}:{first + k}" for k in range(1, n_splits))]
        splits = [self._named(graph, options, each) for each in names]
        for split in splits:
            check_scored(split)
        return splits

    def _n_from(self, kind: str, first: int, options: GraphOptions) -> int | None:
        """Return how many splits of a kind there are from a number on; None if there is no end."""
        from adagcn.data.gasteiger import KINDS, N_SPLITS
        from adagcn.data.split_files import n_stored_splits

        path = self.splits_file or self._source(options)
        if kind == "file" and path is not None:
            return max(1, n_stored_splits(path) - first)
        return {"public": 1, **dict.fromkeys(KINDS, N_SPLITS - first)}.get(kind)

    def without_scoring(self, graph: Graph) -> Split:
        """Return the split of all labels into those trained on and those stopped on."""
        from adagcn.data import holdout_split
        from adagcn.data.holdout import STOP_SHARE

        stop = STOP_SHARE if self._stop is None else self._stop
        with _in_options():
            return replace(holdout_split(graph.labels, 0, stop=stop, score=0), name="none")

    def _named(self, graph: Graph, options: GraphOptions, name: str) -> Split:
        from adagcn.data import make_split

        with _in_options():
            return make_split(
                graph,
                name,
                source=self._source(options),
                splits_file=self.splits_file,
                train_per_class=self.train_per_class,
                stop=self._stop,
                score=self.score,
            )

    @property
    def _stop(self) -> float | None:
        """The value of ``--stop``, a whole number as one."""
        return None if self.stop is None else _whole(self.stop)

    @staticmethod
    def _source(options: GraphOptions) -> str | None:
        return None if options.is_named else options.data


def _whole(value: float) -> float:
    """Return a number of nodes as a whole number, and a share as it is."""
    return int(value) if value >= 1 and value % 1 == 0 else value


@contextmanager
def _in_options() -> Iterator[None]:
    """Let errors about a split speak of ``--stop`` and ``--score``."""
    try:
        yield
    except InputError as error:
        error.problem = _translated(error.problem)
        error.fix = None if error.fix is None else _translated(error.fix)
        if error.code == "AGC-I222":
            error.fix = f"{error.fix}, or none to score nothing"
        raise


def _translated(text: str) -> str:
    for pattern, option in _IN_OPTIONS.items():
        text = re.sub(pattern, option, text)
    return text


def with_conformal(split: Split, amount: float | None) -> Split:
    """Return a split with what ``--conformal`` sets aside of its stopping nodes, if anything."""
    if amount is None:
        return split
    from adagcn.data import with_calibration

    with _in_options():
        return with_calibration(split, _whole(amount))


def check_scored(split: Split) -> None:
    """Refuse a split that leaves nothing to score."""
    if not len(split.score_nodes):
        raise InputError(
            "AGC-I843",
            f"the split {split.name} leaves no label to score",
            got=split.sizes,
            fix="give more labels, or raise --score",
        )


def check_measurable(metric: Any, graph: Graph, split: Split) -> None:
    """Refuse a measure that has no value on the scored nodes of a split."""
    from adagcn.models.support.measures import undefined

    trained_on = graph.classes[sorted(set(graph.labels[split.train_nodes].tolist()))]
    reason = undefined(metric, graph.ids_and_labels(split.score_nodes)[1], trained_on)
    if reason is not None:
        raise InputError(
            "AGC-I844",
            f"--metric {metric} has no value on the split {split.name}: {reason}",
            fix="use another metric or split",
        )


def refuse_validation_fraction(given: dict[str, Any]) -> None:
    """Refuse a setting that has no effect, since the split says what is stopped on."""
    if "validation_fraction" in given:
        raise InputError(
            "AGC-I845",
            "--set validation_fraction has no effect: the split says what is stopped on",
            got=given["validation_fraction"],
            fix="use --stop",
        )


def label_counts(graph: Graph, split: Split) -> dict[str, int]:
    """Return how many labels are known, and how many are used for what."""
    return {"known": len(graph.labeled_nodes), **split.sizes}


def counts_in_words(labels: dict[str, int]) -> str:
    """Return how many labels are used for what.

    >>> counts_in_words({"known": 1600, "train": 1000, "stop": 200, "score": 300})
    '1,600 known, 1,000 trained on, 200 stopped on, 300 scored, 100 not used'
    """
    words = {"known": "known", "train": "trained on", "stop": "stopped on", "score": "scored"}
    words |= {"calibration": "for prediction sets"} if "calibration" in labels else {}
    said = [f"{labels[name]:,} {word}" for name, word in words.items()]
    unused = 2 * labels["known"] - sum(labels[name] for name in words)
    return ", ".join([*said, f"{unused:,} not used"] if unused else said)


def measure_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return accuracy and the measure asked for as names and values to show."""
    from adagcn.cli.output import percent
    from adagcn.models.support.measures import METRICS

    if facts["accuracy"] is None:
        return [("accuracy", "not measured: no label is scored")]
    rows = [("accuracy", percent(facts["accuracy"]))]
    metric = facts["metric"]
    if metric != "accuracy":
        value, reason = facts["scores"][metric], facts["undefined"].get(metric)
        rows.append((METRICS[metric], f"none: {reason}" if value is None else percent(value)))
    return rows


def empty_sets(split: Split) -> list[str]:
    """Return what to tell a user whose split has an empty set, except where that was asked for."""
    told = []
    if not len(split.stop_nodes):
        told.append("no label is left to stop on: training goes on for as long as its settings say")
    if not len(split.score_nodes) and split.name != "none":
        n_train = counted(len(split.train_nodes), "label")
        told.append(f"no label is left to score beside the {n_train} trained on")
    return told
