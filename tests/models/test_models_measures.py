"""The measures are scikit-learn's, and none is made up where it has no value."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from adagcn.models.support.measures import METRICS, measures, undefined

LETTERS = np.array(["a", "b", "c"])


def drawn(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    classes = LETTERS[:n_classes]
    return classes[rng.integers(n_classes, size=60)], rng.dirichlet(np.ones(n_classes), 60), classes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_numbers_are_scikit_learns(n_classes):
    labels, proba, classes = drawn(n_classes)
    predicted = classes[proba.argmax(axis=1)]
    ranked = proba[:, 1] if n_classes == 2 else proba
    expected = {
        "accuracy": metrics.accuracy_score(labels, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(labels, predicted),
        "f1_macro": metrics.f1_score(labels, predicted, average="macro"),
        "roc_auc": metrics.roc_auc_score(labels, ranked, multi_class="ovr"),
    }
    found = measures(labels, proba, classes)
    assert found == pytest.approx(expected)
    assert list(found) == list(METRICS)


def test_two_classes_are_ranked_by_the_second():
    labels = np.array(["b", "a", "b", "a"])
    proba = np.array([[0.6, 0.4], [0.9, 0.1], [0.7, 0.3], [0.8, 0.2]])
    found = measures(labels, proba, LETTERS[:2])
    assert (found["roc_auc"], found["accuracy"]) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"c": "a"}, "no scored node has the label 'c'"), ({"c": "a", "b": "a"}, "the label 'b'")],
)
def test_a_class_that_is_not_there_leaves_no_roc_auc(change, reason):
    labels, proba, classes = drawn(3)
    labels = np.array([change.get(label, label) for label in labels])
    assert reason in undefined("roc_auc", labels, classes)
    found = measures(labels, proba, classes)
    assert set(METRICS) - set(found) == {"roc_auc"}
    assert found["accuracy"] == np.mean(classes[proba.argmax(axis=1)] == labels)


def test_a_label_that_the_model_does_not_know():
    labels, proba, classes = drawn(3)
    labels[0] = "z"
    assert undefined("roc_auc", labels, classes) == "the model does not know the label 'z'"
    assert "roc_auc" not in measures(labels, proba, classes)
    assert undefined("f1_macro", labels, classes) is None
