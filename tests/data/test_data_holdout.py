"""The split of a user's own labels: every label has a use, and no class is too small."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adagcn.data import holdout_split, make_split, planted_partition
from adagcn.errors import InputError

ROLES = ("train_nodes", "stop_nodes", "score_nodes")


def sizes_by_class(labels, split):
    n_classes = labels.max() + 1
    return [
        tuple(int((labels[getattr(split, role)] == k).sum()) for role in ROLES)
        for k in range(n_classes)
    ]


@pytest.mark.parametrize(
    ("n_labels", "expected"),
    [(1, (1, 0, 0)), (2, (1, 0, 1)), (3, (1, 1, 1)), (4, (2, 1, 1)), (5, (3, 1, 1)),
     (10, (6, 2, 2)), (100, (64, 16, 20)), (300, (192, 48, 60))],
)  # fmt: skip
def test_a_fifth_is_scored_and_a_fifth_of_the_rest_stopped_on(n_labels, expected):
    labels = np.zeros(n_labels, int)
    assert sizes_by_class(labels, holdout_split(labels, 0)) == [expected]


@pytest.mark.parametrize(
    ("n_labels", "expected"), [(1, (1, 0, 0)), (2, (1, 1, 0)), (3, (2, 1, 0)), (10, (8, 2, 0))]
)
def test_with_nothing_to_score_four_fifths_are_trained_on(n_labels, expected):
    labels = np.zeros(n_labels, int)
    assert sizes_by_class(labels, holdout_split(labels, 0, score=0)) == [expected]


def test_with_neither_every_label_is_trained_on():
    assert holdout_split(np.arange(9) % 3, 0, stop=0, score=0).sizes == {
        "train": 9,
        "stop": 0,
        "score": 0,
    }


@given(
    labels=st.lists(st.integers(-1, 3), min_size=1, max_size=80).filter(lambda x: max(x) >= 0),
    seed=st.integers(0, 2**32),
    stop=st.floats(0, 0.99),
    score=st.floats(0, 0.99),
    train_per_class=st.none() | st.integers(1, 30),
)
def test_every_label_is_used_once_and_every_class_trained_on(
    labels, seed, stop, score, train_per_class
):
    labels = np.array(labels)
    split = holdout_split(labels, seed, stop=stop, score=score, train_per_class=train_per_class)
    parts = np.concatenate([getattr(split, role) for role in ROLES])
    assert np.array_equal(np.sort(parts), np.flatnonzero(labels >= 0))
    assert set(labels[split.train_nodes]) == set(labels[labels >= 0])
    if train_per_class is not None:
        assert np.bincount(labels[split.train_nodes]).max() <= train_per_class
    elif score == 0:
        assert len(split.score_nodes) == 0


def test_a_number_of_stopping_nodes_is_spread_over_the_classes():
    labels = np.repeat([0, 1, 2], [600, 300, 100])
    split = holdout_split(labels, 0, stop=80)
    assert [stop for _, stop, _ in sizes_by_class(labels, split)] == [48, 24, 8]
    with pytest.raises(InputError, match=r"more than the 797 labels that can be set aside"):
        holdout_split(labels, 0, stop=798)


def test_a_benchmarks_sizes_can_be_asked_for():
    labels = np.repeat([0, 1, 2], [600, 300, 5])
    split = holdout_split(labels, 0, train_per_class=20, stop=500)
    assert sum(split.sizes.values()) == 905
    assert split.sizes["stop"] == 500
    assert [train for train, *_ in sizes_by_class(labels, split)] == [20, 20, 3]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"score": 1}, "score must be at least 0 and below 1; got 1"),
        ({"score": -0.1}, "score must be at least 0"),
        ({"score": float("nan")}, "score must be at least 0"),
        ({"stop": 1.5}, r"stop must be a share below 1 or a whole number of nodes; got 1\.5"),
        ({"stop": -1}, "stop must be a share"),
        ({"stop": float("nan")}, "stop must be a share"),
        ({"stop": float("inf")}, "stop must be a share"),
        ({"train_per_class": 0}, "train_per_class must be at least 1"),
    ],
)
def test_sizes_that_mean_nothing_are_refused(sizes, message):
    with pytest.raises(InputError, match=message):
        holdout_split(np.arange(99) % 3, 0, **sizes)


def test_labels_are_needed():
    with pytest.raises(InputError, match="holdout:0 needs labels, but no node has one"):
        holdout_split(np.full(5, -1), 0)


def test_it_is_the_same_in_every_release():
    split = holdout_split(np.arange(300) % 3, 0)
    text = "".join(str(getattr(split, role).tolist()) for role in ROLES)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "ad375196b89d95b5"
    assert holdout_split(np.arange(300) % 3, 1).digest != split.digest


def test_make_split_knows_it_and_refuses_what_has_no_meaning():
    graph = planted_partition(2000, 4, 3, seed=0)
    assert make_split(graph, "holdout:7").digest == holdout_split(graph.labels, 7).digest
    given = {"stop": 0.5, "score": 0.1}
    assert (
        make_split(graph, "holdout:7", **given).sizes
        == holdout_split(graph.labels, 7, **given).sizes
    )
    for text, given, message in [
        ("holdout:0", {"n_known": 9}, "n_known has no meaning for the split holdout:0; got 9"),
        ("holdout:0", {"splits_file": "x"}, "splits_file has no meaning"),
        ("holdout:0", {"train_per_class": 3, "score": 0.1}, "exclude each other"),
        ("stratified:0", {"score": 0.1}, "score has no meaning for the split stratified:0"),
        ("stratified:0", {"stop": 20}, "stop_fraction must be between 0 and 1"),
        ("val:0", {"score": 0.1}, "score has no meaning"),
        ("val:0", {"stop": 0.5}, "stop must be a whole number of nodes for the split val:0"),
        ("public", {"stop": 0.5}, "stop has no meaning for the split public"),
    ]:
        with pytest.raises(InputError, match=message):
            make_split(graph, text, **given)
