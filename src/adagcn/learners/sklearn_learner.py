"""Any scikit-learn classifier as the learner of a hop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from adagcn.errors import InputError
from adagcn.graph import Features

_SMALLEST_PROBA = 1e-12  # a tree may say 0; its logarithm must stay finite


@dataclass(frozen=True)
class FittedSklearn:
    """A scikit-learn classifier after its fit on one hop."""

    classifier: Any
    n_classes: int
    record: None = None

    def log_proba(self, rows: Features) -> NDArray[np.float64]:
        """Return log-probabilities of shape (n_rows, n_classes), none below log 1e-12."""
        proba = np.full((rows.shape[0], self.n_classes), _SMALLEST_PROBA)
        proba[:, self.classifier.classes_] = self.classifier.predict_proba(rows)
        return np.asarray(np.log(np.maximum(proba, _SMALLEST_PROBA)))


@dataclass(frozen=True)
class SklearnFitter:
    """Fits a fresh clone of a classifier on every hop; the boosting loop's ``fit_hop``.

    Such a classifier trains by its own rules: it has no parameters to start from, and stopping
    nodes do not stop it (they still serve ``n_layers="auto"``).

    Parameters
    ----------
    classifier : scikit-learn classifier
        Must have ``predict_proba`` and take ``sample_weight`` in ``fit``.
    labels : ndarray of int64
        Classes of the training rows.
    n_classes : int
        Number of classes.
    seed : int
        Hop l's clone gets its own seed from this one, if it has a ``random_state``.
    """

    classifier: Any
    labels: NDArray[np.int64]
    n_classes: int
    seed: int

    def __post_init__(self) -> None:
        if not has_fit_parameter(self.classifier, "sample_weight") or not hasattr(
            self.classifier, "predict_proba"
        ):
            raise InputError(
                "AGC-I505",
                "learner must be a classifier with predict_proba whose fit takes sample_weight",
                got=self.classifier,
                fix="use for example sklearn.linear_model.LogisticRegression()",
            )

    def __call__(
        self,
        hop: int,
        rows: Features,
        sample_weight: NDArray[np.float64],
        stop_rows: Features | None,
        previous: FittedSklearn | None,
        adopted: NDArray[np.float64] | None = None,
    ) -> FittedSklearn:
        """Return a clone fitted on this hop with weights that average to one.

        A classifier takes one class per row: an adopted row has its likeliest one.
        """
        classifier = clone(self.classifier)
        if "random_state" in classifier.get_params(deep=False):
            stream = np.random.SeedSequence(self.seed, spawn_key=(0, hop))
            classifier.set_params(random_state=int(stream.generate_state(1)[0] >> 1))
        labels = self.labels
        if adopted is not None:
            labels = np.concatenate([labels, adopted.argmax(axis=1)])
            sample_weight = np.concatenate([sample_weight, adopted.sum(axis=1)])
        classifier.fit(rows, labels, sample_weight=sample_weight * len(labels))
        return FittedSklearn(classifier, self.n_classes)
