"""One run: what determines it, and its result."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from adagcn.data.nodesets import Split, fit_on_split
from adagcn.engines.threads import threads
from adagcn.errors import AdaGCNWarning, IntegrityError, PresetNotice
from adagcn.experiments.provenance import code_versions
from adagcn.graph import Graph
from adagcn.models.support.classifier import NodeClassifier
from adagcn.models.support.measures import Metric, measures
from adagcn.models.support.registry import build_model, model_class

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Number = Annotated[int, Field(ge=0, lt=2**32)]
Measure = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Param = bool | int | float | str
Choice = bool | int | Annotated[float, Field(allow_inf_nan=False)] | str
Bits = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]*={0,2}$")]  # base64

# Python hides the first ones by default; the last was shown when the run was planned.
_UNSAID = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, PresetNotice)
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)


class Run(BaseModel):
    """One fit of one model on one split, fully determined before it starts.

    Parameters
    ----------
    model : str
        Key of the model in the registry.
    preset : str
        Name of the recipe; not part of ``key``, so that recipes of equal values share their runs.
    params : dict
        Every hyper-parameter, resolved.
    dataset : str
        Name of the graph.
    data_digest, split_digest : str
        SHA-256 of the graph and of the three sets of nodes.
    split : str
        How the split is written, such as ``"val:0"``.
    train_per_class : int or None
        Training nodes of each class; None is the split's own rule.
    init : int
        Which repetition on this split, from 0.
    seed : int
        Seed of the model. Numbered, it is the campaign's seed (0) plus ``init``: repetition 0 is
        then what ``adagcn fit`` gives by default on the same split. Derived, it is
        :func:`derived_seed` of the campaign's seed, the split and ``init``: no two runs of a model
        then share their draws. Which of the two, ``Spec.seeds`` says.
    threads : int
        Threads of the numeric libraries; their number may change the last digits.
    """

    model_config = _STRICT

    model: Name
    preset: Name
    params: dict[Name, Param]
    dataset: Name
    data_digest: Digest
    split: Name
    split_digest: Digest
    train_per_class: Number | None
    init: Number
    seed: Number
    threads: Annotated[int, Field(ge=1, le=1024)] = 1

    @property
    def key(self) -> str:
        """SHA-256 of everything that determines the result, and of nothing else."""
        cause = self.model_dump(
            include={"model", "params", "data_digest", "split_digest", "seed", "threads"}
        )
        return hashlib.sha256(canonical_json(cause).encode()).hexdigest()

    def __str__(self) -> str:
        """Return the run in a few words."""
        return f"{self.model} ({self.preset}) on {self.dataset}, {self.split}, init {self.init}"


class RunResult(BaseModel):
    """The result of one run, with its time and memory.

    Parameters
    ----------
    accuracy, stop_accuracy : float
        On the scored and on the stopping nodes.
    accuracy_by_depth : list of float
        On the scored nodes, of the ensembles of the first 1, 2, … layers.
    epochs_by_layer : list of (int or None)
        Epochs of each layer; None for a learner without any.
    seconds : float
        Time of the fit alone.
    peak_memory_mb : float or None
        Peak memory of the process so far; None if the system does not report it.
    model_digest : str
        SHA-256 of what was learned, as ``adagcn fit`` prints it for the same preset.
    notices : list of str
        Warnings of the fit.
    versions : dict
        Versions of this package and its libraries, and the commit in a checkout.
    finished : str
        When, in UTC.
    scores : dict
        Every measure of :mod:`adagcn.models.support.measures` that has a value on the scored nodes;
        empty if an earlier release trained the run.
    right : str or None
        Which scored nodes were classified right: a bit for each, in the order of the split, packed
        and in base64; :func:`right_nodes` unpacks them. None if an earlier release trained the run,
        as with the next three.
    scored_digest : str or None
        SHA-256 of the positions of the scored nodes, so that bits never meet other nodes.
    fit_cpu_seconds, predict_cpu_seconds : float or None
        Processor time of the fit, and of predicting all scored nodes once; over all threads.
    choices : dict
        What the model chose for itself during the fit, by name.
    """

    model_config = _STRICT

    accuracy: Share
    stop_accuracy: Share | None
    accuracy_by_depth: Annotated[list[Share], Field(min_length=1, max_length=10_000)]
    epochs_by_layer: Annotated[list[Number | None], Field(max_length=10_000)]
    seconds: Measure
    peak_memory_mb: Measure | None
    model_digest: Digest
    notices: Annotated[list[str], Field(max_length=1000)]
    versions: dict[Name, Name | None]
    finished: Name
    scores: dict[Name, Share] = {}
    right: Bits | None = None
    scored_digest: Digest | None = None
    fit_cpu_seconds: Measure | None = None
    predict_cpu_seconds: Measure | None = None
    choices: dict[Name, Choice] = {}

    @model_validator(mode="after")
    def _bits_name_their_nodes(self) -> Self:
        if (self.right is None) != (self.scored_digest is None):
            raise ValueError("right and scored_digest must be given together")
        return self

    def score(self, metric: Metric) -> float | None:
        """Return one measure; None if it has no value or was not taken."""
        return self.accuracy if metric == "accuracy" else self.scores.get(metric)


def canonical_json(value: Any) -> str:
    """Return a value as JSON in canonical form."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def derived_seed(seed: int, split: str, init: int) -> int:
    """Return the seed of one repetition on one split: 32 bits of the SHA-256 of all three.

    >>> derived_seed(0, "val:3", 0)
    317718172
    """
    content = canonical_json([seed, split, init]).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big")


