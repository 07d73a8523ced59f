"""The scikit-learn face that every model has: constructor, ``fit``, ``predict``, what is shown.

A model states its settings once, as fields of a pydantic class with a type, a default and a
meaning. Its constructor and the parameters in its documentation, with the value under each preset,
are made from them here. A model may write its constructor out for the sake of editors; it then has
the same names, which the tests check.
"""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic.fields import FieldInfo
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from adagcn.engines.memory import typed_memory_errors
from adagcn.engines.threads import (
    asked_threads,
    checked_threads,
    default_threads,
    threads,
    threads_of_a_model,
)
from adagcn.errors import AdaGCNError, InputError, PresetNotice
from adagcn.graph import Graph
from adagcn.models.support.calibrated import CalibratedModel
from adagcn.models.support.labels import FitCall
from adagcn.models.support.persistence import SavedModel
from adagcn.models.support.problem import checked_graph
from adagcn.models.support.renamed import moved
from adagcn.models.support.settings import NOT_SETTINGS, Params, kind_of, meaning, with_parameters
from adagcn.training.events import Events, LogCallback

if TYPE_CHECKING:
    from adagcn.explain.explanations import Explanations
    from adagcn.formats.frames import Backend
    from adagcn.models.support.prediction_parts import Parts, PredictionSummary

EXPLAINED = ("adagcn", "adasgc", "mlp", "logistic")  # models whose votes are a sum over hops
# What other options say, or what has no place on a command line.
_NOT_SETTABLE = {"learner", "warm_start", "random_state", "n_threads", "row_memory"}
_GRAPH = "the graph whose node ids ``fit`` and ``predict`` take"
_BESIDE = {
    "learner": (
        "scikit-learn classifier",
        "fitted on every hop instead of the perceptron; needs ``predict_proba`` and "
        "``sample_weight``. Such a model cannot be saved to a file",
    ),
    "class_weight": ('dict, "balanced" or None', "weight of each class in the loss"),
    "calibrate": (
        '"temperature" or None',
        "whether probabilities are fitted to held-out nodes: after the fit, log-probabilities are "
        "divided by the temperature with the lowest log-loss on the stopping nodes (``X_val``, or "
        "those of ``validation_fraction``). Predicted labels stay the same",
    ),
    "warm_start": (
        "bool",
        "whether ``fit`` with a larger ``n_layers`` adds layers to the ones there are",
    ),
    "random_state": (
        "int, generator or None",
        "all randomness of a fit. An integer makes it repeatable to the bit",
    ),
    "device": ("str", "torch device of the networks"),
    "n_threads": (
        "int or None",
        "threads that ``fit`` and ``predict`` compute with; the caller's setting is restored "
        "afterwards. None means the number of the :func:`adagcn.engines.threads.threads` block "
        "around the call. Without one, PyTorch and BLAS have one thread, and the library's own "
        "products, whose bits do not depend on it, have 1, 2 or 4: below 2**20 values of features "
        "(nodes times columns), below 2**24, and from there on. ``params_`` holds the number. "
        "With an explicit 2 or more, the last bits of a fit may differ",
    ),
    "row_memory": (
        "int or None",
        "bytes that the rows of labeled, stopping and pseudo-labeled nodes may take in memory. "
        "Beyond that they are in a temporary file (in the store of the graph, where it is in one), "
        "and a layer reads them from there, block by block, with the same result to the bit. None: "
        "no limit",
    ),
}


