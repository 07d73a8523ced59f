"""How sure a model is on scored nodes, as ``evaluate`` reports it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adagcn.cli.output import note, percent, rows_table
from adagcn.errors import InputError, counted

if TYPE_CHECKING:
    from adagcn.cli.evaluate import LabelsUsed
    from adagcn.data import Split
    from adagcn.graph import Graph
    from adagcn.models.support.classifier import NodeClassifier

_COVERAGE = 0.9  # that is checked where none is asked for


def calibration_facts(
    labels: NDArray[Any], proba: NDArray[np.floating[Any]], classes: NDArray[Any]
) -> dict[str, Any]:
    """Return the expected calibration error and the reliability curve, ready for JSON."""
    from adagcn.explain.calibration import (
        N_BINS,
        expected_calibration_error,
        reliability_curve,
    )

    return {
        "expected_calibration_error": expected_calibration_error(labels, proba, classes),
        "n_bins": N_BINS,
        "reliability": [asdict(each) for each in reliability_curve(labels, proba, classes)],
    }


def checked_sets(
    model: NodeClassifier, graph: Graph, used: LabelsUsed, coverage: float | None
) -> dict[str, Any] | None:
    """Return how the model's prediction sets do on the scored nodes; None if it has no sets.

    Coverage is never measured on the calibration nodes, which would flatter it. Where every label
    is scored it is not measured at all. Where the calibration nodes are not those that the split
    sets aside, a note says that they may be among the scored ones.
    """
    from adagcn.explain.calibration import coverage_and_size
    from adagcn.explain.prediction_sets import checked_coverage, nodes_needed

    scores = model.conformity_scores_
    wanted = _COVERAGE if coverage is None else checked_coverage(coverage)
    if scores is None and coverage is None:
        return None
    if used.split.name == "none" and scores is not None:
        problem = "coverage is not measured: every label is scored, the calibration nodes' too"
        if coverage is not None:
            raise InputError("AGC-I1363", problem, got=coverage, fix="give the split of the fit")
        note(problem)
        return None
    if scores is not None and coverage is None and len(scores) < nodes_needed(wanted):
        told = counted(len(scores), "calibration node")
        note(f"coverage is not measured: {told} are too few for {percent(wanted)}; add --coverage")
        return None
    ids, labels = graph.ids_and_labels(used.scored)
    found = coverage_and_size(labels, model.predict_set(ids, wanted))
    assert scores is not None  # predict_set has refused a model without
    if used.split.calibration_nodes is None:
        note(
            f"the calibration nodes of the model are not those that fit sets aside of "
            f"{used.split.name}: the coverage holds only if none of them is scored"
        )
    return {**asdict(found), "calibration_nodes": len(scores)}


def as_fitted(split: Split, graph: Graph, model: NodeClassifier) -> Split:
    """Return the split with the model's calibration nodes, if these are what fit sets aside of it.

    A model file holds the number and a digest of these nodes, which suffices to tell.
    """
    from adagcn.data import with_calibration
    from adagcn.models.support.calibrated import ids_digest

    scores = model.conformity_scores_
    if scores is None or len(scores) >= len(split.stop_nodes):
        return split
    parted = with_calibration(split, len(scores))
    digest = ids_digest(graph.node_ids[parted.calibration_nodes])
    return parted if digest == model.calibration_digest_ else split


def certainty_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the calibration error, the temperature and the prediction sets as names and values."""
    error, n_bins = (
        facts["calibration"][name] for name in ("expected_calibration_error", "n_bins")
    )
    told = f"{percent(error)}: mean gap of confidence and accuracy, in {n_bins} bins"
    rows = [("calibration error", told)]
    if facts["temperature"] is not None:
        rows.append(("temperature", f"{facts['temperature']:.3f}"))
    sets = facts["prediction_sets"]
    if sets is not None:
        told = (
            f"{percent(sets['coverage'])} hold the true label ({percent(sets['nominal'])} asked); "
            f"{sets['mean_size']:.2f} labels on average, {sets['n_single']:,} of one label, "
            f"{sets['n_empty']:,} of none"
        )
        rows.append(("prediction sets", told))
    return rows


def reliability_table(calibration: dict[str, Any], width: int) -> Any:
    """Return one row for each bin of confidence that holds nodes."""
    rows = [
        [
            f"{100 * each['low']:.1f} to {percent(each['high'])}",
            f"{each['n_nodes']:,}",
            percent(each["confidence"]),
            percent(each["accuracy"]),
        ]
        for each in calibration["reliability"]
    ]
    return rows_table(["confidence", "nodes", "mean", "accuracy"], rows, width=width)
