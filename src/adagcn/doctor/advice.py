"""Advice in plain sentences, each with the number that it rests on.

A sentence claims only what its interval bears out; otherwise it says that it cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from adagcn.boosting.look import USUAL_TELEPORT
from adagcn.doctor.diagnosis import Advice, Diagnosis
from adagcn.doctor.held_out import FEWEST, Candidate, Gain, close_to
from adagcn.doctor.intervals import Estimate, mean, paired_difference
from adagcn.doctor.label_counts import FEW_LABELS
from adagcn.doctor.leakage import Suspect
from adagcn.errors import counted, shown

_LONGEST_NAME = 40
_MANY_NAMES = 3
_UNEVEN = 3.0  # labels of the largest class for each of the smallest
_WORTH = 0.01  # of accuracy: less is not worth labeling twice as much
_COVERED = 0.95
_WEAK, _VAGUE = 0.15, 0.4  # adjusted homophily, and the width of its interval


def advise(found: Diagnosis, candidates: Sequence[Candidate]) -> Diagnosis:
    """Return a diagnosis with its advice.

    Parameters
    ----------
    found : Diagnosis
        The sections.
    candidates : sequence of Candidate
        Every smoothing that was tried, with the loss of each judged node.
    """
    sentences = (
        *_leakage(found),
        *_graph(found),
        *_depth(candidates),
        *(_teleport(candidates) if found.features.kind != "none" else ()),
        *_side_by_side(candidates),
        *_labels(found),
        *_imbalance(found),
        *_coverage(found),
        *_columns(found),
    )
    return replace(found, advice=tuple(Advice(topic, text) for topic, text in sentences))


Sentences = Iterator[tuple[str, str]]


def _leakage(found: Diagnosis) -> Sentences:
    suspects = found.features.suspects
    for suspect in suspects[:_MANY_NAMES]:
        yield "leakage", f"{_suspicion(suspect)}: drop it unless it is known before the label is."
    if len(suspects) > _MANY_NAMES:
        more = counted(len(suspects) - _MANY_NAMES, "more column")
        yield "leakage", f"{more} give the label away as well."


def _suspicion(suspect: Suspect) -> str:
    column = f"Column {suspect.column}" if suspect.name is None else f"Column {_name(suspect.name)}"
    of = f"({suspect.n_agree:,} of {suspect.n_labeled:,} labeled nodes agree)"
    if suspect.kind == "values":
        return f"{column} tells the labels apart by itself {of}"
    side = "above" if suspect.above else "below"
    return (
        f"{column} is {side} {suspect.threshold:.4g} for label {_name(suspect.label)} and hardly "
        f"any other {of}"
    )


def _graph(found: Diagnosis) -> Sentences:
    """Say whether the graph helps at all."""
    gain, labels = found.gain, found.labels
    if not found.structure.n_edges - found.structure.self_loops:
        yield "graph", "There are no edges between nodes: a model of the features alone will do."
    elif gain is not None:
        yield "graph", _gain_in_words(gain, has_features=found.features.kind != "none")
    elif not labels.n_labeled:
        yield "graph", "There are no labels, so nothing can tell whether the graph helps."
    else:
        yield (
            "graph",
            f"{counted(labels.n_labeled, 'label')} of "
            f"{_classes(sum(each.n_labels > 0 for each in labels.classes))} cannot tell whether "
            f"the graph helps: label {FEWEST} nodes or more, two at least of each class.",
        )
    yield from _homophily(found)


def _gain_in_words(gain: Gain, *, has_features: bool) -> str:
    floor = f"; the largest class alone would give {_percent(gain.majority)}"
    at_floor = gain.with_graph.low <= gain.majority
    fitted = f"{gain.n_fitted:,} labels"
    if not has_features:
        reached = (
            f"of {gain.n_judged:,} held-out labels {_percent(gain.with_graph.value)} are right "
            f"with {fitted}{floor}"
        )
        told = "tell little" if at_floor else "tell the labels"
        return f"There are no features, and the edges alone {told}: {reached}."
    accuracies = (
        f"{_percent(gain.with_graph.value)} of held-out labels are right with it and "
        f"{_percent(gain.features_alone.value)} with the features alone, a difference of "
        f"{_points(gain.difference)} ({fitted}, {gain.n_judged:,} judged)"
        f"{floor if at_floor else ''}"
    )
    if gain.difference.low > 0.0:
        return f"The graph helps: {accuracies}."
    if gain.difference.high < 0.0:
        return f"The graph hurts with so many labels: {accuracies}. Compare with a perceptron."
    if gain.loss_difference.low > 0.0:
        return (
            f"The graph makes probabilities better (log-loss lower by "
            f"{_plain(gain.loss_difference)}), but cannot be shown to make labels better: "
            f"{accuracies}."
        )
    return f"Cannot tell whether the graph helps: {accuracies}."


def _homophily(found: Diagnosis) -> Sentences:
    homophily = found.homophily
    if homophily is None or homophily.adjusted is None:
        return
    adjusted = homophily.adjusted
    if adjusted.has_zero and adjusted.high - adjusted.low > _VAGUE:
        said = "Cannot tell whether neighbors have the same label more often than by chance"
    elif adjusted.has_zero:
        said = "Neighbors have the same label about as often as chance would have it"
    elif adjusted.high < 0.0:
        said = "Neighbors have the same label less often than chance would have it"
    else:
        hardly = "hardly " if adjusted.value < _WEAK else ""
        said = f"Neighbors have the same label {hardly}more often than chance would have it"
    yield (
        "homophily",
        f"{said}: "
        f"{_percent(homophily.edge.value)} of {counted(homophily.n_edges, 'edge')} between labeled "
        f"nodes against {_percent(homophily.degree_chance)}, or {_plain(adjusted)} where 0 is "
        "chance and 1 perfect.",
    )


def _depth(candidates: Sequence[Candidate]) -> Sentences:
    """Say how deep to go."""
    plain = [each for each in candidates if each.kind == "hop"]
    if len(plain) < 2:
        return
    best, last = _best(plain), plain[-1]
    close = [each.n_hops for each in close_to(best, plain) if each is not best]
    ending = f"; {_numbers(close)} cannot be told from it" if close else ""
    drop = paired_difference(last.right, best.right)
    if drop.low > 0.0:
        ending += f"; hop {last.n_hops} is worse by {_points(drop)}"
    if best.n_hops and 0 in close:
        said = (
            f"Cannot tell how deep to go: hop {best.n_hops} has the lowest loss ({_accuracy(best)})"
        )
    elif best.n_hops:
        deeper = ", the last one looked at: go deeper" if best is last and not close else ""
        said = f"Of plain hops, hop {best.n_hops} has the lowest loss ({_accuracy(best)}){deeper}"
    elif close:
        said = f"Cannot tell whether plain hops pay: hop 0 has the lowest loss ({_accuracy(best)})"
    else:
        said = (
            "Plain hops do not pay: hop 0, the features as they are, has the lowest loss "
            f"({_accuracy(best)})"
        )
    yield "depth", f"{said}{ending}."


def _teleport(candidates: Sequence[Candidate]) -> Sentences:
    """Say how much teleport to use."""
    smoothed = [each for each in candidates if each.kind == "teleport"]
    if not smoothed:
        return
    best, plain = _best(smoothed), _best([each for each in candidates if each.kind == "hop"])
    difference = mean(plain.losses - best.losses)
    compared = f"log-loss {best.loss:.3f} against {plain.loss:.3f} of plain hop {plain.n_hops}"
    usual, how = "", "lower"
    if best.teleport != USUAL_TELEPORT:
        close = [each.teleport for each in close_to(best, smoothed)]
        verdict = "cannot be told from it" if USUAL_TELEPORT in close else "is worse"
        usual = f"; the usual {USUAL_TELEPORT:g} {verdict}"
    if difference.low > 0.0:
        said = f"Keep a share of the own features in every hop: teleport {best.teleport:g} is best"
    elif difference.high < 0.0:
        said, usual = f"Teleport does not pay; the best is {best.teleport:g}", ""
        how, difference = "higher", mean(best.losses - plain.losses)
    else:
        said = f"Cannot tell whether teleport pays; the best is {best.teleport:g}"
    yield "teleport", f"{said} ({compared}, {how} by {_plain(difference)}){usual}."


def _side_by_side(candidates: Sequence[Candidate]) -> Sentences:
    """Say whether hops should be kept apart instead of mixed."""
    apart = next((each for each in candidates if each.kind == "side by side"), None)
    if apart is None:
        return
    mixed = _best([each for each in candidates if each is not apart])
    difference = mean(mixed.losses - apart.losses)
    points = paired_difference(mixed.right, apart.right)
    if difference.low <= 0.0 or points.low <= 0.0:
        return
    yield (
        "model",
        f"Own and neighbors' features are best kept apart: hops 0 to 2 side by side have log-loss "
        f"{apart.loss:.3f}, lower by {_plain(difference)} than any mixture, and "
        f"{_points(points)} more accuracy. Compare with mixhop, sign and graphsage.",
    )


def _labels(found: Diagnosis) -> Sentences:
    """Say whether the labels are enough."""
    curve, labels = found.curve, found.labels
    if curve is None:
        if found.gain is not None:
            few = counted(labels.n_labeled, "label")
            yield "labels", f"Cannot tell whether more labels pay: {few} are too few for a curve."
        return
    sample = curve.n_now < labels.n_labeled
    if curve.n_twice == curve.n_now:
        half = curve.points[len(curve.points) // 2]
        yield (
            "labels",
            f"Every node is labeled: {_percent(curve.now.value)} with {curve.n_now:,} labels, "
            f"{_percent(half.accuracy.value)} with {half.n_labels:,}.",
        )
        return
    of_all = f" of the {labels.n_labeled:,}" if sample else ""
    yield (
        "labels",
        f"{_worth(curve.more)}: {_share(curve.now)} with {curve.n_now:,}{of_all}, about "
        f"{_share(curve.twice)} with {curve.n_twice:,} (extrapolated), a difference of "
        f"{_points(curve.more)}.",
    )


def _worth(more: Estimate) -> str:
    """Return whether twice as many labels would pay, as far as the interval goes."""
    if more.high < _WORTH:
        return "The labels are enough"
    if more.low > _WORTH:
        return "More labels would pay"
    return "More labels may pay" if more.value > _WORTH else "Cannot tell whether more labels pay"


def _imbalance(found: Diagnosis) -> Sentences:
    labels = found.labels
    few = [each for each in labels.few if labels.n_labeled]
    if few:
        names = ", ".join(_name(each.label) for each in few[:_MANY_NAMES])
        rest = f" and {len(few) - _MANY_NAMES:,} more" if len(few) > _MANY_NAMES else ""
        verb = "has" if len(few) == 1 else "have"
        yield (
            "labels",
            f"{_classes(len(few)).capitalize()} {verb} fewer than {FEW_LABELS} labels ({names}"
            f"{rest}): too few to learn from, and to judge by.",
        )
    if labels.imbalance is None or labels.imbalance <= _UNEVEN:
        return
    seen = [each for each in labels.classes if each.n_labels]
    largest = max(seen, key=lambda each: each.n_labels)
    smallest = min(seen, key=lambda each: each.n_labels)
    yield (
        "imbalance",
        f"Label {_name(largest.label)} has {labels.imbalance:.3g} times as many labels as "
        f"{_name(smallest.label)} ({largest.n_labels:,} and {smallest.n_labels:,}): judge by "
        "balanced accuracy, and try balanced class weights.",
    )


def _coverage(found: Diagnosis) -> Sentences:
    coverage, structure = found.labels.coverage, found.structure
    if coverage and coverage[-1] < _COVERED:
        n_far = round((1.0 - coverage[-1]) * structure.n_nodes)
        within = f"{len(coverage) - 1} hops" if len(coverage) > 10 else "any number of hops"
        yield (
            "coverage",
            f"{counted(n_far, 'node')} ({_percent(1.0 - coverage[-1])}) have no labeled node "
            f"within {within}: only their features speak for them.",
        )
    if structure.isolated and structure.n_edges:
        yield (
            "structure",
            f"{counted(structure.isolated, 'node')} "
            f"({_percent(structure.isolated / structure.n_nodes)}) "
            f"{'has' if structure.isolated == 1 else 'have'} no neighbors: every hop leaves their "
            "features as they are.",
        )


def _columns(found: Diagnosis) -> Sentences:
    checks = found.features
    idle = [
        f"{count:,} {what}"
        for count, what in (
            (checks.empty, "empty"),
            (checks.constant, "constant"),
            (checks.duplicate, "equal to an earlier one"),
        )
        if count
    ]
    if idle:
        yield (
            "features",
            f"Of {counted(checks.n_columns, 'feature column')}, {_and(idle)}: cost without "
            "information.",
        )
    if checks.rows_without:
        yield (
            "features",
            f"{counted(checks.rows_without, 'node')} "
            f"{'has' if checks.rows_without == 1 else 'have'} no features (all zero): only their "
            "neighbors speak for them.",
        )
    if checks.very_different:
        yield (
            "features",
            f"Columns differ in size (standard deviations from {checks.smallest_deviation:.3g} to "
            f"{checks.largest_deviation:.3g}): models bring them to one size by default.",
        )


# Words


def _best(candidates: Sequence[Candidate]) -> Candidate:
    return min(candidates, key=lambda each: each.loss)


def _accuracy(candidate: Candidate) -> str:
    return f"accuracy {_share(candidate.accuracy)}"


def _share(found: Estimate) -> str:
    return f"{_percent(found.value)} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(found: Estimate) -> str:
    """Return a difference of accuracies in points, with its interval.

    >>> _points(Estimate(0.124, 0.106, 0.141))
    '12.4 points [10.6, 14.1]'
    """
    return f"{100 * found.value:.1f} points [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _plain(found: Estimate) -> str:
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _name(value: Any) -> str:
    """Return a name of the user's on one line, in quotes if it is text, its middle cut if long."""
    text = shown(value)
    if len(text) <= _LONGEST_NAME:
        return text
    return f"{text[: _LONGEST_NAME // 2]}…{text[-(_LONGEST_NAME // 2 - 1) :]}"


def _classes(count: int) -> str:
    return f"{count:,} class{'' if count == 1 else 'es'}"


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _numbers(hops: Sequence[int]) -> str:
    """Return hops in words, runs of them as ranges.

    >>> _numbers([2]), _numbers([1, 3, 4, 5])
    ('hop 2', 'hops 1 and 3 to 5')
    """
    runs: list[list[int]] = []
    for hop in hops:
        if runs and hop == runs[-1][-1] + 1:
            runs[-1].append(hop)
        else:
            runs.append([hop])
    words = [
        word
        for run in runs
        for word in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))
    ]
    return f"hop{'' if len(hops) == 1 else 's'} {_and(words)}"
