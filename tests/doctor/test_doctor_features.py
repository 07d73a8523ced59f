"""Odd feature columns: found where they are, and not where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn.doctor.feature_checks import feature_checks
from adagcn.doctor.leakage import leakage_suspects
from adagcn.graph import Graph

# Tiny graphs made by hand have a few repeated edges.
pytestmark = pytest.mark.filterwarnings("ignore::adagcn.errors.GraphNotice")

N = 120
LABELS = np.arange(N) % 3
RING = np.stack([np.arange(N), (np.arange(N) + 1) % N], axis=1)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def graph_with(features, labels=LABELS, **how):
    return Graph.from_edges(RING, features=features, labels=labels, unlabeled=-1, **how)


def noise(rng, n_columns=20):
    return rng.standard_normal((N, n_columns))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_empty_constant_and_repeated_columns_are_counted(form):
    table = np.zeros((N, 6), dtype=np.float32)
    table[:, 1] = 2.0
    table[::2, 2] = table[::2, 4] = 1.0
    table[::3, 3] = 1.0
    table[::2, 5] = 3.0  # like column 2, but for its size
    found = feature_checks(graph_with(form(table)), rng=np.random.default_rng(0))
    assert (found.empty, found.constant, found.duplicate) == (1, 1, 1)
    assert found.duplicate_examples == ((2, 4),)
    assert found.rows_without == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_without_features_are_counted(form):
    table = np.ones((N, 2), dtype=np.float32)
    table[:5] = 0.0
    found = feature_checks(graph_with(form(table)), rng=np.random.default_rng(0))
    assert found.rows_without == 5


def test_columns_of_very_different_size_are_seen_in_dense_features_alone(rng):
    table = noise(rng, 2) * [1.0, 5000.0]
    checks = feature_checks(graph_with(table), rng=rng)
    assert checks.very_different
    assert checks.largest_deviation / checks.smallest_deviation > 1000
    assert not feature_checks(graph_with(sparse.csr_array(table)), rng=rng).very_different


def test_a_graph_without_features_has_no_columns(rng):
    checks = feature_checks(Graph.from_edges(RING, labels=LABELS), rng=rng)
    assert (checks.kind, checks.n_columns, checks.suspects) == ("none", 0, ())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_column_that_is_the_label_is_suspected(rng, form):
    table = noise(rng)
    table[:, 4] = LABELS * 10.0
    (suspect,) = leakage_suspects(graph_with(form(table)), rng=rng)
    assert (suspect.column, suspect.kind) == (4, "values")
    assert (suspect.n_agree, suspect.n_labeled) == (N, N)


def test_a_label_with_a_little_noise_on_it_is_suspected(rng):
    table = noise(rng)
    table[:, 0] = LABELS + 0.05 * rng.standard_normal(N)
    (suspect,) = leakage_suspects(graph_with(table), rng=rng)
    assert (suspect.column, suspect.kind) == (0, "values")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_hot_of_a_class_is_suspected_by_its_threshold(rng, sign):
    table = noise(rng)
    table[:, 3] = sign * (LABELS == 2)
    wrong = np.flatnonzero(LABELS == 0)[:2]
    table[wrong, 3] = sign
    names = [f"x{k}" for k in range(20)]
    (suspect,) = leakage_suspects(graph_with(table, feature_names=names), rng=rng)
    assert (suspect.name, suspect.kind, suspect.label) == ("x3", "threshold", 2)
    assert suspect.above is (sign > 0)
    assert suspect.threshold == pytest.approx(sign * 0.5)
    assert suspect.n_agree == N - 2


def test_a_sparse_column_that_is_zero_for_one_class_only_is_suspected(rng):
    table = (rng.random((N, 30)) < 0.1).astype(np.float32)
    table[:, 9] = LABELS != 1
    (suspect,) = leakage_suspects(graph_with(sparse.csr_array(table)), rng=rng)
    assert (suspect.column, suspect.label, suspect.above) == (9, 1, False)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_noise_is_not_suspected(seed, form):
    rng = np.random.default_rng([9, seed])
    rare = (rng.random((N, 500)) < 0.03).astype(np.float32)
    table = np.hstack([rare, noise(rng, 100)]) if form is np.asarray else rare
    assert leakage_suspects(graph_with(form(table)), rng=rng) == ()


def test_few_labels_do_not_make_a_suspect_of_a_rare_column(rng):
    labels = np.full(N, -1)
    labels[:15] = LABELS[:15]
    table = (rng.random((N, 20_000)) < 1 / 3).astype(np.float32)
    # Of so many columns of noise, some are on in all five nodes of a class and in no other.
    counts = np.array([table[:15][LABELS[:15] == each].sum(axis=0) for each in range(3)])
    assert ((counts.max(axis=0) == 5) & (counts.sum(axis=0) == 5)).any()
    assert leakage_suspects(graph_with(sparse.csr_array(table), labels), rng=rng) == ()


def test_a_good_feature_is_not_a_leak(rng):
    table = noise(rng)
    table[:, 0] = LABELS + 0.5 * rng.standard_normal(N)
    assert leakage_suspects(graph_with(table), rng=rng) == ()


def test_two_classes_are_told_by_a_threshold(rng):
    labels = np.arange(N) % 2
    table = noise(rng)
    table[:, 1] = labels + 0.1 * rng.standard_normal(N)
    (suspect,) = leakage_suspects(graph_with(table, labels), rng=rng)
    assert (suspect.column, suspect.kind) == (1, "threshold")
