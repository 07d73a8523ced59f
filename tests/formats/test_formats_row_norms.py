"""Square roots of shares: rows of norm one, whatever form they come in."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn.formats.row_norms import hellinger_rows, normalize_rows_l1

ROWS = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [-4.0, 4.0, 8.0], [0.0, 0.5, 0.0]])
EXPECTED = np.array(
    [[0.5, 0.75**0.5, 0.0], [0.0, 0.0, 0.0], [-0.5, 0.5, 0.5**0.5], [0.0, 1.0, 0.0]]
)


def dense(features):
    return features.toarray() if sparse.issparse(features) else features


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csc_array, sparse.csr_matrix]
)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_roots_of_shares_keep_their_sign(form, kind):
    given = form(ROWS.astype(kind))
    found = hellinger_rows(given)
    assert found.dtype == kind
    assert sparse.issparse(found) == sparse.issparse(given)
    np.testing.assert_allclose(dense(found), EXPECTED, rtol=1e-6)
    norms = np.linalg.norm(dense(found), axis=1)
    np.testing.assert_allclose(norms, [1, 0, 1, 1], rtol=1e-6)
    np.testing.assert_array_equal(dense(given), ROWS)  # what was handed in stays


def test_counts_become_float32():
    assert hellinger_rows(np.array([[1, 3]])).dtype == np.float32


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_may_come_divided_already_or_of_any_size(form):
    rows = np.random.default_rng(0).random((20, 7))
    expected = dense(hellinger_rows(form(rows)))
    for same in (normalize_rows_l1(form(rows)), form(1000.0 * rows)):
        np.testing.assert_allclose(dense(hellinger_rows(same)), expected, rtol=1e-12)


def test_sparse_rows_keep_their_places():
    rows = sparse.csr_array(ROWS)
    found = hellinger_rows(rows)
    np.testing.assert_array_equal(found.indices, rows.indices)
    np.testing.assert_array_equal(found.indptr, rows.indptr)
