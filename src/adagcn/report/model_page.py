"""The page of a fitted model: which sections it has, and what stands in each."""

from __future__ import annotations

from typing import Any

import numpy as np

from adagcn.data.nodesets import Split
from adagcn.graph import Graph
from adagcn.models.support.measures import Metric
from adagcn.report import performance
from adagcn.report.advice_section import advice_section
from adagcn.report.certainty import certainty_section
from adagcn.report.examined import Examined, examine, label_names
from adagcn.report.explained import HopParts, averaged_rows, hop_parts, hop_section
from adagcn.report.hard_nodes import hard_section
from adagcn.report.map_section import map_section
from adagcn.report.model_facts import choice_section, data_section, fit_sentence, settings_section
from adagcn.report.model_sentences import voting_hops
from adagcn.report.page import Page
from adagcn.report.scored_nodes import plain_text


def model_page(
    model: Any,
    graph: Graph,
    split: Split,
    *,
    metric: Metric = "accuracy",
    seed: int = 0,
    advice: bool = True,
) -> Page:
    """Return the page of a fitted model on a graph.

    Parameters
    ----------
    model : NodeClassifier
        Fitted; of any kind. Sections that do not apply to it are left out.
    graph : Graph
        The graph to look the nodes up in, with the labels to compare with.
    split : Split
        Which nodes are scored and which the model was trained on; one with the name ``none``
        scores every labeled node.
    metric : str
        The measure that stands first beside accuracy.
    seed : int
        Of what the doctor draws.
    advice : bool
        Whether the doctor looks at the graph; it fits small models for that.

    Returns
    -------
    Page
        Its HTML, and the numbers on it.
    """
    seen = examine(model, graph, split)
    content = _sections(seen, metric)
    content["advice"] = advice_section(seen, seed) if advice else None
    return Page("model.html", content, _facts(seen, content, metric))


def _facts(seen: Examined, content: dict[str, Any], metric: Metric) -> dict[str, Any]:
    found = content["headline"]
    return {
        "model": seen.model.model_key,
        "model_digest": seen.model.model_digest_,
        "preset": seen.model.params_["preset"],
        "nodes": found["n"],
        "accuracy": found["accuracy"],
        "interval": (found["low"], found["high"]),
        "metric": metric,
        "measures": {each["name"]: each["number"] for each in content["measures"]},
        "expected_calibration_error": content["certainty"]["error"],
        "temperature": content["certainty"]["temperature"],
        "prediction_sets": content["certainty"]["sets"],
        "map_nodes": len(content["map"]["nodes"]),
    }


def _sections(seen: Examined, metric: Metric) -> dict[str, Any]:
    name = plain_text(seen.graph.name or "your graph", 60)
    depth = performance.depth_section(seen)
    classes = performance.class_section(seen)
    drawn = map_section(seen)
    rows = averaged_rows(seen)
    parts = hop_parts(seen, np.concatenate([seen.scored.nodes[rows], seen.map.nodes]))
    return {
        "title": f"{seen.model.model_key} on {name}",
        "name": name,
        "model_key": seen.model.model_key,
        "preset": seen.model.params_["preset"],
        "headline": performance.headline(seen),
        "fit": fit_sentence(seen),
        "measures": performance.other_measures(seen, metric),
        "depth": depth,
        "hops": None if parts is None else hop_section(seen, parts.first(len(rows)), rows),
        "weights": performance.weights_section(seen),
        "choices": choice_section(seen.model),
        "labels": list(seen.scored.names),
        "classes": classes,
        "certainty": certainty_section(seen),
        "map": drawn,
        "hard": hard_section(seen),
        "data": data_section(seen),
        "settings": settings_section(seen),
        "script_data": _script_data(seen, depth, classes, drawn)
        | ({} if parts is None else _script_parts(seen, parts.after(len(rows)))),
    }


def _script_data(
    seen: Examined,
    depth: dict[str, Any] | None,
    classes: dict[str, Any],
    drawn: dict[str, Any],
) -> dict[str, Any]:
    """Return what the page's script needs to move along depth and to show a node."""
    return {
        "labels": list(seen.scored.names),
        "stages": [] if depth is None else depth["stages"],
        "confusion": classes.get("by_depth", []),
        "colors": drawn["colors"],
        "nodes": [
            {key: node[key] for key in ("id", "role", "truth", "x", "y", "unsure")}
            for node in drawn["nodes"]
        ],
        "edges": drawn["pairs"],
        "map_labels": drawn["by_depth"],
        "map_confidence": drawn["confidence"],
    }


def _script_parts(seen: Examined, parts: HopParts) -> dict[str, Any]:
    """Return what each hop adds for the nodes on the map."""
    names = label_names(seen)
    return {
        "map_parts": np.round(parts.margins, 3).tolist(),
        "map_runner_up": [names[value] for value in parts.runner_up],
        "voting": voting_hops(seen.model),
    }
