from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from adagcn.cli.scores import score_predictions

CLASSES = np.array(["a", "b", "c"])


@pytest.fixture
def drawn():
    rng = np.random.default_rng(0)
    return CLASSES[rng.integers(3, size=50)], rng.dirichlet(np.ones(3), size=50)


def test_the_numbers_are_scikit_learns(drawn):
    labels, proba = drawn
    predicted = CLASSES[proba.argmax(axis=1)]
    scores = score_predictions(labels, proba, CLASSES)
    assert scores["accuracy"] == metrics.accuracy_score(labels, predicted)
    assert scores["macro_f1"] == metrics.f1_score(labels, predicted, average="macro")
    assert scores["scores"]["accuracy"] == scores["accuracy"]
    assert scores["scores"]["roc_auc"] == pytest.approx(
        metrics.roc_auc_score(labels, proba, multi_class="ovr")
    )
    assert scores["undefined"] == {}
    assert scores["log_loss"] == pytest.approx(metrics.log_loss(labels, proba, labels=CLASSES))
    assert np.array_equal(
        scores["confusion"]["matrix"], metrics.confusion_matrix(labels, predicted)
    )
    assert sum(record["nodes"] for record in scores["per_class"]) == 50


def test_the_order_of_the_classes_does_not_matter(drawn):
    labels, proba = drawn
    turned = score_predictions(labels, proba[:, ::-1], CLASSES[::-1])
    straight = score_predictions(labels, proba, CLASSES)
    assert turned == straight


def test_a_label_that_the_model_never_saw_counts_as_wrong(drawn):
    labels, proba = drawn
    widened = np.where(labels == "a", "z", labels)
    scores = score_predictions(widened, proba, CLASSES)
    assert scores["log_loss"] is None
    assert scores["scores"]["roc_auc"] is None
    assert scores["undefined"] == {"roc_auc": "no scored node has the label 'a'"}
    assert scores["accuracy"] == np.mean(CLASSES[proba.argmax(axis=1)] == widened)
    assert scores["confusion"]["labels"] == ["a", "b", "c", "z"]
