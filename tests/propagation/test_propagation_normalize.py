from __future__ import annotations

import numpy as np
import pytest
from oracle import normalized_adjacency
from scipy import sparse

from adagcn.errors import InputError
from adagcn.propagation.normalize import make_propagator


def random_adjacency(seed: int, n_nodes: int = 30) -> np.ndarray:
    """A symmetric weighted graph with an isolated node (the last) and a self-loop (node 0)."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_nodes, n_nodes)) < 0.15, 1) * rng.random((n_nodes, n_nodes))
    adjacency = upper + upper.T
    adjacency[-1] = adjacency[:, -1] = 0.0
    adjacency[0, 0] = 0.5
    return adjacency


@pytest.mark.parametrize("seed", range(5))
def test_symmetric_equals_the_dense_formula(seed):
    adjacency = random_adjacency(seed)
    propagator = make_propagator(sparse.csr_array(adjacency), dtype=np.float64)
    np.testing.assert_allclose(
        propagator.toarray(), normalized_adjacency(adjacency), rtol=0, atol=1e-15
    )


def test_symmetric_has_the_spectrum_and_eigenvector_of_the_paper():
    adjacency = random_adjacency(0)
    propagator = make_propagator(sparse.csr_array(adjacency), dtype=np.float64).toarray()
    np.testing.assert_array_equal(propagator, propagator.T)
    spectrum = np.linalg.eigvalsh(propagator)
    assert spectrum.min() > -1.0
    assert spectrum.max() <= 1.0 + 1e-12
    root = np.sqrt((adjacency + np.eye(len(adjacency))).sum(axis=1))
    np.testing.assert_allclose(propagator @ root, root, rtol=1e-13)


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_isolated_node_keeps_its_own_features(normalization):
    propagator = make_propagator(sparse.csr_array(random_adjacency(1)), normalization)
    assert propagator[[-1]].nnz == 1
    assert propagator[-1, -1] == 1.0


def test_random_walk_rows_sum_to_one_and_follow_the_edges():
    directed = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=float)
    propagator = make_propagator(sparse.csr_array(directed), "random_walk", dtype=np.float64)
    expected = [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]]
    np.testing.assert_array_equal(propagator.toarray(), expected)


def test_directed_symmetric_normalizes_rows_by_out_and_columns_by_in_degree():
    directed = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=float)
    loops = directed + np.eye(3)
    expected = loops / np.sqrt(loops.sum(1))[:, None] / np.sqrt(loops.sum(0))[None, :]
    propagator = make_propagator(sparse.csr_array(directed), dtype=np.float64)
    np.testing.assert_allclose(propagator.toarray(), expected, rtol=1e-15)
    assert np.linalg.norm(propagator.toarray(), 2) <= 1.0 + 1e-12


def test_input_is_not_modified_and_type_is_as_asked():
    adjacency = sparse.csr_array(random_adjacency(2))
    before = adjacency.toarray().copy()
    assert make_propagator(adjacency).dtype == np.float32
    np.testing.assert_array_equal(adjacency.toarray(), before)


def test_unknown_normalization_is_refused():
    with pytest.raises(InputError, match=r"normalization must be one of .*; got 'row'.*AGC-I401"):
        make_propagator(sparse.csr_array((2, 2)), "row")
