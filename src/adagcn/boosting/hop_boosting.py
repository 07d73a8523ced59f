"""The loop of Algorithm 1: one learner per hop, with node weights that follow what went wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting import node_weights
from adagcn.boosting.adoption import NONE_ADOPTED, Adopter, Adoption
from adagcn.boosting.layer_weighing import BoostingRule, weigh_layer
from adagcn.errors import LayerWarning
from adagcn.graph import Features
from adagcn.propagation.hops import HopFeatures
from adagcn.propagation.scaling import HopScale, hop_factor, scale_hop, size


class FittedLearner(Protocol):
    """A learner after its fit on one hop."""

    def log_proba(self, rows: Features) -> NDArray[np.float64]:
        """Return log-probabilities of shape (n_rows, n_classes) for rows of that hop."""


class FitHop(Protocol):
    """Fits one hop, starting from the learner of the hop before."""

    def __call__(
        self,
        hop: int,
        rows: Features,
        sample_weight: NDArray[np.float64],
        stop_rows: Features | None,
        previous: Any | None,
        adopted: NDArray[np.float64] | None,
    ) -> FittedLearner:
        """Return the learner fitted with ``sample_weight`` on the labeled rows.

        Behind the labeled rows stand those of adopted nodes where ``adopted``, of shape
        (n_adopted, n_classes), says what each class of theirs weighs in the loss.
        """


@dataclass(frozen=True)
class LabeledNodes:
    """The rows that the loop looks at, and the classes of the training rows.

    Parameters
    ----------
    train_nodes : ndarray of shape (n_train,)
        Positions of the training nodes.
    labels : ndarray of shape (n_train,)
        Their classes as indices, in the same order.
    sample_weight : ndarray of shape (n_train,)
        Weights before the first layer, in the same order.
    stop_nodes : ndarray of shape (n_stop,) or None
        Positions of the early-stopping nodes.
    """

    train_nodes: NDArray[np.intp]
    labels: NDArray[np.int64]
    sample_weight: NDArray[np.float64]
    stop_nodes: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class BoostedLayer:
    """One layer of the ensemble.

    Parameters
    ----------
    hop : int
        Propagation steps behind its features, from 0.
    learner : FittedLearner
        What was fitted.
    factor : float
        What this hop's features were multiplied by.
    coefficient : float
        c_l in the ensemble; 0 for a layer that was discarded.
    weighted_error : float
        Training error under the weights that it was fitted with.
    log_weight : ndarray of shape (n_train,)
        Logarithms of those weights.
    next_log_weight : ndarray of shape (n_train,)
        Logarithms of the weights for the next layer.
    stop_log_proba : ndarray of shape (n_stop, n_classes) or None
        What it says of the stopping nodes.
    """

    hop: int
    learner: Any
    factor: float
    coefficient: float
    weighted_error: float
    log_weight: NDArray[np.float64]
    next_log_weight: NDArray[np.float64]
    stop_log_proba: NDArray[np.float64] | None = None

    @property
    def effective_sample_size(self) -> float:
        """Share of the training nodes that the weights of this layer rest on."""
        return node_weights.effective_sample_size(self.log_weight)


def boost_hops(
    hops: Iterable[HopFeatures],
    fit_hop: FitHop,
    nodes: LabeledNodes,
    rule: BoostingRule,
    *,
    adoption: Adoption = NONE_ADOPTED,
    earlier: Sequence[BoostedLayer] = (),
) -> Iterator[BoostedLayer]:
    """Yield boosted layers, one per hop, for as long as the caller asks (Algorithm 1, lines 2–9).

    Parameters
    ----------
    hops : iterable of features
        X, ÂX, Â²X, … from hop 0; see :func:`adagcn.propagation.hop_stream`.
    fit_hop : FitHop
        Fits one hop.
    nodes : LabeledNodes
        Whose rows are gathered from each hop.
    rule : BoostingRule
        Weighing and re-weighting.
    adoption : Adoption
        Unlabeled nodes to learn from as well.
    earlier : sequence of BoostedLayer
        Layers of a shallower fit; the loop goes on behind them.

    Yields
    ------
    BoostedLayer
        The layer on the next hop.
    """
    start = node_weights.log_weights(nodes.sample_weight)
    log_weight = earlier[-1].next_log_weight if earlier else start
    learner = earlier[-1].learner if earlier else None
    adopter = Adopter(adoption, rule.combination)
    fit_layer = _LayerFitter(fit_hop, nodes, adoption, rule.hop_scale)
    input_size = None
    for hop, hop_features in enumerate(hops):
        input_size = input_size or size(hop_features)
        if hop < len(earlier):
            made = earlier[hop]
            rows = scale_hop(hop_features[adoption.nodes], made.factor, rule.hop_scale)
            adopter.hear(made.coefficient, made.learner.log_proba(rows))
            continue
        factor = hop_factor(hop_features, input_size, rule.hop_scale)
        said = fit_layer(hop, hop_features, factor, log_weight, learner, adopter.targets())
        outcome = weigh_layer(hop, said.train_log_proba, nodes.labels, log_weight, rule)
        adopter.hear(outcome.coefficient, said.adopted_log_proba)
        learner = said.learner
        layer = BoostedLayer(
            hop=hop,
            learner=learner,
            factor=factor,
            coefficient=outcome.coefficient,
            weighted_error=outcome.error,
            log_weight=log_weight,
            next_log_weight=start if outcome.discarded else outcome.next_log_weight,
            stop_log_proba=said.stop_log_proba,
        )
        del said  # large where many nodes are labeled, and not needed for the next hop
        yield layer
        if outcome.perfect and rule.combination.combine == "samme" and rule.on_perfect == "stop":
            _say_perfect(hop)
            return
        log_weight = layer.next_log_weight


@dataclass(frozen=True)
class _Said:
    """A new layer's learner, and what it says of the nodes that matter here."""

    learner: Any
    train_log_proba: NDArray[np.float64]
    adopted_log_proba: NDArray[np.float64]
    stop_log_proba: NDArray[np.float64] | None


