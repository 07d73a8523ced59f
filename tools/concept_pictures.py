"""Draw the pictures of the pages in docs/concepts: ``python tools/concept_pictures.py``.

Every picture is computed or laid out here, by the library where it shows numbers. Backgrounds are
transparent and colors are mid-tones, so that one file is readable on a light and on a dark page.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from scipy import sparse

from adagcn import AdaGCNClassifier, Graph, load_dataset
from adagcn.data import make_split
from adagcn.data.nodesets import fit_on_split
from adagcn.propagation.normalize import make_propagator
from adagcn.report.drawing import save_figure

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"

BLUE, ORANGE, GREEN, PURPLE = "#1F7FBF", "#D5680F", "#1B9471", "#B0659A"
INK = "#7A7A7A"  # as far from white as from the dark page: 4.3 to 1 on both
PALE = "#9A9A9A"
BLEND = LinearSegmentedColormap.from_list("orange to blue", [ORANGE, "#B9B4A7", BLUE])

# Two groups that are joined by three edges; the node in question sits between them.
PLACES = {
    0: (0.4, 2.6), 1: (1.5, 3.2), 2: (0.2, 1.3), 3: (1.2, 2.0), 4: (1.1, 0.5), 5: (2.3, 2.5),
    6: (2.5, 1.2), 7: (4.0, 2.9), 8: (4.0, 0.6), 9: (5.2, 3.2), 10: (5.0, 1.9), 11: (6.2, 2.4),
    12: (5.6, 0.7), 13: (6.6, 1.2),
}  # fmt: skip
EDGES = [
    (0, 1), (0, 2), (0, 3), (1, 3), (1, 5), (2, 3), (2, 4), (3, 4), (3, 5), (3, 6), (5, 6), (4, 6),
    (5, 7), (6, 8), (7, 9), (7, 10), (8, 10), (8, 12), (9, 10), (9, 11), (10, 11), (10, 12),
    (11, 13), (12, 13), (7, 8),
]  # fmt: skip
# Blue and orange words of each node. Node 6 writes orange words among blue neighbors.
BLUE_WORDS = [6, 5, 7, 4, 6, 5, 2, 3, 2, 1, 2, 1, 3, 2]
ORANGE_WORDS = [1, 3, 2, 2, 1, 3, 5, 5, 6, 6, 5, 7, 4, 6]
ASKED = 6
LABELED = {0: "blue", 4: "blue", 9: "orange", 13: "orange"}


def words() -> np.ndarray:
    """Features of the small graph: one column of blue words, one of orange words."""
    return np.column_stack([BLUE_WORDS, ORANGE_WORDS]).astype(np.float32)


def small_graph() -> Graph:
    """The graph of the first picture."""
    return Graph.from_scipy(adjacency(), features=words(), node_ids=[str(node) for node in PLACES])


def axes_without_frame(figure: Figure, place: Any) -> Any:
    axes = figure.add_subplot(place)
    axes.set_axis_off()
    return axes


def hops() -> Figure:
    """What propagation does to a node, and what each hop says of it."""
    figure = Figure(figsize=(8.4, 3.9), layout="constrained")
    rows = figure.add_gridspec(2, 4, height_ratios=[1.0, 1.3])
    propagator = make_propagator(adjacency(), "symmetric")
    shown = {0: "its own words", 1: "and its neighbors'", 3: "three steps away", 12: "too far"}
    values, hop = words().astype(float), 0
    for column, (depth, meaning) in enumerate(shown.items()):
        while hop < depth:
            values, hop = propagator @ values, hop + 1
        axes = axes_without_frame(figure, rows[0, column])
        draw_graph(axes, values[:, 0] / values.sum(axis=1))
        axes.set_title(f"hop {depth}: {meaning}", fontsize=10, color=INK)
    draw_votes(figure.add_subplot(rows[1, :]), votes_by_hop(7))
    return figure


def adjacency() -> sparse.csr_array:
    ends = np.array(EDGES)
    both = np.vstack([ends, ends[:, ::-1]])
    ones = np.ones(len(both))
    return sparse.csr_array((ones, (both[:, 0], both[:, 1])), shape=(len(PLACES), len(PLACES)))


def draw_graph(axes: Any, blue_share: np.ndarray) -> None:
    for one, other in EDGES:
        (x0, y0), (x1, y1) = PLACES[one], PLACES[other]
        axes.plot([x0, x1], [y0, y1], color=PALE, linewidth=1.0, zorder=1)
    places = np.array(list(PLACES.values()))
    colors = BLEND(np.clip((blue_share - 0.2) / 0.6, 0, 1))
    axes.scatter(*places.T, s=105, c=colors, edgecolors="none", zorder=2)
    axes.scatter(*PLACES[ASKED], s=240, facecolors="none", edgecolors=INK, linewidths=2, zorder=3)
    axes.margins(0.09, 0.16)


def votes_by_hop(n_layers: int) -> np.ndarray:
    """Margin that each hop adds for blue at the node in question, of a real fit."""
    known = [str(node) for node in LABELED]
    model = AdaGCNClassifier(
        small_graph(), preset="paper", n_layers=n_layers, hidden_units=16, max_epochs=150,
        random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no stopping nodes: wanted here
        model.fit(known, list(LABELED.values()))
    so_far = [float(scores[0]) for scores in model.staged_decision_function([str(ASKED)])]
    toward_blue = -1 if model.classes_[1] == "orange" else 1
    return toward_blue * np.diff([0.0, *so_far])


def draw_votes(axes: Any, votes: np.ndarray) -> None:
    total = float(votes.sum())
    heights = [*votes, total]
    places = [*range(len(votes)), len(votes) + 0.6]
    axes.bar(places, heights, width=0.62, color=[BLUE if v > 0 else ORANGE for v in heights])
    axes.axhline(0, color=PALE, linewidth=1)
    names = [f"hop {hop}" for hop in range(len(votes))]
    axes.set_xticks(places, [*names, "sum"])
    axes.tick_params(colors=INK, length=0, labelsize=10)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.set_ylabel("blue minus orange", color=INK, fontsize=10)
    for place, height in zip(places, heights, strict=True):
        up = 1 if height > 0 else -1
        axes.annotate(
            f"{height:+.1f}".replace("-", "−"), (place, height), (0, 4 * up),
            textcoords="offset points", ha="center", va="bottom" if up > 0 else "top",
            color=INK, fontsize=9,
        )  # fmt: skip
    axes.margins(y=0.2)
    axes.set_title("What each hop says of the ringed node: it is blue", fontsize=10, color=INK)


def box(axes: Any, place: tuple[float, float], text: str, color: str, **more: float) -> None:
    """A rounded box around ``place``, with white text."""
    width, height = more.get("width", 1.5), more.get("height", 0.7)
    corner = (place[0] - width / 2, place[1] - height / 2)
    axes.add_patch(
        FancyBboxPatch(corner, width, height, boxstyle="round,pad=0.02,rounding_size=0.12",
                       facecolor=color, edgecolor="none", zorder=2)
    )  # fmt: skip
    axes.text(*place, text, color="white", ha="center", va="center", zorder=3,
              fontsize=more.get("fontsize", 11))  # fmt: skip


def arrow(
    axes: Any, start: tuple[float, float], end: tuple[float, float], text: str = "", **more: Any
) -> None:
    """An arrow from one place to another, with its name above or beside it."""
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=13, linewidth=1.4,
                        color=more.get("color", INK), shrinkA=0, shrinkB=0, zorder=1,
                        connectionstyle=more.get("bend", "arc3"))
    )  # fmt: skip
    if text:
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        dx, dy = more.get("shift", (0.0, 0.17))
        axes.text(middle[0] + dx, middle[1] + dy, text, color=more.get("color", INK), fontsize=9.5,
                  ha=more.get("ha", "center"), va="center")  # fmt: skip


def architecture() -> Figure:
    """The flow of a fit: after the paper's Figure 1, which shows the same parts."""
    figure = Figure(figsize=(8.4, 4.0), layout="constrained")
    axes = axes_without_frame(figure, 111)
    columns = [0.0, 3.3, 6.6, 10.2]
    hop_names = ["X", "ÂX", "Â²X", r"Â$^{\,L}$X"]
    for place, (x, name) in enumerate(zip(columns, hop_names, strict=True)):
        layer = "L" if place == 3 else str(place)
        box(axes, (x, 4.0), name, BLUE)
        box(axes, (x, 2.4), f"$f_{{{layer}}}$", GREEN)
        box(axes, (x, 0.8), f"$h_{{{layer}}}$", PURPLE)
        arrow(axes, (x, 3.62), (x, 2.8))
        arrow(axes, (x, 2.02), (x, 1.2))
        if place:
            left = columns[place - 1] + 0.8
            gap = "…" if place == 3 else ""
            arrow(axes, (left, 4.0), (x - 0.8, 4.0), f"times Â {gap}", color=BLUE)
            arrow(axes, (left, 2.54), (x - 0.8, 2.54), f"parameters {gap}", color=GREEN)
            arrow(axes, (left, 2.26), (x - 0.8, 2.26), "node weights", color=ORANGE,
                  shift=(0, -0.2))  # fmt: skip
    box(axes, (5.1, -0.9), "sum over hops → label", INK, width=3.4)
    for x in columns:
        arrow(axes, (x, 0.42), (5.1 + (x - 5.1) * 0.28, -0.52))
    for y, name in (
        (4.0, "features,\nhop by hop"),
        (2.4, "one small\nnetwork"),
        (0.8, "class\nscores"),
    ):
        axes.text(-1.0, y, name, color=INK, fontsize=10, ha="right", va="center")
    axes.set_xlim(-2.8, 11.1)
    axes.set_ylim(-1.35, 4.5)
    return figure


