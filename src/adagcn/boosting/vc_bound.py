"""The paper's bound on how much a boosted model can fit (appendix A.8)."""

from __future__ import annotations

import numpy as np

from adagcn.errors import InputError


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
