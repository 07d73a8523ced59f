"""Multinomial logistic regression on the features, without a look at the graph.

Minimizes the weighted mean of −log p_y plus ‖W‖²/(2C), to convergence, by scikit-learn. The control
that every model on a graph should beat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from adagcn.boosting.hop_boosting import FitHop
from adagcn.graph import Features
from adagcn.learners.linear import LinearLearner
from adagcn.models.adasgc import linear_map
from adagcn.models.support.boosted import BoostedClassifier
from adagcn.models.support.boosted_settings import BoostedSettings
from adagcn.models.support.problem import torch_dtype
from adagcn.models.support.settings import Positive
from adagcn.training.events import Events
from adagcn.training.hop_fitter import FittedHop, HopTask
from adagcn.training.loop import TrainingRecord

# Tried in this order where there are stopping nodes; the first is used where there are none. Rows
# that sum to one have small entries, so the penalty must be weak to matter at all.
STRENGTHS = (1e4, 1e2, 1e3, 1e5, 1e6)


class LogisticSettings(BoostedSettings):
    """Settings of logistic regression."""

    C: Annotated[
        Positive | None,
        "inverse strength of the penalty against the *mean* loss; None tries a few and keeps the "
        "one with the lowest loss on the stopping nodes (without those, 10⁴)",
    ] = None


class LogisticClassifier(BoostedClassifier):
    """Logistic regression by scikit-learn on the features of the labeled nodes.

    The edges of the graph are not used, and the fit draws nothing at random.
    """

    model_key = "logistic"
    settings = LogisticSettings
    parameters = ("C", "validation_fraction", "feature_norm")
    beside = ("class_weight", "calibrate", "random_state", "n_threads")
    _fixed: ClassVar[dict[str, Any]] = {"n_layers": 1}
    make_network = staticmethod(linear_map)

    def _fit_hop(
        self, settings: BoostedSettings, n_classes: int, dtype: Any, seed: int, events: Events
    ) -> FitHop:
        assert isinstance(settings, LogisticSettings)
        return _LogisticFitter(STRENGTHS if settings.C is None else (settings.C,))


@dataclass(frozen=True)
class _LogisticFitter:
    """Fits hop 0 for every strength and keeps the best; the boosting loop's ``fit_hop``."""

    strengths: Sequence[float]

    def __call__(self, task: HopTask) -> FittedHop:
        fits = (self._fitted(task, strength) for strength in self.strengths)
        if task.stop_rows is None or task.stop_labels is None:
            return next(fits)
        rows, labels = task.stop_rows, task.stop_labels
        return min(fits, key=lambda fit: _mean_loss(fit, rows, labels))

    def _fitted(self, task: HopTask, strength: float) -> FittedHop:
        rows = task.rows
        model = LogisticRegression(C=strength, fit_intercept=False, tol=1e-8, max_iter=10_000)
        model.fit(rows, task.labels, sample_weight=task.sample_weight)
        coefficients = model.coef_
        if len(coefficients) == 1:  # two classes share one row: the difference of their logits
            coefficients = np.vstack([-coefficients, coefficients]) / 2.0
        dtype = torch_dtype(rows.dtype)
        network = LinearLearner(
            rows.shape[1], len(coefficients), generator=torch.Generator(), dtype=dtype
        )
        with torch.no_grad():
            network.output.copy_(torch.from_numpy(coefficients.T))
        return FittedHop(network, TrainingRecord(int(model.n_iter_.max())))


def _mean_loss(fit: FittedHop, rows: Features, labels: NDArray[np.int64]) -> float:
    log_proba = fit.log_proba(rows)
    return -float(log_proba[np.arange(len(log_proba)), labels].mean())
