"""Settings that would make a fit cheaper, each with what it would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adagcn.models.estimates.boosted_memory import columns_used
from adagcn.models.estimates.fit_memory import is_boosted, settings_in_force
from adagcn.models.estimates.graph_sizes import GraphSizes
from adagcn.models.estimates.moments import LabelCounts

_COLUMNS = (1000, 500, 200, 100, 50)
_WORTH_MEMORY, _WORTH_TIME = 0.9, 0.75  # of the cost before: a smaller saving is not worth a word


@dataclass(frozen=True)
class Change:
    """What is done otherwise.

    Parameters
    ----------
    settings : mapping
        Constructor parameters by name.
    to_store : bool
        The graph is put into a store first.
    narrower : bool
        Its features are read as float32.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    to_store: bool = False
    narrower: bool = False

    def disk_on(self, sizes: GraphSizes) -> float:
        """Return the bytes of the files that the change itself makes."""
        return sizes.array_bytes if self.to_store else 0.0

    def on(self, sizes: GraphSizes) -> GraphSizes:
        """Return the sizes of the graph after the change."""
        if self.to_store:
            return replace(sizes, is_stored=True)
        return replace(sizes, value_bytes=4) if self.narrower else sizes

    def __str__(self) -> str:
        """Return the change as one writes it in Python."""
        if self.to_store:
            return "the graph in a store"
        if self.narrower:
            return "features in float32"
        return ", ".join(f"{name}={value!r}" for name, value in self.settings.items())


@dataclass(frozen=True)
class Cheaper:
    """A change, and what a fit would cost with it.

    Parameters
    ----------
    change : Change
        What is done otherwise.
    peak_bytes, disk_bytes : int
        The most memory, and what hops take of the disk; with them a store that is to be made.
    missing_bytes : int
        What of the disk is not written yet.
    seconds : float or None
        CPU time of the fit; None if it was not asked for.
    """

    change: Change
    peak_bytes: int
    disk_bytes: int
    missing_bytes: int
    seconds: float | None


def possible_changes(model: Any, sizes: GraphSizes, labels: LabelCounts) -> Iterator[Change]:
    """Yield changes that could make a fit cheaper."""
    settings = settings_in_force(model, sizes, labels)
    if sizes.value_bytes > 4:
        yield Change(narrower=True)
    if is_boosted(model):
        yield from _of_boosted(model, settings, sizes)
    if settings.hidden_units > 128 and "hidden_units" in model.settable():
        yield Change({"hidden_units": 128})
    if is_boosted(model) and not sizes.is_stored and not sizes.node_columns:
        yield Change(to_store=True)


def _of_boosted(model: Any, settings: Any, sizes: GraphSizes) -> Iterator[Change]:
    for preset in ("tuned", "instant"):
        if preset in model.presets() and model.preset != preset:
            yield Change({"preset": preset})
    n_columns = columns_used(sizes, settings)
    if not sizes.node_columns and "max_features" in model.settable():
        fewer = [count for count in _COLUMNS if count < n_columns][:2]
        yield from (Change({"max_features": count}) for count in fewer)
    n_layers = settings.variant.most_layers if settings.n_layers == "auto" else settings.n_layers
    if n_layers > 4 and "n_layers" in model.settable():
        yield Change({"n_layers": n_layers // 2})


def cheaper_of(
    changes: Iterator[Change],
    cost: Callable[[Change], Cheaper],
    now: Cheaper,
) -> tuple[Cheaper, ...]:
    """Return the changes that save something worth a word, the least memory first."""
    found = [each for each in map(cost, changes) if _is_worth(each, now)]
    return tuple(sorted(found, key=lambda each: each.peak_bytes))


def _is_worth(each: Cheaper, now: Cheaper) -> bool:
    if each.peak_bytes <= _WORTH_MEMORY * now.peak_bytes:
        return True
    if each.peak_bytes > now.peak_bytes / _WORTH_MEMORY:
        return False
    if each.disk_bytes <= _WORTH_MEMORY * now.disk_bytes and now.disk_bytes:
        return True
    if each.seconds is None or now.seconds is None:
        return False
    return each.seconds <= _WORTH_TIME * now.seconds
