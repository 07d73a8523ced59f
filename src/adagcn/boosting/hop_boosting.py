"""The loop of Algorithm 1: one learner per hop, with node weights that follow what went wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adagcn.boosting.fit_state import BoostedLayer, FitState, LabeledNodes
from adagcn.boosting.pseudo_labels import NO_PSEUDO_LABELS, PseudoLabeler, PseudoLabels
from adagcn.boosting.samme import BoostingRule, log_weights, weigh_layer
from adagcn.errors import LayerWarning
from adagcn.graph import Features
from adagcn.propagation.gathered_rows import NO_LIMIT, RowRoom
from adagcn.propagation.hops import Hop
from adagcn.propagation.scaling import HopScale, hop_factor
from adagcn.training.hop_fitter import HopTask


class FittedLearner(Protocol):
    """A learner after its fit on one hop."""

    @property
    def left_out(self) -> NDArray[np.float64] | None:
        """Log-probabilities of the labeled rows, each left out of its own fit; None if unknown."""

    @property
    def parts(self) -> Sequence[FittedLearner]:
        """The learners that vote on the hop: this one, or those inside of it."""

    def log_proba(self, rows: Features) -> NDArray[np.float64]:
        """Return log-probabilities of shape (n_rows, n_classes) for rows of that hop."""


class FitHop(Protocol):
    """Fits one hop, starting from the learner of the hop before."""

    def __call__(self, task: HopTask) -> FittedLearner:
        """Return the learner fitted on the rows of the task."""


@dataclass(frozen=True)
class HopBoosting:
    """All that the loop needs besides the state.

    Parameters
    ----------
    fit_hop : FitHop
        Fits one hop.
    nodes : LabeledNodes
        Whose rows are gathered from each hop.
    rule : BoostingRule
        Weighing and re-weighting.
    hop_scale : {"none", "row_l2", "hop"}
        How hop features are scaled before a learner sees them.
    pseudo_labels : PseudoLabels
        Unlabeled nodes to learn from as well.
    room : RowRoom
        How much memory the rows of a layer may take.
    """

    fit_hop: FitHop
    nodes: LabeledNodes
    rule: BoostingRule
    hop_scale: HopScale = "none"
    pseudo_labels: PseudoLabels = NO_PSEUDO_LABELS
    room: RowRoom = NO_LIMIT

    def states(self, state: FitState, hops: Iterable[Hop], *, first: int = 0) -> Iterator[FitState]:
        """Yield the state with one more layer each time, for as long as the caller asks.

        Algorithm 1, lines 1 to 9. The layers that ``state`` has are not fitted again, but what
        they say of stopping and unlabeled nodes is asked for again from hop ``first`` on.

        Parameters
        ----------
        state : FitState
            Empty, or of a shallower fit.
        hops : iterable of Hop
            X, ÂX, Â²X, … from hop ``first``.
        first : int
            Above 0, where the layers before that hop hold what they say of these nodes.
        """
        start = log_weights(self.nodes.sample_weight)  # line 1
        labeler = PseudoLabeler(self.pseudo_labels, self.rule.combination)
        earlier, state = state.layers, replace(state, layers=state.layers[:first])
        if earlier and self.rule.ends_with(earlier[-1].weighted_error):
            _warn_perfect(len(earlier) - 1)
            return
        for layer in state.layers:
            labeler.add_layer(layer.coefficient, layer.pseudo_log_proba)
        for number, hop in enumerate(hops, first):  # line 2; each is Â times the one before, line 8
            if self.hop_scale == "hop" and state.input_size is None:
                state = replace(state, input_size=hop.size())
            if number < len(earlier):
                state = state.with_layer(self._rescored(earlier[number], hop, labeler))
                continue
            log_weight = state.layers[-1].next_log_weight if state.layers else start
            factor = hop_factor(hop, state.input_size, self.hop_scale)
            layer = self._new_layer(number, hop, factor, log_weight, state, labeler)
            if layer.coefficient == 0.0:  # discarded: the weights start afresh
                layer = replace(layer, next_log_weight=start)
            state = state.with_layer(layer)
            yield state
            if self.rule.ends_with(layer.weighted_error):
                _warn_perfect(number)
                return

    def _new_layer(
        self,
        number: int,
        hop: Hop,
        factor: float,
        log_weight: NDArray[np.float64],
        state: FitState,
        labeler: PseudoLabeler,
    ) -> BoostedLayer:
        """Fit a layer (lines 3 and 4) and weigh it (lines 5 to 7)."""
        nodes, targets = self.nodes, labeler.targets()
        n_train = len(nodes.train_nodes)
        rows = self._rows(
            hop, np.concatenate([nodes.train_nodes, self.pseudo_labels.nodes]), factor
        )
        stop_rows = None
        if nodes.stop_nodes is not None:
            stop_rows = self._rows(hop, nodes.stop_nodes, factor)
        weight = np.exp(log_weight)
        if targets is not None:
            weight *= 1.0 - self.pseudo_labels.weight
        learner = self.fit_hop(
            HopTask(
                hop=number,
                rows=rows[:n_train] if targets is None else rows,
                labels=nodes.labels,
                sample_weight=weight,
                stop_rows=stop_rows,
                stop_labels=nodes.stop_labels,
                previous=state.layers[-1].learner if state.layers else None,
                pseudo_labels=targets,
                room=self.room,
            )
        )
        stop_log_proba = None if stop_rows is None else learner.log_proba(stop_rows)
        del stop_rows  # large where many nodes are labeled
        log_proba = learner.log_proba(rows)
        judged = log_proba[:n_train]
        if self.rule.judge_left_out and learner.left_out is not None:
            judged = learner.left_out
        outcome = weigh_layer(number, judged, nodes.labels, log_weight, self.rule)
        lessons = self._lessons(learner, rows, log_proba)
        labeler.add_layer(outcome.coefficient, lessons)
        return BoostedLayer(
            hop=number,
            learner=learner,
            factor=factor,
            coefficient=outcome.coefficient,
            weighted_error=outcome.error,
            log_weight=log_weight,
            next_log_weight=outcome.next_log_weight,
            stop_log_proba=stop_log_proba,
            pseudo_log_proba=lessons,
        )

    def _rescored(self, layer: BoostedLayer, hop: Hop, labeler: PseudoLabeler) -> BoostedLayer:
        """Ask a layer that exists what it says of unlabeled nodes, and of stopping ones."""
        if len(self.pseudo_labels.nodes):
            # In one product with the training rows, as when the layer was made: the same bits.
            rows = self._rows(hop, self._asked, layer.factor)
            lessons = self._lessons(layer.learner, rows, layer.learner.log_proba(rows))
            labeler.add_layer(layer.coefficient, lessons)
            layer = replace(layer, pseudo_log_proba=lessons)
        if layer.stop_log_proba is not None or self.nodes.stop_nodes is None:
            return layer
        stop_rows = self._rows(hop, self.nodes.stop_nodes, layer.factor)
        return replace(layer, stop_log_proba=layer.learner.log_proba(stop_rows))

    def _lessons(
        self, learner: FittedLearner, rows: Features, log_proba: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Return what a layer says of the unlabeled nodes; of several learners, what each says.

        A copy: it is kept for long, and a view would keep what is said of all the others.
        """
        n_train = len(self.nodes.train_nodes)
        if not len(self.pseudo_labels.nodes):
            return None
        if len(learner.parts) == 1:
            return log_proba[n_train:].copy()
        return np.stack([part.log_proba(rows[n_train:]) for part in learner.parts])

    @property
    def _asked(self) -> NDArray[np.intp]:
        """Nodes that every new layer is asked about: training nodes, then unlabeled ones."""
        return np.concatenate([self.nodes.train_nodes, self.pseudo_labels.nodes])

    def _rows(self, hop: Hop, nodes: NDArray[np.intp], factor: float) -> Features:
        return self.room.gathered(hop, nodes, factor, self.hop_scale)


def _warn_perfect(hop: int) -> None:
    warnings.warn(
        f"layer {hop} makes no training error: boosting stops, as SAMME has nothing left to weigh; "
        "Variant(on_perfect='continue') goes on with the next hop",
        LayerWarning,
        stacklevel=2,
    )
