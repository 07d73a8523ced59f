"""What a new layer counts in the ensemble, and what its errors do to the node weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting import node_weights, samme, samme_r
from adagcn.boosting.combination import Combination
from adagcn.errors import LayerWarning, NumericalError
from adagcn.propagation.scaling import HopScale


@dataclass(frozen=True)
class BoostingRule:
    """How layers are weighed and how they re-weight the nodes.

    Parameters
    ----------
    combination : Combination
        How the votes are summed.
    update : {"onehot", "hastie", "released", "none"}
        SAMME.R's reading of the weight update; not used by ``combine="samme"``, which has its own.
    reweight_rate : float
        Factor on the exponent of the update: 1 is the paper, 0 leaves the weights alone.
    on_perfect : {"stop", "continue"}
        For ``combine="samme"``: what to do after a layer without training error.
    hop_scale : {"none", "row_l2", "hop"}
        How hop features are scaled before a learner sees them.
    """

    combination: Combination = field(default_factory=Combination)
    update: samme_r.WeightUpdate = "onehot"
    reweight_rate: float = 1.0
    on_perfect: Literal["stop", "continue"] = "stop"
    hop_scale: HopScale = "none"


@dataclass(frozen=True)
class LayerOutcome:
    """What a layer's answers on the training nodes mean for the ensemble."""

    error: float
    coefficient: float
    next_log_weight: NDArray[np.float64]
    perfect: bool = False
    discarded: bool = False


def weigh_layer(
    hop: int,
    log_proba: NDArray[np.float64],
    labels: NDArray[np.int64],
    log_weight: NDArray[np.float64],
    rule: BoostingRule,
) -> LayerOutcome:
    """Return the layer's error, its coefficient and the next weights (Algorithm 1, lines 5–7).

    Parameters
    ----------
    hop : int
        The layer's hop.
    log_proba : ndarray of shape (n_train, n_classes)
        What the layer says of the training nodes.
    labels : ndarray of shape (n_train,)
        Their classes.
    log_weight : ndarray of shape (n_train,)
        Logarithms of the weights that the layer was fitted with.
    rule : BoostingRule
        Weighing and re-weighting.
    """
    predicted = log_proba.argmax(axis=1)
    n_classes = log_proba.shape[1]
    error = samme.weighted_error(np.exp(log_weight), predicted, labels)
    alpha = samme.layer_weight(error, n_classes, len(labels))
    if rule.combination.combine == "samme":
        if alpha <= 0.0:
            return _too_weak(hop, error, n_classes, log_weight)
        change = samme.log_weight_change(alpha, predicted, labels)
    else:
        change = samme_r.log_weight_change(log_proba, labels, rule.update)
    return LayerOutcome(
        error=error,
        coefficient=rule.combination.coefficient(hop, alpha),
        next_log_weight=node_weights.normalized(log_weight + rule.reweight_rate * change),
        perfect=error == 0.0,
    )


def _too_weak(
    hop: int, error: float, n_classes: int, log_weight: NDArray[np.float64]
) -> LayerOutcome:
    """Discard a SAMME layer that is no better than guessing, unless it is the first."""
    chance = 1.0 - 1.0 / n_classes
    if hop == 0:
        raise NumericalError(
            "AGC-N502",
            f"the first layer's weighted error is not below chance ({chance:.3f})",
            got=round(error, 6),
            fix="train longer (max_epochs), or use combine='samme_r'",
        )
    warnings.warn(
        f"layer {hop} is no better than guessing (weighted error {error:.3f}, chance {chance:.3f}):"
        " it is left out and the node weights start afresh",
        LayerWarning,
        stacklevel=2,
    )
    return LayerOutcome(error, 0.0, log_weight, discarded=True)