def resolved_params(model: NodeClassifier) -> dict[str, Param]:
    """Return every hyper-parameter as ``fit`` will use it, except those it finds itself."""
    beside = {"class_weight": model.class_weight, "calibrate": model.calibrate}
    params = {**model.resolved_params(), **beside}
    return {name: value for name, value in params.items() if value is not None}


def execute(run: Run, graph: Graph, split: Split) -> RunResult:
    """Fit and score one run.

    Parameters
    ----------
    run : Run
        What to fit: model, settings, split and seed.
    graph : Graph
        The graph with the digest that ``run`` names.
    split : Split
        The split with the digest that ``run`` names.

    Returns
    -------
    RunResult
        Independent of the process, the order and other runs, except for time and memory.
    """
    if (graph.digest, split.digest) != (run.data_digest, run.split_digest):
        raise IntegrityError(
            "AGC-G910",
            f"the run {run} was planned on another graph or split",
            got=(graph.digest[:12], split.digest[:12]),
            fix=f"use the data with the digests {run.data_digest[:12]}, {run.split_digest[:12]}",
        )
    kind = model_class(run.model)
    free = kind.settable()  # what a model fixes for itself is among the params
    given = {name: each for name, each in kind.completed(run.params).items() if name in free}
    model = build_model(run.model, graph, preset=run.preset, settings=given, random_state=run.seed)
    _warm_up()
    with threads(run.threads), _notices() as notices:
        start = time.process_time()
        seconds = fit_on_split(model, graph, split)
        fitted = time.process_time()
        ids, labels = graph.ids_and_labels(split.score_nodes)
        asked = time.process_time()
        proba = model.predict_proba(ids)
        answered = time.process_time()
        by_depth = list(model.staged_score(ids, labels))
        scores = measures(labels, proba, model.classes_)
    return RunResult(
        accuracy=by_depth[-1],
        stop_accuracy=model.stop_accuracy_,
        accuracy_by_depth=by_depth,
        epochs_by_layer=model.n_epochs_,
        seconds=round(seconds, 3),
        peak_memory_mb=_peak_memory_mb(),
        model_digest=model.model_digest_,
        notices=notices,
        versions=code_versions(),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        scores={**scores, "accuracy": by_depth[-1]},
        right=packed(model.classes_[proba.argmax(axis=1)] == labels),
        scored_digest=nodes_digest(split.score_nodes),
        fit_cpu_seconds=round(fitted - start, 3),
        predict_cpu_seconds=round(answered - asked, 3),
        choices=_plain(getattr(model, "choices_", {})),
    )


def right_nodes(result: RunResult, split: Split) -> NDArray[np.bool_] | None:
    """Return which scored nodes of a split a run classified right.

    Parameters
    ----------
    result : RunResult
        The result of a run on this split.
    split : Split
        Its ``score_nodes`` say which node each bit stands for.

    Returns
    -------
    ndarray of bool or None
        One per scored node, in the order of ``split.score_nodes``; None if an earlier release
        trained the run.

    Raises
    ------
    IntegrityError
        The bits are of other nodes, or there are too many or too few of them.
    """
    if result.right is None:
        return None
    found = nodes_digest(split.score_nodes)
    if result.scored_digest != found:
        raise IntegrityError(
            "AGC-G913",
            f"a run's right nodes are not those that the split {split.name!r} scores",
            got=str(result.scored_digest)[:12],
            fix=f"use the split whose scored nodes have the digest {found[:12]}",
        )
    n_nodes = len(split.score_nodes)
    try:
        octets = base64.b64decode(result.right, validate=True)
    except ValueError:
        octets = b""
    bits = np.unpackbits(np.frombuffer(octets, np.uint8))
    if len(octets) != (n_nodes + 7) // 8 or bits[n_nodes:].any():
        raise IntegrityError(
            "AGC-G914",
            f"a run must have one bit for each of the {n_nodes:,} scored nodes of the split "
            f"{split.name!r}",
            got=f"{len(octets):,} bytes",
            fix="train the run again in a new ledger",
        )
    return bits[:n_nodes].astype(bool)


def packed(right: NDArray[np.bool_]) -> str:
    """Return truth values as base64 of their bits.

    >>> packed(np.array([True, False, True]))
    'oA=='
    """
    return base64.b64encode(np.packbits(right).tobytes()).decode("ascii")


def nodes_digest(nodes: NDArray[np.int64]) -> str:
    """Return the SHA-256 of a list of positions, order included."""
    return hashlib.sha256(nodes.astype("<i8").tobytes()).hexdigest()


def _plain(choices: Mapping[str, Any]) -> dict[str, Choice]:
    """Return what a model chose without numpy's types, which JSON does not know."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in choices.items()
        if value is not None
    }


@cache
def _warm_up() -> None:
    """Let torch load what it puts off until the first optimizer, so that no fit pays for it."""
    import torch

    torch.optim.Adam([torch.zeros(1)])


@contextmanager
def _notices() -> Iterator[list[str]]:
    """Collect the warnings that users would see instead of showing them, each once."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    for each in caught:
        ours = issubclass(each.category, AdaGCNWarning)
        if not issubclass(each.category, _UNSAID):
            texts.append(f"{'' if ours else f'{each.category.__name__}: '}{each.message}")
    texts[:] = dict.fromkeys(texts)


def _peak_memory_mb() -> float | None:
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
