"""The map of a page: every node with its mark, its place and what was said of it at each depth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.report.examined import Examined, label_names
from adagcn.report.scored_nodes import plain_text, shown_depths

SIZE = 640  # units of the drawing, both ways
_EDGE = 22  # units of empty room around it
N_COLORS = 6  # of labels; what is rarer on the map shares a gray
ROLES = ("scored", "trained", "other")


def map_section(seen: Examined) -> dict[str, Any]:
    """Return the map: nodes with places, roles, marks and texts, edges, and the legend.

    A node is *right* or *wrong* only if it is scored. It is *unsure* if its margin is below the
    one that a tenth of the scored nodes does not reach.
    """
    graph, scored = seen.graph, seen.scored
    nodes = seen.map.nodes
    places = np.round(_EDGE + seen.map.places * (SIZE - 2 * _EDGE), 1)
    labels = seen.staged[:, seen.n_scored :]
    confidence = seen.staged_confidence[:, seen.n_scored :]
    truth = _truth(seen)
    roles = _roles(seen)
    row_of = {int(node): row for row, node in enumerate(scored.nodes)}
    rows = [row_of.get(int(node)) for node in nodes]
    unsure = scored.unsure
    colors = _colors(labels[-1], len(scored.names))
    marked = [
        {
            "index": index,
            "id": plain_text(graph.node_ids[node], 60),
            "x": float(places[index, 0]),
            "y": float(places[index, 1]),
            "role": roles[index],
            "label": int(labels[-1, index]),
            "color": colors[int(labels[-1, index])],
            "truth": None if truth[index] < 0 else int(truth[index]),
            "confidence": float(confidence[-1, index]),
            "right": None if rows[index] is None else bool(scored.right[rows[index]]),
            "unsure": rows[index] is not None and bool(unsure[rows[index]]),
        }
        for index, node in enumerate(nodes.tolist())
    ]
    depths = shown_depths(len(labels))
    return {
        "size": SIZE,
        "nodes": marked,
        "edges": _edge_path(places, seen.map.edges),
        "pairs": seen.map.edges.tolist(),
        "n_hidden": seen.map.n_hidden,
        "n_edges": len(seen.map.edges),
        "colors": colors,
        "legend": _legend(seen, labels[-1], colors),
        "counts": _counts(marked, seen),
        "chosen": _first_choice(marked, seen),
        "by_depth": [labels[depth].tolist() for depth in depths],
        "confidence": [np.round(100 * confidence[depth]).astype(int).tolist() for depth in depths],
    }


def _truth(seen: Examined) -> NDArray[np.intp]:
    """Return the known label of each node on the map as an index, −1 where it is not known."""
    names = {value: index for index, value in enumerate(label_names(seen))}
    found = seen.graph.labels[seen.map.nodes]
    values = [seen.graph.classes[each].item() if each >= 0 else None for each in found]
    return np.array([-1 if value is None else names.get(value, -1) for value in values])


def _roles(seen: Examined) -> list[str]:
    nodes = seen.map.nodes
    scored, trained = (np.isin(nodes, each) for each in (seen.scored.nodes, seen.trained))
    return [
        "scored" if is_scored else "trained" if is_trained else "other"
        for is_scored, is_trained in zip(scored, trained, strict=True)
    ]


def _colors(labels: NDArray[np.intp], n_labels: int) -> list[int]:
    """Return a color for each label: the most frequent on the map get their own, others gray."""
    order = np.argsort(-np.bincount(labels, minlength=n_labels), kind="stable")
    kept = np.sort(order[:N_COLORS]).tolist()
    return [kept.index(label) if label in kept else N_COLORS for label in range(n_labels)]


def _legend(seen: Examined, labels: NDArray[np.intp], colors: list[int]) -> list[dict[str, Any]]:
    counts = np.bincount(labels, minlength=len(colors))
    named: list[dict[str, Any]] = [
        {"name": seen.scored.names[label], "color": color, "n": int(counts[label])}
        for label, color in enumerate(colors)
        if color < N_COLORS and counts[label]
    ]
    n_rest = sum(int(counts[label]) for label, color in enumerate(colors) if color == N_COLORS)
    rest = [{"name": "other labels", "color": N_COLORS, "n": n_rest}] if n_rest else []
    return [*sorted(named, key=lambda each: -each["n"]), *rest]


def _counts(marked: list[dict[str, Any]], seen: Examined) -> dict[str, int]:
    return {
        "nodes": len(marked),
        "of": seen.graph.n_nodes,
        "scored": sum(each["role"] == "scored" for each in marked),
        "wrong": sum(each["right"] is False for each in marked),
        "unsure": sum(each["unsure"] for each in marked),
        "trained": sum(each["role"] == "trained" for each in marked),
    }


def _edge_path(places: NDArray[np.float64], edges: NDArray[np.intp]) -> str:
    """Return all edges as the commands of one path."""
    ends = places[edges]
    return "".join(f"M{a[0]:g} {a[1]:g}L{b[0]:g} {b[1]:g}" for a, b in ends)


def _first_choice(marked: list[dict[str, Any]], seen: Examined) -> int:
    """Return the index of the node that is looked at first: the hardest one."""
    hardest = int(seen.scored.nodes[seen.scored.hardest(1)[0]])
    return int(np.flatnonzero(seen.map.nodes == hardest)[0])
