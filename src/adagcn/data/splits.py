"""Which nodes are trained on, which decide when to stop, and which are scored."""

from __future__ import annotations

import os
import re
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adagcn.data.catalog import CATALOG
from adagcn.data.converted import STORED_SPLIT
from adagcn.data.gasteiger import KINDS, N_SPLITS, gasteiger_split, n_known_of
from adagcn.data.holdout import holdout_split
from adagcn.data.nodesets import (
    Regime,
    Split,
    check_class_size,
    check_count,
    check_labeled,
    checked_labels,
    refuse_nodes,
    with_label_noise,
)
from adagcn.data.split_files import file_split
from adagcn.errors import InputError
from adagcn.formats.npz import read_npz
from adagcn.graph import Graph

__all__ = [
    "Regime",
    "Split",
    "SplitName",
    "file_split",
    "gasteiger_split",
    "holdout_split",
    "make_split",
    "parse_split",
    "public_split",
    "stratified_split",
]

_SPLIT_TEXT = re.compile(
    r"(?:(val|test|fresh|stratified|holdout|file):(0|[1-9]\d{0,9})|(public))", re.ASCII
)
# Which arguments of make_split have a meaning for which kind of split.
_MEANT = {
    **{kind: {"train_per_class", "n_known", "stop"} for kind in KINDS},
    "stratified": {"train_per_class", "stop"},
    "holdout": {"train_per_class", "stop", "score"},
    "file": {"splits_file"},
    "public": set(),
}


class SplitName(NamedTuple):
    """The parts of a split's name."""

    kind: Literal["val", "test", "fresh", "stratified", "holdout", "file", "public"]
    number: int


def parse_split(text: str) -> SplitName:
    """Parse the name of a split.

    Parameters
    ----------
    text : str
        ``val:0`` … ``val:19``, ``test:0`` … ``test:19``, ``fresh:0`` … ``fresh:19``,
        ``holdout:SEED``, ``stratified:SEED``, ``file:0``, ``file:1``, … or ``public``.

    Returns
    -------
    SplitName
        The kind and the number (0 for ``public``).

    Examples
    --------
    >>> parse_split("val:3")
    SplitName(kind='val', number=3)
    """
    match = _SPLIT_TEXT.fullmatch(text) if isinstance(text, str) else None
    if match is None or (match[1] in KINDS and int(match[2]) >= N_SPLITS):
        raise InputError(
            "AGC-I222",
            "there is no such split",
            got=text,
            fix="write val:0 to val:19, test:0 to test:19, fresh:0 to fresh:19, holdout:SEED, "
            "stratified:SEED, file:0 (masks of a file) or public",
        )
    return SplitName(match[1] or match[3], int(match[2] or 0))  # type: ignore[arg-type]