def comparison() -> Figure:
    """Where the graph enters: after the paper's Figure 2, which compares the same four systems."""
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = axes_without_frame(figure, 111)
    for x, draw in zip((0.0, 3.3, 6.6, 10.6), (_gcn, _sgc, _jk, _adagcn), strict=True):
        draw(axes, x)
    axes.set_xlim(-1.3, 13.1)
    axes.set_ylim(-1.25, 6.75)
    return figure


def stack(axes: Any, x: float, names: list[tuple[str, str]], top: float = 5.2) -> list[float]:
    """Boxes from top to bottom with arrows between; return their heights."""
    heights = [top - 1.3 * row for row in range(len(names))]
    for row, (name, color) in enumerate(names):
        box(axes, (x, heights[row]), name, color, width=1.9, height=0.66, fontsize=9.5)
        if row:
            arrow(axes, (x, heights[row - 1] - 0.36), (x, heights[row] + 0.38))
    return heights


def title(axes: Any, x: float, name: str, words: str) -> None:
    axes.text(x, 6.55, name, color=INK, fontsize=11.5, ha="center", va="center", weight="bold")
    axes.text(x, 6.08, words, color=INK, fontsize=8.5, ha="center", va="center")


def _gcn(axes: Any, x: float) -> None:
    title(axes, x, "GCN", "Â in every layer")
    names = [("X", BLUE), ("ReLU(Â · W₀)", ORANGE), ("ReLU(Â · W₁)", ORANGE), ("Â · W₂", ORANGE)]
    stack(axes, x, [*names, ("label", INK)])


