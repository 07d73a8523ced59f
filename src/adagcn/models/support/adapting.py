"""Settings that say "auto", decided by a short look at the graph before the fit.

What is decided depends on features, edges and the labels of training and stopping nodes alone; see
:mod:`adagcn.boosting.look` for how candidates are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting import look
from adagcn.boosting.fit_state import LabeledNodes
from adagcn.boosting.look import LookedAt, Operator, Tried
from adagcn.errors import counted
from adagcn.graph import Features, Graph
from adagcn.models.support import problem as problems
from adagcn.models.support.boosted_settings import BoostedSettings
from adagcn.propagation.normalize import make_propagator
from adagcn.training.hop_fitter import HopTask

MOST_LAYERS = 24  # with teleport
LAYERS_BEYOND = 8  # hops past the best one that a fit without teleport may go on for
PSEUDO_LABELS = 500
OPEN = ("feature_norm", "max_features", "teleport", "first_layer_l2", "pseudo_labels")
FEW_LABELS = 0.25  # of the nodes: above that, pseudo-labels have little to add


FitNetwork: TypeAlias = Callable[[BoostedSettings, HopTask], Any]


@dataclass(frozen=True)
class Decision:
    """What a look has decided.

    Parameters
    ----------
    settings : BoostedSettings
        All settings, none of them "auto" but the depth.
    features : csr_array or ndarray of shape (n_nodes, n_features)
        Normalized as decided.
    columns : ndarray or None
        Feature columns that are used; None for all.
    coordinates : ndarray or None
        What stands for the columns of a graph without features.
    choices : dict
        What was chosen, by the name of the setting.
    reason : str
        Why, in one sentence; empty where nothing was left to choose.
    rows : ndarray or None
        The looked-at rows, smoothed as decided.
    """

    settings: BoostedSettings
    features: Features
    columns: NDArray[np.int64] | None
    coordinates: NDArray[np.float32] | None
    choices: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    rows: NDArray[Any] | None = None


def is_open(settings: BoostedSettings) -> bool:
    """Return whether a setting is left to a look."""
    return any(getattr(settings, name) == "auto" for name in OPEN)


def as_before(settings: BoostedSettings, before: Mapping[str, Any]) -> BoostedSettings:
    """Return settings with what an earlier fit has decided, so that it can go on."""
    decided = {each: before[each] for each in OPEN if getattr(settings, each) == "auto"}
    most = before.get("variant.most_layers")
    switches = {} if most is None else {"most_layers": most}
    variant = settings.variant.model_copy(update=switches)
    return settings.model_copy(update={**decided, "variant": variant})


def decide(
    settings: BoostedSettings,
    graph: Graph,
    nodes: LabeledNodes,
    n_classes: int,
    seed: int,
    fit_network: FitNetwork,
) -> Decision:
    """Return the settings with everything decided that says "auto".

    Parameters
    ----------
    settings : BoostedSettings
        What was asked for.
    graph : Graph
        Where the fit will be.
    nodes : LabeledNodes
        Training nodes, and stopping nodes to judge candidates on.
    n_classes : int
        Number of classes.
    seed : int
        Draws rows where there are too many to look at.
    fit_network : callable
        Fits the perceptron of some settings on a task.
    """
    looked = LookedAt.drawn(nodes, n_classes, seed)
    decision = Decision(settings, graph.features, None, None)
    tried: list[Tried] = []
    for step in (_norm, _columns, _operator):
        decision, more = step(decision, graph, looked)
        tried += more
    few = len(nodes.train_nodes) <= FEW_LABELS * graph.n_nodes
    decision, more = _penalty(decision, looked, few, fit_network)
    tried += more
    if decision.settings.pseudo_labels == "auto":
        decision = _with(decision, {"pseudo_labels": PSEUDO_LABELS if few else 0})
    return replace(decision, reason=_in_words(decision, tried), rows=None)


def _norm(decision: Decision, graph: Graph, looked: LookedAt) -> tuple[Decision, list[Tried]]:
    norm: str = decision.settings.feature_norm
    if norm == "auto":
        norm = problems.resolved_norm("graph", graph)
        if norm in ("l1", "none") and not graph.has_node_columns:
            candidates = {
                each: problems.normalized_features(graph, each) for each in (norm, "hellinger")
            }
            propagator = _propagator(decision, graph)
            norm, tried = look.choose_norm(looked, candidates, propagator)
            return _with(decision, {"feature_norm": norm}, features=candidates[norm]), tried
    norm = problems.resolved_norm(norm, graph)  # "graph", where the norm was not left to a look
    features = problems.normalized_features(graph, norm)
    return _with(decision, {"feature_norm": norm}, features=features), []


def _columns(decision: Decision, graph: Graph, looked: LookedAt) -> tuple[Decision, list[Tried]]:
    settings, features = decision.settings, decision.features
    if settings.max_features != "auto":
        columns = problems.kept_columns(features, graph, settings)
        coordinates = problems.node_coordinates(graph, settings)
        return replace(decision, columns=columns, coordinates=coordinates), []
    if graph.has_node_columns:
        most = min(1000, graph.n_nodes)
        decision = _with(decision, {"max_features": most})
        coordinates = problems.node_coordinates(graph, decision.settings)
        return replace(decision, coordinates=coordinates), []
    columns, tried = look.choose_columns(looked, features, _propagator(decision, graph))
    kept = "all" if columns is None else len(columns)
    return _with(decision, {"max_features": kept}, columns=columns), tried


def _operator(decision: Decision, graph: Graph, looked: LookedAt) -> tuple[Decision, list[Tried]]:
    settings = decision.settings
    if settings.teleport != "auto":
        return decision, []
    plain = settings.model_copy(update={"teleport": 0.0})
    source = problems.hop_source(
        decision.features, decision.columns, decision.coordinates, graph, plain
    )
    n_hops = look.affordable_hops(graph.adjacency.nnz, source.features.shape[1])
    candidates = look.operators(look.TELEPORTS, look.PLAIN_HOPS, n_hops)
    chosen, rows, tried = look.choose_operator(looked, source, candidates)
    changes: dict[str, Any] = {"teleport": chosen.teleport}
    if settings.n_layers == "auto" and chosen.teleport:
        # Hops converge, so that more of them do no harm: the depth is not judged.
        changes["n_layers"] = min(MOST_LAYERS, settings.variant.most_layers)
    elif settings.n_layers == "auto":
        deepest = chosen.n_hops + 1 + LAYERS_BEYOND
        changes["variant.most_layers"] = min(deepest, settings.variant.most_layers)
    return _with(decision, changes, rows=rows), tried


def _penalty(
    decision: Decision, looked: LookedAt, few_labels: bool, fit_network: FitNetwork
) -> tuple[Decision, list[Tried]]:
    settings, rows = decision.settings, decision.rows
    if settings.first_layer_l2 != "auto":
        return decision, []
    kind = "few labels" if few_labels else "many labels"
    if few_labels and settings.feature_norm == "hellinger":
        kind += ", square roots"
    penalties = look.PENALTIES[kind]
    if rows is None or settings.variant.learner == "ridge":
        return _with(decision, {"first_layer_l2": penalties[0]}), []
    # Without dropout: what it adds is as random as the differences that are looked for.
    plain = settings.model_copy(update={"dropout": 0.0, "hidden_dropout": 0.0})

    def fit(penalty: float, task: HopTask) -> Any:
        return fit_network(plain.model_copy(update={"first_layer_l2": penalty}), task)

    penalty, tried = look.choose_penalty(looked, rows, fit, penalties)
    return _with(decision, {"first_layer_l2": penalty}), tried


def _with(decision: Decision, changes: dict[str, Any], **parts: Any) -> Decision:
    """Return a decision with some settings changed, and what of that was a choice."""
    settings = decision.settings
    plain = {name: value for name, value in changes.items() if "." not in name}
    switches = {n.partition(".")[2]: v for n, v in changes.items() if "." in n}
    chosen = {
        name: value
        for name, value in changes.items()
        if "." in name or getattr(settings, name) == "auto"
    }
    variant = settings.variant.model_copy(update=switches)
    return replace(
        decision,
        settings=settings.model_copy(update={**plain, "variant": variant}),
        choices={**decision.choices, **chosen},
        **parts,
    )


def _propagator(decision: Decision, graph: Graph) -> Any:
    normalization = decision.settings.variant.normalization
    return make_propagator(graph.adjacency, normalization, dtype=graph.features.dtype)


# Words


def _in_words(decision: Decision, tried: Sequence[Tried]) -> str:
    """Return what was chosen, each with its loss and that of the best other candidate.

    Pseudo-labels and depth follow from the rest by a rule, so that they have no loss.
    """
    settings = decision.settings
    parts: list[str] = []
    chosen: dict[str, Any] = {
        "feature_norm": settings.feature_norm,
        "max_features": settings.max_features,
        "teleport": _operator_of(settings.teleport, tried),
        "first_layer_l2": settings.first_layer_l2,
    }
    for name, value in chosen.items():
        candidates = [each for each in tried if each.setting == name]
        if len(candidates) > 1:
            parts.append(_compared(name, value, candidates, first=not parts))
    if "pseudo_labels" in decision.choices:
        n_pseudo = decision.choices["pseudo_labels"]
        parts.append(f"{n_pseudo} pseudo-labels" if n_pseudo else "no pseudo-labels")
    if "n_layers" in decision.choices:
        parts.append(counted(decision.choices["n_layers"], "layer"))
    elif "variant.most_layers" in decision.choices:
        parts.append(f"at most {counted(decision.choices['variant.most_layers'], 'layer')}")
    return ", ".join(parts)


def _operator_of(teleport: float | str, tried: Sequence[Tried]) -> Operator | None:
    """Return the best of the tried operators that has a teleport."""
    ours = [
        each for each in tried if each.setting == "teleport" and each.value.teleport == teleport
    ]
    return min(ours, key=lambda each: each.loss).value if ours else None


def _compared(name: str, value: Any, tried: Sequence[Tried], *, first: bool) -> str:
    """Return a choice with its loss and the lowest of the others, which may be a little lower."""
    chosen = next(each for each in tried if each.value == value)
    other = min((each for each in tried if each is not chosen), key=lambda each: each.loss)
    loss, lowest = f"{chosen.loss:.2f}", f"{other.loss:.2f}"
    how = "below" if chosen.loss < other.loss and loss != lowest else "close to"
    label = "loss " if first else ""
    what, _ = _names(name, chosen.value)
    return f"{what} ({label}{loss}, {how} {lowest} {_names(name, other.value)[1]})"


def _names(name: str, value: Any) -> tuple[str, str]:
    """Return what a candidate is called where it is chosen, and where it is the other one."""
    if name == "feature_norm":
        roots = value == "hellinger"
        return (
            "square roots of features" if roots else "features as given",
            "with square roots" if roots else "as given",
        )
    if name == "max_features":
        return (
            ("all columns", "with all")
            if value == "all"
            else (f"{value:,} columns", f"with {value:,}")
        )
    if name == "first_layer_l2":
        return (f"L2 {value:g}", f"with {value:g}") if value else ("no L2", "without")
    if value.teleport:
        return f"teleport {value.teleport:g}", f"with teleport {value.teleport:g}"
    return f"no teleport, best at hop {value.n_hops}", f"at plain hop {value.n_hops}"