@dataclass(frozen=True)
class _LayerFitter:
    """Gathers rows of a hop once, fits on them, and lets go of them."""

    fit_hop: FitHop
    nodes: LabeledNodes
    adoption: Adoption
    hop_scale: HopScale

    def __call__(
        self,
        hop: int,
        hop_features: HopFeatures,
        factor: float,
        log_weight: NDArray[np.float64],
        previous: Any,
        targets: NDArray[np.float64] | None,
    ) -> _Said:
        def rows_of(positions: NDArray[np.intp]) -> Features:
            return scale_hop(hop_features[positions], factor, self.hop_scale)

        n_train, stop_nodes = len(self.nodes.train_nodes), self.nodes.stop_nodes
        rows = rows_of(np.concatenate([self.nodes.train_nodes, self.adoption.nodes]))
        stop_rows = None if stop_nodes is None else rows_of(stop_nodes)
        weight = np.exp(log_weight)
        if targets is not None:
            weight *= 1.0 - self.adoption.weight
        fit_rows = rows[:n_train] if targets is None else rows
        learner = self.fit_hop(hop, fit_rows, weight, stop_rows, previous, targets)
        stop_log_proba = None if stop_rows is None else learner.log_proba(stop_rows)
        del stop_rows
        log_proba = learner.log_proba(rows)
        # A copy: it is kept for long, and a view would keep what is said of all the others.
        return _Said(learner, log_proba[:n_train], log_proba[n_train:].copy(), stop_log_proba)


def _say_perfect(hop: int) -> None:
    warnings.warn(
        f"layer {hop} makes no training error: boosting stops, as SAMME has nothing left to weigh; "
        "on_perfect='continue' goes on with the next hop",
        LayerWarning,
        stacklevel=2,
    )
