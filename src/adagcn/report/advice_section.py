"""The doctor's advice on a page: from the labels that the fit had, never from the scored ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adagcn.report.examined import Examined

_NOT_SHOWN = "energy and distance"  # what the page does not show


def advice_section(seen: Examined, seed: int) -> dict[str, Any]:
    """Return what the doctor says of the graph, and what it looked at.

    Parameters
    ----------
    seen : Examined
        The graph, and which of its labels the fit had. Where that is not known, the doctor sees
        all of them.
    seed : int
        Of everything that the doctor draws.
    """
    from adagcn.doctor import examine

    graph, split = seen.graph, seen.split
    told = split.name != "none"
    if told:
        known = np.concatenate([split.train_nodes, split.stop_nodes])
        labels = np.full(graph.n_nodes, -1, dtype=np.int64)
        labels[known] = graph.labels[known]
        graph = replace(graph, labels=labels)
    found = examine(graph, seed=seed)
    return {
        "rows": [{"topic": each.topic, "sentence": each.sentence} for each in found.advice],
        "sampled": [phrase for phrase in found.sampled if not phrase.startswith(_NOT_SHOWN)],
        "n_labels": len(graph.labeled_nodes),
        "all_labels": not told,
    }
