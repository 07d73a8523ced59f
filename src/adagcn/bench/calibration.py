"""``adagcn bench calibration``: whether probabilities and prediction sets hold what they say.

Two questions, each on validation splits. *error*: the expected calibration error on Cora-ML of
AdaGCN and of APPNP, before and after a temperature that is fitted to the same stopping nodes.
*sets*: how often sets of a wanted coverage hold the true label, on the four data sets of the paper,
with half of the stopping nodes set aside for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from adagcn.bench.kept_fits import KeptFits
from adagcn.data import load_dataset, make_split
from adagcn.data.nodesets import fit_on_split, with_calibration
from adagcn.errors import InputError
from adagcn.explain.calibration import coverage_and_size, expected_calibration_error, tempered
from adagcn.graph import Graph
from adagcn.models.support.registry import build_model

Part: TypeAlias = Literal["error", "sets"]

SET_SHARE = 0.5  # of the stopping nodes, kept for prediction sets
COVERAGE = 0.9

# Model, preset and data set of every row, and the number of splits.
ROWS: Mapping[Part, tuple[tuple[str, str, str], ...]] = {
    "error": (
        ("adagcn", "adaptive", "cora_ml"),
        ("adagcn", "tuned", "cora_ml"),
        ("appnp", "paper", "cora_ml"),
    ),
    "sets": tuple(
        ("adagcn", preset, dataset)
        for preset in ("instant", "tuned")
        for dataset in ("citeseer", "cora_ml", "pubmed", "ms_academic")
    ),
}
SPLITS: Mapping[Part, int] = {"error": 10, "sets": 20}


@dataclass(frozen=True)
class CalibrationFit:
    """What determines one fit and its measures."""

    part: Part
    model: str
    preset: str
    dataset: str
    split: str
    seed: int

    @property
    def row(self) -> tuple[str, str, str]:
        """What the fits of a row of the table share."""
        return self.model, self.preset, self.dataset


def planned(parts: Sequence[Part], n_splits: int | None, seed: int) -> list[CalibrationFit]:
    """Return every fit of some parts, row by row; ``n_splits`` replaces the usual number."""
    for part in parts:
        if n_splits is not None and n_splits > SPLITS[part]:
            raise InputError(
                "AGC-I1364",
                f"--splits is more than the {SPLITS[part]} of the part {part}",
                got=n_splits,
                fix=f"use at most {SPLITS[part]}",
            )
    return [
        CalibrationFit(part, *row, f"val:{number}", seed)
        for part in parts
        for row in ROWS[part]
        for number in range(n_splits or SPLITS[part])
    ]


def measure_calibration(
    fits: Sequence[CalibrationFit],
    kept: KeptFits,
    provenance: Callable[[], Mapping[str, Any]],
    *,
    train: bool,
) -> Iterator[tuple[CalibrationFit, dict[str, Any]]]:
    """Yield each fit with its result, as it is recorded or as it is found out now.

    Parameters
    ----------
    fits : sequence of CalibrationFit
        What to measure.
    kept : KeptFits
        Finished fits, which are not repeated; a new one is recorded at once.
    provenance : callable
        Gives what is recorded of the code beside each result.
    train : bool
        Whether to train what is missing; else it is left out.
    """
    graphs: dict[str, Graph] = {}
    for fit in fits:
        found = kept.find(asdict(fit))
        if found is None and train:
            if fit.dataset not in graphs:
                graphs = {fit.dataset: load_dataset(fit.dataset)}  # one in memory at a time
            found = {**measured(fit, graphs[fit.dataset]), "code": dict(provenance())}
            kept.add(asdict(fit), found)
        if found is not None:
            yield fit, found


def measured(fit: CalibrationFit, graph: Graph) -> dict[str, Any]:
    """Fit on one split and return the measures of its part, on the scored nodes."""
    split = make_split(graph, fit.split)
    settings = {"calibrate": "temperature"} if fit.part == "error" else {}
    if fit.part == "sets":
        split = with_calibration(split, SET_SHARE)
    model = build_model(
        fit.model, graph, preset=fit.preset, settings=settings, random_state=fit.seed
    )
    seconds = fit_on_split(model, graph, split)
    ids, labels = graph.ids_and_labels(split.score_nodes)
    log_proba, classes = model.predict_log_proba(ids), model.classes_
    found = {
        "sizes": split.sizes,
        "split_digest": split.digest,
        "accuracy": float((classes[log_proba.argmax(axis=1)] == labels).mean()),
        "seconds": round(seconds, 3),
    }
    if fit.part == "sets":
        quality = coverage_and_size(labels, model.predict_set(ids, COVERAGE))
        return {**found, **{k: v for k, v in asdict(quality).items() if k != "by_class"}}
    assert model.temperature_ is not None
    before = np.exp(tempered(log_proba, 1.0 / model.temperature_))
    return {
        **found,
        "temperature": model.temperature_,
        "error_before": expected_calibration_error(labels, before, classes),
        "error_after": expected_calibration_error(labels, np.exp(log_proba), classes),
    }
