"""The hardest nodes, one by one: what the model said, and what spoke for and against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from adagcn.models.support.boosted import BoostedClassifier
from adagcn.report.examined import N_HARDEST, Examined, label_names
from adagcn.report.scored_nodes import plain_text

_N_PARTS = 6  # features and neighbors of a node
_LONGEST = 60


def hard_section(seen: Examined) -> dict[str, Any]:
    """Return a card for each of the hardest nodes; with reasons where the model has them.

    The hardest are the wrong ones whose true label got the least probability, then the right ones
    in that order.
    """
    rows = seen.scored.hardest(N_HARDEST)
    nodes = seen.scored.nodes[rows]
    reasons: list[dict[str, Any]] = [{}] * len(rows)
    notes: tuple[str, ...] = ()
    if isinstance(seen.model, BoostedClassifier):
        ids = seen.graph.node_ids[nodes]
        found = seen.model.explain(ids, n_features=_N_PARTS, n_neighbors=_N_PARTS)
        names = label_names(seen)
        reasons, notes = [_reasons(each, names) for each in found], found.notes
    cards = [
        _card(seen, int(row), number) | reason
        for number, (row, reason) in enumerate(zip(rows, reasons, strict=True))
    ]
    return {"cards": cards, "notes": list(notes), "has_reasons": bool(reasons[0])}


def _card(seen: Examined, row: int, number: int) -> dict[str, Any]:
    """Return what the model said of a node, beside the truth and its neighbors' labels."""
    scored = seen.scored
    node = int(scored.nodes[row])
    return {
        "number": number,
        "id": plain_text(seen.graph.node_ids[node], _LONGEST),
        "right": bool(scored.right[row]),
        "predicted": scored.names[int(scored.predicted[row])],
        "confidence": float(scored.confidence[row]),
        "true": scored.names[int(scored.truth[row])],
        "true_proba": float(scored.truth_proba[row]),
        "margin": float(scored.margin[row]),
        "reasons": False,
        **_neighbor_labels(seen, node),
    }


def _neighbor_labels(seen: Examined, node: int) -> dict[str, Any]:
    """Return how many neighbors a node has, and the labels that are known of them."""
    graph = seen.graph
    near = graph.adjacency.indices[graph.adjacency.indptr[node] : graph.adjacency.indptr[node + 1]]
    near = near[near != node]
    known = graph.labels[near]
    counts = Counter(known[known >= 0].tolist())
    alike = counts.get(int(graph.labels[node]), 0)
    names = label_names(seen)
    values = {label: graph.classes[label].item() for label in counts}
    named = [
        {"name": names.get(values[label], plain_text(values[label], _LONGEST)), "n": n}
        for label, n in counts.most_common(3)
    ]
    return {
        "n_neighbors": len(near),
        "n_known": sum(counts.values()),
        "n_alike": alike,
        "neighbor_labels": named,
    }


def _reasons(each: Any, names: Mapping[Any, str]) -> dict[str, Any]:
    """Return an explanation ready to be shown; widths are shares of the largest part."""
    hops = each.by_hop()
    return {
        "reasons": True,
        "log_odds": each.margin,
        "runner_up": names[each.runner_up],
        "deciding_hop": each.deciding_hop,
        "last_change": each.last_change,
        "hops": _with_widths([{"name": f"hop {hop}", "part": part} for hop, part in hops.items()]),
        "features": _with_widths(
            [
                {
                    "name": plain_text(part.name, _LONGEST),
                    "own": f"{part.own:.4g}",
                    "part": part.margin,
                }
                for part in each.features
            ]
        ),
        "remainder": each.features_remainder,
        "neighbors": _with_widths(
            [
                {
                    "name": plain_text(part.node, _LONGEST),
                    "away": part.hops_away,
                    "weight": part.weight,
                    "label": names.get(part.label, "no known label"),
                    "part": part.margin,
                }
                for part in each.neighbors
            ]
        ),
    }


def _with_widths(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return parts with the lengths of their bars; bars start at one side if none is negative."""
    largest = max((abs(part["part"]) for part in parts), default=0.0) or 1.0
    rows = [part | {"width": float(np.round(abs(part["part"]) / largest, 3))} for part in parts]
    return {"rows": rows, "one_sided": all(part["part"] >= 0 for part in parts)}
