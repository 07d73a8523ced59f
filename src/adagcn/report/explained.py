"""Why nodes got their labels: what each hop adds, over many nodes and for each node on the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.models.support.boosted import BoostedClassifier
from adagcn.report import model_figures as figures
from adagcn.report.examined import Examined
from adagcn.report.inline_svg import inline_svg
from adagcn.report.model_sentences import voting_hops

_MOST_AVERAGED = 400  # scored nodes behind the means of the hops: enough for a figure


@dataclass(frozen=True)
class HopParts:
    """The margins of nodes, split over hops.

    Attributes
    ----------
    margins : ndarray of shape (n_nodes, n_hops)
        What each hop adds to the log-odds of the label over the runner-up; zero for a hop that
        does not vote.
    runner_up : tuple
        The label values that came second.
    """

    margins: NDArray[np.float64]
    runner_up: tuple[Any, ...]

    def first(self, n_nodes: int) -> HopParts:
        """Return the parts of the first nodes."""
        return HopParts(self.margins[:n_nodes], self.runner_up[:n_nodes])

    def after(self, n_nodes: int) -> HopParts:
        """Return the parts of the nodes after the first ones."""
        return HopParts(self.margins[n_nodes:], self.runner_up[n_nodes:])


def hop_parts(seen: Examined, nodes: NDArray[Any]) -> HopParts | None:
    """Return the margins of some nodes by hop; None for a model that does not vote by hops."""
    if not isinstance(seen.model, BoostedClassifier) or len(seen.staged) < 2:
        return None
    found = seen.model.explain(seen.graph.node_ids[nodes], n_features=0, n_neighbors=0)
    margins = np.zeros((len(nodes), len(seen.model.layers_)))
    for row, each in enumerate(found):
        for hop, margin in each.by_hop().items():
            margins[row, hop] = margin
    return HopParts(margins, tuple(each.runner_up for each in found))


def averaged_rows(seen: Examined) -> NDArray[np.intp]:
    """Return the rows of the scored nodes that means are taken over: all, or an even sample."""
    n = seen.n_scored
    if n <= _MOST_AVERAGED:
        return np.arange(n)
    return np.linspace(0, n - 1, _MOST_AVERAGED).astype(np.intp)


def hop_section(seen: Examined, parts: HopParts, rows: NDArray[np.intp]) -> dict[str, str]:
    """Return what each hop adds on average, as a figure and in words.

    Parameters
    ----------
    seen : Examined
        The model and its answers.
    parts : HopParts
        Of the scored nodes in ``rows``.
    rows : ndarray
        Rows of ``seen.scored``.
    """
    right = seen.scored.right[rows]
    of_right, of_wrong = (
        parts.margins[chosen].mean(axis=0) if chosen.any() else None for chosen in (right, ~right)
    )
    shown = of_wrong if of_right is None else of_right
    assert shown is not None
    strongest = int(np.argmax(shown))
    kind = "wrong" if of_right is None else "right"
    described = (
        f"Hop {strongest} adds most on average: {shown[strongest]:+.2f} to the log-odds of the "
        f"predicted label over the runner-up, where the model is {kind}."
    )
    if of_right is not None and of_wrong is not None:
        described += (
            f" The whole margin is {of_right.sum():.2f} where it is right and "
            f"{of_wrong.sum():.2f} where it is wrong."
        )
    hops = voting_hops(seen.model)
    other = None if of_right is None or of_wrong is None else of_wrong[hops]
    figure = figures.hop_bars(hops, shown[hops], other)
    svg = inline_svg(figure, "hops", title="What each hop adds", description=described)
    sampled = "" if len(rows) == seen.n_scored else f" Means over {len(rows)} of the scored nodes."
    return {"svg": svg, "described": described, "sampled": sampled}