def _sgc(axes: Any, x: float) -> None:
    title(axes, x, "SGC", "Â first, one linear map")
    stack(axes, x, [("X", BLUE), ("ÂX", BLUE), ("Â²X", BLUE), ("times W", GREEN), ("label", INK)])


def _jk(axes: Any, x: float) -> None:
    title(axes, x, "JK", "layers side by side")
    names = [("X", BLUE), ("ReLU(Â · W₀)", ORANGE), ("ReLU(Â · W₁)", ORANGE)]
    heights = stack(axes, x, [*names, ("joined, times W", GREEN), ("label", INK)])
    arrow(axes, (x + 0.97, heights[1]), (x + 0.97, heights[3]), bend="arc3,rad=-0.5")


def _adagcn(axes: Any, x: float) -> None:
    title(axes, x, "AdaGCN", "Â outside of training, a sum of votes")
    heights = stack(axes, x - 1.15, [("X", BLUE), ("ÂX", BLUE), ("Â²X", BLUE)])
    for row, height in enumerate(heights):
        box(axes, (x + 1.25, height), f"$f_{row}$", GREEN, width=1.1, height=0.66, fontsize=10.5)
        arrow(axes, (x - 0.17, height), (x + 0.68, height))
        arrow(axes, (x + 1.83, height), (x + 0.86, 0.34), bend="arc3,rad=-0.42", color=PURPLE)
        if row:
            above = heights[row - 1]
            arrow(axes, (x + 1.1, above - 0.36), (x + 1.1, height + 0.38), color=GREEN)
            arrow(axes, (x + 1.4, above - 0.36), (x + 1.4, height + 0.38), color=ORANGE)
            axes.text(x + 0.96, (above + height) / 2, "θ", color=GREEN, fontsize=9.5, ha="right",
                      va="center")  # fmt: skip
            axes.text(x + 1.54, (above + height) / 2, "w", color=ORANGE, fontsize=9.5, ha="left",
                      va="center")  # fmt: skip
    box(axes, (x, 0.0), "sum → label", INK, width=2.1, height=0.66, fontsize=9.5)


