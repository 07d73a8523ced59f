"""How many layers: a given number, or as many as lower the ensemble's loss."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting.combination import Combination
from adagcn.boosting.hop_boosting import BoostedLayer

WAIT = 3  # layers in a row without a lower loss before the depth is settled
DEEPEST = 64  # layers that the search for a depth tries at the most


def best_prefix(
    layers: Iterable[BoostedLayer], stop_labels: NDArray[np.int64], combination: Combination
) -> list[BoostedLayer]:
    """Return the layers up to the lowest ensemble loss on the stopping nodes.

    Layers are asked for until three in a row bring no lower loss.

    Parameters
    ----------
    layers : iterable of BoostedLayer
        May be endless; each must carry ``stop_log_proba``.
    stop_labels : ndarray of shape (n_stop,)
        Classes of the stopping nodes.
    combination : Combination
        How the layers vote.
    """
    made: list[BoostedLayer] = []

    def as_made() -> Iterable[tuple[float, NDArray[np.float64]]]:
        for layer in islice(layers, DEEPEST):
            if layer.stop_log_proba is None:
                raise TypeError("a search for the depth needs layers with stop_log_proba")
            made.append(layer)
            yield layer.coefficient, layer.stop_log_proba

    best_depth, best_loss = 0, np.inf
    for depth, votes in enumerate(combination.staged(as_made()), start=1):
        loss = -votes.log_proba()[np.arange(len(stop_labels)), stop_labels].mean()
        if loss < best_loss:
            best_depth, best_loss = depth, loss
        if depth - best_depth >= WAIT:
            break
    return made[:best_depth]
