"""What is in memory at some moment of a fit, beside the graph itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

PhaseName = Literal["reading", "look", "propagation", "training", "prediction"]
PHASES: tuple[PhaseName, ...] = ("reading", "look", "propagation", "training", "prediction")


@dataclass(frozen=True)
class Moment:
    """Bytes that are held at once.

    Parameters
    ----------
    phase : str
        Which part of a fit.
    what : str
        What is going on.
    n_bytes : float
        Beyond the graph and the libraries.
    """

    phase: PhaseName
    what: str
    n_bytes: float


def peaks(moments: Iterable[Moment]) -> Iterator[Moment]:
    """Yield the moment of each phase that takes the most, in the order of the phases."""
    by_phase: dict[str, Moment] = {}
    for moment in moments:
        so_far = by_phase.get(moment.phase)
        if so_far is None or moment.n_bytes > so_far.n_bytes:
            by_phase[moment.phase] = moment
    yield from (by_phase[name] for name in PHASES if name in by_phase)


@dataclass(frozen=True)
class LabelCounts:
    """How many nodes a fit trains on, and stops on."""

    n_train: int
    n_stop: int
