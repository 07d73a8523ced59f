"""What a boosted model learned, and what it says of nodes: the predicting half of the face.

The fitting half is :class:`~adagcn.models.support.boosted.BoostedClassifier`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from adagcn.boosting.fit_state import BoostedLayer, FitState
from adagcn.boosting.samme import CombinedVotes
from adagcn.graph import Graph
from adagcn.models.support import problem as problems
from adagcn.models.support.boosted_settings import BoostedSettings, boosting_rule, settings_from
from adagcn.models.support.classifier import NodeClassifier, one_column_for_two
from adagcn.models.support.settings import NOT_IN_SETTINGS
from adagcn.propagation.hops import Hop, stream_from
from adagcn.propagation.scaling import scaled_rows
from adagcn.training.hop_fitter import ROWS_AT_ONCE

if TYPE_CHECKING:  # loaded when something is explained, or predicted from a store
    from adagcn.boosting.vote_files import Ensemble
    from adagcn.explain.explanations import Explanations
    from adagcn.models.support.prediction_parts import Parts

SCORED_AT_ONCE = 4 * ROWS_AT_ONCE  # rows of a hop that are gathered together to be scored


class FittedEnsemble(NodeClassifier):
    """The layers of a boosted model and the predictions that they make together.

    Attributes
    ----------
    layers_ : tuple of BoostedLayer
        The fitted layers.
    layer_weights_, layer_errors_, effective_sample_sizes_ : ndarray of shape (n_layers,)
        Coefficient, weighted training error and weight concentration of each layer.
    sample_weights_ : ndarray of shape (n_layers, n_train)
        Node weights that each layer was fitted with.
    columns_ : ndarray or None
        Feature columns that ``max_features`` kept; None for all.
    coordinates_ : ndarray of shape (n_features, n_coordinates) or None
        Where the graph has no features, what stands for each of its nodes; None if each node is a
        column (``max_features`` allows as many or is ``"all"``), and where there are features.
    """

    settings: ClassVar[type[BoostedSettings]] = BoostedSettings

    state_: FitState
    on_graph_: bool
    columns_: NDArray[np.int64] | None
    coordinates_: NDArray[np.float32] | None

    # What was learned

    @property
    def layers_(self) -> tuple[BoostedLayer, ...]:
        """The fitted layers."""
        return self.state_.layers

    @property
    def layer_weights_(self) -> NDArray[np.float64]:
        """Coefficient of each layer in the ensemble, of shape (n_layers,)."""
        return np.array([layer.coefficient for layer in self.layers_])

    @property
    def layer_errors_(self) -> NDArray[np.float64]:
        """Weighted training error of each layer, of shape (n_layers,)."""
        return np.array([layer.weighted_error for layer in self.layers_])

    @property
    def sample_weights_(self) -> NDArray[np.float64]:
        """Node weights that each layer was fitted with, of shape (n_layers, n_train)."""
        return np.exp([layer.log_weight for layer in self.layers_])

    @property
    def effective_sample_sizes_(self) -> NDArray[np.float64]:
        """Share of the labeled nodes that each layer's weights rest on."""
        return np.array([layer.effective_sample_size for layer in self.layers_])

    @property
    def n_epochs_(self) -> list[int | None]:
        """Epochs that each layer was trained for."""
        return [epochs_of(layer) for layer in self.layers_]

    # Predicting

    def _log_proba(self, X: ArrayLike, graph: Graph | None) -> NDArray[np.float64]:
        """Return log softmax of the mean class scores over K − 1, as AdaBoost has it."""
        return self._combined(X, graph).log_proba()

    def decision_function(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return the summed class scores Σ_l c_l h_k (Algorithm 1, line 10).

        Shape (n_nodes, n_classes); for two classes (n_nodes,), positive for ``classes_[1]``. They
        are the algorithm's own: ``calibrate`` leaves them as they are.
        """
        return one_column_for_two(self._combined(X, graph).total)

    def staged_predict(self, X: ArrayLike, *, graph: Graph | None = None) -> Iterator[NDArray[Any]]:
        """Yield the predicted labels of the ensembles of the first 1, 2, … layers."""
        for votes in self._staged(X, graph):
            yield np.asarray(self.classes_[votes.total.argmax(axis=1)])

    def staged_predict_proba(
        self, X: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities of the ensembles of the first 1, 2, … layers.

        The temperature of ``calibrate`` is that of the whole ensemble, at every depth.
        """
        stages = self._staged(X, graph)
        return (self._proba_of(votes) for votes in stages)

    def staged_decision_function(
        self, X: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the summed class scores of the ensembles of the first 1, 2, … layers."""
        return (one_column_for_two(votes.total) for votes in self._staged(X, graph))

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[float]:
        """Yield the accuracy of the ensembles of the first 1, 2, … layers."""
        return (float(accuracy_score(y, labels)) for labels in self.staged_predict(X, graph=graph))

    def explain(
        self,
        ids: ArrayLike,
        *,
        graph: Graph | None = None,
        n_features: int = 10,
        n_neighbors: int = 10,
    ) -> Explanations:
        """Explain why nodes get their labels.

        The margin between the predicted label and the runner-up, as log-odds, is split exactly over
        hops and learners; over feature columns (exact for every built-in learner, as they see the
        propagated row); and over the nodes that the propagated row came from.

        Parameters
        ----------
        ids : array-like of shape (n_nodes,)
            Node ids (of a model fitted with ``graph=None``: features).
        graph : Graph, optional
            Another graph to look the nodes up in, as in :meth:`predict`.
        n_features, n_neighbors : int
            How many of the strongest to list for each node; 0 leaves them out.

        Returns
        -------
        Explanations
            A sequence of :class:`~adagcn.explain.explanations.NodeExplanation`, with ``to_frame``
            and ``to_dict``.

        Raises
        ------
        InputError
            If a node does not exist, or a number is negative.
        """
        from adagcn.models.support.explaining import Wanted, explain

        check_is_fitted(self, "layers_")
        wanted = Wanted(n_features, n_neighbors)
        combination = boosting_rule(self.fitted_settings()).combination
        with self.computing(ids, graph):
            return explain(self, combination, ids, graph, wanted)

    def keep_hops(self, graph: Graph | None = None) -> Self:
        """Keep the hops of a graph, so that a changed one costs only what has changed.

        From then on ``predict`` and its relatives compare the graph that they are given with the
        one whose hops are kept, and compute only the rows within reach of what differs: new edges,
        new nodes, other features. The result has the bits of one that keeps nothing.
        ``kept_hops_.last_update`` says which share of the rows was computed, by hop, and why hops
        were computed whole, where that is cheaper.

        The hops are no part of the model: files and pickles of it do not hold them, and the next
        ``fit`` drops them, as does ``del clf.kept_hops_``.

        Parameters
        ----------
        graph : Graph, optional
            The graph, by default the one that the model has. If hops of an earlier one are kept,
            those of this one are made from them and take their place.

        Returns
        -------
        self
            The model, with ``kept_hops_``, whose ``n_bytes`` is the memory that they take: nodes
            times columns times the number of layers, less one, in the type of the features.

        Raises
        ------
        InputError
            If the model was fitted on a feature matrix, or has no graph.
        ResourceError
            If there is not enough memory.
        """
        from adagcn.models.support.keeping import kept_hops

        check_is_fitted(self, "layers_")
        with self.computing((), graph):
            self.kept_hops_ = kept_hops(self, graph)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out kept hops, which are no part of the model."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "kept_hops_"}

    def _combined(self, X: ArrayLike, graph: Graph | None) -> CombinedVotes:
        check_is_fitted(self, "layers_")
        settings = self.fitted_settings()
        combination = boosting_rule(settings).combination
        first = combination.first_voter(self.layer_weights_.tolist())
        with self.computing(X, graph):
            layers = self._layer_log_proba(X, graph, settings, first_layer=first)
            return combination.sum_votes(layers)

    @contextmanager
    def proba_in_parts(self, X: ArrayLike | None, graph: Graph | None) -> Iterator[Parts]:
        """Give ids and probabilities, some nodes at a time; of a store, from scores in files."""
        check_is_fitted(self, "layers_")
        settings = self.fitted_settings()
        where = problems.checked_graph(self.graph if graph is None else graph)
        source = None
        if self.on_graph_ and where is not None and where.store is not None:
            where = problems.graph_to_score(self, where)
            source = problems.source_to_score(self, where, settings)
        if where is None or source is None:
            with super().proba_in_parts(X, where) as parts:
                yield parts
            return
        from adagcn.boosting.vote_files import votes_in_files

        nodes = range(where.n_nodes) if X is None else where.positions(X, "X")
        with ExitStack() as kept:
            with self.computing((), where):
                votes = votes_in_files(source, self._ensemble(settings), nodes, SCORED_AT_ONCE)
                blocks = kept.enter_context(votes)
            yield (
                (where.node_ids[_as_index(some)], self._proba_of(votes)) for some, votes in blocks
            )

    def _proba_of(self, votes: CombinedVotes) -> NDArray[np.float64]:
        return np.exp(self._at_temperature(votes.log_proba()))

    def _ensemble(self, settings: BoostedSettings) -> Ensemble:
        """Return the layers as they vote, with a name that no other layers have."""
        from adagcn.boosting.vote_files import Ensemble

        own = getattr(self, "learner", None)
        # A classifier of scikit-learn has no file form, and so no digest of the model.
        learners = [layer.learner for layer in self.layers_]
        digest = self.model_digest_ if own is None else joblib.hash(learners)
        rule, scale = boosting_rule(settings), settings.variant.hop_scale
        return Ensemble(self.layers_, rule.combination, scale, len(self.classes_), digest)

    def _staged(self, X: ArrayLike, graph: Graph | None) -> Iterator[CombinedVotes]:
        check_is_fitted(self, "layers_")
        settings = self.fitted_settings()
        layers = self._layer_log_proba(X, graph, settings)
        stages = boosting_rule(settings).combination.staged(layers)

        def each() -> Iterator[CombinedVotes]:
            while True:
                with self.computing(X, graph):  # not while the caller has the stage
                    votes = next(stages, None)
                if votes is None:
                    return
                yield votes

        return each()

    def fitted_settings(self) -> BoostedSettings:
        """Return the settings inside ``params_``."""
        flat = {k: v for k, v in self.params_.items() if k not in NOT_IN_SETTINGS}
        return settings_from(flat, self.settings)

    def _layer_log_proba(
        self, X: ArrayLike, graph: Graph | None, settings: BoostedSettings, *, first_layer: int = 0
    ) -> Iterator[tuple[float, NDArray[np.float64]]]:
        """Return the coefficient and log-probabilities of layers, streaming the hops once."""
        source, positions = problems.rows_to_score(self, X, graph, settings)
        layers = zip(self.layers_, stream_from(source.first()), strict=False)
        starts = range(0, max(len(positions), 1), SCORED_AT_ONCE)

        def log_proba(layer: BoostedLayer, hop: Hop) -> Iterator[NDArray[np.float64]]:
            for start in starts:
                nodes = positions[start : start + SCORED_AT_ONCE]
                rows = scaled_rows(hop, nodes, layer.factor, settings.variant.hop_scale)
                yield layer.learner.log_proba(rows)

        return (
            (layer.coefficient, np.concatenate([*log_proba(layer, hop)]))
            for layer, hop in islice(layers, first_layer, None)
        )


def _as_index(nodes: NDArray[np.intp] | range) -> Any:
    return slice(nodes.start, nodes.stop) if isinstance(nodes, range) else nodes


def epochs_of(layer: BoostedLayer) -> int | None:
    """Return how many epochs a layer was trained for; None where it has none."""
    record = layer.learner.record
    return None if record is None else int(record.epochs)
