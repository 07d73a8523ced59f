"""How sure a model is, against how often it is right; and its prediction sets, where it has any."""

from __future__ import annotations

from typing import Any

import numpy as np

from adagcn.explain.calibration import (
    N_BINS,
    ReliabilityBin,
    coverage_and_size,
    expected_calibration_error,
    reliability_curve,
    tempered,
)
from adagcn.explain.prediction_sets import nodes_needed, prediction_sets
from adagcn.report import model_figures as figures
from adagcn.report.examined import Examined, label_names
from adagcn.report.inline_svg import inline_svg
from adagcn.report.performance import percent

_COVERAGE = 0.9
_NEAR = 0.03  # mean confidence and accuracy this close: neither too sure nor too modest


def certainty_section(seen: Examined) -> dict[str, Any]:
    """Return the reliability curve, the calibration error and what prediction sets achieve."""
    proba, classes = seen.scored.proba, seen.model.classes_
    labels = seen.graph.ids_and_labels(seen.scored.nodes)[1]
    curve = reliability_curve(labels, proba, classes)
    error = expected_calibration_error(labels, proba, classes)
    described = _described(seen, error)
    figure = figures.reliability_figure(
        [each.confidence for each in curve],
        [each.accuracy for each in curve],
        [each.n_nodes for each in curve],
    )
    svg = inline_svg(figure, "reliability", title="Reliability curve", description=described)
    return {
        "svg": svg,
        "described": described,
        "error": error,
        "n_bins": N_BINS,
        "rows": [_row(each) for each in curve],
        "temperature": seen.model.temperature_,
        "error_before": _error_before(seen, labels),
        "sets": _sets(seen, labels),
    }


def _described(seen: Examined, error: float) -> str:
    sure, right = float(seen.scored.confidence.mean()), float(seen.scored.right.mean())
    if abs(sure - right) <= _NEAR:
        judged = "On the whole the model is about as sure as it is right"
    elif sure > right:
        judged = "The model is surer than it should be"
    else:
        judged = "The model is less sure than it could be"
    return (
        f"{judged}: its mean probability is {percent(sure)}, and {percent(right)} are right. "
        f"The expected calibration error, the mean gap of the two over bins, is {percent(error)}."
    )


def _row(each: ReliabilityBin) -> dict[str, Any]:
    return {
        "low": each.low,
        "high": each.high,
        "n": each.n_nodes,
        "confidence": each.confidence,
        "accuracy": each.accuracy,
    }


def _error_before(seen: Examined, labels: Any) -> float | None:
    """Return the calibration error without the temperature; None where there is none."""
    temperature = seen.model.temperature_
    if temperature is None:
        return None
    with np.errstate(divide="ignore"):
        plain = np.exp(tempered(np.log(seen.scored.proba), 1.0 / temperature))
    return expected_calibration_error(labels, plain, seen.model.classes_)


def _sets(seen: Examined, labels: Any) -> dict[str, Any] | None:
    """Return the coverage of the prediction sets on the scored nodes.

    It is not measured where every label is scored, since the calibration nodes are among them, and
    where there are too few of these.
    """
    scores = seen.model.conformity_scores_
    if scores is None or seen.split.name == "none" or len(scores) < nodes_needed(_COVERAGE):
        return None
    sets = prediction_sets(seen.scored.proba, seen.model.classes_, scores, _COVERAGE)
    found = coverage_and_size(labels, sets)
    names = label_names(seen)
    return {
        "nominal": found.nominal,
        "coverage": found.coverage,
        "mean_size": found.mean_size,
        "n_nodes": found.n_nodes,
        "n_empty": found.n_empty,
        "n_single": found.n_single,
        "n_calibration": len(scores),
        "aside": seen.split.calibration_nodes is not None,
        "by_class": [
            {
                "name": names[each.label],
                "n": each.n_nodes,
                "coverage": each.coverage,
                "mean_size": each.mean_size,
            }
            for each in found.by_class
        ],
    }
