"""How sure a model is: probabilities fitted to held-out nodes, and sets of labels.

What is computed is in :mod:`adagcn.explain.calibration` and :mod:`adagcn.explain.prediction_sets`;
here is which nodes it is computed on, and what of it a model file holds.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from adagcn.errors import CalibrationNotice, FormatError, InputError, PresetNotice, counted
from adagcn.graph import Graph
from adagcn.models.support.labels import (
    FitCall,
    distinct_positions,
    encode,
    indices_of,
    label_array,
)

if TYPE_CHECKING:
    from adagcn.explain.prediction_sets import PredictionSets

# What model files call them; models without have none of these.
TEMPERATURE, SCORES, NODES = "temperature", "conformity_scores", "calibration_digest"
TENSORS = frozenset((TEMPERATURE, SCORES, NODES))


class CalibratedModel:
    """What every model can say of how sure it is.

    Attributes
    ----------
    temperature_ : float or None
        What log-probabilities are divided by; None without ``calibrate``.
    conformity_scores_ : ndarray of shape (n_calibration,) or None
        1 − p_y of the calibration nodes, in ascending order; None where ``fit`` got no ``X_cal``.
    calibration_digest_ : str or None
        SHA-256 of the ids of the calibration nodes; None without any, and without a graph.
    """

    graph: Graph | None
    calibrate: str | None = None
    classes_: NDArray[Any]
    temperature_: float | None
    conformity_scores_: NDArray[np.float64] | None
    calibration_digest_: str | None

    if TYPE_CHECKING:

        def resolved_settings(self) -> Any:
            """Return the hyper-parameters that ``fit`` will use."""

        def predict_log_proba(
            self, X: ArrayLike, *, graph: Graph | None = None
        ) -> NDArray[np.float64]:
            """Return the logarithms of the class probabilities."""

    def predict_set(
        self, X: ArrayLike, coverage: float = 0.9, *, graph: Graph | None = None
    ) -> PredictionSets:
        """Return, for each node, a set of labels that holds the true one in most cases.

        The share of nodes whose set holds the true label is ``coverage`` on average, if the
        calibration nodes (``fit(..., X_cal=ids, y_cal=labels)``) and the predicted ones are
        exchangeable: as if drawn at random from one bowl. For nodes of another graph, or where
        labels are known for special nodes only, it may be more or less;
        :mod:`adagcn.explain.prediction_sets` says when. A set has one label where the model is
        sure, several where it is not, and none where the coverage is below the model's accuracy and
        no label is probable enough.

        Parameters
        ----------
        X : array-like of shape (n_nodes,)
            Node ids (of a model fitted with ``graph=None``: features).
        coverage : float
            Above 0 and below 1. With n calibration nodes it can be n/(n + 1) at the most.
        graph : Graph, optional
            Another graph to look the nodes up in.

        Returns
        -------
        PredictionSets
            A sequence of arrays of labels, with ``members``, a boolean array of shape
            (n_nodes, n_classes) ordered as ``classes_``.
        """
        self.check_coverage(coverage)  # before any work
        return self.sets_of(np.exp(self.predict_log_proba(X, graph=graph)), coverage)

    def check_coverage(self, coverage: Any) -> None:
        """Refuse a coverage that the model cannot give."""
        from adagcn.explain.prediction_sets import checked_coverage, score_limit

        check_is_fitted(self, "classes_")
        wanted = checked_coverage(coverage)
        if self.conformity_scores_ is None:
            raise InputError(
                "AGC-I1354",
                "this model has no calibration nodes, which prediction sets rest on",
                fix="fit it with X_cal and y_cal: labeled nodes, drawn at random, that are in "
                "neither X nor X_val",
            )
        score_limit(self.conformity_scores_, wanted)

    def sets_of(self, proba: NDArray[np.float64], coverage: Any) -> PredictionSets:
        """Return the sets of nodes with these probabilities."""
        from adagcn.explain.prediction_sets import prediction_sets

        assert self.conformity_scores_ is not None
        return prediction_sets(proba, self.classes_, self.conformity_scores_, coverage)

    # In a fit

    def _check_calibration(self, call: FitCall) -> None:
        """Refuse what could not be calibrated, before anything is trained."""
        if self.calibrate is not None:
            self._check_calibrate(call)
        if call.X_cal is None or call.y_cal is None:
            return
        n_nodes = _n_rows(call.X_cal)
        if self.graph is not None:
            nodes = distinct_positions(self.graph, call.X_cal, "X_cal")
            n_nodes = len(nodes)
            for argument, ids in (("X", call.X), ("X_val", call.X_val)):
                if ids is not None:
                    _refuse_shared(self.graph, nodes, ids, argument)
        classes, _ = encode(label_array(call.y, _n_rows(call.y), "y"))
        indices_of(label_array(call.y_cal, n_nodes, "y_cal"), classes, "y_cal")

    def _check_calibrate(self, call: FitCall) -> None:
        if self.calibrate != "temperature":
            raise InputError(
                "AGC-I1355",
                "calibrate must be 'temperature' or None",
                got=self.calibrate,
                fix="None leaves probabilities as the fit made them",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PresetNotice)  # the fit will say it
            fraction = self.resolved_settings().validation_fraction
        if call.X_val is None and fraction == 0.0:
            raise InputError(
                "AGC-I1356",
                "calibrate='temperature' needs labeled nodes that are not trained on",
                got="no stopping nodes",
                fix="pass X_val and y_val, or validation_fraction=0.2",
            )

    def _set_uncalibrated(self) -> None:
        """Forget what was said of an earlier fit."""
        self.temperature_ = self.conformity_scores_ = self.calibration_digest_ = None

    def _set_temperature(
        self, log_proba: NDArray[np.float64] | None, labels: NDArray[np.int64] | None
    ) -> None:
        """Fit the temperature, where one is asked for, to what the model says of stopping nodes."""
        if self.calibrate is None or log_proba is None or labels is None:
            return
        from adagcn.explain.calibration import (
            HIGHEST_TEMPERATURE,
            LOWEST_TEMPERATURE,
            fit_temperature,
        )

        self.temperature_ = fit_temperature(log_proba, labels)
        if self.temperature_ in (LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE):
            end = "lowest" if self.temperature_ == LOWEST_TEMPERATURE else "highest"
            warnings.warn(
                f"the temperature is {self.temperature_:g}, the {end} that is tried: the "
                f"{counted(len(labels), 'held-out node')} cannot tell how sure the model may be, "
                "as when all are predicted right or all wrong; probabilities are hardly "
                "calibrated. More held-out nodes help",
                CalibrationNotice,
                stacklevel=6,
            )

    def _calibration_params(self) -> dict[str, Any]:
        """Return what ``params_`` says of the calibration; nothing without one."""
        if self.calibrate is None:
            return {}
        return {"calibrate": self.calibrate, "temperature": self.temperature_}

    def _set_conformity(self, call: FitCall) -> None:
        """Score the calibration nodes of a fit that is done, if it got any."""
        self.conformity_scores_ = self.calibration_digest_ = None
        if call.X_cal is None or call.y_cal is None:
            return
        from adagcn.explain.prediction_sets import conformity_scores

        log_proba = self.predict_log_proba(call.X_cal)
        labels = label_array(call.y_cal, len(log_proba), "y_cal")
        scores = conformity_scores(log_proba, indices_of(labels, self.classes_, "y_cal"))
        self.conformity_scores_ = scores
        if self.graph is not None:
            ids = self.graph.node_ids[self.graph.positions(call.X_cal, "X_cal")]
            self.calibration_digest_ = ids_digest(ids)

    def _at_temperature(self, log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log-probabilities as the temperature makes them."""
        if self.temperature_ is None:
            return log_proba
        from adagcn.explain.calibration import tempered

        return tempered(log_proba, self.temperature_)


