"""Feature matrices of every make are equal after reading; what is not finite is found."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from scipy import sparse

from adagcn.errors import FormatError, InputError
from adagcn.formats.matrices import as_csr, as_features, csr_from_members

VALUES = np.array([[0.0, 1.5], [2.0, 0.0], [0.25, 4.0]])


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "values",
    [
        VALUES,
        VALUES.astype(np.float32),
        VALUES.astype(np.float16),
        VALUES.astype(">f8"),
        VALUES.tolist(),
        np.asfortranarray(VALUES),
        np.repeat(VALUES, 2, axis=1)[:, ::2],
        frozen(VALUES),
        torch.tensor(VALUES, requires_grad=True),
        torch.tensor(VALUES, dtype=torch.bfloat16),
    ],
)
def test_dense_of_every_make(values):
    features = as_features(values)
    assert features.dtype == np.float32
    assert features.flags.c_contiguous
    np.testing.assert_array_equal(features, VALUES)


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_of_every_make(make, fmt):
    given = make(VALUES).asformat(fmt)
    features = as_features(given)
    assert isinstance(features, sparse.csr_array)
    assert features.dtype == np.float32
    assert features.has_canonical_format
    assert features.nnz == 4
    np.testing.assert_array_equal(features.toarray(), VALUES)


def test_integers_and_booleans():
    np.testing.assert_array_equal(as_features(np.array([[1, 0]])), [[1.0, 0.0]])
    np.testing.assert_array_equal(as_features(np.array([[True, False]])), [[1.0, 0.0]])


def test_a_float32_matrix_is_not_copied():
    given = VALUES.astype(np.float32)
    assert np.shares_memory(as_features(given), given)


@pytest.mark.parametrize("columns", [[1, 0, 1, 1], [0, 1, 2, 1]], ids=["unsorted", "zeros"])
def test_the_input_stays_as_it_was(columns):
    data = np.array([2.0, 0.0, 1.0, 3.0], dtype=np.float32)
    messy = sparse.csr_array((data, np.array(columns), np.array([0, 3, 4])), shape=(2, 3))
    dense = messy.toarray()
    before = [part.copy() for part in (messy.data, messy.indices, messy.indptr)]
    features = as_features(messy)
    for part, old in zip((messy.data, messy.indices, messy.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)
    np.testing.assert_array_equal(features.toarray(), dense)
    assert features.nnz == np.count_nonzero(dense)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("container", "dtype"),
    [
        (np.asarray, np.float16),  # SciPy has no sparse matrices of float16
        *product((np.asarray, sparse.csr_array, sparse.csc_matrix), (np.float32, np.float64)),
    ],
)
def test_values_that_are_not_finite(container, bad, dtype):
    values = VALUES.astype(dtype)
    values[1, 0] = values[2, 1] = bad
    what = "missing" if np.isnan(bad) else "NaN, infinite or too large"
    counts = "1 in column 0, 1 in column 1; the first is at row 1, column 0"
    with pytest.raises(InputError, match=rf"2 values \({what}\) .*{counts}"):
        as_features(container(values))


def test_opposite_infinities_do_not_cancel():
    with pytest.raises(InputError, match="2 values"):
        as_features(np.array([[np.inf, -np.inf]]))


def test_values_past_float32():
    with pytest.raises(InputError, match=r"as float32, holds 1 value \(NaN.*row 0, column 1"):
        as_features(np.array([[1.0, 1e39]]))
    assert as_features(np.array([[1.0, 1e39]]), dtype=np.float64)[0, 1] == 1e39
    assert as_features(np.array([[1.7e308, 1.7e308]]), dtype=np.float64).max() == 1.7e308


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[1j]]), "must hold real numbers; got 'complex128'"),
        (np.array([["a"]]), "must hold real numbers"),
        (np.array([["a", None]], dtype=object), "must hold real numbers; got 'object'"),
        ([[10**400]], "must hold real numbers; got 'object'"),
        ([[1, None]], r"holds 1 value \(missing\)"),
        (np.ones(3), r"must be a matrix with one row per node.*got \(3,\)"),
        (np.ones((3, 0)), r"at least one column; got \(3, 0\)"),
        ([[1.0], [1.0, 2.0]], "must be a matrix of numbers"),
    ],
)
def test_what_cannot_be_features(values, message):
    with pytest.raises(InputError, match=message):
        as_features(values)


def members(**changed):
    matrix = sparse.csr_array(VALUES)
    arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    arrays["shape"] = np.array(matrix.shape)
    arrays.update(changed)
    return {f"m.{name}": array for name, array in arrays.items() if array is not None}


def test_raw_arrays_of_a_file():
    np.testing.assert_array_equal(csr_from_members(members(), "m").toarray(), VALUES)
    half = members(data=sparse.csr_array(VALUES).data.astype(np.float16))
    np.testing.assert_array_equal(csr_from_members(half, "m").toarray(), VALUES)
    big_endian = members(indices=np.array([1, 0, 0, 1], dtype=">i8"))
    np.testing.assert_array_equal(csr_from_members(big_endian, "m").toarray(), VALUES)


@pytest.mark.parametrize(
    "changed",
    [
        {"indptr": np.array([0, 2, 1, 4])},
        {"indptr": np.array([0, 1, 2])},
        {"indptr": np.array([1, 1, 2, 4])},
        {"indptr": np.array([0, 1, 2, 9])},
        {"indptr": np.array([0, 1, 2, -4])},
        {"indices": np.array([1, 0, 0, 2])},
        {"indices": np.array([1, 0, 0, -1])},
        {"indices": np.array([1, 0, 0])},
        {"indices": np.array([1.0, 0.0, 0.0, 1.0])},
        {"indices": np.array([2**63, 0, 0, 1], dtype=np.uint64)},
        {"data": np.ones(3)},
        {"data": np.array(["a", "b", "c", "d"])},
        {"data": np.ones((4, 1))},
        {"data": None},
        {"shape": np.array([3])},
        {"shape": np.array([3, -2])},
        {"shape": np.array([3, 2, 1])},
        {"shape": np.array([10**12, 2])},
        {"shape": np.array(6)},
    ],
)
def test_raw_arrays_that_contradict_each_other(changed):
    with pytest.raises(FormatError, match=r"m\.|of m |^m must"):
        csr_from_members(members(**changed), "m")


def test_an_inconsistent_matrix_as_an_argument():
    broken = sparse.csr_array(VALUES)
    broken.indices[0] = 7
    with pytest.raises(InputError, match="features is not a consistent sparse matrix"):
        as_csr(broken, "features")
