"""Refuses a fit that cannot fit into memory or on the disk of its store, before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from adagcn.engines import current_engine
from adagcn.engines.memory import ASKED_DISK, ASKED_LIMIT, MemoryLimit, in_gib, tightest_limit
from adagcn.errors import AdaGCNError, ResourceError
from adagcn.graph import Graph
from adagcn.models.estimates.cheaper import Change, possible_changes
from adagcn.models.estimates.disk_room import DiskRoom, disk_words
from adagcn.models.estimates.fit_memory import FitMemory, fit_memory, is_estimable
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts, Moment
from adagcn.models.estimates.stored_memory import StoredMemory
from adagcn.models.estimates.worker_memory import Workers
from adagcn.models.support.labels import FitCall


def check_fit(model: Any, call: FitCall) -> None:
    """Refuse a fit whose peak is above what this process may still take, or its disk has free.

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
    fit = _Fit.of(model, call)
    if fit is not None:
        limit = tightest_limit()
        _check_memory(fit, limit)
        _check_disk(fit, limit)


@dataclass(frozen=True)
class _Fit:
    """A fit that is about to start, and what it holds."""

    model: Any
    labels: LabelCounts
    memory: FitMemory
    worst: Moment

    @classmethod
    def of(cls, model: Any, call: FitCall) -> _Fit | None:
        """Return what a fit takes; None where that cannot be told."""
        if not isinstance(model.graph, Graph) or not is_estimable(model):
            return None
        try:
            labels = _counts(model, call)
            memory = fit_memory(model, GraphSizes.of(model.graph), labels, _workers())
            return cls(model, labels, memory, _worst(memory))
        except (AdaGCNError, TypeError, ValueError):  # the fit itself will say what is wrong
            return None

    @property
    def network_bytes(self) -> float:
        """Parameters that are trained by epochs, with gradients and moments."""
        variant = getattr(self.memory.settings, "variant", None)
        if variant is not None and variant.learner == "ridge":
            return 0.0
        return 4.0 * self.memory.sizes.value_bytes * self.memory.n_parameters

    @property
    def words(self) -> str:
        """What is fitted on, in numbers."""
        graph = self.model.graph
        return (
            f"{graph.n_nodes:,} nodes × {graph.n_features:,} feature columns, "
            f"{graph.adjacency.nnz:,} stored edges"
        )

    def changed(self) -> Iterator[tuple[Change, FitMemory]]:
        """Yield what could be done otherwise, and what the fit would then hold."""
        sizes = self.memory.sizes
        for change in possible_changes(self.model, sizes, self.labels):
            model = clone(self.model).set_params(**change.settings)
            yield change, fit_memory(model, change.on(sizes), self.labels, _workers())


def _check_memory(fit: _Fit, limit: MemoryLimit | None) -> None:
    worst = fit.worst
    if limit is None or worst.n_bytes <= limit.room or fit.network_bytes > limit.n_bytes:
        return
    raise ResourceError(
        "AGC-R2010",
        f"this fit would take {in_gib(worst.n_bytes)} more memory at its peak ({worst.what}); "
        f"{limit}, of which {in_gib(limit.room)} is left",
        got=fit.words,
        fix=f"{_smaller(fit, limit.room)}; or let it try all the same, with "
        f"{ASKED_LIMIT}=none in the environment",
    )


def _smaller(fit: _Fit, room: int) -> str:
    """Return what to do instead: the changes that would fit, or what takes the least."""
    found = []
    for change, memory in fit.changed():
        peak = _worst(memory).n_bytes
        found.append((peak, f"{change} ({in_gib(peak)}{_disk_of(change, fit, memory)})"))
    found.sort(key=lambda pair: pair[0])
    enough = [words for peak, words in found if peak <= room]
    if enough:
        return f"one of these would fit: {', '.join(enough[:3])}"
    if not found:
        return "use a machine with more memory"
    return f"the least is {found[0][1]}; use fewer columns or more memory"


def _disk_of(change: Change, fit: _Fit, memory: FitMemory) -> str:
    """Return what a store that is to be made would take of a disk, with its hops."""
    if not isinstance(memory, StoredMemory) or not change.to_store:
        return ""
    return f", and {in_gib(change.disk_on(fit.memory.sizes) + memory.disk_bytes)} of disk"


def _check_disk(fit: _Fit, limit: MemoryLimit | None) -> None:
    """Refuse a fit that would end with a full disk."""
    disk = DiskRoom.of(fit.model.graph.store)
    if disk is None or not isinstance(fit.memory, StoredMemory):
        return
    parts = fit.memory.disk_parts
    if sum(parts.values()) <= disk.free or disk.missing(parts) <= disk.free:
        return
    missing = disk.missing(parts)
    more = disk_words(missing - disk.free)
    enough = [
        f"{change} ({disk_words(disk.missing(memory.disk_parts))})"
        for change, memory in fit.changed()
        if isinstance(memory, StoredMemory)
        and not change.narrower  # that is another store
        and disk.missing(memory.disk_parts) <= disk.free
        and (limit is None or _worst(memory).n_bytes <= limit.room)
    ]
    fewer = f"one of these would fit: {', '.join(enough[:3])}; or " if enough else ""
    raise ResourceError(
        "AGC-R2012",
        f"this fit would write {disk_words(missing)} to the store {str(disk.store)!r} (hops, row "
        f"blocks of Â, finished layers), and {disk}",
        got=fit.words,
        fix=f"{fewer}free {more} more there, or copy the store to a disk with more room; "
        f"{ASKED_DISK}=none in the environment lets it try all the same",
    )


def _worst(memory: FitMemory) -> Moment:
    """Return when a fit takes the most."""
    moments = (each for each in memory.moments() if each.phase != "prediction")
    return max(moments, key=lambda each: each.n_bytes)


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
