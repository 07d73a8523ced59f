"""How good a model is: headline, depth, node weights, labels. Plain numbers, words and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adagcn.models.support.measures import METRICS, Metric, measures
from adagcn.report import model_figures as figures
from adagcn.report.examined import Examined
from adagcn.report.inline_svg import inline_svg
from adagcn.report.model_sentences import voting_hops, what_it_does
from adagcn.report.scored_nodes import confusion, shown_depths, wilson_interval

MOST_LABELS = 25  # of a confusion matrix that can still be read
_SHORT = 4  # letters of labels that can head a column themselves


def headline(seen: Examined) -> dict[str, Any]:
    """Return accuracy with its interval, and what it is to be compared with."""
    scored = seen.scored
    n_right, n = int(scored.right.sum()), len(scored.truth)
    low, high = wilson_interval(n_right, n)
    counts = np.bincount(scored.truth, minlength=len(scored.names))
    frequent = scored.names[int(counts.argmax())]
    return {
        "accuracy": n_right / n,
        "low": low,
        "high": high,
        "n": n,
        "n_right": n_right,
        "chance": float(counts.max() / n),
        "frequent": frequent,
        "verdict": _verdict(low, high, float(counts.max() / n)),
        "does": what_it_does(seen.model, len(seen.trained), seen.n_stopped_on),
    }


def _verdict(low: float, high: float, chance: float) -> str:
    """Return in words whether a model does better than one that always gives one answer."""
    if low > chance:
        return "The model is clearly better than that: its interval lies above the tick."
    if high < chance:
        return "The model is worse than that: its interval lies below the tick."
    return "The model is not clearly better than that: the tick is within its interval."


def other_measures(seen: Examined, first: Metric = "accuracy") -> list[dict[str, Any]]:
    """Return the measures beside accuracy with what they mean, the one asked for first."""
    scored = seen.scored
    labels = seen.graph.ids_and_labels(scored.nodes)[1]
    found = measures(labels, scored.proba, seen.model.classes_)
    meanings = {
        "balanced_accuracy": "mean over labels of the share that is right, so that rare labels "
        "count as much as frequent ones",
        "f1_macro": "mean over labels of F1, the balance of precision and recall",
        "roc_auc": "how well probabilities rank nodes of a label above the others: 50 % is chance",
    }
    rows = [
        {"name": METRICS[key], "number": found[key], "value": percent(found[key]), "about": about}  # type: ignore[index]
        for key, about in sorted(meanings.items(), key=lambda each: each[0] != first)
        if key in found
    ]
    if np.isin(scored.truth, scored.columns).all():
        truth = np.maximum(scored.truth_proba, np.finfo(np.float64).tiny)
        loss = float(-np.log(truth).mean())
        about = "mean of −log of the probability of the true label: 0 is perfect"
        rows.append({"name": "log-loss", "number": loss, "value": f"{loss:.3f}", "about": about})
    return rows


def depth_section(seen: Examined) -> dict[str, Any] | None:
    """Return accuracy by depth, as a figure and as numbers; None for a model of one stage."""
    n, n_depths = len(seen.scored.truth), len(seen.staged)
    if n_depths < 2:
        return None
    right = (seen.staged[:, :n] == seen.scored.truth).sum(axis=1)
    accuracy = (right / n).tolist()
    intervals = [wilson_interval(int(each), n) for each in right]
    figure = figures.depth_curve(accuracy, intervals, headline(seen)["chance"])
    start = "hop 0 alone"
    if not seen.graph.has_node_columns:
        start = "the node's own features alone (hop 0)"
    described = (
        f"Accuracy is {percent(accuracy[0])} with {start} and {percent(accuracy[-1])} with all "
        f"{n_depths} layers. {_best_depth(accuracy)}"
    )
    svg = inline_svg(figure, "depth", title="Accuracy by depth", description=described)
    depths = shown_depths(n_depths)
    moves = figures.cursor_places(figure, accuracy)
    return {
        "svg": svg,
        "described": described,
        "voting": voting_words(seen.model),
        "stages": [
            {
                "depth": depth,
                "accuracy": percent(accuracy[depth]),
                "low": percent(intervals[depth][0]),
                "high": percent(intervals[depth][1]),
                "right": int(right[depth]),
                "move": moves[depth],
            }
            for depth in depths
        ],
    }


def _best_depth(accuracy: Sequence[float]) -> str:
    """Return which depth scores best; said to be hindsight, since the scored nodes tell it."""
    best = int(np.argmax(accuracy))
    if accuracy[best] == accuracy[-1]:
        return "No smaller depth scores higher."
    return f"In hindsight, hops 0 to {best} score highest: {percent(accuracy[best])}."


def voting_words(model: Any) -> str:
    """Return which layers of a boosted model vote, in a sentence."""
    hops, n_layers = voting_hops(model), len(model.layers_)
    if len(hops) == n_layers:
        return f"All {n_layers} layers vote."
    if model.params_.get("combine") == "last":
        return f"Only the last of the {n_layers} layers votes."
    if hops == list(range(hops[0], n_layers)):
        return (
            f"Of the {n_layers} layers, the last {len(hops)} vote (hops {hops[0]} to {hops[-1]}); "
            "those before prepare them. At a smaller depth, the last half up to there votes."
            if model.params_.get("variant.voting_share") == 0.5
            else f"Of the {n_layers} layers, the last {len(hops)} vote."
        )
    return f"{len(hops)} of the {n_layers} layers vote; the others were no better than guessing."


def weights_section(seen: Examined) -> dict[str, str] | None:
    """Return how the weights of training nodes moved; None for a model without such weights."""
    weights = getattr(seen.model, "sample_weights_", None)
    if weights is None or len(weights) < 2:
        return None
    shares = weights / weights.mean(axis=1, keepdims=True)
    n_train = weights.shape[1]
    if np.allclose(weights, weights[0], rtol=1e-9):
        rate = seen.model.params_.get("reweight_rate")
        why = " (reweight_rate is 0, as in this preset)" if rate == 0 else ""
        return {
            "words": f"The weights of the {n_train:,} training nodes stay as they were on every "
            f"layer: this fit does not re-weight nodes{why}."
        }
    size = seen.model.effective_sample_sizes_
    described = (
        f"The {n_train:,} training nodes start with their first weights. On the last layer the "
        f"largest weight is {shares[-1].max():.3g} times an equal share, and the weights rest on "
        f"{percent(size[-1], 0)} of the nodes."
    )
    svg = inline_svg(
        figures.weight_bands(np.maximum(shares, 1e-6)),
        "weights",
        title="Node weights by layer",
        description=described,
    )
    return {"svg": svg, "words": described}


def class_section(seen: Examined) -> dict[str, Any]:
    """Return the table of labels and the confusion matrix at every depth shown."""
    scored, n = seen.scored, len(seen.scored.truth)
    n_labels = len(scored.names)
    final = confusion(scored.truth, scored.predicted, n_labels)
    rows = [_class_row(scored.names, final, label) for label in range(n_labels)]
    if n_labels > MOST_LABELS:
        return {
            "rows": rows,
            "short": False,
            "matrix": None,
            "pairs": _confused_pairs(scored.names, final),
        }
    depths = shown_depths(len(seen.staged))
    tables = [confusion(scored.truth, seen.staged[depth, :n], n_labels) for depth in depths]
    return {
        "rows": rows,
        "short": max(map(len, scored.names)) <= _SHORT,
        "matrix": final.tolist(),
        "by_depth": [table.ravel().tolist() for table in tables],
        "pairs": _confused_pairs(scored.names, final),
    }


def _class_row(names: tuple[str, ...], table: NDArray[np.int64], label: int) -> dict[str, Any]:
    """Return precision, recall and F1 of a label, and what it is most often taken for."""
    right, true, taken = table[label, label], table[label].sum(), table[:, label].sum()
    wrong = table[label].copy()
    wrong[label] = 0
    return {
        "name": names[label],
        "number": label + 1,
        "nodes": int(true),
        "precision": float(right / taken) if taken else None,
        "recall": float(right / true) if true else None,
        "f1": float(2 * right / (true + taken)) if true + taken else None,
        "taken_for": names[int(wrong.argmax())] if wrong.any() else None,
        "n_taken": int(wrong.max()),
    }


def _confused_pairs(names: tuple[str, ...], table: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the most frequent mistakes."""
    wrong = table.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:3]
    pairs = [np.unravel_index(place, wrong.shape) for place in order]
    return [
        {"true": names[int(i)], "taken_for": names[int(j)], "n": int(wrong[i, j])}
        for i, j in pairs
        if wrong[i, j]
    ]


def percent(share: float | None, decimals: int = 1) -> str:
    r"""Return a share of one as a percentage that no line break parts, a dash for none.

    >>> percent(0.8259), percent(None)
    ('82.6\xa0%', '–')
    """
    return "–" if share is None else f"{100 * share:.{decimals}f}\u00a0%"
