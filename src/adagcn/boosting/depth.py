"""How many layers: as many as lower the ensemble's loss, and what the paper says of depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting.fit_state import FitState
from adagcn.boosting.samme import Combination
from adagcn.errors import InputError

WAIT = 3  # layers in a row without a lower loss before the depth is settled
DEEPEST = 64  # layers that the search for a depth tries at the most


def best_prefix(
    states: Iterable[FitState], stop_labels: NDArray[np.int64], combination: Combination
) -> Iterator[FitState]:
    """Yield states until the depth is settled, and last the one with the lowest ensemble loss.

    The loss is that of the stopping nodes. Layers are asked for until three in a row bring no lower
    loss, or there are ``DEEPEST`` of them.

    Parameters
    ----------
    states : iterable of FitState
        May be endless; every layer must carry ``stop_log_proba``.
    stop_labels : ndarray of shape (n_stop,)
        Classes of the stopping nodes.
    combination : Combination
        How the layers vote.
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
        if depth == DEEPEST or (best is not None and depth - len(best.layers) >= WAIT):
            break
    if best is not None:
        yield best


def vc_dimension_bound(learner_dimension: float, n_layers: int) -> float:
    """Return 2(d + 1)(L + 1) log₂((L + 1)e), a bound on the VC dimension of the ensemble.

    Appendix A.8: it grows with the depth, the paper's argument that more layers are not always
    better. d is the VC dimension of one layer's learner, L + 1 the number of layers.

    >>> round(vc_dimension_bound(learner_dimension=10, n_layers=1), 2)
    31.74
    """
    if n_layers < 1 or learner_dimension < 0:
        raise InputError(
            "AGC-I501",
            "n_layers must be at least 1 and learner_dimension at least 0",
            got=(n_layers, learner_dimension),
            fix="count the boosted learners, hop 0 included",
        )
    return float(2 * (learner_dimension + 1) * n_layers * np.log2(n_layers * np.e))
