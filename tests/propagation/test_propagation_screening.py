import numpy as np
import pytest
from scipy import sparse

from adagcn.propagation.screening import strongest_columns

FEATURES = np.array([[0.0, 3.0, 1.0, -2.0, 1.0], [0.5, 0.0, 1.0, 2.0, -1.0]], dtype=np.float32)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("count", "kept"), [(1, [1]), (2, [1, 3]), (3, [1, 2, 3]), (4, [1, 2, 3, 4])]
)
def test_columns_with_the_largest_sums_of_squares_are_kept(form, count, kept):
    """Squares per column: 0.25, 9, 2, 8, 2; of the equal ones the first."""
    assert strongest_columns(form(FEATURES), count).tolist() == kept


@pytest.mark.parametrize("count", [5, 6, "all"])
def test_all_columns_are_no_selection(count):
    assert strongest_columns(FEATURES, count) is None
