"""Sparse products are scipy's to the last bit, on any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy import sparse

from adagcn.engines.threads import threads_of_a_model
from adagcn.propagation import blocks, products, sparse_tensors
from adagcn.propagation.products import product, transposed_product
from adagcn.propagation.sparse_tensors import multiplied, row_parts, torch_csr


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """So many threads, all of them put to work however small the product."""
    before = torch.get_num_threads()
    monkeypatch.setattr(products, "WORK_OF_A_THREAD", 1)
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def _matrix(shape: tuple[int, int], dtype: type, *, density: float = 0.2) -> sparse.csr_array:
    matrix = sparse.random_array(shape, density=density, dtype=dtype, rng=0)
    return sparse.csr_array(matrix)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 2, 7, 64])
def test_products_have_the_bits_of_scipy(threads: int, dtype: type, n_columns: int) -> None:
    matrix = _matrix((300, 200), dtype)
    draws = np.random.default_rng(1)
    weight = draws.standard_normal((200, n_columns)).astype(dtype)
    gradient = draws.standard_normal((300, n_columns)).astype(dtype)
    np.testing.assert_array_equal(product(matrix, torch.from_numpy(weight)), matrix @ weight)
    np.testing.assert_array_equal(
        transposed_product(matrix, torch.from_numpy(gradient)), matrix.T @ gradient
    )


@pytest.mark.parametrize("n_columns", [2, 7, 64])
def test_columns_past_the_cache_are_multiplied_a_few_at_a_time(
    threads: int, n_columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "PAST_CACHE", 1)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    widths: list[int] = []

    def counted(matrix: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        widths.append(values.shape[1])
        return multiplied(matrix, values)

    monkeypatch.setattr(products, "multiplied", counted)
    matrix = _matrix((300, 200), np.float32)
    draws = np.random.default_rng(1)
    weight = draws.standard_normal((200, n_columns)).astype(np.float32)
    gradient = draws.standard_normal((300, n_columns)).astype(np.float32)
    np.testing.assert_array_equal(product(matrix, torch.from_numpy(weight)), matrix @ weight)
    assert sum(widths) == n_columns
    assert max(widths) <= blocks.LEAST_COLUMNS
    np.testing.assert_array_equal(
        transposed_product(matrix, torch.from_numpy(gradient)), matrix.T @ gradient
    )


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("width", [1, 4, 7, 8, 16, 33])
def test_a_product_has_the_bits_of_scipy_whoever_multiplies(
    width: int, in_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_order and not sparse_tensors.torch_adds_in_order():
        pytest.skip("torch's sparse product has bits of its own on this processor")
    monkeypatch.setattr(sparse_tensors, "torch_adds_in_order", lambda: in_order)
    matrix = _matrix((60, 40), np.float32)
    values = np.random.default_rng(1).standard_normal((40, width)).astype(np.float32)
    same, out = torch_csr(matrix), torch.zeros(60, width + 2)
    np.testing.assert_array_equal(multiplied(same, torch.from_numpy(values)), matrix @ values)
    multiplied(same, torch.from_numpy(values), out=out[:, 1:-1])  # a part of something larger
    np.testing.assert_array_equal(out[:, 1:-1], matrix @ values)
    assert not out[:, [0, -1]].any()


def test_columns_that_are_not_contiguous(threads: int) -> None:
    matrix = _matrix((30, 20), np.float64)
    gradient = torch.randn(8, 30, generator=torch.Generator().manual_seed(0)).double().t()
    weight = torch.randn(8, 20, generator=torch.Generator().manual_seed(0)).double().t()
    np.testing.assert_array_equal(
        transposed_product(matrix, gradient), matrix.T @ np.ascontiguousarray(gradient)
    )
    np.testing.assert_allclose(product(matrix, weight), matrix.toarray() @ weight.numpy())


@pytest.mark.parametrize("shape", [(0, 4), (5, 4)])
@pytest.mark.parametrize("n_columns", [0, 3])
def test_products_of_nothing_are_zero(threads: int, shape: tuple[int, int], n_columns: int) -> None:
    matrix = _matrix(shape, np.float32, density=0.0)
    forward = product(matrix, torch.ones(shape[1], n_columns))
    backward = transposed_product(matrix, torch.ones(shape[0], n_columns))
    assert forward.shape == (shape[0], n_columns)
    assert not forward.any()
    assert backward.shape == (shape[1], n_columns)
    assert not backward.any()


def test_a_matrix_in_memory_that_cannot_be_written(threads: int) -> None:
    matrix = _matrix((30, 20), np.float32)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(product(matrix, torch.eye(20)), matrix.toarray())
    np.testing.assert_array_equal(transposed_product(matrix, torch.eye(30)), matrix.T.toarray())


@pytest.mark.parametrize("n_parts", [1, 2, 3, 9])
def test_parts_of_rows_are_the_matrix(n_parts: int) -> None:
    dense = _matrix((40, 30), np.float64).toarray()
    dense[5:20] = 0.0  # rows without a stored value
    matrix = sparse.csr_array(dense)
    parts = row_parts(matrix, n_parts)
    assert [i for rows, _ in parts for i in range(40)[rows]] == list(range(40))
    np.testing.assert_array_equal(torch.cat([part.to_dense() for _, part in parts]), dense)


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_products_on_our_own_pool_have_the_bits_of_scipy(
    n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "WORK_OF_A_THREAD", 1)
    monkeypatch.setattr(blocks, "WORK_OF_A_THREAD", 1)
    matrix = _matrix((200, 200), np.float32)
    values = np.random.default_rng(1).standard_normal((200, 7)).astype(np.float32)
    with threads_of_a_model(n_threads):
        found = product(matrix, torch.from_numpy(values))
        back = transposed_product(matrix, torch.from_numpy(values))
        stepped = blocks.BlockedPropagator(matrix, values, teleport=0.0).step(values)
    np.testing.assert_array_equal(found, matrix @ values)
    np.testing.assert_array_equal(back, matrix.T @ values)
    np.testing.assert_array_equal(stepped.rows(slice(None)), matrix @ values)
