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
from adagcn.training.hop_fitter import HopTask
from adagcn.training.random_streams import seed_sequence

_SMALLEST_PROBA = 1e-12  # a tree may say 0; its logarithm must stay finite


@dataclass(frozen=True)
class FittedSklearn:
    """A scikit-learn classifier after its fit on one hop."""

    classifier: Any
    n_classes: int
    record: None = None
    left_out: None = None

    @property
    def parts(self) -> tuple[FittedSklearn, ...]:
        """The learners that vote on the hop: this one."""
        return (self,)

    def log_proba(self, rows: Features) -> NDArray[np.float64]:
        """Return log-probabilities of shape (n_rows, n_classes), none below log 1e-12."""
        proba = np.full((rows.shape[0], self.n_classes), _SMALLEST_PROBA)
        proba[:, self.classifier.classes_] = self.classifier.predict_proba(rows)
        return np.asarray(np.log(np.maximum(proba, _SMALLEST_PROBA)))


def check_learner(learner: Any) -> None:
    """Refuse what cannot be the learner of a hop."""
    is_estimator = hasattr(learner, "get_params") and not isinstance(learner, type)
    if (
        not is_estimator
        or not hasattr(learner, "predict_proba")
        or not has_fit_parameter(learner, "sample_weight")
    ):
        raise InputError(
            "AGC-I505",
            "learner must be a classifier with predict_proba whose fit takes sample_weight",
            got=learner,
            fix="use for example sklearn.linear_model.LogisticRegression()",
        )


@dataclass(frozen=True)
class SklearnFitter:
    """Fits a fresh clone of a classifier on every hop; the boosting loop's ``fit_hop``.

    Such a classifier trains by its own rules: it has no parameters to start from, and stopping
    nodes do not stop it (they still serve ``n_layers="auto"``).

    Parameters
    ----------
    classifier : scikit-learn classifier
        Must have ``predict_proba`` and take ``sample_weight`` in ``fit``.
    n_classes : int
        Number of classes.
    seed : int
        Hop l's clone gets its own seed from this one, if it has a ``random_state``.
    """

    classifier: Any
    n_classes: int
    seed: int

    def __call__(self, task: HopTask) -> FittedSklearn:
        """Return a clone fitted on this hop with weights that average to one.

        A classifier takes one class per row: a row with a pseudo-label has its likeliest one.
        """
        classifier = clone(self.classifier)
        if "random_state" in classifier.get_params(deep=False):
            stream = seed_sequence(self.seed, "start", task.hop)
            classifier.set_params(random_state=int(stream.generate_state(1)[0] >> 1))
        labels, weight = task.labels, task.sample_weight
        if task.pseudo_labels is not None:
            labels = np.concatenate([labels, task.pseudo_labels.argmax(axis=1)])
            weight = np.concatenate([weight, task.pseudo_labels.sum(axis=1)])
        classifier.fit(task.rows, labels, sample_weight=weight * len(labels))
        return FittedSklearn(classifier, self.n_classes)
