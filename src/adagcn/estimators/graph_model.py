"""The scikit-learn face of the systems in :mod:`adagcn.baselines`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from adagcn.baselines.settings import SystemSettings
from adagcn.baselines.system import Fitted, System, resolve
from adagcn.estimators.graph_problem import GraphFit, make_graph_fit, nodes_to_score
from adagcn.estimators.network import checked_device
from adagcn.estimators.persistence import SavedModel
from adagcn.estimators.problem import seed_of
from adagcn.graph import Graph

logger = logging.getLogger("adagcn")


class GraphModelClassifier(SavedModel, ClassifierMixin, BaseEstimator):
    """A system on a graph behind scikit-learn's contract; a subclass names it and its parameters.

    ``X`` is node ids. Every hyper-parameter defaults to ``None``, which means the preset's value;
    ``params_`` holds what was used.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Label values, sorted.
    params_ : dict
        The resolved hyper-parameters and the preset.
    n_epochs_ : list of one int
        Epochs trained; a list as for boosted models, of which this is a single stage.
    stop_accuracy_ : float or None
        Accuracy on the stopping nodes, of the epoch that was kept.
    n_features_in_ : int
        Feature columns.
    seed_ : int
        What all randomness of the fit came from.
    """

    model_key: ClassVar[str]
    system: ClassVar[System]
    # Constructor parameters that are not settings of the system.
    _not_settings: ClassVar[frozenset[str]] = frozenset(
        {"graph", "preset", "class_weight", "random_state", "device"}
    )

    graph: Graph | None
    preset: str
    class_weight: dict[Any, float] | str | None
    random_state: Any
    device: str = "cpu"

    def _store(self, given: Mapping[str, Any]) -> None:
        """Keep the arguments of a constructor (its ``locals()``) as they are."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

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
            Ids of the labeled nodes.
        y : array-like of shape (n_train,)
            Their labels, of any type.
        sample_weight : array-like of shape (n_train,), optional
            Weight of each labeled node in the loss.
        X_val, y_val : array-like of shape (n_stop,), optional
            Ids and labels of the nodes that decide when training stops. Without them,
            ``validation_fraction`` of the labeled nodes is set aside; where that is zero, training
            goes on for ``max_epochs``.

        Returns
        -------
        self
            The fitted model.
        """
        settings = self.resolved_settings()
        seed = seed_of(self.random_state)
        device = checked_device(self.device)
        task = make_graph_fit(self, settings, seed, X, y, sample_weight, X_val=X_val, y_val=y_val)
        settings = settings.model_copy(update={"feature_norm": task.feature_norm})
        fitted = self.system.fit(task.problem, settings, seed=seed, device=device)
        self._set_fitted(fitted, task, settings, seed)
        logger.info("%s: %s epochs", self.model_key, fitted.record.epochs, extra={"layer": fitted})
        return self

    def resolved_settings(self) -> SystemSettings:
        """Return the hyper-parameters that ``fit`` will use: the user's, else the preset's."""
        given = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in self._not_settings
        }
        name = None if self.graph is None else self.graph.name
        return resolve(self.system, self.preset, name, given)

    def _set_fitted(
        self, fitted: Fitted, task: GraphFit, settings: SystemSettings, seed: int
    ) -> None:
        self.fitted_ = fitted
        self.record_ = fitted.record
        self.classes_ = task.classes
        self.n_features_in_ = task.problem.inputs.features.shape[1]
        self.params_ = {"preset": self.preset, **settings.model_dump()}
        self.seed_ = seed
        self.stop_accuracy_ = fitted.record.stop_accuracy
        self.on_graph_ = True
        self.input_digest_ = None if self.graph is None else self.graph.input_digest

    @property
    def n_epochs_(self) -> list[int | None]:
        """Epochs trained, of the one stage that there is."""
        return [self.record_.epochs]

    # Predicting

    def predict(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[Any]:
        """Return the predicted label of each node.

        Parameters
        ----------
        X : array-like of shape (n_nodes,)
            Node ids.
        graph : Graph, optional
            Another graph to look the nodes up in: new nodes, new edges, the same features.
        """
        best = self.predict_log_proba(X, graph=graph).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return class probabilities of shape (n_nodes, n_classes), ordered as ``classes_``."""
        return np.exp(self.predict_log_proba(X, graph=graph))

    def predict_log_proba(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return the logarithms of the class probabilities."""
        check_is_fitted(self, "fitted_")
        inputs, positions = nodes_to_score(self, X, graph)
        return self.fitted_.log_proba(inputs, positions)

    def decision_function(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return the log-probabilities as class scores.

        Shape (n_nodes, n_classes); for two classes (n_nodes,), positive for ``classes_[1]``.
        """
        scores = self.predict_log_proba(X, graph=graph)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[float]:
        """Yield the accuracy of the one stage that there is, as boosted models do of each."""
        yield float(accuracy_score(y, self.predict(X, graph=graph)))

    def __sklearn_tags__(self) -> Any:
        """Say that X is node ids."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
