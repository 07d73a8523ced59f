from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn.propagation.scaling import hop_factor, scale_hop, size

ROWS = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]])


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_row_l2_makes_rows_of_length_one_and_leaves_zero_rows(form):
    scaled = scale_hop(form(ROWS), 7.0, "row_l2")
    dense = scaled if isinstance(scaled, np.ndarray) else scaled.toarray()
    np.testing.assert_allclose(dense, [[0.6, 0.8], [0, 0], [0, 1]])
    assert sparse.issparse(scaled) == sparse.issparse(form(ROWS))


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_hop_scale_restores_the_size_of_the_input(form):
    shrunk = form(ROWS * 0.25)
    factor = hop_factor(shrunk, size(form(ROWS)), "hop")
    assert factor == pytest.approx(4.0)
    assert size(scale_hop(shrunk, factor, "hop")) == pytest.approx(size(ROWS))


def test_none_gives_the_rows_themselves_and_zero_features_do_not_divide_by_zero():
    assert scale_hop(ROWS, 5.0, "none") is ROWS
    assert hop_factor(ROWS, 3.0, "none") == 1.0
    assert hop_factor(np.zeros((2, 2)), 3.0, "hop") == 1.0


def test_size_is_the_root_mean_square_of_row_norms():
    assert size(ROWS) == pytest.approx(np.sqrt((25 + 0 + 4) / 3))