def make_split(  # noqa: PLR0913
    graph: Graph,
    text: str,
    *,
    source: str | os.PathLike[str] | None = None,
    splits_file: str | os.PathLike[str] | None = None,
    train_per_class: int | None = None,
    n_known: int | None = None,
    stop: float | None = None,
    score: float | None = None,
    regime: Regime | None = None,
) -> Split:
    """Make the named split of a graph.

    Parameters
    ----------
    graph : Graph
        A graph with labels; nodes without a label are in none of the sets.
    text : str
        The split's name; see :func:`parse_split`.
    source : str or path-like, optional
        The ``.npz`` file that the graph was read from; ``public`` is stored there, and ``file:i``
        if there is no ``splits_file``.
    splits_file : str or path-like, optional
        The masks or the table that ``file:i`` is read from; see
        :func:`adagcn.data.split_files.file_split`.
    train_per_class : int, optional
        Training nodes of each class: 20 by default, for ``stratified`` half of a small class; for
        ``holdout`` all that are neither stopped on nor scored.
    n_known : int, optional
        How many nodes ``val``, ``test`` and ``fresh`` draw from: as set for the data set, else
        1,500.
    stop : float or int, optional
        What is stopped on: for ``val``, ``test`` and ``fresh`` a number of nodes, 500 by default;
        for ``stratified`` a share of each class's other nodes, 0.25 by default; for ``holdout`` a
        share or a number, 0.2 by default.
    score : float, optional
        Share of each class that ``holdout`` scores, 0.2 by default.
    regime : Regime, optional
        Wrong labels, for any split; for ``val``, ``test`` and ``fresh`` also other numbers of
        training nodes.

    Returns
    -------
    Split
        Positions of nodes in ``graph``.

    Raises
    ------
    InputError
        The split does not exist or cannot be made, or an argument has no meaning for it.
    """
    kind, number = parse_split(text)
    given: dict[str, Any] = {
        "splits_file": splits_file,
        "train_per_class": train_per_class,
        "n_known": n_known,
        "stop": stop,
        "score": score,
    }
    given = {name: value for name, value in given.items() if value is not None}
    _check_meant(text, kind, given)
    if regime is not None:
        check_regime(kind, regime, train_per_class)
    match kind:
        case "public":
            split = _public_split_of(graph, source)
        case "file":
            split = file_split(graph, number, splits_file or source, source=source)
        case "holdout":
            split = holdout_split(graph.labels, number, **given)
        case "stratified":
            split = stratified_split(
                graph.labels,
                number,
                train_per_class=train_per_class,
                stop_fraction=0.25 if stop is None else stop,
                classes=graph.classes,
            )
        case _:
            sizes = _sizes(graph, given)
            split = gasteiger_split(
                graph.labels, kind, number, classes=graph.classes, regime=regime, **sizes
            )
    noise = None if regime is None else regime.label_noise
    return split if noise is None else with_label_noise(split, graph.labels, noise)


def check_regime(kind: str, regime: Regime, train_per_class: int | None) -> None:
    """Refuse a regime that has no meaning for a kind of split, or beside ``train_per_class``."""
    numbers = {"n_train": regime.n_train, "imbalance": regime.imbalance}
    given = {name: value for name, value in numbers.items() if value is not None}
    if regime.at_most:
        given["at_most"] = True
    for name, value in given.items():
        if kind not in KINDS:
            problem = f"{name} has no meaning for {kind} splits"
            raise InputError("AGC-I266", problem, got=value, fix=f"leave {name} out, or use val:0")
        if name == "at_most" and train_per_class is None:
            fix = "give train_per_class, or leave at_most out"
            raise InputError("AGC-I267", "at_most needs train_per_class", got=None, fix=fix)
        if name != "at_most" and train_per_class is not None:
            problem = f"{name} and train_per_class exclude each other"
            raise InputError("AGC-I268", problem, got=train_per_class, fix="leave one of them out")


def _check_meant(text: str, kind: str, given: dict[str, Any]) -> None:
    """Refuse arguments that have no meaning for this kind of split, or that exclude each other."""
    for name, value in given.items():
        if name not in _MEANT[kind]:
            problem = f"{name} has no meaning for the split {text}"
            raise InputError("AGC-I243", problem, got=value, fix=f"leave {name} out")
    if {"train_per_class", "score"} <= set(given):
        raise InputError(
            "AGC-I244",
            f"train_per_class and score exclude each other: {text} scores all that is neither "
            "trained nor stopped on",
            got=given["score"],
            fix="leave one of them out",
        )
    stop = given.get("stop")
    if kind in KINDS and stop is not None and not (stop >= 1 and stop % 1 == 0):
        raise InputError(
            "AGC-I245",
            f"stop must be a whole number of nodes for the split {text}",
            got=stop,
            fix="use for example 500",
        )


def _sizes(graph: Graph, given: dict[str, Any]) -> dict[str, int]:
    """Return the sizes of a split of the paper's protocol on this graph."""
    sizes = {"n_known": n_known_of(graph), **given}
    if "stop" in sizes:
        sizes["n_stop"] = int(sizes.pop("stop"))
    return sizes


