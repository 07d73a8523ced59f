from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from adagcn.cli.scores import class_sizes, score_predictions, uneven_note, weight_words

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
    balanced = metrics.balanced_accuracy_score(labels, predicted)
    assert scores["balanced_accuracy"] == pytest.approx(balanced)
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


def test_class_sizes_are_of_classes_that_occur():
    assert class_sizes(np.array([2, 0, 2, 2])) == (3, 1)
    assert class_sizes(np.array([], dtype=np.int64)) == (0, 0)


@pytest.mark.parametrize("sizes", [(63, 21), (1, 1), (0, 0)])
def test_up_to_three_times_as_many_labels_are_even_enough(sizes):
    assert uneven_note(sizes, {"": 0.5}, asked=False, weighed=False) is None


UNEVEN = "classes are uneven (largest 4,000, smallest 21 labels)"


@pytest.mark.parametrize(
    ("found", "asked", "weighed", "told"),
    [
        ({"": 0.631}, False, False, ": balanced accuracy 63.1 %; --class-weight balanced weighs"),
        ({"": 0.631}, True, False, "; --class-weight balanced weighs them equally"),
        ({"": None}, False, False, "; --class-weight balanced weighs them equally"),
        ({"": 0.631}, False, True, ": balanced accuracy 63.1 %"),
        ({"a": 0.5, "b": None, "c": 0.6}, False, True,
         ": balanced accuracy 50.0 % (a), 60.0 % (c)"),
        (dict.fromkeys("abcd", 0.5), False, True,
         ": balanced accuracy 50.0 % (a), 50.0 % (b), 50.0 % (c), …"),
    ],
)  # fmt: skip
def test_uneven_classes_are_told_of_what_was_not_asked_for(found, asked, weighed, told):
    text = uneven_note((4000, 21), found, asked=asked, weighed=weighed)
    assert text.startswith(f"{UNEVEN}{told}")
    assert weighed == ("--class-weight" not in text)


def test_who_asked_for_everything_is_told_nothing():
    assert uneven_note((4000, 21), {"": 0.631}, asked=True, weighed=True) is None


def test_weights_of_ones_own_are_not_called_balanced():
    assert weight_words({"a": 2.0}) == ", class weight by class"
    assert weight_words(None) == ""
