"""Multinomial logistic regression on the features, without a look at the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from adagcn.boosting.hop_boosting import FitHop
from adagcn.errors import InputError
from adagcn.estimators.adasgc import AdaSGCClassifier
from adagcn.estimators.hop_classifier import HopBoostingClassifier
from adagcn.estimators.network import torch_dtype
from adagcn.estimators.problem import FitProblem
from adagcn.estimators.settings import Settings
from adagcn.graph import Features, Graph
from adagcn.learners.linear import LinearLearner
from adagcn.training.hop_fitter import FittedNetwork
from adagcn.training.loop import TrainingRecord

# Tried in this order where there are stopping nodes; the first is used where there are none. Rows
# that sum to one have small entries, so the penalty must be weak to matter at all.
STRENGTHS = (1e4, 1e2, 1e3, 1e5, 1e6)


class LogisticClassifier(HopBoostingClassifier):
    """Logistic regression by scikit-learn on the features of the labeled nodes.

    Minimizes the weighted mean of −log p_y plus ‖W‖²/(2C), to convergence. The control that every
    model on a graph should beat.

    Parameters
    ----------
    graph : Graph or None
        The graph whose node ids ``fit`` and ``predict`` take; its edges are not used. ``None``: X
        is a feature matrix.
    preset : str
        Where unset hyper-parameters come from, as for every model.
    C : float or None
        Inverse strength of the penalty against the *mean* loss. ``None`` tries a few and keeps the
        one with the lowest loss on the stopping nodes (without those, 10⁴).
    validation_fraction, feature_norm, class_weight, random_state
        As for :class:`~adagcn.estimators.adagcn.AdaGCNClassifier`; the fit itself draws nothing.
    """

    model_key = "logistic"
    _fixed: ClassVar[dict[str, Any]] = {"n_layers": 1}
    _not_settings = HopBoostingClassifier._not_settings | {"C"}

    def __init__(  # noqa: PLR0913
        self,
        graph: Graph | None = None,
        *,
        preset: str = "tuned",
        C: float | None = None,
        validation_fraction: float | None = None,
        feature_norm: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.graph = graph
        self.preset = preset
        self.C = C
        self.validation_fraction = validation_fraction
        self.feature_norm = feature_norm
        self.class_weight = class_weight
        self.random_state = random_state

    make_network = staticmethod(AdaSGCClassifier.make_network)

    def _fit_hop(self, problem: FitProblem, settings: Settings, seed: int) -> FitHop:
        if self.C is not None and not (np.isfinite(self.C) and self.C > 0):
            raise InputError(
                "AGC-I650", "C must be a positive number", got=self.C, fix="C=1e4 is usual here"
            )
        strengths = STRENGTHS if self.C is None else (self.C,)
        return _LogisticFitter(problem.nodes.labels, problem.stop_labels, strengths)


@dataclass(frozen=True)
class _LogisticFitter:
    """Fits hop 0 for every strength and keeps the best; the boosting loop's ``fit_hop``."""

    labels: NDArray[np.int64]
    stop_labels: NDArray[np.int64] | None
    strengths: Sequence[float]

    def __call__(
        self,
        hop: int,
        rows: Features,
        sample_weight: NDArray[np.float64],
        stop_rows: Features | None,
        previous: Any | None,
        adopted: NDArray[np.float64] | None = None,  # none on hop 0
    ) -> FittedNetwork:
        fits = (self._fitted(rows, sample_weight, strength) for strength in self.strengths)
        if stop_rows is None:
            return next(fits)
        return min(fits, key=lambda fit: self._stop_loss(fit, stop_rows))

    def _fitted(
        self, rows: Features, sample_weight: NDArray[np.float64], strength: float
    ) -> FittedNetwork:
        model = LogisticRegression(C=strength, fit_intercept=False, tol=1e-8, max_iter=10_000)
        model.fit(rows, self.labels, sample_weight=sample_weight)
        coefficients = model.coef_
        if len(coefficients) == 1:  # two classes share one row: the difference of their logits
            coefficients = np.vstack([-coefficients, coefficients]) / 2.0
        dtype = torch_dtype(rows.dtype)
        network = LinearLearner(
            rows.shape[1], len(coefficients), generator=torch.Generator(), dtype=dtype
        )
        with torch.no_grad():
            network.output.copy_(torch.from_numpy(coefficients.T))
        return FittedNetwork(network, TrainingRecord(int(model.n_iter_.max())))

    def _stop_loss(self, fit: FittedNetwork, stop_rows: Features) -> float:
        log_proba = fit.log_proba(stop_rows)
        return -float(log_proba[np.arange(len(log_proba)), self.stop_labels].mean())