def ids_digest(ids: NDArray[Any]) -> str:
    """Return the SHA-256 of node ids, in any order."""
    return hashlib.sha256(json.dumps(sorted(ids.tolist())).encode()).hexdigest()


def _n_rows(values: ArrayLike) -> int:
    shape = getattr(values, "shape", None) or np.shape(values)
    return int(shape[0]) if shape else 0


def _refuse_shared(graph: Graph, nodes: NDArray[np.intp], ids: ArrayLike, argument: str) -> None:
    shared = np.intersect1d(nodes, graph.positions(ids, argument))
    if len(shared):
        raise InputError(
            "AGC-I1357",
            f"{argument} and X_cal share {counted(len(shared), 'node')}",
            got=graph.node_ids[shared[:5]].tolist(),
            fix="calibration nodes are used for nothing else: leave them out of the others",
        )


# In a file


def calibration_tensors(model: Any) -> dict[str, NDArray[Any]]:
    """Return what a model file holds of the calibration, as tensors; nothing without one."""
    found: dict[str, NDArray[Any]] = {}
    if model.temperature_ is not None:
        found[TEMPERATURE] = np.array([model.temperature_])
    if model.conformity_scores_ is not None:
        found[SCORES] = model.conformity_scores_
    if model.calibration_digest_ is not None:
        found[NODES] = np.frombuffer(bytes.fromhex(model.calibration_digest_), dtype=np.uint8)
    return found


def restore_calibration(model: Any, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Set what :func:`calibration_tensors` was made from, or refuse a file that has it wrong."""
    model._set_uncalibrated()
    temperature, scores, nodes = (tensors.get(name) for name in (TEMPERATURE, SCORES, NODES))
    if temperature is not None:
        if temperature.shape != (1,) or temperature.dtype != np.float64 or temperature[0] <= 0.0:
            raise _not_whole(TEMPERATURE, temperature)
        model.temperature_ = float(temperature[0])
    if scores is not None:
        ascending = scores.ndim == 1 and len(scores) > 0 and bool((np.diff(scores) >= 0.0).all())
        if scores.dtype != np.float64 or not ascending or scores[0] < 0.0 or scores[-1] > 1.0:
            raise _not_whole(SCORES, scores)
        model.conformity_scores_ = scores
    if nodes is not None:
        if nodes.shape != (32,) or nodes.dtype != np.uint8 or scores is None:
            raise _not_whole(NODES, nodes)
        model.calibration_digest_ = nodes.tobytes().hex()


def _not_whole(name: str, found: NDArray[Any]) -> FormatError:
    return FormatError(
        "AGC-F719",
        f"the model file does not hold the {name.replace('_', ' ')} that it should",
        got=f"{found.dtype} of shape {found.shape}",
        fix="save the model again",
    )
