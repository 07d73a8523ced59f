"""What a page says of a model in words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from adagcn.models import MODELS
from adagcn.report.model_sentences import what_it_does


@pytest.mark.parametrize(
    ("n_train", "n_stop", "words"),
    [
        (0, 0, "the labels of some of its nodes. "),
        (0, 5, "the labels of some of its nodes. "),
        (1, 0, "one labeled node. "),
        (140, 0, "the labels of 140 of its nodes. "),
        (140, 1, "the labels of 140 of its nodes (that of another decided when to stop). "),
        (
            1_400,
            500,
            "the labels of 1,400 of its nodes (those of 500 others decided when to stop). ",
        ),
    ],
)
def test_the_labels_that_a_model_has_seen_are_all_named(n_train, n_stop, words):
    model = SimpleNamespace(model_key="mlp")
    said = what_it_does(model, n_train, n_stop)
    assert said.startswith(
        f"This model gives every node of a graph a label, having learned from {words}"
    )


@pytest.mark.parametrize("key", sorted(set(MODELS) - {"adagcn", "adasgc"}))
def test_every_model_has_a_sentence_of_its_own(key):
    """Those of the two boosted models hold numbers of the fit."""
    said = what_it_does(SimpleNamespace(model_key=key), 0)
    assert "In the words of its documentation" not in said
    assert "hop" not in said.split()