def stratified_split(
    labels: ArrayLike,
    seed: int,
    *,
    train_per_class: int | None = None,
    stop_fraction: float = 0.25,
    classes: ArrayLike | None = None,
) -> Split:
    """Split labeled nodes at random, each class in the same proportions.

    Parameters
    ----------
    labels : array-like of int, shape (n_nodes,)
        Class of each node, −1 where unknown.
    seed : int
        Seed of the random draw.
    train_per_class : int, optional
        Training nodes of each class; by default 20, or half of the class if that is less.
    stop_fraction : float
        Share of each class's other nodes to stop on, at least one node; the rest is scored.
    classes : array-like, optional
        Names of the classes, for messages.

    Returns
    -------
    Split
        Every labeled node is in one of the three sets.
    """
    if not 0 < stop_fraction < 1:
        raise InputError(
            "AGC-I226",
            "stop_fraction must be between 0 and 1",
            got=stop_fraction,
            fix="use for example 0.25",
        )
    labels = checked_labels(labels)
    if train_per_class is not None:
        check_count("train_per_class", train_per_class)
    rng = np.random.default_rng(seed)
    name = f"stratified:{seed}"
    check_labeled(labels, name)
    train, stop, score = [], [], []
    for label in np.unique(labels[labels >= 0]):
        members = rng.permutation(np.flatnonzero(labels == label))
        n_train = min(20, len(members) // 2) if train_per_class is None else train_per_class
        check_class_size(members, max(n_train, 1) + 2, label, classes, name)
        n_others = len(members) - n_train
        n_stop = min(max(1, round(stop_fraction * n_others)), n_others - 1)
        train.append(members[:n_train])
        stop.append(members[n_train : n_train + n_stop])
        score.append(members[n_train + n_stop :])
    return Split(name, *(np.sort(np.concatenate(nodes)) for nodes in (train, stop, score)))


def public_split(path: str | os.PathLike[str]) -> Split:
    """Read the public split of a converted data set.

    Parameters
    ----------
    path : str or path-like
        An ``.npz`` file made by ``adagcn data convert`` from Planetoid's or Reddit's files.

    Returns
    -------
    Split
        The split named ``"public"``.
    """
    stored = read_npz(path, keys=STORED_SPLIT)
    if not set(STORED_SPLIT) <= set(stored):
        raise InputError(
            "AGC-I228",
            "the file has no public split",
            got=str(path),
            fix="convert Planetoid's own files with `adagcn data convert`, or use val:0",
        )
    return Split("public", *(stored[key] for key in STORED_SPLIT))


def _public_split_of(graph: Graph, source: str | os.PathLike[str] | None) -> Split:
    if source is None or (graph.name in CATALOG and not _labels_are_of(graph, source)):
        raise InputError(
            "AGC-I229",
            "the public split belongs to Planetoid's own files; the named data sets, including the "
            "packaged Cora, have another node order",
            got=graph.name,
            fix="convert Planetoid's files with `adagcn data convert` and pass the .npz file, or "
            "use val:0",
        )
    split = public_split(source)
    n_stored = len(read_npz(source, required=("labels",), keys=())["labels"])
    if n_stored != graph.n_nodes:
        raise InputError(
            "AGC-I235",
            f"the public split of {source} needs all of its {n_stored:,} nodes",
            got=graph.n_nodes,
            fix="use the whole graph of the file, not only its largest component",
        )
    split.check_range(n_stored)
    used = np.concatenate([split.train_nodes, split.stop_nodes, split.score_nodes])
    unlabeled = used[graph.labels[used] < 0]
    refuse_nodes("AGC-I230", f"the split of {source} has nodes without a label", unlabeled)
    return split


def _labels_are_of(graph: Graph, source: str | os.PathLike[str]) -> bool:
    """Return whether a graph has a file's labels in the file's order."""
    stored = read_npz(source, required=("labels",), keys=())["labels"]
    return np.array_equal(graph.labels, stored)
