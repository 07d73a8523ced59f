"""The scikit-learn face of boosting over hops: what AdaGCN and AdaSGC share."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from adagcn.boosting import node_weights
from adagcn.boosting.combination import Combination, CombinedVotes
from adagcn.boosting.depth import best_prefix
from adagcn.boosting.hop_boosting import BoostedLayer, FitHop, boost_hops
from adagcn.boosting.layer_weighing import BoostingRule
from adagcn.errors import InputError, LayerWarning, WeightCollapseWarning
from adagcn.estimators import problem as problems
from adagcn.estimators.persistence import SavedModel
from adagcn.estimators.presets import resolve
from adagcn.estimators.problem import FitProblem, Rows
from adagcn.estimators.settings import Settings, fitted_settings
from adagcn.graph import Graph
from adagcn.propagation.scaling import scale_hop

logger = logging.getLogger("adagcn")

COLLAPSED_BELOW = 0.1  # effective sample size, against the start, that deserves a warning


class HopBoostingClassifier(SavedModel, ClassifierMixin, BaseEstimator):
    """Boosting over hops behind scikit-learn's contract; subclasses name the learner.

    ``X`` is node ids wherever a graph is given, and a plain feature matrix (every hop is the
    matrix itself) where ``graph`` is ``None``.
    """

    model_key: ClassVar[str]
    # Constructor parameters that are not hyper-parameters of a preset.
    _not_settings: ClassVar[frozenset[str]] = frozenset(
        {"graph", "preset", "learner", "class_weight", "warm_start", "random_state", "device"}
    )

    # Hyper-parameters that a subclass does not leave to the user.
    _fixed: ClassVar[dict[str, Any]] = {}

    # What a subclass sets otherwise in the presets that were searched for.
    _tuned: ClassVar[dict[str, Any]] = {}

    graph: Graph | None
    preset: str
    class_weight: dict[Any, float] | str | None
    warm_start: bool = False
    random_state: Any

    # Fitting

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model on labeled nodes.

        Parameters
        ----------
        X : array-like of shape (n_train,)
            Ids of the labeled nodes (with ``graph=None``: features, one row per sample).
        y : array-like of shape (n_train,)
            Their labels, of any type.
        sample_weight : array-like of shape (n_train,), optional
            Weight of each labeled node before boosting.
        X_val, y_val : array-like of shape (n_stop,), optional
            Ids and labels of the nodes that decide when a layer stops training. Without them,
            ``validation_fraction`` of the labeled nodes is set aside; where that is zero, every
            layer trains for ``max_epochs``.

        Returns
        -------
        self
            The fitted model.
        """
        settings = self.resolved_settings()
        earlier = self._earlier_layers()
        seed = self.seed_ if earlier else problems.seed_of(self.random_state)
        problem = problems.make_problem(
            self, settings, seed, X, y, sample_weight, X_val=X_val, y_val=y_val
        )
        settings = settings.model_copy(update={"feature_norm": problem.feature_norm})
        self._check_continues(earlier, problem, settings)
        layers = self._boost(problem, settings, seed, earlier)
        self._set_fitted(layers, problem, settings, seed)
        self._warn_if_collapsed()
        self._warn_if_idle()
        return self

    def resolved_settings(self) -> Settings:
        """Return the hyper-parameters that ``fit`` will use: the user's, else the preset's."""
        given = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in self._not_settings
        }
        return resolve(self.preset, self.graph, {**given, **self._fixed}, self._tuned)

    def _fit_hop(self, problem: FitProblem, settings: Settings, seed: int) -> FitHop:
        """Return what fits one hop."""
        raise NotImplementedError

    def _boost(
        self, problem: FitProblem, settings: Settings, seed: int, earlier: Sequence[BoostedLayer]
    ) -> list[BoostedLayer]:
        """Run Algorithm 1 to the depth asked for."""
        fit_hop = self._fit_hop(problem, settings, seed)
        rule = boosting_rule(settings)
        boosted = boost_hops(
            problem.source.hops(),
            fit_hop,
            problem.nodes,
            rule,
            adoption=problem.adoption,
            earlier=earlier,
        )
        new = _logged(boosted)
        if settings.n_layers != "auto":
            return [*earlier, *islice(new, settings.n_layers - len(earlier))]
        if problem.stop_labels is None:
            raise InputError(
                "AGC-I621",
                "n_layers='auto' needs stopping nodes to compare depths on",
                got="neither X_val nor validation_fraction",
                fix="pass X_val and y_val, or validation_fraction=0.2",
            )
        return best_prefix(chain(earlier, new), problem.stop_labels, rule.combination)

    def _earlier_layers(self) -> list[BoostedLayer]:
        """Return the layers that a warm start goes on from."""
        return list(self.layers_) if self.warm_start and hasattr(self, "layers_") else []

    def _check_continues(
        self, earlier: Sequence[BoostedLayer], problem: FitProblem, settings: Settings
    ) -> None:
        """Refuse a warm start with other nodes, other classes or fewer layers."""
        if not earlier:
            return
        n_layers = settings.n_layers
        same_nodes = len(earlier[0].log_weight) == len(problem.nodes.labels)
        if not same_nodes or not np.array_equal(self.classes_, problem.classes):
            raise InputError(
                "AGC-I622",
                "warm_start goes on with the labeled nodes and classes of the first fit",
                got=f"{len(problem.nodes.labels)} nodes, classes {problem.classes.tolist()}",
                fix="call fit with the same nodes, or set warm_start=False",
            )
        if settings.carry_optimizer and not earlier[-1].learner.moments:
            raise InputError(
                "AGC-I625",
                "warm_start cannot carry the optimizer on: a model file does not keep its state",
                got="carry_optimizer=True",
                fix="fit again from the start, or set carry_optimizer=False",
            )
        if n_layers == "auto" or n_layers < len(earlier):
            raise InputError(
                "AGC-I623",
                f"warm_start adds layers to the {len(earlier)} there are",
                got=n_layers,
                fix=f"set n_layers to at least {len(earlier)}, or warm_start=False",
            )

    def _set_fitted(
        self, layers: list[BoostedLayer], problem: FitProblem, settings: Settings, seed: int
    ) -> None:
        self.classes_ = problem.classes
        if self.graph is not None:  # validate_data has set it for a plain matrix
            self.n_features_in_ = self.graph.n_features
        self.params_ = {"preset": self.preset, **settings.model_dump(exclude_unset=True)}
        self.seed_ = seed
        self.layers_ = tuple(layers)
        self.stop_accuracy_ = _stop_accuracy(layers, problem, boosting_rule(settings).combination)
        self.columns_ = problem.columns
        self.on_graph_ = self.graph is not None
        self.input_digest_ = None if self.graph is None else self.graph.input_digest

    def _warn_if_collapsed(self) -> None:
        sizes = self.effective_sample_sizes_
        collapsed = np.flatnonzero(sizes < COLLAPSED_BELOW * sizes[0])
        if len(collapsed):
            first = collapsed[0]
            warnings.warn(
                f"from layer {first} on the node weights rest on few nodes (effective sample size "
                f"{sizes[first]:.1%} of {len(self.layers_[0].log_weight)}): lower reweight_rate, "
                f"now {self.params_['reweight_rate']}",
                WeightCollapseWarning,
                stacklevel=3,
            )

    def _warn_if_idle(self) -> None:
        """Tell that the released update has the factor (K − 2)/(K − 1), which is 0 for K = 2."""
        update = self.params_.get("weight_update"), self.params_.get("reweight_rate", 0.0) > 0.0
        if update == ("released", True) and len(self.classes_) == 2:
            warnings.warn(
                "weight_update='released' never moves the node weights of two classes: "
                "use 'onehot' or 'hastie'",
                LayerWarning,
                stacklevel=3,
            )

    # What was learnt

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
        return np.array(
            [node_weights.effective_sample_size(layer.log_weight) for layer in self.layers_]
        )

    @property
    def n_epochs_(self) -> list[int | None]:
        """Epochs that each layer was trained for."""
        records = [layer.learner.record for layer in self.layers_]
        return [None if record is None else record.epochs for record in records]

    # Predicting

    def predict(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[Any]:
        """Return the predicted label of each node.

        Parameters
        ----------
        X : array-like of shape (n_nodes,)
            Node ids (with ``graph=None`` at fit: features).
        graph : Graph, optional
            Another graph to look the nodes up in: new nodes, new edges, the same features.
        """
        return self._labels(self._combined(X, graph))

    def predict_proba(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return class probabilities of shape (n_nodes, n_classes), in the order of ``classes_``.

        The softmax of the mean class scores over K − 1, as AdaBoost has it. The largest one is at
        the label that :meth:`predict` gives.
        """
        return np.exp(self._combined(X, graph).log_proba())

    def predict_log_proba(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return the logarithms of the class probabilities."""
        return self._combined(X, graph).log_proba()

    def decision_function(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return the summed class scores Σ_l c_l h_k (Algorithm 1, line 10).

        Shape (n_nodes, n_classes); for two classes (n_nodes,), positive for ``classes_[1]``.
        """
        return _decision(self._combined(X, graph))

    def staged_predict(self, X: ArrayLike, *, graph: Graph | None = None) -> Iterator[NDArray[Any]]:
        """Yield the predicted labels of the ensembles of the first 1, 2, … layers."""
        return (self._labels(votes) for votes in self._staged(X, graph))

    def staged_predict_proba(
        self, X: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities of the ensembles of the first 1, 2, … layers."""
        return (np.exp(votes.log_proba()) for votes in self._staged(X, graph))

    def staged_decision_function(
        self, X: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the summed class scores of the ensembles of the first 1, 2, … layers."""
        return (_decision(votes) for votes in self._staged(X, graph))

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[float]:
        """Yield the accuracy of the ensembles of the first 1, 2, … layers."""
        return (float(accuracy_score(y, labels)) for labels in self.staged_predict(X, graph=graph))

    def _combined(self, X: ArrayLike, graph: Graph | None) -> CombinedVotes:
        check_is_fitted(self, "layers_")
        settings = fitted_settings(self.params_)
        combination = boosting_rule(settings).combination
        first = combination.first_voter(self.layer_weights_.tolist())
        rows = problems.rows_to_score(self, X, graph)
        return combination.sum_votes(self._layer_log_proba(rows, settings, first_layer=first))

    def _staged(self, X: ArrayLike, graph: Graph | None) -> Iterator[CombinedVotes]:
        check_is_fitted(self, "layers_")
        settings = fitted_settings(self.params_)
        layers = self._layer_log_proba(problems.rows_to_score(self, X, graph), settings)
        return boosting_rule(settings).combination.staged(layers)

    def _layer_log_proba(
        self, rows: Rows, settings: Settings, *, first_layer: int = 0
    ) -> Iterator[tuple[float, NDArray[np.float64]]]:
        """Yield the coefficient and log-probabilities of layers, streaming the hops once."""
        layers = zip(self.layers_, rows.source.hops(), strict=False)
        for layer, hop_features in islice(layers, first_layer, None):
            hop_rows = scale_hop(hop_features[rows.positions], layer.factor, settings.hop_scale)
            yield layer.coefficient, layer.learner.log_proba(hop_rows)

    def _labels(self, votes: CombinedVotes) -> NDArray[Any]:
        return np.asarray(self.classes_[votes.total.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        """Say which kind of X is on: node ids with a graph, a feature matrix without."""
        tags = super().__sklearn_tags__()
        on_graph = self.graph is not None
        tags.input_tags.sparse = not on_graph
        tags.input_tags.one_d_array = on_graph
        tags.input_tags.two_d_array = not on_graph
        tags.input_tags.string = on_graph
        return tags


def boosting_rule(settings: Settings) -> BoostingRule:
    """Return the part of the settings that the boosting loop needs."""
    return BoostingRule(
        combination=Combination(
            settings.combine, settings.vote, settings.ema_teleport, settings.voting_share
        ),
        update=settings.weight_update,
        reweight_rate=settings.reweight_rate,
        on_perfect=settings.on_perfect,
        hop_scale=settings.hop_scale,
    )


def _decision(votes: CombinedVotes) -> NDArray[np.float64]:
    if votes.total.shape[1] == 2:
        return np.asarray(votes.total[:, 1] - votes.total[:, 0])
    return votes.total


def _logged(layers: Iterator[BoostedLayer]) -> Iterator[BoostedLayer]:
    """Pass layers on as they are made, each with a line in the log."""
    for layer in layers:
        logger.info(
            "layer %d: training error %.4f", layer.hop, layer.weighted_error, extra={"layer": layer}
        )
        yield layer


def _stop_accuracy(
    layers: Sequence[BoostedLayer], problem: FitProblem, combination: Combination
) -> float | None:
    """Return the ensemble's accuracy on the stopping nodes."""
    if problem.stop_labels is None or any(layer.stop_log_proba is None for layer in layers):
        return None
    pairs = [(layer.coefficient, np.asarray(layer.stop_log_proba)) for layer in layers]
    votes = combination.combined(pairs)
    return float((votes.total.argmax(axis=1) == problem.stop_labels).mean())