def weights() -> Figure:
    """Node weights and accuracy by layer, of Algorithm 1 with and without re-weighting."""
    graph = load_dataset("cora")
    split = make_split(graph, "val:0")
    figure = Figure(figsize=(8.4, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2)
    lines = (("re-weighted", 1.0, ORANGE, -17), ("equal weights", 0.0, BLUE, 8))
    for name, rate, color, shift in lines:
        model = AdaGCNClassifier(
            graph, preset="paper", hidden_units=128, n_layers=12, reweight_rate=rate, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the collapse is what the picture shows
            fit_on_split(model, graph, split)
        share = 100 * np.asarray(model.effective_sample_sizes_)
        scored = graph.node_ids[split.score_nodes]
        labels = graph.classes[graph.labels[split.score_nodes]]
        accuracy = [100 * each for each in model.staged_score(scored, labels)]
        for axes, line in ((left, share), (right, accuracy)):
            axes.plot(line, color=color, linewidth=2, marker="o", markersize=4)
            axes.annotate(name, (len(line) - 1, line[-1]), (0, shift), textcoords="offset points",
                          color=color, fontsize=10, ha="right")  # fmt: skip
    left.set_title("effective sample of labeled nodes, %", fontsize=10, color=INK)
    right.set_title("accuracy of the layers so far, %", fontsize=10, color=INK)
    for axes in (left, right):
        axes.set_xlabel("layer", color=INK)
        axes.tick_params(colors=INK, length=0)
        axes.grid(axis="y", color=PALE, alpha=0.35, linewidth=0.8)
        axes.spines[:].set_visible(False)
        axes.margins(y=0.16)
    return figure


PICTURES = {
    "concept-hops": hops,
    "concept-architecture": architecture,
    "concept-comparison": comparison,
    "concept-weights": weights,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        drawn = PICTURES[name]()
        drawn.patch.set_alpha(0)
        for each in drawn.axes:
            each.patch.set_alpha(0)
        save_figure(IMAGES / f"{name}.svg", drawn)
