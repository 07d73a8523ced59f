from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adagcn.propagation.hops import MemoryHop
from adagcn.propagation.scaling import hop_digest, hop_factor, scaled_rows

ALL = np.arange(3)
ROWS = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]])


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_row_l2_makes_rows_of_length_one_and_leaves_zero_rows(form):
    scaled = scaled_rows(MemoryHop(form(ROWS), None), ALL, 7.0, "row_l2")
    dense = scaled if isinstance(scaled, np.ndarray) else scaled.toarray()
    np.testing.assert_allclose(dense, [[0.6, 0.8], [0, 0], [0, 1]])
    assert sparse.issparse(scaled) == sparse.issparse(form(ROWS))


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_hop_scale_restores_the_size_of_the_input(form):
    shrunk = MemoryHop(form(ROWS * 0.25), None)
    whole = MemoryHop(form(ROWS), None)
    factor = hop_factor(shrunk, whole.size(), "hop")
    assert factor == pytest.approx(4.0)
    restored = MemoryHop(scaled_rows(shrunk, ALL, factor, "hop"), None)
    assert restored.size() == pytest.approx(whole.size())
    assert shrunk.size() == pytest.approx(whole.size() / 4.0)  # the hop itself stays as it was


def test_none_gives_the_rows_themselves_and_zero_features_do_not_divide_by_zero():
    np.testing.assert_array_equal(scaled_rows(MemoryHop(ROWS, None), ALL, 5.0, "none"), ROWS)
    assert hop_factor(MemoryHop(ROWS, None), 3.0, "none") == 1.0
    assert hop_factor(MemoryHop(np.zeros((2, 2)), None), 3.0, "hop") == 1.0


def test_size_is_the_root_mean_square_of_row_norms():
    assert MemoryHop(ROWS, None).size() == pytest.approx(np.sqrt((25 + 0 + 4) / 3))


def test_the_digest_is_of_the_values_however_they_are_kept():
    digests = {hop_digest(MemoryHop(form(ROWS), None)) for form in (np.array, sparse.csr_array)}
    assert len(digests) == 1
    assert hop_digest(MemoryHop(ROWS + 1.0, None)) not in digests
