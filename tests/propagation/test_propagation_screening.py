import numpy as np
import pytest
from scipy import sparse

from adagcn.propagation.screening import _with_squares, strongest_columns

FEATURES = np.array([[0.0, 3.0, 1.0, -2.0, 1.0], [0.5, 0.0, 1.0, 2.0, -1.0]], dtype=np.float32)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("count", "kept"), [(1, [1]), (2, [1, 3]), (3, [1, 2, 3]), (4, [1, 2, 3, 4])]
)
def test_columns_with_the_largest_sums_of_squares_are_kept(form, count, kept):
    """Squares per column: 0.25, 9, 2, 8, 2; of the equal ones the first."""
    assert strongest_columns([form(FEATURES)], 5, count).tolist() == kept


@pytest.mark.parametrize("count", [5, 6, "all"])
def test_all_columns_are_no_selection(count):
    assert strongest_columns([FEATURES], 5, count) is None


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sums_do_not_depend_on_how_the_rows_are_cut(form):
    """To the last bit: columns of nearly equal sums keep their order."""
    features = np.random.default_rng(0).normal(size=(1000, 6)).astype(np.float32)
    whole = _with_squares(np.zeros(6), form(features))
    parts = np.zeros(6)
    for start in range(0, 1000, 64):
        parts = _with_squares(parts, form(features[start : start + 64]))
    np.testing.assert_array_equal(parts, whole)
    expected = np.einsum("ij,ij->j", features, features, dtype=np.float64)
    np.testing.assert_array_equal(whole, expected)
