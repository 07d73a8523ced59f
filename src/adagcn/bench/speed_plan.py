"""How much ``adagcn bench speed`` measures, and what all of its parts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adagcn.bench.measures import Samples
from adagcn.bench.peers import PEERS, Peer
from adagcn.bench.timing import Contestant, Tick, epoch_seconds

ADAGCN = "AdaGCN"  # the contestant that the others are measured against

HIDDEN_UNITS = 64  # of everything that has a hidden layer
HOP = 4  # whose rows AdaGCN trains on: as dense as they get


@dataclass(frozen=True)
class SpeedPlan:
    """How much is measured.

    Parameters
    ----------
    repetitions : int
        Samples of each epoch time; tables show their median.
    sample_seconds : float
        How long a sample should take.
    fits : int
        Whole fits of each model.
    depths : tuple of int
        Depths of the last part.
    wide_units : int
        Hidden units of the wide layer.
    peers : tuple of Peer
        Other libraries' models; those not installed are listed as missing.
    fit_peers : bool
        Whether PyTorch Geometric's APPNP is fitted too.
    most_fit_seconds : float
        When to cut off a peer's fit, which could take minutes or hours.
    """

    repetitions: int = 9
    sample_seconds: float = 0.05
    fits: int = 3
    depths: tuple[int, ...] = (1, 2, 4, 6, 8, 10)
    wide_units: int = 512
    peers: tuple[Peer, ...] = tuple(PEERS.values())
    fit_peers: bool = False
    most_fit_seconds: float = 60.0

    def epochs(self, contestants: Sequence[Contestant], tick: Tick) -> dict[str, Samples]:
        """Return seconds per epoch of contestants, with the planned repetitions."""
        return epoch_seconds(
            contestants,
            repetitions=self.repetitions,
            sample_seconds=self.sample_seconds,
            tick=tick,
        )


QUICK = SpeedPlan()
FULL = SpeedPlan(
    repetitions=9, sample_seconds=0.2, fits=3, depths=(1, *range(2, 21, 2)), fit_peers=True
)
