"""Refuses a fit that cannot fit into memory, before it starts."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from adagcn.engines import current_engine
from adagcn.engines.memory import ASKED_LIMIT, in_gib, tightest_limit
from adagcn.errors import AdaGCNError, ResourceError
from adagcn.graph import Graph
from adagcn.models.estimates.cheaper import possible_changes
from adagcn.models.estimates.fit_memory import fit_memory, is_estimable
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts, Moment
from adagcn.models.estimates.worker_memory import Workers
from adagcn.models.support.labels import FitCall


def check_fit(model: Any, call: FitCall) -> None:
    """Refuse a fit whose peak is above what this process may still take.

    What is wrong with the call itself is left to the fit, which says it better; so is a network
    that would not fit by itself, since the fit names the settings that ask for it (AGC-R911).

    Parameters
    ----------
    model : NodeClassifier
        About to be fitted.
    call : FitCall
        What it is fitted on.

    Raises
    ------
    ResourceError
        With what it would take, what there is, and what would make it smaller.
    """
    worst = _worst_moment(model, call)
    limit = None if worst is None else tightest_limit()
    if worst is None or limit is None or worst.n_bytes <= limit.room:
        return
    if _network_bytes(model, call) > limit.n_bytes:
        return
    graph = model.graph
    raise ResourceError(
        "AGC-R2010",
        f"this fit would take {in_gib(worst.n_bytes)} more memory at its peak ({worst.what}); "
        f"{limit}, of which {in_gib(limit.room)} is left",
        got=f"{graph.n_nodes:,} nodes × {graph.n_features:,} feature columns, "
        f"{graph.adjacency.nnz:,} stored edges",
        fix=f"{_smaller(model, call, limit.room)}; or let it try all the same, with "
        f"{ASKED_LIMIT}=none in the environment",
    )


def _network_bytes(model: Any, call: FitCall) -> float:
    """Return the bytes of the parameters that are trained by epochs, with gradients and moments."""
    sizes = GraphSizes.of(model.graph)
    memory = fit_memory(model, sizes, _counts(model, call))
    variant = getattr(memory.settings, "variant", None)
    if variant is not None and variant.learner == "ridge":
        return 0.0
    return 4.0 * sizes.value_bytes * memory.n_parameters


def _smaller(model: Any, call: FitCall, room: int) -> str:
    """Return what to do instead: the changes that would fit, or what takes the least."""
    sizes, labels = GraphSizes.of(model.graph), _counts(model, call)
    found = []
    for change in possible_changes(model, sizes, labels):
        changed = clone(model).set_params(**change.settings)
        moments = fit_memory(changed, change.on(sizes), labels, _workers()).moments()
        peak = max(each.n_bytes for each in moments if each.phase != "prediction")
        found.append((peak, change))
    found.sort(key=lambda pair: pair[0])
    enough = [f"{change} ({in_gib(peak)})" for peak, change in found if peak <= room]
    if enough:
        return f"one of these would fit: {', '.join(enough[:3])}"
    if not found:
        return "use a machine with more memory"
    peak, change = found[0]
    return f"the least is {change} ({in_gib(peak)}); use fewer columns or more memory"


def _worst_moment(model: Any, call: FitCall) -> Moment | None:
    """Return when a fit takes the most; None where that cannot be told."""
    graph = model.graph
    if not isinstance(graph, Graph) or not is_estimable(model):
        return None
    try:
        sizes = GraphSizes.of(graph)
        moments = fit_memory(model, sizes, _counts(model, call), _workers()).moments()
        return max(
            (each for each in moments if each.phase != "prediction"), key=lambda each: each.n_bytes
        )
    except (AdaGCNError, TypeError, ValueError):  # the fit itself will say what is wrong
        return None


def _workers() -> Workers:
    """Return the processes that the engine in force starts on this machine."""
    return Workers.of(current_engine())


def _counts(model: Any, call: FitCall) -> LabelCounts:
    n_train = len(call.X)  # type: ignore[arg-type]
    if call.X_val is not None:
        return LabelCounts(n_train, len(call.X_val))  # type: ignore[arg-type]
    held_out = getattr(model, "validation_fraction", None) or 0.0
    n_stop = round(float(held_out) * n_train)
    return LabelCounts(n_train - n_stop, n_stop)