class NodeClassifier(SavedModel, CalibratedModel, ClassifierMixin, BaseEstimator):
    """A model behind scikit-learn's contract: X is node ids, the graph is a constructor parameter.

    Every hyper-parameter defaults to ``None``, which means the preset's value; ``params_`` holds
    what was used.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Label values, sorted.
    params_ : dict
        The resolved hyper-parameters, the preset and the number of threads.
    n_epochs_ : list of int
        Epochs of each layer.
    stop_accuracy_ : float or None
        Accuracy on the stopping nodes; None where there were none.
    n_features_in_ : int
        Feature columns.
    seed_ : int
        What all randomness of the fit came from.
    temperature_ : float or None
        What log-probabilities are divided by; None without ``calibrate``.
    conformity_scores_ : ndarray of shape (n_calibration,) or None
        What :meth:`predict_set` rests on: 1 − p_y of the calibration nodes, in ascending order.
    """

    model_key: ClassVar[str]
    default_preset: ClassVar[str]
    # Constructor parameters besides the settings, in their order.
    beside: ClassVar[tuple[str, ...]] = (
        "class_weight",
        "calibrate",
        "random_state",
        "device",
        "n_threads",
    )

    graph: Graph | None
    preset: str
    class_weight: dict[Any, float] | str | None
    random_state: Any
    device: str = "cpu"
    n_threads: int | None = None

    classes_: NDArray[Any]
    params_: Params
    seed_: int
    stop_accuracy_: float | None

    if TYPE_CHECKING:

        def __init__(self, graph: Graph | None = None, **settings: Any) -> None: ...

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give a complete model its constructor and the parameters in its documentation."""
        super().__init_subclass__(**kwargs)
        if "model_key" not in cls.__dict__:
            return
        written = cls.__dict__.get("__init__", None) or _constructor(cls)
        cls.__init__ = _with_known_names(cls, written)  # type: ignore[method-assign]
        if cls.__doc__ is not None:
            cls.__doc__ = _documented(cls)

    # What a family of models says of itself

    @classmethod
    def completed(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a record with those that it leaves out."""
        return dict(params)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Return the names of the presets, the default first."""
        raise NotImplementedError

    @classmethod
    def setting_fields(cls) -> Mapping[str, FieldInfo]:
        """Return every setting of the constructor by name."""
        raise NotImplementedError

    @classmethod
    def settable(cls) -> set[str]:
        """Return the flat names of all that ``--set`` and specs may set."""
        return {*cls.setting_fields(), *cls.beside} - _NOT_SETTABLE

    @classmethod
    def preset_value(cls, preset: str, name: str) -> Any:
        """Return what a preset sets on a graph that no study names."""
        raise NotImplementedError

    def resolved_settings(self) -> Any:
        """Return the hyper-parameters that ``fit`` will use: the user's, else the preset's."""
        raise NotImplementedError

    def resolved_params(self) -> dict[str, Any]:
        """Return them by flat name, as ``params_`` will hold them."""
        return dict(self.resolved_settings().flat())

    def _fit(self, call: FitCall, events: Events) -> None:
        raise NotImplementedError

    def _log_proba(self, X: ArrayLike, graph: Graph | None) -> NDArray[np.float64]:
        """Return log-probabilities as the fit left them, whatever the temperature is."""
        raise NotImplementedError

    # Fitting

    def fit(  # noqa: PLR0913
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        X_cal: ArrayLike | None = None,
        y_cal: ArrayLike | None = None,
        callbacks: Iterable[Any] = (),
    ) -> Self:
        """Fit the model on labeled nodes.

        Parameters
        ----------
        X : array-like of shape (n_train,)
            Ids of the labeled nodes. (With ``graph=None``, where a model allows it: features, one
            row per sample.)
        y : array-like of shape (n_train,)
            Their labels, of any type.
        sample_weight : array-like of shape (n_train,), optional
            Weight of each labeled node in the loss, before any boosting.
        X_val, y_val : array-like of shape (n_stop,), optional
            Ids and labels of the nodes that decide when training stops. Without them,
            ``validation_fraction`` of the labeled nodes is set aside; where that is zero, training
            goes on for ``max_epochs``.
        X_cal, y_cal : array-like of shape (n_calibration,), optional
            Ids and labels of nodes that :meth:`predict_set` rests on, drawn at random from the
            labeled nodes and used for nothing else.
        callbacks : iterable of Callback
            Told of every epoch, every layer and the end; see :mod:`adagcn.training.events`. A
            callback can end the fit early, and leaves a usable model.

        Returns
        -------
        self
            The fitted model.
        """
        from adagcn.models.estimates.refusal import check_fit

        checked_graph(self.graph)
        call = FitCall(X, y, sample_weight, X_val, y_val, X_cal, y_cal)
        self._check_calibration(call)
        check_fit(self, call)
        with self.computing(X):
            self._fit(call, Events(callbacks, LogCallback()))
            self._set_conformity(call)
        return self

    @contextmanager
    def computing(self, X: ArrayLike, graph: Graph | None = None) -> Iterator[None]:
        """Keep to the threads that the model has for a graph, or for a feature matrix X."""
        n_threads = checked_threads(self.n_threads)
        if n_threads is None:
            n_values = _n_values(self.graph if graph is None else graph, X)
            limits = threads_of_a_model(default_threads(n_values))
        else:
            limits = threads(n_threads)
        with limits, typed_memory_errors():
            yield

    def given_settings(self) -> dict[str, Any]:
        """Return the constructor's settings by name, as they were given."""
        return {name: getattr(self, name) for name in self.setting_fields()}

    # Predicting

    def predict(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[Any]:
        """Return the predicted label of each node.

        Parameters
        ----------
        X : array-like of shape (n_nodes,)
            Node ids (of a model fitted with ``graph=None``: features).
        graph : Graph, optional
            Another graph to look the nodes up in: new nodes, new edges, the same features.
        """
        best = self._log_proba(X, graph).argmax(axis=1)  # a temperature changes no order
        return np.asarray(self.classes_[best])

    def predict_log_proba(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return the logarithms of the class probabilities, of shape (n_nodes, n_classes)."""
        return self._at_temperature(self._log_proba(X, graph))

    def predict_proba(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return class probabilities of shape (n_nodes, n_classes), ordered as ``classes_``.

        The largest one is at the label that :meth:`predict` gives.
        """
        return np.exp(self.predict_log_proba(X, graph=graph))

    def decision_function(self, X: ArrayLike, *, graph: Graph | None = None) -> NDArray[np.float64]:
        """Return the log-probabilities as class scores.

        Shape (n_nodes, n_classes); for two classes (n_nodes,), positive for ``classes_[1]``.
        """
        return one_column_for_two(self.predict_log_proba(X, graph=graph))

    def predict_frame(
        self,
        X: ArrayLike,
        *,
        graph: Graph | None = None,
        top: int | None = None,
        proba: bool = False,
        coverage: float | None = None,
        backend: Backend = "pandas",
    ) -> Any:
        """Return predictions as a data frame, a row for each node in the order of ``X``.

        The columns are those that ``adagcn predict`` writes.

        Parameters
        ----------
        X : array-like of shape (n_nodes,)
            Node ids (of a model fitted with ``graph=None``: features).
        graph : Graph, optional
            Another graph to look the nodes up in, as for :meth:`predict`.
        top : int, optional
            Give this many of the most probable labels: ``label_1``, ``probability_1``, ``label_2``
            and so on, instead of ``label``, ``probability`` and ``margin``.
        proba : bool
            Whether to add a column ``proba_<label>`` for every label.
        coverage : float, optional
            Add the columns ``set``, a list of labels, and ``set_size``, as :meth:`predict_set`
            gives them.
        backend : {"pandas", "polars", "pyarrow"}
            Whose data frame to return.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``id`` (of a feature matrix: the number of the row), ``label``, ``probability``
            of that label, and ``margin``, how much more probable it is than the runner-up.
        """
        from adagcn.formats.frames import as_frame
        from adagcn.models.support.prediction_table import PredictionColumns

        check_is_fitted(self, "classes_")
        columns = PredictionColumns(top, proba, coverage)
        columns.check(self)
        found = self.predict_proba(X, graph=graph)
        return as_frame(columns.table(self, self._ids(X, graph, len(found)), found), backend)

    def predict_to(
        self,
        path: str | os.PathLike[str],
        X: ArrayLike | None = None,
        *,
        graph: Graph | None = None,
        top: int | None = None,
        proba: bool = False,
        coverage: float | None = None,
    ) -> PredictionSummary:
        """Write predictions to a file, a row for each node, as ``adagcn predict --out`` does.

        Of a graph in a store, AdaGCN scores the nodes block by block, with the engine of the
        :func:`adagcn.engines.using` block around the call, and neither rows nor probabilities of
        all nodes are in memory at a time. If that is interrupted, the same call goes on with what
        is finished. Other models, and graphs in memory, are predicted at once.

        Parameters
        ----------
        path : str or path-like
            A file that ends in .parquet, .csv, .csv.gz, .jsonl or .ndjson. It is replaced if it
            exists, once the new one is whole. Except in Parquet, probabilities have 6 decimals; in
            CSV, text that a spreadsheet would run as a formula gets an apostrophe.
        X : array-like of shape (n_nodes,), optional
            Node ids; all nodes of the graph by default, in their order.
        graph : Graph, optional
            Another graph to look the nodes up in, as for :meth:`predict`.
        top, proba, coverage
            Which columns, as for :meth:`predict_frame`.

        Returns
        -------
        PredictionSummary
            ``n_nodes``, ``labels`` and ``set_sizes``: how many rows were written, by label and by
            the size of the prediction set.

        Raises
        ------
        ResourceError
            If the file cannot be written: an older one stays as it was.
        """
        from adagcn.models.support.prediction_parts import write_predictions
        from adagcn.models.support.prediction_table import PredictionColumns

        check_is_fitted(self, "classes_")
        columns = PredictionColumns(top, proba, coverage)
        return write_predictions(self, path, X, graph, columns)

    @contextmanager
    def proba_in_parts(self, X: ArrayLike | None, graph: Graph | None) -> Iterator[Parts]:
        """Give ids and probabilities, some nodes at a time; ``X=None`` stands for all nodes."""
        from adagcn.models.support.prediction_parts import slices

        if X is None:
            X = self._all_ids(graph)
        found = self.predict_proba(X, graph=graph)
        yield slices(self._ids(X, graph, len(found)), found)

    def _all_ids(self, graph: Graph | None) -> NDArray[Any]:
        where = checked_graph(self.graph if graph is None else graph)
        if where is None:
            raise InputError(
                "AGC-I1802",
                "without a graph there are no nodes to predict all of",
                got="X=None",
                fix="pass a feature matrix as X, or graph=graph",
            )
        return where.node_ids

    def _ids(self, X: ArrayLike, graph: Graph | None, n_rows: int) -> NDArray[Any]:
        """Return the ids of predicted nodes; of a feature matrix, the numbers of its rows."""
        where = self.graph if graph is None else graph
        return np.arange(n_rows) if where is None else where.node_ids[where.positions(X, "X")]

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, *, graph: Graph | None = None
    ) -> Iterator[float]:
        """Yield the accuracy of each stage: of the ensembles of 1, 2, … layers if boosted."""
        yield float(accuracy_score(y, self.predict(X, graph=graph)))

    def explain(
        self,
        ids: ArrayLike,
        *,
        graph: Graph | None = None,
        n_features: int = 10,
        n_neighbors: int = 10,
    ) -> Explanations:
        """Explain why nodes get their labels: only models that sum votes over hops can.

        Raises
        ------
        InputError
            If the model is no such sum.
        """
        raise InputError(
            "AGC-I1304",
            f"a model of kind {self.model_key} is no sum over hops, so that it cannot be explained",
            got=self.model_key,
            fix=f"use one of {', '.join(EXPLAINED)}",
        )

    # Names of earlier releases

    @classmethod
    def refuse_old_name(cls, name: str) -> None:
        """Raise an error that tells where a setting of an earlier release is now, if it was one."""
        error = moved(cls.model_key, name, cls.settable())
        if error is not None:
            raise error

    def set_params(self, **params: Any) -> Any:
        """Set parameters, as every scikit-learn estimator does."""
        for name in params.keys() - set(self._get_param_names()):
            self.refuse_old_name(name)
        return super().set_params(**params)

    # What is shown

    def values_in_force(self) -> Params:
        """Return what a fit used, or what one would use now."""
        if hasattr(self, "params_"):
            return self.params_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PresetNotice)
            try:
                graph = checked_graph(self.graph)
                n_threads = checked_threads(self.n_threads) or asked_threads()
                if n_threads is None and graph is not None:
                    n_threads = default_threads(_n_values(graph, ()))
                params = self.resolved_params()
                values = {"preset": self.preset, **params, "n_threads": n_threads}
                return Params(
                    values if self.calibrate is None else {**values, "calibrate": self.calibrate}
                )
            except AdaGCNError as error:
                return Params({"preset": self.preset, "cannot be fitted": str(error)})

    def _repr_html_(self) -> str:
        """Return the model as a card for notebooks: its state, its layers, the values in force."""
        from adagcn.models.support.model_card import model_card

        return model_card(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        """Say which kind of X is on: node ids with a graph, a feature matrix without."""
        tags = super().__sklearn_tags__()
        on_graph = self.graph is not None or self._needs_graph
        tags.input_tags.sparse = not on_graph
        tags.input_tags.one_d_array = on_graph
        tags.input_tags.two_d_array = not on_graph
        tags.input_tags.string = on_graph
        return tags

    _needs_graph: ClassVar[bool] = False


def _n_values(graph: Graph | None, X: ArrayLike) -> int:
    """Return how many values of features there are, stored or not; 0 of what has none."""
    if isinstance(graph, Graph):
        return graph.n_nodes * graph.n_features
    try:
        return math.prod(getattr(X, "shape", None) or np.shape(X))
    except (TypeError, ValueError):  # a ragged list, for the checks behind this to refuse
        return 0


def one_column_for_two(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return class scores as scikit-learn has them: for two classes, the difference of the two."""
    return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores


def _with_known_names(cls: type[NodeClassifier], constructor: Any) -> Any:
    """Return a constructor that tells of an argument that moved or is misspelled."""
    known = inspect.signature(constructor).parameters

    @wraps(constructor)
    def __init__(self: Any, *args: Any, **given: Any) -> None:  # noqa: N807
        for name in given.keys() - known.keys():
            cls.refuse_old_name(name)
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{cls.__name__} got an unexpected keyword argument {name!r}{hint}")
        constructor(self, *args, **given)

    return __init__


def _constructor(cls: type[NodeClassifier]) -> Any:
    """Return an ``__init__`` that keeps its arguments, with the signature of the model."""
    defaults = {"preset": cls.default_preset, **dict.fromkeys(cls.setting_fields())}
    defaults |= {name: NOT_SETTINGS[name] for name in cls.beside}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("graph", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None),
        *(inspect.Parameter(name, keyword, default=value) for name, value in defaults.items()),
    ]

    def __init__(self: Any, graph: Graph | None = None, **given: Any) -> None:  # noqa: N807
        self.graph = graph
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))

    __init__.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return __init__


def _documented(cls: type[NodeClassifier]) -> str:
    """Return the class's documentation with its parameters, each with the presets' values."""
    about, *examples = inspect.cleandoc(cls.__doc__ or "").split("\nExamples\n--------\n")
    presets = ", ".join(f'"{name}"' for name in cls.presets())
    entries = [
        ("graph", "Graph" if cls._needs_graph else "Graph or None", _GRAPH),
        ("preset", "{" + presets + "}", "where hyper-parameters that are not given come from"),
        *(_entry(cls, name, field) for name, field in cls.setting_fields().items()),
        *((name, *_BESIDE[name]) for name in cls.beside),
    ]
    shown = [f"\n\nExamples\n--------\n{example}" for example in examples]
    return "".join([with_parameters(about, entries), *shown])


def _entry(cls: type[NodeClassifier], name: str, field: FieldInfo) -> tuple[str, str, str]:
    """Return name, type and text of a setting, with its value under every preset."""
    by_value: dict[str, list[str]] = {}
    for preset in cls.presets():
        by_value.setdefault(repr(cls.preset_value(preset, name)), []).append(f"``{preset}``")
    if len(by_value) == 1:
        values = f"{next(iter(by_value))} in every preset"
    else:
        values = "; ".join(f"{value} in {', '.join(who)}" for value, who in by_value.items())
    return name, kind_of(field), f"{meaning(field)}. Value: {values}"
