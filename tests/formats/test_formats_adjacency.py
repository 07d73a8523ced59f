"""Each option of the edges means what its documentation says, on graphs small enough to see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from adagcn.errors import InputError
from adagcn.formats.adjacency import (
    Changes,
    EdgeRules,
    adjacency_from_edges,
    adjacency_from_matrix,
)


def from_edges(edges, n_nodes=3, weights=None, **rules):
    changes = Changes()
    ends = tuple(np.array(edges, dtype=np.intp).reshape(-1, 2).T)
    weights = None if weights is None else np.asarray(weights)
    matrix = adjacency_from_edges(ends, weights, n_nodes, EdgeRules(**rules), changes)
    assert matrix.dtype == np.float32
    assert matrix.has_canonical_format
    return matrix.toarray().tolist(), changes


def from_matrix(dense, **rules):
    changes = Changes()
    matrix = adjacency_from_matrix(sparse.csr_array(np.array(dense)), EdgeRules(**rules), changes)
    return matrix.toarray().tolist(), changes


ARC = [(0, 1)]


@pytest.mark.parametrize(
    ("directed", "expected"),
    [
        ("ignore", [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
        ("keep", [[0, 1, 0], [0, 0, 0], [0, 0, 0]]),
        ("reverse", [[0, 0, 0], [1, 0, 0], [0, 0, 0]]),
    ],
)
def test_direction(directed, expected):
    matrix, changes = from_edges(ARC, directed=directed)
    assert matrix == expected
    assert changes.phrases == []


def test_a_directed_graph_can_be_refused():
    with pytest.raises(InputError, match="directed='error': 1 one-way edge"):
        from_edges(ARC, directed="error")
    with pytest.raises(InputError, match="0 one-way edges, 1 pair of unequal weight"):
        from_edges([(0, 1), (1, 0)], weights=[1, 2], directed="error")
    both = [(0, 1), (1, 0)]
    assert from_edges(both, directed="error")[0] == from_edges(ARC)[0]


def test_an_asymmetric_matrix_is_told():
    matrix, changes = from_matrix([[0, 2], [0, 0]])
    assert matrix == [[0, 2], [2, 0]]
    assert changes.surprises == ["1 one-way edge made two-way"]
    assert from_matrix([[0, 2], [2, 0]])[1].phrases == []


def test_the_larger_of_two_weights_is_kept_and_told():
    for weights in ([1, 3], [3, 1]):
        matrix, changes = from_edges([(0, 1), (1, 0)], weights=weights)
        assert matrix == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
        assert changes.surprises == ["1 edge with a different weight each way, the larger kept"]


@pytest.mark.parametrize(("duplicates", "weight"), [("max", 3), ("sum", 6)])
def test_duplicates(duplicates, weight):
    edges = [(0, 1), (1, 2), (0, 1), (0, 1)]
    matrix, changes = from_edges(edges, weights=[1, 5, 3, 2], duplicates=duplicates)
    assert matrix == [[0, weight, 0], [weight, 0, 5], [0, 5, 0]]
    assert changes.phrases[0].startswith("2 duplicate edges merged")
    assert bool(changes.surprises) == (duplicates == "max")


def test_duplicates_can_be_refused_but_both_directions_are_none():
    with pytest.raises(InputError, match="1 repeated edge, but duplicates='error'"):
        from_edges([(0, 1), (0, 1)], duplicates="error")
    from_edges([(0, 1), (1, 0)], duplicates="error")
    assert from_edges([(0, 1), (1, 0)], duplicates="sum")[0] == from_edges(ARC)[0]


def test_self_loops():
    edges = [(0, 0), (0, 1)]
    kept, changes = from_edges(edges)
    assert (kept[0][0], changes.phrases) == (1, [])
    dropped, changes = from_edges(edges, self_loops="drop")
    assert dropped == from_edges(ARC)[0]
    assert (changes.phrases, changes.surprises) == (["1 self-loop dropped"], [])
    with pytest.raises(InputError, match=r"1 self-loop, but self_loops='error'; got \[0\]"):
        from_edges(edges, self_loops="error")


def test_zero_weights_are_no_edges():
    matrix, changes = from_edges([(0, 1), (1, 2)], weights=[2.0, 0.0])
    assert matrix == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert changes.surprises == ["1 edge of weight zero dropped"]


def test_a_weight_too_small_for_float32_is_zero():
    matrix, changes = from_edges([(0, 1), (1, 2)], weights=[2.0, 1e-60])
    assert matrix[1] == [2, 0, 0]
    assert changes.surprises == ["1 edge of weight zero dropped"]


def test_stored_zeros_of_a_matrix_are_told_and_the_matrix_stays():
    given = sparse.csr_array((np.array([1.0, 0.0, 1.0]), ([0, 0, 1], [1, 2, 0])), shape=(3, 3))
    changes = Changes()
    matrix = adjacency_from_matrix(given, EdgeRules(), changes)
    assert (matrix.nnz, given.nnz, given.indices.tolist()) == (2, 3, [1, 2, 0])
    assert changes.surprises == ["1 edge of weight zero dropped"]


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, 1e39])
def test_weights_that_cannot_be(bad):
    with pytest.raises(InputError, match="1 are not, the first in row 1"):
        from_edges([(0, 1), (1, 2)], weights=[1.0, bad])
    with pytest.raises(InputError, match=r"1 are not, the first at \(1, 0\)"):
        from_matrix([[0, 1], [bad, 0]])


def test_weights_that_are_no_numbers():
    with pytest.raises(InputError, match="must be real numbers"):
        from_edges(ARC, weights=[1j])


def test_unweighted():
    matrix, changes = from_matrix([[0, 0.5], [0.5, 1]], weighted=False)
    assert matrix == [[0, 1], [1, 1]]
    assert (changes.phrases, changes.surprises) == (["2 edge weights set to 1"], [])


def test_no_edges():
    matrix, changes = from_edges([])
    assert not np.any(matrix)
    assert changes.surprises == ["the graph has no edges"]


def test_a_matrix_that_is_not_square():
    with pytest.raises(InputError, match=r"square matrix; got \(1, 2\)"):
        from_matrix([[0, 1]])


@pytest.mark.parametrize("name", ["directed", "self_loops", "duplicates"])
def test_an_unknown_choice(name):
    with pytest.raises(InputError, match=f"{name} must be one of .*; got 'yes'"):
        EdgeRules(**{name: "yes"})


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([0.5, 1.0, 2.0])),
        min_size=1,
    ),
    st.sampled_from(["ignore", "keep", "reverse"]),
    st.sampled_from(["max", "sum"]),
    st.sampled_from(["keep", "drop"]),
)
def test_the_rules_against_a_plain_loop(edges, directed, duplicates, self_loops):
    dense = np.zeros((5, 5))
    for source, target, weight in edges:
        if source != target or self_loops == "keep":
            old = dense[source, target]
            dense[source, target] = old + weight if duplicates == "sum" else max(old, weight)
    dense = {"ignore": np.maximum(dense, dense.T), "keep": dense, "reverse": dense.T}[directed]
    rules = {"directed": directed, "duplicates": duplicates, "self_loops": self_loops}
    matrix, _ = from_edges([e[:2] for e in edges], 5, [e[2] for e in edges], **rules)
    np.testing.assert_array_equal(matrix, dense)
