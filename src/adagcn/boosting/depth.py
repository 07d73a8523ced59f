"""How many layers: as many as lower the ensemble's loss on the stopping nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting.fit_state import FitState
from adagcn.boosting.samme import Combination


def best_prefix(
    states: Iterable[FitState],
    stop_labels: NDArray[np.int64],
    combination: Combination,
    *,
    patience: int = 3,
    most: int = 64,
) -> Iterator[FitState]:
    """Yield states until the depth is settled, and last the one with the lowest ensemble loss.

    The loss is that of the stopping nodes.

    Parameters
    ----------
    states : iterable of FitState
        May be endless; every layer must carry ``stop_log_proba``.
    stop_labels : ndarray of shape (n_stop,)
        Classes of the stopping nodes.
    combination : Combination
        How the layers vote.
    patience : int
        Layers in a row without a lower loss before the depth is settled.
    most : int
        Layers that are asked for at the most.
    """
    best, best_loss = None, np.inf
    for state in states:
        pairs = [(each.coefficient, each.stop_log_proba) for each in state.layers]
        if any(log_proba is None for _, log_proba in pairs):
            raise TypeError("a search for the depth needs layers with stop_log_proba")
        log_proba = combination.combined(pairs).log_proba()  # type: ignore[arg-type]
        loss = -log_proba[np.arange(len(stop_labels)), stop_labels].mean()
        if loss < best_loss:
            best, best_loss = state, loss
        yield state
        depth = len(state.layers)
        if depth == most or (best is not None and depth - len(best.layers) >= patience):
            break
    if best is not None:
        yield best
